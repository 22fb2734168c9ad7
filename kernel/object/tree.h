/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An aggregation tree on this switch: its ranks and slots.
 */
#ifndef _INC_TREE_H
#define _INC_TREE_H

#include <linux/atomic.h>
#include <linux/llist.h>
#include <linux/netlink.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

#include "core/icrc.h"
#include "core/slot.h"
#include "object/blame.h"
#include "object/failure.h"
#include "object/parting.h"
#include "object/stats.h"
#include "object/wait.h"

struct inc_switch;
struct inc_qp;
struct mem_cgroup;

/**
 * struct inc_tree_cfg - settings of a tree; 0 for the default, unless noted
 * @id: tree ID, 0 to have one chosen
 * @members: number of members, hosts or switches, at least 1
 * @slots: number of slots, a power of two
 * @msg_size: maximum message size in bytes, INC header included
 * @pmtu: path MTU, bytes
 * @first_msg_id: first message ID; 0 is no default
 * @collectives: mask
 * @dtypes: mask
 * @ops: mask
 * @order: enum rdma_inc_order
 * @window: maximum number of result packets in flight to a member
 * @window_given: it is not the default, which fits itself to each member's path
 * @hold: maximum number of bytes held of one member
 * @min_rto_ms: minimum retransmission timeout
 * @dead_time_ms: a member that acknowledges nothing for so long is dead
 * @first_rank: a child's first rank
 * @job_ranks: ranks of the job, if this switch is a child switch
 * @below: number of ranks below each member, 0 if it is a host; NULL if all
 *	members are hosts
 * @owner: port ID of the netlink socket that the tree ends with, or 0
 * @traffic_class: traffic class of packets to members and the parent, ECN bits
 *	0
 * @ecn: enum rdma_inc_ecn of packets with data
 * @priority: priority of packets to members and the parent
 * @cnp_interval_us: shortest time between two CNPs to a member, or 0: none are sent
 */
struct inc_tree_cfg {
	u32	id;
	u16	members;
	u16	slots;
	u32	msg_size;
	u16	pmtu;
	u32	first_msg_id;
	u32	collectives;
	u32	dtypes;
	u32	ops;
	u8	order;
	u16	window;
	bool	window_given;
	u32	hold;
	u32	min_rto_ms;
	u32	dead_time_ms;
	u16	first_rank;
	u16	job_ranks;
	const u16	*below;
	u32	owner;
	u8	traffic_class;
	u8	ecn;
	u8	priority;
	u32	cnp_interval_us;
};

/**
 * struct inc_tree_slot - a slot and its lock
 * @lock: guards @m and @forwarded to @done_at; nests in inc_qp.rx.lock; only
 *	inc_tree_slots_mem.lock nests in it. Who waits for it reads a line that its owner
 *	writes at a message's end only
 * @unread: its newest message whose result is complete, and how many members have yet
 *	to acknowledge theirs, see slot_mem.c
 * @m: the slot
 * @ended: newest message that has ended, its results or statuses queued
 * @forwarded: chunks of the message that were passed on
 * @quick: number of its chunks that followed each other quickly
 * @delayed: some chunks wait to be passed on
 * @listed: the slot is in inc_tree.fanout.delayed
 * @delayed_node: entry in inc_tree.fanout.delayed
 * @done_at: time when the last chunk completed, microseconds, or 0
 * @begun_at: jiffies when the first request of its message arrived, for
 *	diagnosis
 * @gathered_at: jiffies when all requests of a child's message had arrived, for
 *	diagnosis
 */
struct inc_tree_slot {
	spinlock_t		lock;	/* see above */
	atomic64_t		unread;
	struct inc_slot		m ____cacheline_aligned_in_smp;
	u32			ended;
	u16			forwarded;
	u8			quick;
	bool			delayed;
	bool			listed;
	struct llist_node	delayed_node;
	u64			done_at;
	unsigned long		begun_at;
	unsigned long		gathered_at;
} ____cacheline_aligned_in_smp;

/**
 * struct inc_tree_missing - members that keep others waiting (missing.c)
 * @scan: runs the search while a slot is busy
 * @probed: jiffies when all members were last probed
 * @member_waits: a member behind another switch waits
 * @scan_waits: the scan has found a member that keeps others waiting
 * @scan_all: the scan solicits all members
 * @scan_next: rank at which the scan continues
 * @up_wait: how long the parent has kept members waiting
 */
