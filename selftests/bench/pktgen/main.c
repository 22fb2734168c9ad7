// SPDX-License-Identifier: GPL-2.0
/*
 * Control, by a file in debugfs. Each line written to it is a command:
 *
 *	reset
 *		forget all trees
 *	tree RANKS SLOTS MSG_SIZE PMTU UC
 *		one more tree, with ID 1, 2, ...; the QPNs of its members go on
 *		from those before, the first one is 16, and their first PSN is 0;
 *		UC is 1 if they are UC QPs, else 0
 *	member ID RANK PORT ADDR LOCAL QPN PSN RKEY
 *		a member's port and host, and its QP on the switch; addresses in
 *		hexadecimal
 *	parent ID PORT ADDR LOCAL QPN PSN RKEY
 *		the newest tree is a child's: its parent, as a member; its QPN is the
 *		next one, too
 *	run tree|forward|crc|last ID TREES LEN MSGS ROUNDS FRAG AHEAD SPLIT
 *		measure: see struct pg_run; last: MSGS is 1
 *
 * Reading the file tells, in JSON, what the last run has found.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "pktgen.h"

#define ROUNDS_MAX	65536
#define LINE_MAX	128

static unsigned int ports = 8;
module_param(ports, uint, 0444);
MODULE_PARM_DESC(ports, "number of ports to make, pg0 and so on");

static DEFINE_MUTEX(lock);
static struct pg_run last;
static struct dentry *file;
static u64 khz;

static int add_tree(u32 ranks, u32 slots, u32 msg_size, u32 pmtu, bool uc)
{
	struct pg_tree *t = pg_tree_add(ranks, slots, msg_size, pmtu, uc);

	return IS_ERR(t) ? PTR_ERR(t) : pg_packet_sums(t);
}

/* @args: from the port on */
static int set_qp(struct pg_member *m, const char *args)
{
	u32 port, addr, local, qpn, psn, rkey;

	if (sscanf(args, "%u %x %x %u %u %u", &port, &addr, &local, &qpn, &psn,
		   &rkey) != 6)
		return -EINVAL;
	if (!pg_port(port))
		return -ENOENT;
	m->dev = pg_port(port);
	m->addr = cpu_to_be32(addr);
	m->local = cpu_to_be32(local);
	m->peer_qpn = qpn;
	m->epsn = psn;
	m->rkey = rkey;
	return 0;
}

static int set_member(const char *args)
{
	struct pg_member *m;
	u32 tree, rank;
	int n;

	if (sscanf(args, "%u %u %n", &tree, &rank, &n) != 2)
		return -EINVAL;
	m = pg_tree_member(tree, rank);
	return m ? set_qp(m, args + n) : -ENOENT;
}

static int set_parent(const char *args)
{
	struct pg_member *m;
	u32 tree;
	int n;

	if (sscanf(args, "%u %n", &tree, &n) != 1)
		return -EINVAL;
	m = pg_tree_add_parent(tree);
	return IS_ERR(m) ? PTR_ERR(m) : set_qp(m, args + n);
}

static int compare(const void *a, const void *b)
{
	return cmp_int(*(const u32 *)a, *(const u32 *)b);
}

/* All trees of a run are alike, and have all their members. */
static int check_trees(const struct pg_run *run)
{
	const struct pg_member *first = pg_tree_member(run->first, 0), *m;
	u32 i, rank;

	if (!first)
		return -ENOENT;
	for (i = 0; i < run->trees; i++) {
		for (rank = 0; rank < first->tree->ranks; rank++) {
			m = pg_tree_member(run->first + i, rank);
			if (!m || !m->dev)
				return -ENOENT;
		}
		if (m->tree->ranks != first->tree->ranks ||
		    m->tree->pmtu != first->tree->pmtu)
			return -EINVAL;
	}
	return run->len + 32 > first->tree->msg_size ? -EMSGSIZE : 0;
}

