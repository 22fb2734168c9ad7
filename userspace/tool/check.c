// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool check: check this switch and the path to each of its members.
 * Changes nothing and sends nothing.
 */
#include "common.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <sys/stat.h>

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "check-link.h"
#include "conf/unit.h"
#include "daemon.h"
#include "parse.h"
#include "print.h"
#include "report.h"
#include "nl/rtnl.h"
#include "tool.h"

static const char usage[] =
"Usage: inc-tool check [ tree ID ]\n"
"Check the module, each tree, each member and the path to it, a child's path to\n"
"its parent, and the devices on these paths. Exit status: 1 if a check is FAIL,\n"
"else 0.\n";

/* IP, UDP, the longest RoCE headers and the ICRC around a packet's payload. */
#define OVERHEAD_IPV4	64
#define OVERHEAD_IPV6	84

/* Milliseconds that others wait for a rank before it is reported. */
#define WAIT_WARN	1000
#define WAIT_FAIL	10000
/* Retransmitted packets, in thousandths of all. */
#define REPEATED_WARN	10
#define REPEATED_FAIL	200
/* With fewer packets, a share means nothing. */
#define REPEATED_MIN	100

/* Milliseconds for which a failure, or a moved counter, is worth a warning. */
#define RECENT		600000

/* States of a neighbour in which packets are sent to it. */
#define NUD_USABLE	(NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | \
			 NUD_PROBE | NUD_STALE | NUD_DELAY)

static void check_module(const struct check *c)
{
	const struct inc_nl_switch *sw = &c->snap.sw;
	struct subject s;
	struct stat st;

	report_subject(&s, "module", "module");
	report_find(&s, VERDICT_OK, NULL, "version %s, reduction by %s",
		    sw->version, sw->reduce_impl);
	if (strcmp(sw->version, TOOL_VERSION))
		report_find(&s, VERDICT_WARN,
			    "install module and tools from one version; is an old module still loaded?",
			    "inc-tool is version %s", TOOL_VERSION);
	if (!stat("/proc/self/ns/net", &st))
		report_find(&s, VERDICT_OK, NULL, "namespace %" PRIu64,
			    (uint64_t)st.st_ino);
	if (!sw->trees)
		report_find(&s, VERDICT_OK, NULL, "no tree");
	else if (sw->hooked)
		report_find(&s, VERDICT_OK, NULL, "takes packets");
	else
		report_find(&s, VERDICT_FAIL,
			    "dmesg; unload and load the module",
			    "there are trees, but the netfilter hook is not registered");
	if (sw->memory_used > sw->memory_limit)
		report_find(&s, VERDICT_WARN, "inc-tool switch set memory-limit",
			    "more memory in use than the limit allows");
	report_put(&s);
}

/* Report packets that reached no member, and their likely cause. */
static void check_switch(const struct check *c)
{
	static const char *const hints[RDMA_INC_A_SWITCH_STATS_MAX + 1] = {
		[RDMA_INC_A_SWITCH_STATS_RX_ICRC] =
			"damaged or rewritten on the way: cables, NAT",
		[RDMA_INC_A_SWITCH_STATS_RX_UDP_CHECKSUM] =
			"damaged on the way",
		[RDMA_INC_A_SWITCH_STATS_RX_SOURCE] =
			"a host sends from another address than its member's: GID index (INC_GID_INDEX), NAT",
		[RDMA_INC_A_SWITCH_STATS_RX_INGRESS] =
			"they come by another device than the route to the host: ip route get ADDR, rp_filter, arp_ignore",
		[RDMA_INC_A_SWITCH_STATS_RX_POLICY] =
			"IPsec: ip xfrm policy, ip -s xfrm state at both ends",
		[RDMA_INC_A_SWITCH_STATS_RX_PKEY] =
			"P_Key of a host's QP and of member add differ",
		[RDMA_INC_A_SWITCH_STATS_RX_SHORT] =
			"who sends them? tracepoint inc_drop, tcpdump",
		[RDMA_INC_A_SWITCH_STATS_RX_BTH] =
			"who sends them? tracepoint inc_drop, tcpdump",
		[RDMA_INC_A_SWITCH_STATS_RX_OPCODE] =
			"who sends them? tracepoint inc_drop, tcpdump",
		[RDMA_INC_A_SWITCH_STATS_RX_IP_OPTIONS] =
			"fragments: a path MTU is too large for the network",
		[RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY] =
			"the machine is short of memory",
		[RDMA_INC_A_SWITCH_STATS_TX_NO_MEMORY] =
			"the machine is short of memory",
		[RDMA_INC_A_SWITCH_STATS_TX_ROUTE] =
			"ip route get ADDR; the MTU must fit",
		[RDMA_INC_A_SWITCH_STATS_TX_ERROR] =
			"a full queue (tc -s qdisc) or an OUTPUT rule",
	};
	const uint64_t *stats = c->later.stats;
	struct subject s;
	uint64_t moved;
	unsigned int i;

	report_subject(&s, "switch", "switch");
	for (i = 1; i < ARRAY_SIZE(hints); i++) {
		/* Packets to unknown QPNs may be for another RDMA program. */
		if (!stats[i] || i == RDMA_INC_A_SWITCH_STATS_RX_NO_QP)
			continue;
		moved = stats[i] - c->snap.sw.stats[i];
		report_find(&s, moved || c->trouble ? VERDICT_WARN : VERDICT_OK,
			    hints[i],
			    "%s counts %" PRIu64 " packets since the module was loaded, %" PRIu64 " in the last second",
			    inc_nl_switch_stat_name(i), stats[i], moved);
	}
	if (!s.n)
		report_find(&s, VERDICT_OK, NULL,
			    "no packet was dropped before it reached a member");
	report_put(&s);
}