struct inc_tree_missing {
	struct timer_list	scan;
	unsigned long		probed;
	bool			member_waits;
	bool			scan_waits;
	bool			scan_all;
	u16			scan_next;
	struct inc_wait		up_wait;
};

/**
 * struct inc_tree_slots_mem - memory for slots (slot_mem.c)
 * @blocks: blocks of slots; pages may outlive them, in packets
 * @slot_size: bytes of a slot
 * @block_size: bytes of a block
 * @block_slots: number of slots that a block is for
 * @max: number of blocks that there may be
 * @n: number of blocks; under @lock
 * @free: memory of slots that none has, the last given back first; each one
 *	begins with a pointer to the next
 * @lock: guards @free; nests in a slot's lock
 * @wanted: there was no memory for another block the last time
 * @reclaimed_at: jiffies when slots were last searched for memory
 */
struct inc_tree_slots_mem {
	void		**blocks;
	size_t		slot_size;
	size_t		block_size;
	u16		block_slots;
	u16		max;
	u16		n;
	void		*free;
	spinlock_t	lock;	/* see above */
	bool		wanted;
	unsigned long	reclaimed_at;
};

/**
 * struct inc_tree_mem - who pays for a tree's memory (qp_mem.c, tree_mem.c)
 * @tried_at: jiffies when there was no memory at once
 * @failed_at: jiffies when a work found none, either
 * @charged: bytes charged to the namespace, members included; under
 *	inc_switch.lock
 * @reserved: bytes of @charged that slots have not taken yet
 * @memcg: memory cgroup of who made the tree: all memory that members and slots
 *	take later is charged to it
 */
struct inc_tree_mem {
	unsigned long		tried_at;
	unsigned long		failed_at;
	u64			charged;
	atomic64_t		reserved;
	struct mem_cgroup	*memcg;
};

/**
 * struct inc_tree_fanout - chunks that wait to be passed on (fanout.c)
 * @kicked_at: time when chunks were last sent to all members, microseconds
 * @delayed: slots with chunks that @timer may have to pass on
 * @timer: passes on chunks that have waited long enough
 */
struct inc_tree_fanout {
	u64			kicked_at;
	struct llist_head	delayed;
	struct timer_list	timer;
};

/**
 * struct inc_tree_end - a tree that is deleted (teardown.c)
 * @leaving: in inc_switch.leaving
 * @left_at: jiffies when the tree was unpublished
 * @until: jiffies until which to wait for its members
 * @leaves: the tree is unpublished, and @until counts
 * @linger: waits for the members
 * @parting: waits for the readers
 */
struct inc_tree_end {
	struct list_head	leaving;
	unsigned long		left_at;
	unsigned long		until;
	bool			leaves;
	struct delayed_work	linger;
	struct inc_parting	parting;
};

/**
 * struct inc_tree - an aggregation tree
 * @sw: switch that it belongs to
 * @cfg: settings, defaults filled in; window, hold, min_rto and dead_time may
 *	change at any time (READ_ONCE), the others never do
 * @geom: the part of @cfg that the slot machine needs
 * @crc_shift: shifts a CRC over the payload of the first chunk, and of a later
 *	one
 * @epoch: serial number of the tree in its namespace
 * @state: enum rdma_inc_tree_state; written under inc_switch.lock or by @fail_work
 * @error: enum inc_status of a failed tree; set once, before @fail_work runs
 * @used: a message has begun; set under the inc_qp.rx.lock of its member
 * @members_told: @fail_work has told the members; under inc_switch.lock
 * @low_mark: all messages before this one have ended; advanced by
 *	inc_tree_low_mark()
 * @nmembers: ranks that have a member; under inc_switch.lock
 * @below: copy of the one in &struct inc_tree_cfg, or NULL
 * @ranges: memory of @geom.ranges
 * @at: memory of @geom.at
 * @parent: a child's QP to its parent; access as for @member_qp
 * @held: bytes of packets of its members that wait for others, see hold.c
 * @opened: messages that have ever begun; a member that has begun fewer keeps
 *	others waiting
 * @answers: messages that a child's parent has answered; under that QP's
 *	rx.lock
 * @member_qp: QP of each member; written under inc_switch.lock, read under RCU
 * @slot: slots
 * @slots_mem: their memory
 * @mem: what that, and its members' memory, is charged to
 * @stats: counters of the tree
 * @gone: sum of the counters of removed members; under inc_switch.lock
 * @fanout: chunks that wait to be passed on
 * @missing: search for members that keep others waiting
 * @fail_work: tells members and parent that the tree has failed
 * @sweep_work: drops the rest of failed messages
 * @failure: the member that was lost first; guarded by inc_switch.lock
 * @blame: report of ranks that made messages fail, for the event group
 * @ref: references: the set of trees, or the teardown; each QP; queued works
 * @parted: QPs that are unpublished and not yet freed
 * @end: its deletion
 * @debugfs: directory, or NULL
 * @debugfs_fault: with CONFIG_INFINIBAND_INC_FAULT: directory for fault
 *	injection in @debugfs, or NULL
 */
