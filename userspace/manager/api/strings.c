// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See strings.h. The wire format is https://protobuf.dev/programming-guides/encoding.
 */
#include <string.h>

#include "api/strings.h"

#define DEPTH_MAX	16	/* of messages in messages; ours have three */

enum wire_type {
	WIRE_VARINT,
	WIRE_64BIT,
	WIRE_BYTES,
	WIRE_32BIT	= 5,
};

/**
 * struct wire - what is left of a message
 * @at: its bytes
 * @len: their number
 */
struct wire {
	const uint8_t	*at;
	size_t		len;
};

static bool skip(struct wire *w, uint64_t n)
{
	if (n > w->len)
		return false;
	w->at += n;
	w->len -= n;
	return true;
}

static bool take_varint(struct wire *w, uint64_t *value)
{
	unsigned int shift;
	uint8_t byte;

	*value = 0;
	for (shift = 0; shift < 64 && w->len; shift += 7) {
		byte = *w->at;
		skip(w, 1);
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool whole(const ProtobufCMessageDescriptor *type, struct wire w,
		  unsigned int depth);

static bool bytes_whole(const ProtobufCFieldDescriptor *field, struct wire w,
			unsigned int depth)
{
	if (field && field->type == PROTOBUF_C_TYPE_STRING)
		return !memchr(w.at, '\0', w.len);
	if (field && field->type == PROTOBUF_C_TYPE_MESSAGE && depth < DEPTH_MAX)
		return whole(field->descriptor, w, depth + 1);
	return true;
}

static bool whole(const ProtobufCMessageDescriptor *type, struct wire w,
		  unsigned int depth)
{
	const ProtobufCFieldDescriptor *field;
	uint64_t tag, n;

	while (w.len && take_varint(&w, &tag)) {
		field = protobuf_c_message_descriptor_get_field(type,
								(unsigned int)(tag >> 3));
		switch (tag & 7) {
		case WIRE_VARINT:
			if (!take_varint(&w, &n))
				return true;
			break;
		case WIRE_64BIT:
		case WIRE_32BIT:
			if (!skip(&w, (tag & 7) == WIRE_64BIT ? 8 : 4))
				return true;
			break;
		case WIRE_BYTES:
			if (!take_varint(&w, &n) || n > w.len)
				return true;
			if (!bytes_whole(field, (struct wire){ w.at, n }, depth))
				return false;
			skip(&w, n);
			break;
		default:
			return true;
		}
	}
	return true;
}

/**
 * strings_whole() - check that no string of a message has a byte 0
 * @type: of the message
 * @data: its bytes
 * @len: their number
 *
 * Unpacked, such a string would end there, and be another name than the one that
 * was sent.
 *
 * Return: false if one has. true if @data is no such message: unpacking it fails.
 */
bool strings_whole(const ProtobufCMessageDescriptor *type, const uint8_t *data,
		   size_t len)
{
	return whole(type, (struct wire){ data, len }, 0);
}
