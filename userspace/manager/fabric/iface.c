// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The interfaces of a switch, by name and by ifindex. There may be 60,000, and
 * each may refer to another one.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/switch.h"
#include "rendezvous/network.h"

/* Free a switch's interfaces. */
void sw_ifs_free(struct sw_snapshot *info)
{
	unsigned int i, k;

	for (i = 0; i < info->nifs; i++) {
		for (k = 0; k < info->ifs[i].nneighs; k++)
			free(info->ifs[i].neighs[k].addrs);
		free(info->ifs[i].neighs);
		free(info->ifs[i].addrs);
	}
	free(info->ifs);
	free(info->by_name);
	free(info->by_index);
	info->ifs = NULL;
	info->by_name = NULL;
	info->by_index = NULL;
	info->nifs = 0;
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct sw_if *ifs = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int diff = strcmp(ifs[x].name, ifs[y].name);

	return diff ? diff : x < y ? -1 : 1;
}

static int by_index(const void *a, const void *b, void *ctx)
{
	const struct sw_if *ifs = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (ifs[x].index != ifs[y].index)
		return ifs[x].index < ifs[y].index ? -1 : 1;
	return x < y ? -1 : 1;
}

/*
 * Sort interfaces for lookups. Returns false: no memory.
 * @info: answer of an agent, with all interfaces
 */
bool sw_ifs_order(struct sw_snapshot *info)
{
	uint32_t i;

	free(info->by_name);
	free(info->by_index);
	info->by_name = calloc(info->nifs + 1, sizeof(*info->by_name));
	info->by_index = calloc(info->nifs + 1, sizeof(*info->by_index));
	if (!info->by_name || !info->by_index)
		return false;
	for (i = 0; i < info->nifs; i++)
		info->by_name[i] = info->by_index[i] = i;
	qsort_r(info->by_name, info->nifs, sizeof(*info->by_name), by_name,
		info->ifs);
	qsort_r(info->by_index, info->nifs, sizeof(*info->by_index), by_index,
		info->ifs);
	return true;
}

/*
 * Link the members of aggregations.
 * @info: answer of an agent, with @member and @upper of its interfaces
 */
void sw_ifs_chain(struct sw_snapshot *info)
{
	struct sw_if *itf, *end = info->ifs + info->nifs;

	for (itf = info->ifs; itf < end; itf++)
		itf->members = 0;
	for (itf = info->ifs; itf < end; itf++) {
		if (!itf->member)
			continue;
		itf->next_member = info->ifs[itf->upper].members;
		info->ifs[itf->upper].members =
			(unsigned int)(itf - info->ifs) + 1;
	}
}

/* Compare an interface with a name, or if @name is NULL, with an ifindex. */
static int place_of(const struct sw_if *itf, const char *name, uint32_t index)
{
	if (name)
		return strcmp(itf->name, name);
	return itf->index < index ? -1 : itf->index > index;
}

static struct sw_if *search_ifs(const struct sw_snapshot *info,
				const uint32_t *order, const char *name,
				uint32_t index)
{
	uint32_t low = 0, high = info->nifs, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (place_of(&info->ifs[order[mid]], name, index) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == info->nifs || place_of(&info->ifs[order[low]], name, index))
		return NULL;
	return &info->ifs[order[low]];
}

/*
 * Find an interface by its name. Returns the first with this name, or NULL.
 */
struct sw_if *sw_if_named(const struct sw_snapshot *info, const char *name)
{
	return search_ifs(info, info->by_name, name, 0);
}

/*
 * Find an interface in a newer answer. Returns the interface, or NULL.
 * @index: its ifindex; 0: it has none
 * @name: its name, used if it has no ifindex
 */
struct sw_if *sw_if_again(const struct sw_snapshot *info, uint32_t index,
			  const char *name)
{
	return index ? search_ifs(info, info->by_index, NULL, index) :
		       sw_if_named(info, name);
}

/* Free an agent's answer. */
void sw_snapshot_free(struct sw_snapshot *info)
{
	if (!info)
		return;
	sw_ifs_free(info);
	free(info->trees);
	free(info);
}

static bool has_neighbour(const struct sw_if *itf, const struct inc_rdv_addr *host)
{
	unsigned int i, k;

	for (i = 0; i < itf->nneighs; i++)
		for (k = 0; k < itf->neighs[i].naddrs; k++)
			if (inc_rdv_addr_same(&itf->neighs[i].addrs[k], host))
				return true;
	return false;
}

/*
 * Find a switch's interface in the VLAN of a host: one that sees it, or else any. Returns
 * its ifindex; 0: there is none, or the host is in no VLAN.
 */
uint32_t sw_if_vlan(const struct sw_snapshot *info,
		    const struct inc_rdv_addr *host)
{
	const struct sw_if *itf;
	uint32_t found = 0;

	if (!host->vlan || !info)
		return 0;
	for (itf = info->ifs; itf < info->ifs + info->nifs; itf++) {
		if (itf->vlan != host->vlan)
			continue;
		if (has_neighbour(itf, host))
			return itf->index;
		if (!found)
			found = itf->index;
	}
	return found;
}
