// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection. Each direction of a QP has a chance per packet, in parts per
 * million, for each kind of fault, and a random generator of its own with a
 * seed, so that a run can be reproduced. It counts the faults that it injects.
 *
 * On receive, a packet is damaged when it has passed all checks except the ICRC, so
 * that the ICRC finds it. The other faults come after the last check. On transmit,
 * the packet is complete. So the counters of the QP count packets as in a bad
 * network: one dropped on receive has never arrived, one dropped on transmit has
 * been sent.
 */
#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "compat.h"
#include "datapath/fault.h"
#include "object/qp.h"
#include "object/tree.h"

#define PPM		1000000
/* How long a packet is held back if none arrives to overtake it. */
#define REORDER_MS	2
/* The ICRC does not cover byte 4 of the BTH; from the PSN on it covers all. */
#define BTH_PSN_OFF	8
/* Longest line that may be written to set faults. */
#define LINE_MAX_LEN	256

enum kind {
	DROP,
	DUPLICATE,
	REORDER,
	CORRUPT,
	MEMORY,
	NKINDS,
};

static const char *const kind_names[NKINDS] = {
	[DROP] = "drop",
	[DUPLICATE] = "duplicate",
	[REORDER] = "reorder",
	[CORRUPT] = "corrupt",
	[MEMORY] = "no-memory",
};

/**
 * struct fault_dir - faults of one direction of a QP
 * @lock: guards the members below; innermost: no packet is passed on under it
 * @ppm: chance of each fault
 * @count: injected faults of each kind
 * @packets: packets seen
 * @seed: seed of @rnd
 * @rnd: random number generator
 * @held: packet that waits for the next one to overtake it
 * @timer: releases @held if none comes
 * @pass: takes packets after fault injection
 * @qp: QP that the faults belong to
 */
struct fault_dir {
	spinlock_t		lock;	/* see above */
	u32			ppm[NKINDS];
	u64			count[NKINDS];
	u64			packets;
	u32			seed;
	struct rnd_state	rnd;
	struct sk_buff		*held;
	struct timer_list	timer;
	inc_fault_pass_fn	pass;
	struct inc_qp		*qp;
};

/**
 * struct inc_fault - faults of a QP
 * @rx: on receive
 * @tx: on transmit
 * @keyed: counted in inc_fault_key; guarded by keys
 */
struct inc_fault {
	struct fault_dir	rx;
	struct fault_dir	tx;
	bool			keyed;
};

DEFINE_STATIC_KEY_FALSE(inc_fault_key);

/* Serializes changes of the settings and of the static key. */
static DEFINE_MUTEX(keys);

static bool draw_chance(struct fault_dir *d, enum kind kind)
{
	u64 r;

	/*
	 * Draw no number for a fault that is off: the others keep their
	 * sequence.
	 */
	if (!d->ppm[kind])
		return false;
	r = prandom_u32_state(&d->rnd);
	if ((r * PPM) >> 32 >= d->ppm[kind])
		return false;
	d->count[kind]++;
	return true;
}

/* Flip one bit that the ICRC covers, at or after @off in skb->data. */
static void damage_packet(struct fault_dir *d, struct sk_buff *skb,
			  unsigned int off)
{
	bool hit;
	u32 r;

	spin_lock_bh(&d->lock);
	hit = off < skb->len && draw_chance(d, CORRUPT);
	r = hit ? prandom_u32_state(&d->rnd) : 0;
	spin_unlock_bh(&d->lock);
	/* Clones of the packet must not see the damage. */
	if (!hit || skb_ensure_writable(skb, skb->len))
		return;
	skb->data[off + (r >> 3) % (skb->len - off)] ^= 1 << (r & 7);
}

/* BH off, RCU read side, no lock. */
static void release_held(struct fault_dir *d)
{
	struct sk_buff *skb;

	spin_lock_bh(&d->lock);
	skb = d->held;
	d->held = NULL;
	spin_unlock_bh(&d->lock);
	if (skb)
		d->pass(d->qp, skb);
}

