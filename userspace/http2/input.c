// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Frames of a connection on their way to nghttp2.
 *
 * gRPC's core resets an idle stream if it gives up a call that has a stream ID
 * but has not sent its headers. By RFC 9113 (5.1) that ends the connection, and
 * nghttp2 sees to it; gRPC's servers let it pass, so clients rely on that.
 * Dropping the frame loses no stream: the headers of the next call close all
 * lower idle ones. The frame is counted, and nghttp2 does not see it.
 */
#include <string.h>

#include "http2/conn.h"

#define RESET_LEN	4	/* payload of RST_STREAM in bytes */
#define FREE_FRAMES	3	/* frames of a turn whatever time they take */

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

/* Expect the client's preface first. */
void input_open(struct h2_input *in)
{
	*in = (struct h2_input){ .left = NGHTTP2_CLIENT_MAGIC_LEN };
}

/* Take a part of a frame's head or payload. */
static size_t take_part(struct h2_conn *c, uint8_t *buf, size_t *used,
			const uint8_t *data, size_t len)
{
	struct h2_input *in = &c->input;
	size_t n = in->left ? in->left : FRAME_HEAD - in->have;

	n = n < len ? n : len;
	if (in->left) {
		if (!in->skip)
			memcpy(buf + *used, data, n);
		*used += in->skip ? 0 : n;
		in->left -= (uint32_t)n;
		return n;
	}
	memcpy(in->head + in->have, data, n);
	in->have += n;
	if (in->have == FRAME_HEAD && begin_frame(c) && !in->skip) {
		memcpy(buf + *used, in->head, FRAME_HEAD);
		*used += FRAME_HEAD;
	}
	return n;
}

/*
 * Pass bytes to nghttp2 until the turn's time is over. Returns the number of
 * bytes taken, or one of nghttp2's errors.
 * @c: connection, which may be cut
 * @len: their number, at most CONN_READ
 */
ssize_t input_take(struct h2_conn *c, const uint8_t *data, size_t len)
{
	/* Room for a head that arrived in two pieces. */
	static uint8_t buf[CONN_READ + FRAME_HEAD];
	const double until = c->began_us + CONN_TURN_US;
	const struct h2_input *in = &c->input;
	size_t at = 0, used, frames = 0;
	ssize_t ret;

	while (at < len && !c->cut_reason &&
	       (frames++ < FREE_FRAMES || now_us() < until)) {
		used = 0;
		do
			at += take_part(c, buf, &used, data + at, len - at);
		while (at < len && (in->left || in->have));
		/* nghttp2 would count an empty call as a CONTINUATION. */
		ret = used && !c->cut_reason ?
		      nghttp2_session_mem_recv(c->h2, buf, used) : 0;
		if (ret < 0)
			return ret;
	}
	return (ssize_t)at;
}
