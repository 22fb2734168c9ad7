// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer: the bytes are calls of the slot machine, by any rank, for any
 * message ID, with right and wrong headers, in any order that its callers may
 * use. Each verdict, the whole result buffer and each part's life are compared
 * with protocol.rst.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/crc32.h>
#include <linux/kernel.h>

#include "core/reduce/reduce.h"
#include "core/slot.h"
#include "fuzz.h"

#define MAX_RANKS	17
#define MAX_CHUNKS	3
#define PMTU		256	/* eight ranks' sums are long enough to be reduced at once */
#define TREE_ID		5
#define ROOM		(MAX_CHUNKS * PMTU)

/* A message by protocol.rst: how much each rank has sent, how it ended. */
struct oracle {
	struct inc_slot_geom geom;
	struct inc_slot s;
	uint32_t	id;
	bool		begun[MAX_RANKS];
	int		sent[MAX_RANKS];	/* chunks */
	bool		open[MAX_RANKS];	/* got INC_SLOT_TAKE */
	uint32_t	begun_id[MAX_RANKS];
	struct inc_msg	msg;			/* of the first to begin */
	bool		any, failed;
	uint8_t		status;
	bool		went_on;		/* from an earlier message */
	uint8_t		last_status;
	uint32_t	last_len;
	uint8_t		result[ROOM];
	uint32_t	owner;			/* newest that all have begun */
};

static int live;
static const uint8_t *in, *end;

static uint8_t byte(void)
{
	return in < end ? *in++ : 0;
}

void inc_part_free(struct inc_part *part)
{
	live--;
	free(part->data);
	free(part);
}

/* A rank's contribution: known to both sides, and different everywhere. */
static uint32_t word(uint32_t id, int rank, uint32_t pos)
{
	uint32_t x = (id * 31 + rank) * 1021 + pos + 1;

	x *= 0x9e3779b1;
	return x ^ x >> 15;
}

static float real(uint32_t x)
{
	return (float)(int32_t)x / (float)(1 + (x & 0xfff));
}

/* 4 bytes of data; fp32 is finite, so that the compiler's addition is right. */
static void element(const struct inc_msg *msg, int rank, uint32_t pos,
		    uint8_t *to)
{
	uint32_t x = word(msg->msg_id, rank, pos);
	float f = real(x);

	if (msg->dtype == INC_DTYPE_FP32)
		memcpy(to, &f, 4);
	else
		memcpy(to, &x, 4);
}

/* Ranks first ... first + n - 1, or to the last rank; n is a power of two. */
static float tree_sum(const struct oracle *o, int first, int n, uint32_t pos)
{
	float left;

	if (n == 1)
		return real(word(o->msg.msg_id, first, pos));
	left = tree_sum(o, first, n / 2, pos);
	if (first + n / 2 >= o->geom.members)
		return left;
	return left + tree_sum(o, first + n / 2, n / 2, pos);
}

static uint32_t fold(const struct oracle *o, uint32_t pos)
{
	uint32_t acc = word(o->msg.msg_id, 0, pos);

	for (int rank = 1; rank < o->geom.members; rank++) {
		uint32_t x = word(o->msg.msg_id, rank, pos);

		switch (o->msg.op) {
		case INC_OP_SUM:
			acc += x;
			break;
		case INC_OP_MIN:
			acc = (int32_t)x < (int32_t)acc ? x : acc;
			break;
		default:
			acc = (int32_t)x > (int32_t)acc ? x : acc;
			break;
		}
	}
	return acc;
}

static uint32_t chunk_start(int chunk)
{
	return chunk ? chunk * PMTU - 32 : 0;
}

static uint32_t chunk_bytes(const struct inc_msg *msg, int chunk)
{
	uint32_t from = chunk_start(chunk), to = chunk_start(chunk + 1);

	return (to < msg->data_len ? to : msg->data_len) - from;
}

