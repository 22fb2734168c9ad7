// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Segmentation, message IDs, names and errors. */
#include <errno.h>
#include <string.h>

#include "core/seg.h"
#include "inc.h"
#include "test.h"

static void chunk(void)
{
	EQ(inc_seg_chunk(65536, 4), 65504);
	EQ(inc_seg_chunk(65536, 8), 65504);
	EQ(inc_seg_chunk(1024, 1), 992);
	EQ(inc_seg_chunk(64, 8), 32);
	EQ(inc_seg_chunk(100, 8), 64);
	EQ(inc_seg_chunk(65536, 0), 65504);
}

static void msgs(void)
{
	EQ(inc_seg_msgs(0, 65504), 1);
	EQ(inc_seg_msgs(1, 65504), 1);
	EQ(inc_seg_msgs(65504, 65504), 1);
	EQ(inc_seg_msgs(65505, 65504), 2);
	EQ(inc_seg_msgs((size_t)1 << 34, 65504),
	   (((size_t)1 << 34) + 65503) / 65504);
}

/* The pieces make up the whole, each of whole elements. */
static void whole(void)
{
	static const size_t counts[] = {
		0, 1, 3, 255, 4097, 1048576, 2147483648,
	};
	static const uint32_t sizes[] = { 64, 128, 1024, 4096, 65536 };
	size_t c, s, esize, bytes, off, len;
	uint64_t n;

	for (c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			for (esize = 1; esize <= 8; esize *= 2) {
				size_t chunk_len =
					inc_seg_chunk(sizes[s], esize);

				if (counts[c] > 1 << 20 && sizes[s] < 65536)
					continue;
				bytes = counts[c] * esize;
				off = 0;
				n = 0;
				do {
					len = inc_seg_len(bytes, off,
							  chunk_len);
					OK(len % esize == 0);
					OK(len + INC_HDR_LEN <= sizes[s]);
					OK(len || !bytes);
					off += len;
					n++;
				} while (off < bytes);
				EQ(off, bytes);
				EQ(n, inc_seg_msgs(bytes, chunk_len));
			}
}

/* As few parts as possible, of similar length, in full packets. */
static void even(void)
{
	static const size_t counts[] = {
		0, 1, 8188, 8189, 16376, 16377, 32768, 10000019,
	};
	const uint32_t msg_size = 65536, pmtu = 1024;
	size_t c, esize, block, len;
	uint64_t n;

	for (c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		for (esize = 1; esize <= 16; esize *= 2) {
			block = counts[c] * esize;
			len = inc_seg_even(block, msg_size, pmtu, esize);
			n = inc_seg_msgs(block, len);
			EQ(len % esize, 0);
			OK(len + INC_HDR_LEN <= msg_size);
			EQ(n,
			   inc_seg_msgs(block, inc_seg_chunk(msg_size, esize)));
			OK((len + INC_HDR_LEN) % pmtu == 0);
			/*
			 * Difference of a part and the last one: the rounding
			 * of all parts.
			 */
			OK(n == 1 || n * len - block < n * (pmtu + esize));
		}
	/*
	 * Elements that do not fill packets, messages that packets do not fill.
	 */
	EQ(inc_seg_even(131064, 65536, 1024, 12), 43992);
	EQ(inc_seg_even(2000, 1056, 1024, 4), 1024);
	EQ(inc_seg_even(10000, 1056, 64, 4), 1024);
	EQ(inc_seg_even(0, 65536, 1024, 0), 65504);
}

static void message_ids(void)
{
	EQ(inc_seg_imm(0x12345678), 0x345678);
	EQ(inc_seg_dist(5, 5), 0);
	EQ(inc_seg_dist(7, 5), 2);
	EQ(inc_seg_dist(4, 5), 0xffffff);
	/* the Immediate wraps */
	EQ(inc_seg_dist(0x000001, 0x00fffffe), 3);
	EQ(inc_seg_dist(inc_seg_imm(0x01000001), 0x00fffffe), 3);
	/* the message ID wraps */
	EQ(inc_seg_dist(inc_seg_imm(2), 0xfffffffd), 5);
	/* a status in the upper bits does not count */
	EQ(inc_seg_dist(0x10000007, 5), 2);
}

static void names(void)
{
	int i;

	for (i = 0; i < INC_DTYPE_COUNT; i++) {
		OK(inc_dtype_size((enum inc_dtype)i));
		EQ(inc_dtype_by_name(inc_dtype_name((enum inc_dtype)i)), i);
	}
	for (i = 0; i < INC_OP_COUNT; i++)
		EQ(inc_op_by_name(inc_op_name((enum inc_op)i)), i);
	EQ(inc_dtype_by_name("float"), -EINVAL);
	EQ(inc_op_by_name(""), -EINVAL);
	EQ(inc_dtype_size(INC_DTYPE_COUNT), 0);
	OK(!inc_dtype_name((enum inc_dtype)-1));
	OK(!inc_op_name(INC_OP_COUNT));
}

static void errors(void)
{
	unsigned int i;

	EQ(inc_status_errno(INC_STATUS_OK), 0);
	EQ(inc_status_errno(INC_STATUS_MISMATCH), -EBADE);
	EQ(inc_status_errno(INC_STATUS_PEER_DEAD), -ECONNRESET);
	EQ(inc_status_errno(9), -EPROTO);
	EQ(inc_status_errno(255), -EPROTO);
	EQ(inc_status_errno(~0U), -EPROTO);
	for (i = 0; i < 256; i++)
		OK(inc_status_str(i) && *inc_status_str(i));
	OK(strstr(inc_strerror(-ETIMEDOUT), "limit"));
	OK(!strcmp(inc_strerror(-EPERM), strerror(EPERM)));
	OK(strchr(inc_version(), '.'));
}

static const struct test_case cases[] = {
	{ "chunk", chunk },
	{ "msgs", msgs },
	{ "whole", whole },
	{ "even", even },
	{ "message_ids", message_ids },
	{ "names", names },
	{ "errors", errors },
};

TEST_MAIN(cases)
