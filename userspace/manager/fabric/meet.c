// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Links of interfaces that are not ports of a bridge. No multicast of an agent
 * shows such links: the kernel learns a neighbour only when both have communicated,
 * and forgets it when the link goes down. So agents probe there for the other
 * switches' addresses, except for those in other networks. An address is likely to
 * be at the other end if there is no address between it and the interface's own.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/row.h"

#define GAP_MS		1000	/* between the first attempts; doubles then */
#define GAP_MAX_MS	60000	/* there may be no switch at the other end */
#define ASKED_MAX	64	/* addresses that an agent takes at a time */

/**
 * struct end - an address of a routed interface
 * @addr: address
 * @sw: its switch
 * @lonely: no switch is seen at the interface
 */
struct end {
	const struct inc_rdv_addr	*addr;
	uint32_t			sw;
	bool				lonely;
};

/**
 * struct ends - addresses of all routed interfaces
 * @list: addresses; sorted when agents are asked
 * @n: number of addresses
 * @sum: fingerprint of interfaces where no switch is seen; 0: none
 */
struct ends {
	struct end	*list;
	uint32_t	n;
	uint64_t	sum;
};

static bool is_routed(const struct sw_if *itf)
{
	return itf->up && !itf->bridge && !itf->port && !itf->member;
}

/* Link-local addresses do not tell who is at the other end of a link. */
static bool has_network(const struct sw_if *itf)
{
	unsigned int i;

	for (i = 0; i < itf->naddrs; i++)
		if (!inc_rdv_addr_is_link_local(&itf->addrs[i]))
			return true;
	return false;
}

static int by_addr(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	if (x->addr->len != y->addr->len)
		return x->addr->len < y->addr->len ? -1 : 1;
	return memcmp(x->addr->bytes, y->addr->bytes, x->addr->len);
}

static bool add_ends(struct ends *e, const struct topo *t, uint32_t sw)
{
	const struct sw_snapshot *info = t->fab->switches[sw].info;
	const struct row *row = &t->rows[sw];
	const struct sw_if *itf;
	bool lonely;
	uint32_t i, k;
	void *p;

	for (i = 0; i < info->nifs && row->leads && i < row->nifs; i++) {
		itf = &info->ifs[i];
		if (!is_routed(itf) || !has_network(itf))
			continue;
		lonely = !row->leads[i];
		if (lonely)
			e->sum += index_hash(sw, &itf->index, sizeof(itf->index)) | 1;
		p = realloc(e->list, (e->n + itf->naddrs) * sizeof(*e->list));
		if (!p)
			return false;
		e->list = p;
		for (k = 0; k < itf->naddrs; k++)
			if (!inc_rdv_addr_is_link_local(&itf->addrs[k]))
				e->list[e->n++] = (struct end){
					&itf->addrs[k], sw, lonely };
	}
	return true;
}

static bool find_ends(struct ends *e, struct topo *t)
{
	const struct sw *sw;
	uint32_t i;

	graph_rows(t);
	for (i = 0; i < t->n; i++) {
		sw = &t->fab->switches[i];
		if (sw->up && !sw->gone && sw->info && !add_ends(e, t, i))
			return false;
	}
	return true;
}

/* Find the nearest address of another switch, before or after @at; NULL: none. */
static const struct inc_rdv_addr *find_next(const struct ends *e, uint32_t at,
					    uint32_t step)
{
	uint32_t i;

	for (i = at + step; i < e->n; i += step)
		if (e->list[i].sw != e->list[at].sw)
			return e->list[i].addr;
	return NULL;
}

/**
 * struct asked - addresses that a switch's agent is asked for
 * @addrs: addresses
 * @n: number of addresses
 */
struct asked {
	const struct inc_rdv_addr	*addrs[ASKED_MAX];
	unsigned int			n;
};

static void ask_for(struct sw *sw, struct asked *asked,
		    const struct inc_rdv_addr *addr)
{
	if (addr)
		asked->addrs[asked->n++] = addr;
	if (!asked->n || (addr && asked->n < ASKED_MAX))
		return;
	sw_probe(sw, asked->addrs, asked->n);
	asked->n = 0;
}

static void ask_all(const struct topo *t, struct ends *e)
{
	struct asked *asked = calloc(t->n, sizeof(*asked));
	const struct inc_rdv_addr *addr[2];
	uint32_t i, k, sw;

	qsort(e->list, e->n, sizeof(*e->list), by_addr);
	for (i = 0; asked && i < e->n; i++) {
		sw = e->list[i].sw;
		addr[0] = find_next(e, i, UINT32_MAX);
		addr[1] = find_next(e, i, 1);
		for (k = 0; k < 2; k++)
			if (e->list[i].lonely && addr[k])
				ask_for(&t->fab->switches[sw], &asked[sw],
					addr[k]);
	}
	for (i = 0; asked && i < t->n; i++)
		ask_for(&t->fab->switches[i], &asked[i], NULL);
	free(asked);
}

static void set_next(struct meet *meet, int64_t now, bool others)
{
	if (others || !meet->gap)
		meet->gap = GAP_MS;
	else
		meet->gap = meet->gap > GAP_MAX_MS / 2 ? GAP_MAX_MS :
							 2 * meet->gap;
	meet->due = now + meet->gap;
	meet->at = meet->due;
	/* Even if something changes. */
	meet->not_before = now + GAP_MS;
}

/*
 * Get the time when meet_turn() must be called. Returns milliseconds;
 * INT64_MAX: never.
 */
int64_t meet_deadline(const struct fabric *fab)
{
	return fab->topo->meet.at;
}

static void look_for_ends(struct topo *t, int64_t now)
{
	struct meet *meet = &t->meet;
	struct ends e = { .n = 0 };
	bool others;

	meet->at = INT64_MAX;
	if (!find_ends(&e, t))
		e.sum = 0;
	others = e.sum != meet->sum;
	if (e.sum && others && now < meet->not_before) {
		meet->at = meet->not_before;
	} else if (e.sum && (others || now >= meet->due)) {
		ask_all(t, &e);
		set_next(meet, now, others);
		meet->sum = e.sum;
	} else if (e.sum) {
		meet->at = meet->due;
	} else {
		meet->sum = 0;
	}
	free(e.list);
}

/* Have agents ask for each other, if it is time. */
void meet_turn(struct fabric *fab, bool changed)
{
	if (changed || fab->topo->meet.at <= fab->loop->now)
		look_for_ends(fab->topo, fab->loop->now);
}
