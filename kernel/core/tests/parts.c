// SPDX-License-Identifier: GPL-2.0
/*
 * Parts, data and the reference for the slot machine's tests.
 */
#include <kunit/test.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "core/reduce/reduce.h"
#include "parts.h"

/* Trees of up to 64 ranks. */
#define MAX_LEVELS	6

int test_parts_live;

/* Bytes between the pieces of a part. */
#define GAP	3

/**
 * test_part() - make a part
 * @data: its elements
 * @len: bytes
 *
 * Each third one is in pieces, whose size is another one each time.
 *
 * Return: the part, in memory of its own.
 */
struct inc_part *test_part(const void *data, u16 len)
{
	static unsigned int made;
	u32 size = ++made % 3 ? len : made / 3 % 61 + 1;
	u32 n = size ? DIV_ROUND_UP(len, size) : 0, i;
	struct inc_piece *piece;
	struct inc_part *part;
	u8 *at;

	part = kzalloc(sizeof(*part) + n * sizeof(*piece) + len + n * GAP,
		       GFP_KERNEL);
	piece = (struct inc_piece *)(part + 1);
	at = (u8 *)(piece + n);
	/* The slot may move it. */
	if (size == len || !len) {
		part->data = at;
	} else {
		part->piece = piece;
		part->pieces = true;
	}
	part->len = len;
	/* The slot has to set it, to whatever it is at first. */
	part->level = made % 7;
	for (i = 0; i < n; i++, at += size + GAP) {
		piece[i].at = at;
		piece[i].len = min(size, len - i * size);
		memcpy(at, data + i * size, piece[i].len);
	}
	test_parts_live++;
	return part;
}

/**
 * inc_part_free() - free a part, as the slot machine requires
 * @part: the part
 */
void inc_part_free(struct inc_part *part)
{
	test_parts_live--;
	kfree(part);
}

/**
 * slot_test_init() - set up a test case
 * @test: test
 *
 * Return: 0 or -ENOMEM.
 */
int slot_test_init(struct kunit *test)
{
	struct slot_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	test->priv = t;
	t->cpus = 1;
	test_parts_live = 0;
	inc_rng_init(&t->rng, test);
	return 0;
}

static void release(struct slot_test *t)
{
	vfree(t->mem);
	vfree(t->data);
	vfree(t->want);
	vfree(t->halves);
	vfree(t->old);
	vfree(t->sent);
	t->mem = NULL;
	t->data = NULL;
	t->want = NULL;
	t->halves = NULL;
	t->old = NULL;
	t->sent = NULL;
}

/**
 * slot_test_exit() - clean up a test case
 * @test: test
 *
 * Whatever a test does, no part may be left behind.
 */
void slot_test_exit(struct kunit *test)
{
	struct slot_test *t = test->priv;

	if (t)
		release(t);
	KUNIT_EXPECT_EQ(test, test_parts_live, 0);
}

/**
 * slot_test_tree() - make a tree of four slots, and the slot of a message
 * @test: test
 * @ranks: number of ranks
 * @pmtu: payload bytes of a full packet
 * @max_chunks: packets of the longest message
 * @msg_id: message that the slot expects
 */
void slot_test_tree(struct kunit *test, u16 ranks, u16 pmtu, u16 max_chunks,
		    u32 msg_id)
{
	struct slot_test *t = test->priv;
	size_t size, room;

	release(t);
	t->geom = (struct inc_slot_geom) {
		.members = ranks, .slots = 4, .pmtu = pmtu,
		.max_chunks = max_chunks, .msg_size = max_chunks * pmtu,
		.tree_id = 0x12345678,
		.collectives = ~0U, .dtypes = ~0U, .ops = ~0U,
	};
	size = inc_slot_size(&t->geom);
	KUNIT_ASSERT_EQ(test, size % 64, (size_t)0);
	room = ALIGN(size, PAGE_SIZE);
	t->mem = vmalloc(room);
	t->data = vmalloc((size_t)ranks * max_chunks * pmtu);
	t->want = vmalloc((size_t)max_chunks * pmtu);
	t->halves = vmalloc((size_t)max_chunks * pmtu * MAX_LEVELS);
	t->old = vmalloc((size_t)max_chunks * pmtu);
	t->sent = vmalloc(ranks * sizeof(*t->sent));
	KUNIT_ASSERT_TRUE(test, t->mem && t->data && t->want && t->halves &&
			  t->old && t->sent);
	/* The slot must not rely on zeros, nor send bytes that nobody has written. */
	memset(t->mem, 0, room);
	memset(t->mem, 0xa5, room - size + inc_slot_buffers(&t->geom));
	memset(t->sent, 0, ranks * sizeof(*t->sent));
	inc_slot_init(&t->s, &t->geom, msg_id);
	inc_slot_place(&t->s, t->mem + room - size);
}

/**
 * test_hdr() - make an INC header
 * @t: fixture
 * @collective: enum inc_collective
 * @dtype: enum inc_dtype
 * @op: enum inc_op
 * @msg_id: message ID
 * @nelem: number of elements
 *
 * Return: the header, as on the wire.
 */
struct inc_hdr test_hdr(const struct slot_test *t, u8 collective, u8 dtype,
			u8 op, u32 msg_id, u32 nelem)
{
	return (struct inc_hdr) {
		.version	= INC_VERSION,
		.collective	= collective,
		.dtype		= dtype,
		.op		= op,
		.tree_id	= cpu_to_be32(t->geom.tree_id),
		.msg_id		= cpu_to_be32(msg_id),
		.nelem		= cpu_to_be32(nelem),
	};
}

