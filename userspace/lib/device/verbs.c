// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Selection of device, port and GID; state transitions of RC and UC queue
 * pairs. libibverbs returns positive errno values; here they become negative.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rdma_inc_proto.h"
#include "verbs.h"

#define RETRY_CNT	7	/* rxe: forever; the watchdog ends it */
#define RNR_RETRY	7	/* forever */
#define MIN_RNR_TIMER	1	/* 0.01 ms */
#define RTR_TRIES	20	/* if the transition to RTR is refused */
#define RTR_TRIES_SLOW	3	/* if it fails otherwise, maybe slowly */
#define RTR_PAUSE_MS	10

#define DISCARD_PORT	9	/* RFC 863 */

/* UDP, BTH, RETH, Immediate and ICRC */
#define UDP_LEN		8
#define BTH_LEN		12
#define HDRS_LEN	(UDP_LEN + BTH_LEN + 16 + 4 + 4)
#define IPV4_LEN	20
#define IPV6_LEN	40

/* verbs has an 8-bit field for the index. */
#define GID_INDEX_MAX	255

/* How well a GID fits, worst first; among equals the first is taken. */
enum fit {
	FIT_NONE,
	FIT_LOCAL,		/* RoCEv2, link-local, wanted address family */
	FIT_OTHER,		/* the other family; the switch has both */
	FIT_ROUTABLE,		/* wanted family, not link-local */
	FIT_EXACT,		/* the wanted address */
};

static void gid_to_addr(const union ibv_gid *gid, struct inc_rdv_addr *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memset(addr, 0, sizeof(*addr));
	if (!memcmp(gid->raw, mapped, sizeof(mapped))) {
		addr->len = 4;
		memcpy(addr->bytes, gid->raw + 12, 4);
	} else {
		addr->len = 16;
		memcpy(addr->bytes, gid->raw, 16);
	}
}

static void addr_to_gid(const struct inc_rdv_addr *addr, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (addr->len == 4) {
		gid->raw[10] = 0xff;
		gid->raw[11] = 0xff;
		memcpy(gid->raw + 12, addr->bytes, 4);
	} else {
		memcpy(gid->raw, addr->bytes, 16);
	}
}

static enum fit gid_fit(const struct ibv_gid_entry *entry,
			const struct inc_dev_sel *sel)
{
	struct inc_rdv_addr addr;
	bool v2 = entry->gid_type == IBV_GID_TYPE_ROCE_V2, family;

	gid_to_addr(&entry->gid, &addr);
	family = !sel->addr.len || addr.len == sel->addr.len;
	/* Check the index: several devices may have a GID at the same index. */
	if (entry->gid_index > GID_INDEX_MAX ||
	    (sel->gid_index >= 0 &&
	     entry->gid_index != (uint32_t)sel->gid_index))
		return FIT_NONE;
	if (v2 && sel->addr.len && family &&
	    !memcmp(addr.bytes, sel->addr.bytes, addr.len))
		return FIT_EXACT;
	if (sel->gid_index >= 0)
		return FIT_LOCAL;
	if (!v2)
		return FIT_NONE;
	if (inc_rdv_addr_is_link_local(&addr))
		return family ? FIT_LOCAL : FIT_NONE;
	return family ? FIT_ROUTABLE : FIT_OTHER;
}

/* Find a port's best GID among @n GIDs of its device. */
static enum fit port_fit(const struct ibv_gid_entry *entries, ssize_t n,
			 int port, const struct inc_dev_sel *sel,
			 const struct ibv_gid_entry **best)
{
	enum fit best_fit = FIT_NONE, fit;
	ssize_t i;

	for (i = 0; i < n && best_fit < FIT_EXACT; i++) {
		if (entries[i].port_num != (uint32_t)port)
			continue;
		fit = gid_fit(&entries[i], sel);
		if (fit > best_fit) {
			best_fit = fit;
			*best = &entries[i];
		}
	}
	return best_fit;
}

/*
 * Get all GIDs of a device in one call: tables are long (rxe: 1024) and nearly
 * empty. The caller frees them. Returns their number, 0 if they are unknown.
 */
static ssize_t get_gids(struct ibv_context *ctx, int ports,
			struct ibv_gid_entry **entries)
{
	struct ibv_port_attr attr;
	size_t room = 0;
	ssize_t n;
	int port;

	for (port = 1; port <= ports; port++) {
		if (!ibv_query_port(ctx, (uint8_t)port, &attr))
			room += (size_t)attr.gid_tbl_len;
	}
	*entries = calloc(room, sizeof(**entries));
	if (!*entries)
		return 0;
	n = ibv_query_gid_table(ctx, *entries, room, 0);
	return n < 0 ? 0 : n;
}

