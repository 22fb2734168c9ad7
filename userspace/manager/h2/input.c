// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What comes by a connection, on its way to nghttp2.
 *
 * If gRPC's core gives up a call when that has the number of its stream, but has
 * not sent its headers, it resets an idle stream. RFC 9113 (5.1) says that this ends
 * the connection, and nghttp2 sees to it; servers of gRPC's let it pass, so
 * clients rely on that. No stream is lost with such a frame: the headers of the
 * next one close those that were left out. It is counted, and nghttp2 does not
 * see it.
 */
#include <string.h>

#include "h2/conn.h"

#define RESET_LEN	4	/* bytes of a RST_STREAM behind its head */

/* Returns false if the connection is cut. */
static bool begin_frame(struct h2_conn *c)
{
	struct h2_input *in = &c->input;
	const uint8_t *h = in->head;
	uint32_t id = (uint32_t)(h[5] & 0x7f) << 24 | (uint32_t)h[6] << 16 |
		      (uint32_t)h[7] << 8 | h[8];

	in->have = 0;
	in->left = (uint32_t)h[0] << 16 | (uint32_t)h[1] << 8 | h[2];
	in->skip = h[3] == NGHTTP2_RST_STREAM && in->left == RESET_LEN &&
		   id % 2 && id > in->newest;
	if (h[3] == NGHTTP2_HEADERS && id > in->newest)
		in->newest = id;
	return !in->skip ||
	       conn_junk(c, 1, "frames of no call, again and again");
}

/**
 * input_open() - begin with a connection's first byte
 * @in: its input
 */
void input_open(struct h2_input *in)
{
	*in = (struct h2_input){ .left = NGHTTP2_CLIENT_MAGIC_LEN };
}

/**
 * input_take() - take what was read
 * @c: connection, which may be cut
 * @data: bytes
 * @len: their number, at most CONN_READ
 *
 * Return: 0, or one of nghttp2's errors.
 */
int input_take(struct h2_conn *c, const uint8_t *data, size_t len)
{
	/* With a head that came in two pieces. */
	static uint8_t buf[CONN_READ + FRAME_HEAD];
	struct h2_input *in = &c->input;
	size_t n, used = 0;
	ssize_t ret;

	for (; len; data += n, len -= n) {
		n = in->left ? in->left : FRAME_HEAD - in->have;
		n = n < len ? n : len;
		if (!in->left) {
			memcpy(in->head + in->have, data, n);
			in->have += n;
			if (in->have < FRAME_HEAD)
				continue;
			if (!begin_frame(c))
				return 0;
			if (!in->skip)
				memcpy(buf + used, in->head, FRAME_HEAD);
			used += in->skip ? 0 : FRAME_HEAD;
		} else {
			if (!in->skip)
				memcpy(buf + used, data, n);
			used += in->skip ? 0 : n;
			in->left -= (uint32_t)n;
		}
	}
	/* nghttp2 would take nothing for one more CONTINUATION. */
	if (!used)
		return 0;
	ret = nghttp2_session_mem_recv(c->h2, buf, used);
	return ret < 0 ? (int)ret : 0;
}
