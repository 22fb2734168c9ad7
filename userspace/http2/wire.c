// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See wire.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http2/wire.h"

#define ROOM_MIN	128
#define DIGITS_MAX	8	/* digits of a grpc-timeout */

static int read_head(struct wire_message *m, size_t most)
{
	const uint8_t *h = m->head;

	if (h[0])
		return -EOPNOTSUPP;
	m->len = (size_t)h[1] << 24 | (size_t)h[2] << 16 | (size_t)h[3] << 8 |
		 h[4];
	return m->len > most ? -EMSGSIZE : 0;
}

/* Memory grows with the bytes received: a length alone costs nothing. */
static int make_room(struct wire_message *m, size_t need)
{
	size_t room = 2 * m->room > need ? 2 * m->room : need;
	uint8_t *data;

	if (need <= m->room)
		return 0;
	room = room < ROOM_MIN ? ROOM_MIN : room;
	if (room > m->len)
		room = m->len;
	data = realloc(m->data, room);
	if (!data)
		return -ENOMEM;
	m->data = data;
	m->room = room;
	return 0;
}

/*
 * Take bytes of a message. Returns 1: the message is whole; 0: more has to
 * come; -EOPNOTSUPP: it is compressed; -EMSGSIZE: it is too long; -ENOMEM.
 * @most: longest message in bytes
 * @data: bytes; moved past those that were taken
 * @len: their number; result: bytes left
 */
int wire_take(struct wire_message *m, size_t most, const uint8_t **data,
	      size_t *len)
{
	size_t n, got;
	int ret;

	if (m->have < WIRE_HEAD) {
		n = WIRE_HEAD - m->have < *len ? WIRE_HEAD - m->have : *len;
		memcpy(m->head + m->have, *data, n);
		m->have += n;
		*data += n;
		*len -= n;
		if (m->have < WIRE_HEAD)
			return 0;
		ret = read_head(m, most);
		if (ret)
			return ret;
	}
	got = m->have - WIRE_HEAD;
	n = m->len - got < *len ? m->len - got : *len;
	ret = make_room(m, got + n);
	if (ret)
		return ret;
	if (n)
		memcpy(m->data + got, *data, n);
	m->have += n;
	*data += n;
	*len -= n;
	return m->have == WIRE_HEAD + m->len;
}

/*
 * Begin with the next message.
 * @m: message; its bytes are freed unless @m->data is NULL
 */
void wire_reset(struct wire_message *m)
{
	free(m->data);
	*m = (struct wire_message){ .have = 0 };
}

/*
 * Make a message's prefix.
 * @len: bytes of the message
 */
void wire_put_head(uint8_t head[WIRE_HEAD], size_t len)
{
	head[0] = 0;
	head[1] = (uint8_t)(len >> 24);
	head[2] = (uint8_t)(len >> 16);
	head[3] = (uint8_t)(len >> 8);
	head[4] = (uint8_t)len;
}

/* Parse grpc-timeout. Returns milliseconds, or -1 if it is malformed. */
int64_t wire_timeout(const char *text, size_t len)
{
	/* Eight digits of hours in nanoseconds would overflow. */
	static const struct {
		char	unit;
		int64_t	ms, part;
	} units[] = {
		{ 'H', 3600000, 1 }, { 'M', 60000, 1 }, { 'S', 1000, 1 },
		{ 'm', 1, 1 }, { 'u', 1, 1000 }, { 'n', 1, 1000000 },
	};
	int64_t n = 0;
	size_t i;

	if (len < 2 || len > DIGITS_MAX + 1)
		return -1;
	for (i = 0; i < len - 1; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		n = 10 * n + text[i] - '0';
	}
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].unit == text[len - 1])
			return n * units[i].ms / units[i].part;
	return -1;
}

/* Ask whether a content-type is gRPC's. Returns true if so. */
bool wire_is_grpc(const char *type)
{
	static const char name[] = "application/grpc";
	size_t len = sizeof(name) - 1;

	return !strncmp(type, name, len) &&
	       (!type[len] || type[len] == '+' || type[len] == ';');
}

/*
 * Encode a text for grpc-message. Returns the length of the result.
 * @size: size of @out in bytes
 * @text: UTF-8; cut if it does not fit
 */
size_t wire_encode(char *out, size_t size, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t n = 0;
	uint8_t c;

	for (; (c = (uint8_t)*text) && n + 4 <= size; text++) {
		if (c >= ' ' && c <= '~' && c != '%') {
			out[n++] = (char)c;
			continue;
		}
		out[n++] = '%';
		out[n++] = hex[c >> 4];
		out[n++] = hex[c & 15];
	}
	out[n] = '\0';
	return n;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/*
 * Decode grpc-message. Returns the text, with any characters, to be freed, or
 * NULL.
 * @text: encoded text; malformed escapes are left as they are
 */
char *wire_decode(const char *text, size_t len)
{
	char *out = malloc(len + 1);
	size_t i, n = 0;

	for (i = 0; out && i < len; i++) {
		if (text[i] == '%' && i + 2 < len &&
		    hex_digit(text[i + 1]) >= 0 &&
		    hex_digit(text[i + 2]) >= 0) {
			out[n++] = (char)(hex_digit(text[i + 1]) << 4 |
					  hex_digit(text[i + 2]));
			i += 2;
		} else {
			out[n++] = text[i];
		}
	}
	if (out)
		out[n] = '\0';
	return out;
}

/*
 * Describe a status that has no text. Returns the text; for OK, an empty one.
 */
const char *wire_unexplained(int status)
{
#define ALONE(name) name ", without a reason"
	static const char *const texts[WIRE_STATUS_MAX + 1] = {
		"", ALONE("CANCELLED"), ALONE("UNKNOWN"),
		ALONE("INVALID_ARGUMENT"), ALONE("DEADLINE_EXCEEDED"),
		ALONE("NOT_FOUND"), ALONE("ALREADY_EXISTS"),
		ALONE("PERMISSION_DENIED"), ALONE("RESOURCE_EXHAUSTED"),
		ALONE("FAILED_PRECONDITION"), ALONE("ABORTED"),
		ALONE("OUT_OF_RANGE"), ALONE("UNIMPLEMENTED"),
		ALONE("INTERNAL"), ALONE("UNAVAILABLE"), ALONE("DATA_LOSS"),
		ALONE("UNAUTHENTICATED"),
	};
#undef ALONE

	return texts[status >= 0 && status <= WIRE_STATUS_MAX ? status :
								WIRE_UNKNOWN];
}
