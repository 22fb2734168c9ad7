// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Links that were there and are not any more. An operator who looks after an hour
 * has to see which cable it was.
 */
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "fabric/seen.h"
#include "group/group.h"
#include "stats/stats.h"
#include "web/web.h"

#define KEEP_MS		(24 * 3600 * 1000LL)
#define CUTS_MAX	1024
#define KEY_LEN		(2 * (SWITCH_ID_MAX + 1) + 2 * 32 + 8)

static void add_end(struct json_object *o, const char *which,
		    const struct sw_info *info, uint32_t itf)
{
	char key[32];

	snprintf(key, sizeof(key), "%s-switch", which);
	json_object_object_add(o, key, json_object_new_string(info->id));
	snprintf(key, sizeof(key), "%s-interface", which);
	json_object_object_add(o, key,
			       json_object_new_string(itf == SEEN_OWN ? "" :
						      info->ifs[itf].name));
}

static const char *text_of(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key));
}

/* Remember that an interface has a link: a cable of it that is lost was moved. */
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

/* Note all links that there are now. */
static void note_links(struct json_object *known, struct json_object *ends,
		       const struct manager *m, int64_t now)
{
	const struct topo_link *link;
	struct json_object *o;
	char key[KEY_LEN];
	uint32_t i, n;

	link = topo_links(m, &n);
	for (i = 0; i < n; i++) {
		o = json_object_new_object();
		add_end(o, "from", m->switches[link[i].a].info, link[i].a_if);
		add_end(o, "to", m->switches[link[i].b].info, link[i].b_if);
		json_object_object_add(o, "seen", json_object_new_int64(now));
		mark_end(ends, o, "from-switch", "from-interface");
		mark_end(ends, o, "to-switch", "to-interface");
		snprintf(key, sizeof(key), "%s %s - %s %s",
			 text_of(o, "from-switch"),
			 text_of(o, "from-interface"),
			 text_of(o, "to-switch"), text_of(o, "to-interface"));
		json_object_object_add(known, key, o);
	}
}

static void put_label(FILE *f, struct json_object *link, const char *label,
		      const char *key)
{
	fprintf(f, "%s=\"", label);
	metrics_put_text(f, text_of(link, key));
	fputc('"', f);
}

/**
 * cuts_metrics() - write which links are there, for Prometheus
 * @known: links, as cuts_update() has left them
 * @now: what it was told
 * @f: where to
 */
void cuts_metrics(struct json_object *known, int64_t now, FILE *f)
{
	struct json_object_iter it;

	if (json_object_object_length(known))
		fputs("# HELP inc_am_link_up Whether a link between switches that was there is there.\n# TYPE inc_am_link_up gauge\n",
		      f);
	json_object_object_foreachC(known, it) {
		fputs("inc_am_link_up{", f);
		put_label(f, it.val, "switch", "from-switch");
		put_label(f, it.val, ",interface", "from-interface");
		put_label(f, it.val, ",peer_switch", "to-switch");
		put_label(f, it.val, ",peer_interface", "to-interface");
		fprintf(f, "} %d\n",
			json_object_get_int64(json_object_object_get(it.val,
								     "seen")) ==
			now);
	}
}

/* Has an end of it a switch that the manager does not have any more? */
static bool has_left(const struct manager *m, struct json_object *link,
		     const char *end)
{
	const char *id = text_of(link, end);
	const struct sw *sw;
	bool left = false;
	unsigned int i;

	for (i = 0; i < m->o.nswitches; i++) {
		sw = &m->switches[i];
		if (!sw->info || strcmp(sw->info->id, id))
			continue;
		if (!sw->gone)
			return false;
		left = true;
	}
	return left;
}

/**
 * cuts_update() - compare the fabric's links with those of before
 * @known: links by name, as left by the last call; empty at first
 * @m: manager
 * @now: milliseconds since 1970
 *
 * A link is forgotten a day after it was seen last, when one of its interfaces has
 * another one, when one of its switches is gone, and if more than CUTS_MAX are
 * missing.
 *
 * Return: array of the links that are missing, with both ends and "seen", when
 *	they were there last, in milliseconds since 1970.
 */
struct json_object *cuts_update(struct json_object *known,
				const struct manager *m, int64_t now)
{
	struct json_object *ends = json_object_new_object();
	struct json_object *cuts = json_object_new_array();
	struct json_object_iter it;
	int64_t seen;

	note_links(known, ends, m, now);
	json_object_object_foreachC(known, it) {
		seen = json_object_get_int64(json_object_object_get(it.val,
								    "seen"));
		if (seen == now)
			continue;
		if (now - seen > KEEP_MS ||
		    has_end(ends, it.val, "from-switch", "from-interface") ||
		    has_end(ends, it.val, "to-switch", "to-interface") ||
		    has_left(m, it.val, "from-switch") ||
		    has_left(m, it.val, "to-switch") ||
		    json_object_array_length(cuts) >= CUTS_MAX)
			json_object_object_del(known, it.key);
		else
			json_object_array_add(cuts, json_object_get(it.val));
	}
	json_object_put(ends);
	return cuts;
}