static void check_tree(const struct check *c, const struct inc_nl_tree *t)
{
	char missing[64] = "";
	unsigned int r, n = 0;
	struct subject s;

	report_subject(&s, "tree", "tree %u", t->id);
	s.tree_id = t->id;
	report_find(&s, VERDICT_OK, NULL, "%s, %u of %u ranks, PMTU %u",
		    inc_nl_tree_state_name(t->state) ?: "?", t->members,
		    t->ranks, t->pmtu);
	if (t->state == RDMA_INC_TREE_STATE_FAILED)
		report_find(&s, VERDICT_FAIL,
			    "the job must be restarted; see the ranks below, and inc-tool tree del",
			    "it has failed: %s",
			    inc_nl_status_name(t->error) ?: "?");
	for (r = 0; r < t->ranks; r++) {
		size_t len = strlen(missing);

		if (snapshot_member(&c->snap, t->id, (uint16_t)r))
			continue;
		if (++n <= 8)
			snprintf(missing + len, sizeof(missing) - len, "%s%u",
				 n > 1 ? "," : "", r);
	}
	if (n && t->state == RDMA_INC_TREE_STATE_FAILED)
		report_find(&s, VERDICT_WARN,
			    "these ranks had joined, and have ended or left: their own messages say why",
			    "%u ranks have no member any more: %s%s", n,
			    missing, n > 8 ? " ..." : "");
	else if (n)
		report_find(&s, VERDICT_WARN,
			    "these ranks have not joined: does their program run, with the same INC_JOB and INC_SERVER?",
			    "%u ranks have no member: %s%s", n, missing,
			    n > 8 ? " ..." : "");
	if (t->stats[RDMA_INC_A_TREE_STATS_FAILED])
		report_find(&s, VERDICT_WARN,
			    "the statuses that the ranks received say why",
			    "%" PRIu64 " messages ended with an error",
			    t->stats[RDMA_INC_A_TREE_STATS_FAILED]);
	report_put(&s);
}

static void addr_text(const struct inc_nl_member *m, char *text)
{
	if (!m->peer_addr.len)
		strcpy(text, "no address");
	else
		inet_ntop(m->peer_addr.len == 4 ? AF_INET : AF_INET6,
			  m->peer_addr.bytes, text, INET6_ADDRSTRLEN);
}

static void check_neigh(struct check *c, struct subject *s,
			const struct rt_route *route, const struct rt_link *dev,
			uint32_t need)
{
	struct rt_neigh neigh;
	struct rt_link port;
	int rc, ifindex = 0;

	if (dev->flags & (IFF_NOARP | IFF_POINTOPOINT | IFF_LOOPBACK))
		return;
	rc = rt_neigh_get(c->rt, route->ifindex, &route->next, &neigh);
	if (rc || !(neigh.state & (NUD_USABLE | NUD_FAILED | NUD_INCOMPLETE))) {
		report_find(s, VERDICT_WARN, "ping it; nothing has been heard of it lately",
			    "%s knows no Ethernet address of it", dev->name);
		return;
	}
	if (!(neigh.state & NUD_USABLE)) {
		report_find(s, VERDICT_FAIL,
			    "is the host up, its link, its VLAN? ip neigh; ping",
			    "it does not answer ARP or ND on %s", dev->name);
		return;
	}
	if (strcmp(dev->kind, "bridge") || !neigh.has_lladdr)
		return;
	if (rt_port_get(c->rt, route->ifindex, neigh.lladdr, &ifindex) ||
	    rt_link_get(c->rt, ifindex, &port)) {
		report_find(s, VERDICT_WARN,
			    "a port without carrier? bridge link; bridge fdb",
			    "%s knows no port towards it", dev->name);
		return;
	}
	report_find(s, VERDICT_OK, NULL, "port %s", port.name);
	check_note_link(c, ifindex, need);
}

