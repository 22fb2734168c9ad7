/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * gRPC's additions to HTTP/2: the prefix of each message, and timeouts and
 * texts in headers. No I/O.
 */
#ifndef INC_HTTP2_WIRE_H
#define INC_HTTP2_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_HEAD	5

/* gRPC's status codes that the transport itself uses. */
enum wire_status {
	WIRE_OK			= 0,
	WIRE_CANCELLED		= 1,
	WIRE_UNKNOWN		= 2,
	WIRE_DEADLINE		= 4,
	WIRE_NOT_FOUND		= 5,
	WIRE_DENIED		= 7,
	WIRE_EXHAUSTED		= 8,
	WIRE_UNIMPLEMENTED	= 12,
	WIRE_INTERNAL		= 13,
	WIRE_UNAVAILABLE	= 14,
	WIRE_STATUS_MAX		= 16,
};

/**
 * struct wire_message - a message being received, in any pieces
 * @head: prefix: compressed or not, and the length
 * @have: bytes received, with @head
 * @len: bytes of @data, once @head is whole
 * @room: bytes allocated for @data
 * @data: its bytes
 */
struct wire_message {
	uint8_t		head[WIRE_HEAD];
	size_t		have;
	size_t		len;
	size_t		room;
	uint8_t		*data;
};

int wire_take(struct wire_message *m, size_t most, const uint8_t **data,
	      size_t *len);
void wire_reset(struct wire_message *m);
void wire_put_head(uint8_t head[WIRE_HEAD], size_t len);
int64_t wire_timeout(const char *text, size_t len);
bool wire_is_grpc(const char *type);
size_t wire_encode(char *out, size_t size, const char *text);
char *wire_decode(const char *text, size_t len);
const char *wire_unexplained(int status);

#endif /* INC_HTTP2_WIRE_H */
