// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A group with a tree, to and from JSON, so that people can read it in the
 * store, too. Unknown members are skipped, and absent ones are 0: earlier and
 * later versions of the manager can read it. The peer of a queue pair is
 * recorded only once: a member's with the rank, a parent's with the child's
 * subtree. Records call subtrees parts.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/text.h"
#include "group/group.h"
#include "state/json_text.h"

#define RECORD_MAX	(4U << 20)	/* bytes; 1,024 ranks take 0.4 MiB */
#define SUBTREES_MAX	(4 * AM_RANKS_MAX)

static void put_number(struct json_object *o, const char *name, uint64_t value)
{
	if (value)
		json_object_object_add(o, name, json_object_new_uint64(value));
}

static struct json_object *put_list(struct json_object *o, const char *name)
{
	struct json_object *list = json_object_new_array();

	json_object_object_add(o, name, list);
	return list;
}

static struct json_object *append_object(struct json_object *list)
{
	struct json_object *o = json_object_new_object();

	json_object_array_add(list, o);
	return o;
}

static void put_addr(struct json_object *o, const char *name,
		     const struct inc_rdv_addr *addr)
{
	char text[64];

	if (addr->len)
		put_text(o, name, inc_rdv_addr_str(addr, text, sizeof(text)));
}

static void put_end(struct json_object *o, const struct tree_end *end)
{
	put_addr(o, "addr", &end->addr);
	put_number(o, "qpn", end->qpn);
	put_number(o, "psn", end->psn);
	put_number(o, "rkey", end->rkey);
}

static uint64_t get_u64(struct json_object *o, const char *name)
{
	return json_object_get_uint64(json_object_object_get(o, name));
}

static uint32_t get_u32(struct json_object *o, const char *name)
{
	return (uint32_t)get_u64(o, name);
}

static void take_addr(struct json_object *o, const char *name,
		      struct inc_rdv_addr *addr)
{
	if (inc_rdv_addr_parse(text_of(o, name), addr))
		addr->len = 0;
}

static void take_end(struct json_object *o, struct tree_end *end)
{
	take_addr(o, "addr", &end->addr);
	end->qpn = get_u32(o, "qpn");
	end->psn = get_u32(o, "psn");
	end->rkey = get_u32(o, "rkey");
}

/* --- Settings of a tree -------------------------------------------------- */

static const struct {
	const char	*name;
	size_t		offset;
} settings[] = {
#define SETTING(name, member)	\
	{ name, offsetof(struct inc_rdv_joined, member) }
	SETTING("slots", slots),
	SETTING("msg-size", msg_size),
	SETTING("pmtu", pmtu),
	SETTING("first-msg-id", first_msg_id),
	SETTING("dead-time", dead_time),
	SETTING("collectives", collectives),
	SETTING("dtypes", dtypes),
	SETTING("ops", ops),
	SETTING("traffic-class", traffic_class),
};

#define NSETTINGS	(sizeof(settings) / sizeof(settings[0]))

static uint32_t *setting_of(struct inc_rdv_joined *s, size_t i)
{
	return (uint32_t *)((char *)s + settings[i].offset);
}

/* --- Switches ------------------------------------------------------------ */

static void put_switch(struct json_object *o, const char *id, const char *address)
{
	put_text(o, "switch", id);
	put_text(o, "address", address);
}

static void put_kept(struct json_object *list, const struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->kept.n; i++)
		put_switch(append_object(list), g->kept.places[i].id,
			   g->kept.places[i].address);
}

/* Keep the places of a list of switches, or of parts. */
static void take_kept(struct json_object *list, struct group *g)
{
	size_t i, n = json_object_is_type(list, json_type_array) ?
		      json_object_array_length(list) : 0;
	struct json_object *o;

	for (i = 0; i < n && i < SUBTREES_MAX; i++) {
		o = json_object_array_get_idx(list, i);
		keep_place(g, text_of(o, "switch"), text_of(o, "address"));
	}
}

