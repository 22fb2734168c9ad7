/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * inc-agentd: declarations for all files, which call one another downwards:
 *
 *   main      options, signals, start and stop
 *   rpc       NETCONF's operations             notif   subscriptions
 *   cm        ranks that connect by RDMA CM
 *   apply     kernel requests from two configurations
 *   edit, filter    the rules of edit-config and of filters
 *   monitoring      the agent's own state
 *   datastore kernel objects as YANG data
 *   ifcache   interfaces, kept for a while     iface   as they are now
 *   lldp      neighbours by lldpd              announce  its TLV
 *   probe     asks for silent hosts
 *   netconf   logging in, transports (libnetconf2)
 *   serve     a thread for each session, and their turns
 *   logins    ends logins that take too long
 *   attribute unknown attributes of an edit
 *   bridge    frames, spanning trees           beacon    shows switches the way
 *   remote, options   endpoints and their users; the command line
 *   error     errors, and how a client is told
 */
#ifndef INC_AGENT_AGENT_H
#define INC_AGENT_AGENT_H

#include "common.h"

#include <inttypes.h>
#include <libyang/libyang.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "conf/clock.h"
#include "conf/log.h"
#include "error.h"

#define AGENT_MODULE	"rdma-inc-switch"
#define AGENT_ID_LEN	64
#define AGENT_ADDRS	8

/**
 * struct agent - one switch and its agent
 * @ctx: YANG modules
 * @mod: rdma-inc-switch
 * @id: the switch's name in the fabric
 * @naddrs: number of @addrs
 * @addrs: addresses at which NETCONF is served
 * @cm_addr: address for ranks that connect by RDMA CM
 * @cm_port: port for them; 0: RDMA CM is off
 */
struct agent {
	struct ly_ctx		*ctx;
	const struct lys_module	*mod;
	char			id[AGENT_ID_LEN];
	unsigned int		naddrs;
	char			addrs[AGENT_ADDRS][64];
	const char		*cm_addr;
	_Atomic uint16_t	cm_port;
};

/**
 * put_number() - add a leaf with a number to YANG data
 * @node: parent of the leaf
 * @name: name of the leaf
 * @value: number
 */
static inline void put_number(struct lyd_node *node, const char *name,
			      uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	lyd_new_term(node, NULL, name, text, 0, NULL);
}

#endif /* INC_AGENT_AGENT_H */
