// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/rdma_inc/net-<inode of the namespace>/
 *	memory			memory budget, and each tree's part
 *	tree-<ID>/members	the QPs
 *	tree-<ID>/slots		slots that work on a message, or failed
 *	tree-<ID>/missing	ranks that keep others waiting
 *	tree-<ID>/fault/rank-<R>-rx, -tx	fault injection; for a child's
 *				uplink parent-rx, -tx; only with
 *				CONFIG_INFINIBAND_INC_FAULT
 *
 * Removing a directory waits for readers, perhaps under inc_switch.lock. So they
 * take only the locks of slots and QPs, one at a time, and a file is in use
 * (debugfs_file_get()) only while its text is made, not while that is copied to
 * user space, which may fault, and wait for whoever provides the page.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "object/hold.h"
#include "object/qp.h"
#include "object/snapshot.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/debugfs.h"
#include "report/names-gen.h"

static struct dentry *root;

/* The QP of a rank; under rcu_read_lock(). */
static struct inc_qp *member_rcu(struct inc_tree *tree, u16 member)
{
	return rcu_dereference(tree->member_qp[member]);
}

/*
 * members: one paragraph per rank, and one for a child's parent
 */

static bool member_at(const struct inc_tree *tree, loff_t pos)
{
	return pos <= tree->cfg.members + tree->geom.child;
}

static void *member_start(struct seq_file *m, loff_t *pos)
{
	int err = debugfs_file_get(file_dentry(m->file));

	if (err)
		return ERR_PTR(err);
	if (!*pos)
		return SEQ_START_TOKEN;
	return member_at(m->private, *pos) ? pos : NULL;
}

static void *member_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return member_at(m->private, *pos) ? pos : NULL;
}

/* Of members and slots. */
static void text_stop(struct seq_file *m, void *v)
{
	if (!IS_ERR(v))
		debugfs_file_put(file_dentry(m->file));
}

static void show_qp(struct seq_file *m, struct inc_qp *qp)
{
	bool uc = qp->cfg.transport == RDMA_INC_TRANSPORT_UC;
	struct inc_qp_snapshot v;

	inc_qp_snapshot_get(qp, &v);
	if (qp->uplink)
		seq_puts(m, "parent: ");
	else
		seq_printf(m, "rank %u: ", qp->cfg.index);
	if (v.state == RDMA_INC_MEMBER_STATE_INIT) {
		seq_printf(m, "not connected (%s), qpn 0x%06x\n",
			   qp->uplink ? "parent-set" : "member-set", qp->qpn);
		return;
	}
	if (v.state == RDMA_INC_MEMBER_STATE_ERROR)
		seq_printf(m, "ERROR %s", inc_member_error_name(v.error));
	else
		seq_puts(m, uc ? "rts, uc" : "rts");
	if (qp->cfg.family == AF_INET)
		seq_printf(m, ", qpn 0x%06x, peer %pI4 qpn 0x%06x\n", qp->qpn,
			   &qp->cfg.peer.s6_addr32[3], qp->cfg.peer_qpn);
	else
		seq_printf(m, ", qpn 0x%06x, peer %pI6c qpn 0x%06x\n", qp->qpn,
			   &qp->cfg.peer, qp->cfg.peer_qpn);

	seq_printf(m, "\tin: nothing received for %u ms\n", v.last_rx_ms);
	seq_printf(m, "\tin: expected psn %u, %u packets queued beyond a gap, %u bytes held, ",
		   v.epsn, v.ooo, v.held);
	if (v.in_msg)
		seq_printf(m, "message %u partly received\n", v.rx_msg_id);
	else
		seq_printf(m, "next message %u\n", v.next_msg_id);

	seq_printf(m, "\tout: psn acknowledged to %u, next %u, first unused %u; %u of %u packets in flight, %u slots and %u errors queued\n",
		   v.una, v.next, v.max, v.pending, v.window, v.queued,
		   v.nstray);
	seq_printf(m, "\tout: round trip %u us, deviation %u us, %u timeouts in a row%s\n",
		   v.srtt, v.rttvar, v.backoff,
		   v.rnr ? ", waits after RNR NAK" : "");
}

static int member_show(struct seq_file *m, void *v)
{
	struct inc_tree *tree = m->private;
	struct inc_qp *qp;
	u16 member;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m, "%u of %u ranks have a member\n",
			   READ_ONCE(tree->nmembers), tree->cfg.members);
		return 0;
	}

	member = *(loff_t *)v - 1;
	rcu_read_lock();
	qp = member < tree->cfg.members ? member_rcu(tree, member) :
				      rcu_dereference(tree->parent);
	if (qp)
		show_qp(m, qp);
	else if (member < tree->cfg.members)
		seq_printf(m, "rank %u: no member\n", member);
	rcu_read_unlock();
	return 0;
}

