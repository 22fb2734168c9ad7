/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Messages between ranks and coordinators (Documentation/rendezvous.rst), in
 * decoded form; rpc/message.c has the encoding. No I/O.
 */
#ifndef INC_RENDEZVOUS_PROTO_H
#define INC_RENDEZVOUS_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* How collectives are split into messages: Documentation/mapping.rst. */
#define INC_RDV_MAPPING		1
#define INC_RDV_PORT		"18791"
#define INC_RDV_JOB_MAX		63	/* characters */
#define INC_RDV_RANKS_MAX	1024	/* RDMA_INC_MAX_RANKS of the kernel */
#define INC_RDV_TEXT_MAX	512
#define INC_RDV_RAILS_MAX	8	/* addresses of a switch that ranks choose from */
#define INC_RDV_RAILS_LEN	256	/* of their list, with the final 0 */
#define INC_RDV_KEY_LEN		32

/**
 * struct inc_rdv_addr - address of a GID
 * @len: 4 (IPv4) or 16 (IPv6); 0: none
 * @bytes: network byte order
 * @vlan: VLAN that the host has it in, so far as the manager tells VLANs apart; 0:
 *	none, or unknown
 */
struct inc_rdv_addr {
	unsigned int	len;
	uint8_t		bytes[16];
	uint16_t	vlan;
};

/**
 * struct inc_rdv_tree - requested settings of the tree; 0: no preference
 * @slots: number of slots
 * @msg_size: maximum message size, bytes
 * @pmtu: path MTU, bytes
 * @has_first_msg_id: @first_msg_id is requested
 * @first_msg_id: message ID of the first message
 */
struct inc_rdv_tree {
	uint32_t	slots;
	uint32_t	msg_size;
	uint32_t	pmtu;
	bool		has_first_msg_id;
	uint32_t	first_msg_id;
};

/**
 * struct inc_rdv_join - a rank's request to join a job
 * @job: name of the job
 * @ranks: number of ranks of the job
 * @rank: rank of this one
 * @addr: address of its GID
 * @qpn: its QPN
 * @psn: first PSN that it sends
 * @mtu: active MTU of its port, bytes; 0: not given
 * @uc: its queue pair is UC, else RC
 * @rebuild: if the tree fails, the rank goes on over another one; not used in
 *	INC_RDV_REJOIN
 * @change: the rank supports INC_RDV_LOSSY and INC_RDV_CHANGE
 * @move: the rank supports INC_RDV_CHANGE that keeps the transport
 * @rails: the rank can join another job over a second device
 * @cm: libinc-am is to connect its queue pair by RDMA CM; @psn is not used then
 * @round: if INC_RDV_REJOIN: round of the INC_RDV_REBUILD that it answers
 * @done: if INC_RDV_REJOIN: number of operations whose results the rank has,
 *	modulo 2^32
 * @tree: requested settings of the tree
 * @has_key: the job has a key
 * @key: that key; at a coordinator its SHA-256
 */
struct inc_rdv_join {
	char			job[INC_RDV_JOB_MAX + 1];
	uint32_t		ranks;
	uint32_t		rank;
	struct inc_rdv_addr	addr;
	uint32_t		qpn;
	uint32_t		psn;
	uint32_t		mtu;
	bool			uc;
	bool			rebuild;
	bool			change;
	bool			move;
	bool			rails;
	bool			cm;
	uint32_t		round;
	uint32_t		done;
	struct inc_rdv_tree	tree;
	bool			has_key;
	uint8_t			key[INC_RDV_KEY_LEN];
};

/**
 * struct inc_rdv_joined - the daemon's answer to a rank that joins
 * @tree_id: tree
 * @addr: address of the switch
 * @qpn: QPN of the switch's queue pair
 * @psn: first PSN that the switch sends
 * @rkey: R_Key of the slots
 * @slots: number of slots
 * @msg_size: stride of the slots and maximum message size, bytes
 * @pmtu: path MTU, bytes
 * @first_msg_id: message ID of the first message
 * @dead_time: milliseconds after which the switch declares a silent rank dead
 * @collectives: mask of offered collectives
 * @dtypes: mask of offered data types
 * @ops: mask of offered operations
 * @traffic_class: traffic class of packets in both directions; its ECN bits are of
 *	packets with data alone
 * @rebuild: if the tree fails, the manager sends INC_RDV_REBUILD
 * @change: the daemon answers INC_RDV_LOSSY with INC_RDV_CHANGE, if all ranks
 *	support it
 * @rails: addresses of the switch, with a comma between; empty: no rails
 * @resume: after INC_RDV_REJOIN: number of operations whose results all ranks
 *	have, modulo 2^32
 * @has_own_psn: the queue pair was connected by RDMA CM
 * @own_psn: if @has_own_psn: first PSN that the rank sends
 */
