/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Detection of vanished peers, at both ends of a connection to the rendezvous
 * daemon or the manager.
 */
#ifndef INC_CONF_KEEPALIVE_H
#define INC_CONF_KEEPALIVE_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "rdma_inc.h"

/* Seconds until a silent connection is probed, and between probes. */
#define INC_KEEP_IDLE_S		3
#define INC_KEEP_INTVL_S	1

#ifndef TCP_RTO_MAX_MS
#define TCP_RTO_MAX_MS		44	/* Linux 6.15 */
#endif

/**
 * inc_set_outage() - change what inc_set_keepalive() was told
 * @fd: socket
 * @dead_ms: longest outage of a link on the way, in milliseconds
 */
static inline void inc_set_outage(int fd, unsigned int dead_ms)
{
	const unsigned int limit_ms =
		1000 * (INC_KEEP_IDLE_S + INC_KEEP_INTVL_S) + dead_ms;

	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms,
		   sizeof(limit_ms));
}

/**
 * inc_set_keepalive() - end a connection if its peer is silent
 * @fd: socket
 * @dead_ms: longest outage of a link on the way, in milliseconds
 *
 * TCP sends no probes while data is unacknowledged, but retransmits the data:
 * the limit covers both. A link may go down just before the first probe, and
 * come up just before the last one.
 */
static inline void inc_set_keepalive(int fd, unsigned int dead_ms)
{
	const int on = 1, idle = INC_KEEP_IDLE_S, intvl = INC_KEEP_INTVL_S,
		  rto_ms = 1000 * INC_KEEP_INTVL_S;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &intvl, sizeof(intvl));
	inc_set_outage(fd, dead_ms);
	/* Otherwise a link that was down for 7 s costs another 6 s. */
	setsockopt(fd, IPPROTO_TCP, TCP_RTO_MAX_MS, &rto_ms, sizeof(rto_ms));
}

#endif /* INC_CONF_KEEPALIVE_H */