static const struct seq_operations members_sops = {
	.start	= member_start,
	.next	= member_next,
	.stop	= text_stop,
	.show	= member_show,
};

DEFINE_SEQ_ATTRIBUTE(members);

/*
 * slots: a paragraph per slot that is busy or failed
 */

static void *slot_start(struct seq_file *m, loff_t *pos)
{
	const struct inc_tree *tree = m->private;
	int err = debugfs_file_get(file_dentry(m->file));

	if (err)
		return ERR_PTR(err);
	if (!*pos)
		return SEQ_START_TOKEN;
	return *pos <= tree->cfg.slots ? pos : NULL;
}

static void *slot_next(struct seq_file *m, void *v, loff_t *pos)
{
	const struct inc_tree *tree = m->private;

	++*pos;
	return *pos <= tree->cfg.slots ? pos : NULL;
}

/* "ranks 1-3 (0 of 64 packets) 7 (12)": ranks that others wait for. */
static void show_missing(struct seq_file *m, const struct inc_slot_snapshot *v)
{
	u16 member, end;

	seq_puts(m, "\twaits for rank");
	for (member = 0; member < v->members; member = end) {
		end = member + 1;
		if (!inc_slot_snapshot_missing(v, member))
			continue;
		while (end < v->members && v->got[end] == v->got[member] &&
		       inc_slot_snapshot_missing(v, end))
			end++;
		if (end - member > 1)
			seq_printf(m, " %u-%u", member, end - 1);
		else
			seq_printf(m, " %u", member);
		if (v->got[member])
			seq_printf(m, " (%u of %u packets arrived)",
				   v->got[member] - 1,
				   inc_slot_snapshot_wants(v, member));
		else
			seq_puts(m, " (nothing arrived)");
	}
	seq_putc(m, '\n');
}

static void show_failed(struct seq_file *m, const struct inc_slot_snapshot *v)
{
	seq_printf(m, "\tFAILED with status %u", v->status);
	if (v->wrong != INC_SLOT_NOBODY)
		seq_printf(m, " by the request of rank %u", v->wrong);
	if (v->unlike != INC_SLOT_NOBODY)
		seq_printf(m, ", which disagrees with that of rank %u", v->unlike);
	seq_putc(m, '\n');
}

static void show_slot(struct seq_file *m, const struct inc_slot_snapshot *v)
{
	if (v->state != RDMA_INC_SLOT_STATE_BUSY &&
	    v->state != RDMA_INC_SLOT_STATE_FAILED)
		return;

	seq_printf(m, "slot %u: message %u, %s", v->index, v->msg.msg_id,
		   inc_collective_name(v->msg.collective));
	if (v->msg.nelem)
		seq_printf(m, " of %u %s, %s", v->msg.nelem,
			   inc_dtype_name(v->msg.dtype),
			   inc_op_name(v->msg.op));
	seq_printf(m, ", began %u ms ago; %u of %u ranks began, %u of %u packets done\n",
		   v->age_ms, v->begun, v->members, v->ready, v->msg.nchunks);
	if (v->state == RDMA_INC_SLOT_STATE_FAILED)
		show_failed(m, v);
	else if (v->waits_parent)
		seq_printf(m, "\twaits for the parent, for %u ms\n", v->parent_ms);
	else
		show_missing(m, v);
}

static int slot_show(struct seq_file *m, void *v)
{
	struct inc_tree *tree = m->private;
	struct inc_slot_snapshot *view;

	if (v == SEQ_START_TOKEN) {
		seq_printf(m, "tree %u: %s, %u of %u ranks, %u slots; idle and completed slots are not shown\n",
			   tree->cfg.id,
			   inc_tree_state_name(READ_ONCE(tree->state)),
			   READ_ONCE(tree->nmembers), tree->cfg.members,
			   tree->cfg.slots);
		return 0;
	}

	view = inc_slot_snapshot_alloc(tree->cfg.members);
	if (!view)
		return -ENOMEM;
	inc_slot_snapshot_get(tree, *(loff_t *)v - 1, view);
	show_slot(m, view);
	kfree(view);
	return 0;
}

static const struct seq_operations slots_sops = {
	.start	= slot_start,
	.next	= slot_next,
	.stop	= text_stop,
	.show	= slot_show,
};

DEFINE_SEQ_ATTRIBUTE(slots);

