// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See fat_tree.h. Without memory for it, the program ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fat_tree.h"

#define POD	(FAT_LEAVES + FAT_MIDS)
#define SPEED	100000000000ULL

/* Of addresses. */
enum { KIND_HOST = 1, KIND_SWITCH };

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static void mac_of(char *text, uint32_t kind, uint32_t n)
{
	snprintf(text, MAC_LEN, "02:%02x:00:%02x:%02x:%02x", kind,
		 n >> 16 & 0xff, n >> 8 & 0xff, n & 0xff);
}

static void addr_of(struct inc_rdv_addr *addr, uint32_t kind, uint32_t n)
{
	*addr = (struct inc_rdv_addr){ .len = 4, .bytes = {
		10, (uint8_t)(kind << 4 | n >> 16), (uint8_t)(n >> 8),
		(uint8_t)n } };
}

/**
 * fat_tree_addr() - get a host's address
 * @addr: result
 * @host: its number
 */
void fat_tree_addr(struct inc_rdv_addr *addr, uint32_t host)
{
	addr_of(addr, KIND_HOST, host);
}

/**
 * fat_tree_leaf() - get the switch that a host is at
 * @t: fabric
 * @host: its number
 *
 * Return: the switch's number.
 */
uint32_t fat_tree_leaf(const struct fat_tree *t, uint32_t host)
{
	uint32_t leaf = host / t->hosts;

	return leaf / FAT_LEAVES * POD + leaf % FAT_LEAVES;
}

static struct sw_if *add_if(struct sw_snapshot *info, uint32_t sw)
{
	struct sw_if *itf;

	if (!(info->nifs & (info->nifs - 1)))
		info->ifs = must(realloc(info->ifs, (info->nifs ?
						     2 * info->nifs : 1) *
						    sizeof(*info->ifs)));
	itf = &info->ifs[info->nifs];
	memset(itf, 0, sizeof(*itf));
	snprintf(itf->name, sizeof(itf->name), "p%u", info->nifs);
	mac_of(itf->mac, KIND_SWITCH, sw);
	itf->up = true;
	itf->speed = SPEED;
	itf->nneighs = 1;
	itf->neighs = must(calloc(1, sizeof(*itf->neighs)));
	info->nifs++;
	return itf;
}

/* Both announce themselves to each other. */
static void link_up(const struct fat_tree *t, uint32_t a, uint32_t b)
{
	struct sw_if *x = add_if(t->infos[a], a);
	struct sw_if *y = add_if(t->infos[b], b);

	mac_of(x->neighs->mac, KIND_SWITCH, b);
	mac_of(y->neighs->mac, KIND_SWITCH, a);
	strcpy(x->neighs->switch_id, t->infos[b]->id);
	strcpy(y->neighs->switch_id, t->infos[a]->id);
	strcpy(x->neighs->switch_port, y->name);
	strcpy(y->neighs->switch_port, x->name);
}

static void host_up(const struct fat_tree *t, uint32_t host)
{
	uint32_t leaf = fat_tree_leaf(t, host);
	struct sw_if *itf = add_if(t->infos[leaf], leaf);

	mac_of(itf->neighs->mac, KIND_HOST, host);
	itf->neighs->addrs = must(calloc(1, sizeof(*itf->neighs->addrs)));
	itf->neighs->naddrs = 1;
	fat_tree_addr(itf->neighs->addrs, host);
}

/* Its own address is that of its first interface. */
static void add_addr(struct sw_snapshot *info, uint32_t sw)
{
	info->ifs->addrs = must(calloc(1, sizeof(*info->ifs->addrs)));
	info->ifs->naddrs = 1;
	addr_of(info->ifs->addrs, KIND_SWITCH, sw);
}

static void cable(const struct fat_tree *t)
{
	uint32_t each = FAT_CORES / FAT_MIDS, p, i, k;

	for (p = 0; p < t->pods; p++) {
		for (i = 0; i < FAT_LEAVES * FAT_MIDS; i++)
			link_up(t, p * POD + i / FAT_MIDS,
				p * POD + FAT_LEAVES + i % FAT_MIDS);
		for (i = 0; i < FAT_MIDS; i++)
			for (k = 0; k < each; k++)
				link_up(t, p * POD + FAT_LEAVES + i,
					t->pods * POD + i * each + k);
	}
	for (i = 0; i < t->pods * FAT_LEAVES * t->hosts; i++)
		host_up(t, i);
}

/**
 * fat_tree_make() - make a fabric up
 * @t: result
 * @pods: number of pods, from 1
 * @hosts: hosts at each leaf, from 1
 */
void fat_tree_make(struct fat_tree *t, uint32_t pods, uint32_t hosts)
{
	uint32_t i;

	*t = (struct fat_tree){ .pods = pods, .hosts = hosts,
				.n = pods * POD + FAT_CORES };
	t->infos = must(calloc(t->n, sizeof(*t->infos)));
	for (i = 0; i < t->n; i++) {
		t->infos[i] = must(calloc(1, sizeof(**t->infos)));
		t->infos[i]->collectives = 1;
		snprintf(t->infos[i]->id, sizeof(t->infos[i]->id), "s%u", i);
	}
	cable(t);
	for (i = 0; i < t->n; i++) {
		add_addr(t->infos[i], i);
		if (!sw_ifs_order(t->infos[i]))
			abort();
	}
}

/**
 * fat_tree_free() - free a fabric
 * @t: fabric
 */
void fat_tree_free(struct fat_tree *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		sw_snapshot_free(t->infos[i]);
	free(t->infos);
}
