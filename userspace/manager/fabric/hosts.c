// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Events of hosts: seen for the first time, moved, or claimed by several
 * switches. A moment after any change, all hosts are looked up, and compared
 * with their last places.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/row.h"
#include "rendezvous/network.h"

#define HOSTS_MAX	65536U
#define SETTLE_MS	200	/* several agents report one change */
#define GAP_MS		500	/* looking up 30,000 hosts takes 8 ms */
/* Anyone can invent hosts, and there is room for few events. */
#define TOLD_MAX	64	/* events at a time */
#define TOLD_MS		1000	/* until one more event is allowed */
#define SUM_MS		10000	/* between events with the number of others */

/**
 * struct host - last place of a host
 * @node: node of the index
 * @next: next host in the list
 * @addr: its address
 * @sw: its switch, or NULL: not known yet
 * @itf: interface there
 * @found_at: milliseconds; when it was seen there first
 * @rival: another switch that claims to have it, or NULL
 * @owner: a switch that has its address itself, or NULL
 * @owned_turn: last turn in which @owner had the address
 * @seen_turn: last turn in which the host was seen
 */
struct host {
	struct index_node	node;
	struct host		*next;
	struct inc_rdv_addr	addr;
	const struct sw		*sw;
	char			itf[32];
	int64_t			found_at;
	const struct sw		*rival;
	const struct sw		*owner;
	uint64_t		owned_turn;
	uint64_t		seen_turn;
};

/**
 * struct hosts - all hosts
 * @index: hosts, by address
 * @list: all hosts
 * @turns: how often hosts were looked up
 * @update_at: milliseconds; when to look them up again
 * @not_before: milliseconds; lower bound of @update_at
 * @fab: fabric
 * @credit: number of events that may be logged
 * @credited_at: milliseconds; when @credit grew last
 * @unlogged: changes without an event of their own
 * @sum_at: milliseconds; earliest time of an event with their number
 */
struct hosts {
	struct index	index;
	struct host	*list;
	uint64_t	turns;
	int64_t		update_at;
	int64_t		not_before;
	struct fabric	*fab;
	uint32_t	credit;
	int64_t		credited_at;
	uint32_t	unlogged;
	int64_t		sum_at;
};

static struct host *find_host(const struct hosts *h,
			      const struct inc_rdv_addr *addr, uint64_t hash)
{
	struct index_node *node;
	struct host *host;

	for (node = index_first(&h->index, hash); node;
	     node = index_next(node)) {
		host = container_of(node, struct host, node);
		if (host->addr.vlan == addr->vlan &&
		    inc_rdv_addr_same(&host->addr, addr))
			return host;
	}
	return NULL;
}

/* Make room: forget hosts that no switch sees. */
static void forget_gone(struct hosts *h)
{
	struct host **link = &h->list, *host;

	while ((host = *link)) {
		if (host->seen_turn + 1 >= h->turns) {
			link = &host->next;
			continue;
		}
		*link = host->next;
		index_remove(&host->node);
		free(host);
	}
}

static struct host *add_host(struct hosts *h, const struct inc_rdv_addr *addr,
			     uint64_t hash)
{
	struct host *host = h->index.n < HOSTS_MAX ? calloc(1, sizeof(*host)) :
						     NULL;

	if (!host)
		return NULL;
	host->addr = *addr;
	host->next = h->list;
	h->list = host;
	index_add(&h->index, &host->node, hash);
	return host;
}

/* May an event be logged for a host? If not, the host counts as @unlogged. */
static bool take_credit(struct hosts *h)
{
	if (!h->credit) {
		h->unlogged++;
		return false;
	}
	h->credit--;
	return true;
}

static void grant_credit(struct hosts *h, int64_t now)
{
	int64_t more = (now - h->credited_at) / TOLD_MS;

	h->credited_at += more * TOLD_MS;
	h->credit = more < TOLD_MAX - h->credit ? h->credit + (uint32_t)more :
						  TOLD_MAX;
}

/* Report a rival once: a moved host may still be seen in its old place, too. */
static void look_for_rival(struct hosts *h, struct host *host, const char *text,
			   const struct sw *sw, const struct sw_if *itf)
{
	const struct sw *other;
	const struct sw *rival = topo_rival(h->fab, &host->addr, &other);

	if (rival && rival != host->rival && take_credit(h)) {
		if (sw)
			event_log(h->fab->events, EVENT_HOST_CLAIMED, text,
				  "it is at %s %s, and %s claims to have it, too",
				  sw_name(sw), itf->name, sw_name(rival));
		else
			event_log(h->fab->events, EVENT_HOST_CLAIMED, text,
				  "%s and %s claim to have it, and it is not known which is right",
				  sw_name(other), sw_name(rival));
	}
	host->rival = rival;
}

