// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Objects as text and JSON.
 */
#include "common.h"

#include <inttypes.h>

#include "print.h"
#include "tool.h"

/* Number of counters per line of text. */
#define STATS_PER_LINE	4

/* Print counters; in text only nonzero ones, or all with -d. */
void show_stats(const char *key, const uint64_t *stats, unsigned int max,
		const char *(*name)(unsigned int attr))
{
	unsigned int i, shown = 0;

	pr_open_object(key);
	for (i = 1; i <= max; i++) {
		if (!conf.json && !stats[i] && !conf.details)
			continue;
		if (shown++ % STATS_PER_LINE == 0)
			pr_indent();
		pr_uint(name(i), name(i), stats[i]);
	}
	pr_close_object();
}

/* Print the counters of a switch, and of deleted trees and members. */
void show_switch_stats(const struct inc_nl_switch *sw)
{
	show_stats("stats", sw->stats, RDMA_INC_A_SWITCH_STATS_MAX,
		   inc_nl_switch_stat_name);
	pr_indent();
	pr_text("gone trees:");
	show_stats("gone-tree-stats", sw->gone_tree_stats,
		   RDMA_INC_A_TREE_STATS_MAX, inc_nl_tree_stat_name);
	pr_indent();
	pr_text("their members:");
	show_stats("gone-member-stats", sw->gone_member_stats,
		   RDMA_INC_A_MEMBER_STATS_MAX, inc_nl_member_stat_name);
}

static void show_tree_details(const struct inc_nl_tree *tree)
{
	pr_indent();
	pr_mask("collectives", "collectives", tree->collectives,
		inc_nl_collective_name);
	pr_mask("dtypes", "dtypes", tree->dtypes, inc_nl_dtype_name);
	pr_mask("ops", "ops", tree->ops, inc_nl_op_name);
	pr_enum("order", "order", tree->order, inc_nl_order_name);
	pr_indent();
	pr_uint("first-msg-id", "first-msg-id", tree->first_msg_id);
	pr_uint("window", "window", tree->window);
	pr_size("hold", "hold", tree->hold);
	pr_msec("min-rto", "min-rto", tree->min_rto);
	pr_msec("dead-time", "dead-time", tree->dead_time);
	pr_size("memory", "memory", tree->memory);
	if (INC_NL_HAS(tree, TREE_HELD))
		pr_size("held", "held", tree->held);
	pr_uint("epoch", "epoch", tree->epoch);
	pr_bool("owned", "owned", tree->owned);
	pr_uint("traffic-class", "traffic-class", tree->traffic_class);
	pr_enum("ecn", "ecn", tree->ecn, inc_nl_ecn_name);
	pr_uint("priority", "priority", tree->priority);
	pr_uint("cnp-interval", "cnp-interval", tree->cnp_interval);
}

static void show_list(const char *key, const uint16_t *list, unsigned int n)
{
	unsigned int i;

	pr_open_array(key);
	for (i = 0; conf.json && i < n; i++)
		pr_uint(NULL, NULL, list[i]);
	pr_close_array();
}

/* Print the tree's place among trees of other switches. */
static void show_levels(const struct inc_nl_tree *tree)
{
	unsigned int i;

	if (INC_NL_HAS(tree, TREE_JOB_RANKS)) {
		pr_uint("first-rank", "first-rank", tree->first_rank);
		pr_uint("job-ranks", "job-ranks", tree->job_ranks);
	}
	if (!tree->nbelow)
		return;
	show_list("below", tree->below, tree->nbelow);
	for (i = 0; i < tree->nbelow; i++)
		pr_text("%s%u", i ? "," : " below ", tree->below[i]);
}

/*
 * Print a tree, without counters. In JSON the caller opens and closes the
 * object.
 */
void show_tree(const struct inc_nl_tree *tree)
{
	pr_uint("id", "tree", tree->id);
	pr_enum("role", "role", tree->role, inc_nl_role_name);
	pr_enum("state", "state", tree->state, inc_nl_tree_state_name);
	pr_enum("error", tree->error ? "error" : NULL, tree->error,
		inc_nl_status_name);
	pr_uint("members", "members", tree->members);
	pr_uint("ranks", "of", tree->ranks);
	pr_uint("slots", "slots", tree->slots);
	pr_uint("msg-size", "msg-size", tree->msg_size);
	pr_uint("pmtu", "pmtu", tree->pmtu);
	show_levels(tree);
	if (conf.json || conf.details)
		show_tree_details(tree);
}

