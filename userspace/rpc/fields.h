/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The fields of a protobuf message of unknown type:
 */
#ifndef INC_MANAGER_FIELDS_H
#define INC_MANAGER_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/**
 * struct fields - rest of a message
 * @data: its bytes
 * @len: their number
 */
struct fields {
	const uint8_t	*data;
	size_t		len;
};

/**
 * struct field - a field
 * @number: its number
 * @has_bytes: the field is a string, bytes or a message, not a number
 * @bytes: if @has_bytes: its contents
 */
struct field {
	unsigned int	number;
	bool		has_bytes;
	struct fields	bytes;
};

bool fields_next(struct fields *msg, struct field *f);
bool fields_whole(const ProtobufCMessageDescriptor *type, const uint8_t *data,
		  size_t len);

#endif /* INC_MANAGER_FIELDS_H */
