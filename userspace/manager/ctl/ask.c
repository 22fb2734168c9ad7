// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Requests to the manager, and their answers as JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json.h"
#include "ctl/amctl.h"

#define TIMEOUT_MS	5000

static uint8_t *pack(const ProtobufCMessage *req, size_t *len)
{
	uint8_t *data;

	*len = protobuf_c_message_get_packed_size(req);
	data = malloc(*len + 1);
	if (data)
		protobuf_c_message_pack(req, data);
	return data;
}

static void complain(const char *err)
{
	fflush(stdout);
	fprintf(stderr, "inc-amctl: manager %s: %s\n", ctl_manager, err);
}

/**
 * ctl_ask() - send a request and wait for its answer
 * @method: name of the method
 * @req: request
 * @type: type of the answer
 *
 * Return: the answer, for ctl_free(), or NULL after a message.
 */
ProtobufCMessage *ctl_ask(const char *method, const ProtobufCMessage *req,
			  const ProtobufCMessageDescriptor *type)
{
	ProtobufCMessage *msg = NULL;
	char err[512] = "no memory";
	uint8_t *in, *out = NULL;
	int ret = -ENOMEM;
	size_t n, len;

	in = pack(req, &n);
	if (in)
		ret = amctl_call(ctl_manager, method, TIMEOUT_MS, in, n, &out,
				 &len, err, sizeof(err));
	free(in);
	if (!ret && out) {
		snprintf(err, sizeof(err), "its answer is not understood; is it of the same version?");
		msg = protobuf_c_message_unpack(type, NULL, len, out);
	}
	free(out);
	if (!msg)
		complain(err);
	return msg;
}

/**
 * ctl_free() - free an answer
 * @msg: answer, or NULL
 */
void ctl_free(ProtobufCMessage *msg)
{
	if (msg)
		protobuf_c_message_free_unpacked(msg, NULL);
}

struct follow {
	const ProtobufCMessageDescriptor	*type;
	bool (*print)(const ProtobufCMessage *msg);
};

static bool got(void *ctx, const uint8_t *data, size_t len)
{
	const struct follow *f = ctx;
	ProtobufCMessage *msg =
		protobuf_c_message_unpack(f->type, NULL, len, data);
	bool more = msg && f->print(msg);

	ctl_free(msg);
	/* Nobody reads: "| head" has enough. */
	return more && !fflush(stdout);
}

/**
 * ctl_follow() - print a stream of answers
 * @method: name of the method
 * @req: request
 * @type: type of the answers
 * @print: prints one; returns false to end
 *
 * Return: exit status.
 */
int ctl_follow(const char *method, const ProtobufCMessage *req,
	       const ProtobufCMessageDescriptor *type,
	       bool (*print)(const ProtobufCMessage *msg))
{
	struct follow f = { .type = type, .print = print };
	char err[512] = "no memory";
	int ret = -ENOMEM;
	uint8_t *in;
	size_t n;

	in = pack(req, &n);
	if (in)
		ret = amctl_stream(ctl_manager, method, in, n, got, &f, err,
				   sizeof(err));
	free(in);
	if (!ret)
		return CTL_OK;
	complain(err[0] ? err : "the connection was lost");
	return CTL_REFUSED;
}

/**
 * ctl_print_json() - print an answer as JSON
 * @msg: answer
 * @list: print this member only; NULL: all of it
 */
void ctl_print_json(const ProtobufCMessage *msg, const char *list)
{
	struct json_object *obj = am_json(msg), *part = obj;

	if (list)
		json_object_object_get_ex(obj, list, &part);
	puts(json_object_to_json_string_ext(part, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(obj);
}

/**
 * ctl_print_line() - print an answer as JSON in one line
 * @msg: answer
 */
void ctl_print_line(const ProtobufCMessage *msg)
{
	struct json_object *obj = am_json(msg);

	puts(json_object_to_json_string_ext(obj, JSON_C_TO_STRING_PLAIN |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(obj);
}

/**
 * ctl_addr() - write an address
 * @data: its bytes
 * @buf: result
 * @len: size of @buf
 *
 * Return: @buf, or "?" if it is none.
 */
const char *ctl_addr(const ProtobufCBinaryData *data, char *buf, size_t len)
{
	return am_addr_text(data, buf, len);
}