static void show_member_state(const struct inc_nl_member *m)
{
	pr_uint("next-msg-id", "next-msg-id", m->next_msg_id);
	pr_uint("tx-in-flight", "tx-in-flight", m->tx_in_flight);
	pr_size("held", "held", m->held);
	pr_uint("srtt", "srtt", m->srtt);
	pr_msec("last-rx", "last-rx", m->last_rx);
}

/* The kernel shows PSNs and keys only to callers with CAP_NET_ADMIN. */
static void show_member_secrets(const struct inc_nl_member *m)
{
	if (INC_NL_HAS(m, MEMBER_PSN))
		pr_hex("psn", "psn", m->psn, 6);
	if (INC_NL_HAS(m, MEMBER_PEER_PSN))
		pr_hex("peer-psn", "peer-psn", m->peer_psn, 6);
	if (INC_NL_HAS(m, MEMBER_TX_PSN))
		pr_hex("tx-psn", "tx-psn", m->tx_psn, 6);
	if (INC_NL_HAS(m, MEMBER_RX_PSN))
		pr_hex("rx-psn", "rx-psn", m->rx_psn, 6);
	if (INC_NL_HAS(m, MEMBER_RKEY))
		pr_hex("rkey", "rkey", m->rkey, 8);
	if (INC_NL_HAS(m, MEMBER_PEER_RKEY))
		pr_hex("peer-rkey", "peer-rkey", m->peer_rkey, 8);
}

/*
 * Print a member, or a child's parent, without counters. In JSON the caller
 * opens and closes the object.
 */
void show_member(const struct inc_nl_member *m)
{
	pr_uint("tree-id", "tree", m->tree_id);
	if (INC_NL_HAS(m, MEMBER_RANK))
		pr_uint("rank", "rank", m->rank);
	if (INC_NL_HAS(m, MEMBER_PEER_TREE_ID))
		pr_uint("peer-tree-id", "peer-tree", m->peer_tree_id);
	pr_enum("state", "state", m->state, inc_nl_member_state_name);
	pr_enum("error", m->error ? "error" : NULL, m->error,
		inc_nl_member_error_name);
	pr_enum("transport", m->transport == RDMA_INC_TRANSPORT_RC ? NULL :
		"transport", m->transport, inc_nl_transport_name);
	pr_hex("qpn", "qpn", m->qpn, 6);
	if (m->peer_addr.len) {
		pr_addr("peer-addr", "addr", &m->peer_addr);
		pr_hex("peer-qpn", "peer-qpn", m->peer_qpn, 6);
		pr_addr("local-addr", "local", &m->local_addr);
	}
	if (INC_NL_HAS(m, MEMBER_IFINDEX))
		pr_uint("ifindex", "ifindex", m->ifindex);
	if (!conf.json && !conf.details)
		return;
	pr_indent();
	show_member_secrets(m);
	if (INC_NL_HAS(m, MEMBER_PKEY))
		pr_hex("pkey", "pkey", m->pkey, 4);
	if (m->local_addr.len)
		pr_gid("local-gid", "gid", &m->local_addr);
	pr_indent();
	pr_uint("slots", "slots", m->slots);
	pr_uint("msg-size", "msg-size", m->msg_size);
	pr_uint("pmtu", "pmtu", m->pmtu);
	show_member_state(m);
}

/* Print a member as an object, with -s its counters. Returns 0. */
int show_member_stats(const struct inc_nl_member *m, void *unused)
{
	pr_open_object(NULL);
	show_member(m);
	if (conf.stats)
		show_stats("stats", m->stats, RDMA_INC_A_MEMBER_STATS_MAX,
			   inc_nl_member_stat_name);
	pr_endl();
	pr_close_object();
	return 0;
}