/* Check the route to the member, and whether its MTU is large enough. */
static void check_path(struct check *c, struct subject *s,
		       const struct inc_nl_member *m)
{
	uint32_t need = m->pmtu + (m->peer_addr.len == 4 ? OVERHEAD_IPV4 :
							   OVERHEAD_IPV6);
	struct rt_route route;
	struct rt_link dev;

	if (!c->rt)
		return;
	if (rt_route_get(c->rt, &m->peer_addr, &m->local_addr, &route) ||
	    route.type != RTN_UNICAST) {
		report_find(s, VERDICT_FAIL,
			    "ip route get ADDR; a rank on this host needs a network namespace with a veth",
			    "no route to it%s",
			    route.type == RTN_LOCAL ?
			    ": the address is this host's own" : "");
		return;
	}
	if (rt_link_get(c->rt, route.ifindex, &dev)) {
		report_find(s, VERDICT_FAIL, "ip link",
			    "the route's device is gone");
		return;
	}
	check_note_link(c, route.ifindex, need);
	report_find(s, VERDICT_OK, NULL, "by %s", dev.name);
	if (route.mtu && route.mtu < need)
		report_find(s, VERDICT_FAIL, "ip route get ADDR; or a tree with a smaller pmtu",
			    "the route's MTU is %u, path MTU %u needs %u",
			    route.mtu, m->pmtu, need);
	check_neigh(c, s, &route, &dev, need);
}

/* Check the last failure: its cause may persist after its tree is gone. */
static void check_failure(struct check *c)
{
	const struct inc_nl_switch *sw = &c->snap.sw;
	const struct inc_nl_member m = {
		.peer_addr = sw->failed_addr, .pmtu = sw->failed_pmtu,
	};
	char addr[INET6_ADDRSTRLEN], who[128] = "", age[UNIT_LEN];
	bool recent = sw->failed_age < RECENT;
	struct subject s;

	if (!INC_NL_HAS(sw, SWITCH_FAILED_TREE))
		return;
	addr_text(&m, addr);
	report_subject(&s, "failure", "last failure");
	if (INC_NL_HAS(sw, SWITCH_FAILED_RANK))
		snprintf(who, sizeof(who), ": rank %u, %s: %s", sw->failed_rank,
			 addr, sw->failed_error ?
			 inc_nl_member_error_name(sw->failed_error) ?: "?" :
			 "it has left, or its program has ended");
	else if (sw->failed_error)
		snprintf(who, sizeof(who), ": the parent, %s: %s", addr,
			 inc_nl_member_error_name(sw->failed_error) ?: "?");
	report_find(&s, !recent ? VERDICT_OK : sw->failed_error ?
		    VERDICT_FAIL : VERDICT_WARN,
		    sw->failed_error ?
		    "debugging.rst, \"A QP in error\"; the way to it, and links below" :
		    "that rank's own message says why; links below",
		    "tree %u, %s ago: %s%s", sw->failed_tree,
		    unit_time(sw->failed_age, age),
		    inc_nl_status_name(sw->failed_status) ?: "?", who);
	c->trouble |= recent;
	if (recent && m.peer_addr.len)
		check_path(c, &s, &m);
	report_put(&s);
}

static void check_share(struct subject *s, const char *what, uint64_t again,
			uint64_t all, const char *hint)
{
	uint64_t share;

	if (all < REPEATED_MIN)
		return;
	share = again * 1000 / all;
	if (share >= REPEATED_WARN)
		report_find(s, share >= REPEATED_FAIL ? VERDICT_FAIL :
						       VERDICT_WARN,
			    hint, "%" PRIu64 ".%" PRIu64 " %% of its %s",
			    share / 10, share % 10, what);
}

