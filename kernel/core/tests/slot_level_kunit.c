// SPDX-License-Identifier: GPL-2.0
/*
 * Slots of children and of their root, against one slot with all ranks: any
 * collective, any division of the ranks among children and hosts, packets in
 * any order that the links allow. Where blocks of ranks are aligned, results of
 * every type have the same bits; elsewhere those of integers do.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "core/rank_range.h"
#include "core/reduce/reduce.h"
#include "parts.h"

#define MAX_RANKS	12
#define PMTU		256
#define MAX_CHUNKS	6
#define ROOM		(MAX_CHUNKS * PMTU - INC_HDR_LEN)

/**
 * struct sw - a switch
 * @geom: geometry of its tree
 * @s: its slot
 * @mem: its memory
 * @msg: each member's request
 * @sent: packets of each member's request that were accepted
 * @delivered: bytes of the result that arrived from the root
 * @told: the root has reported the end of the message
 */
struct sw {
	struct inc_slot_geom	geom;
	struct inc_slot		s;
	void			*mem;
	struct inc_msg		msg[MAX_RANKS];
	u16			sent[MAX_RANKS];
	u32			delivered;
	bool			told;
};

/**
 * struct job - a job on several switches, and on one
 * @rng: random numbers
 * @n: ranks
 * @members: of the root
 * @below: as in tree-new
 * @ranges: ranks of each member
 * @at: see &struct inc_slot_geom
 * @hdr: header of all ranks
 * @data: data of each rank
 * @flat: one switch for all
 * @root: the root
 * @child: for each member of the root that is a switch
 */
struct job {
	struct inc_rng	rng;
	u16		n;
	u16		members;
	u16		below[MAX_RANKS];
	struct inc_rank_range	ranges[MAX_RANKS];
	u16		at[MAX_RANKS];
	struct inc_hdr	hdr;
	u8		data[MAX_RANKS][ROOM];
	struct sw	flat;
	struct sw	root;
	struct sw	child[MAX_RANKS];
};

static void sw_init(struct kunit *test, struct sw *sw)
{
	sw->geom.slots = 4;
	sw->geom.pmtu = PMTU;
	sw->geom.max_chunks = MAX_CHUNKS;
	sw->geom.msg_size = MAX_CHUNKS * PMTU;
	sw->geom.collectives = ~0U;
	sw->geom.dtypes = ~0U;
	sw->geom.ops = ~0U;
	sw->mem = vmalloc(inc_slot_size(&sw->geom));
	KUNIT_ASSERT_NOT_NULL(test, sw->mem);
	memset(sw->mem, 0xa5, inc_slot_size(&sw->geom));
	inc_slot_init(&sw->s, &sw->geom, 0, sw->mem);
}

/* Members of up to 4 ranks; of a power of two, if the blocks are to be aligned. */
static void divide(struct kunit *test, struct job *j)
{
	bool aligned = inc_rnd_chance(&j->rng, 500);
	u16 size = 1 << inc_rnd_below(&j->rng, 3), rank = 0, i;

	j->n = 3 + inc_rnd_below(&j->rng, MAX_RANKS - 2);
	for (j->members = 0; rank < j->n; j->members++) {
		u16 n = aligned ? size : 1 + inc_rnd_below(&j->rng, 4);

		n = min_t(u16, n, j->members ? j->n - rank : j->n - 1);
		j->below[j->members] = n == 1 && inc_rnd_chance(&j->rng, 500) ?
				       0 : n;
		rank += n;
	}
	j->flat.geom = (struct inc_slot_geom) { .members = j->n };
	j->root.geom = (struct inc_slot_geom) {
		.members = j->members, .job_ranks = j->n, .own.n = j->n,
		.ranges = j->ranges,
	};
	if (inc_rank_range_fill(j->ranges, j->at, j->below, j->members, 0))
		j->root.geom.at = j->at;
	KUNIT_ASSERT_EQ(test, inc_rank_range_sum(j->below, j->members), j->n);
	sw_init(test, &j->flat);
	sw_init(test, &j->root);
	for (i = 0; i < j->members; i++) {
		if (!j->below[i])
			continue;
		j->child[i].geom = (struct inc_slot_geom) {
			.members = j->ranges[i].n, .job_ranks = j->n,
			.own = j->ranges[i], .child = true,
		};
		sw_init(test, &j->child[i]);
	}
}

/* Finite numbers whose sums round, or any bytes. */
static void fill(struct job *j, u8 dtype)
{
	u16 r, i;

	inc_rnd_bytes(&j->rng, j->data, sizeof(j->data));
	for (r = 0; r < j->n; r++) {
		for (i = 0; dtype == INC_DTYPE_FP16 && i < ROOM; i += 2)
			j->data[r][i + 1] = (j->data[r][i + 1] & 0x83) |
					    (inc_rnd_below(&j->rng, 4) + 12) << 2;
		for (i = 0; dtype == INC_DTYPE_FP32 && i + 3 < ROOM; i += 4)
			j->data[r][i + 3] = (j->data[r][i + 3] & 0x80) | 0x3f;
	}
}

