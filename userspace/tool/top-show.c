// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A picture of top: rates between two snapshots.
 */
#include "common.h"

#include <stdarg.h>
#include <time.h>

#include <json-c/json.h>

#include "collect.h"
#include "conf/output.h"
#include "conf/unit.h"
#include "top-show.h"

#define CLEAR_LINE	"\033[K"

/**
 * struct rates - of a member, or the sum over a tree's members; per second
 * @msgs: request messages
 * @in: bytes received from it, headers included
 * @out: bytes sent to it, headers included
 * @again: result packets retransmitted
 * @timeouts: retransmission timeouts
 */
struct rates {
	double	msgs;
	double	in;
	double	out;
	double	again;
	double	timeouts;
};

static double get_rate(const uint64_t *was, const uint64_t *is,
		       unsigned int attr, double secs)
{
	uint64_t from = was ? was[attr] : 0;

	return is[attr] > from ? (double)(is[attr] - from) / secs : 0;
}

/* A new member has counted from 0; another QPN means another member. */
static struct rates rates_of(const struct snapshot *before,
			     const struct snapshot *now,
			     const struct inc_nl_member *m)
{
	const struct inc_nl_member *was =
		INC_NL_HAS(m, MEMBER_RANK) ?
			snapshot_member(before, m->tree_id, m->rank) :
			snapshot_parent(before, m->tree_id);
	const uint64_t *old = was && was->qpn == m->qpn ? was->stats : NULL;
	double secs = now->time - before->time;

	if (secs <= 0)
		secs = 1;
	return (struct rates){
		.msgs = get_rate(old, m->stats,
				 RDMA_INC_A_MEMBER_STATS_RX_MESSAGES, secs),
		.in = get_rate(old, m->stats,
			       RDMA_INC_A_MEMBER_STATS_RX_WIRE_BYTES, secs),
		.out = get_rate(old, m->stats,
				RDMA_INC_A_MEMBER_STATS_TX_WIRE_BYTES, secs),
		.again = get_rate(old, m->stats,
				  RDMA_INC_A_MEMBER_STATS_TX_RETRANSMITS, secs),
		.timeouts = get_rate(old, m->stats,
				     RDMA_INC_A_MEMBER_STATS_TX_TIMEOUTS, secs),
	};
}

static void rates_add(struct rates *sum, const struct rates *r)
{
	sum->msgs += r->msgs;
	sum->in += r->in;
	sum->out += r->out;
	sum->again += r->again;
	sum->timeouts += r->timeouts;
}

/**
 * struct page - a picture that is being printed
 * @screen: destination
 * @row: lines printed so far
 */
struct page {
	const struct screen	*screen;
	unsigned int		row;
};

/* Does another line fit? If not, the last line of the screen says so. */
static bool line_fits(struct page *p)
{
	if (!p->screen->rows || p->row + 1 < p->screen->rows)
		return true;
	if (p->row + 1 == p->screen->rows) {
		fputs("..." CLEAR_LINE, stdout);
		p->row++;
	}
	return false;
}

static void put_line(struct page *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void put_line(struct page *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!line_fits(p))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (p->screen->columns && p->screen->columns < sizeof(text))
		text[p->screen->columns] = '\0';
	fputs(text, stdout);
	if (p->screen->live)
		fputs(CLEAR_LINE, stdout);
	putchar('\n');
	p->row++;
}

static void show_rates(struct page *p, const char *who, const struct rates *r,
		       const char *rest)
{
	put_line(p, "%-12s %10.1f %10.3f %10.3f %9.1f %9.1f  %s", who, r->msgs,
		 r->in / 1e6, r->out / 1e6, r->again, r->timeouts, rest);
}

/* @rank: or RANK_PARENT */
static void show_member(struct page *p, const struct snapshot *before,
			const struct snapshot *now,
			const struct inc_nl_tree *tree, uint16_t rank)
{
	const struct inc_nl_member *m = rank == RANK_PARENT ?
		snapshot_parent(now, tree->id) :
		snapshot_member(now, tree->id, rank);
	const struct wait *w = snapshot_wait(now, tree->id, rank);
	char who[24], rest[160] = "";
	struct rates r = { 0 };
	size_t len;

	if (rank == RANK_PARENT)
		strcpy(who, "  parent");
	else
		snprintf(who, sizeof(who), "  rank %u", rank);
	if (!m)
		strcpy(rest, "no member");
	else if (m->state == RDMA_INC_MEMBER_STATE_INIT)
		strcpy(rest, "not connected");
	else if (m->state == RDMA_INC_MEMBER_STATE_ERROR)
		snprintf(rest, sizeof(rest), "ERROR %s",
			 inc_nl_member_error_name(m->error) ?: "?");
	else
		snprintf(rest, sizeof(rest), "%u us", m->srtt);
	len = strlen(rest);
	if (w)
		snprintf(rest + len, sizeof(rest) - len,
			 rank == RANK_PARENT ? "  %u slots WAIT for it, %u ms" :
			 "  MISSING in %u slots, %u ms", w->slots, w->age);
	if (m)
		r = rates_of(before, now, m);
	show_rates(p, who, &r, rest);
}

