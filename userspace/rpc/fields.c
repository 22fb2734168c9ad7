// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See fields.h.
 */
#include <string.h>

#include "rpc/fields.h"

#define DEPTH_MAX	16	/* nested messages; ours have three levels */

enum wire_type {
	TYPE_VARINT,
	TYPE_64BIT,
	TYPE_BYTES,
	TYPE_32BIT	= 5,
};

static bool skip_bytes(struct fields *msg, uint64_t n)
{
	if (n > msg->len)
		return false;
	msg->data += n;
	msg->len -= n;
	return true;
}

static bool take_varint(struct fields *msg, uint64_t *value)
{
	unsigned int shift;
	uint8_t byte;

	*value = 0;
	for (shift = 0; shift < 64 && msg->len; shift += 7) {
		byte = *msg->data;
		skip_bytes(msg, 1);
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/*
 * Take a message's next field. Returns false at the end, or if the rest is
 * malformed.
 */
bool fields_next(struct fields *msg, struct field *f)
{
	uint64_t tag, n;

	if (!msg->len || !take_varint(msg, &tag))
		return false;
	f->number = (unsigned int)(tag >> 3);
	f->has_bytes = (tag & 7) == TYPE_BYTES;
	switch (tag & 7) {
	case TYPE_VARINT:
		return take_varint(msg, &n);
	case TYPE_64BIT:
	case TYPE_32BIT:
		return skip_bytes(msg, (tag & 7) == TYPE_64BIT ? 8 : 4);
	case TYPE_BYTES:
		if (!take_varint(msg, &n))
			return false;
		f->bytes = (struct fields){ msg->data, n };
		return skip_bytes(msg, n);
	}
	return false;
}

static bool is_whole(const ProtobufCMessageDescriptor *type, struct fields msg,
		     unsigned int depth)
{
	const ProtobufCFieldDescriptor *field;
	struct field f;

	while (fields_next(&msg, &f)) {
		field = protobuf_c_message_descriptor_get_field(type, f.number);
		if (!field || !f.has_bytes)
			continue;
		if (field->type == PROTOBUF_C_TYPE_STRING &&
		    memchr(f.bytes.data, '\0', f.bytes.len))
			return false;
		if (field->type == PROTOBUF_C_TYPE_MESSAGE &&
		    depth < DEPTH_MAX &&
		    !is_whole(field->descriptor, f.bytes, depth + 1))
			return false;
	}
	return true;
}

/*
 * Check that no string of a message contains a zero byte: unpacking would cut
 * the string there, and make it another name. Returns false if one does; true
 * if @data is malformed: unpacking will fail.
 */
bool fields_whole(const ProtobufCMessageDescriptor *type, const uint8_t *data,
		   size_t len)
{
	return is_whole(type, (struct fields){ data, len }, 0);
}
