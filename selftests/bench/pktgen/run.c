// SPDX-License-Identifier: GPL-2.0
/*
 * A measurement: rounds of messages. In a round, each rank's packets of each
 * message are received in one call, as a driver's poll function hands them on;
 * then the acknowledgments of all results. Only these calls are timed. Packets
 * are built, checked and freed in between.
 */
#include <linux/crc32.h>
#include <linux/delay.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <net/gso.h>

#include "pktgen.h"

/* Times of a millisecond to wait for results, and after a run. */
#define WAITS		100
#define SETTLES		10

/* Calls of a CPU, and whether it computes the packets' CRCs as well. */
struct share {
	struct list_head	*call;
	unsigned int		calls;
	bool			crc;
};

/* Calls that are prepared, and then timed together; the second CPU's are behind. */
struct batch {
	struct share		of[PG_CPUS];
	unsigned int		room;
	unsigned int		packets;
};

/* Keeps the CRCs that nobody needs. */
static u32 crc_sink;

static u32 crc_skb(const struct sk_buff *skb)
{
	u32 crc = crc32_le(~0, skb->data, skb_headlen(skb));
	int i;

	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *f = &skb_shinfo(skb)->frags[i];

		crc = crc32_le(crc, skb_frag_address(f), skb_frag_size(f));
	}
	return crc;
}

/* Do something on a CPU, and wait for it. */
static void on_cpu(unsigned int cpu, void (*fn)(void *arg), void *arg)
{
	if (!cpu) {
		fn(arg);
		return;
	}
	pg_second_call(fn, arg);
	pg_second_wait();
}

static void receive_share(void *arg)
{
	struct share *s = arg;
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < s->calls; i++) {
		if (s->crc)
			list_for_each_entry(skb, &s->call[i], list)
				crc_sink ^= crc_skb(skb);
		netif_receive_skb_list(&s->call[i]);
	}
	s->calls = 0;
}

/*
 * Make the prepared calls. Returns the cycles that they took, and what they left to
 * softirqs.
 */
static u64 receive_calls(struct batch *b)
{
	struct share *second = &b->of[1];
	bool both = second->calls;
	u64 start = pg_cycles();

	if (both)
		pg_second_call(receive_share, second);
	receive_share(&b->of[0]);
	local_bh_enable();
	local_bh_disable();
	if (both)
		pg_second_wait();
	b->packets = 0;
	return pg_cycles() - start;
}

static bool is_for_tree(const struct pg_run *run)
{
	return run->kind == PG_TREE || run->kind == PG_LAST;
}

/* Whose packets the second CPU receives. */
static unsigned int cpu_of(const struct pg_run *run, const struct pg_member *m)
{
	switch (run->split) {
	case PG_BY_RANK:
		return 2 * m->rank / m->tree->ranks;
	case PG_BY_TREE:
		return m->tree->id % 2;
	default:
		return 0;
	}
}

static struct list_head *start_call(struct share *s)
{
	struct list_head *call = &s->call[s->calls++];

	INIT_LIST_HEAD(call);
	return call;
}

/* What a CPU is to prepare: a rank's packets of a message as one call. */
struct order {
	const struct pg_run	*run;
	struct batch		*b;
	const struct pg_tree	*tree;
	u32			rank;
	u32			msg_id;
	unsigned int		cpu;
	bool			done;
};

static void prepare_call(void *arg)
{
	struct order *o = arg;
	const struct pg_run *run = o->run;
	const struct pg_tree *t = o->tree;
	struct pg_request r = { o->msg_id, run->len, 0, run->frag };
	const struct pg_member *next = &t->members[(o->rank + 1) % t->ranks];
	struct list_head *call = start_call(&o->b->of[o->cpu]);
	u32 count = pg_packet_count(t, run->len);
	struct sk_buff *skb;

	for (r.index = 0; r.index < count; r.index++) {
		skb = pg_packet_request(&t->members[o->rank], &r);
		if (!skb)
			return;
		if (!is_for_tree(run))
			pg_packet_address(skb, next);
		list_add_tail(&skb->list, call);
		o->b->packets++;
	}
	o->done = true;
}

static void free_share(struct share *s)
{
	struct sk_buff *skb, *next;
	unsigned int i;

	for (i = 0; i < s->calls; i++) {
		list_for_each_entry_safe(skb, next, &s->call[i], list) {
			skb_list_del_init(skb);
			kfree_skb(skb);
		}
	}
	s->calls = 0;
}