static struct rates tree_rates(const struct snapshot *before,
			       const struct snapshot *now, uint32_t id)
{
	struct rates sum = { 0 };
	size_t i;

	for (i = 0; i < now->nmembers; i++) {
		struct rates r;

		if (now->members[i].tree_id != id)
			continue;
		r = rates_of(before, now, &now->members[i]);
		rates_add(&sum, &r);
	}
	return sum;
}

/* Print one picture as text. */
void top_show(const struct screen *screen, const struct snapshot *before,
	      const struct snapshot *now)
{
	struct page p = { .screen = screen };
	time_t t = time(NULL);
	char clock[16];
	size_t i;

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&t));
	put_line(&p, "inc-tool top  %s  %zu trees, %zu members, %.1f of %.1f MiB, every %.1f s",
		 clock, now->ntrees, now->nmembers,
		 (double)now->sw.memory_used / 1048576,
		 (double)now->sw.memory_limit / 1048576,
		 now->time - before->time);
	put_line(&p, "%-12s %10s %10s %10s %9s %9s  %s", "", "messages/s",
		 "MB/s in", "MB/s out", "again/s", "timeo/s",
		 "round trip, who is missing");
	for (i = 0; i < now->ntrees; i++) {
		const struct inc_nl_tree *tree = &now->trees[i];
		struct rates sum = tree_rates(before, now, tree->id);
		char who[24], rest[64];
		uint16_t rank;

		snprintf(who, sizeof(who), "tree %u", tree->id);
		snprintf(rest, sizeof(rest), "%s, %u of %u ranks",
			 inc_nl_tree_state_name(tree->state) ?: "?",
			 tree->members, tree->ranks);
		show_rates(&p, who, &sum, rest);
		for (rank = 0; rank < tree->ranks && line_fits(&p); rank++)
			show_member(&p, before, now, tree, rank);
		if (snapshot_parent(now, tree->id) && line_fits(&p))
			show_member(&p, before, now, tree, RANK_PARENT);
	}
	inc_output_flush();
}

static void json_put(struct json_object *o, const char *key, double value)
{
	json_object_object_add(o, key, json_object_new_double(value));
}

static struct json_object *json_rates(const struct rates *r)
{
	struct json_object *o = json_object_new_object();

	json_put(o, "messages", r->msgs);
	json_put(o, "bytes-in", r->in);
	json_put(o, "bytes-out", r->out);
	json_put(o, "retransmits", r->again);
	json_put(o, "timeouts", r->timeouts);
	return o;
}

static struct json_object *json_member(const struct snapshot *before,
				       const struct snapshot *now,
				       const struct inc_nl_member *m)
{
	bool up = !INC_NL_HAS(m, MEMBER_RANK);
	const struct wait *w = snapshot_wait(now, m->tree_id,
					     up ? RANK_PARENT : m->rank);
	struct rates r = rates_of(before, now, m);
	struct json_object *o = json_rates(&r);

	if (!up)
		json_object_object_add(o, "rank", json_object_new_int(m->rank));
	json_object_object_add(o, "state", json_object_new_string(
		inc_nl_member_state_name(m->state) ?: "?"));
	json_object_object_add(o, "srtt", json_object_new_uint64(m->srtt));
	json_object_object_add(o, "missing-slots", json_object_new_uint64(
		w ? w->slots : 0));
	json_object_object_add(o, "missing-age", json_object_new_uint64(
		w ? w->age : 0));
	return o;
}

static struct json_object *json_tree(const struct snapshot *before,
				     const struct snapshot *now,
				     const struct inc_nl_tree *tree)
{
	struct rates sum = tree_rates(before, now, tree->id);
	struct json_object *o = json_rates(&sum);
	struct json_object *members = json_object_new_array();
	struct json_object *missing = json_object_new_array();
	const struct inc_nl_member *parent = snapshot_parent(now, tree->id);
	size_t i;

	json_object_object_add(o, "id", json_object_new_uint64(tree->id));
	json_object_object_add(o, "state", json_object_new_string(
		inc_nl_tree_state_name(tree->state) ?: "?"));
	json_object_object_add(o, "ranks", json_object_new_int(tree->ranks));
	for (i = 0; i < now->nwaits; i++) {
		if (now->waits[i].tree_id == tree->id &&
		    now->waits[i].rank != RANK_PARENT)
			json_object_array_add(missing, json_object_new_int(
				now->waits[i].rank));
	}
	json_object_object_add(o, "missing", missing);
	for (i = 0; i < now->nmembers; i++) {
		if (now->members[i].tree_id == tree->id)
			json_object_array_add(members, json_member(
				before, now, &now->members[i]));
	}
	json_object_object_add(o, "members", members);
	if (parent)
		json_object_object_add(o, "parent",
				       json_member(before, now, parent));
	return o;
}

/* Print one picture as a line of JSON. */
void top_json(const struct snapshot *before, const struct snapshot *now)
{
	struct json_object *o = json_object_new_object();
	struct json_object *trees = json_object_new_array();
	char clock[UNIT_TIME_LEN];
	size_t i;

	json_object_object_add(o, "time", json_object_new_string(
		unit_clock((int64_t)time(NULL) * 1000000, clock)));
	json_put(o, "seconds", now->time - before->time);
	for (i = 0; i < now->ntrees; i++)
		json_object_array_add(trees, json_tree(before, now,
						       &now->trees[i]));
	json_object_object_add(o, "trees", trees);
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	inc_output_flush();
}
