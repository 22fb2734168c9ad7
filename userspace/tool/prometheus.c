// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The counters in Prometheus' text format, version 0.0.4, for the text file
 * collector of its node exporter, or for anything that can run a command. All
 * samples of a metric follow its HELP and TYPE lines.
 */
#include "common.h"

#include <inttypes.h>

#include "collect.h"
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

/* A child's QP to its parent has no rank. */
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

/* Counters that the switch has once. */
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

static void put_switch(const struct snapshot *snap)
{
	const struct {
		const char	*name;
		const char	*unit;
		unsigned int	attr;
		uint64_t	value;
	} gauges[] = {
		{ "trees", "", RDMA_INC_A_SWITCH_TREES, snap->sw.trees },
		{ "memory-limit", "_bytes", RDMA_INC_A_SWITCH_MEMORY_LIMIT,
		  snap->sw.memory_limit },
		{ "memory-used", "_bytes", RDMA_INC_A_SWITCH_MEMORY_USED,
		  snap->sw.memory_used },
		{ "memory-taken", "_bytes", RDMA_INC_A_SWITCH_MEMORY_TAKEN,
		  snap->sw.memory_taken },
		{ "memory-ceiling", "_bytes", RDMA_INC_A_SWITCH_MEMORY_CEILING,
		  snap->sw.memory_ceiling },
		{ "held", "_bytes", RDMA_INC_A_SWITCH_HELD, snap->sw.held },
		{ "hold-limit", "_bytes", RDMA_INC_A_SWITCH_HOLD_LIMIT,
		  snap->sw.hold_limit },
		{ "leaving", "", RDMA_INC_A_SWITCH_LEAVING, snap->sw.leaving },
		{ "hooked", "", RDMA_INC_A_SWITCH_HOOKED, snap->sw.hooked },
	};
	struct metric m = { .set = "switch", .type = "gauge" };
	unsigned int i;

	put_info(snap);
	for (i = 0; i < ARRAY_SIZE(gauges); i++) {
		m.name = gauges[i].name;
		m.suffix = gauges[i].unit;
		m.doc = inc_nl_switch_doc(gauges[i].attr);
		put_head(&m);
		put_value(&m, gauges[i].value);
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

/* A gauge and its place in a struct; 1 to 8 bytes. @doc: instead of netlink's. */
struct gauge {
	const char	*name;
	const char	*unit;
	unsigned int	attr;
	size_t		off;
	size_t		size;
	const char	*(*values)(unsigned int n);
	unsigned int	second;
	const char	*doc;
};

#define GAUGE(_obj, _name, _unit, _attr, _field, _values)		\
	{								\
		.name = _name, .unit = _unit, .attr = _attr,		\
		.off = offsetof(struct inc_nl_##_obj, _field),		\
		.size = sizeof(((struct inc_nl_##_obj *)NULL)->_field),	\
		.values = _values,					\
	}

#define SECONDS(_obj, _name, _attr, _field, _second, _doc)		\
	{								\
		.name = _name, .unit = "_seconds", .attr = _attr,	\
		.off = offsetof(struct inc_nl_##_obj, _field),		\
		.size = sizeof(((struct inc_nl_##_obj *)NULL)->_field),	\
		.second = _second, .doc = _doc,				\
	}

static uint64_t gauge_value(const struct gauge *g, const void *obj)
{
	const char *p = (const char *)obj + g->off;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (g->size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		memcpy(&v16, p, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, p, sizeof(v32));
		return v32;
	default:
		memcpy(&v64, p, sizeof(v64));
		return v64;
	}
}

static void put_trees(const struct snapshot *snap)
{
	static const struct gauge gauges[] = {
		GAUGE(tree, "state", "", RDMA_INC_A_TREE_STATE, state,
		      inc_nl_tree_state_name),
		GAUGE(tree, "ranks", "", RDMA_INC_A_TREE_RANKS, ranks, NULL),
		GAUGE(tree, "members", "", RDMA_INC_A_TREE_MEMBERS, members,
		      NULL),
		GAUGE(tree, "memory", "_bytes", RDMA_INC_A_TREE_MEMORY, memory,
		      NULL),
	};
	struct metric m = { .set = "tree", .type = "gauge" };
	unsigned int i;
	size_t t;

	if (!snap->ntrees)
		return;
	for (i = 0; i < ARRAY_SIZE(gauges); i++) {
		m.name = gauges[i].name;
		m.suffix = gauges[i].unit;
		m.doc = inc_nl_tree_doc(gauges[i].attr);
		m.values = gauges[i].values;
		put_head(&m);
		for (t = 0; t < snap->ntrees; t++)
			put_tree(&m, &snap->trees[t],
				 gauge_value(&gauges[i], &snap->trees[t]));
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

/* Members, or QPs of child switches to their parents. */
static void put_members(const char *set, const struct inc_nl_member *members,
			size_t n)
{
	static const struct gauge gauges[] = {
		GAUGE(member, "state", "", RDMA_INC_A_MEMBER_STATE, state,
		      inc_nl_member_state_name),
		GAUGE(member, "error", "", RDMA_INC_A_MEMBER_ERROR, error,
		      inc_nl_member_error_name),
		GAUGE(member, "tx-in-flight", "",
		      RDMA_INC_A_MEMBER_TX_IN_FLIGHT, tx_in_flight, NULL),
		GAUGE(member, "held", "_bytes", RDMA_INC_A_MEMBER_HELD, held,
		      NULL),
		SECONDS(member, "srtt", RDMA_INC_A_MEMBER_SRTT, srtt, 1000000,
			"Smoothed round-trip time."),
		SECONDS(member, "last-rx", RDMA_INC_A_MEMBER_LAST_RX, last_rx,
			1000, "Time since the last packet from the member."),
	};
	struct metric m = { .set = set, .type = "gauge" };
	unsigned int i;
	size_t r;

	if (!n)
		return;
	for (i = 0; i < ARRAY_SIZE(gauges); i++) {
		m.name = gauges[i].name;
		m.suffix = gauges[i].unit;
		m.doc = gauges[i].doc ? gauges[i].doc :
			inc_nl_member_doc(gauges[i].attr);
		m.values = gauges[i].values;
		m.second = gauges[i].second;
		put_head(&m);
		for (r = 0; r < n; r++)
			put_member(&m, &members[r],
				   gauge_value(&gauges[i], &members[r]));
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

/* Slots of child switches that wait for the parents. */
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

/**
 * prometheus_show() - print a snapshot
 * @snap: snapshot, with waits
 * @all: include the switch's own metrics
 */
void prometheus_show(const struct snapshot *snap, bool all)
{
	if (all)
		put_switch(snap);
	put_trees(snap);
	put_members("member", snap->members, snap->nmembers);
	put_members("uplink", snap->parents, snap->nparents);
	put_uplink_waits(snap);
}
