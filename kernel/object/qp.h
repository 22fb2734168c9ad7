/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A member's QP on the switch: the responder, the requester and the results
 * that are queued for them.
 */
#ifndef _INC_QP_H
#define _INC_QP_H

#include <linux/in6.h>
#include <linux/netlink.h>
#include <linux/rhashtable-types.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/dst_cache.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/ends.h"
#include "core/lost_place.h"
#include "core/message.h"
#include "core/msg_loss.h"
#include "core/requester.h"
#include "core/responder.h"
#include "core/result_queue.h"
#include "object/parting.h"
#include "object/stats.h"
#include "object/wait.h"

struct inc_fault;
struct inc_switch;
struct inc_tree;
struct inc_uplink_queue;

/* Packets in flight before a QP takes memory for more; a power of two. */
#define INC_QP_RING		4

/* Packets queued beyond a gap; rxe has at most 128 unacknowledged. */
#define INC_QP_MAX_OOO		128

/**
 * struct inc_member_cfg - settings of a member
 * @index: place among the tree's members
 * @transport: enum rdma_inc_transport
 * @family: AF_INET or AF_INET6
 * @has_local: @local was given
 * @has_psn: @psn was given
 * @pkey: P_Key
 * @peer: address of the host; IPv4 as a mapped address
 * @local: address of the switch towards it, in the same form
 * @peer_qpn: the host's QPN
 * @peer_psn: first PSN that the host sends
 * @psn: first PSN that the switch sends
 * @qpn: the switch's QPN, 0 to have one chosen
 * @ifindex: interface, or VRF, by which the host is reached; 0: as routes say
 * @peer_tree_id: for a QP to the parent: the tree there
 * @peer_rkey: for a QP to the parent: R_Key of its slots
 */
struct inc_member_cfg {
	u16		index;
	u8		transport;
	u8		family;
	bool		has_local;
	bool		has_psn;
	u16		pkey;
	struct in6_addr	peer;
	struct in6_addr	local;
	u32		peer_qpn;
	u32		peer_psn;
	u32		psn;
	u32		qpn;
	int		ifindex;
	u32		peer_tree_id;
	u32		peer_rkey;
};