static void release_timer(struct timer_list *t)
{
	struct fault_dir *d = timer_container_of(d, t, timer);

	rcu_read_lock();
	release_held(d);
	rcu_read_unlock();
}

/* Inject faults into a packet. Consumes it. BH off, RCU read side, no lock. */
static void run_faults(struct fault_dir *d, struct sk_buff *skb,
		       inc_fault_pass_fn pass)
{
	struct sk_buff *twin = NULL, *after = NULL;
	bool dropped;

	spin_lock_bh(&d->lock);
	d->pass = pass;
	d->packets++;
	dropped = draw_chance(d, DROP);
	if (!dropped && draw_chance(d, DUPLICATE))
		twin = skb_copy(skb, GFP_ATOMIC);
	if (!dropped && !d->held && draw_chance(d, REORDER)) {
		d->held = skb;
		skb = NULL;
		mod_timer(&d->timer, jiffies + msecs_to_jiffies(REORDER_MS));
	} else if (!dropped) {
		after = d->held;
		d->held = NULL;
	}
	spin_unlock_bh(&d->lock);

	if (dropped) {
		kfree_skb(skb);
		return;
	}
	if (skb)
		pass(d->qp, skb);
	if (twin)
		pass(d->qp, twin);
	if (after)
		pass(d->qp, after);
}

/**
 * inc_fault_rx_damage() - perhaps damage a received packet
 * @qp: QP that it is for
 * @skb: packet, linear, skb->data at its IP header, nothing after the ICRC
 * @bth_off: offset of its BTH
 *
 * Context: softirq, RCU read side.
 */
void inc_fault_rx_damage(struct inc_qp *qp, struct sk_buff *skb,
			 unsigned int bth_off)
{
	struct inc_fault *f = READ_ONCE(qp->fault);

	if (f)
		damage_packet(&f->rx, skb, bth_off + BTH_PSN_OFF);
}

/**
 * inc_fault_rx() - perhaps drop, duplicate or reorder a received packet
 * @qp: QP that it is for
 * @skb: packet, skb->data at its BTH; consumed if true
 * @pass: takes packets after fault injection, now or later
 *
 * Context: softirq, RCU read side.
 * Return: whether the packet was taken care of.
 */
bool inc_fault_rx(struct inc_qp *qp, struct sk_buff *skb,
		  inc_fault_pass_fn pass)
{
	struct inc_fault *f = READ_ONCE(qp->fault);

	if (!f)
		return false;
	run_faults(&f->rx, skb, pass);
	return true;
}

/**
 * inc_fault_tx() - perhaps inject faults into a packet to send
 * @qp: QP that sends it
 * @skb: whole packet, skb->data at its IP header; consumed if true
 * @pass: takes packets after fault injection, now or later
 *
 * Context: BH off, RCU read side, no lock held.
 * Return: whether the packet was taken care of.
 */
bool inc_fault_tx(struct inc_qp *qp, struct sk_buff *skb,
		  inc_fault_pass_fn pass)
{
	struct inc_fault *f = READ_ONCE(qp->fault);

	if (!f)
		return false;
	damage_packet(&f->tx, skb, skb_transport_offset(skb) +
		      sizeof(struct udphdr) + BTH_PSN_OFF);
	run_faults(&f->tx, skb, pass);
	return true;
}

/**
 * inc_fault_no_memory() - perhaps pretend that there is no memory
 * @qp: QP that takes memory when it needs it, see object/qp_mem.c
 * @tx: for packets in flight; else for a message that begins
 *
 * Context: BH off; takes an innermost lock.
 * Return: true if so.
 */
bool inc_fault_no_memory(struct inc_qp *qp, bool tx)
{
	struct inc_fault *f = READ_ONCE(qp->fault);
	struct fault_dir *d;
	bool hit;

	if (!f)
		return false;
	d = tx ? &f->tx : &f->rx;
	spin_lock_bh(&d->lock);
	hit = draw_chance(d, MEMORY);
	spin_unlock_bh(&d->lock);
	return hit;
}

