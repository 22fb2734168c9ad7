// SPDX-License-Identifier: GPL-2.0
/*
 * See levels.h. Requests to a parent come from uplink_queue.c, with their headers,
 * and are parsed and added there as packets are.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <rdma/ib_pack.h>

#include "core/payload.h"
#include "core/rank_range.h"
#include "core/reduce/reduce.h"
#include "core/uplink_queue.h"
#include "levels.h"
#include "parts.h"

#define NO_NODE	U16_MAX

/**
 * struct sw - a switch
 * @geom: geometry of its tree
 * @s: its slot
 * @mem: its memory
 * @q: requests to its parent
 * @out: memory of @q
 * @fifo: memory of @q
 * @place: which member of its parent it is
 * @below: as in tree-new
 * @ranges: see &struct inc_slot_geom
 * @at: see &struct inc_slot_geom
 * @node: for each member the switch that it is, or NO_NODE
 * @msg: each member's request
 * @sent: packets that each member has sent
 * @delivered: bytes of the result that arrived from the parent
 * @told: the parent has reported the end of the message
 */
struct sw {
	struct inc_slot_geom	geom;
	struct inc_slot		s;
	void			*mem;
	struct inc_uplink_queue	q;
	struct inc_uplink_out	out;
	u16			fifo;
	u16			place;
	u16			below[LEVEL_RANKS];
	struct inc_rank_range	ranges[LEVEL_RANKS];
	u16			at[LEVEL_RANKS];
	u16			node[LEVEL_RANKS];
	struct inc_msg		msg[LEVEL_RANKS];
	u16			sent[LEVEL_RANKS];
	u32			delivered;
	bool			told;
};

/**
 * struct home - where a rank is
 * @sw: switch
 * @member: which of its members
 */
struct home {
	struct sw	*sw;
	u16		member;
};

/**
 * struct job - a job on several switches
 * @test: test
 * @rng: random numbers
 * @plan: its tree
 * @hdr: header of all ranks
 * @data: data of each rank
 * @home: each rank's place
 * @sw: switches, as in @plan
 */
struct job {
	struct kunit		*test;
	struct inc_rng		*rng;
	const struct level_plan	*plan;
	struct inc_hdr		hdr;
	struct level_data	*data;
	struct home		home[LEVEL_RANKS];
	struct sw		sw[LEVEL_NODES];
};

static u16 add_node(struct level_plan *p, u16 parent, u16 first, u16 count)
{
	p->nodes[p->n] = (struct level_node) {
		.parent = parent, .first = first, .count = count,
	};
	return p->n++;
}

static void divide(struct inc_rng *rng, struct level_plan *p, u16 node,
		   unsigned int depth)
{
	const struct level_node *own = &p->nodes[node];
	u16 r = own->first, end = r + own->count, n;

	for (; r < end; r += n) {
		n = 1 + inc_rnd_below(rng, min(end - r, 1 << (2 * depth)));
		/* The root has two members at least. */
		if (!node && n == own->count)
			n--;
		if (depth && p->n < LEVEL_NODES && inc_rnd_chance(rng, 700))
			divide(rng, p, add_node(p, node, r, n), depth - 1);
	}
}

/**
 * level_plan_random() - choose a tree of up to four levels
 * @rng: random numbers
 * @ranks: number of ranks, from 2
 * @p: result
 */
void level_plan_random(struct inc_rng *rng, u16 ranks, struct level_plan *p)
{
	p->ranks = ranks;
	p->n = 0;
	divide(rng, p, add_node(p, 0, 0, ranks), inc_rnd_below(rng, 4));
}

/* --- The message --------------------------------------------------------- */

static const struct {
	u8	dtype, exp_byte, exp;
} floats[] = {
	{ INC_DTYPE_FP16, 1, 0x3c }, { INC_DTYPE_BF16, 1, 0x3f },
	{ INC_DTYPE_FP32, 3, 0x3f }, { INC_DTYPE_FP64, 7, 0x3f },
};

/* Finite numbers whose sums round; a few are anything, NaNs included. */
static void fill(struct inc_rng *rng, u16 ranks, u8 dtype,
		 struct level_data *data)
{
	u32 size = inc_dtype_size(dtype), r, i, f;

