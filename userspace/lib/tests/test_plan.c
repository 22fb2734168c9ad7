// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Plans, executed for all ranks at once on numbered blocks. For any size of a
 * block, each rank gets the result that the collective defines, and all ranks
 * agree on every message.
 */
#include <string.h>

#include "core/plan.h"
#include "core/seg.h"
#include "test.h"

#define MAX_RANKS	7
#define MSG_SIZE	1056	/* 1024 bytes of data */
/* Pieces are as long as a message or shorter. */
#define PMTU		(MSG_SIZE / INC_SEG_PACKETS)
#define SMALL_PMTU	(PMTU / 4)

static int got[MAX_RANKS][MAX_RANKS];
/* Bytes of a block in the messages of a step so far. */
static size_t sent[MAX_RANKS * MAX_RANKS];

/* Block @b of rank @r's data; the reduction of all ranks' blocks @b. */
static int data(unsigned int r, unsigned int b)
{
	return (int)(1 + r * 100 + b);
}

static int sum(unsigned int b)
{
	return (int)(10000 + b);
}

static int reduces(int coll)
{
	return coll == INC_COLL_REDUCE || coll == INC_COLL_ALLREDUCE ||
	       coll == INC_COLL_REDUCE_SCATTER;
}

/* Expected contents of rank @r's block @b; 0: nothing. */
static int want(int coll, unsigned int n, unsigned int root, unsigned int r,
		unsigned int b)
{
	switch (coll) {
	case INC_COLL_BROADCAST:
		return r != root && !b ? data(root, 0) : 0;
	case INC_COLL_ALLGATHER:
		return b < n ? data(b, 0) : 0;
	case INC_COLL_GATHER:
		return r == root && b < n ? data(b, 0) : 0;
	case INC_COLL_ALLTOALL:
		return b < n ? data(b, r) : 0;
	case INC_COLL_SCATTER:
		return !b ? data(root, r) : 0;
	case INC_COLL_REDUCE:
		return r == root && !b ? sum(0) : 0;
	case INC_COLL_ALLREDUCE:
		return !b ? sum(0) : 0;
	case INC_COLL_REDUCE_SCATTER:
		return !b ? sum(r) : 0;
	}
	return 0;
}

/* A message of the switch, for rank @r. */
static void deliver(const struct inc_step *s, unsigned int n, unsigned int r)
{
	const struct inc_step *me = &s[r], *root = &s[s->root];
	unsigned int b;
	int block;

	for (b = 0; b < me->nto; b++) {
		block = want(me->collective, n, me->root, r, b);
		if (me->collective == INC_COLL_BROADCAST)
			block = data(me->root, root->from);
		else if (me->collective == INC_COLL_REDUCE)
			block = sum(me->from);
		EQ(got[r][me->to + b], 0);
		got[r][me->to + b] = block;
	}
}

/* As in call.c, for blocks that are not sent. */
static void own_block(const struct inc_plan *p)
{
	unsigned int r = p->rank;

	if (p->whole)
		return;
	if (p->collective == INC_COLL_ALLGATHER ||
	    (p->collective == INC_COLL_GATHER && r == p->root))
		got[r][r] = data(r, 0);
	else if (p->collective == INC_COLL_ALLTOALL)
		got[r][r] = data(r, r);
	else if (p->collective == INC_COLL_SCATTER && r == p->root)
		got[r][0] = data(r, r);
}

/*
 * A message of step @i with a part at @off. The parts of a step are in order
 * and make up the block.
 */
static void take_part(const struct inc_plan *p, uint64_t i, size_t off)
{
	OK(i < p->steps);
	EQ(sent[i], off);
	sent[i] += inc_seg_len(p->block, off, p->chunk);
}

static void carry_out(int coll, unsigned int n, unsigned int root, size_t block,
		      uint32_t pmtu, bool apart)
{
	struct inc_plan p[MAX_RANKS] = { 0 };
	struct inc_step s[MAX_RANKS] = { 0 };
	uint64_t i = 0, msgs;
	unsigned int r, b;
	size_t off = 0;

	memset(got, 0, sizeof(got));
	memset(sent, 0, sizeof(sent));
	for (r = 0; r < n; r++) {
		p[r] = (struct inc_plan) {
			.collective = (uint8_t)coll, .rank = r, .nranks = n,
			.root = root, .block = block, .apart = apart,
		};
		inc_plan_init(&p[r], MSG_SIZE, pmtu, 4);
		EQ(p[r].steps, p[0].steps);
		EQ(inc_plan_msgs(&p[r]), inc_plan_msgs(&p[0]));
		own_block(&p[r]);
	}
	for (msgs = 0; i < p[0].steps; msgs++) {
		take_part(&p[0], i, off);
		for (r = 0; r < n; r++) {
			inc_plan_step(&p[r], i, &s[r]);
			EQ(s[r].collective, s[0].collective);
			EQ(s[r].root, s[0].root);
			OK(s[r].nfrom <= n && s[r].nto <= n);
			OK(!apart || n == 1 || (s[r].nfrom < 2 && s[r].nto < 2));
			if (reduces(s[r].collective))
				EQ(s[r].from, s[0].from);
		}
		for (r = 0; r < n && !off; r++)
			deliver(s, n, r);
		inc_plan_next(&p[0], &i, &off);
	}
	EQ(msgs, inc_plan_msgs(&p[0]));
	for (i = 0; i < p[0].steps; i++)
		EQ(sent[i], block);
	for (r = 0; r < n; r++)
		for (b = 0; b < MAX_RANKS; b++)
			EQ(got[r][b], want(coll, n, root, r, b));
}