/* --- Parts --------------------------------------------------------------- */

static void put_subtree(struct json_object *o, const struct group *g,
			const struct subtree *subtree)
{
	struct inc_rdv_joined s = subtree->tree.settings;
	const struct tree *t = &subtree->tree;
	struct json_object *list, *m;
	size_t i;

	put_switch(o, sw_name(subtree->sw), subtree->sw->address);
	put_number(o, "tree", t->id);
	put_number(o, "first", subtree->first);
	put_number(o, "count", subtree->count);
	if (subtree->parent) {
		put_number(o, "parent",
			   (uint64_t)(subtree->parent - g->subtrees) + 1);
		put_number(o, "place", subtree->place);
		put_number(o, "job-ranks", t->job_ranks);
		put_number(o, "first-rank", t->first_rank);
		put_end(o, &t->up);
	}
	for (i = 0; i < NSETTINGS; i++)
		put_number(o, settings[i].name, *setting_of(&s, i));
	list = put_list(o, "members");
	for (i = 0; i < t->n; i++) {
		m = append_object(list);
		put_number(m, "below", t->members[i].below);
		put_number(m, "uc", t->members[i].uc);
		put_end(m, &t->members[i].own);
	}
}

static int take_members(struct json_object *list, struct tree *t)
{
	struct json_object *o;
	uint32_t i;

	t->n = (uint32_t)json_object_array_length(list);
	if (t->n > AM_RANKS_MAX)
		return -EPROTO;
	t->members = calloc(t->n + 1, sizeof(*t->members));
	if (!t->members)
		return -ENOMEM;
	for (i = 0; i < t->n; i++) {
		o = json_object_array_get_idx(list, i);
		t->members[i].below = get_u32(o, "below");
		t->members[i].uc = get_u64(o, "uc");
		t->members[i].known = true;
		t->members[i].made = true;
		take_end(o, &t->members[i].own);
	}
	return 0;
}

static int take_subtree(struct json_object *o, struct group *g,
			struct subtree *subtree, char *err)
{
	struct json_object *list = json_object_object_get(o, "members");
	uint32_t parent = get_u32(o, "parent");
	struct tree *t = &subtree->tree;
	size_t i;

	subtree->group = g;
	subtree->exists = true;
	subtree->first = get_u32(o, "first");
	subtree->count = get_u32(o, "count");
	subtree->place = get_u32(o, "place");
	t->id = get_u32(o, "tree");
	t->job_ranks = get_u32(o, "job-ranks");
	t->first_rank = get_u32(o, "first-rank");
	for (i = 0; i < NSETTINGS; i++)
		*setting_of(&t->settings, i) = get_u32(o, settings[i].name);
	t->settings.tree_id = t->id;
	if (subtree->first > g->request.ranks ||
	    subtree->count > g->request.ranks - subtree->first)
		return store_failed(err, -EPROTO, "its tree has ranks from %u to %" PRIu64 ", the group has %u",
				    subtree->first,
				    (uint64_t)subtree->first + subtree->count,
				    g->request.ranks);
	if (!json_object_is_type(list, json_type_array) || take_members(list, t))
		return store_failed(err, -EPROTO, "its members cannot be read");
	subtree->sw = keep_find(g->manager, text_of(o, "switch"),
				text_of(o, "address"));
	if (!subtree->sw)
		return store_failed(err, -ENOENT, "switch %s is none of this manager's any more",
				    text_of(o, "switch"));
	subtree->sw->subtrees++;
	if (!parent)
		return 0;
	/* Parents come before their children. */
	if (parent > (uint32_t)(subtree - g->subtrees) ||
	    subtree->place >= g->subtrees[parent - 1].tree.n)
		return store_failed(err, -EPROTO, "its tree is none");
	subtree->parent = &g->subtrees[parent - 1];
	take_end(o, &t->up);
	subtree->parent->tree.members[subtree->place].peer = t->up;
	t->parent_id = subtree->parent->tree.id;
	t->parent = subtree->parent->tree.members[subtree->place].own;
	return 0;
}

