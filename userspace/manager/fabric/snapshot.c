// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * An agent's report on its switch. Interfaces, with the hosts behind them, are
 * most of it, and are only read if they have changed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/expiry.h"
#include "conf/text.h"
#include "fabric/netconf.h"
#include "fabric/switch.h"
#include "fabric/yang.h"

static const char filter[] =
	"<switch xmlns=\"urn:rdma-inc:switch\">"
	"<identity><id/><certificate-expires/></identity>"
	"<rdma-cm/><limits/><state><collectives/><memory-used/><leaving/>"
	"</state><interfaces-version/><tree><id/><state><error/></state></tree>"
	"</switch>";
static const char ifs_filter[] =
	"<switch xmlns=\"urn:rdma-inc:switch\">"
	"<interfaces-version/><interface/></switch>";

static void copy_text(char *to, size_t len, const char *from)
{
	snprintf(to, len, "%s", from ? from : "");
	text_clean(to);
}

/* Allocate an array for the children of this name; the count is set later. */
static void *room_for(const struct lyd_node *node, const char *name,
		      size_t size)
{
	return calloc(yang_count(node, name) + 1, size);
}

static void take_addrs(const struct lyd_node *node, uint16_t vlan,
		       struct inc_rdv_addr **addrs, unsigned int *n)
{
	const struct lyd_node *child;

	*addrs = room_for(node, "address", sizeof(**addrs));
	if (!*addrs)
		return;
	LY_LIST_FOR(lyd_child(node), child)
		if (!strcmp(LYD_NAME(child), "address") &&
		    !inc_rdv_addr_parse(lyd_get_value(child), *addrs + *n))
			(*addrs)[(*n)++].vlan = vlan;
}

static void take_interface(const struct lyd_node *node, struct sw_if *itf)
{
	const char *up = yang_text(node, "oper-up");
	const char *stp = yang_text(node, "stp-state");
	const struct lyd_node *child;
	struct sw_neigh *neigh;

	copy_text(itf->name, sizeof(itf->name), yang_text(node, "name"));
	copy_text(itf->mac, sizeof(itf->mac), yang_text(node, "phys-address"));
	itf->up = !up || !strcmp(up, "true");
	itf->blocked = stp && strcmp(stp, "forwarding");
	itf->port = yang_text(node, "bridge");
	itf->index = (uint32_t)yang_number(node, "if-index");
	itf->vlan = (uint16_t)yang_number(node, "vlan-id");
	itf->speed = yang_number(node, "speed");
	itf->mtu = (uint32_t)yang_number(node, "mtu");
	take_addrs(node, itf->vlan, &itf->addrs, &itf->naddrs);
	itf->neighs = room_for(node, "neighbour", sizeof(*itf->neighs));
	if (!itf->neighs)
		return;
	LY_LIST_FOR(lyd_child(node), child) {
		if (strcmp(LYD_NAME(child), "neighbour"))
			continue;
		neigh = &itf->neighs[itf->nneighs++];
		copy_text(neigh->mac, sizeof(neigh->mac),
			  yang_text(child, "phys-address"));
		copy_text(neigh->switch_id, sizeof(neigh->switch_id),
			  yang_text(child, "switch-id"));
		copy_text(neigh->switch_port, sizeof(neigh->switch_port),
			  yang_text(child, "switch-port"));
		take_addrs(child, itf->vlan, &neigh->addrs, &neigh->naddrs);
	}
}

/* Find the interface that another one's leaf names; NULL: none. */
static struct sw_if *named_if(const struct sw_snapshot *info,
			      const struct lyd_node *node, const char *leaf)
{
	const char *name = yang_text(node, leaf);
	char text[sizeof(info->ifs->name)];

	copy_text(text, sizeof(text), name);
	return name ? sw_if_named(info, text) : NULL;
}

/* Ports name their bridges, as VLANs do. */
static void mark_bridges(const struct lyd_node *node, struct sw_snapshot *info)
{
	const struct lyd_node *child;
	struct sw_if *bridge, *itf = info->ifs;

	LY_LIST_FOR(lyd_child(node), child) {
		if (strcmp(LYD_NAME(child), "interface"))
			continue;
		bridge = named_if(info, child, "bridge");
		if (bridge) {
			bridge->bridge = true;
			itf->master = (unsigned int)(bridge - info->ifs) + 1;
		}
		itf++;
	}
	itf = info->ifs;
	LY_LIST_FOR(lyd_child(node), child) {
		if (strcmp(LYD_NAME(child), "interface"))
			continue;
		bridge = itf->vlan ? named_if(info, child, "lower-layer-if") :
				     NULL;
		itf->tagged = bridge && bridge->bridge;
		itf++;
	}
}

/* Members of an aggregation name it. */
static void mark_members(const struct lyd_node *node, struct sw_snapshot *info)
{
	const struct lyd_node *child;
	struct sw_if *upper, *itf = info->ifs;

	LY_LIST_FOR(lyd_child(node), child) {
		if (strcmp(LYD_NAME(child), "interface"))
			continue;
		upper = named_if(info, child, "aggregation");
		if (upper && upper != itf) {
			itf->member = true;
			itf->upper = (unsigned int)(upper - info->ifs);
		}
		itf++;
	}
	sw_ifs_chain(info);
}

