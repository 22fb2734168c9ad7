/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What carries a NETCONF session: a socket, with TLS or SSH over it or without.
 * It is one thread's at a time; others may only shut its socket down.
 */
#ifndef INC_NETCONF_CARRIER_H
#define INC_NETCONF_CARRIER_H

#include <stdint.h>
#include <sys/types.h>

#include "netconf/frame.h"

#define NETCONF_NS	"urn:ietf:params:xml:ns:netconf:base:1.0"

struct inc_tls;
struct lyd_node;
struct ly_ctx;
struct ssh_channel_struct;
struct ssh_session_struct;

/**
 * struct carrier - a session's transport
 * @fd: non-blocking socket; -1: none
 * @tls: over it, or NULL
 * @ssh: over it, with a copy of @fd, as it closes that when it likes; or NULL
 * @channel: of @ssh, with the subsystem "netconf"
 * @in: the message that is being read
 * @buf: what has come and was not looked at
 * @at: where that begins
 * @have: where it ends
 */
struct carrier {
	int				fd;
	struct inc_tls			*tls;
	struct ssh_session_struct	*ssh;
	struct ssh_channel_struct	*channel;
	struct frame			in;
	char				buf[16384];
	size_t				at;
	size_t				have;
};

int carrier_recv(struct carrier *c, int64_t until, int wake);
int carrier_send(struct carrier *c, const char *text, size_t len, int64_t until);
void carrier_close(struct carrier *c);
int hello_read(const struct ly_ctx *ctx, const char *text, uint32_t *id);

#endif /* INC_NETCONF_CARRIER_H */