/* All ranks have sent the chunk: compute its expected result. */
static void expect_chunk(struct oracle *o, int chunk)
{
	uint32_t from = chunk_start(chunk), len = chunk_bytes(&o->msg, chunk);
	uint8_t padded[PMTU + 4] = {};

	for (uint32_t i = from; i < from + len; i += 4) {
		uint32_t x = fold(o, i / 4);
		float f = tree_sum(o, 0, 16, i / 4);

		memcpy(o->result + i, o->msg.dtype == INC_DTYPE_FP32 ?
		       (void *)&f : (void *)&x, 4);
	}
	memcpy(padded, o->result + from, len);
	require(o->s.chunk[chunk].crc == crc32_le(0, padded, (len + 3) & ~3));
}

static int complete(const struct oracle *o)
{
	int least = MAX_CHUNKS + 1;

	for (int rank = 0; rank < o->geom.members; rank++)
		least = o->sent[rank] < least ? o->sent[rank] : least;
	return least;
}

static bool all_begun(const struct oracle *o)
{
	for (int rank = 0; rank < o->geom.members; rank++)
		if (!o->begun[rank])
			return false;
	return true;
}

static bool done(const struct oracle *o)
{
	return o->any && !o->failed && complete(o) == o->msg.nchunks;
}

/* What the slot knows of a rank's last two messages. */
static void compare_past(const struct oracle *o, int rank, bool busy)
{
	enum inc_slot_past want = !o->begun[rank] ? INC_SLOT_UNKNOWN :
				  busy ? INC_SLOT_OPEN : INC_SLOT_ENDED;
	u8 status = INC_STATUS_OK;
	struct inc_msg msg;

	require(inc_slot_lookup(&o->s, rank, o->id, &msg, &status) == want);
	require(status == (want == INC_SLOT_ENDED && o->failed ? o->status : 0));
	want = o->begun[rank] ? INC_SLOT_OLD :
	       o->went_on ? INC_SLOT_ENDED : INC_SLOT_UNKNOWN;
	status = INC_STATUS_OK;
	require(inc_slot_lookup(&o->s, rank, o->id - o->geom.slots, &msg,
				&status) == want);
	require(status == (want == INC_SLOT_ENDED ? o->last_status : 0));
	require(want != INC_SLOT_ENDED || status || msg.out_len == o->last_len);
}

/* The slot has to agree with the oracle after every call. */
static void compare(const struct oracle *o)
{
	int want = !o->any   ? RDMA_INC_SLOT_STATE_IDLE :
		   o->failed ? RDMA_INC_SLOT_STATE_FAILED :
		   done(o)   ? RDMA_INC_SLOT_STATE_DONE :
			       RDMA_INC_SLOT_STATE_BUSY;

	require(o->s.state == want && o->s.msg.msg_id == o->id);
	require(want != RDMA_INC_SLOT_STATE_BUSY || o->s.ready == complete(o));
	require(want == RDMA_INC_SLOT_STATE_BUSY || !live);
	require(!memcmp(o->s.result, o->result,
			o->geom.max_chunks * PMTU - INC_HDR_LEN));
	require(o->s.owner == o->owner);
	for (int rank = 0; rank < o->geom.members; rank++) {
		require(inc_slot_begun(&o->s, rank) == o->begun[rank]);
		compare_past(o, rank, want == RDMA_INC_SLOT_STATE_BUSY);
	}
}

/* Choose a header, and return the status that protocol.rst has for it. */
static uint8_t header(const struct oracle *o, uint8_t choice, uint32_t id,
		      struct inc_msg *msg)
{
	static const uint16_t count[] = { 55, 1, 120, 184, 0, 56, 57, 119 };
	uint32_t nelem = count[choice & 7];
	struct inc_hdr hdr = {
		.version = INC_VERSION, .collective = INC_COLL_ALLREDUCE,
		.dtype = choice & 8 ? INC_DTYPE_FP32 : INC_DTYPE_INT32,
		.op = choice & 8 ? INC_OP_SUM : INC_OP_MIN,
		.tree_id = cpu_to_be32(TREE_ID), .msg_id = cpu_to_be32(id),
	};
	uint32_t most = (o->geom.msg_size - 32) / 4;
	uint8_t want = INC_STATUS_OK;