static void look_for_move(struct hosts *h, struct host *host, const char *text,
			  const struct sw *sw, const struct sw_if *itf)
{
	if (host->sw == sw && !strcmp(host->itf, itf->name))
		return;
	/* A switch without earlier answers may have had the host all along. */
	if (!host->sw || sw->refresh.known_at > host->found_at) {
		if (take_credit(h))
			event_log(h->fab->events, EVENT_HOST_SEEN, text,
				  "at %s %s", sw_name(sw), itf->name);
	} else {
		if (take_credit(h))
			event_log(h->fab->events, EVENT_HOST_MOVED, text,
				  "from %s %s to %s %s", sw_name(host->sw),
				  host->itf, sw_name(sw), itf->name);
	}
	host->sw = sw;
	host->found_at = h->fab->loop->now;
	memcpy(host->itf, itf->name, sizeof(host->itf));
}

static void look_at(void *ctx, const struct inc_rdv_addr *addr,
		    const struct sw *sw, const struct sw_if *itf)
{
	struct hosts *h = ctx;
	uint64_t hash = index_hash(0, addr->bytes, addr->len);
	struct host *host = find_host(h, addr, hash);
	char text[64];

	inc_rdv_addr_str(addr, text, sizeof(text));
	if (!host)
		host = add_host(h, addr, hash);
	if (!host)
		return;
	if (sw)
		look_for_move(h, host, text, sw, itf);
	look_for_rival(h, host, text, sw, itf);
	host->seen_turn = h->turns;
}

/* Report one switch at a time: two could alternate. */
static void look_at_own(struct hosts *h, const struct sw *sw,
			const struct inc_rdv_addr *addr)
{
	const struct sw_if *itf;
	const struct sw *at = topo_find(h->fab, addr, &itf);
	struct host *host = !at || !itf ? NULL :
		find_host(h, addr, index_hash(0, addr->bytes, addr->len));
	char text[64];

	if (!host || (host->owner && host->owner != sw &&
		      host->owned_turn + 1 >= h->turns))
		return;
	if (host->owner != sw || host->owned_turn + 1 < h->turns) {
		if (!take_credit(h))
			return;
		event_log(h->fab->events, EVENT_HOST_CLAIMED,
			  inc_rdv_addr_str(addr, text, sizeof(text)),
			  "it is at %s %s, and %s claims to have the address itself",
			  sw_name(at), itf->name, sw_name(sw));
	}
	host->owner = sw;
	host->owned_turn = h->turns;
}

/* Look for switches that have a host's address themselves. */
static void look_at_owns(struct hosts *h)
{
	const struct sw_snapshot *info;
	unsigned int i, k, n;

	for (i = 0; i < h->fab->n; i++) {
		info = h->fab->switches[i].gone ? NULL : h->fab->switches[i].info;
		for (k = 0; info && k < info->nifs; k++)
			for (n = 0; n < info->ifs[k].naddrs; n++)
				look_at_own(h, &h->fab->switches[i],
					    &info->ifs[k].addrs[n]);
	}
}

/* Schedule a look at all hosts, after a change. */
void hosts_changed(struct hosts *h, int64_t now)
{
	int64_t at = now + SETTLE_MS > h->not_before ? now + SETTLE_MS :
						       h->not_before;

	if (at < h->update_at)
		h->update_at = at;
}

/*
 * Get the time when hosts_turn() must be called. Returns milliseconds;
 * INT64_MAX: never.
 */
int64_t hosts_deadline(const struct fabric *fab)
{
	return fab->topo->hosts->update_at;
}

/* Check that all switches have answered or missed once. Returns true if so. */
bool hosts_all_asked(const struct fabric *fab)
{
	unsigned int i;

	for (i = 0; i < fab->n; i++)
		if (!fab->switches[i].gone && !fab->switches[i].info &&
		    !fab->switches[i].refresh.missed)
			return false;
	return true;
}

/*
 * Look up all hosts, if it is time. Returns true if it was: something has
 * changed.
 */
bool hosts_turn(struct fabric *fab)
{
	struct hosts *h = fab->topo->hosts;

	if (h->update_at > fab->loop->now)
		return false;
	h->not_before = fab->loop->now + GAP_MS;
	/* A switch without an answer yet may be nearer to a host. */
	h->update_at = hosts_all_asked(fab) ? INT64_MAX : h->not_before;
	if (h->update_at != INT64_MAX)
		return false;
	h->fab = fab;
	grant_credit(h, fab->loop->now);
	h->turns++;
	if (h->index.n >= HOSTS_MAX)
		forget_gone(h);
	topo_hosts(fab, look_at, h);
	look_at_owns(h);
	if (h->unlogged && h->sum_at <= fab->loop->now) {
		event_log(fab->events, EVENT_HOST_SEEN, "",
			  "%u more that are new, or have moved", h->unlogged);
		h->unlogged = 0;
		h->sum_at = fab->loop->now + SUM_MS;
	}
	if (h->unlogged)
		h->update_at = h->sum_at;
	return true;
}

/* Begin without hosts. Returns hosts, or NULL: no memory. */
struct hosts *hosts_new(void)
{
	struct hosts *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->update_at = INT64_MAX;
	/* grant_credit() may give none if the machine has just booted. */
	h->credit = TOLD_MAX;
	return h;
}

/* Free all hosts. */
void hosts_free(struct hosts *h)
{
	struct host *host, *next;

	if (!h)
		return;
	for (host = h->list; host; host = next) {
		next = host->next;
		free(host);
	}
	index_free(&h->index);
	free(h);
}
