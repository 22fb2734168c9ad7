// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Any message of rdma_inc.proto as JSON: names have dashes instead of
 * underscores, and bytes are addresses.
 */
#include <stdint.h>
#include <string.h>

#include "api/json.h"
#include "rendezvous/proto.h"

#define NAME_MAX_LEN	64

/**
 * am_addr_text() - write an address
 * @data: its bytes
 * @buf: result
 * @len: size of @buf
 *
 * Return: @buf, or "?" if it is none.
 */
const char *am_addr_text(const ProtobufCBinaryData *data, char *buf, size_t len)
{
	struct inc_rdv_addr addr = { .len = (unsigned int)data->len };

	if (data->len != 4 && data->len != 16)
		return "?";
	memcpy(addr.bytes, data->data, data->len);
	return inc_rdv_addr_str(&addr, buf, len);
}

static struct json_object *enum_value(const ProtobufCEnumDescriptor *type,
				      int number)
{
	const ProtobufCEnumValue *v =
		protobuf_c_enum_descriptor_get_value(type, number);

	return v ? json_object_new_string(v->name) :
		   json_object_new_int(number);
}

/* One value, at @p. */
static struct json_object *value(const ProtobufCFieldDescriptor *f,
				 const void *p)
{
	const ProtobufCBinaryData *data = p;
	const char *const *text = p;
	char buf[64];

	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
		return json_object_new_string(*text ? *text : "");
	case PROTOBUF_C_TYPE_BYTES:
		return json_object_new_string(am_addr_text(data, buf,
							   sizeof(buf)));
	case PROTOBUF_C_TYPE_MESSAGE:
		return am_json(*(const ProtobufCMessage *const *)p);
	case PROTOBUF_C_TYPE_UINT64:
		return json_object_new_uint64(*(const uint64_t *)p);
	case PROTOBUF_C_TYPE_INT64:
		return json_object_new_int64(*(const int64_t *)p);
	case PROTOBUF_C_TYPE_UINT32:
		return json_object_new_int64(*(const uint32_t *)p);
	case PROTOBUF_C_TYPE_BOOL:
		return json_object_new_boolean(*(const protobuf_c_boolean *)p);
	case PROTOBUF_C_TYPE_DOUBLE:
		return json_object_new_double(*(const double *)p);
	case PROTOBUF_C_TYPE_ENUM:
		return enum_value(f->descriptor, *(const int *)p);
	default:
		return json_object_new_int(*(const int32_t *)p);
	}
}

static size_t size_of(const ProtobufCFieldDescriptor *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	default:
		return 4;
	}
}

static struct json_object *repeated(const ProtobufCFieldDescriptor *f,
				    const char *base)
{
	struct json_object *list = json_object_new_array();
	size_t n = *(const size_t *)(base + f->quantifier_offset), i;
	const char *p = *(const char *const *)(base + f->offset);

	for (i = 0; i < n; i++)
		json_object_array_add(list, value(f, p + i * size_of(f)));
	return list;
}

/* Is a member absent: another one of its oneof, or an empty message? */
static bool absent(const ProtobufCFieldDescriptor *f, const char *base)
{
	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return *(const uint32_t *)(base + f->quantifier_offset) !=
		       f->id;
	return f->type == PROTOBUF_C_TYPE_MESSAGE &&
	       !*(const void *const *)(base + f->offset);
}

/**
 * am_json() - convert a message
 * @msg: message
 *
 * Return: an object, with all members of the message but absent messages.
 */
struct json_object *am_json(const ProtobufCMessage *msg)
{
	struct json_object *out = json_object_new_object();
	const char *base = (const char *)msg;
	const ProtobufCFieldDescriptor *f;
	char name[NAME_MAX_LEN];
	unsigned int i, k;

	for (i = 0; i < msg->descriptor->n_fields; i++) {
		f = &msg->descriptor->fields[i];
		for (k = 0; k < sizeof(name) - 1 && f->name[k]; k++)
			name[k] = f->name[k] == '_' ? '-' : f->name[k];
		name[k] = '\0';
		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			json_object_object_add(out, name, repeated(f, base));
		else if (!absent(f, base))
			json_object_object_add(out, name,
					       value(f, base + f->offset));
	}
	return out;
}