static void free_batch(struct batch *b)
{
	free_share(&b->of[0]);
	free_share(&b->of[1]);
	b->packets = 0;
}

/* What a CPU is to answer: packets from a port. */
struct answer {
	struct pg_run		*run;
	struct share		*share;
	struct sk_buff_head	packets;
};

static void add_answer(struct list_head *call, struct sk_buff *skb)
{
	if (skb)
		list_add_tail(&skb->list, call);
}

/* Check a packet; what it is answered with is added to the call. */
static void check_packet(struct sk_buff *skb, struct pg_run *run,
			 struct list_head *call)
{
	struct pg_reply r;

	if (!is_for_tree(run)) {
		run->counts.forwarded++;
		return;
	}
	if (!pg_packet_check(skb, &run->counts, &r))
		run->counts.wrong++;
	if (r.ack)
		add_answer(call, pg_packet_ack(r.m, r.psn));
	if (r.len)
		add_answer(call, pg_packet_result(&r, run->frag));
}

/* Take apart what is still a burst here, as the host's device would. */
static void collect_packet(struct sk_buff *skb, struct pg_run *run,
			   struct list_head *call)
{
	struct sk_buff *segs, *next;

	run->ended = max_t(u64, run->ended, skb->tstamp);
	if (!skb_is_gso(skb)) {
		check_packet(skb, run, call);
		napi_consume_skb(skb, NAPI_POLL_WEIGHT);
		return;
	}
	segs = __skb_gso_segment(skb, NETIF_F_SG | NETIF_F_HW_CSUM, true);
	consume_skb(skb);
	if (IS_ERR_OR_NULL(segs)) {
		run->counts.wrong++;
		return;
	}
	skb_list_walk_safe(segs, skb, next) {
		skb_mark_not_on_list(skb);
		check_packet(skb, run, call);
		napi_consume_skb(skb, NAPI_POLL_WEIGHT);
	}
}

/* Prepares a call of ACKs, if there are any. */
static void answer_packets(void *arg)
{
	struct answer *a = arg;
	struct list_head *call = start_call(a->share);
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&a->packets)))
		collect_packet(skb, a->run, call);
	if (list_empty(call))
		a->share->calls--;
}

/*
 * Collect what all ports have sent: each CPU answers for its hosts. Returns whether
 * there is any answer.
 */
static bool collect_all(struct pg_run *run, struct batch *b)
{
	struct answer a[PG_CPUS];
	struct pg_member *m;
	struct net_device *dev;
	struct sk_buff *skb;
	unsigned int i, cpu;

	for (cpu = 0; cpu < PG_CPUS; cpu++) {
		a[cpu].run = run;
		a[cpu].share = &b->of[cpu];
		__skb_queue_head_init(&a[cpu].packets);
	}
	for (i = 0; (dev = pg_port(i)); i++) {
		while ((skb = pg_port_sent(dev))) {
			m = pg_packet_member(skb);
			cpu = m ? cpu_of(run, m) : 0;
			__skb_queue_tail(&a[cpu].packets, skb);
		}
		for (cpu = 0; cpu < PG_CPUS; cpu++)
			if (!skb_queue_empty(&a[cpu].packets))
				on_cpu(cpu, answer_packets, &a[cpu]);
	}
	return b->of[0].calls || b->of[1].calls;
}

/*
 * Answer until nothing more comes, since ACKs may let results go. Returns the
 * cycles of that.
 */
static u64 answer_results(struct pg_run *run, struct batch *b)
{
	u64 cycles = 0;

	while (collect_all(run, b))
		cycles += receive_calls(b);
	return cycles;
}

static bool is_full(const struct batch *b)
{
	return b->of[0].calls == b->room || b->of[1].calls == b->room;
}

/* Make and receive the requests of a message. Returns false without memory. */
static bool request_message(struct pg_run *run, struct batch *b, u64 *cycles)
{
	u32 index = run->first + run->next++ % run->trees;
	struct pg_tree *t = pg_tree_member(index, 0)->tree;
	struct order o = { run, b, t, 0, t->msg_id };

	if (is_for_tree(run)) {
		t->msg_id++;
		run->due += (u64)t->ranks * run->len;
	}
	for (o.rank = 0; o.rank < t->ranks; o.rank++) {
		if (run->kind == PG_LAST && o.rank == t->ranks - 1)
			*cycles += receive_calls(b);
		o.cpu = cpu_of(run, &t->members[o.rank]);
		o.done = false;
		on_cpu(o.cpu, prepare_call, &o);
		if (!o.done)
			return false;
		if (b->packets >= run->ahead || is_full(b))
			*cycles += receive_calls(b);
	}
	return true;
}