/* Length of a network device's queue in packets. */
static unsigned int queue_of(unsigned int ifindex)
{
	struct ifreq ifr = { 0 };
	unsigned int len = 0;
	int fd;

	if (!if_indextoname(ifindex, ifr.ifr_name))
		return 0;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (!ioctl(fd, SIOCGIFTXQLEN, &ifr) && ifr.ifr_qlen > 0)
		len = (unsigned int)ifr.ifr_qlen;
	close(fd);
	return len;
}

/* Store the device's best GID in @dev if it is better than @best_fit. */
static enum fit dev_fit(struct inc_hca *hca, const struct inc_dev_sel *sel,
			enum fit best_fit, struct inc_dev *dev)
{
	struct ibv_context *ctx = hca->ctx;
	const struct ibv_gid_entry *entry = NULL;
	struct ibv_gid_entry *entries;
	struct ibv_device_attr dattr;
	struct ibv_port_attr pattr;
	enum fit fit;
	ssize_t n;
	int port;

	if (ibv_query_device(ctx, &dattr))
		return best_fit;
	n = get_gids(ctx, dattr.phys_port_cnt, &entries);
	for (port = 1; port <= dattr.phys_port_cnt; port++) {
		if (sel->port && port != sel->port)
			continue;
		if (ibv_query_port(ctx, (uint8_t)port, &pattr) ||
		    pattr.state != IBV_PORT_ACTIVE ||
		    pattr.link_layer != IBV_LINK_LAYER_ETHERNET)
			continue;
		fit = port_fit(entries, n, port, sel, &entry);
		if (fit <= best_fit)
			continue;
		best_fit = fit;
		dev->hca = hca;
		dev->ctx = ctx;
		dev->port = (uint8_t)port;
		dev->gid_index = (int)entry->gid_index;
		gid_to_addr(&entry->gid, &dev->addr);
		dev->mtu = 128U << pattr.active_mtu;
		dev->queue = queue_of(entry->ndev_ifindex);
	}
	free(entries);
	return best_fit;
}

/*
 * Open the device in which another communicator of this process has found this
 * address, if it is still there: listing all devices takes long.
 */
static bool reopen_device(struct inc_dev *dev, const struct inc_dev_sel *sel)
{
	struct ibv_gid_entry entry;
	struct ibv_port_attr attr;
	struct inc_hca_gid gid;

	dev->hca = inc_hca_find(sel->dev, &sel->addr, &gid);
	if (!dev->hca)
		return false;
	dev->ctx = dev->hca->ctx;
	if ((sel->port && sel->port != gid.port) ||
	    ibv_query_port(dev->ctx, gid.port, &attr) ||
	    attr.state != IBV_PORT_ACTIVE ||
	    ibv_query_gid_ex(dev->ctx, gid.port, (uint32_t)gid.index, &entry,
			     0) ||
	    gid_fit(&entry, sel) != FIT_EXACT) {
		inc_dev_close(dev);
		return false;
	}
	dev->port = gid.port;
	dev->gid_index = gid.index;
	dev->addr = gid.addr;
	dev->mtu = 128U << attr.active_mtu;
	dev->queue = gid.queue;
	return true;
}

static void remember_device(const struct inc_dev *dev)
{
	inc_hca_found(dev->hca, &(struct inc_hca_gid) {
		.addr	= dev->addr,
		.port	= dev->port,
		.index	= dev->gid_index,
		.queue	= dev->queue,
	});
}

/*
 * Open the device with the best GID. Returns 0, -ENODEV if no GID fits, or an
 * error of libibverbs.
 * @err_len: size of @err in bytes
 */
int inc_dev_open(struct inc_dev *dev, const struct inc_dev_sel *sel, char *err,
		 size_t err_len)
{
	enum fit best = FIT_NONE, fit;
	struct inc_unfit unfit = { .n = 0 };
	struct ibv_device **list;
	struct inc_hca *hca;
	int i, n = 0;

	memset(dev, 0, sizeof(*dev));
	if (sel->gid_index > GID_INDEX_MAX) {
		snprintf(err, err_len, "GID %d: verbs takes 0 to %d only",
			 sel->gid_index, GID_INDEX_MAX);
		return -EINVAL;
	}
	if (reopen_device(dev, sel))
		return 0;
	list = ibv_get_device_list(&n);
	/* Without ib_uverbs there is no list. */
	for (i = 0; list && i < n && best < FIT_EXACT; i++) {
		struct inc_hca *old = dev->hca;

		if (sel->dev && strcmp(sel->dev, ibv_get_device_name(list[i])))
			continue;
		hca = inc_hca_get(list[i]);
		if (!hca) {
			inc_unfit_closed(&unfit, list[i], errno);
			continue;
		}
		fit = dev_fit(hca, sel, best, dev);
		if (fit == FIT_NONE)
			inc_unfit_open(&unfit, hca->ctx, sel);
		inc_hca_put(fit > best ? old : hca);
		best = fit;
	}
	if (list)
		ibv_free_device_list(list);
	if (best == FIT_NONE) {
		inc_unfit_why(&unfit, sel, err, err_len);
		return -ENODEV;
	}
	if (best == FIT_EXACT)
		remember_device(dev);
	return 0;
}