static void seed_dir(struct fault_dir *d, u32 value)
{
	int i;

	d->seed = value;
	prandom_seed_state(&d->rnd, value);
	/* The first numbers after small seeds are small. */
	for (i = 0; i < 10; i++)
		prandom_u32_state(&d->rnd);
}

static void dir_init(struct fault_dir *d, struct inc_qp *qp)
{
	spin_lock_init(&d->lock);
	seed_dir(d, get_random_u32());
	timer_setup(&d->timer, release_timer, 0);
	d->qp = qp;
}

/* With keys held. Most QPs never have faults. */
static struct inc_fault *fault_get(struct inc_qp *qp)
{
	struct inc_fault *f = qp->fault;

	if (f)
		return f;
	f = kzalloc_obj(*f, GFP_KERNEL_ACCOUNT);
	if (!f)
		return NULL;
	dir_init(&f->rx, qp);
	dir_init(&f->tx, qp);
	/* Pairs with the address dependency of readers of the pointer. */
	smp_store_release(&qp->fault, f);
	return f;
}

static void dir_free(struct fault_dir *d)
{
	timer_shutdown_sync(&d->timer);
	kfree_skb(d->held);
}

/**
 * inc_fault_free() - free a QP's fault injection
 * @qp: QP that is unpublished, in debugfs too
 *
 * Context: process; may sleep; a grace period after the QP was unpublished.
 */
void inc_fault_free(struct inc_qp *qp)
{
	struct inc_fault *f = qp->fault;

	if (!f)
		return;
	dir_free(&f->rx);
	dir_free(&f->tx);
	if (f->keyed)
		static_branch_dec(&inc_fault_key);
	kfree(f);
	qp->fault = NULL;
}

static bool dir_on(const struct fault_dir *d)
{
	enum kind k;

	for (k = 0; k < NKINDS; k++) {
		if (d->ppm[k])
			return true;
	}
	return false;
}

/* With keys held. */
static void update_key(struct inc_fault *f)
{
	bool on = dir_on(&f->rx) || dir_on(&f->tx);

	if (on == f->keyed)
		return;
	f->keyed = on;
	if (on)
		static_branch_inc(&inc_fault_key);
	else
		static_branch_dec(&inc_fault_key);
}

/**
 * struct setting - settings parsed from a line
 * @ppm: chances
 * @seed: seed, if @has_seed
 * @has_seed: @seed was given
 */
struct setting {
	u32	ppm[NKINDS];
	u32	seed;
	bool	has_seed;
};

/* Parse one word and its number. */
static int parse_pair(struct setting *s, const char *word, const char *number)
{
	u32 value;
	int k;

	if (!number || kstrtou32(number, 0, &value))
		return -EINVAL;
	if (!strcmp(word, "seed")) {
		s->seed = value;
		s->has_seed = true;
		return 0;
	}
	k = match_string(kind_names, NKINDS, word);
	if (k < 0 || value > PPM)
		return -EINVAL;
	s->ppm[k] = value;
	return 0;
}

/* "drop 1000 corrupt 10 seed 7", or "off". */
static int parse_line(struct setting *s, char *line)
{
	char *word, *number;
	int err = 0;

	line = strim(line);
	while (!err && (word = strsep(&line, " \t\n"))) {
		if (!*word)
			continue;
		if (!strcmp(word, "off")) {
			memset(s->ppm, 0, sizeof(s->ppm));
			continue;
		}
		do {
			number = strsep(&line, " \t\n");
		} while (number && !*number);
		err = parse_pair(s, word, number);
	}
	return err;
}

static int set_faults(struct inc_qp *qp, bool tx, char *line)
{
	struct setting s = {};
	struct inc_fault *f;
	struct fault_dir *d;
	int err;

	mutex_lock(&keys);
	f = fault_get(qp);
	err = -ENOMEM;
	if (!f)
		goto out;
	d = tx ? &f->tx : &f->rx;
	memcpy(s.ppm, d->ppm, sizeof(s.ppm));
	err = parse_line(&s, line);
	if (err)
		goto out;

	spin_lock_bh(&d->lock);
	memcpy(d->ppm, s.ppm, sizeof(d->ppm));
	if (s.has_seed)
		seed_dir(d, s.seed);
	spin_unlock_bh(&d->lock);
	update_key(f);
out:
	mutex_unlock(&keys);
	return err;
}