/* Returns the cycles of a round, or 0 without memory. */
static u64 run_round(struct pg_run *run, struct batch *b)
{
	u64 cycles = 0;
	u32 i;

	for (i = 0; i < run->msgs; i++) {
		if (!request_message(run, b, &cycles)) {
			free_batch(b);
			return 0;
		}
	}
	run->began = pg_cycles();
	cycles += receive_calls(b);
	return cycles + answer_results(run, b);
}

/* Hosts answer what comes by a timer, too. */
static void wait_a_little(struct pg_run *run, struct batch *b)
{
	usleep_range(1000, 2000);
	local_bh_disable();
	answer_results(run, b);
	local_bh_enable();
}

/* Wait for results that were not sent at once. */
static int wait_for_results(struct pg_run *run, struct batch *b)
{
	unsigned int tries = WAITS;

	if (run->counts.wrong)
		return -EIO;
	while (run->counts.bytes != run->due) {
		if (!tries--)
			return -ETIMEDOUT;
		run->late++;
		wait_a_little(run, b);
	}
	return 0;
}

static int run_rounds(struct pg_run *run, struct batch *b)
{
	u64 cycles;
	int err;
	u32 i;

	for (i = 0; i < run->rounds; i++) {
		local_bh_disable();
		cycles = run_round(run, b);
		local_bh_enable();
		if (!cycles)
			return -ENOMEM;
		err = wait_for_results(run, b);
		if (err)
			return err;
		run->sample[i] = run->kind == PG_LAST ? run->ended - run->began :
				 div_u64(cycles, run->packets);
		cond_resched();
	}
	return 0;
}

/* Measure; then acknowledge everything, so that nothing disturbs the next run. */
static int run_on_cpus(struct pg_run *run, struct batch *b)
{
	int err = run->split == PG_ONE ? 0 : pg_second_start();
	int i;

	if (err)
		return err;
	err = run_rounds(run, b);
	for (i = 0; i < SETTLES; i++)
		wait_a_little(run, b);
	if (run->split != PG_ONE)
		pg_second_stop();
	return err;
}

/* PSNs of requests that went elsewhere were not used. */
static void restore_psns(const struct pg_run *run, u32 *psn, bool save)
{
	u32 i, rank, n = 0;

	for (i = 0; i < run->trees; i++) {
		struct pg_tree *t = pg_tree_member(run->first + i, 0)->tree;

		for (rank = 0; rank < t->ranks; rank++, n++) {
			if (save)
				psn[n] = t->members[rank].psn;
			else
				t->members[rank].psn = psn[n];
		}
	}
}

/**
 * pg_run() - measure
 * @run: what; its trees exist and have their members
 *
 * Context: process.
 * Return: 0; -ENOMEM; -ENODEV without a second CPU; -EIO if a packet was wrong;
 * -ETIMEDOUT if some did not come.
 */
int pg_run(struct pg_run *run)
{
	const struct pg_tree *t = pg_tree_member(run->first, 0)->tree;
	struct batch b = { .room = max(run->ahead, PG_PORTS_MAX) };
	int err = -ENOMEM;
	u32 *psn;

	run->packets = run->msgs * t->ranks * pg_packet_count(t, run->len);
	psn = kvcalloc(run->trees * t->ranks, sizeof(*psn), GFP_KERNEL);
	b.of[0].call = kvcalloc(2 * b.room, sizeof(*b.of[0].call), GFP_KERNEL);
	if (psn && b.of[0].call) {
		b.of[1].call = b.of[0].call + b.room;
		b.of[0].crc = run->kind == PG_CRC;
		b.of[1].crc = b.of[0].crc;
		restore_psns(run, psn, true);
		err = run_on_cpus(run, &b);
		if (!is_for_tree(run))
			restore_psns(run, psn, false);
	}
	kvfree(b.of[0].call);
	kvfree(psn);
	return err;
}