	nelem = nelem > most ? most : nelem;
	hdr.nelem = cpu_to_be32(nelem);
	/* The oracle adds floats, and compares integers. */
	if (choice >> 4 == 13 && hdr.dtype == INC_DTYPE_INT32)
		hdr.op = INC_OP_MAX;
	if (choice >> 4 == 14) {
		hdr.collective = INC_COLL_BARRIER;
		hdr.nelem = 0;
		nelem = 0;
	}
	if (choice >> 4 == 15) {
		switch (choice & 7) {
		case 0: hdr.version++; want = INC_STATUS_VERSION; break;
		case 1: hdr.flags = 2; want = INC_STATUS_VERSION; break;
		case 2: hdr.tree_id = 0; want = INC_STATUS_TREE_ID; break;
		case 3: hdr.collective = INC_COLL_COUNT; want = INC_STATUS_COLLECTIVE; break;
		case 4: hdr.dtype = INC_DTYPE_COUNT; want = INC_STATUS_DTYPE; break;
		case 5: hdr.op = INC_OP_COUNT; want = INC_STATUS_DTYPE; break;
		case 6: hdr.nelem = ~0; want = INC_STATUS_LENGTH; break;
		case 7: hdr.root = 1; want = INC_STATUS_ROOT; break;
		}
	}
	require(inc_msg_parse(&o->geom, 0, &hdr, 32 + nelem * 4, false, msg) == want);
	require(msg->msg_id == id);
	require(want || msg->nchunks == DIV_ROUND_UP(32 + nelem * 4, PMTU));
	return want;
}

static bool same(const struct inc_msg *a, const struct inc_msg *b)
{
	return a->collective == b->collective && a->dtype == b->dtype &&
	       a->op == b->op && a->nelem == b->nelem;
}

static void next_message(struct oracle *o, uint32_t id)
{
	o->went_on = true;
	o->last_status = o->failed ? o->status : INC_STATUS_OK;
	o->last_len = o->msg.data_len;
	o->id = id;
	o->any = false;
	o->failed = false;
	memset(o->begun, 0, sizeof(o->begun));
	memset(o->sent, 0, sizeof(o->sent));
}

static enum inc_slot_verdict expected(struct oracle *o, int rank,
				      const struct inc_msg *msg, uint8_t status)
{
	if (msg->msg_id == o->id + o->geom.slots) {
		if (done(o) || (o->failed && all_begun(o)))
			next_message(o, msg->msg_id);
		else
			return o->failed ? INC_SLOT_WAIT : INC_SLOT_REFUSE;
	}
	if (msg->msg_id == o->id ? o->begun[rank] :
	    msg->msg_id == o->id - o->geom.slots && o->went_on && !o->begun[rank])
		return INC_SLOT_REPEAT;
	if (msg->msg_id != o->id)
		return INC_SLOT_REFUSE;
	o->begun[rank] = true;
	if (o->failed)
		return INC_SLOT_FAILED;
	if (!status && o->any && !same(&o->msg, msg))
		status = INC_STATUS_MISMATCH;
	if (!o->any)
		o->msg = *msg;
	o->any = true;
	if (!status) {
		if (all_begun(o))
			o->owner = o->id;
		return INC_SLOT_TAKE;
	}
	o->failed = true;
	o->status = status;
	return INC_SLOT_FAIL;
}

