/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * inc-agentd: what all its files know. They call one another downwards:
 *
 *   main      options, signals, start and end
 *   rpc       NETCONF's operations             notif   subscriptions
 *   cm        ranks that connect by RDMA CM
 *   apply     kernel requests from two configurations
 *   edit, filter    the rules of edit-config and of filters
 *   monitoring      the agent's own state
 *   datastore kernel objects as YANG data
 *   ifcache   interfaces, kept for a while     iface   as they are
 *   lldp      neighbours by lldpd              announce  its TLV
 *   probe     asks for silent hosts
 *   home      calls managers                   netconf   who connects, until a session begins
 *   login     by SSH, TLS, or on this host
 *   serve     a thread for each session, and whose turn it is
 *   reply     messages, and replies to them
 *   attribute attributes that nobody knows
 *   bridge    MAC addresses behind ports       beacon    has switches see each other
 *   name      the switch's name, which outlives the agent
 *   remote, options   keys and certificates; what the command line says
 *   error     what is wrong, and how a client is told
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
#include "beacon.h"
#include "error.h"
#include "nl.h"

#define AGENT_MODULE	"rdma-inc-switch"
#define AGENT_ID_LEN	64
#define AGENT_ADDRS	8

struct cm;
struct home;
struct lldp;
struct netconf;
struct notif;
struct remote;
struct serve;

/**
 * struct agent_lock - who has locked the running datastore
 * @owner: session, 0: nobody
 * @since: when, in seconds since 1970
 */
struct agent_lock {
	uint32_t	owner;
	time_t		since;
};

/**
 * struct ifcache - interfaces as they were read, see ifcache.c; under netconf_lock()
 * @change: what has changed since; any thread's
 * @sw: the container "switch", or NULL
 * @read_at: microseconds: when it was read
 * @cost: how long that took
 * @next: when it may be read again
 * @warned: it could not be read, and the log says so
 */
struct ifcache {
	_Atomic int	change;
	struct lyd_node	*sw;
	uint64_t	read_at;
	uint64_t	cost;
	uint64_t	next;
	bool		warned;
};

/**
 * struct agent - one switch and its agent
 * @ctx: YANG modules
 * @mod: rdma-inc-switch
 * @id: the switch's name in the fabric; of name.c
 * @naddrs: number of @addrs
 * @addrs: addresses at which NETCONF is served
 * @cm_addr: address at which ranks may connect by RDMA CM
 * @cm_port: and port; 0: they may not
 * @lock: of the running datastore; under netconf_lock(), as requests are
 * @nl: to the kernel, for requests; likewise
 * @ifcache: interfaces; likewise
 * @beacon: when beacons are sent; the thread's that waits for events
 * @cm: connections by RDMA CM, or NULL
 * @home: calls to managers, or NULL
 * @lldp: neighbours by LLDP, or NULL
 * @netconf: who connects
 * @serve: sessions
 * @remote: keys and certificates; NULL: no SSH, and no TLS
 * @notif: subscriptions
 */
struct agent {
	struct ly_ctx		*ctx;
	const struct lys_module	*mod;
	char			id[AGENT_ID_LEN];
	unsigned int		naddrs;
	char			addrs[AGENT_ADDRS][64];
	const char		*cm_addr;
	_Atomic uint16_t	cm_port;
	struct agent_lock	lock;
	struct inc_nl		nl;
	struct ifcache		ifcache;
	struct beacon		beacon;
	struct cm		*cm;
	struct home		*home;
	struct lldp		*lldp;
	struct netconf		*netconf;
	struct serve		*serve;
	struct remote		*remote;
	struct notif		*notif;
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
