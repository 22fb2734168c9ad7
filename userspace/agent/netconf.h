/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Who connects, over UNIX sockets, SSH and TLS, until a session begins.
 */
#ifndef INC_AGENT_NETCONF_H
#define INC_AGENT_NETCONF_H

#include "agent.h"
#include "remote.h"
#include "serve.h"

/* libyang parses a tree by recursion, to a limited depth. */
#define NETCONF_STACK	(2U << 20)

struct login;

int netconf_init(struct agent *a, const char *yang_dirs,
		 const struct netconf_ops *ops, unsigned int max_sessions);
int netconf_listen_unix(struct agent *a, const char *path, unsigned int mode);
void netconf_unlisten(struct agent *a);
int netconf_listen_remote(struct agent *a, const struct netconf_ssh *ssh,
			  const struct netconf_tls *tls);
void netconf_capabilities(const struct agent *a,
			  void (*each)(const char *name, void *arg), void *arg);
struct login *netconf_call(struct agent *a, int fd, void (*begins)(void *arg),
			   void *arg);
bool netconf_serve(struct login *l);
void netconf_reload(struct agent *a);
int netconf_start(struct agent *a);
void netconf_stop(struct agent *a);

#endif /* INC_AGENT_NETCONF_H */
