/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The command line and the configuration file.
 */
#ifndef INC_AGENT_OPTIONS_H
#define INC_AGENT_OPTIONS_H

#include "cm.h"
#include "conf/log.h"
#include "home.h"
#include "netconf.h"

#define MAX_USERS	64

/**
 * struct agent_options - options of the agent
 * @sock: UNIX socket
 * @mode: its permissions
 * @ssh: SSH endpoint; none if its addr is NULL
 * @users: users of SSH
 * @tls: TLS endpoint; it only calls if its addr is NULL; none if its cert is
 * @managers: who is called, HOST[:PORT]
 * @nmanagers: number of @managers
 * @cm: endpoint of RDMA CM
 * @id: name of the switch, or NULL
 * @state: directory of what outlives the agent, or NULL
 * @max: limit of sessions
 * @max_memory: limit of memory, bytes; 0: none
 * @lldp: lldpd's socket, "none", or NULL: the default one
 * @config: configuration file that was read, or NULL
 * @yang: directory of the YANG modules
 * @pidfile: file for the process ID, or NULL
 * @level: messages to print
 */
struct agent_options {
	const char		*sock;
	unsigned int		mode;
	struct netconf_ssh	ssh;
	struct netconf_user	users[MAX_USERS];
	struct netconf_tls	tls;
	const char		*managers[HOME_MANAGERS];
	unsigned int		nmanagers;
	struct cm_endpoint	cm;
	const char		*id;
	const char		*state;
	unsigned int		max;
	uint64_t		max_memory;
	const char		*lldp;
	const char		*config;
	const char		*yang;
	const char		*pidfile;
	enum log_level		level;
};

void options_read(struct agent_options *o, int argc, char **argv);

#endif /* INC_AGENT_OPTIONS_H */