/**
 * struct inc_qp - a member's QP
 * @node: in inc_switch.qps
 * @sw: switch
 * @tree: tree; holds a reference
 * @cfg: settings, defaults filled in
 * @qpn: its number
 * @cnp_at: when the last CNP was sent, by the lower half of inc_now()
 * @state: enum rdma_inc_member_state; enters error once, under @tx.lock
 * @error: enum rdma_inc_member_error
 * @report: the error is not yet reported to the event group
 * @rx: the receive half
 * @rx.lock: guards @rx. Outermost of the data path: a slot's lock or any QP's
 *	@tx.lock may be taken inside it, but not both at a time
 * @rx.responder: responder
 * @rx.place: recent packets of a host over RC
 * @rx.ooo: packets beyond a gap, by PSN
 * @rx.ooo_size: memory that they take
 * @rx.port: UDP source port of the member, learned with its first valid R_Key;
 *	0 before that; read without the lock, too
 * @rx.msg_id: message in progress
 * @rx.msg_len: its length in bytes, header included, as the header says
 * @rx.to_slot: its chunks go to the slot; otherwise they are discarded
 * @rx.truesize: memory that its first packet takes
 * @rx.nwaiting: number of its chunks that the slot gets next, all at once
 * @rx.bursts: the slot has got several of them the last time
 * @rx.acks_delayed: number of delayed acknowledgments
 * @rx.ack_eager: number of lone messages still to acknowledge at once
 * @rx.ack_waits: times in a row that the member waited for @rx.ack_timer
 * @rx.solicits: times that the member was solicited since it last sent
 *	something
 * @rx.waited_for: others have waited for it since it last sent a packet
 * @rx.retry: UC: its last packet was a retry, and waited for nobody
 * @rx.has_sent: a request of it has arrived; read without the lock, too
 * @rx.mem_slot: slot that needs its memory, too, see qp_mem.c; read without the lock
 * @rx.ack_psn: newest request whose acknowledgment is delayed
 * @rx.next_msg_id: message ID expected next, for diagnosis
 * @rx.silent_since: jiffies when it last sent a packet, was solicited, or was
 *	first waited for
 * @rx.retry_since: UC: jiffies of the first of several retries
 * @rx.retry_at: UC: jiffies of the last one
 * @rx.ack_timer: sends a delayed acknowledgment
 * @rx.solicit_timer: solicits the member
 * @rx.more: accepts more packets of @rx.ooo
 * @rx.beyond: UC: no message from this one on has begun
 * @rx.loss: UC: messages that have not arrived
 * @rx.waiting: the first of @rx.nwaiting chunks
 * @rx.waiting_last: the last of them
 * @rx.batch_cpu: CPU in whose batch the QP is, see batch.c; -1: in none
 * @tx: the send half
 * @tx.lock: guards @tx and @uplink; innermost
 * @tx.busy: a CPU is transmitting for this QP; others queue and leave it to
 *	that CPU
 * @tx.recheck: the sending CPU has to check again
 * @tx.becn: the next acknowledgment has BECN; read and written without the lock
 * @tx.end: is the newest request in flight the last for now?
 * @tx.uc_psn: UC: PSN of the next packet
 * @tx.results: results queued for the member
 * @tx.timer: retransmission and RNR timer; runs lazily, re-arms itself
 * @tx.requester: packets in flight
 * @tx.first: room for the first packets in flight
 * @tx.ends: last packets of results in flight
 * @tx.more: continues after a CPU has sent much
 * @tx.passed_on: sent for at the end of a CPU's batch, see batch.c
 * @wait: how long others have waited for it; used by the tree's scan timer
 * @dst: cached route
 * @sport: UDP source port
 * @data_class: traffic class of its packets with data, with ECN's bits
 * @priority: the tree's
 * @cpu: CPU that its last packet has arrived on, as @last_rx
 * @traffic_class: the tree's
 * @iif: device over which the route to the member goes
 * @genid: generation of the routes and addresses, see flow.h, that @iif is of
 * @bypass: the port of the bridge where packets of the member arrive, see bypass.c
 * @bypass.addr: from which MAC address
 * @bypass.since: jiffies since when @bypass.known and @bypass.back count, for a while
 * @bypass.tick: jiffies when it has last passed one on, and for which that counts
 * @bypass.port: from which port
 * @bypass.genid: generation of the routes that @bypass.back is of
 * @bypass.known: the bridge knows this way
 * @bypass.back: results go back this way
 * @stats: counters, or NULL while the member is idle
 * @early: counters while there is no @stats
 * @memory: bytes charged to the tree
 * @mem: on-demand memory, see qp_mem.c
 * @mem.work: allocates it
 * @mem.reserved: bytes not taken yet
 * @mem.inflight: in-flight state, for messages in progress; set under @rx.lock
 * @mem.inflight_size: its bytes
 * @mem.lacked_at: jiffies when there was last no memory for one of its messages;
 *	under @rx.lock, read without, too
 * @mem.lacks_since: jiffies since when there has been none, ...
 * @mem.lacks_after: ... and no message has begun after as many as this
 * @last_rx: jiffies when the last packet arrived that the member has sent for sure, or
 *	the QP was made
 * @fault: with CONFIG_INFINIBAND_INC_FAULT: fault injection, or NULL
 * @uplink: requests that are queued for the parent, under @tx.lock; NULL for a
 *	QP to a member
 * @is_switch: the member is a switch
 * @heard: such a packet has arrived; before that it is never declared dead
 * @parted: in inc_tree.parted
 * @parting: waits for the readers
 */
struct inc_qp {
	/* Members that every packet reads are at the beginning of each part. */
	struct rhash_head		node;
	u32				qpn;
	int				iif;
	int				genid;
	u8				state;
	bool				is_switch;
	bool				heard;
	u8				traffic_class;
	__be16				sport;
	u16				cpu;
	u8				error;
	bool				report;
	u8				data_class;
	u8				priority;
	struct inc_switch		*sw;
	struct inc_tree			*tree;
	struct inc_uplink_queue		*uplink;
	struct inc_stats __percpu	*stats;
	struct inc_member_cfg		cfg;
	u32				cnp_at;
	struct {
		u64			addr;
		unsigned long		since;
		unsigned long		tick;
		int			port;
		int			genid;
		bool			known;
		bool			back;
	} bypass;
	unsigned long			last_rx;
#if IS_ENABLED(CONFIG_INFINIBAND_INC_FAULT)
	struct inc_fault		*fault;
#endif
	struct dst_cache		dst;
	struct {
		struct work_struct	work;
		atomic64_t		reserved;
		void			*inflight;
		u32			inflight_size;
		u32			lacks_after;
		unsigned long		lacks_since;
		unsigned long		lacked_at;
	} mem;
	atomic64_t			early[INC_STATS_MAX];
	struct list_head		parted;
	struct inc_wait			wait;

