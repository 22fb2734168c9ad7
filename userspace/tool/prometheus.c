// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The counters in Prometheus' text format, version 0.0.4, for the text file
 * collector of its node exporter, or for anything that can run a command. All
 * samples of a metric follow its HELP and TYPE lines.
 */
#include "common.h"

#include <inttypes.h>

#include "collect.h"
#include "nl-schema.h"
#include "prometheus.h"

/* In the value of a label, quotation marks must be escaped as well. */
static void put_escaped(const char *text, bool label)
{
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\\\", stdout);
		else if (*text == '\n')
			fputs("\\n", stdout);
		else if (*text == '"' && label)
			fputs("\\\"", stdout);
		else
			putchar(*text);
	}
}

/* Metrics are named after attributes, with _ in place of -. */
static void put_name(const char *set, const char *name, const char *suffix)
{
	printf("inc_%s_", set);
	for (; *name; name++)
		putchar(*name == '-' ? '_' : *name);
	fputs(suffix, stdout);
}

/**
 * struct metric - one metric
 * @set: type of object: switch, tree, member or uplink
 * @name: attribute's name
 * @suffix: "_total", or a unit
 * @type: counter or gauge
 * @doc: description
 * @values: names of the numbers of a state, or NULL
 * @second: if its unit is seconds: the attribute's unit, as a fraction of one;
 *	else 0
 */
struct metric {
	const char	*set;
	const char	*name;
	const char	*suffix;
	const char	*type;
	const char	*doc;
	const char	*(*values)(unsigned int n);
	unsigned int	second;
};

static void put_head(const struct metric *m)
{
	unsigned int i;

	fputs("# HELP ", stdout);
	put_name(m->set, m->name, m->suffix);
	putchar(' ');
	put_escaped(m->doc, false);
	for (i = 0; m->values && m->values(i); i++)
		printf("%s%u %s", i ? ", " : " ", i, m->values(i));
	fputs("\n# TYPE ", stdout);
	put_name(m->set, m->name, m->suffix);
	printf(" %s\n", m->type);
}

static void put_value(const struct metric *m, uint64_t value)
{
	put_name(m->set, m->name, m->suffix);
	printf(" %" PRIu64 "\n", value);
}

static void put_tree(const struct metric *m, const struct inc_nl_tree *tree,
		     uint64_t value)
{
	put_name(m->set, m->name, m->suffix);
	printf("{tree=\"%u\"} %" PRIu64 "\n", tree->id, value);
}

/* Print a sample of a member. A child's QP to its parent has no rank. */
static void put_member(const struct metric *m,
		       const struct inc_nl_member *member, uint64_t value)
{
	put_name(m->set, m->name, m->suffix);
	printf("{tree=\"%u\",", member->tree_id);
	if (INC_NL_HAS(member, MEMBER_RANK))
		printf("rank=\"%u\",", member->rank);
	printf("qpn=\"0x%06x\"} ", member->qpn);
	if (m->second)
		printf("%.6f\n", (double)value / m->second);
	else
		printf("%" PRIu64 "\n", value);
}

static void put_info(const struct snapshot *snap)
{
	fputs("# HELP inc_switch_info Version and implementation of the module.\n"
	      "# TYPE inc_switch_info gauge\n"
	      "inc_switch_info{version=\"", stdout);
	put_escaped(snap->sw.version, true);
	fputs("\",reduce_impl=\"", stdout);
	put_escaped(snap->sw.reduce_impl, true);
	fputs("\"} 1\n", stdout);
}

/* Print counters of the switch itself. */
static void put_totals(const char *set, const uint64_t *stats, unsigned int max,
		       const char *(*name)(unsigned int attr),
		       const char *(*doc)(unsigned int attr))
{
	struct metric m = {
		.set = set, .type = "counter", .suffix = "_total",
	};
	unsigned int i;

	for (i = 1; i <= max; i++) {
		m.name = name(i);
		m.doc = doc(i);
		put_head(&m);
		put_value(&m, stats[i]);
	}
}

/*
 * An attribute that is a gauge. Its name, text and offset in the struct are in
 * netlink's table; @doc, if set, replaces the text.
 */
struct gauge {
	uint16_t	attr;
	const char	*unit;
	const char	*(*values)(unsigned int n);
	unsigned int	second;
	const char	*doc;
};

static const struct field *start_gauge(struct metric *m, const struct gauge *g,
				       const struct object *obj)
{
	const struct field *f = obj->fields;

	while (f->attr != g->attr)
		f++;
	m->name = f->name;
	m->suffix = g->unit;
	m->doc = g->doc ? g->doc : f->doc;
	m->values = g->values;
	m->second = g->second;
	put_head(m);
	return f;
}

static uint64_t gauge_value(const struct field *f, const void *obj)
{
	return nl_load((const char *)obj + f->off, f->size);
}