	inc_rnd_bytes(rng, data, ranks * sizeof(*data));
	for (f = 0; f < ARRAY_SIZE(floats); f++) {
		if (floats[f].dtype != dtype)
			continue;
		for (r = 0; r < ranks; r++)
			for (i = floats[f].exp_byte; i < LEVEL_ROOM; i += size)
				if (!inc_rnd_chance(rng, 10))
					data[r].bytes[i] =
						(data[r].bytes[i] & 0x80) |
						floats[f].exp;
	}
}

/**
 * level_random_message() - choose a message for all ranks
 * @rng: random numbers
 * @ranks: number of ranks
 * @hdr: result
 * @data: result: elements of each rank
 */
void level_random_message(struct inc_rng *rng, u16 ranks, struct inc_hdr *hdr,
			  struct level_data *data)
{
	/* Mostly a sum that rounds, and may therefore depend on the tree. */
	bool sum = inc_rnd_chance(rng, 600);
	u8 coll = sum ? INC_COLL_ALLREDUCE : inc_rnd_below(rng, INC_COLL_COUNT);
	bool rooted = coll == INC_COLL_BROADCAST || coll == INC_COLL_SCATTER ||
		      coll == INC_COLL_GATHER || coll == INC_COLL_REDUCE;
	u8 dtype, op;

	do {
		dtype = inc_rnd_below(rng, INC_DTYPE_COUNT);
		op = inc_rnd_below(rng, INC_OP_COUNT);
	} while (!inc_reduce_lookup(dtype, op) ||
		 (sum && !inc_reduce_lookup(dtype, op)->ordered));
	*hdr = (struct inc_hdr) {
		.version	= INC_VERSION,
		.collective	= coll,
		.dtype		= dtype,
		.op		= op,
		.root		= cpu_to_be16(rooted ? inc_rnd_below(rng, ranks) : 0),
		.nelem		= cpu_to_be32(coll == INC_COLL_BARRIER ? 0 :
					      inc_rnd_below(rng, 200)),
	};
	fill(rng, ranks, dtype, data);
}

/* --- The switches -------------------------------------------------------- */

static void sw_init(struct job *j, u16 node)
{
	struct inc_slot_geom *g = &j->sw[node].geom;
	struct sw *sw = &j->sw[node];
	void *mem;

	g->slots = 1;
	g->pmtu = LEVEL_PMTU;
	g->max_chunks = LEVEL_CHUNKS;
	g->msg_size = LEVEL_CHUNKS * LEVEL_PMTU;
	g->tree_id = node;
	g->collectives = ~0U;
	g->dtypes = ~0U;
	g->ops = ~0U;
	mem = vmalloc(inc_slot_size(g));
	KUNIT_ASSERT_NOT_NULL(j->test, mem);
	memset(mem, 0, inc_slot_size(g));
	memset(mem, 0xa5, inc_slot_buffers(g));
	sw->mem = mem;
	inc_slot_init(&sw->s, g, 0);
	inc_slot_place(&sw->s, mem);
	inc_uplinkq_init(&sw->q, g, &sw->out, &sw->fifo);
	sw->q.tree_id = j->plan->nodes[node].parent;
}

/* List a switch's members: the switches below it, and hosts. */
static void find_members(struct job *j, u16 node)
{
	const struct level_node *own = &j->plan->nodes[node], *below;
	u16 r = own->first, next = node + 1, m = 0;
	struct sw *sw = &j->sw[node];
	bool switches = false;

	for (; r < own->first + own->count; m++) {
		while (next < j->plan->n && (j->plan->nodes[next].parent != node ||
					     j->plan->nodes[next].first < r))
			next++;
		below = &j->plan->nodes[next];
		sw->node[m] = NO_NODE;
		if (next == j->plan->n || below->first > r) {
			j->home[r++] = (struct home) { .sw = sw, .member = m };
			continue;
		}
		switches = true;
		sw->node[m] = next;
		sw->below[m] = below->count;
		j->sw[next++].place = m;
		r += below->count;
	}
	sw->geom = (struct inc_slot_geom) { .members = m, .child = node };
	if (!node && !switches)
		return;
	sw->geom.own.first = own->first;
	sw->geom.own.n = own->count;
	sw->geom.job_ranks = j->plan->ranks;
	if (!switches)
		return;
	sw->geom.blocks = inc_rank_range_fill(sw->ranges, sw->at, sw->below, m,
					      own->first, j->plan->ranks);
	sw->geom.ranges = sw->ranges;
	sw->geom.at = sw->at;
}