/* Check the traffic with a member. @hint: remedy if others wait for it. */
static void check_traffic(struct subject *s, const struct inc_nl_tree *t,
			  const struct inc_nl_member *m, const struct wait *w,
			  const char *hint)
{
	const uint64_t *stats = m->stats;

	if (!stats[RDMA_INC_A_MEMBER_STATS_RX_WIRE_BYTES] && !w &&
	    t->state == RDMA_INC_TREE_STATE_FORMING)
		report_find(s, VERDICT_OK, NULL,
			    "sends nothing before all ranks are there");
	else if (!stats[RDMA_INC_A_MEMBER_STATS_RX_WIRE_BYTES])
		report_find(s, w ? VERDICT_FAIL : VERDICT_WARN,
			    "tcpdump -ni any udp port 4791; firewall, GID, the host's dest_qp_num",
			    "no packet has ever arrived from it, in %u ms",
			    m->last_rx);
	else
		report_find(s, VERDICT_OK, NULL, "last packet %u ms ago",
			    m->last_rx);
	if (w && w->age >= WAIT_WARN)
		report_find(s,
			    w->age >= WAIT_FAIL ? VERDICT_FAIL : VERDICT_WARN,
			    hint, "%u messages wait for it, the oldest for %u ms",
			    w->slots, w->age);
	if (m->tx_in_flight && (m->last_rx > t->dead_time ||
				m->last_rx > RDMA_INC_SILENT_TIME))
		report_find(s, VERDICT_WARN, "is it alive? is its link up? is there a route back from it?",
			    "it is silent for %u ms, with %u packets not acknowledged; dead after %u ms",
			    m->last_rx, m->tx_in_flight, t->dead_time);
	check_share(s, "packets were retransmitted",
		    stats[RDMA_INC_A_MEMBER_STATS_TX_RETRANSMITS],
		    stats[RDMA_INC_A_MEMBER_STATS_TX_PACKETS],
		    "packets are lost on the way to it: ip -s link, tc -s qdisc, ethtool -S");
	check_share(s, "packets arrived twice",
		    stats[RDMA_INC_A_MEMBER_STATS_RX_DUPLICATES],
		    stats[RDMA_INC_A_MEMBER_STATS_RX_PACKETS],
		    "acknowledgments are lost or late, or its QP's timeout is too short (INC_QP_TIMEOUT)");
	check_share(s, "packets arrived out of sequence",
		    stats[RDMA_INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE],
		    stats[RDMA_INC_A_MEMBER_STATS_RX_PACKETS],
		    "packets are lost on the way from it: the host's device, the network");
}

static void check_errors(struct subject *s, const struct inc_nl_member *m)
{
	static const struct {
		unsigned int	attr;
		const char	*hint;
	} bad[] = {
		{ RDMA_INC_A_MEMBER_STATS_RX_BAD_REQUEST,
		  "it broke the protocol: R_Key, address, length, path MTU of the host's QP" },
		{ RDMA_INC_A_MEMBER_STATS_RX_BAD_RESPONSE,
		  "wrong PSN on the host's side, or forged packets" },
		{ RDMA_INC_A_MEMBER_STATS_RX_IN_ERROR,
		  "it keeps sending to a QP in error: restart the job" },
		{ RDMA_INC_A_MEMBER_STATS_TX_TOO_LONG,
		  "an MTU was lowered: of which device, see links below" },
		{ RDMA_INC_A_MEMBER_STATS_RX_RNR_NAKS,
		  "its program posts too few receives, or polls too slowly" },
	};
	size_t i, n = ARRAY_SIZE(bad);

	/* A parent may send RNR NAKs while other child switches are behind. */
	if (!INC_NL_HAS(m, MEMBER_RANK))
		n--;
	if (m->state == RDMA_INC_MEMBER_STATE_ERROR)
		report_find(s, VERDICT_FAIL,
			    "debugging.rst, \"A QP in error\"; the job must be restarted",
			    "its QP is in error: %s",
			    inc_nl_member_error_name(m->error) ?: "?");
	for (i = 0; i < n; i++) {
		if (m->stats[bad[i].attr])
			report_find(s, VERDICT_WARN, bad[i].hint,
				    "%s counts %" PRIu64,
				    inc_nl_member_stat_name(bad[i].attr),
				    m->stats[bad[i].attr]);
	}
}

static void check_member(struct check *c, const struct inc_nl_tree *t,
			 const struct inc_nl_member *m)
{
	char addr[INET6_ADDRSTRLEN];
	struct subject s;

	addr_text(m, addr);
	report_subject(&s, "rank", "tree %u rank %u, %s", m->tree_id, m->rank,
		       addr);
	s.tree_id = m->tree_id;
	s.rank = m->rank;
	if (m->state == RDMA_INC_MEMBER_STATE_INIT) {
		report_find(&s, VERDICT_WARN,
			    "its program has to call rdma_connect(), or inc-tool member set connects it; does inc-agentd run with --cm?",
			    "it waits for its host");
		report_put(&s);
		return;
	}
	check_path(c, &s, m);
	check_errors(&s, m);
	check_traffic(&s, t, m, snapshot_wait(&c->snap, m->tree_id, m->rank),
		      "does its program run? inc-tool slot show state busy; debugfs missing");
	report_put(&s);
}

