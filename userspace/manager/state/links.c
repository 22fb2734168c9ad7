// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Links that the manager knows, present or gone. An operator who looks an hour
 * later must see which cable failed, even if the manager was restarted since. So
 * the store has them, one record for each switch with the links that begin there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fdb.h"
#include "group/group.h"
#include "state/json_text.h"

#define PREFIX		"links/"
#define KEEP_MS		(24 * 3600 * 1000LL)
#define CUTS_MAX	1024
#define KEY_LEN		(2 * (SWITCH_ID_MAX + 1) + 2 * 32 + 8)

/**
 * struct look - one comparison of all links
 * @m: manager
 * @now: milliseconds since 1970
 * @ends: interfaces with a link: a missing link with one of these was replugged
 * @cuts: links that are missing
 * @complete: all switches have reported their identities
 */
struct look {
	struct manager		*m;
	int64_t			now;
	struct json_object	*ends;
	struct json_object	*cuts;
	bool			complete;
};

static void add_end(struct json_object *o, const char *which,
		    const struct sw_snapshot *info, uint32_t itf)
{
	char key[32];

	snprintf(key, sizeof(key), "%s-switch", which);
	put_text(o, key, info->id);
	snprintf(key, sizeof(key), "%s-interface", which);
	put_text(o, key, itf == FDB_OWN ? "" : info->ifs[itf].name);
}

static void mark_end(struct json_object *ends, struct json_object *link,
		     const char *sw, const char *itf)
{
	char key[KEY_LEN];

	if (!*text_of(link, itf))
		return;
	snprintf(key, sizeof(key), "%s %s", text_of(link, sw),
		 text_of(link, itf));
	json_object_object_add(ends, key, NULL);
}

static bool has_end(struct json_object *ends, struct json_object *link,
		    const char *sw, const char *itf)
{
	char key[KEY_LEN];

	snprintf(key, sizeof(key), "%s %s", text_of(link, sw),
		 text_of(link, itf));
	return json_object_object_get_ex(ends, key, NULL);
}

static void name_link(char key[KEY_LEN], struct json_object *o)
{
	snprintf(key, KEY_LEN, "%s %s - %s %s", text_of(o, "from-switch"),
		 text_of(o, "from-interface"), text_of(o, "to-switch"),
		 text_of(o, "to-interface"));
}

static int64_t seen_at(struct json_object *link)
{
	return json_object_get_int64(json_object_object_get(link, "seen"));
}

static bool is_cut(struct json_object *link)
{
	return json_object_get_boolean(json_object_object_get(link, "cut"));
}

static void set_seen(struct json_object *link, int64_t now)
{
	json_object_object_add(link, "seen", json_object_new_int64(now));
}

/* Mark a link's record for writing. */
static void set_changed(struct manager *m, struct json_object *link)
{
	json_object_object_add(m->links_changed, text_of(link, "from-switch"),
			       NULL);
}

static void set_cut(struct manager *m, struct json_object *link, bool cut)
{
	if (is_cut(link) == cut)
		return;
	json_object_object_add(link, "cut", json_object_new_boolean(cut));
	set_changed(m, link);
}

static void init_links(struct manager *m)
{
	if (!m->links)
		m->links = json_object_new_object();
	if (!m->links_changed)
		m->links_changed = json_object_new_object();
}

/* Forget all links. */
void links_free(struct manager *m)
{
	json_object_put(m->links);
	json_object_put(m->links_changed);
	m->links = NULL;
	m->links_changed = NULL;
}

/* --- The store ----------------------------------------------------------- */

/* "seen" of a present link changes each second, so it is not stored. */
static struct json_object *make_record(struct json_object *link)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "from-switch", text_of(link, "from-switch"));
	put_text(o, "from-interface", text_of(link, "from-interface"));
	put_text(o, "to-switch", text_of(link, "to-switch"));
	put_text(o, "to-interface", text_of(link, "to-interface"));
	if (is_cut(link))
		set_seen(o, seen_at(link));
	return o;
}

static void keep_switch(struct manager *m, const char *id,
			struct json_object *list)
{
	char key[STORE_KEY_MAX + 1];

	snprintf(key, sizeof(key), PREFIX "%s", id);
	if (!json_object_array_length(list)) {
		state_del(m, key);
		return;
	}
	state_put(m, key, json_object_get(list));
}

/* Write the records of switches whose links have changed. */
static void persist_links(struct manager *m)
{
	struct json_object *changed = m->links_changed, *list;

	json_object_object_foreach(changed, sw, unused) {
		(void)unused;
		json_object_object_add(changed, sw, json_object_new_array());
	}
	json_object_object_foreach(m->links, key, link) {
		(void)key;
		if (json_object_object_get_ex(changed,
					      text_of(link, "from-switch"),
					      &list))
			json_object_array_add(list, make_record(link));
	}
	json_object_object_foreach(changed, id, links)
		keep_switch(m, id, links);
	json_object_put(changed);
	m->links_changed = NULL;
}

/* --- Looking ------------------------------------------------------------- */

