// SPDX-License-Identifier: GPL-2.0
/*
 * The simulated run: every result has to be right, exactly once, within a time
 * limit.
 */
#include <time.h>

#include "core/rank_range.h"
#include "sim.h"

static unsigned int uc;		/* members over UC */
static unsigned int rough_runs = 333;	/* permille */
static void *sw_mem[1 + MAX_LEAVES][SLOTS];

/* The definition: the left half, plus the right half if there is one. */
static void reference(unsigned int i, int first, int size, u8 *to)
{
	u8 right[MSG_SIZE];

	if (size == 1) {
		memcpy(to, data[i][first], msgs[i].data_len);
		return;
	}
	size /= 2;
	reference(i, first, size, to);
	if (first + size >= ranks)
		return;
	reference(i, first + size, size, right);
	inc_reduce_lookup(msgs[i].dtype, msgs[i].op)->generic(to, to, right,
							      msgs[i].nelem);
}

static void make_message(unsigned int i)
{
	static const u8 dtypes[] = { INC_DTYPE_FP32, INC_DTYPE_FP64,
				     INC_DTYPE_INT32, INC_DTYPE_INT64 };
	static const u8 ops[] = { INC_OP_SUM, INC_OP_MIN, INC_OP_MAX };
	struct inc_msg *m = &msgs[i];
	u32 size;

	memset(m, 0, sizeof(*m));
	m->msg_id = first_msg + i;
	m->collective = below(8) ? INC_COLL_ALLREDUCE : INC_COLL_BARRIER;
	if (m->collective == INC_COLL_ALLREDUCE) {
		m->dtype = dtypes[below(4)];
		m->op = ops[below(3)];
		size = inc_dtype_size(m->dtype);
		m->nelem = below(((uc ? PMTU : MSG_SIZE) - INC_HDR_LEN) / size + 1);
		m->data_len = m->nelem * size;
	}
	for (int r = 0; r < ranks; r++) {
		data[i][r] = malloc(m->data_len + 1);
		for (u32 k = 0; k < m->data_len; k++)
			data[i][r][k] = rnd();
		/* Similar exponents, or nothing would be rounded. */
		for (u32 k = 3; m->dtype == INC_DTYPE_FP32 && k < m->data_len; k += 4)
			data[i][r][k] = 0x3f | (data[i][r][k] & 0x80);
	}
}

static void setup_qp(struct sw *sw, struct qp *q, u32 up, u32 down)
{
	inc_resultq_init(&q->results, &sw->geom);
	require(inc_resultq_memory(SLOTS) <= sizeof(q->queue_mem[0]));
	memset(q->queue_mem, 0, sizeof(q->queue_mem));
	memset(q->said, 0, sizeof(q->said));
	q->place.said = q->said;
	q->resp = (struct inc_responder) {
		.epsn = up, .rkey = 7, .stride = MSG_SIZE,
		.slots = SLOTS, .pmtu = PMTU,
	};
	inc_requester_init(&q->req, q->first, ARRAY_SIZE(q->first), down);
	inc_requester_tune(&q->req, 1 + below(below(2) ? 8 : WINDOW_MAX), 2500,
			   60 * FNS);
	q->psn = down;
	inc_msg_loss_init(&q->gap, first_msg, SLOTS);
}

static void setup_sw(struct sw *sw)
{
	sw->geom.slots = SLOTS;
	sw->geom.pmtu = PMTU;
	sw->geom.max_chunks = MAX_CHUNKS;
	sw->geom.msg_size = MAX_CHUNKS * PMTU;
	sw->geom.tree_id = 5;
	sw->geom.collectives = sw->geom.dtypes = sw->geom.ops = ~0u;
	for (unsigned int i = 0; i < SLOTS; i++) {
		void *mem = aligned_alloc(PMTU, inc_slot_size(&sw->geom));

		sw_mem[sw - sws][i] = mem;
		memset(mem, 0, inc_slot_size(&sw->geom));
		memset(mem, 0xa5, inc_slot_buffers(&sw->geom));
		inc_slot_init(&sw->slots[(first_msg + i) % SLOTS], &sw->geom,
			      first_msg + i);
		inc_slot_place(&sw->slots[(first_msg + i) % SLOTS], mem);
	}
}

/* Make a child switch and its link to the root. */
static void setup_leaf(struct sw *root, int at, int first, int n)
{
	u32 up = 0xffffff - below(200), down = 0xffffff - below(200);
	struct sw *child = &sws[nsw++];
	struct qp *q;

	child->first = first;
	child->geom = (struct inc_slot_geom){
		.members = n,
		.job_ranks = ranks,
		.own = { first, n },
		.child = true,
	};
	setup_sw(child);
	child->up = calloc(1, sizeof(*child->up));
	child->up->at = at;
	inc_uplinkq_init(&child->up->requests, &child->geom, child->up->out,
			 child->up->fifo);
	child->up->requests.tree_id = root->geom.tree_id;
	child->up->requests.rkey = 7;
	q = &child->up->qp;
	setup_qp(child, q, down, up);
	q->resp.rkey = 1;
	q->resp.results = true;
	root->child[at] = child;
	setup_qp(root, &root->qps[at], up, down);
	root->qps[at].resp.max_len = inc_geom_buffer(&root->geom) *
		inc_msg_max_planes(&root->geom, child->geom.own);
}