/* Print the parameters that a host needs of its new member, in text. */
void show_member_host(const struct inc_nl_member *m)
{
	pr_uint("tree-id", "tree", m->tree_id);
	pr_uint("rank", "rank", m->rank);
	pr_hex("qpn", "qpn", m->qpn, 6);
	pr_hex("psn", "psn", m->psn, 6);
	pr_hex("rkey", "rkey", m->rkey, 8);
	if (m->local_addr.len)
		pr_gid("local-gid", "gid", &m->local_addr);
	pr_indent();
	pr_uint("slots", "slots", m->slots);
	pr_uint("msg-size", "stride", m->msg_size);
	pr_uint("pmtu", "pmtu", m->pmtu);
	if (INC_NL_HAS(m, MEMBER_PKEY))
		pr_hex("pkey", "pkey", m->pkey, 4);
	pr_uint("next-msg-id", "next-msg-id", m->next_msg_id);
	if (m->local_addr.len)
		pr_addr("local-addr", "local", &m->local_addr);
}

/* Print ranks as "1-3,7" in text, as numbers in JSON. */
static void show_missing(const struct inc_nl_slot *slot)
{
	unsigned int i, end;

	show_list("missing", slot->missing, slot->nmissing);
	show_list("missing-chunks", slot->missing_chunks,
		  slot->nmissing_chunks);
	if (conf.json || !slot->nmissing)
		return;

	pr_indent();
	pr_text("missing ");
	for (i = 0; i < slot->nmissing; i = end) {
		for (end = i + 1; end < slot->nmissing &&
		     slot->missing[end] == slot->missing[end - 1] + 1; end++)
			;
		pr_text("%s%u", i ? "," : "", slot->missing[i]);
		if (end - i > 1)
			pr_text("-%u", slot->missing[end - 1]);
	}
}

static void show_msg(const struct inc_nl_slot *slot)
{
	bool data = conf.json || slot->nelem;

	pr_enum("collective", "", slot->collective, inc_nl_collective_name);
	pr_enum("dtype", data ? "" : NULL, slot->dtype, inc_nl_dtype_name);
	pr_enum("op", data ? "" : NULL, slot->op, inc_nl_op_name);
	pr_uint("nelem", data ? "nelem" : NULL, slot->nelem);
	pr_uint("chunks-done", "chunks", slot->chunks_done);
	pr_uint("chunks", "of", slot->chunks);
	pr_msec("age", "age", slot->age);
	pr_enum("status", slot->status ? "status" : NULL, slot->status,
		inc_nl_status_name);
	if (INC_NL_HAS(slot, SLOT_PARENT_AGE))
		pr_msec("parent-age", "waits-for-parent", slot->parent_age);
	show_missing(slot);
}

/* Print a slot. In JSON the caller opens and closes the object. */
void show_slot(const struct inc_nl_slot *slot)
{
	pr_uint("tree-id", "tree", slot->tree_id);
	pr_uint("index", "slot", slot->index);
	pr_enum("state", "state", slot->state, inc_nl_slot_state_name);
	pr_uint("msg-id", "msg-id", slot->msg_id);
	if (INC_NL_HAS(slot, SLOT_COLLECTIVE))
		show_msg(slot);
	else if (INC_NL_HAS(slot, SLOT_STATUS))
		pr_enum("status", "status", slot->status, inc_nl_status_name);
	if (INC_NL_HAS(slot, SLOT_WRONG_RANK))
		pr_uint("wrong-rank", "wrong-rank", slot->wrong_rank);
	if (INC_NL_HAS(slot, SLOT_UNLIKE_RANK))
		pr_uint("unlike-rank", "unlike-rank", slot->unlike_rank);
	pr_uint("epoch", NULL, slot->epoch);
}

/*
 * Print the switch of the namespace, without counters. In JSON the caller
 * opens and closes the object.
 */
