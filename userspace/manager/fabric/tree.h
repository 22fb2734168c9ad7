/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A tree on one switch: how it is made, changed and deleted by NETCONF.
 */
#ifndef INC_MANAGER_TREE_H
#define INC_MANAGER_TREE_H

#include "fabric/switch.h"

/* Path MTUs of rdma-inc-attributes.yang, bytes. */
#define TREE_PMTU_MIN	256
#define TREE_PMTU_MAX	4096

/**
 * struct tree_end - one end of a queue pair
 * @addr: address
 * @qpn: QPN
 * @psn: first PSN that it sends
 * @rkey: R_Key that requests to it must carry
 */
struct tree_end {
	struct inc_rdv_addr	addr;
	uint32_t		qpn;
	uint32_t		psn;
	uint32_t		rkey;
};

/**
 * struct tree_member - a member of a tree
 * @below: ranks below it if it is a switch; 0: a host
 * @rank: rank of the job, if it is a host
 * @uc: its queue pair is UC, else RC
 * @waits: created without @peer: a host connects to it by RDMA CM
 * @ifindex: interface of the switch that leads to it; 0: as the routes say
 * @known: can be created: @peer is set, or @waits
 * @made: has been created, and @own is set
 * @peer: its queue pair, without rkey
 * @own: the switch's queue pair; if @waits, without addr and psn
 */
struct tree_member {
	uint32_t	below;
	uint32_t	rank;
	uint32_t	ifindex;
	bool		uc;
	bool		waits;
	bool		known;
	bool		made;
	struct tree_end	peer;
	struct tree_end	own;
};

/**
 * struct tree - a tree
 * @id: tree ID
 * @job_ranks: if it is a child: ranks of the job; else 0
 * @first_rank: if it is a child: first rank below it
 * @settings: wishes, then the tree's settings. Its addr, qpn, psn, rkey are
 *	not used
 * @has_first_msg_id: @settings.first_msg_id is a wish
 * @priority: of its packets in the switch's queues
 * @n: number of members
 * @members: members
 * @unrouted: after -ENETUNREACH: member that the switch has no route to; -1:
 *	unknown
 * @up: if it is a child: its own end of the queue pair to the parent; the
 *	address is chosen by the caller
 * @parent_id: if it is a child: the parent's tree ID
 * @parent: if it is a child: the parent's end of the queue pair
 */
struct tree {
	uint32_t		id;
	uint32_t		job_ranks;
	uint32_t		first_rank;
	struct inc_rdv_joined	settings;
	bool			has_first_msg_id;
	uint32_t		priority;
	uint32_t		n;
	struct tree_member	*members;
	int			unrouted;
	struct tree_end		up;
	uint32_t		parent_id;
	struct tree_end		parent;
};

int tree_make(struct tree *t, struct sw_session *n, char *err);
int tree_add(struct tree *t, struct sw_session *n, char *err);
int tree_link(const struct tree *t, struct sw_session *n, char *err);
int tree_member_del(uint32_t id, uint32_t member, struct sw_session *n,
		    char *err);
int tree_del(uint32_t id, struct sw_session *n, char *err);
int tree_name_switch(const char *id, struct sw_session *n, char *err);

#endif /* INC_MANAGER_TREE_H */
