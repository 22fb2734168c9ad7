// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See reflect.h. protoc writes the files' contents as a FileDescriptorSet
 * (google/protobuf/descriptor.proto), of which only names are read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/fields.h"
#include "rpc/message.h"
#include "rpc/reflect.h"
#include "http2/wire.h"
#include "reflection.pb-c.h"

typedef Grpc__Reflection__V1__ServerReflectionRequest request;
typedef Grpc__Reflection__V1__ServerReflectionResponse response;

#define SERVICES	8	/* at most */

#define ASKED(name) \
	GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_##name
#define ANSWERED(name) \
	GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_##name

static const uint8_t descriptors[] = {
#include "descriptors.inc"
};

static const struct fields files = { descriptors, sizeof(descriptors) };

/* Field numbers; the name is the first field of each message. */
enum {
	NAME			= 1,
	FILE_PACKAGE		= 2,
	FILE_MESSAGE		= 4,
	FILE_ENUM		= 5,
	FILE_SERVICE		= 6,
	MESSAGE_MESSAGE		= 3,
	MESSAGE_ENUM		= 4,
	SERVICE_METHOD		= 2,
};

/**
 * struct level - elements that may be below a name
 * @kind: field number of such elements; 0: end of the list
 * @below: levels below these, or NULL
 */
struct level {
	unsigned int		kind;
	const struct level	*below;
};

static const struct level in_service[] = { { SERVICE_METHOD, NULL }, { 0 } };
static const struct level in_message[] = {
	{ MESSAGE_MESSAGE, in_message }, { MESSAGE_ENUM, NULL }, { 0 }
};

static const struct level in_file[] = {
	{ FILE_MESSAGE, in_message }, { FILE_ENUM, NULL },
	{ FILE_SERVICE, in_service }, { 0 }
};

/* Take the next field with a number. */
static bool next_of(struct fields *msg, unsigned int number, struct fields *out)
{
	struct field f;

	while (fields_next(msg, &f)) {
		if (f.number == number && f.has_bytes) {
			*out = f.bytes;
			return true;
		}
	}
	return false;
}

static struct fields text_of(struct fields msg, unsigned int number)
{
	struct fields text = { (const uint8_t *)"", 0 };

	next_of(&msg, number, &text);
	return text;
}

/* Skip a prefix of a name, and the dot behind it. */
static const char *skip_part(const char *name, struct fields part)
{
	if (strncmp(name, (const char *)part.data, part.len))
		return NULL;
	name += part.len;
	if (!*name)
		return name;
	return *name == '.' && name[1] ? name + 1 : NULL;
}

/* @name: relative to @msg */
static bool has_name(struct fields msg, const struct level *levels,
		     const char *name)
{
	const struct level *l;
	struct fields rest, one;
	const char *below;

	for (l = levels; l && l->kind; l++) {
		for (rest = msg; next_of(&rest, l->kind, &one);) {
			below = skip_part(name, text_of(one, NAME));
			if (below && (!*below || has_name(one, l->below, below)))
				return true;
		}
	}
	return false;
}

static bool has_symbol(struct fields file, const char *name)
{
	const char *below = skip_part(name, text_of(file, FILE_PACKAGE));

	return below && *below && has_name(file, in_file, below);
}

static bool is_called(struct fields file, const char *name)
{
	struct fields text = text_of(file, NAME);

	return strlen(name) == text.len && !memcmp(name, text.data, text.len);
}

static int answer_error(response *r, int code, const char *text, uint8_t **out,
			size_t *len)
{
	Grpc__Reflection__V1__ErrorResponse e =
		GRPC__REFLECTION__V1__ERROR_RESPONSE__INIT;

	e.error_code = code;
	e.error_message = (char *)text;
	r->message_response_case = ANSWERED(ERROR_RESPONSE);
	r->error_response = &e;
	return am_pack(&r->base, out, len);
}

