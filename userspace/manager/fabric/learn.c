// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Changes of the agents' answers. When a switch reports something new, its old
 * data in the tables (fdb.c) are replaced, and its row, which has the switches
 * that it sees, is computed again. Links follow from the rows (links.c), and
 * are computed again only if a row or an interface of a switch has changed.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/row.h"

/* --- Changes ------------------------------------------------------------- */

static uint64_t mix_addrs(uint64_t h, const struct inc_rdv_addr *addrs,
			  unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		h = index_hash(index_hash(h, &addrs[i].len,
					  sizeof(addrs[i].len)),
			       addrs[i].bytes, addrs[i].len);
	return index_hash(h, &n, sizeof(n));
}

static uint64_t print_neighbours(const struct sw_snapshot *info)
{
	const struct sw_neigh *neigh;
	unsigned int i, k;
	uint64_t h = 1;

	for (i = 0; i < info->nifs; i++)
		for (k = 0; k < info->ifs[i].nneighs; k++) {
			neigh = &info->ifs[i].neighs[k];
			h = index_hash(h, &i, sizeof(i));
			h = index_hash_text(h, neigh->mac);
			h = index_hash_text(h, neigh->switch_id);
			h = index_hash_text(h, neigh->switch_port);
			h = mix_addrs(h, neigh->addrs, neigh->naddrs);
		}
	return h;
}

static uint64_t print_self(const struct sw_snapshot *info)
{
	const struct sw_if *itf;
	uint64_t h = index_hash_text(1, info->id);
	unsigned int i;

	for (i = 0; i < info->nifs; i++) {
		itf = &info->ifs[i];
		h = index_hash_text(index_hash_text(h, itf->name), itf->mac);
		h = index_hash(h, &itf->up, sizeof(itf->up));
		h = index_hash(h, &itf->blocked, sizeof(itf->blocked));
		h = index_hash(h, &itf->port, sizeof(itf->port));
		h = index_hash(h, &itf->bridge, sizeof(itf->bridge));
		h = index_hash(h, &itf->member, sizeof(itf->member));
		h = index_hash(h, &itf->upper, sizeof(itf->upper));
		h = index_hash(h, &itf->vlan, sizeof(itf->vlan));
		h = index_hash(h, &itf->tagged, sizeof(itf->tagged));
		h = index_hash(h, &itf->speed, sizeof(itf->speed));
		h = index_hash(h, &itf->mtu, sizeof(itf->mtu));
		h = mix_addrs(h, itf->addrs, itf->naddrs);
	}
	return h;
}

/* Process a switch's answer, which usually has not changed. */
void topo_changed(struct topo *t, struct sw *sw)
{
	struct row *row = &t->rows[sw->index];
	uint64_t self, neighbours;

	if (row->has_data && sw->info->same_ifs)
		return;
	self = print_self(sw->info);
	neighbours = print_neighbours(sw->info);
	if (row->has_data && row->self == self && row->neighbours == neighbours)
		return;
	if (!row->has_data || row->self != self) {
		t->links_old = true;
		t->rows_old = true;
	}
	row->has_data = true;
	row->stale = true;
	row->self = self;
	row->neighbours = neighbours;
	t->generation++;
	hosts_changed(t->hosts, t->fab->loop->now);
	fdb_forget(&t->fdb, sw->index);
	if (!fdb_learn(&t->fdb, sw->index, sw->info)) {
		log_info("switch %s: no memory for what it sees", sw_name(sw));
		row->has_data = false;
	}
}

/*
 * Get the generation of the topology. Returns a number that grows with every
 * change.
 */
uint64_t topo_generation(const struct fabric *fab)
{
	return fab->topo->generation;
}

/* --- All ----------------------------------------------------------------- */

/* "SWITCH:INTERFACE" */
static bool parse_end(const char *text, size_t len, char *sw, size_t sw_room,
		      char *itf, size_t itf_room)
{
	const char *colon = memrchr(text, ':', len);
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (!n || n >= sw_room || n + 1 == len || len - n - 1 >= itf_room)
		return false;
	memcpy(sw, text, n);
	sw[n] = '\0';
	memcpy(itf, colon + 1, len - n - 1);
	itf[len - n - 1] = '\0';
	return true;
}

/* Parse a configured link. */
int topo_cable_parse(struct topo_cable *c, const char *text)
{
	const char *equals = strchr(text, '=');

	return equals && !strchr(equals + 1, '=') &&
	       parse_end(text, (size_t)(equals - text), c->sw[0],
			 sizeof(c->sw[0]), c->itf[0], sizeof(c->itf[0])) &&
	       parse_end(equals + 1, strlen(equals + 1), c->sw[1],
			 sizeof(c->sw[1]), c->itf[1], sizeof(c->itf[1])) &&
	       strcmp(c->sw[0], c->sw[1]) ? 0 : -1;
}

/* Create an empty topology. Returns the topology, or NULL: no memory. */
struct topo *topo_new(struct fabric *fab)
{
	struct topo *t = calloc(1, sizeof(*t));
	uint32_t n = fab->most > fab->n ? fab->most : fab->n;

	if (!t)
		return NULL;
	t->fab = fab;
	t->n = fab->n;
	t->generation = 1;
	t->links_old = true;
	t->rows = calloc(n, sizeof(*t->rows));
	t->by_id = calloc(n, sizeof(*t->by_id));
	t->hosts = hosts_new();
	if (t->rows && t->by_id && t->hosts && fdb_init(&t->fdb, n))
		return t;
	topo_free(t);
	return NULL;
}

/*
 * Adapt to switches, or links, that were added or removed.
 * @t: topology, with room for the manager's switches
 */
void topo_grow(struct topo *t)
{
	t->n = t->fab->n;
	t->generation++;
	t->links_old = true;
	t->rows_old = true;
	graph_free(t);
	hosts_changed(t->hosts, t->fab->loop->now);
}

/* Forget a switch's data. */
void topo_leave(struct topo *t, const struct sw *sw)
{
	fdb_forget(&t->fdb, sw->index);
	row_free(&t->rows[sw->index]);
	t->rows[sw->index].has_data = false;
	topo_grow(t);
}

/* Free a topology. */
void topo_free(struct topo *t)
{
	uint32_t i;

	if (!t)
		return;
	if (t->fdb.neighs)
		fdb_free(&t->fdb, t->n);
	for (i = 0; t->rows && i < t->n; i++)
		row_free(&t->rows[i]);
	hosts_free(t->hosts);
	free(t->rows);
	free(t->by_id);
	free(t->links);
	graph_free(t);
	free(t);
}