/* One switch; or a root and children, all but the last with as many ranks. */
static void setup_switches(void)
{
	static struct inc_rank_range ranges[MAX_RANKS];
	static u16 at[MAX_RANKS];
	int size = 1 + below(4), n = (ranks + size - 1) / size;
	u16 below_it[MAX_LEAVES];

	memset(sws, 0, sizeof(sws));
	nsw = 1;
	if (below(2) || n < 2 || n > MAX_LEAVES) {
		sws[0].geom.members = ranks;
		setup_sw(&sws[0]);
		return;
	}
	for (int i = 0; i < n; i++)
		below_it[i] = min(size, ranks - i * size);
	sws[0].geom = (struct inc_slot_geom){
		.members = n,
		.job_ranks = ranks,
		.own.n = ranks,
		.ranges = ranges,
		.at = at,
		.blocks = inc_rank_range_fill(ranges, at, below_it, n, 0, ranks),
	};
	setup_sw(&sws[0]);
	for (int i = 0; i < n; i++)
		setup_leaf(&sws[0], i, i * size, below_it[i]);
}

static void setup(void)
{
	/* Only stock rxe, and all that makes them lose their place. */
	bool rough = below(1000) < rough_runs;
	int odd;

	ranks = 1 + below(MAX_RANKS);
	/* UC members: in some runs all, in some none, in others some. */
	uc = !rough && below(3) ? below(ranks + 1) : 0;
	links.run_len = below(2) ? 1 : 2 + below(6);
	links.loss = rough || below(3) ? below(uc == ranks ? 120 : 60) / links.run_len : 0;
	links.dup = below(3) ? below(60) : 0;
	links.late = below(3) ? 0 : below(30);
	links.late_last = rough && below(2) ? 100 : 0;
	links.late_by = links.late_last ? MUCH_LATER : LATER;
	rnr = below(3) ? 0 : below(50);
	held_back = below(3) ? 0 : below(50);
	busy = below(3) ? 0 : below(300);
	links.delay = 10 + below(300);
	links.jitter = rough || below(3) ? 0 : below(100);
	stall = rough || !below(3) ? below(150) : 0;
	rxe_timeout = !rough && below(2) ? RXE_TIMEOUT : 3000 + below(6000);
	first_msg = below(2) ? (u32)rnd() : 0u - below(NMSG);
	if (!below(3))
		first_msg = 0x1000000 - below(NMSG);
	for (unsigned int i = 0; i < NMSG; i++) {
		make_message(i);
		fails[i] = false;
	}
	setup_switches();
	members = calloc(ranks, sizeof(*members));
	for (int r = 0; r < ranks; r++) {
		u32 up = below(2) ? below(1 << 24) : 0xffffff - below(200);
		u32 down = below(2) ? below(1 << 24) : 0xffffff - below(200);

		struct sw *sw = place_of(r);
		struct qp *q = &sw->qps[r - sw->first];

		members[r].first_psn = up;
		members[r].epsn = down;
		members[r].odd = NMSG;
		setup_qp(sw, q, up, down);
		q->uc = members[r].uc = r >= ranks - (int)uc;
		members[r].is_rxe = !q->uc && !links.jitter && (rough || below(4));
		members[r].in_two = !q->uc && !rough && below(2);
		members[r].rxe.psn = members[r].rxe.acked = up;
	}
	/* Sometimes a rank disagrees about one message. */
	odd = below(ranks);
	if (ranks > 1 && !below(3)) {
		unsigned int i = below(NMSG);

		if (msgs[i].collective == INC_COLL_ALLREDUCE) {
			members[odd].odd = i;
			fails[i] = true;
		}
	}
}

static void free_kept(void)
{
	for (int i = 0; i < nsw; i++)
		for (int r = 0; r < sws[i].geom.members; r++)
			for (unsigned int k = 0; k < sws[i].qps[r].nkept; k++)
				free_buf(sws[i].qps[r].kept[k].buf);
}

/*
 * A message that has ended without an error is right. If a QP is in error, the
 * others need not have ended.
 */
static void check_message(unsigned int i, const u8 *want)
{
	struct member *m = &members[at_rank];

	if (broken && (!m->done[i] || m->status[i]))
		return;
	if (!m->done[i])
		die("message %u never came", i);
	if (m->status[i] != (fails[i] ? INC_STATUS_MISMATCH : 0))
		die("message %u has status %u", i, m->status[i]);
	if (!fails[i] && memcmp(m->result[i], want, msgs[i].data_len))
		die("message %u is wrong", i);
}