/* --- Ranks --------------------------------------------------------------- */

/* Has the group's tree failed, and is no other one ready? */
static bool has_no_tree(const struct group *g)
{
	return group_is_rebuilding(g);
}

static void put_rank(struct json_object *o, const struct group *g,
		     const struct rank *r)
{
	put_number(o, "state", (uint64_t)r->core.state);
	put_addr(o, "addr", &r->join.addr);
	put_number(o, "qpn", r->join.qpn);
	put_number(o, "psn", r->join.psn);
	put_number(o, "was-qpn", r->old_qp.qpn);
	put_number(o, "was-psn", r->old_qp.psn);
	put_number(o, "mtu", r->join.mtu);
	put_number(o, "uc", r->join.uc);
	put_number(o, "cm", r->join.cm);
	if (has_no_tree(g))
		return;
	put_number(o, "part", (uint64_t)(r->subtree - g->subtrees));
	put_number(o, "member", r->member);
}

static int take_rank(struct json_object *o, struct group *g, uint32_t i)
{
	uint32_t subtree = get_u32(o, "part"), state = get_u32(o, "state");
	struct rank *r = &g->ranks[i];
	struct tree_member *m;

	r->group = g;
	r->join = g->request;
	r->join.rank = i;
	take_addr(o, "addr", &r->join.addr);
	r->join.addr.vlan = g->request.addr.vlan;
	r->join.qpn = get_u32(o, "qpn");
	r->join.psn = get_u32(o, "psn");
	r->join.mtu = get_u32(o, "mtu");
	r->join.uc = get_u64(o, "uc");
	r->old_qp.qpn = get_u32(o, "was-qpn");
	r->old_qp.psn = get_u32(o, "was-psn");
	r->join.cm = get_u64(o, "cm");
	r->member = get_u32(o, "member");
	if (state > RANK_GONE)
		return -EPROTO;
	inc_job_set(&g->core, &r->core, (enum rank_state)state);
	if (has_no_tree(g))
		return 0;
	if (subtree >= g->nsubtrees || r->member >= g->subtrees[subtree].tree.n)
		return -EPROTO;
	r->subtree = &g->subtrees[subtree];
	m = &r->subtree->tree.members[r->member];
	m->rank = i;
	m->peer.addr = r->join.addr;
	m->peer.qpn = r->join.qpn;
	m->peer.psn = r->join.psn;
	return 0;
}

/* --- Groups -------------------------------------------------------------- */

/* Write the state of a group that waits for another tree. */
static void put_waiting(struct json_object *o, const struct group *g)
{
	put_text(o, "broken", g->rebuild.broken);
	put_kept(put_list(o, "kept"), g);
}

static void take_waiting(struct json_object *o, struct group *g)
{
	snprintf(g->rebuild.broken, sizeof(g->rebuild.broken), "%s", text_of(o, "broken"));
	take_kept(json_object_object_get(o, "kept"), g);
}

static void put_wishes(struct json_object *o, const struct inc_rdv_tree *t)
{
	put_number(o, "slots", t->slots);
	put_number(o, "msg-size", t->msg_size);
	put_number(o, "pmtu", t->pmtu);
	put_number(o, "has-first-msg-id", t->has_first_msg_id);
	put_number(o, "first-msg-id", t->first_msg_id);
}

static void put_key(struct json_object *o, const struct inc_rdv_join *join)
{
	char text[2 * sizeof(join->key) + 1];

	text_hex_put(text, join->key, sizeof(join->key));
	if (join->has_key)
		put_text(o, "key", text);
}

static void take_wishes(struct json_object *o, struct inc_rdv_tree *t)
{
	t->slots = get_u32(o, "slots");
	t->msg_size = get_u32(o, "msg-size");
	t->pmtu = get_u32(o, "pmtu");
	t->has_first_msg_id = get_u64(o, "has-first-msg-id");
	t->first_msg_id = get_u32(o, "first-msg-id");
}