static void take_trees(const struct lyd_node *node, struct sw_snapshot *info)
{
	const struct lyd_node *child;
	struct sw_tree *t;

	info->trees = room_for(node, "tree", sizeof(*info->trees));
	if (!info->trees)
		return;
	LY_LIST_FOR(lyd_child(node), child) {
		if (strcmp(LYD_NAME(child), "tree"))
			continue;
		t = &info->trees[info->ntrees++];
		t->id = (uint32_t)yang_number(child, "id");
		t->error = (unsigned int)yang_number(yang_child(child, "state"),
						     "error");
	}
}

static void take_interfaces(const struct lyd_node *node,
			    struct sw_snapshot *info)
{
	const struct lyd_node *child;

	info->ifs = room_for(node, "interface", sizeof(*info->ifs));
	if (!info->ifs)
		return;
	LY_LIST_FOR(lyd_child(node), child)
		if (!strcmp(LYD_NAME(child), "interface"))
			take_interface(child, &info->ifs[info->nifs++]);
	if (!sw_ifs_order(info)) {
		sw_ifs_free(info);
		return;
	}
	mark_bridges(node, info);
	mark_members(node, info);
	copy_text(info->version, sizeof(info->version),
		  yang_text(node, "interfaces-version"));
}

/* Without a version, interfaces may have changed. */
static int get_interfaces(struct sw_session *n, const char *known,
			  struct sw_snapshot *info, char *err)
{
	struct lyd_node *data;
	int ret;

	info->same_ifs = info->version[0] && !strcmp(info->version, known);
	if (info->same_ifs)
		return 0;
	ret = netconf_get(n, ifs_filter, &data, err);
	if (ret)
		return ret;
	info->version[0] = '\0';
	take_interfaces(data, info);
	netconf_free(data);
	return 0;
}

static void take_cm(const struct lyd_node *node, struct sw_snapshot *info)
{
	const char *addr = yang_text(node, "address");

	if (addr && !inc_rdv_addr_parse(addr, &info->cm_addr))
		info->cm_port = (uint16_t)yang_number(node, "port");
}

/* Check the syntax of rdma-inc-switch.yang. */
static bool is_identity(const char *id)
{
	size_t n;

	for (n = 0; id[n]; n++)
		if (id[n] <= ' ' || id[n] > '~')
			return false;
	return n && n <= SWITCH_ID_MAX;
}

/* Where the module is not loaded, the agent has an identity, but no limits. */
static struct sw_snapshot *new_info(const char *id,
				    const struct lyd_node *limits, char *err)
{
	struct sw_snapshot *info;

	errno = EPROTO;
	if (!id) {
		snprintf(err, SW_ERROR_LEN,
			 "it is no INC switch: its data has no identity");
		return NULL;
	}
	if (!is_identity(id)) {
		snprintf(err, SW_ERROR_LEN,
			 "its identity has to be 1 to %d printable ASCII characters, without spaces",
			 SWITCH_ID_MAX);
		return NULL;
	}
	if (!limits) {
		snprintf(err, SW_ERROR_LEN,
			 "the module rdma_inc is not loaded on %s", id);
		return NULL;
	}
	info = calloc(1, sizeof(*info));
	if (!info)
		snprintf(err, SW_ERROR_LEN, "no memory");
	return info;
}

/*
 * Read an agent's report. Context: a thread of the pool. Returns the report, or
 * NULL with errno.
 * @known: version of the interfaces that are known; empty: none
 */
struct sw_snapshot *sw_snapshot_get(struct sw_session *n, const char *known,
				    char *err)
{
	const struct lyd_node *state, *limits;
	struct sw_snapshot *info;
	struct lyd_node *data;
	const char *id;
	int ret = netconf_get(n, filter, &data, err);

	if (ret) {
		errno = -ret;
		return NULL;
	}
	id = yang_text(yang_child(data, "identity"), "id");
	limits = yang_child(data, "limits");
	info = new_info(id, limits, err);
	if (!info) {
		netconf_free(data);
		return NULL;
	}
	state = yang_child(data, "state");
	copy_text(info->id, sizeof(info->id), id);
	info->expires = inc_auth_expiry_parse(yang_text(yang_child(data,
								   "identity"),
							"certificate-expires"));
	take_cm(yang_child(data, "rdma-cm"), info);
	info->collectives = yang_bits(state, "collectives");
	info->memory_used = yang_number(state, "memory-used");
	info->memory_limit = yang_number(limits, "memory-limit");
	info->max_trees = (uint32_t)yang_number(limits, "max-trees");
	info->max_ranks = (uint32_t)yang_number(limits, "max-ranks");
	copy_text(info->version, sizeof(info->version),
		  yang_text(data, "interfaces-version"));
	info->max_slots = (uint32_t)yang_number(limits, "max-slots");
	info->max_tree_memory = yang_number(limits, "max-tree-memory");
	info->deleting = (uint32_t)yang_number(state, "leaving");
	take_trees(data, info);
	netconf_free(data);
	ret = get_interfaces(n, known, info, err);
	if (!ret)
		return info;
	sw_snapshot_free(info);
	errno = -ret;
	return NULL;
}