/* Parse a rank's header; how many elements it sends is found by trial. */
static bool parse_rank(struct job *j, u16 rank)
{
	u32 blocks[] = { 0, 1, j->plan->ranks }, i;
	u32 block = be32_to_cpu(j->hdr.nelem) * inc_dtype_size(j->hdr.dtype);
	const struct home *h = &j->home[rank];
	struct inc_hdr hdr = j->hdr;

	hdr.tree_id = cpu_to_be32(h->sw->geom.tree_id);
	for (i = 0; i < ARRAY_SIZE(blocks); i++)
		if (!inc_msg_parse(&h->sw->geom, h->member, &hdr,
				   INC_HDR_LEN + blocks[i] * block, false,
				   &h->sw->msg[h->member]))
			return true;
	return false;
}

/* --- Packets ------------------------------------------------------------- */

/* Send a rank's next packet, if it has one. */
static void step_rank(struct job *j, u16 rank)
{
	const struct home *h = &j->home[rank];
	const struct inc_msg *msg = &h->sw->msg[h->member];
	const struct inc_slot_geom *g = &h->sw->geom;
	u16 chunk = h->sw->sent[h->member];

	if (chunk == inc_chunks_of(g, msg->in_len))
		return;
	if (!chunk)
		KUNIT_ASSERT_EQ(j->test, inc_slot_begin(&h->sw->s, h->member,
							msg, 0),
				INC_SLOT_TAKE);
	h->sw->sent[h->member]++;
	inc_slot_add(&h->sw->s, h->member, 0,
		     test_part(j->data[rank].bytes + inc_chunk_off(g, chunk),
			       inc_chunk_len(g, chunk, msg->in_len)));
}

/* Send a switch's next packet to its parent, if it is ready. */
static void step_up(struct job *j, u16 node)
{
	struct sw *sw = &j->sw[node], *up = &j->sw[j->plan->nodes[node].parent];
	const u8 *payload;
	struct inc_hdr hdr;
	struct inc_wqe w;
	u16 skip = 0;

	if (sw->s.gathered)
		inc_uplinkq_gathered(&sw->q, &sw->s, &sw->s.msg, sw->s.gathered,
				     sw->s.result_wanted);
	if (inc_uplinkq_empty(&sw->q) || !inc_uplinkq_sendable(&sw->q))
		return;
	inc_uplinkq_next(&sw->q, &sw->s, &w);
	payload = inc_wqe_payload(&sw->s, &w);
	KUNIT_ASSERT_NOT_NULL(j->test, payload);
	KUNIT_ASSERT_LE(j->test, w.dmalen, inc_geom_buffer(&up->geom) *
			inc_msg_max_planes(&up->geom,
					   inc_geom_ranks(&up->geom, sw->place)));
	if (!up->sent[sw->place]++) {
		skip = INC_HDR_LEN;
		memcpy(&hdr, payload, sizeof(hdr));
		KUNIT_ASSERT_EQ(j->test, inc_msg_parse(&up->geom, sw->place,
						       &hdr, w.dmalen, false,
						       &up->msg[sw->place]), 0);
		KUNIT_ASSERT_EQ(j->test, inc_slot_begin(&up->s, sw->place,
							&up->msg[sw->place],
							0), INC_SLOT_TAKE);
	}
	inc_slot_add(&up->s, sw->place, 0,
		     test_part(payload + skip, w.len - skip));
}

/* Send a switch more of its parent's result. */
static void step_down(struct job *j, u16 node)
{
	struct sw *sw = &j->sw[node], *up = &j->sw[j->plan->nodes[node].parent];
	const struct inc_msg *msg = &up->msg[sw->place];
	u32 left = msg->out_len - sw->delivered;
	u32 len = min_t(u32, left, 1 + inc_rnd_below(j->rng, LEVEL_PMTU));
	struct inc_part *part;

	if (sw->told || up->s.state != RDMA_INC_SLOT_STATE_DONE)
		return;
	if (len) {
		part = test_part(up->s.result + msg->out_off + sw->delivered,
				 len);
		KUNIT_ASSERT_TRUE(j->test,
				  inc_slot_result(&sw->s, sw->delivered, part));
		inc_part_free(part);
	}
	sw->delivered += len;
	if (sw->delivered < msg->out_len)
		return;
	sw->told = true;
	KUNIT_ASSERT_TRUE(j->test, inc_slot_answer(&sw->s, INC_STATUS_OK));
}