/*
 * missing: the ranks that keep others waiting, and a child's parent
 */

/**
 * struct wait - wait of others for a rank
 * @slots: number of slots that wait
 * @msg_id: message that waits longest
 * @age_ms: how long
 */
struct wait {
	u32	slots;
	u32	msg_id;
	u32	age_ms;
};

static void add_wait(struct wait *w, u32 msg_id, u32 age_ms)
{
	if (w->slots++ && age_ms <= w->age_ms)
		return;
	w->msg_id = msg_id;
	w->age_ms = age_ms;
}

/* @wait: one for each rank, and one after them for the parent. */
static void collect_waits(struct inc_tree *tree, struct inc_slot_snapshot *view,
			  struct wait *wait)
{
	u16 index, member;

	for (index = 0; index < tree->cfg.slots; index++) {
		inc_slot_snapshot_get(tree, index, view);
		for (member = 0; member < view->members; member++) {
			if (inc_slot_snapshot_missing(view, member))
				add_wait(&wait[member], view->msg.msg_id,
					 view->age_ms);
		}
		if (view->waits_parent)
			add_wait(&wait[view->members], view->msg.msg_id,
				 view->parent_ms);
		cond_resched();
	}
}

static void show_wait(struct seq_file *m, struct inc_tree *tree, u16 member,
		      const struct wait *w)
{
	struct inc_qp_snapshot v;
	struct inc_qp *qp;

	if (member < tree->cfg.members)
		seq_printf(m, "rank %u: ", member);
	else
		seq_puts(m, "parent: ");
	seq_printf(m, "%u slots wait for it, longest message %u, %u ms; ",
		   w->slots, w->msg_id, w->age_ms);

	rcu_read_lock();
	qp = member < tree->cfg.members ? member_rcu(tree, member) :
				      rcu_dereference(tree->parent);
	if (!qp) {
		seq_puts(m, "it has no member\n");
	} else {
		inc_qp_snapshot_get(qp, &v);
		if (v.state == RDMA_INC_MEMBER_STATE_INIT)
			seq_printf(m, "it is not connected (%s)\n",
				   qp->uplink ? "parent-set" : "member-set");
		else if (v.state == RDMA_INC_MEMBER_STATE_ERROR)
			seq_printf(m, "its QP is in error: %s\n",
				   inc_member_error_name(v.error));
		else if (v.ooo)
			seq_printf(m, "psn %u was lost, %u later packets arrived\n",
				   v.epsn, v.ooo);
		else if (v.pending >= v.window || v.backoff)
			seq_printf(m, "%u packets to it are not acknowledged\n",
				   v.pending);
		else
			seq_puts(m, "nothing more arrived from it\n");
		seq_printf(m, "\tno packet arrived from it for %u ms\n",
			   v.last_rx_ms);
	}
	rcu_read_unlock();
}

static int show_waits(struct seq_file *m, struct inc_tree *tree)
{
	struct inc_slot_snapshot *view;
	unsigned int shown = 0;
	struct wait *wait;
	int err = -ENOMEM;
	u16 member;

	view = inc_slot_snapshot_alloc(tree->cfg.members);
	wait = kvcalloc(tree->cfg.members + 1, sizeof(*wait),
			GFP_KERNEL_ACCOUNT);
	if (!view || !wait)
		goto out;

	collect_waits(tree, view, wait);
	for (member = 0; member <= tree->cfg.members; member++) {
		if (wait[member].slots) {
			show_wait(m, tree, member, &wait[member]);
			shown++;
		}
	}
	if (!shown)
		seq_puts(m, "no slot waits for any rank or the parent\n");
	err = 0;
out:
	kvfree(wait);
	kfree(view);
	return err;
}

static int missing_show(struct seq_file *m, void *unused)
{
	int err = debugfs_file_get(file_dentry(m->file));

	if (err)
		return err;
	err = show_waits(m, m->private);
	debugfs_file_put(file_dentry(m->file));
	return err;
}

DEFINE_SHOW_ATTRIBUTE(missing);

/*
 * memory: the budget
 */