/**
 * test_msg() - make a message by the parser
 * @test: test
 * @collective: enum inc_collective
 * @dtype: enum inc_dtype
 * @op: enum inc_op
 * @msg_id: message ID
 * @nelem: number of elements
 *
 * Return: the message.
 */
struct inc_msg test_msg(struct kunit *test, u8 collective, u8 dtype, u8 op,
			u32 msg_id, u32 nelem)
{
	struct slot_test *t = test->priv;
	struct inc_hdr hdr = test_hdr(t, collective, dtype, op, msg_id, nelem);
	struct inc_msg msg;

	KUNIT_ASSERT_EQ(test, inc_msg_parse(&t->geom, 0, &hdr, INC_HDR_LEN +
					    nelem * inc_dtype_size(dtype), false, &msg),
			INC_STATUS_OK);
	KUNIT_ASSERT_LE(test, msg.nchunks, t->geom.max_chunks);
	return msg;
}

/*
 * Bits that reveal the order of summation: exponents a few steps apart, so that
 * every addition rounds; now and then anything.
 */
static u64 element(struct slot_test *t, u8 dtype)
{
	u64 x = inc_rnd(&t->rng);

	if (!inc_rnd_below(&t->rng, 32))
		return x;
	if (dtype == INC_DTYPE_FP32)
		return (x & 0x807fffff) | (120 + inc_rnd_below(&t->rng, 16)) << 23;
	if (dtype == INC_DTYPE_FP64)
		return (x & 0x800fffffffffffffULL) |
		       (u64)(1016 + inc_rnd_below(&t->rng, 16)) << 52;
	return x;
}

/**
 * test_fill() - fill in every rank's contribution
 * @t: fixture
 * @msg: message
 */
void test_fill(struct slot_test *t, const struct inc_msg *msg)
{
	unsigned int size = inc_dtype_size(msg->dtype);

	memset(t->sent, 0, t->geom.members * sizeof(*t->sent));
	if (!msg->data_len)
		return;
	for (u16 rank = 0; rank < t->geom.members; rank++) {
		for (u32 i = 0; i < msg->nelem; i++) {
			u64 x = element(t, msg->dtype);

			/* Little-endian, as the elements are. */
			for (unsigned int b = 0; b < size; b++, x >>= 8)
				test_data(t, rank)[i * size + b] = (u8)x;
		}
	}
}

/**
 * test_begin() - begin a rank's request
 * @t: fixture
 * @rank: rank
 * @msg: message
 *
 * Return: the slot's verdict.
 */
enum inc_slot_verdict test_begin(struct slot_test *t, u16 rank,
				 const struct inc_msg *msg)
{
	t->sent[rank] = 1;
	return inc_slot_begin(&t->s, rank, msg, INC_STATUS_OK);
}

/**
 * test_add() - add a rank's next chunk
 * @t: fixture
 * @rank: rank
 * @msg: message that it began
 *
 * Return: whether the chunk is complete.
 */
bool test_add(struct slot_test *t, u16 rank, const struct inc_msg *msg)
{
	u16 chunk = t->sent[rank]++ - 1;
	u32 off = inc_chunk_off(&t->geom, chunk);
	u32 len = inc_chunk_len(&t->geom, chunk, msg->data_len);

	inc_slot_note_cpu(&t->s, inc_rnd_below(&t->rng, t->cpus));
	return inc_slot_add(&t->s, rank, msg->msg_id,
			    test_part(test_data(t, rank) + off, len));
}

/*
 * The definition, literally: a block of 2^k ranks is the sum of its halves; the
 * right half may be missing. All of the message at once.
 */
static void block(struct slot_test *t, const struct inc_msg *msg, u32 first,
		  u32 level, u8 *to)
{
	const struct inc_reduce_ops *ops = inc_reduce_lookup(msg->dtype, msg->op);
	u32 half;
	u8 *right;

	if (!level) {
		memcpy(to, test_data(t, first), msg->data_len);
		return;
	}
	level--;
	half = 1U << level;
	block(t, msg, first, level, to);
	if (first + half >= t->geom.members)
		return;
	right = t->halves + (size_t)level * t->geom.max_chunks * t->geom.pmtu;
	block(t, msg, first + half, level, right);
	ops->generic(to, to, right, msg->nelem);
}

/**
 * test_reference() - compute the result of a message
 * @t: fixture
 * @msg: message; has data
 * @to: result, @msg->data_len bytes
 */
void test_reference(struct slot_test *t, const struct inc_msg *msg, void *to)
{
	u32 level = 0;

	while (1U << level < t->geom.members)
		level++;
	block(t, msg, 0, level, to);
}

/**
 * test_expect_chunk() - check that a chunk is complete and right
 * @test: test
 * @msg: message
 * @chunk: chunk
 * @want: the whole message's result
 */
void test_expect_chunk(struct kunit *test, const struct inc_msg *msg,
		       u16 chunk, const void *want)
{
	struct slot_test *t = test->priv;
	u32 off = inc_chunk_off(&t->geom, chunk);
	u32 len = inc_chunk_len(&t->geom, chunk, msg->data_len);
	static const u8 zero[4];

	KUNIT_ASSERT_EQ_MSG(test, memcmp(t->s.result + off, want + off, len), 0,
			    "%u ranks, chunk %u of %u, type %u, op %u",
			    t->geom.members, chunk, msg->nchunks, msg->dtype,
			    msg->op);
	KUNIT_ASSERT_EQ(test, t->s.chunk[chunk].crc,
			crc32_le(crc32_le(0, want + off, len), zero, -len & 3));
}
