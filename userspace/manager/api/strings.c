// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See strings.h.
 */
#include <string.h>

#include "api/fields.h"
#include "api/strings.h"

#define DEPTH_MAX	16	/* of messages in messages; ours have three */

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
		    memchr(f.bytes.at, '\0', f.bytes.len))
			return false;
		if (field->type == PROTOBUF_C_TYPE_MESSAGE &&
		    depth < DEPTH_MAX &&
		    !is_whole(field->descriptor, f.bytes, depth + 1))
			return false;
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
	return is_whole(type, (struct fields){ data, len }, 0);
}
