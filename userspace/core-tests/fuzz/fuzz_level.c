// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer: the bytes are the order of events at a root and its children:
 * packets from ranks, from children to the root, results from the root to them,
 * message after message. Each rank's result is compared with that of one slot
 * for all ranks. Invalid packets from a parent, and messages that fail, must do
 * no harm.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "core/rank_range.h"
#include "core/reduce/reduce.h"
#include "core/slot.h"
#include "fuzz.h"

#define MAX_RANKS	9
#define MAX_MEMBERS	4
#define MAX_CHUNKS	4
#define PMTU		64
#define ROOM		(MAX_CHUNKS * PMTU - INC_HDR_LEN)

/* A switch and its state in one message. */
struct sw {
	struct inc_slot_geom	geom;
	struct inc_slot		s;
	void			*mem;
	struct inc_msg		msg[MAX_RANKS];
	uint16_t		sent[MAX_RANKS];
	uint32_t		delivered;
	bool			told;
	bool			lied_to;
};

static struct job {
	uint16_t	n, members, below[MAX_MEMBERS], at[MAX_RANKS];
	struct inc_rank_range	ranges[MAX_MEMBERS];
	struct inc_hdr	hdr;
	uint32_t	id;
	uint8_t		data[MAX_RANKS][ROOM];
	struct sw	flat, root, child[MAX_MEMBERS];
	bool		failed;
} j;

static int live;
static const uint8_t *in, *end;

static uint8_t byte(void)
{
	return in < end ? *in++ : 0;
}

/* The slot may skip the header in front of the elements. */
struct owned {
	struct inc_part	part;
	void		*mem;
};

void inc_part_free(struct inc_part *part)
{
	struct owned *o = container_of(part, struct owned, part);

	live--;
	free(o->mem);
	free(o);
}

static struct inc_part *new_part(const uint8_t *data, uint32_t len)
{
	struct owned *o = calloc(1, sizeof(*o));

	/* The exact size, so that AddressSanitizer guards the end. */
	o->mem = malloc(len);
	memcpy(o->mem, data, len);
	o->part.data = o->mem;
	o->part.len = len;
	live++;
	return &o->part;
}

static void sw_init(struct sw *sw, const struct inc_slot_geom *geom)
{
	size_t size;

	memset(sw, 0, sizeof(*sw));
	sw->geom = *geom;
	sw->geom.slots = 1;
	sw->geom.pmtu = PMTU;
	sw->geom.max_chunks = MAX_CHUNKS;
	sw->geom.msg_size = MAX_CHUNKS * PMTU;
	sw->geom.collectives = ~0U;
	sw->geom.dtypes = ~0U;
	sw->geom.ops = ~0U;
	size = inc_slot_size(&sw->geom);
	sw->mem = aligned_alloc(PMTU, size);
	memset(sw->mem, 0, size);
	memset(sw->mem, 0xa5, inc_slot_buffers(&sw->geom));
	inc_slot_init(&sw->s, &sw->geom, j.id);
	inc_slot_place(&sw->s, sw->mem);
}

static void setup(void)
{
	uint16_t first = 0;
	uint16_t blocks;

	memset(&j, 0, sizeof(j));
	j.id = byte() & 1 ? 3 : ~0U;
	j.members = 2 + byte() % (MAX_MEMBERS - 1);
	for (int i = 0; i < j.members; i++) {
		uint16_t left = MAX_RANKS - first - (j.members - i - 1);

		j.below[i] = byte() % (left < 4 ? left + 1 : 5);
		first += j.below[i] ? j.below[i] : 1;
	}
	j.n = inc_rank_range_sum(j.below, j.members);
	require(j.n == first && j.n <= MAX_RANKS);
	sw_init(&j.flat, &(struct inc_slot_geom) { .members = j.n });
	blocks = inc_rank_range_fill(j.ranges, j.at, j.below, j.members, 0,
				     j.n);
	sw_init(&j.root, &(struct inc_slot_geom){
				 .members = j.members,
				 .job_ranks = j.n,
				 .own.n = j.n,
				 .ranges = j.ranges,
				 .at = j.at,
				 .blocks = blocks,
			 });
	for (int i = 0; i < j.members; i++)
		if (j.below[i])
			sw_init(&j.child[i], &(struct inc_slot_geom) {
				.members = j.ranges[i].n, .job_ranks = j.n,
				.own = j.ranges[i], .child = true,
			});
}

static void teardown(void)
{
	inc_slot_fail(&j.flat.s, INC_STATUS_TREE_GONE);
	inc_slot_fail(&j.root.s, INC_STATUS_TREE_GONE);
	free(j.flat.mem);
	free(j.root.mem);
	for (int i = 0; i < j.members; i++) {
		if (!j.below[i])
			continue;
		inc_slot_fail(&j.child[i].s, INC_STATUS_TREE_GONE);
		free(j.child[i].mem);
	}
	require(!live);
}

