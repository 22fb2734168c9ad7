/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_MANAGER_JSON_H
#define INC_MANAGER_JSON_H

#include <stddef.h>

#include <json-c/json.h>
#include <protobuf-c/protobuf-c.h>

struct json_object *am_json(const ProtobufCMessage *msg);
const char *am_addr_text(const ProtobufCBinaryData *data, char *buf,
			 size_t len);

#endif /* INC_MANAGER_JSON_H */