static int memory_show(struct seq_file *m, void *unused)
{
	struct inc_switch *sw = m->private;
	struct inc_tree *tree;
	unsigned long id;
	int err;

	err = debugfs_file_get(file_dentry(m->file));
	if (err)
		return err;
	seq_printf(m, "limit %llu bytes, used %llu\n",
		   READ_ONCE(sw->mem_limit), READ_ONCE(sw->mem_used));
	seq_printf(m, "packets that wait: %llu bytes, limit %llu, of which each tree may have %llu\n",
		   inc_hold_sum(sw), inc_hold_limit(sw),
		   inc_hold_guaranteed(sw));
	rcu_read_lock();
	xa_for_each(&sw->trees, id, tree)
		seq_printf(m, "tree %lu: %llu, waiting packets %llu\n", id,
			   READ_ONCE(tree->mem.charged), inc_tree_held(tree));
	rcu_read_unlock();
	debugfs_file_put(file_dentry(m->file));
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(memory);

/* A directory or file: its dentry and inode, with debugfs's own header. */
#define ENTRY_SIZE	(sizeof(struct dentry) + sizeof(struct inode) + 64)
/* "tree-1" and its content; rank-0-rx, rank-0-tx. */
#define TREE_ENTRIES	(4 + IS_ENABLED(CONFIG_INFINIBAND_INC_FAULT))
#define MEMBER_ENTRIES	(2 * IS_ENABLED(CONFIG_INFINIBAND_INC_FAULT))

/**
 * inc_debugfs_tree_memory() - compute the memory to show a tree
 * @sw: switch
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_debugfs_tree_memory(const struct inc_switch *sw)
{
	return sw->debugfs ? TREE_ENTRIES * ENTRY_SIZE : 0;
}

/**
 * inc_debugfs_member_memory() - compute the memory for a member's fault files
 * @sw: switch
 *
 * Context: any.
 * Return: bytes.
 */
u64 inc_debugfs_member_memory(const struct inc_switch *sw)
{
	return sw->debugfs ? MEMBER_ENTRIES * ENTRY_SIZE : 0;
}

/**
 * inc_debugfs_tree_add() - show a tree
 * @tree: tree, set up
 *
 * Context: process; may sleep; inc_switch.lock held.
 */
void inc_debugfs_tree_add(struct inc_tree *tree)
{
	char name[sizeof("tree-4294967295")];
	struct dentry *dir;

	/* A NULL parent would be the root of debugfs. */
	if (!tree->sw->debugfs)
		return;
	snprintf(name, sizeof(name), "tree-%u", tree->cfg.id);
	dir = debugfs_create_dir(name, tree->sw->debugfs);
	if (IS_ERR(dir))
		return;
	tree->debugfs = dir;
	debugfs_create_file_unsafe("members", 0400, dir, tree,
				   &members_fops);
	debugfs_create_file_unsafe("slots", 0400, dir, tree,
				   &slots_fops);
	debugfs_create_file_unsafe("missing", 0400, dir, tree,
				   &missing_fops);
#if IS_ENABLED(CONFIG_INFINIBAND_INC_FAULT)
	dir = debugfs_create_dir("fault", dir);
	tree->debugfs_fault = IS_ERR(dir) ? NULL : dir;
#endif
}

/**
 * inc_debugfs_tree_del() - stop showing a tree
 * @tree: tree; readers of its files have finished when this returns
 *
 * Context: process; may sleep. inc_switch.lock may be held.
 */
void inc_debugfs_tree_del(struct inc_tree *tree)
{
	debugfs_remove_recursive(tree->debugfs);
	tree->debugfs = NULL;
#if IS_ENABLED(CONFIG_INFINIBAND_INC_FAULT)
	tree->debugfs_fault = NULL;
#endif
}

/**
 * inc_debugfs_net_init() - show the switch of a namespace
 * @sw: switch
 *
 * Context: process; may sleep.
 */
void inc_debugfs_net_init(struct inc_switch *sw)
{
	char name[sizeof("net-4294967295")];
	struct dentry *dir;

	snprintf(name, sizeof(name), "net-%u", sw->net->ns.inum);
	dir = debugfs_create_dir(name, root);
	if (IS_ERR(dir))
		return;
	sw->debugfs = dir;
	debugfs_create_file_unsafe("memory", 0400, dir, sw,
				   &memory_fops);
}

/**
 * inc_debugfs_net_exit() - stop showing a switch and its trees
 * @sw: switch
 *
 * Context: process; may sleep.
 */
void inc_debugfs_net_exit(struct inc_switch *sw)
{
	debugfs_remove_recursive(sw->debugfs);
	sw->debugfs = NULL;
}

/**
 * inc_debugfs_init() - create the module's directory
 *
 * The module also works without debugfs.
 *
 * Context: process; may sleep; before any namespace's switch exists.
 */
void __init inc_debugfs_init(void)
{
	root = debugfs_create_dir("rdma_inc", NULL);
}

/**
 * inc_debugfs_exit() - remove the module's directory
 *
 * Context: process; may sleep.
 */
void inc_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