static ssize_t fault_write(const struct file *file, bool tx,
			   const char __user *buf, size_t len)
{
	char *line;
	int err;

	if (len > LINE_MAX_LEN)
		return -EINVAL;
	line = memdup_user_nul(buf, len);
	if (IS_ERR(line))
		return PTR_ERR(line);
	err = set_faults(file_inode(file)->i_private, tx, line);
	kfree(line);
	return err ? err : len;
}

static int show_faults(struct seq_file *m, bool tx)
{
	struct inc_qp *qp = m->private;
	struct fault_dir now = {};
	struct inc_fault *f;
	enum kind k;

	mutex_lock(&keys);
	f = qp->fault;
	if (f) {
		struct fault_dir *d = tx ? &f->tx : &f->rx;

		spin_lock_bh(&d->lock);
		memcpy(now.ppm, d->ppm, sizeof(now.ppm));
		memcpy(now.count, d->count, sizeof(now.count));
		now.packets = d->packets;
		now.seed = d->seed;
		spin_unlock_bh(&d->lock);
	}
	mutex_unlock(&keys);

	for (k = 0; k < NKINDS; k++)
		seq_printf(m, "%s %u ppm, done %llu\n", kind_names[k],
			   now.ppm[k], now.count[k]);
	seq_printf(m, "seed %u\npackets %llu\n", now.seed, now.packets);
	return 0;
}

static int rx_show(struct seq_file *m, void *unused)
{
	return show_faults(m, false);
}

static int tx_show(struct seq_file *m, void *unused)
{
	return show_faults(m, true);
}

static ssize_t rx_write(struct file *file, const char __user *buf, size_t len,
			loff_t *pos)
{
	return fault_write(file, false, buf, len);
}

static ssize_t tx_write(struct file *file, const char __user *buf, size_t len,
			loff_t *pos)
{
	return fault_write(file, true, buf, len);
}

DEFINE_SHOW_STORE_ATTRIBUTE(rx);
DEFINE_SHOW_STORE_ATTRIBUTE(tx);

/* "rank-1023-rx" */
#define FAULT_NAME_LEN	sizeof("rank-65535-rx")

static void fault_name(char *name, const struct inc_qp *qp, const char *dir)
{
	if (qp->uplink)
		snprintf(name, FAULT_NAME_LEN, "parent-%s", dir);
	else
		snprintf(name, FAULT_NAME_LEN, "rank-%u-%s", qp->cfg.index,
			 dir);
}

/**
 * inc_fault_show() - create the fault files of a member or an uplink
 * @qp: its QP
 *
 * Context: process; may sleep; inc_switch.lock held.
 */
void inc_fault_show(struct inc_qp *qp)
{
	struct dentry *dir = qp->tree->debugfs_fault;
	char name[FAULT_NAME_LEN];

	if (!dir)
		return;
	fault_name(name, qp, "rx");
	debugfs_create_file(name, 0600, dir, qp, &rx_fops);
	fault_name(name, qp, "tx");
	debugfs_create_file(name, 0600, dir, qp, &tx_fops);
}

/**
 * inc_fault_hide() - remove the fault files of a member or an uplink
 * @qp: its QP; writers to its files have finished when this returns
 *
 * Context: process; may sleep; inc_switch.lock held. The tree's directory may be
 * gone already.
 */
void inc_fault_hide(struct inc_qp *qp)
{
	struct dentry *dir = qp->tree->debugfs_fault;
	char name[FAULT_NAME_LEN];

	if (!dir)
		return;
	fault_name(name, qp, "rx");
	debugfs_lookup_and_remove(name, dir);
	fault_name(name, qp, "tx");
	debugfs_lookup_and_remove(name, dir);
}