/* Nothing is in flight any more. */
static void check_idle(void)
{
	for (int r = 0; r < ranks; r++) {
		struct member *m = &members[r];

		require(m->una == m->npkts);
		require(!m->is_rxe || m->rxe.acked == m->rxe.psn);
	}
	for (int i = 0; i < nsw; i++) {
		const struct up *up = sws[i].up;

		require(!up || up->qp.req.una == up->qp.req.max);
		for (int r = 0; r < sws[i].geom.members; r++)
			require(sws[i].qps[r].req.una == sws[i].qps[r].req.max);
	}
	require(!live);
}

static void check(void)
{
	u8 want[MSG_SIZE];
	int size = 1;

	while (size < ranks)
		size *= 2;
	for (unsigned int i = 0; i < NMSG; i++) {
		if (msgs[i].data_len)
			reference(i, 0, size, want);
		for (at_rank = 0; at_rank < ranks; at_rank++)
			check_message(i, want);
	}
	if (!broken)
		check_idle();
	while (live)
		free_buf(live);
}

static void handle(struct event *e)
{
	if (e->buf && !is_right(e->buf)) {
		free_buf(e->buf);
		return;
	}
	at_sw = e->sw;
	switch (e->dest) {
	case TO_LEAF:
		up_rx(&e->pkt, e->buf);
		break;
	case UP_TIMER:
		up_timer(e->pkt.va);
		break;
	case TO_SWITCH:
		sw_rx(e->rank, &e->pkt, e->buf);
		break;
	case TO_MEMBER:
		mb_rx(e->rank, &e->pkt, e->buf);
		break;
	case SWITCH_TIMER:
		sw_timer(e->rank, e->pkt.va);
		break;
	case SOLICIT_TIMER:
		sw_solicit(e->rank);
		break;
	case ACK_TIMER:
		sw_ack_timer(e->rank);
		break;
	case COMPUTED:
		mb_kick(e->rank);
		break;
	case MEMBER_TIMER:
		mb_timer(e->rank, &e->pkt);
		break;
	}
}

static void run(void)
{
	begin_links();
	setup();
	for (int r = 0; r < ranks; r++)
		mb_kick(r);
	while (have_events()) {
		struct event e = get_event();

		now = e.at;
		if (now > 900 * FNS) {
			for (int r = 0; r < ranks; r++)
				printf("# rank %d: %u messages done, %u of %u packets, rxe %u messages\n",
				       r, members[r].low, members[r].una,
				       members[r].npkts, members[r].rxe.done);
			die("no end");
		}
		/* The tree has failed; what it has sent arrives. */
		if (!broken || e.dest == TO_MEMBER)
			handle(&e);
		else
			free_buf(e.buf);
	}
	if (!broken)
		free_kept();
	check();
	for (unsigned int i = 0; i < NMSG; i++)
		for (int r = 0; r < ranks; r++)
			free(data[i][r]);
	for (int i = 0; i < nsw; i++) {
		for (unsigned int k = 0; k < SLOTS; k++)
			free(sw_mem[i][k]);
		free(sws[i].up);
	}
	free(members);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 0) : otherwise;
}

/*
 * INC_SEED: the first run's seed; INC_RUNS: how many runs, from a random seed on
 * if there is none; INC_ROUGH: how many of 1,000 are rough.
 */
int main(void)
{
	bool one = getenv("INC_SEED"), many = getenv("INC_RUNS");
	uint64_t first = number("INC_SEED", many ? (uint64_t)time(NULL) << 20 : 1);
	uint64_t n = number("INC_RUNS", one ? 1 : 500);

	setvbuf(stdout, NULL, _IOLBF, 0);
	inc_reduce_init();
	rough_runs = number("INC_ROUGH", rough_runs);
	printf("# %" PRIu64 " runs from seed %" PRIu64 " on, %u permille rough\n",
	       n, first, rough_runs);
	for (seed = first; seed < first + n; seed++) {
		run();
		if (n == 1)
			printf("# seed %" PRIu64 ": %d ranks, %u over UC, %d switches, loss %u, dup %u, rnr %u, held back %u permille, %" PRIu64 " us\n",
			       seed, ranks, uc, nsw, links.loss, links.dup, rnr, held_back, now);
	}
	printf("# %" PRIu64 " results sent, %" PRIu64 " again, %" PRIu64 " time-outs, %" PRIu64 " packets lost, %" PRIu64 " torn, %" PRIu64 " places lost, %" PRIu64 " noticed, %" PRIu64 " ends asked for again, %" PRIu64 " results given back\n",
	       n_sent, n_again, n_timeouts, links.n_lost, links.n_torn, n_lost_place, n_noticed,
	       n_asked, n_given_back);
	printf("ok 1 - sim.runs\n1..1\n");
	return 0;
}