static void put_switch(const struct snapshot *snap)
{
	static const struct gauge gauges[] = {
		{ RDMA_INC_A_SWITCH_TREES, .unit = "" },
		{ RDMA_INC_A_SWITCH_MEMORY_LIMIT, .unit = "_bytes" },
		{ RDMA_INC_A_SWITCH_MEMORY_USED, .unit = "_bytes" },
		{ RDMA_INC_A_SWITCH_MEMORY_TAKEN, .unit = "_bytes" },
		{ RDMA_INC_A_SWITCH_MEMORY_CEILING, .unit = "_bytes" },
		{ RDMA_INC_A_SWITCH_HELD, .unit = "_bytes" },
		{ RDMA_INC_A_SWITCH_HOLD_LIMIT, .unit = "_bytes" },
		{ RDMA_INC_A_SWITCH_LEAVING, .unit = "" },
		{ RDMA_INC_A_SWITCH_HOOKED, .unit = "" },
	};
	struct metric m = { .set = "switch", .type = "gauge" };
	const struct field *f;
	unsigned int i;

	put_info(snap);
	for (i = 0; i < ARRAY_SIZE(gauges); i++) {
		f = start_gauge(&m, &gauges[i], &nl_switch);
		put_value(&m, gauge_value(f, &snap->sw));
	}
	put_totals("switch", snap->sw.stats, RDMA_INC_A_SWITCH_STATS_MAX,
		   inc_nl_switch_stat_name, inc_nl_switch_stat_doc);
	put_totals("gone_tree", snap->sw.gone_tree_stats,
		   RDMA_INC_A_TREE_STATS_MAX, inc_nl_tree_stat_name,
		   inc_nl_tree_stat_doc);
	put_totals("gone_member", snap->sw.gone_member_stats,
		   RDMA_INC_A_MEMBER_STATS_MAX, inc_nl_member_stat_name,
		   inc_nl_member_stat_doc);
}

static void put_trees(const struct snapshot *snap)
{
	static const struct gauge gauges[] = {
		{ RDMA_INC_A_TREE_STATE, "", .values = inc_nl_tree_state_name },
		{ RDMA_INC_A_TREE_RANKS, .unit = "" },
		{ RDMA_INC_A_TREE_MEMBERS, .unit = "" },
		{ RDMA_INC_A_TREE_MEMORY, .unit = "_bytes" },
	};
	struct metric m = { .set = "tree", .type = "gauge" };
	const struct field *f;
	unsigned int i;
	size_t t;

	if (!snap->ntrees)
		return;
	for (i = 0; i < ARRAY_SIZE(gauges); i++) {
		f = start_gauge(&m, &gauges[i], &nl_tree);
		for (t = 0; t < snap->ntrees; t++)
			put_tree(&m, &snap->trees[t],
				 gauge_value(f, &snap->trees[t]));
	}
	m = (struct metric){
		.set = "tree", .type = "counter", .suffix = "_total",
	};
	for (i = 1; i <= RDMA_INC_A_TREE_STATS_MAX; i++) {
		m.name = inc_nl_tree_stat_name(i);
		m.doc = inc_nl_tree_stat_doc(i);
		put_head(&m);
		for (t = 0; t < snap->ntrees; t++)
			put_tree(&m, &snap->trees[t], snap->trees[t].stats[i]);
	}
}

/* Print members, or QPs of child switches to their parents. */
static void put_members(const char *set, const struct inc_nl_member *members,
			size_t n)
{
	static const struct gauge gauges[] = {
		{ RDMA_INC_A_MEMBER_STATE, "",
		  .values = inc_nl_member_state_name },
		{ RDMA_INC_A_MEMBER_ERROR, "",
		  .values = inc_nl_member_error_name },
		{ RDMA_INC_A_MEMBER_TX_IN_FLIGHT, .unit = "" },
		{ RDMA_INC_A_MEMBER_HELD, .unit = "_bytes" },
		{ RDMA_INC_A_MEMBER_SRTT, "_seconds", .second = 1000000,
		  .doc = "Smoothed round-trip time." },
		{ RDMA_INC_A_MEMBER_LAST_RX, "_seconds", .second = 1000,
		  .doc = "Time since the last packet from the member." },
	};
	struct metric m = { .set = set, .type = "gauge" };
	const struct field *f;
	unsigned int i;
	size_t r;

	if (!n)
		return;
	for (i = 0; i < ARRAY_SIZE(gauges); i++) {
		f = start_gauge(&m, &gauges[i], &nl_member);
		for (r = 0; r < n; r++)
			put_member(&m, &members[r],
				   gauge_value(f, &members[r]));
	}
	m = (struct metric){
		.set = set, .type = "counter", .suffix = "_total",
	};
	for (i = 1; i <= RDMA_INC_A_MEMBER_STATS_MAX; i++) {
		m.name = inc_nl_member_stat_name(i);
		m.doc = inc_nl_member_stat_doc(i);
		put_head(&m);
		for (r = 0; r < n; r++)
			put_member(&m, &members[r], members[r].stats[i]);
	}
}

/* Print the number of child switches' slots that wait for parents. */
static void put_uplink_waits(const struct snapshot *snap)
{
	const struct metric slots = {
		.set = "uplink", .name = "waiting-slots", .suffix = "",
		.type = "gauge",
		.doc = "Slots that have all requests and wait for the parent.",
	};
	const struct metric age = {
		.set = "uplink", .name = "waiting", .suffix = "_seconds",
		.type = "gauge", .second = 1000,
		.doc = "Longest time that a slot has been waiting for the parent.",
	};
	const struct wait *w;
	size_t i;

	if (!snap->nparents)
		return;
	put_head(&slots);
	for (i = 0; i < snap->nparents; i++) {
		w = snapshot_wait(snap, snap->parents[i].tree_id, RANK_PARENT);
		put_member(&slots, &snap->parents[i], w ? w->slots : 0);
	}
	put_head(&age);
	for (i = 0; i < snap->nparents; i++) {
		w = snapshot_wait(snap, snap->parents[i].tree_id, RANK_PARENT);
		put_member(&age, &snap->parents[i], w ? w->age : 0);
	}
}

/* Print a snapshot. */
void prometheus_show(const struct snapshot *snap, bool all)
{
	if (all)
		put_switch(snap);
	put_trees(snap);
	put_members("member", snap->members, snap->nmembers);
	put_members("uplink", snap->parents, snap->nparents);
	put_uplink_waits(snap);
}