/* The name of no switch is "". */
static void put_wish(struct json_object *o, const char *key, const struct group_wish *w)
{
	if (w->by_hand)
		put_text(o, key, w->place);
}

static void take_wish(struct json_object *o, const char *key, struct group_wish *w)
{
	w->by_hand = json_object_object_get_ex(o, key, NULL);
	snprintf(w->place, sizeof(w->place), "%s", text_of(o, key));
}

static void put_move(struct json_object *o, const struct group_move *v)
{
	put_wish(o, "here", &v->here);
	if (!v->job[0])
		return;
	put_text(o, "moves-to", v->job);
	put_number(o, "keeps", v->keeps);
	put_wish(o, "place", &v->next);
}

static void take_move(struct json_object *o, struct group *g)
{
	struct group_move *v = &g->move;

	snprintf(v->job, sizeof(v->job), "%s", text_of(o, "moves-to"));
	v->keeps = get_u64(o, "keeps");
	take_wish(o, "place", &v->next);
	take_wish(o, "here", &v->here);
}

/*
 * Serialize a group. Returns JSON, to be freed.
 * @g: group, which has a tree, or waits for another one
 */
char *record_of(const struct group *g)
{
	struct json_object *o = json_object_new_object(), *list;
	uint32_t i;

	put_text(o, "name", g->request.job);
	put_text(o, "shown", g->name);
	put_text(o, "tenant", g->tenant->name);
	if (g->reservation && !g->reservation->ended)
		put_text(o, "reservation", g->reservation->name);
	put_number(o, "born", g->born_ms);
	put_number(o, "ending", g->state >= GROUP_ENDING);
	put_number(o, "vlan", g->request.addr.vlan);
	put_number(o, "mtu", g->request.mtu);
	put_number(o, "uc", g->request.uc);
	put_number(o, "rebuild", g->request.rebuild);
	put_number(o, "change", g->request.change);
	put_number(o, "move", g->request.move);
	put_move(o, &g->move);
	put_number(o, "round", g->rebuild.round);
	put_number(o, "rebuilding", has_no_tree(g));
	put_number(o, "connecting", group_phase(g) != GROUP_READY);
	put_wishes(o, &g->request.tree);
	put_key(o, &g->request);
	list = put_list(o, "parts");
	for (i = 0; i < g->nsubtrees && !has_no_tree(g); i++)
		put_subtree(append_object(list), g, &g->subtrees[i]);
	if (has_no_tree(g))
		put_waiting(o, g);
	list = put_list(o, "ranks");
	for (i = 0; i < g->request.ranks; i++)
		put_rank(append_object(list), g, &g->ranks[i]);
	return end_text(o);
}

static void drop_subtrees(struct group *g)
{
	uint32_t i;

	for (i = 0; i < g->nsubtrees; i++) {
		if (g->subtrees[i].sw)
			g->subtrees[i].sw->subtrees--;
		free(g->subtrees[i].tree.members);
	}
	g->nsubtrees = 0;
}

/*
 * Handle a switch that the manager no longer has like a lost one. Returns false
 * if this ends the group.
 */
static bool lose_switch(struct group *g, int ret, struct json_object *subtrees)
{
	struct json_object *last;

	if (ret != -ENOENT || !g->request.rebuild || g->state >= GROUP_ENDING)
		return false;
	last = json_object_array_get_idx(subtrees, g->nsubtrees - 1);
	snprintf(g->rebuild.broken, sizeof(g->rebuild.broken), "the manager was started without switch %s",
		 text_of(last, "switch"));
	drop_subtrees(g);
	g->end.from = GROUP_REJOINING;
	group_set_state(g, GROUP_REJOINING);
	take_kept(subtrees, g);
	return true;
}