static void begin(struct oracle *o, int rank)
{
	uint8_t choice = byte(), where = byte();
	/* Mostly this message or the slot's next one. */
	int step = where & 0x80 ? (int8_t)(where << 1) / 2 : where & 1;
	enum inc_slot_verdict want;
	struct inc_msg msg;
	uint8_t status;

	status = header(o, choice,
			o->id + step * o->geom.slots + (where == 0xff), &msg);
	want = expected(o, rank, &msg, status);
	require(inc_slot_begin(&o->s, rank, &msg, status) == want);
	if (want == INC_SLOT_FAIL || want == INC_SLOT_FAILED)
		require(o->s.status == o->status);
	/* An accepted request becomes the QP's current one. */
	o->open[rank] = want == INC_SLOT_TAKE;
	o->begun_id[rank] = msg.msg_id;
	if (want == INC_SLOT_TAKE)
		o->sent[rank] = 0;
}

static struct inc_part *part(const struct oracle *o, int rank, int chunk)
{
	struct inc_part *p = calloc(1, sizeof(*p));
	uint32_t from = chunk_start(chunk);

	/* The slot has to set it. */
	p->level = rank % 5;
	p->len = chunk_bytes(&o->msg, chunk);
	/* The exact size, so that AddressSanitizer guards the end. */
	p->data = malloc(p->len);
	for (uint32_t i = 0; i < p->len; i += 4)
		element(&o->msg, rank, (from + i) / 4, (uint8_t *)p->data + i);
	live++;
	return p;
}

static void add(struct oracle *o, int rank)
{
	bool counts = o->any && !o->failed && o->begun_id[rank] == o->id;
	int before = complete(o);
	bool whole;

	if (!o->open[rank] || (counts && o->sent[rank] == o->msg.nchunks))
		return;
	whole = inc_slot_add(&o->s, rank, o->begun_id[rank],
			     part(o, rank, counts ? o->sent[rank] : 0));
	if (!counts) {
		require(!whole);
		return;
	}
	o->sent[rank]++;
	require(whole == (complete(o) > before));
	if (whole)
		expect_chunk(o, before);
}

static void fail(struct oracle *o)
{
	bool busy = o->any && !o->failed && !done(o);

	require(inc_slot_fail(&o->s, INC_STATUS_PEER_DEAD) == busy);
	if (busy) {
		o->failed = true;
		o->status = INC_STATUS_PEER_DEAD;
	}
}

static void *setup(struct oracle *o)
{
	uint8_t shape = byte();
	size_t size;
	void *mem;

	o->geom = (struct inc_slot_geom) {
		.members = 1 + byte() % MAX_RANKS, .slots = 1 << (shape & 3),
		.pmtu = PMTU, .max_chunks = 1 + (shape >> 2) % MAX_CHUNKS,
		.tree_id = TREE_ID, .collectives = ~0, .dtypes = ~0, .ops = ~0,
	};
	/* The last packet of the longest message may be short. */
	o->geom.msg_size = o->geom.max_chunks * PMTU - (shape & 0x40 ? 20 : 0);
	o->id = shape & 0x80 ? 0 - o->geom.slots : 3;
	o->owner = o->id - o->geom.slots;
	size = inc_slot_size(&o->geom);
	mem = aligned_alloc(PMTU, size);
	/* Nothing but whole chunks is written. */
	memset(mem, 0, size);
	memset(mem, 0xa5, inc_slot_buffers(&o->geom));
	memset(o->result, 0xa5, sizeof(o->result));
	inc_slot_init(&o->s, &o->geom, o->id);
	inc_slot_place(&o->s, mem);
	return mem;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct oracle o = {};
	void *mem;

	in = data;
	end = data + size;
	mem = setup(&o);
	while (in < end) {
		uint8_t op = byte();
		int rank = op / 8 % o.geom.members;

		switch (op & 7) {
		case 0: case 1: case 2:
			begin(&o, rank);
			break;
		case 3: case 4: case 5: case 6:
			add(&o, rank);
			break;
		case 7:
			/* Rarely, or no message would ever complete. */
			if (op == 0xff)
				fail(&o);
			else
				add(&o, rank);
			break;
		}
		compare(&o);
	}
	inc_slot_fail(&o.s, INC_STATUS_TREE_GONE);
	require(!live);
	free(mem);
	return 0;
}