/* Choose what the ranks do; the parser tells how many elements fit. */
static void choose(struct job *j)
{
	static const u8 exact[] = { INC_DTYPE_INT32, INC_DTYPE_UINT8 };
	static const u8 any[] = {
		INC_DTYPE_INT32, INC_DTYPE_FP16, INC_DTYPE_FP32,
	};
	static const u8 ops[] = { INC_OP_SUM, INC_OP_AVG, INC_OP_MIN };
	u8 coll = inc_rnd_below(&j->rng, INC_COLL_COUNT);
	u8 dtype = j->root.geom.at ? any[inc_rnd_below(&j->rng, 3)] :
				     exact[inc_rnd_below(&j->rng, 2)];
	u32 nelem = coll == INC_COLL_BARRIER ? 0 : inc_rnd_below(&j->rng, 200);
	bool rooted = coll == INC_COLL_BROADCAST || coll == INC_COLL_SCATTER ||
		      coll == INC_COLL_GATHER || coll == INC_COLL_REDUCE;

	j->hdr = (struct inc_hdr) {
		.version	= INC_VERSION,
		.collective	= coll,
		.dtype		= dtype,
		.op		= ops[inc_rnd_below(&j->rng, 3)],
		.root		= cpu_to_be16(rooted ? inc_rnd_below(&j->rng, j->n) : 0),
		.nelem		= cpu_to_be32(nelem),
	};
	fill(j, dtype);
}

/* Bytes of a rank's elements: the length that the parser accepts, by trial. */
static bool parse_rank(const struct sw *sw, const struct inc_hdr *hdr, u16 rank,
		       struct inc_msg *msg)
{
	u32 blocks[] = { 0, 1, inc_geom_all(&sw->geom) }, i;
	u32 block = be32_to_cpu(hdr->nelem) * inc_dtype_size(hdr->dtype);

	for (i = 0; i < ARRAY_SIZE(blocks); i++)
		if (!inc_msg_parse(&sw->geom, rank, hdr,
				   INC_HDR_LEN + blocks[i] * block, msg))
			return true;
	return false;
}

/* Send a rank's next packet. Returns false if it has sent all. */
static bool step_rank(struct kunit *test, struct sw *sw, u16 member,
		      const u8 *data)
{
	const struct inc_msg *msg = &sw->msg[member];
	u16 chunk = sw->sent[member];

	if (chunk == inc_chunks_of(&sw->geom, msg->in_len))
		return false;
	if (!chunk)
		KUNIT_ASSERT_EQ(test, inc_slot_begin(&sw->s, member, msg, 0, 1),
				INC_SLOT_TAKE);
	sw->sent[member]++;
	inc_slot_add(&sw->s, member, msg->msg_id,
		     test_part(data + inc_chunk_off(&sw->geom, chunk),
			       inc_chunk_len(&sw->geom, chunk, msg->in_len)));
	return true;
}

/* Send a child's next packet to the root, if it is ready. */
static void step_up(struct kunit *test, struct job *j, u16 i)
{
	struct sw *child = &j->child[i], *root = &j->root;
	bool wide = inc_msg_wide(&child->geom, &child->s.msg, j->ranges[i]);
	u16 n = root->sent[i],
	    packets = child->s.msg.gather_chunks * (wide ? 2 : 1);
	u32 chunk = wide ? n / 2 : n,
	    len = INC_HDR_LEN + child->s.msg.gather_len;
	const u8 *plane = wide && n & 1 ? child->s.partial_lo :
					  child->s.partial;
	struct inc_hdr hdr = j->hdr;
	bool first = !chunk && !(wide && n & 1);
	u32 plen;

	if (n == packets || chunk >= child->s.gathered)
		return;
	if (wide) {
		len = inc_wide_len(&child->geom, child->s.msg.gather_len);
		hdr.flags = cpu_to_be16(INC_HDR_F_WIDE);
	}
	if (!n) {
		KUNIT_ASSERT_EQ(test, inc_msg_parse(&root->geom, i, &hdr, len,
						    &root->msg[i]), 0);
		KUNIT_ASSERT_EQ(test, inc_slot_begin(&root->s, i, &root->msg[i],
						     0, 1), INC_SLOT_TAKE);
	}
	plen = min_t(u32, len - n * PMTU, PMTU) - (first ? INC_HDR_LEN : 0);
	root->sent[i]++;
	inc_slot_add(&root->s, i, 0,
		     test_part(plane + chunk * PMTU - (first ? 0 : INC_HDR_LEN),
			       plen));
}