/* The switch of a rank, and the rank's member index there. */
static struct sw *place_of(uint16_t rank, uint16_t *member)
{
	uint16_t i = 0;

	while (rank >= j.ranges[i].first + j.ranges[i].n)
		i++;
	*member = j.below[i] ? rank - j.ranges[i].first : i;
	return j.below[i] ? &j.child[i] : &j.root;
}

/* The parser knows how many blocks a rank sends. */
static bool parse_rank(const struct sw *sw, uint16_t rank, struct inc_msg *msg)
{
	uint32_t blocks[] = { 0, 1, j.n };
	uint32_t size = be32_to_cpu(j.hdr.nelem) * inc_dtype_size(j.hdr.dtype);

	for (int i = 0; i < 3; i++)
		if (!inc_msg_parse(&sw->geom, rank, &j.hdr,
				   INC_HDR_LEN + blocks[i] * size, false, msg))
			return true;
	return false;
}

static void start(struct sw *sw)
{
	memset(sw->msg, 0, sizeof(sw->msg));
	memset(sw->sent, 0, sizeof(sw->sent));
	sw->delivered = 0;
	sw->told = false;
}

/* Start the next message. Returns false if it is too long for a slot. */
static bool next_message(void)
{
	static const uint8_t dtypes[] = {
		INC_DTYPE_INT32, INC_DTYPE_UINT8,
		INC_DTYPE_FP16, INC_DTYPE_FP32,
	};
	static const uint8_t ops[] = { INC_OP_SUM, INC_OP_MIN, INC_OP_AVG };
	uint8_t coll = byte() % INC_COLL_COUNT, kind = byte(), count = byte();
	uint8_t dtype = dtypes[kind % 4];
	bool rooted = coll == INC_COLL_BROADCAST || coll == INC_COLL_SCATTER ||
		      coll == INC_COLL_GATHER || coll == INC_COLL_REDUCE;
	uint16_t m;

	j.hdr = (struct inc_hdr) {
		.version = INC_VERSION, .collective = coll, .dtype = dtype,
		.op = ops[(kind >> 2) % 3], .msg_id = cpu_to_be32(j.id),
		.root = cpu_to_be16(rooted ? (kind >> 4) % j.n : 0),
		.nelem = cpu_to_be32(coll == INC_COLL_BARRIER ? 0 : count % 72),
	};
	for (int r = 0; r < j.n; r++)
		for (int i = 0; i < ROOM; i++)
			j.data[r][i] = (r * 89 + i * 31 + count) % 61;
	start(&j.flat);
	start(&j.root);
	for (int i = 0; i < j.members; i++)
		start(&j.child[i]);
	for (int r = 0; r < j.n; r++) {
		struct sw *sw = place_of(r, &m);

		if (!parse_rank(&j.flat, r, &j.flat.msg[r]))
			return false;
		require(parse_rank(sw, m, &sw->msg[m]));
		require(sw->msg[m].out_len == j.flat.msg[r].out_len);
	}
	return true;
}

static bool whole(const struct sw *sw, uint16_t member)
{
	return sw->sent[member] ==
	       inc_chunks_of(&sw->geom, sw->msg[member].in_len);
}

/* Send a rank's next packet to its switch. */
static void step_rank(struct sw *sw, uint16_t member, const uint8_t *data)
{
	const struct inc_msg *msg = &sw->msg[member];
	uint16_t chunk = sw->sent[member];

	if (whole(sw, member))
		return;
	if (!chunk) {
		enum inc_slot_verdict v =
			inc_slot_begin(&sw->s, member, msg, 0);

		require(v == INC_SLOT_TAKE || j.failed || sw->lied_to);
		if (v != INC_SLOT_TAKE)
			return;
	}
	sw->sent[member]++;
	inc_slot_add(&sw->s, member, msg->msg_id,
		     new_part(data + inc_chunk_off(&sw->geom, chunk),
			      inc_chunk_len(&sw->geom, chunk, msg->in_len)));
}

