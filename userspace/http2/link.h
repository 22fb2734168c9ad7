/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The bytes of a connection to a server, with or without TLS. Only
 * link_connect() waits.
 */
#ifndef INC_HTTP2_LINK_H
#define INC_HTTP2_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "http2/fault.h"
#include "tls/tls.h"

/**
 * struct link - a connection
 * @program: the server's program, for error texts
 * @ctx: TLS context; NULL: no TLS
 * @fd: socket; -1: none
 * @tls: TLS, or NULL
 * @has_handshake: the handshake is done, or there is no TLS
 * @events: events to wait for at @fd
 * @got_data: the server has sent data after the handshake
 * @fault: first fault
 * @why: its description
 */
struct link {
	const char		*program;
	struct inc_tls_ctx	*ctx;
	int			fd;
	struct inc_tls		*tls;
	bool			has_handshake;
	short			events;
	bool			got_data;
	enum fault		fault;
	char			why[512];
};

void link_fail(struct link *l, enum fault fault, int err);
bool link_connect(struct link *l, const char *address, int port,
		  int timeout_ms);
bool link_adopt(struct link *l, int fd, const char *address);
int link_shake(struct link *l);
ssize_t link_read(struct link *l, void *buf, size_t len);
ssize_t link_write(struct link *l, const void *buf, size_t len);
void link_close(struct link *l);

#endif /* INC_HTTP2_LINK_H */
