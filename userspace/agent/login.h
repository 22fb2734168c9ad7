/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How a client logs in: by who it is on this host, by SSH, or by TLS.
 */
#ifndef INC_AGENT_LOGIN_H
#define INC_AGENT_LOGIN_H

#include <libssh/callbacks.h>
#include <libssh/server.h>

#include "session.h"

/**
 * struct login - a client that logs in, or has
 * @s: its session
 * @next: the login that came before it
 * @at: when it came, as of now_ms()
 * @begins: called with @arg when its session begins; NULL: it is a client that has
 *	connected to the agent, not the other way round
 * @arg: likewise
 * @done: its connection was shut down
 * @tries: keys that it has shown by SSH
 * @ready: of SSH, it has asked for NETCONF
 * @server: what libssh calls
 * @channel: likewise
 */
struct login {
	struct session				s;
	struct login				*next;
	int64_t					at;
	void					(*begins)(void *arg);
	void					*arg;
	bool					done;
	unsigned int				tries;
	bool					ready;
	struct ssh_server_callbacks_struct	server;
	struct ssh_channel_callbacks_struct	channel;
};

bool login_run(struct login *l);

#endif /* INC_AGENT_LOGIN_H */