static int answer_file(response *r,
		       bool (*fits)(struct fields file, const char *name),
		       const char *name, uint8_t **out, size_t *len)
{
	Grpc__Reflection__V1__FileDescriptorResponse f =
		GRPC__REFLECTION__V1__FILE_DESCRIPTOR_RESPONSE__INIT;
	struct fields rest = files, file;
	ProtobufCBinaryData data;

	while (next_of(&rest, NAME, &file)) {
		if (!fits(file, name))
			continue;
		data.data = (uint8_t *)file.data;
		data.len = file.len;
		f.n_file_descriptor_proto = 1;
		f.file_descriptor_proto = &data;
		r->message_response_case = ANSWERED(FILE_DESCRIPTOR_RESPONSE);
		r->file_descriptor_response = &f;
		return am_pack(&r->base, out, len);
	}
	return answer_error(r, WIRE_NOT_FOUND, "the server has no such file or name",
			    out, len);
}

static int answer_services(response *r, uint8_t **out, size_t *len)
{
	Grpc__Reflection__V1__ListServiceResponse l =
		GRPC__REFLECTION__V1__LIST_SERVICE_RESPONSE__INIT;
	Grpc__Reflection__V1__ServiceResponse all[SERVICES], *list[SERVICES];
	struct fields rest = files, file, services, one, package, name;
	char names[SERVICES][64];

	while (next_of(&rest, NAME, &file)) {
		package = text_of(file, FILE_PACKAGE);
		for (services = file; l.n_service < SERVICES &&
		     next_of(&services, FILE_SERVICE, &one); l.n_service++) {
			name = text_of(one, NAME);
			snprintf(names[l.n_service], sizeof(names[0]),
				 "%.*s.%.*s", (int)package.len, package.data,
				 (int)name.len, name.data);
			grpc__reflection__v1__service_response__init(
				&all[l.n_service]);
			all[l.n_service].name = names[l.n_service];
			list[l.n_service] = &all[l.n_service];
		}
	}
	l.service = list;
	r->message_response_case = ANSWERED(LIST_SERVICES_RESPONSE);
	r->list_services_response = &l;
	return am_pack(&r->base, out, len);
}

/*
 * Answer a ServerReflectionRequest. Context: any thread. Returns 0, -EINVAL if
 * @data is malformed, or -ENOMEM.
 * @out: result: answer, to be freed
 */
int reflect_answer(const uint8_t *data, size_t len, uint8_t **out,
		   size_t *out_len)
{
	request *req = grpc__reflection__v1__server_reflection_request__unpack(
		NULL, len, data);
	response r = GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__INIT;
	int ret;

	if (!req)
		return -EINVAL;
	r.valid_host = req->host;
	r.original_request = req;
	/* A name that is cut at a zero byte is another one. */
	if (!fields_whole(req->base.descriptor, data, len)) {
		ret = answer_error(&r, am_status_of(EINVAL),
				   "a name has a zero byte", out, out_len);
		goto out;
	}
	switch (req->message_request_case) {
	case ASKED(LIST_SERVICES):
		ret = answer_services(&r, out, out_len);
		break;
	case ASKED(FILE_BY_FILENAME):
		ret = answer_file(&r, is_called, req->file_by_filename, out,
				  out_len);
		break;
	case ASKED(FILE_CONTAINING_SYMBOL):
		ret = answer_file(&r, has_symbol, req->file_containing_symbol,
				  out, out_len);
		break;
	case ASKED(FILE_CONTAINING_EXTENSION):
	case ASKED(ALL_EXTENSION_NUMBERS_OF_TYPE):
		ret = answer_error(&r, WIRE_NOT_FOUND, "there are no extensions",
				   out, out_len);
		break;
	default:
		ret = answer_error(&r, am_status_of(EINVAL),
				   "the message asks nothing that this server knows",
				   out, out_len);
	}
out:
	grpc__reflection__v1__server_reflection_request__free_unpacked(req,
								       NULL);
	return ret;
}