/* Note all present links. */
static void note_links(struct look *l)
{
	const struct topo_link *link;
	struct json_object *o, *was;
	char key[KEY_LEN];
	uint32_t i, n;

	link = topo_links(&l->m->fabric, &n);
	for (i = 0; i < n; i++) {
		o = json_object_new_object();
		add_end(o, "from", l->m->fabric.switches[link[i].a].info,
			link[i].a_if);
		add_end(o, "to", l->m->fabric.switches[link[i].b].info, link[i].b_if);
		mark_end(l->ends, o, "from-switch", "from-interface");
		mark_end(l->ends, o, "to-switch", "to-interface");
		name_link(key, o);
		if (json_object_object_get_ex(l->m->links, key, &was)) {
			json_object_put(o);
			o = was;
		} else {
			json_object_object_add(l->m->links, key, o);
			set_changed(l->m, o);
		}
		set_seen(o, l->now);
		set_cut(l->m, o, false);
	}
}

enum answer {
	ANSWER_NONE,	/* no switch of this identity has answered */
	ANSWER_THERE,
	ANSWER_LEFT,	/* the manager has removed it */
};

static enum answer answer_of(const struct manager *m, struct json_object *link,
			     const char *end)
{
	const char *id = text_of(link, end);
	enum answer answer = ANSWER_NONE;
	const struct sw *sw;
	unsigned int i;

	for (i = 0; i < m->fabric.n; i++) {
		sw = &m->fabric.switches[i];
		if (!sw->info || strcmp(sw->info->id, id))
			continue;
		if (!sw->gone)
			return ANSWER_THERE;
		answer = ANSWER_LEFT;
	}
	return answer;
}

static bool all_have_answered(const struct manager *m)
{
	const struct sw *sw;

	for_each_switch(&m->fabric, sw)
		if (!sw->info)
			return false;
	return true;
}

/* Check a missing link. Returns false if it must be forgotten. */
static bool check_missing(struct look *l, struct json_object *link)
{
	enum answer from = answer_of(l->m, link, "from-switch");
	enum answer to = answer_of(l->m, link, "to-switch");

	if (from == ANSWER_LEFT || to == ANSWER_LEFT ||
	    (l->complete && (from == ANSWER_NONE || to == ANSWER_NONE)) ||
	    has_end(l->ends, link, "from-switch", "from-interface") ||
	    has_end(l->ends, link, "to-switch", "to-interface"))
		return false;
	/* Assume that the link is there while a switch has not answered. */
	if (!is_cut(link) && (from == ANSWER_NONE || to == ANSWER_NONE)) {
		set_seen(link, l->now);
		return true;
	}
	if (l->now - seen_at(link) > KEEP_MS ||
	    json_object_array_length(l->cuts) >= CUTS_MAX)
		return false;
	set_cut(l->m, link, true);
	json_object_array_add(l->cuts, json_object_get(link));
	return true;
}

/*
 * Compare the fabric's links with the earlier ones. A link is forgotten a day
 * after it was last seen, when one of its interfaces has another link, when one
 * of its switches is gone, or if more than CUTS_MAX are missing. While one of
 * its switches has not answered since the manager was started, it counts as
 * unchanged. Returns the array of missing links, with both ends, and the time
 * when they were last "seen", in milliseconds since 1970.
 */
struct json_object *links_update(struct manager *m, int64_t now)
{
	struct look l = {
		.m		= m,
		.now		= now,
		.ends		= json_object_new_object(),
		.cuts		= json_object_new_array(),
		.complete	= all_have_answered(m),
	};

	init_links(m);
	note_links(&l);
	/* Unlike json_object_object_foreachC(), this macro allows deletion. */
	json_object_object_foreach(m->links, key, link) {
		if (seen_at(link) == now || check_missing(&l, link))
			continue;
		set_changed(m, link);
		json_object_object_del(m->links, key);
	}
	if (m->state.store && m->state.phase == PHASE_ACTIVE)
		persist_links(m);
	json_object_put(l.ends);
	return l.cuts;
}

/* --- Taking over --------------------------------------------------------- */

/* A link that this manager has seen itself is newer than the record. */
static void restore_link(struct manager *m, struct json_object *link,
			 int64_t now)
{
	struct json_object *o = make_record(link);
	char key[KEY_LEN];

	name_link(key, o);
	if (json_object_object_get_ex(m->links, key, NULL)) {
		json_object_put(o);
		return;
	}
	set_seen(o, seen_at(link) ? seen_at(link) : now);
	json_object_object_add(o, "cut",
			       json_object_new_boolean(seen_at(link) != 0));
	json_object_object_add(m->links, key, o);
}

static void restore_links(struct manager *m, const struct store_record *rec)
{
	struct json_object *list = state_get(m, rec, json_type_array);
	int64_t now = unix_ms();
	size_t i;

	for (i = 0; list && i < json_object_array_length(list); i++)
		restore_link(m, json_object_array_get_idx(list, i), now);
	json_object_put(list);
}

/* Take over the links of the store. */
void links_restore(struct manager *m, const struct store_record *list)
{
	init_links(m);
	for (; list; list = list->next)
		if (!strncmp(list->key, PREFIX, strlen(PREFIX)))
			restore_links(m, list);
}
