/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How each end of a connection to the rendezvous daemon detects that its peer
 * has vanished.
 */
#ifndef INC_RENDEZVOUS_KEEPALIVE_H
#define INC_RENDEZVOUS_KEEPALIVE_H

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* Seconds until a silent connection is probed. */
#define INC_KEEP_IDLE_S		5
#define INC_KEEP_INTVL_S	1
#define INC_KEEP_CNT		3

/*
 * A rank that waits for others sends nothing. Probes detect a vanished switch
 * or host, or a cut link, after 8 s.
 */
static inline void inc_set_keepalive(int fd)
{
	const int on = 1, idle = INC_KEEP_IDLE_S, intvl = INC_KEEP_INTVL_S,
		  cnt = INC_KEEP_CNT;
	/* TCP sends no probes while data is unacknowledged. */
	const unsigned int limit_ms = 1000 * (INC_KEEP_IDLE_S +
					      INC_KEEP_CNT * INC_KEEP_INTVL_S);

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &intvl, sizeof(intvl));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &cnt, sizeof(cnt));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms,
		   sizeof(limit_ms));
}

#endif /* INC_RENDEZVOUS_KEEPALIVE_H */