static void all_collectives(void)
{
	static const size_t blocks[] = { 4, 20, 60, 100, 1024, 1028, 100000 };
	const unsigned int nblocks = sizeof(blocks) / sizeof(blocks[0]);
	unsigned int n, root, k;
	int coll;

	for (coll = 0; coll < INC_COLL_BARRIER; coll++)
		for (n = 1; n <= MAX_RANKS; n++)
			for (root = 0; root < n; root++)
				for (k = 0; k < 2 * nblocks; k++)
					carry_out(coll, n, root, blocks[k / 2],
						  k & 2 ? PMTU : SMALL_PMTU,
						  k & 1);
}

/* In each window of as many messages as ranks, each rank sends one. */
static void all_links_busy(void)
{
	struct inc_plan p = {
		.collective = INC_COLL_ALLTOALL, .nranks = 5, .block = 5000,
	};
	uint64_t i = 0, msgs;
	struct inc_step s;
	size_t off = 0;

	inc_plan_init(&p, MSG_SIZE, PMTU, 4);
	for (msgs = 0; i < p.steps; msgs++) {
		inc_plan_step(&p, i, &s);
		EQ(s.root, msgs % 5);
		inc_plan_next(&p, &i, &off);
	}
	EQ(msgs, inc_plan_msgs(&p));
}

static void few_messages(void)
{
	struct inc_plan p = {
		.collective = INC_COLL_ALLGATHER, .nranks = 4, .block = 256,
	};

	/* What fits into one message is one; one element more makes four. */
	inc_plan_init(&p, MSG_SIZE, PMTU, 4);
	EQ(inc_plan_msgs(&p), 1);
	p.block = 260;
	inc_plan_init(&p, MSG_SIZE, PMTU, 4);
	EQ(inc_plan_msgs(&p), 4);
	p.block = 2048;
	inc_plan_init(&p, MSG_SIZE, PMTU, 4);
	EQ(inc_plan_msgs(&p), 8);
	/* Shorter pieces: blocks that must be in one message still are. */
	p.block = 256;
	inc_plan_init(&p, MSG_SIZE, SMALL_PMTU, 4);
	EQ(inc_plan_msgs(&p), 1);
	p.collective = INC_COLL_ALLREDUCE;
	inc_plan_init(&p, MSG_SIZE, SMALL_PMTU, 4);
	EQ(inc_plan_msgs(&p), 2);
	p.collective = INC_COLL_ALLGATHER;
	/* No data is one message, too, as the ranks must synchronize. */
	p.block = 0;
	inc_plan_init(&p, MSG_SIZE, PMTU, 4);
	EQ(inc_plan_msgs(&p), 1);
}

/* Blocks of AllToAll are cut into few, even pieces. */
static void long_pieces(void)
{
	struct inc_plan p = {
		.collective = INC_COLL_ALLTOALL,
		.nranks = 8,
		.block = 128 << 10,
	};

	inc_plan_init(&p, 64 << 10, 1024, 4);
	EQ(p.chunk, 43 * 1024 - INC_HDR_LEN);
	EQ(inc_plan_msgs(&p), 8 * 7 * 3);
	p.collective = INC_COLL_SCATTER;
	inc_plan_init(&p, 64 << 10, 1024, 4);
	EQ(p.chunk, INC_SEG_PACKETS * 1024 - INC_HDR_LEN);
}

/* About half, whatever the type, and never nothing for either rail. */
static void shares(void)
{
	size_t esize, count, first;

	EQ(inc_plan_share(0, 4), 0);
	EQ(inc_plan_share(65535, 4), 65535);
	EQ(inc_plan_share(1000000, 0), 1000000);
	for (esize = 1; esize <= 16; esize++) {
		for (count = (256 << 10) / esize + 1; count < 1 << 30; count *= 3) {
			first = inc_plan_share(count, esize);
			OK(first && first <= count / 2 && first + 64 > count / 2);
		}
	}
	EQ(inc_plan_share(SIZE_MAX, 1), SIZE_MAX / 128 * 64);
}

/* What is kept is short on each rank, and all ranks keep it, or none. */
static void kept(void)
{
	static const size_t blocks[] = { 0, 8, 8192, 16384, 21845, 21846, 32768,
					 65536, 65537, SIZE_MAX };
	struct inc_plan p = { 0 };
	unsigned int i, shorts;

	for (p.collective = 0; p.collective <= INC_COLL_BARRIER; p.collective++)
		for (p.nranks = 1; p.nranks <= MAX_RANKS; p.nranks++)
			for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
				p.block = blocks[i];
				shorts = 0;
				for (p.rank = 0; p.rank < p.nranks; p.rank++) {
					if (!inc_plan_is_short(&p))
						continue;
					shorts++;
					OK(inc_plan_blocks_in(&p) * p.block <= 65536);
					OK(inc_plan_blocks_out(&p) * p.block <= 65536);
				}
				OK(!shorts || shorts == p.nranks);
				OK(i > 2 || shorts || p.collective == INC_COLL_ALLTOALL ||
				   p.nranks > 7);
			}
}

int main(void)
{
	static const struct test_case cases[] = {
		{ "plan: all collectives, ranks, roots, sizes",
		  all_collectives },
		{ "plan: AllToAll, all ranks send at the same time",
		  all_links_busy },
		{ "plan: number of messages", few_messages },
		{ "plan: AllToAll, few long messages", long_pieces },
		{ "plan: what each of two rails carries", shares },
		{ "plan: what two rails keep", kept },
	};

	return test_run(cases, sizeof(cases) / sizeof(cases[0]));
}