/* Release the device, if there is one. */
void inc_dev_close(struct inc_dev *dev)
{
	inc_hca_put(dev->hca);
	dev->hca = NULL;
	dev->ctx = NULL;
}

/* Move a queue pair to INIT; the peer may RDMA WRITE. */
int inc_qp_to_init(struct ibv_qp *qp, const struct inc_dev *dev)
{
	struct ibv_qp_attr attr = {
		.qp_state	= IBV_QPS_INIT,
		.port_num	= dev->port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return -ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					 IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static enum ibv_mtu mtu_enum(unsigned int bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && (128U << mtu) < bytes)
		mtu++;
	return mtu;
}

static int to_rtr(struct ibv_qp *qp, const struct inc_dev *dev,
		  const struct inc_rc *rc)
{
	const struct timespec pause = { .tv_nsec = RTR_PAUSE_MS * 1000000L };
	struct ibv_qp_attr attr = {
		.qp_state	= IBV_QPS_RTR,
		.path_mtu	= mtu_enum(rc->pmtu),
		.dest_qp_num	= rc->qpn,
		.rq_psn		= rc->rq_psn,
		.min_rnr_timer	= MIN_RNR_TIMER,
		.ah_attr = {
			.is_global	= 1,
			.port_num	= dev->port,
			.grh = {
				.sgid_index	= (uint8_t)dev->gid_index,
				.hop_limit	= 64,
				.traffic_class	= (uint8_t)rc->traffic_class,
			},
		},
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
		   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	int tries, ret;

	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	addr_to_gid(&rc->addr, &attr.ah_attr.grh.dgid);
	/* Address resolution may fail shortly after the link came up. */
	for (tries = 1;; tries++) {
		ret = -ibv_modify_qp(qp, &attr, mask);
		if (!ret ||
		    tries >= (ret == -EINVAL ? RTR_TRIES : RTR_TRIES_SLOW))
			return ret;
		nanosleep(&pause, NULL);
	}
}

/*
 * Ask the kernel for the MTU of its route to the peer, which an ICMP error may
 * have made smaller than that of the device. Returns 0 if it is unknown.
 *
 * An empty packet makes the kernel resolve the peer's address before ib_core does:
 * ib_core would wait a second if the reply arrives before its own request is
 * queued, as over a veth.
 */
static unsigned int probe_route(const struct inc_dev *dev,
				const struct inc_rdv_addr *peer)
{
	bool v4 = peer->len == 4;
	struct sockaddr_storage from, to;
	socklen_t to_len = inc_rdv_addr_to_sockaddr(peer, DISCARD_PORT, &to);
	socklen_t from_len = inc_rdv_addr_to_sockaddr(&dev->addr, 0, &from);
	socklen_t len = sizeof(int);
	int mtu = 0;
	int fd;

	fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if ((dev->addr.len == peer->len &&
	     bind(fd, (struct sockaddr *)&from, from_len)) ||
	    connect(fd, (struct sockaddr *)&to, to_len) ||
	    getsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
		       v4 ? IP_MTU : IPV6_MTU, &mtu, &len) || mtu < 0)
		mtu = 0;
	else
		send(fd, NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
	return (unsigned int)mtu;
}

/*
 * Check whether the longest packets to a peer fit. An rxe drops longer ones.
 * The peer's address is resolved meanwhile. Returns 0, or -EMSGSIZE if they do
 * not fit.
 * @pmtu: path MTU in bytes
 * @err_len: size of @err in bytes
 */
int inc_dev_check_mtu(const struct inc_dev *dev,
		      const struct inc_rdv_addr *peer, unsigned int pmtu,
		      char *err, size_t err_len)
{
	unsigned int need = pmtu + HDRS_LEN +
			    (peer->len == 4 ? IPV4_LEN : IPV6_LEN);
	unsigned int mtu;
	char addr[64];

	if (pmtu > dev->mtu) {
		snprintf(err, err_len,
			 "path MTU %u is more than this port's active MTU %u",
			 pmtu, dev->mtu);
		return -EMSGSIZE;
	}
	mtu = probe_route(dev, peer);
	if (!mtu || need <= mtu)
		return 0;
	snprintf(err, err_len,
		 "path MTU %u needs an MTU of %u, the route to %s has %u (ip route get): raise it, or choose a smaller pmtu",
		 pmtu, need, inc_rdv_addr_str(peer, addr, sizeof(addr)), mtu);
	return -EMSGSIZE;
}

/*
 * Send zeros: a packet to the reserved QPN 0, which every device drops. Returns
 * the errno value of a failure to send, or 0.
 */
static int probe_send(const struct inc_dev *dev,
		      const struct inc_rdv_addr *peer, size_t len)
{
	static const char zeros[4096 + HDRS_LEN - UDP_LEN];
	bool v4 = peer->len == 4;
	const int on = 1, probe = v4 ? IP_PMTUDISC_PROBE : IPV6_PMTUDISC_PROBE;
	int level = v4 ? IPPROTO_IP : IPPROTO_IPV6, fd, err = 0;
	struct sockaddr_storage from, to;
	socklen_t to_len = inc_rdv_addr_to_sockaddr(peer, INC_UDP_PORT, &to);
	socklen_t from_len = inc_rdv_addr_to_sockaddr(&dev->addr, 0, &from);

	fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	/* Without this, the kernel does not report a full queue. */
	setsockopt(fd, level, v4 ? IP_RECVERR : IPV6_RECVERR, &on, sizeof(on));
	setsockopt(fd, level, v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &probe,
		   sizeof(probe));
	if (dev->addr.len == peer->len)
		(void)bind(fd, (struct sockaddr *)&from, from_len);
	if (connect(fd, (struct sockaddr *)&to, to_len) ||
	    send(fd, zeros, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		err = errno;
	close(fd);
	return err;
}

/*
 * After a failure, find the reason why this host's packets do not reach a peer.
 * Returns 0: none found, or a negative errno value.
 * @pmtu: path MTU in bytes
 * @err_len: size of @err in bytes
 */
int inc_dev_check_path(const struct inc_dev *dev,
		       const struct inc_rdv_addr *peer, unsigned int pmtu,
		       char *err, size_t err_len)
{
	struct ibv_port_attr attr;
	char addr[64];
	int ret;

	if (ibv_query_port(dev->ctx, dev->port, &attr) ||
	    attr.state != IBV_PORT_ACTIVE) {
		snprintf(err, err_len, "%s is down: see rdma link, ip link",
			 ibv_get_device_name(dev->ctx->device));
		return -ENETDOWN;
	}
	ret = inc_dev_check_mtu(dev, peer, pmtu, err, err_len);
	if (ret)
		return ret;
	inc_rdv_addr_str(peer, addr, sizeof(addr));
	ret = -probe_send(dev, peer, BTH_LEN);
	if (ret == -EPERM)
		snprintf(err, err_len, "a firewall of this host refuses packets to %s, UDP port %d: see nft list ruleset",
			 addr, INC_UDP_PORT);
	else if (ret == -ENETUNREACH || ret == -EHOSTUNREACH)
		snprintf(err, err_len, "no route to %s: see ip route get %s",
			 addr, addr);
	else if (!ret && probe_send(dev, peer, pmtu + HDRS_LEN - UDP_LEN))
		snprintf(err, err_len, "%s refuses packets of path MTU %u, and takes short ones: is the MTU of the switch's port, at the cable's other end, smaller than this one's (ip link)?",
			 ibv_get_device_name(dev->ctx->device), pmtu);
	else
		return 0;
	return ret ? ret : -EMSGSIZE;
}

/*
 * Connect a queue pair: INIT to RTR to RTS.
 * @err_len: size of @err in bytes
 */
int inc_qp_to_rts(struct ibv_qp *qp, const struct inc_dev *dev,
		  const struct inc_rc *rc, char *err, size_t err_len)
{
	struct ibv_qp_attr attr = {
		.qp_state	= IBV_QPS_RTS,
		.timeout	= (uint8_t)rc->timeout,
		.retry_cnt	= RETRY_CNT,
		.rnr_retry	= RNR_RETRY,
		.sq_psn		= rc->sq_psn,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	char addr[64];
	int ret;

	if (qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	ret = inc_dev_check_mtu(dev, &rc->addr, rc->pmtu, err, err_len);
	if (ret)
		return ret;
	ret = to_rtr(qp, dev, rc);
	if (!ret)
		ret = -ibv_modify_qp(qp, &attr, mask);
	if (ret && !inc_dev_check_path(dev, &rc->addr, rc->pmtu, err, err_len))
		inc_cause(-ret, err, err_len, "queue pair to %s, QPN 0x%x",
			  inc_rdv_addr_str(&rc->addr, addr, sizeof(addr)),
			  rc->qpn);
	return ret;
}

/* Move a queue pair to ERROR, which flushes its queues. */
void inc_qp_to_err(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}