/* Send a child's next packet to the root, if it is ready. */
static void step_up(int i)
{
	struct sw *child = &j.child[i], *root = &j.root;
	const struct inc_msg *msg = &child->s.msg;
	uint16_t n = root->sent[i], planes, chunk;
	const uint8_t *plane;
	bool first = !n;
	uint32_t len, plen;

	if (child->s.state != RDMA_INC_SLOT_STATE_BUSY)
		return;
	planes = inc_msg_planes(&child->geom, msg, j.ranges[i]);
	chunk = n / planes;
	plane = child->s.partial + n % planes * inc_geom_buffer(&child->geom);
	len = inc_planes_len(&child->geom, planes, msg->gather_len);
	if (n == msg->gather_chunks * planes || chunk >= child->s.gathered)
		return;
	if (first) {
		struct inc_hdr hdr = j.hdr;

		if (inc_msg_wide(&child->geom, msg, j.ranges[i]))
			hdr.flags = cpu_to_be16(INC_HDR_F_WIDE);
		require(!inc_msg_parse(&root->geom, i, &hdr, len, false,
				       &root->msg[i]));
		if (inc_slot_begin(&root->s, i, &root->msg[i], 0) !=
		    INC_SLOT_TAKE) {
			require(j.failed);
			return;
		}
	}
	plen = len - n * PMTU < PMTU ? len - n * PMTU : PMTU;
	plen -= first ? INC_HDR_LEN : 0;
	root->sent[i]++;
	inc_slot_add(&root->s, i, j.id,
		     new_part(plane + chunk * PMTU - (first ? 0 : INC_HDR_LEN),
			      plen));
}

/* The slot keeps its last result until the next message begins there. */
static bool root_done(void)
{
	return j.root.s.state == RDMA_INC_SLOT_STATE_DONE &&
	       j.root.s.msg.msg_id == j.id;
}

/* Send the root's next packet to a child switch. */
static void step_down(int i, uint8_t how)
{
	const struct inc_msg *msg = &j.root.msg[i];
	struct sw *child = &j.child[i];
	uint32_t left = msg->out_len - child->delivered;
	uint32_t len = left < 1 + how % PMTU ? left : 1 + how % PMTU;
	struct inc_part part = {
		.data = j.root.s.result + msg->out_off + child->delivered,
		.len = len,
	};

	if (child->told || !root_done() ||
	    child->s.state != RDMA_INC_SLOT_STATE_BUSY)
		return;
	if (len)
		require(inc_slot_result(&child->s, child->delivered, &part) ||
			child->lied_to);
	child->delivered += len;
	if (child->delivered < msg->out_len)
		return;
	child->told = true;
	require(inc_slot_answer(&child->s, INC_STATUS_OK) || child->lied_to);
	require(child->s.state == RDMA_INC_SLOT_STATE_DONE || child->lied_to);
}

/* An invalid packet from the parent. If refused, the QP would go to error. */
static void lie(int i)
{
	struct sw *child = &j.child[i];
	static uint8_t junk[2 * PMTU];
	uint32_t off = byte() * 8;
	struct inc_part part = { .data = junk, .len = 1 + byte() % PMTU };

	child->lied_to = true;
	j.failed = true;
	if (off & 8)
		inc_slot_answer(&child->s,
				off >> 4 & 3 ? 0 : INC_STATUS_MISMATCH);
	else
		inc_slot_result(&child->s, off & 16 ? child->s.rx_bytes : off,
				&part);
}

static bool all_done(void)
{
	for (int i = 0; i < j.members; i++)
		if (j.below[i] && !j.child[i].told)
			return false;
	return root_done();
}

/* Each rank's result equals that of one switch with all ranks. */
static void compare(void)
{
	uint16_t m;

	for (int r = 0; r < j.n; r++)
		while (!whole(&j.flat, r))
			step_rank(&j.flat, r, j.data[r]);
	require(j.flat.s.state == RDMA_INC_SLOT_STATE_DONE);
	for (int r = 0; r < j.n; r++) {
		const struct inc_msg *want = &j.flat.msg[r];
		const struct sw *sw = place_of(r, &m);

		require(!memcmp(sw->s.result + sw->msg[m].out_off,
				j.flat.s.result + want->out_off,
				want->out_len));
	}
	require(!live);
}

static void step(uint8_t op)
{
	uint16_t m, rank = (op >> 3) % j.n;
	int i = (op >> 3) % j.members;
	struct sw *sw;

	switch (op & 7) {
	case 0: case 1: case 2: case 3:
		sw = place_of(rank, &m);
		step_rank(sw, m, j.data[rank]);
		break;
	case 4: case 5:
		if (j.below[i])
			step_up(i);
		break;
	case 6:
		if (j.below[i])
			step_down(i, byte());
		break;
	case 7:
		/* Rarely, or no message would ever complete. */
		if (op == 0xff) {
			sw = place_of(byte() % j.n, &m);
			inc_slot_fail(&sw->s, INC_STATUS_MISMATCH);
			j.failed = true;
		} else if (op == 0xf7 && j.below[j.members - 1]) {
			lie(j.members - 1);
		}
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool once;

	if (!once)
		inc_reduce_init();
	once = true;
	in = data;
	end = data + size;
	setup();
	while (in < end && !j.failed && next_message()) {
		while (in < end && !(all_done() && !j.failed))
			step(byte());
		if (!j.failed && all_done())
			compare();
		else
			break;
		j.id++;
	}
	teardown();
	return 0;
}
