// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool check: the devices that packets to members go through.
 */
#include "common.h"

#include <inttypes.h>
#include <time.h>

#include <linux/if.h>

#include "check-link.h"
#include "nl/rtnl.h"
#include "report.h"

/* Remember a device. */
void check_note_link(struct check *c, int ifindex, uint32_t need)
{
	unsigned int i;

	for (i = 0; i < c->nlinks && c->links[i].ifindex != ifindex; i++)
		;
	if (i == LINKS_MAX)
		return;
	if (i == c->nlinks)
		c->links[c->nlinks++] = (struct check_link){
			.ifindex = ifindex,
		};
	if (need > c->links[i].need)
		c->links[i].need = need;
}

/* Get the MTU needed of a noted device; 0: not noted. */
static uint32_t need_of(const struct check *c, int ifindex)
{
	unsigned int i;

	for (i = 0; i < c->nlinks; i++)
		if (c->links[i].ifindex == ifindex)
			return c->links[i].need;
	return 0;
}

/* Add all ports of noted bridges: a port that is down is on no path. */
static void add_port(const void *head, struct nlattr **tb, void *arg)
{
	const struct ifinfomsg *ifi = head;
	struct check *c = arg;
	uint32_t need;

	if (!ifi || !tb[IFLA_MASTER])
		return;
	need = need_of(c, (int)nla_get_u32(tb[IFLA_MASTER]));
	if (!need || need_of(c, ifi->ifi_index) || c->nlinks == LINKS_MAX)
		return;
	c->links[c->nlinks++] = (struct check_link){
		.ifindex = ifi->ifi_index, .need = need, .extra = true,
	};
}

static bool has_drops(const struct rt_link *link)
{
	return link->rx_dropped || link->tx_dropped || link->queue_drops ||
	       link->errors;
}

static bool has_counted(const struct check *c)
{
	unsigned int i;

	for (i = 1; i <= RDMA_INC_A_SWITCH_STATS_MAX; i++)
		if (c->snap.sw.stats[i] && i != RDMA_INC_A_SWITCH_STATS_RX_NO_QP)
			return true;
	for (i = 0; i < c->nlinks; i++)
		if (has_drops(&c->links[i].link))
			return true;
	return false;
}

/*
 * Find out which counters move. Takes a second, unless there are none.
 * @c: run, with its devices noted
 */
void check_look_again(struct check *c, struct inc_nl *nl)
{
	const struct timespec second = { .tv_sec = 1 };
	unsigned int i;

	if (c->trouble && c->rt)
		inc_rt_dump(c->rt, RTM_GETLINK, AF_UNSPEC, add_port, c);
	for (i = 0; i < c->nlinks; i++)
		if (rt_link_get(c->rt, c->links[i].ifindex, &c->links[i].link))
			c->links[i].link.name[0] = '\0';
	if (has_counted(c))
		nanosleep(&second, NULL);
	if (inc_nl_switch_get(nl, &c->later))
		c->later = c->snap.sw;
	for (i = 0; i < c->nlinks; i++)
		if (rt_link_get(c->rt, c->links[i].ifindex, &c->links[i].later))
			c->links[i].later = c->links[i].link;
}

/*
 * Every device drops a packet now and then, such as a multicast before its port
 * forwards, without harm; a loss of one in 10,000 matters.
 */
static bool is_many(uint64_t dropped, uint64_t packets)
{
	return dropped >= 10 && dropped > packets / 10000;
}

/* Report drops; old ones without harm are mentioned, but are no warning. */
static void check_drops(struct subject *s, const struct check *c,
			const struct check_link *l)
{
	const struct rt_link *was = &l->link, *is = &l->later;
	uint64_t tx = is->tx_dropped > is->queue_drops ? is->tx_dropped :
							 is->queue_drops;
	uint64_t rx_new = is->rx_dropped - was->rx_dropped;
	uint64_t tx_new = is->tx_dropped - was->tx_dropped;

	if (is->queue_drops - was->queue_drops > tx_new)
		tx_new = is->queue_drops - was->queue_drops;
	if (is_many(is->rx_dropped, is->rx_packets))
		report_find(s, rx_new || c->trouble ? VERDICT_WARN : VERDICT_OK,
			    "second column of /proc/net/softnet_stat: net.core.netdev_max_backlog, window",
			    "%" PRIu64 " packets were dropped on receive, %" PRIu64 " in the last second",
			    is->rx_dropped, rx_new);
	if (is_many(tx, is->tx_packets))
		report_find(s, tx_new || c->trouble ? VERDICT_WARN : VERDICT_OK,
			    "tc -s qdisc; a longer queue, or a smaller window",
			    "%" PRIu64 " packets were dropped on transmit, %" PRIu64 " of them by its queue, %" PRIu64 " in the last second",
			    tx, is->queue_drops, tx_new);
	if (is->errors)
		report_find(s, is->errors != was->errors || c->trouble ?
			    VERDICT_WARN : VERDICT_OK, "ethtool -S; cable",
			    "%" PRIu64 " errors, %" PRIu64 " in the last second",
			    is->errors, is->errors - was->errors);
}

static void check_one(const struct check *c, const struct check_link *l)
{
	/* The host behind an extra port may not be part of any job. */
	enum verdict down = l->extra ? VERDICT_WARN : VERDICT_FAIL;
	const struct rt_link *link = &l->later;
	struct subject s;

	if (!*link->name)
		return;
	report_subject(&s, "link", "link %s", link->name);
	report_find(&s, VERDICT_OK, NULL, "%s%sMTU %u", link->kind,
		    *link->kind ? ", " : "", link->mtu);
	if (!(link->flags & IFF_UP))
		report_find(&s, down, "ip link set DEV up", "it is set down");
	else if (!(link->flags & IFF_LOWER_UP))
		report_find(&s, down, "cable, other end, ip link",
			    "no carrier");
	if (link->mtu < l->need)
		report_find(&s, VERDICT_FAIL,
			    "ip link set DEV mtu, on the bridge, its ports and the hosts; or a tree with a smaller pmtu",
			    "its MTU is %u, the path MTU needs %u", link->mtu,
			    l->need);
	if (!l->extra)
		check_drops(&s, c, l);
	if (!l->extra || s.worst != VERDICT_OK)
		report_put(&s);
}

/* Report the devices. */
void check_links(struct check *c)
{
	unsigned int i;

	for (i = 0; i < c->nlinks; i++)
		check_one(c, &c->links[i]);
}
