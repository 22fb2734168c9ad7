// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See tree.h. All functions are called by threads of the pool.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/netconf.h"
#include "fabric/tree.h"
#include "fabric/yang.h"
#include "rdma_inc.h"

/* Limits of rdma-inc-attributes.yang. */
#define ALIGN		64	/* bytes, of messages */
#define DEAD_TIME_MAX	60000	/* ms */
#define BTH_MAX		0xffffff /* QPN, PSN */
#define QPN_MIN		2	/* others are the subnet's */

#define OPEN	"<switch xmlns=\"urn:rdma-inc:switch\" " \
		"xmlns:nc=\"urn:ietf:params:xml:ns:netconf:base:1.0\">"
#define CLOSE	"</switch>"

/* Attributes of a tree that its ranks, or its child, must know. */
#define CONFIG	"<slots/><msg-size/><pmtu/><first-msg-id/><dead-time/>" \
		"<collectives/><dtypes/><ops/><traffic-class/>"
#define MEMBER	"<member><rank/><local-addr/><qpn/><psn/>" \
		"<state><rkey/></state></member>"
#define PARENT	"<parent><state><qpn/><psn/></state></parent>"

static void put_number(FILE *f, const char *name, uint32_t value)
{
	if (value)
		fprintf(f, "<%s>%u</%s>", name, value, name);
}

static void put_peer(FILE *f, const struct tree_end *peer)
{
	char text[INET6_ADDRSTRLEN];

	fprintf(f, "<peer-addr>%s</peer-addr><peer-qpn>%u</peer-qpn><peer-psn>%u</peer-psn>",
		inc_rdv_addr_str(&peer->addr, text, sizeof(text)), peer->qpn,
		peer->psn);
}

static void put_members(FILE *f, const struct tree *t)
{
	const struct tree_member *m;
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		m = &t->members[i];
		if (!m->known || m->made)
			continue;
		fprintf(f, "<member nc:operation=\"create\"><rank>%u</rank>%s",
			i, m->uc ? "<transport>uc</transport>" : "");
		put_number(f, "ifindex", m->ifindex);
		if (!m->waits)
			put_peer(f, &m->peer);
		fputs("</member>", f);
	}
}

static void put_settings(FILE *f, const struct tree *t)
{
	const struct inc_rdv_joined *s = &t->settings;
	uint32_t i;

	put_number(f, "ranks", t->n);
	put_number(f, "job-ranks", t->job_ranks);
	put_number(f, "first-rank", t->first_rank);
	for (i = 0; i < t->n; i++)
		if (t->members[i].below)
			fprintf(f, "<below><rank>%u</rank><ranks>%u</ranks></below>",
				i, t->members[i].below);
	put_number(f, "slots", s->slots);
	put_number(f, "msg-size", s->msg_size);
	put_number(f, "pmtu", s->pmtu);
	if (t->has_first_msg_id)
		fprintf(f, "<first-msg-id>%u</first-msg-id>", s->first_msg_id);
	put_number(f, "traffic-class", s->traffic_class);
	put_number(f, "priority", t->priority);
	put_number(f, "dead-time", s->dead_time);
}

/* --- Reading back -------------------------------------------------------- */

static void take_end(const struct lyd_node *config, const struct lyd_node *own,
		     const struct lyd_node *state, struct tree_end *end)
{
	const char *addr = yang_text(config, "local-addr");
	uint64_t qpn = yang_number(own, "qpn"), psn = yang_number(own, "psn");
	uint64_t rkey = yang_number(state, "rkey");

	if (!addr || inc_rdv_addr_parse(addr, &end->addr))
		end->addr.len = 0;
	end->qpn = (uint32_t)qpn;
	end->psn = (uint32_t)psn;
	end->rkey = (uint32_t)rkey;
	/* QPN 0 stands for an invalid end. */
	if (qpn < QPN_MIN || qpn > BTH_MAX || psn > BTH_MAX || rkey > UINT32_MAX)
		end->qpn = 0;
}

