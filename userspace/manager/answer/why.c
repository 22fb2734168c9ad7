// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reasons for a group's tree: all candidates for the root, as they are now, and
 * the objections to each.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "group/group.h"
#include "place/place.h"
#include "rdma_inc.pb-c.h"

/**
 * struct why - an answer under construction
 * @msg: message
 * @text: text of @msg
 * @list: pointers to @candidates
 * @candidates: a candidate for each switch
 * @objections: texts of @candidates
 */
struct why {
	RdmaInc__V1__Why	msg;
	char			text[512];
	RdmaInc__V1__Candidate	**list;
	RdmaInc__V1__Candidate	*candidates;
	char			(*objections)[SW_ERROR_LEN + 32];
};

static void explain_unusable(const struct group *g, const struct sw *sw, char *text,
			     size_t len)
{
	uint32_t trees = sw->up ? topo_trees(&g->manager->fabric, sw) : 0;

	if (!sw->up)
		snprintf(text, len, "unreachable: %s", sw->why);
	else if (sw->drain)
		snprintf(text, len, "drained by %s", sw->drain->requester);
	else if (sw->leaving)
		snprintf(text, len, "it is not among --switch any more");
	else if (!sw->info->collectives)
		snprintf(text, len, "no capability: it offers no collective");
	else if (sw->info->max_trees && trees >= sw->info->max_trees)
		snprintf(text, len, "no room: it has %u of %u trees", trees,
			 sw->info->max_trees);
	else if (limit_is_reached(g, sw))
		snprintf(text, len, "no room for this tenant: it has the %u trees there that it may have",
			 g->tenant->limits->max[LIMIT_SWITCH_TREES]);
	else
		snprintf(text, len, "no room: a group that is being rebuilt keeps its place");
}

static void compare_roots(const struct group *g, const struct place_why *c,
			  const struct place_why *root, char *text, size_t len)
{
	bool wished = g->move.here.by_hand && g->move.here.place[0];

	if (c->cost == UINT64_MAX)
		snprintf(text, len, "unreachable: a rank's switch has no way to it");
	else if (c->apart)
		snprintf(text, len, "no route to one of its members, or back: a switch has refused that");
	else if (c->cost > root->cost)
		snprintf(text, len, "more links: %llu, the root %llu",
			 (unsigned long long)c->cost,
			 (unsigned long long)root->cost);
	else if (wished)
		snprintf(text, len, "an operator wished another one");
	else if (c->cost < root->cost)
		snprintf(text, len, "fewer links now, not when the tree was made");
	else if (c->depth > root->depth)
		snprintf(text, len, "more levels: %u, the root %u", c->depth,
			 root->depth);
	else if (c->depth == root->depth && c->nodes > root->nodes)
		snprintf(text, len, "more switches in the tree: %u, the root %u",
			 c->nodes, root->nodes);
	else if (c->load > root->load)
		snprintf(text, len, "more load: %llu, the root %llu",
			 (unsigned long long)c->load,
			 (unsigned long long)root->load);
	else if (c->load < root->load)
		snprintf(text, len, "less load now, not when the tree was made");
	else
		snprintf(text, len, "nothing: as good as the root");
}

static void say_moved(const struct group *g, char *text, size_t len)
{
	const struct group_wish *w = &g->move.here;

	if (w->by_hand)
		snprintf(text, len, "moved%s%s as an operator wished",
			 w->place[0] ? " to " : "", w->place);
}

static void fill_candidates(const struct group *g, const struct place_why *list,
			    uint32_t root, struct why *w)
{
	const struct manager *m = g->manager;
	size_t at;
	uint32_t i;

	w->msg.candidates = w->list;
	w->msg.root = (char *)sw_name(&m->fabric.switches[root]);
	say_moved(g, w->text, sizeof(w->text));
	at = strlen(w->text);
	if (!topo_is_whole(&m->fabric))
		snprintf(w->text + at, sizeof(w->text) - at, "%s%s", at ? "; " : "",
			 "some links are unknown: a way without a known link counts as 250 links");
	for (i = 0; i < m->fabric.n; i++) {
		if (m->fabric.switches[i].gone)
			continue;
		rdma_inc__v1__candidate__init(&w->candidates[i]);
		w->list[w->msg.n_candidates++] = &w->candidates[i];
		w->candidates[i].switch_id = (char *)sw_name(&m->fabric.switches[i]);
		w->candidates[i].links =
			list[i].cost == UINT64_MAX ? 0 : list[i].cost;
		w->candidates[i].load = list[i].load;
		w->candidates[i].against = w->objections[i];
		if (i == root)
			continue;
		if (list[i].usable)
			compare_roots(g, &list[i], &list[root], w->objections[i],
				      sizeof(w->objections[i]));
		else
			explain_unusable(g, &m->fabric.switches[i], w->objections[i],
					 sizeof(w->objections[i]));
	}
}

static void explain_waiting(const struct group *g, const char *missing,
			    struct why *w)
{
	snprintf(w->text, sizeof(w->text), "no tree: %s; another one waits for new queue pairs of %s: computing, or cut off",
		 g->rebuild.broken[0] ? g->rebuild.broken : "it has failed, or was moved", missing);
}

static void explain_root(const struct group *g, struct why *w)
{
	struct place_why *list = calloc(g->manager->fabric.n + 1, sizeof(*list));
	char missing[128];
	uint32_t root;

	group_missing(g, NULL, missing, sizeof(missing));
	if (g->state == GROUP_REJOINING && missing[0])
		explain_waiting(g, missing, w);
	else if (g->state == GROUP_REJOINED)
		snprintf(w->text, sizeof(w->text), "another tree is made, and waits for %s to connect: computing, or cut off",
			 missing);
	else if (g->core.present < g->request.ranks && !g->nsubtrees)
		snprintf(w->text, sizeof(w->text), "no tree yet: %u of %u ranks are present",
			 g->core.present, g->request.ranks);
	else if (g->room.until)
		snprintf(w->text, sizeof(w->text), "no tree yet: it waits for the room of groups that end");
	else if (!g->nsubtrees && g->rebuild.attempt[0])
		snprintf(w->text, sizeof(w->text), "no other tree yet: %s",
			 g->rebuild.attempt);
	else if (list && group_why(g, list, &root))
		fill_candidates(g, list, root, w);
	else
		snprintf(w->text, sizeof(w->text), "no switch can serve it now");
	free(list);
}

/* Answer WhyGroup. */
void answer_why(struct manager *m, const void *msg, struct rpc_stream *stream,
		struct rpc_answer *a)
{
	const struct group *g = answer_group(m, msg, a);
	struct why w = { .msg = RDMA_INC__V1__WHY__INIT };

	if (!g)
		return;
	w.list = calloc(m->fabric.n, sizeof(*w.list));
	w.candidates = calloc(m->fabric.n, sizeof(*w.candidates));
	w.objections = calloc(m->fabric.n, sizeof(*w.objections));
	w.msg.name = (char *)g->name;
	w.msg.text = w.text;
	w.msg.ranks = g->request.ranks;
	w.msg.by_cm = cm_count(g);
	if (w.list && w.candidates && w.objections) {
		explain_root(g, &w);
		answer_reply(a, &w.msg.base);
	} else {
		answer_refuse(a, ENOMEM, "no memory");
	}
	free(w.list);
	free(w.candidates);
	free(w.objections);
}