static struct group *take_group(struct manager *m, struct json_object *o,
				char *err)
{
	struct json_object *subtrees = json_object_object_get(o, "parts");
	struct json_object *ranks = json_object_object_get(o, "ranks");
	struct group *g;
	int ret = 0;
	size_t n, i;

	if (!json_object_is_type(subtrees, json_type_array) ||
	    !json_object_is_type(ranks, json_type_array))
		return NULL;
	n = json_object_array_length(ranks);
	if (n > AM_RANKS_MAX ||
	    json_object_array_length(subtrees) > SUBTREES_MAX) {
		store_failed(err, 0, "its record has %zu ranks and %zu parts of its tree: there are %u and %u at most",
			     n, json_object_array_length(subtrees), AM_RANKS_MAX,
			     SUBTREES_MAX);
		return NULL;
	}
	g = calloc(1, sizeof(*g) + n * sizeof(g->ranks[0]));
	if (!g)
		return NULL;
	g->manager = m;
	g->tenant = tenant_get(&m->tenants, text_of(o, "tenant"));
	if (!g->tenant) {
		free(g);
		return NULL;
	}
	inc_job_init(&g->core, g->ranks, sizeof(g->ranks[0]), (uint32_t)n);
	g->end.from = get_u64(o, "rebuilding") ? GROUP_REJOINING :
		      get_u64(o, "connecting") ? GROUP_JOINED : GROUP_READY;
	group_set_state(g, get_u64(o, "ending") ? GROUP_ENDING : g->end.from);
	g->born_ms = get_u64(o, "born");
	g->request.ranks = (uint32_t)n;
	g->reservation = reservation_find(&m->tenants, g->tenant,
				       text_of(o, "reservation"));
	if (g->reservation && (g->state == GROUP_ENDING ||
			    !reservation_fits(g->reservation, (uint32_t)n)))
		g->reservation = NULL;
	g->request.addr.vlan = (uint16_t)get_u32(o, "vlan");
	g->request.mtu = get_u32(o, "mtu");
	g->request.uc = get_u64(o, "uc");
	g->request.rebuild = get_u64(o, "rebuild");
	g->request.change = get_u64(o, "change");
	g->request.move = get_u64(o, "move");
	g->rebuild.round = get_u32(o, "round");
	snprintf(g->request.job, sizeof(g->request.job), "%s",
		 text_of(o, "name"));
	take_move(o, g);
	snprintf(g->name, sizeof(g->name), "%s", *text_of(o, "shown") ?
		 text_of(o, "shown") : g->request.job);
	take_wishes(o, &g->request.tree);
	g->request.has_key = text_hex_take(text_of(o, "key"), g->request.key,
					   sizeof(g->request.key));
	n = json_object_array_length(subtrees);
	g->subtrees = calloc(n + 1, sizeof(*g->subtrees));
	for (i = 0; g->subtrees && i < n && !ret; i++)
		ret = take_subtree(json_object_array_get_idx(subtrees, i), g,
				   &g->subtrees[g->nsubtrees++], err);
	if (ret && !lose_switch(g, ret, subtrees))
		return g;
	if (has_no_tree(g) && !ret)
		take_waiting(o, g);
	for (i = 0; i < g->request.ranks; i++)
		if (take_rank(json_object_array_get_idx(ranks, i), g,
			      (uint32_t)i))
			return g;
	err[0] = '\0';
	return g;
}

/*
 * Make a group from a record. Returns the group, which is in no list; NULL on
 * failure.
 */
struct group *record_group(struct manager *m, const char *text, char *err)
{
	struct json_object *o = NULL;
	struct group *g;

	if (strlen(text) > RECORD_MAX) {
		store_failed(err, 0, "its record has %zu bytes: one of %u ranks has less than %u",
			     strlen(text), AM_RANKS_MAX, RECORD_MAX);
		return NULL;
	}
	o = json_tokener_parse(text);
	store_failed(err, 0, "its record cannot be read");
	g = take_group(m, o, err);
	json_object_put(o);
	if (!g || !err[0])
		return g;
	drop_subtrees(g);
	keep_release(g);
	free(g->subtrees);
	free(g);
	return NULL;
}
