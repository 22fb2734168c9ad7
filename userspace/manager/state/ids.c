// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * IDs of trees. A manager deletes trees with its IDs that belong to no group:
 * an earlier manager has left them. Another manager may have the same switches
 * and another store, and its trees must stay: so each new store draws a share
 * of the IDs. Without a store, the share depends on the host and the address.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "manager.h"

#define KEY		"tree-ids"
/* The upper half of the managers' IDs; inc-tool counts from 1. */
#define FIRST		(1U << 30)
#define SHARES		4096U
#define SHARE_IDS	((1U << 30) / SHARES)

static void use_range(struct manager *m, uint32_t first, uint32_t last)
{
	m->fabric.ids.first = first;
	m->fabric.ids.last = last;
	/* Recent IDs are not reused: late reports could be confused. */
	m->fabric.ids.next = first + (uint32_t)time(NULL) % (last - first + 1);
}

static void use_share(struct manager *m, uint32_t share)
{
	uint32_t first = FIRST + share % SHARES * SHARE_IDS;

	use_range(m, first, first + SHARE_IDS - 1);
	log_debug("trees have IDs %u-%u", m->fabric.ids.first, m->fabric.ids.last);
}

/*
 * Skip the ID of an earlier tree, and all IDs before it: a switch's report on
 * its end may come late, and must not be taken for a new tree's.
 * @m: manager, which has taken over that tree, or deletes it
 */
void ids_used(struct manager *m, uint32_t id)
{
	if (id >= m->fabric.ids.next && id <= m->fabric.ids.last)
		m->fabric.ids.next = id == m->fabric.ids.last ? m->fabric.ids.first : id + 1;
}

static uint32_t mix_hash(uint32_t hash, const char *text)
{
	do
		hash = (hash ^ (uint8_t)*text) * 16777619U;	/* FNV-1a */
	while (*text++);
	return hash;
}

static uint32_t share_of_host(const struct manager *m)
{
	char id[64] = "", host[256] = "";
	FILE *f = fopen("/etc/machine-id", "re");
	uint32_t hash;

	if (f) {
		(void)!fgets(id, sizeof(id), f);
		fclose(f);
	}
	gethostname(host, sizeof(host) - 1);
	hash = mix_hash(mix_hash(mix_hash(2166136261U, id), host),
			m->o.advertise);
	return hash ^ hash >> 16;
}

/*
 * Choose the IDs of trees, unless the store has the share: then ids_restore()
 * does.
 */
void ids_start(struct manager *m)
{
	if (m->o.first_tree)
		use_range(m, m->o.first_tree, m->o.last_tree);
	else if (!strcmp(m->o.store, "none"))
		use_share(m, share_of_host(m));
}

static void draw_share(struct manager *m)
{
	struct json_object *o = json_object_new_object();
	uint32_t share = (uint32_t)time(NULL);

	(void)!getrandom(&share, sizeof(share), GRND_NONBLOCK);
	share %= SHARES;
	use_share(m, share);
	json_object_object_add(o, "share", json_object_new_int((int)share));
	state_put(m, KEY, o);
}

/* Returns -1 if the record has no valid share. */
static int64_t share_of(struct manager *m, const struct store_record *rec)
{
	struct json_object *o = state_get(m, rec, json_type_object), *share;
	int64_t value = -1;

	if (!o)
		return -1;
	share = json_object_object_get(o, "share");
	if (json_object_is_type(share, json_type_int))
		value = json_object_get_int64(share);
	if (value < 0 || value >= SHARES) {
		event_log(&m->events, EVENT_STORE_FAILED, KEY,
			  "the record " KEY " has no share from 0 to %u, and is left out",
			  SHARES - 1);
		value = -1;
	}
	json_object_put(o);
	return value;
}

/* Use the store's share of the IDs, or draw one. */
void ids_restore(struct manager *m, const struct store_record *list)
{
	int64_t share;

	if (m->o.first_tree)
		return;
	while (list && strcmp(list->key, KEY))
		list = list->next;
	share = list ? share_of(m, list) : -1;
	if (share >= 0)
		use_share(m, (uint32_t)share);
	else
		draw_share(m);
}