void show_switch(const struct inc_nl_switch *sw)
{
	pr_string("version", "version", sw->version);
	pr_string("reduce-impl", "reduce-impl", sw->reduce_impl);
	pr_uint("trees", "trees", sw->trees);
	pr_size("memory-used", "memory-used", sw->memory_used);
	pr_size("memory-taken", "memory-taken", sw->memory_taken);
	pr_size("memory-limit", "memory-limit", sw->memory_limit);
	pr_size("memory-ceiling", "memory-ceiling", sw->memory_ceiling);
	pr_uint("leaving", "leaving", sw->leaving);
	pr_bool("hooked", "hooked", sw->hooked);
	pr_indent();
	pr_uint("max-trees", "max-trees", sw->max_trees);
	pr_uint("max-ranks", "max-ranks", sw->max_ranks);
	pr_uint("max-slots", "max-slots", sw->max_slots);
	pr_size("max-tree-memory", "max-tree-memory", sw->max_tree_memory);
	if (INC_NL_HAS(sw, SWITCH_MAX_TREE_HOLD))
		pr_size("max-tree-hold", "max-tree-hold", sw->max_tree_hold);
	if (INC_NL_HAS(sw, SWITCH_HELD)) {
		pr_indent();
		pr_size("held", "held", sw->held);
		pr_size("hold-limit", "hold-limit", sw->hold_limit);
		pr_size("hold-guaranteed", "hold-guaranteed",
			sw->hold_guaranteed);
	}
	pr_indent();
	pr_mask("collectives", "collectives", sw->collectives,
		inc_nl_collective_name);
	pr_indent();
	pr_mask("dtypes", "dtypes", sw->dtypes, inc_nl_dtype_name);
	pr_indent();
	pr_mask("ops", "ops", sw->ops, inc_nl_op_name);
}

static const uint16_t columns[] = {
	RDMA_INC_A_MEMBER_STATS_RX_PACKETS, RDMA_INC_A_MEMBER_STATS_RX_BYTES,
	RDMA_INC_A_MEMBER_STATS_TX_PACKETS, RDMA_INC_A_MEMBER_STATS_TX_BYTES,
	RDMA_INC_A_MEMBER_STATS_TX_RETRANSMITS,
};

static void show_row(const char *what, const uint64_t *stats)
{
	size_t i;

	pr_indent();
	pr_text("%8s", what);
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		pr_text(" %14" PRIu64, stats[columns[i]]);
}

/**
 * struct ranks - counters of the members of a tree
 * @sum: sum over the members so far
 */
struct ranks {
	uint64_t	sum[RDMA_INC_A_MEMBER_STATS_MAX + 1];
};

static int show_rank(const struct inc_nl_member *m, void *arg)
{
	struct ranks *r = arg;
	char rank[8];
	size_t i;

	for (i = 1; i <= RDMA_INC_A_MEMBER_STATS_MAX; i++)
		r->sum[i] += m->stats[i];
	snprintf(rank, sizeof(rank), "%u", m->rank);
	if (!conf.json)
		show_row(rank, m->stats);

	pr_open_object(NULL);
	pr_uint("rank", NULL, m->rank);
	if (conf.json || conf.stats > 1)
		show_stats("stats", m->stats, RDMA_INC_A_MEMBER_STATS_MAX,
			   inc_nl_member_stat_name);
	pr_close_object();
	return 0;
}

/* Print the counters of deleted members, and the total. */
static void show_totals(const struct inc_nl_tree *tree, const struct ranks *r)
{
	uint64_t gone[RDMA_INC_A_MEMBER_STATS_MAX + 1] = { 0 };
	uint64_t total[RDMA_INC_A_MEMBER_STATS_MAX + 1] = { 0 };
	bool any = false;
	size_t i;

	for (i = 1; i <= RDMA_INC_A_MEMBER_STATS_MAX; i++) {
		if (tree->member_stats[i] > r->sum[i])
			gone[i] = tree->member_stats[i] - r->sum[i];
		total[i] = r->sum[i] + gone[i];
	}
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		any = any || gone[columns[i]];
	if (any)
		show_row("gone", gone);
	show_row("total", total);
}

/*
 * Print packets and bytes by rank, and their totals. Returns 0 or -errno;
 * -ENOENT: the tree was deleted.
 */
int show_ranks(struct inc_nl *nl, const struct inc_nl_tree *tree)
{
	struct ranks r = { .sum = { 0 } };
	int rc;

	pr_indent();
	pr_text("%8s %14s %14s %14s %14s %14s", "rank", "packets-in",
		"bytes-in", "packets-out", "bytes-out", "retransmits");
	pr_open_array("rank-stats");
	rc = inc_nl_member_dump(nl, tree->id, show_rank, &r);
	pr_close_array();
	if (!rc && !conf.json)
		show_totals(tree, &r);
	return rc;
}
