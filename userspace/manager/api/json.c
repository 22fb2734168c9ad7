// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Any message of rdma_inc.proto as JSON: names have dashes instead of
 * underscores, bytes are addresses, and masks are arrays of names.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/json.h"
#include "rdma_inc_proto.h"
#include "lib/base/proto-names-gen.h"
#include "rendezvous/proto.h"

#define NAME_MAX_LEN	64

/* Format an address. Returns @buf, or "?" if it is invalid. */
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

/* Convert one value, at @p. */
static struct json_object *make_value(const ProtobufCFieldDescriptor *f,
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

static struct json_object *make_array(const ProtobufCFieldDescriptor *f,
				      const char *base)
{
	struct json_object *list = json_object_new_array();
	size_t n = *(const size_t *)(base + f->quantifier_offset), i;
	const char *p = *(const char *const *)(base + f->offset);

	for (i = 0; i < n; i++)
		json_object_array_add(list, make_value(f, p + i * size_of(f)));
	return list;
}

#define COUNT(names)	(sizeof(names) / sizeof((names)[0]))

/* Get the names of a mask's bits; NULL: the member is no mask. */
static const char *const *names_of(const char *member, unsigned int *n)
{
	static const struct {
		const char		*member;
		const char *const	*names;
		unsigned int		n;
	} masks[] = {
		{ "collectives", inc_collectives, COUNT(inc_collectives) },
		{ "dtypes", inc_dtypes, COUNT(inc_dtypes) },
		{ "ops", inc_ops, COUNT(inc_ops) },
	};
	unsigned int i;

	for (i = 0; i < COUNT(masks); i++)
		if (!strcmp(masks[i].member, member)) {
			*n = masks[i].n;
			return masks[i].names;
		}
	return NULL;
}

static struct json_object *mask_names(uint32_t mask, const char *const *names,
				      unsigned int n)
{
	struct json_object *list = json_object_new_array();
	char number[16];
	unsigned int i;

	for (i = 0; i < 32; i++) {
		if (!(mask >> i & 1))
			continue;
		snprintf(number, sizeof(number), "bit%u", i);
		json_object_array_add(list, json_object_new_string(
			i < n && names[i] ? names[i] : number));
	}
	return list;
}

static struct json_object *make_single(const ProtobufCFieldDescriptor *f,
				       const void *p)
{
	unsigned int n = 0;
	const char *const *names = names_of(f->name, &n);

	return names ? mask_names(*(const uint32_t *)p, names, n) :
	       make_value(f, p);
}

/* Is a member absent: another one of its oneof, or an empty message? */
static bool is_absent(const ProtobufCFieldDescriptor *f, const char *base)
{
	if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		return *(const uint32_t *)(base + f->quantifier_offset) !=
		       f->id;
	return f->type == PROTOBUF_C_TYPE_MESSAGE &&
	       !*(const void *const *)(base + f->offset);
}

/*
 * Convert a message. Returns an object with all members of the message except
 * absent messages.
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
			json_object_object_add(out, name, make_array(f, base));
		else if (!is_absent(f, base))
			json_object_object_add(out, name,
					       make_single(f, base +
							   f->offset));
	}
	return out;
}
