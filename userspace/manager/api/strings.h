/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The strings of a message, before it is unpacked.
 */
#ifndef INC_MANAGER_STRINGS_H
#define INC_MANAGER_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

bool strings_whole(const ProtobufCMessageDescriptor *type, const uint8_t *data,
		   size_t len);

#endif /* INC_MANAGER_STRINGS_H */