static int take_members(struct tree *t, const struct lyd_node *node)
{
	const struct lyd_node *child;
	struct tree_member *m;
	uint64_t rank;
	uint32_t i;

	LY_LIST_FOR(lyd_child(node), child) {
		if (strcmp(LYD_NAME(child), "member"))
			continue;
		rank = yang_number(child, "rank");
		if (rank >= t->n)
			continue;
		m = &t->members[rank];
		take_end(child, child, yang_child(child, "state"), &m->own);
		m->made = m->own.qpn && (m->own.addr.len || m->waits);
	}
	for (i = 0; i < t->n; i++)
		if (t->members[i].known && !t->members[i].made)
			return -EPROTO;
	return 0;
}

/* Take a number from @least to @most; if @wished, only the wish itself. */
static bool take_number(const struct lyd_node *node, const char *name,
			bool wished, uint32_t least, uint32_t most,
			uint32_t *value)
{
	uint64_t told = yang_number(node, name);

	if (told < least || told > most || (wished && told != *value))
		return false;
	*value = (uint32_t)told;
	return true;
}

/* Ranks rely on these settings, so check the agent's values. */
static bool take_settings(struct tree *t, const struct lyd_node *node)
{
	struct inc_rdv_joined *s = &t->settings;

	if (!take_number(node, "slots", s->slots, 1, RDMA_INC_MAX_SLOTS,
			 &s->slots) ||
	    !take_number(node, "msg-size", s->msg_size, ALIGN,
			 RDMA_INC_MAX_MSG_SIZE, &s->msg_size) ||
	    !take_number(node, "pmtu", s->pmtu, TREE_PMTU_MIN, TREE_PMTU_MAX,
			 &s->pmtu) ||
	    !take_number(node, "first-msg-id", t->has_first_msg_id, 0,
			 UINT32_MAX, &s->first_msg_id) ||
	    !take_number(node, "dead-time", s->dead_time, 0, DEAD_TIME_MAX,
			 &s->dead_time) ||
	    !take_number(node, "traffic-class", s->traffic_class, 0, UINT8_MAX,
			 &s->traffic_class))
		return false;
	s->tree_id = t->id;
	s->collectives = yang_bits(node, "collectives");
	s->dtypes = yang_bits(node, "dtypes");
	s->ops = yang_bits(node, "ops");
	return !(s->slots & (s->slots - 1)) && !(s->pmtu & (s->pmtu - 1)) &&
	       !(s->msg_size % ALIGN);
}

static int take_tree(struct tree *t, const struct lyd_node *node)
{
	const struct lyd_node *parent = yang_child(node, "parent"), *state;
	struct inc_rdv_addr addr;

	if (!take_settings(t, node))
		return -EPROTO;
	if (t->job_ranks) {
		/* The address is the caller's choice, not the agent's. */
		addr = t->up.addr;
		state = yang_child(parent, "state");
		take_end(parent, state, state, &t->up);
		t->up.addr = addr;
		if (!t->up.qpn)
			return -EPROTO;
	}
	return take_members(t, node);
}

static const struct lyd_node *find_tree(const struct lyd_node *data,
					uint32_t id)
{
	const struct lyd_node *child;

	if (!data)
		return NULL;
	LY_LIST_FOR(lyd_child(data), child)
		if (!strcmp(LYD_NAME(child), "tree") &&
		    yang_number(child, "id") == id)
			return child;
	return NULL;
}

static int read_back(struct tree *t, struct sw_session *n, char *err)
{
	const struct lyd_node *node;
	struct lyd_node *data;
	char filter[512];
	int ret;

	snprintf(filter, sizeof(filter), "<switch xmlns=\"urn:rdma-inc:switch\"><tree><id>%u</id>"
		 CONFIG MEMBER "%s</tree></switch>", t->id,
		 t->job_ranks ? PARENT : "");
	ret = netconf_get(n, filter, &data, err);
	if (ret)
		return ret;
	node = find_tree(data, t->id);
	ret = node ? take_tree(t, node) : -EPROTO;
	if (ret)
		snprintf(err, SW_ERROR_LEN,
			 "tree %u is not as it was configured", t->id);
	netconf_free(data);
	return ret;
}

/* --- Changes ------------------------------------------------------------- */

static int send_edit(FILE *f, char **xml, struct sw_session *n, char *err)
{
	int ret = -ENOMEM;

	if (!fclose(f) && *xml)
		ret = netconf_edit(n, *xml, err);
	free(*xml);
	return ret;
}