static bool all_done(const struct job *j)
{
	u16 i;

	for (i = 0; i < j->plan->n; i++)
		if (j->sw[i].s.state != RDMA_INC_SLOT_STATE_DONE)
			return false;
	return true;
}

static void run(struct job *j, struct level_result *results)
{
	u16 r, node;

	while (!all_done(j)) {
		step_rank(j, inc_rnd_below(j->rng, j->plan->ranks));
		node = inc_rnd_below(j->rng, j->plan->n);
		if (!node)
			continue;
		step_up(j, node);
		step_down(j, node);
	}
	for (r = 0; r < j->plan->ranks; r++) {
		const struct home *h = &j->home[r];
		const struct inc_msg *msg = &h->sw->msg[h->member];

		results[r].len = msg->out_len;
		memcpy(results[r].bytes, h->sw->s.result + msg->out_off,
		       msg->out_len);
	}
	KUNIT_ASSERT_EQ(j->test, test_parts_live, 0);
}

/**
 * level_run() - run a message
 * @test: test
 * @rng: random numbers
 * @p: tree of switches
 * @hdr: header of all ranks
 * @data: elements of each rank
 * @results: result of each rank
 *
 * Return: false if it is too long for a slot.
 */
bool level_run(struct kunit *test, struct inc_rng *rng,
	       const struct level_plan *p, const struct inc_hdr *hdr,
	       struct level_data *data, struct level_result *results)
{
	struct job *j = vmalloc(sizeof(*j));
	bool fits = true;
	u16 i;

	KUNIT_ASSERT_NOT_NULL(test, j);
	memset(j, 0, sizeof(*j));
	j->test = test;
	j->rng = rng;
	j->plan = p;
	j->hdr = *hdr;
	j->data = data;
	for (i = 0; i < p->n; i++) {
		find_members(j, i);
		sw_init(j, i);
	}
	for (i = 0; i < p->ranks && fits; i++)
		fits = parse_rank(j, i);
	if (fits)
		run(j, results);
	for (i = 0; i < p->n; i++)
		vfree(j->sw[i].mem);
	vfree(j);
	return fits;
}

/**
 * struct work - memory of level_compare()
 * @flat: one switch for all ranks
 * @hdr: header of all ranks
 * @data: elements of each rank
 * @want: results of one switch
 * @got: results of a tree of switches
 */
struct work {
	struct level_plan	flat;
	struct inc_hdr		hdr;
	struct level_data	data[LEVEL_RANKS];
	struct level_result	want[LEVEL_RANKS];
	struct level_result	got[LEVEL_RANKS];
};

/**
 * level_compare() - compare trees of switches with one switch
 * @test: test
 * @rng: random numbers
 * @plans: trees for the same ranks
 * @n: their number
 *
 * All ranks do the same on each of them, and get the same bits.
 */
void level_compare(struct kunit *test, struct inc_rng *rng,
		   const struct level_plan *plans, unsigned int n)
{
	struct work *w = vmalloc(sizeof(*w));
	unsigned int i;
	bool fits;
	u16 r;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->flat.n = 0;
	w->flat.ranks = plans->ranks;
	add_node(&w->flat, 0, 0, plans->ranks);
	level_random_message(rng, plans->ranks, &w->hdr, w->data);
	fits = level_run(test, rng, &w->flat, &w->hdr, w->data, w->want);
	for (i = 0; i < n && fits; i++) {
		KUNIT_ASSERT_TRUE(test, level_run(test, rng, &plans[i], &w->hdr,
						  w->data, w->got));
		for (r = 0; r < plans->ranks; r++) {
			KUNIT_ASSERT_EQ(test, w->got[r].len, w->want[r].len);
			KUNIT_ASSERT_EQ_MSG(test, memcmp(w->got[r].bytes,
							 w->want[r].bytes,
							 w->want[r].len), 0,
					    "rank %u of %u, %u switches, collective %u, type %u, op %u, %u elements",
					    r, plans->ranks, plans[i].n,
					    w->hdr.collective, w->hdr.dtype,
					    w->hdr.op,
					    be32_to_cpu(w->hdr.nelem));
		}
	}
	vfree(w);
}