static int start_run(const char *args)
{
	static const char * const kinds[] = { "tree", "forward", "crc", "last" };
	struct pg_run run = {};
	char kind[8];
	int err, n;
	u32 split;

	if (sscanf(args, "%7s %u %u %u %u %u %u %u %u", kind, &run.first,
		   &run.trees, &run.len, &run.msgs, &run.rounds, &run.frag,
		   &run.ahead, &split) != 9)
		return -EINVAL;
	n = match_string(kinds, ARRAY_SIZE(kinds), kind);
	if (n < 0 || !run.trees || !run.len || run.len % 4 || !run.msgs ||
	    !run.rounds || run.rounds > ROUNDS_MAX || run.frag > PAGE_SIZE ||
	    split >= PG_SPLITS || (n == PG_LAST && run.msgs > 1))
		return -EINVAL;
	run.kind = n;
	run.split = split;
	err = check_trees(&run);
	if (err)
		return err;
	run.sample = kvcalloc(run.rounds, sizeof(*run.sample), GFP_KERNEL);
	if (!run.sample)
		return -ENOMEM;
	err = pg_run(&run);
	sort(run.sample, run.rounds, sizeof(*run.sample), compare, NULL);
	kvfree(last.sample);
	last = run;
	return err;
}

static int command(const char *line)
{
	u32 ranks, slots, size, pmtu, uc;

	if (!strcmp(line, "reset")) {
		pg_trees_remove();
		return 0;
	}
	if (sscanf(line, "tree %u %u %u %u %u", &ranks, &slots, &size, &pmtu,
		   &uc) == 5)
		return add_tree(ranks, slots, size, pmtu, uc);
	if (str_has_prefix(line, "member "))
		return set_member(line + strlen("member "));
	if (str_has_prefix(line, "parent "))
		return set_parent(line + strlen("parent "));
	if (str_has_prefix(line, "run "))
		return start_run(line + strlen("run "));
	return -EINVAL;
}

/* A line at a time: more is for the next call. */
static ssize_t control_write(struct file *f, const char __user *buf,
			     size_t len, loff_t *pos)
{
	char line[LINE_MAX];
	char *end;
	int err;

	len = min(len, sizeof(line) - 1);
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	end = strchr(line, '\n');
	if (!end)
		return -EINVAL;
	*end = '\0';
	mutex_lock(&lock);
	err = command(line);
	mutex_unlock(&lock);
	return err ?: end + 1 - line;
}

static int control_show(struct seq_file *m, void *unused)
{
	const struct pg_counts *c = &last.counts;
	u32 n = last.rounds;

	mutex_lock(&lock);
	seq_printf(m, "{\"khz\":%llu,\"packets\":%u,\"rounds\":%u", khz,
		   last.packets, n);
	if (n)
		seq_printf(m, ",\"min\":%u,\"low\":%u,\"median\":%u,\"high\":%u",
			   last.sample[0], last.sample[n / 4],
			   last.sample[n / 2], last.sample[n - n / 4 - 1]);
	seq_printf(m, ",\"results\":%llu,\"acks\":%llu,\"forwarded\":%llu,\"repeats\":%llu,\"wrong\":%llu,\"late\":%u}\n",
		   c->results, c->acks, c->forwarded, c->repeats, c->wrong,
		   last.late);
	mutex_unlock(&lock);
	return 0;
}

static int control_open(struct inode *inode, struct file *f)
{
	return single_open(f, control_show, NULL);
}

static const struct file_operations control_ops = {
	.owner		= THIS_MODULE,
	.open		= control_open,
	.read		= seq_read,
	.write		= control_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static u64 __init calibrate(void)
{
	u64 ns = ktime_get_ns(), start = pg_cycles();

	mdelay(20);
	return div64_u64((pg_cycles() - start) * NSEC_PER_MSEC,
			 ktime_get_ns() - ns);
}

static int __init pktgen_init(void)
{
	int err;

	if (!ports || ports > PG_PORTS_MAX)
		return -EINVAL;
	khz = calibrate();
	pg_packet_init();
	err = pg_ports_make(ports);
	if (err)
		return err;
	file = debugfs_create_file("inc_pktgen", 0600, NULL, NULL,
				   &control_ops);
	return 0;
}

static void __exit pktgen_exit(void)
{
	debugfs_remove(file);
	pg_ports_remove();
	pg_trees_remove();
	kvfree(last.sample);
}

module_init(pktgen_init);
module_exit(pktgen_exit);

MODULE_DESCRIPTION("Packets of RoCEv2 hosts, for the benchmark of rdma_inc");
MODULE_LICENSE("GPL");