/* Check a child's path to its parent. */
static void check_uplink(struct check *c, const struct inc_nl_tree *t)
{
	const struct inc_nl_member *m = snapshot_parent(&c->snap, t->id);
	const struct wait *w = snapshot_wait(&c->snap, t->id, RANK_PARENT);
	char addr[INET6_ADDRSTRLEN];
	struct subject s;

	if (!m)
		return;
	addr_text(m, addr);
	report_subject(&s, "uplink", "tree %u uplink, %s", t->id, addr);
	s.tree_id = t->id;
	if (m->state == RDMA_INC_MEMBER_STATE_INIT) {
		report_find(&s, w ? VERDICT_FAIL : VERDICT_WARN,
			    "inc-tool serve --parent connects it, or inc-tool parent set; does the parent's daemon run?",
			    "it is not connected to its parent");
		report_put(&s);
		return;
	}
	report_find(&s, VERDICT_OK, NULL, "parent's tree %u", m->peer_tree_id);
	check_path(c, &s, m);
	check_errors(&s, m);
	check_traffic(&s, t, m, w,
		      "at the parent: inc-tool check; inc-tool slot show state busy names the rank that is missing");
	report_put(&s);
}

static void check_trees(struct check *c)
{
	const struct snapshot *snap = &c->snap;
	size_t t, r;

	for (t = 0; t < snap->ntrees; t++) {
		check_tree(c, &snap->trees[t]);
		check_uplink(c, &snap->trees[t]);
		for (r = 0; r < snap->nmembers; r++) {
			if (snap->members[r].tree_id == snap->trees[t].id)
				check_member(c, &snap->trees[t],
					     &snap->members[r]);
		}
	}
}

static enum verdict check_all(struct check *c, struct inc_nl *nl)
{
	report_begin();
	check_module(c);
	check_daemon(&c->snap);
	check_failure(c);
	check_trees(c);
	c->trouble |= report_worst() != VERDICT_OK;
	check_look_again(c, nl);
	check_switch(c);
	check_links(c);
	return report_end();
}

/* Report as a failure that the module is missing: nothing works without it. */
static int no_module(const struct inc_nl *nl)
{
	struct subject s;

	report_begin();
	report_subject(&s, "module", "module");
	report_find(&s, VERDICT_FAIL, "modprobe rdma_inc; dmesg", "%s",
		    nl->error);
	report_put(&s);
	report_end();
	return TOOL_BAD;
}

static int check_run(uint32_t tree_id)
{
	struct check c = { .nlinks = 0 };
	struct inc_nl nl;
	int rc;

	if (inc_nl_open(&nl)) {
		rc = no_module(&nl);
		inc_nl_close(&nl);
		return rc;
	}
	rc = snapshot_take(&nl, tree_id, SNAPSHOT_WAITS, &c.snap);
	if (rc) {
		rc = tool_nl_fail(&nl);
	} else {
		c.rt = inc_rt_open();
		if (!c.rt)
			fputs("inc-tool: rtnetlink cannot be opened; routes and devices are not checked\n",
			      stderr);
		rc = check_all(&c, &nl) == VERDICT_FAIL ? TOOL_BAD : TOOL_OK;
		nl_socket_free(c.rt);
	}
	snapshot_free(&c.snap);
	inc_nl_close(&nl);
	return rc;
}

int cmd_check(int argc, char **argv)
{
	uint64_t id = 0;

	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	if (argc && argv[0][0] == '-')
		return tool_fail("check: \"%s\": options stand before the object, as in inc-tool -j check",
				 argv[0]);
	if (argc && strcmp(argv[0], "tree"))
		return tool_fail("check: \"%s\" is unknown: it takes tree",
				 argv[0]);
	if (argc == 1)
		return tool_fail("check: \"tree\" lacks its value: it takes a tree ID, from 1");
	if (argc > 2)
		return tool_fail("check: unexpected argument \"%s\"", argv[2]);
	if (argc && (!unit_number(argv[1], UINT32_MAX, &id) || !id))
		return tool_fail("tree: \"%s\" is wrong: it takes a tree ID, from 1",
				 argv[1]);
	return check_run((uint32_t)id);
}