	struct {
		spinlock_t		lock;	/* see above */
		struct inc_responder	responder;
		struct inc_lost_place	place;
		struct sk_buff_head	ooo;
		u32			ooo_size;
		__be16			port;
		u32			msg_id;
		u32			msg_len;
		u32			truesize;
		bool			to_slot;
		u8			nwaiting;
		bool			bursts;
		u8			acks_delayed;
		u8			ack_eager;
		u8			ack_waits;
		u8			solicits;
		bool			waited_for;
		bool			has_sent;
		bool			retry;
		u16			mem_slot;
		u32			ack_psn;
		u32			next_msg_id;
		u32			beyond;
		int			batch_cpu;
		unsigned long		silent_since;
		unsigned long		retry_since;
		unsigned long		retry_at;
		struct timer_list	ack_timer;
		struct timer_list	solicit_timer;
		struct work_struct	more;
		struct inc_msg_loss	loss;
		struct inc_part		*waiting;
		struct inc_part		*waiting_last;
	} rx ____cacheline_aligned;
	u64				memory;

	struct {
		spinlock_t		lock;	/* see above */
		bool			busy;
		bool			recheck;
		bool			becn;
		enum inc_requester_end	end;
		u32			uc_psn;
		atomic_t		passed_on;
		struct inc_result_queue	results;
		struct timer_list	timer;
		struct inc_requester	requester;
		struct inc_wqe		first[INC_QP_RING];
		struct inc_ends		ends;
		struct work_struct	more;
	} tx ____cacheline_aligned;
	struct inc_parting		parting;
};

/* Configuration: process context, inc_switch.lock held. */
struct inc_qp *inc_qp_find(struct inc_tree *tree, u16 member);
void inc_qp_tune(struct inc_qp *qp);
void inc_qp_stats_sum(const struct inc_qp *qp, u64 *sum);

/* Data path: RCU read side. */
extern const struct rhashtable_params inc_qpn_params;

struct inc_qp *inc_qp_lookup(struct inc_switch *sw, u32 qpn);
void inc_qp_prefetch(const struct inc_qp *qp);

/* The status with which a switch says that a message failed there, or 0. */
static inline u8 inc_qp_failure(const struct inc_qp *qp,
				const struct inc_pkt *pkt)
{
	return qp->is_switch ? inc_msg_failure(pkt) : 0;
}

/* Add to a counter, RDMA_INC_A_MEMBER_STATS_*. BH off. */
static inline void inc_qp_count_n(struct inc_qp *qp, unsigned int idx, u64 n)
{
	struct inc_stats __percpu *stats = READ_ONCE(qp->stats);

	if (likely(stats))
		inc_stats_add(stats, idx, n);
	else
		atomic64_add(n, &qp->early[idx]);
}

static inline void inc_qp_count(struct inc_qp *qp, unsigned int idx)
{
	inc_qp_count_n(qp, idx, 1);
}

static inline void inc_qp_count_rx(struct inc_qp *qp,
				   const struct inc_pkt *pkt)
{
	inc_qp_count(qp, RDMA_INC_A_MEMBER_STATS_RX_PACKETS);
	inc_qp_count_n(qp, RDMA_INC_A_MEMBER_STATS_RX_BYTES, pkt->payload_len);
}

/* Has the member's QP been up? A parent was up before its child knew it. */
static inline bool inc_qp_was_up(const struct inc_qp *qp)
{
	return qp->uplink || READ_ONCE(qp->heard);
}

/* Any context; the first reason wins. */
void inc_qp_error(struct inc_qp *qp, u8 error);

#endif /* _INC_QP_H */