struct inc_rdv_joined {
	uint32_t		tree_id;
	struct inc_rdv_addr	addr;
	uint32_t		qpn;
	uint32_t		psn;
	uint32_t		rkey;
	uint32_t		slots;
	uint32_t		msg_size;
	uint32_t		pmtu;
	uint32_t		first_msg_id;
	uint32_t		dead_time;
	uint32_t		collectives;
	uint32_t		dtypes;
	uint32_t		ops;
	uint32_t		traffic_class;
	bool			rebuild;
	bool			change;
	char			rails[INC_RDV_RAILS_LEN];
	uint32_t		resume;
	bool			has_own_psn;
	uint32_t		own_psn;
};

/**
 * struct inc_rdv_placed - ranks of a child switch, and settings of its tree
 * @first: first rank
 * @count: number of ranks
 * @tree: settings; all are given if the job has more ranks than @count
 */
struct inc_rdv_placed {
	uint32_t		first;
	uint32_t		count;
	struct inc_rdv_tree	tree;
};

enum inc_rdv_type {
	/* rank to daemon */
	INC_RDV_JOIN,
	INC_RDV_RTS,
	INC_RDV_LEAVE,
	INC_RDV_LOST,
	/* daemon to rank */
	INC_RDV_JOINED,
	INC_RDV_READY,
	INC_RDV_LEFT,
	INC_RDV_FAILED,
	INC_RDV_BYE,
	INC_RDV_ERROR,
	INC_RDV_ALIVE,
	INC_RDV_WRONG,
	/* a child's daemon to the parent's */
	INC_RDV_GATHER,
	INC_RDV_RETRACT,
	INC_RDV_LINK,		/* and INC_RDV_RTS */
	/* and back */
	INC_RDV_PLACED,
	INC_RDV_LINKED,
	/* a manager to a rank, by libinc-am, and back */
	INC_RDV_REBUILD,
	INC_RDV_REJOIN,
	/* a rank to a daemon or manager, and back to all ranks */
	INC_RDV_LOSSY,
	INC_RDV_CHANGE,
};

/**
 * struct inc_rdv_msg - any message
 * @type: its kind
 * @join: if INC_RDV_JOIN; INC_RDV_REJOIN: qpn, psn, round and done alone; INC_RDV_GATHER
 *	and INC_RDV_RETRACT: without addr, qpn and psn; INC_RDV_LINK: only these three
 * @joined: if INC_RDV_JOINED or INC_RDV_LINKED
 * @placed: if INC_RDV_PLACED
 * @rank: if INC_RDV_LEFT, INC_RDV_FAILED or INC_RDV_WRONG: rank; -1: none in particular
 * @status: if INC_RDV_FAILED: enum inc_status that the tree answers with; if
 *	INC_RDV_WRONG: enum inc_status that @msg_id ended with
 * @msg_id: if INC_RDV_WRONG: message; if INC_RDV_REBUILD: number of rebuilds so far
 * @rails: if INC_RDV_RTS: mask of the addresses of inc_rdv_joined.rails that the rank
 *	reaches over a second device; if INC_RDV_READY: mask of the one to use
 * @keep: if INC_RDV_CHANGE: over the same transport, else over UC
 * @err: if INC_RDV_ERROR: positive errno value
 * @text: if INC_RDV_FAILED, INC_RDV_ERROR, INC_RDV_WRONG or INC_RDV_REBUILD: description;
 *	if INC_RDV_BYE: ranks that have not come yet, as "2, 5-7", or empty; if
 *	INC_RDV_CHANGE: the job to join; if INC_RDV_READY and @rails: the second job
 */
struct inc_rdv_msg {
	enum inc_rdv_type	type;
	union {
		struct inc_rdv_join	join;
		struct inc_rdv_joined	joined;
		struct inc_rdv_placed	placed;
		struct {
			int		rank;
			unsigned int	status;
			uint32_t	msg_id;
			uint32_t	rails;
			bool		keep;
			int		err;
			char		text[INC_RDV_TEXT_MAX];
		};
	};
};

const char *inc_rdv_name(enum inc_rdv_type type);

bool inc_rdv_addr_is_link_local(const struct inc_rdv_addr *addr);
const char *inc_rdv_addr_str(const struct inc_rdv_addr *addr, char *buf,
			     size_t len);
void inc_rdv_addr_set(struct inc_rdv_addr *addr, const uint8_t *bytes,
		      unsigned int len);
int inc_rdv_addr_parse(const char *text, struct inc_rdv_addr *addr);
int inc_rdv_addr_from_sockaddr(const struct sockaddr *sa,
			       struct inc_rdv_addr *addr);
socklen_t inc_rdv_addr_to_sockaddr(const struct inc_rdv_addr *addr,
				   uint16_t port, struct sockaddr_storage *ss);

#endif /* INC_RENDEZVOUS_PROTO_H */