struct inc_tree {
	struct inc_switch		*sw;
	struct inc_tree_cfg		cfg;
	struct inc_slot_geom		geom;
	struct inc_crc_shift		crc_shift[2];
	u32				epoch;
	u32				error;
	u8				state;
	bool				used;
	bool				members_told;
	u32				low_mark;
	u16				nmembers;
	u16				*below;
	struct inc_rank_range		*ranges;
	u16				*at;
	struct inc_qp __rcu		*parent;
	u32				answers;
	struct inc_qp __rcu		**member_qp;
	struct inc_tree_slot		*slot;
	struct inc_tree_slots_mem	slots_mem;
	struct inc_tree_mem		mem;
	struct inc_stats __percpu	*stats;
	u64				gone[INC_STATS_MAX];
	atomic64_t			held;
	atomic_t			opened;
	struct inc_tree_fanout		fanout;
	struct inc_tree_missing		missing;
	struct work_struct		fail_work;
	struct work_struct		sweep_work;
	struct inc_failure		failure;
	struct inc_blame		blame;
	refcount_t			ref;
	struct list_head		parted;
	struct inc_tree_end		end;
	struct dentry			*debugfs;
#if IS_ENABLED(CONFIG_INFINIBAND_INC_FAULT)
	struct dentry			*debugfs_fault;
#endif
};

/* Configuration: process context, inc_switch.lock held. */
struct inc_qp *inc_tree_parent(struct inc_tree *tree);
struct inc_tree *inc_tree_find(struct inc_switch *sw, u32 id);

/* Any context. The first reason wins. */
void inc_tree_fail(struct inc_tree *tree, u8 status);
void inc_tree_sweep(struct inc_tree *tree);
u32 inc_tree_low_mark(struct inc_tree *tree);

static inline struct inc_tree_slot *inc_tree_slot(struct inc_tree *tree,
						  u32 msg_id)
{
	return &tree->slot[msg_id & (tree->cfg.slots - 1)];
}

/* Bytes of packets that wait. */
static inline u64 inc_tree_held(const struct inc_tree *tree)
{
	return max_t(s64, atomic64_read(&tree->held), 0);
}

/* The next member from *@index on that has a QP, or NULL; RCU read side. */
static inline struct inc_qp *inc_tree_next_member(const struct inc_tree *tree,
						  u16 *index)
{
	struct inc_qp *qp = NULL;

	while (!qp && *index < tree->cfg.members)
		qp = rcu_dereference(tree->member_qp[(*index)++]);
	return qp;
}

/**
 * inc_tree_for_each_member() - iterate over the QPs of a tree's members
 * @tree: tree
 * @qp: cursor, struct inc_qp *
 *
 * Context: RCU read side.
 */
#define inc_tree_for_each_member(tree, qp) \
	for (u16 inc_next = 0; ((qp) = inc_tree_next_member(tree, &inc_next));)

/* Does nobody wait any longer for its members' acknowledgments? */
static inline bool inc_tree_is_over(const struct inc_tree *tree)
{
	/* Pairs with inc_tree_leave(). */
	return smp_load_acquire(&tree->end.leaves) &&
	       time_after_eq(jiffies, READ_ONCE(tree->end.until));
}

#endif /* _INC_TREE_H */