/* Find the member in an error's path. -1: none. */
static int find_member(const struct tree *t, const char *path)
{
	static const char before[] = "member[rank='";
	const char *at = strstr(path, before);
	unsigned long member;

	if (!at)
		return -1;
	member = strtoul(at + sizeof(before) - 1, NULL, 10);
	return member < t->n ? (int)member : -1;
}

/* Create the known members; @make: and the tree. */
static int send_members(struct tree *t, bool make, struct sw_session *n,
			char *err)
{
	char *xml = NULL;
	size_t len;
	FILE *f = open_memstream(&xml, &len);
	int ret;

	if (!f)
		return -ENOMEM;
	fprintf(f, OPEN "<tree%s><id>%u</id>",
		make ? " nc:operation=\"create\"" : "", t->id);
	if (make)
		put_settings(f, t);
	put_members(f, t);
	fputs("</tree>" CLOSE, f);
	ret = send_edit(f, &xml, n, err);
	if (ret == -ENETUNREACH)
		t->unrouted = find_member(t, netconf_error_path(n));
	return ret;
}

/*
 * Create a tree with all known members. Returns 0 or a negative errno value;
 * then there is no tree. -ENETUNREACH: the switch has no route to the member
 * @t->unrouted.
 * @t: tree; gets the kernel's settings
 */
int tree_make(struct tree *t, struct sw_session *n, char *err)
{
	char ignored[SW_ERROR_LEN];
	int ret = send_members(t, true, n, err);

	if (ret)
		return ret;
	ret = read_back(t, n, err);
	if (ret && ret != -ENOTCONN)
		tree_del(t->id, n, ignored);
	return ret;
}

/*
 * Create the members that have become known. Returns 0 or a negative errno
 * value, as of tree_make().
 */
int tree_add(struct tree *t, struct sw_session *n, char *err)
{
	int ret = send_members(t, false, n, err);

	return ret ? ret : read_back(t, n, err);
}

/*
 * Connect a child's tree to its parent's. Returns 0 or a negative errno value.
 * -ENETUNREACH: the switch has no route to the parent.
 */
int tree_link(const struct tree *t, struct sw_session *n, char *err)
{
	char *xml = NULL, text[INET6_ADDRSTRLEN];
	size_t len;
	FILE *f = open_memstream(&xml, &len);

	if (!f)
		return -ENOMEM;
	fprintf(f, OPEN "<tree><id>%u</id><parent>", t->id);
	put_peer(f, &t->parent);
	/* An unconnected queue pair has P_Key 0 instead of the default. */
	fprintf(f, "<local-addr>%s</local-addr><pkey>65535</pkey>",
		inc_rdv_addr_str(&t->up.addr, text, sizeof(text)));
	fprintf(f, "<peer-tree-id>%u</peer-tree-id><peer-rkey>%u</peer-rkey></parent></tree>"
		CLOSE, t->parent_id, t->parent.rkey);
	return send_edit(f, &xml, n, err);
}

/* Delete a member. -ENOENT: there is none. */
int tree_member_del(uint32_t id, uint32_t member, struct sw_session *n,
		    char *err)
{
	char xml[512];

	snprintf(xml, sizeof(xml), OPEN "<tree><id>%u</id><member nc:operation=\"delete\"><rank>%u</rank></member></tree>"
		 CLOSE, id, member);
	return netconf_edit(n, xml, err);
}

/* Delete a tree, if it exists. */
int tree_del(uint32_t id, struct sw_session *n, char *err)
{
	char xml[512];

	snprintf(xml, sizeof(xml), OPEN "<tree nc:operation=\"remove\"><id>%u</id></tree>"
		 CLOSE, id);
	return netconf_edit(n, xml, err);
}

/*
 * Name a switch. -EOPNOTSUPP: its agent cannot keep a name.
 * @id: name, of printable ASCII characters
 */
int tree_name_switch(const char *id, struct sw_session *n, char *err)
{
	char *xml = NULL;
	size_t len;
	FILE *f = open_memstream(&xml, &len);

	if (!f)
		return -ENOMEM;
	fputs(OPEN "<identity><id>", f);
	for (; *id; id++)
		fprintf(f, strchr("<>&", *id) ? "&#%d;" : "%c", *id);
	fputs("</id></identity>" CLOSE, f);
	return send_edit(f, &xml, n, err);
}