/* Send the root's next packet to a child switch. */
static void step_down(struct kunit *test, struct job *j, u16 i)
{
	struct inc_msg *msg = &j->root.msg[i];
	struct sw *child = &j->child[i];
	u32 left = msg->out_len - child->delivered;
	u32 len = min_t(u32, left, 1 + inc_rnd_below(&j->rng, PMTU));

	if (child->told || j->root.s.state != RDMA_INC_SLOT_STATE_DONE)
		return;
	KUNIT_ASSERT_EQ(test, msg->out_len, child->s.msg.data_len);
	if (len)
		KUNIT_ASSERT_TRUE(test,
				  inc_slot_result(&child->s, child->delivered,
						  j->root.s.result +
						  msg->out_off +
						  child->delivered, len));
	child->delivered += len;
	if (child->delivered < msg->out_len)
		return;
	child->told = true;
	KUNIT_ASSERT_TRUE(test, inc_slot_answer(&child->s, INC_STATUS_OK));
	KUNIT_ASSERT_EQ(test, child->s.state, (u8)RDMA_INC_SLOT_STATE_DONE);
}

static bool all_done(const struct job *j)
{
	u16 i;

	for (i = 0; i < j->members; i++)
		if (j->below[i] && !j->child[i].told)
			return false;
	return j->root.s.state == RDMA_INC_SLOT_STATE_DONE;
}

/* The switch that a rank is at, and its place there. */
static struct sw *place_of(struct job *j, u16 rank, u16 *member)
{
	u16 i = 0;

	while (rank >= j->ranges[i].first + j->ranges[i].n)
		i++;
	*member = j->below[i] ? rank - j->ranges[i].first : i;
	return j->below[i] ? &j->child[i] : &j->root;
}

static void run(struct kunit *test, struct job *j)
{
	struct sw *sw;
	u16 r, m, i;

	for (r = 0; r < j->n; r++)
		while (step_rank(test, &j->flat, r, j->data[r]))
			;
	KUNIT_ASSERT_EQ(test, j->flat.s.state, (u8)RDMA_INC_SLOT_STATE_DONE);
	while (!all_done(j)) {
		r = inc_rnd_below(&j->rng, j->n);
		sw = place_of(j, r, &m);
		step_rank(test, sw, m, j->data[r]);
		i = inc_rnd_below(&j->rng, j->members);
		if (!j->below[i])
			continue;
		if (j->child[i].s.gathered)
			step_up(test, j, i);
		if (j->root.sent[i])
			step_down(test, j, i);
	}
}

/*
 * Parse each rank's header at its switch. Returns false if it is too long for a
 * slot.
 */
static bool parse_all(struct kunit *test, struct job *j)
{
	struct sw *sw;
	u16 r, m;

	for (r = 0; r < j->n; r++) {
		if (!parse_rank(&j->flat, &j->hdr, r, &j->flat.msg[r]))
			return false;
		sw = place_of(j, r, &m);
		KUNIT_ASSERT_TRUE(test, parse_rank(sw, &j->hdr, m, &sw->msg[m]));
		KUNIT_ASSERT_EQ(test, sw->msg[m].out_len, j->flat.msg[r].out_len);
	}
	return true;
}

static void compare(struct kunit *test, struct job *j)
{
	struct sw *sw;
	u16 r, m;

	for (r = 0; r < j->n; r++) {
		const struct inc_msg *want = &j->flat.msg[r];

		sw = place_of(j, r, &m);
		KUNIT_ASSERT_EQ_MSG(test, memcmp(sw->s.result + sw->msg[m].out_off,
						 j->flat.s.result + want->out_off,
						 want->out_len), 0,
				    "rank %u of %u, %u members, collective %u, type %u, op %u, %u elements",
				    r, j->n, j->members, j->hdr.collective,
				    j->hdr.dtype, j->hdr.op, want->nelem);
	}
}

static void like_one_switch(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(1500);
	struct slot_test *t = test->priv;
	struct job *j;

	for (unsigned int i = 0; i < n; i++) {
		j = vmalloc(sizeof(*j));
		KUNIT_ASSERT_NOT_NULL(test, j);
		memset(j, 0, sizeof(*j));
		j->rng.state = inc_rnd(&t->rng);
		divide(test, j);
		choose(j);
		if (parse_all(test, j)) {
			run(test, j);
			compare(test, j);
			KUNIT_ASSERT_EQ(test, test_parts_live, 0);
		}
		vfree(j->flat.mem);
		vfree(j->root.mem);
		for (u16 m = 0; m < j->members; m++)
			vfree(j->child[m].mem);
		vfree(j);
	}
}

static struct kunit_case slot_level_cases[] = {
	KUNIT_CASE(like_one_switch),
	{}
};

static struct kunit_suite slot_level_suite = {
	.name = "rdma_inc_slot_level",
	.init = slot_test_init,
	.exit = slot_test_exit,
	.test_cases = slot_level_cases,
};

kunit_test_suite(slot_level_suite);

MODULE_LICENSE("GPL");
