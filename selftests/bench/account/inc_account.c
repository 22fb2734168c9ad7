// SPDX-License-Identifier: GPL-2.0
/*
 * Account CPU time: every cycle between loading and unloading this module is
 * charged to one account. For the benchmark, where the bridge host and all
 * other hosts are network namespaces of one kernel.
 *
 * Tracepoints switch between accounts:
 *
 *	sched_switch		charge the process's network namespace
 *	workqueue_execute_*	charge the namespace through whose devices the
 *				work sends; that is learnt from the first
 *				packet, and until then nobody's
 *	softirq_*		nobody's, until
 *	netif_receive_skb	a packet is received: charge the namespace of
 *				its input device
 *
 * Interrupts are charged to the interrupted account. No two events are really a
 * millisecond apart: where they seem to be, the machine ran something else in
 * between, and that time counts as stolen.
 *
 * Read inc_account in debugfs. With profile=HZ, that many times a second record
 * the function in which a softirq of the bridge host runs: inc_account_profile,
 * lines of a count and a symbol.
 */
#include <linux/crc32.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <asm/irq_regs.h>
#include <net/net_namespace.h>

#define MAP_BITS	10
#define MAP_PROBES	8
#define BIG		512	/* bytes; data, not an ACK */
#define CALIBRATE	100000
#define CRC_BYTES	1024
#define CRC_CALIBRATE	50

static unsigned int netns;
module_param(netns, uint, 0444);
MODULE_PARM_DESC(netns, "inode number of the bridge host's network namespace");

static unsigned int profile;
module_param(profile, uint, 0444);
MODULE_PARM_DESC(profile,
		 "samples per second of where the bridge host's time goes");

enum account {
	IDLE,
	NOBODY,
	NOBODY_SOFTIRQ,
	BRIDGE_PROCESS,
	BRIDGE_WORK,
	BRIDGE_SOFTIRQ,
	HOSTS_PROCESS,
	HOSTS_WORK,
	HOSTS_SOFTIRQ,
	STOLEN,
	ACCOUNTS
};

static const char * const account_names[ACCOUNTS] = {
	[IDLE]			= "idle",
	[NOBODY]		= "nobody",
	[NOBODY_SOFTIRQ]	= "nobody_softirq",
	[BRIDGE_PROCESS]	= "bridge_process",
	[BRIDGE_WORK]		= "bridge_work",
	[BRIDGE_SOFTIRQ]	= "bridge_softirq",
	[HOSTS_PROCESS]		= "hosts_process",
	[HOSTS_WORK]		= "hosts_work",
	[HOSTS_SOFTIRQ]		= "hosts_softirq",
	[STOLEN]		= "stolen",
};

/**
 * struct cpu_state - a CPU's current account, and the totals
 * @last: when @now became current, cycles
 * @now: account that is charged
 * @below: account to charge again when the softirq ends
 * @softirq: in a softirq
 * @work: work whose owner is not known yet
 * @cycles: cycles of each account
 * @events: number of switches to each account
 * @port_big: data packets received by ports of the bridge
 * @port_small: other packets received there
 * @host_big: data packets received by hosts
 * @host_small: other packets received there
 */
struct cpu_state {
	u64		last;
	enum account	now;
	enum account	below;
	bool		softirq;
	void		*work;
	u64		cycles[ACCOUNTS];
	u64		events[ACCOUNTS];
	u64		port_big;
	u64		port_small;
	u64		host_big;
	u64		host_small;
};

static DEFINE_PER_CPU(struct cpu_state, cpu_state);
static u64 limit;		/* cycles of a millisecond */
static u64 event_cycles;
static u64 crc_cycles;
static struct dentry *file, *profile_file;

/*
 * Owners of works, and works of worker threads, by address. Entries are never
 * removed: load the module afresh for each measurement.
 */
static struct entry {
	void	*key;
	void	*value;
} works[1 << MAP_BITS], workers[1 << MAP_BITS];

static u64 cycles_now(void)
{
#ifdef CONFIG_X86_64
	/* User-Mode Linux has no get_cycles(). */
	return __builtin_ia32_rdtsc();
#else
	return ktime_get_mono_fast_ns();
#endif
}

static struct entry *map_find(struct entry *map, void *key)
{
	unsigned long i = hash_ptr(key, MAP_BITS), n;
	struct entry *e;

	for (n = 0; n < MAP_PROBES; n++) {
		e = &map[(i + n) & ((1 << MAP_BITS) - 1)];
		if (e->key == key || !cmpxchg(&e->key, NULL, key))
			return e;
	}
	return NULL;
}

/* Call with interrupts off. */
static void charge(struct cpu_state *s, enum account to)
{
	u64 now = cycles_now(), spent = now - s->last;
	bool stolen = spent > limit && s->now > NOBODY_SOFTIRQ;

	s->cycles[stolen ? STOLEN : s->now] += spent;
	s->events[to]++;
	s->last = now;
	s->now = to;
}

static void charge_task(struct cpu_state *s, enum account to)
{
	s->below = to;
	if (!s->softirq)
		charge(s, to);
}

static bool is_bridge(const struct net *net)
{
	return net->ns.inum == netns;
}

static enum account work_account(struct cpu_state *s, void *work)
{
	struct entry *e = map_find(works, work);

	s->work = NULL;
	if (e && e->value)
		return (enum account)(unsigned long)e->value;
	s->work = work;
	return NOBODY;
}

static enum account task_account(struct cpu_state *s, struct task_struct *task)
{
	const struct nsproxy *proxy;
	struct entry *e;

	s->work = NULL;
	if (is_idle_task(task))
		return IDLE;
	if (task->flags & PF_WQ_WORKER) {
		e = map_find(workers, task);
		return e && e->value ? work_account(s, e->value) : NOBODY;
	}
	/* Only the task itself changes this, and it does not run. */
	proxy = READ_ONCE(task->nsproxy);
	if (!proxy || proxy->net_ns == &init_net)
		return NOBODY;
	return is_bridge(proxy->net_ns) ? BRIDGE_PROCESS : HOSTS_PROCESS;
}

/* Code addresses, by hash, and how often a softirq was there. */
#define PLACE_BITS	12
static struct place {
	unsigned long	ip;
	u64		count;
} places[1 << PLACE_BITS];
static DEFINE_PER_CPU(struct hrtimer, profile_timer);

static void note(unsigned long ip)
{
	unsigned long i = hash_long(ip, PLACE_BITS), n;
	struct place *p;

	for (n = 0; n < 1 << PLACE_BITS; n++) {
		p = &places[(i + n) & ((1 << PLACE_BITS) - 1)];
		if (p->ip == ip || !cmpxchg(&p->ip, 0, ip)) {
			p->count++;
			return;
		}
	}
}

static enum hrtimer_restart on_profile(struct hrtimer *t)
{
	struct pt_regs *regs = get_irq_regs();

	/* No registers: an interrupt that User-Mode Linux had deferred. */
	if (this_cpu_read(cpu_state.now) == BRIDGE_SOFTIRQ && regs &&
	    instruction_pointer(regs))
		note(instruction_pointer(regs));
	hrtimer_forward_now(t, ns_to_ktime(NSEC_PER_SEC / profile));
	return HRTIMER_RESTART;
}

static void profile_on(void *unused)
{
	struct hrtimer *t = this_cpu_ptr(&profile_timer);

	hrtimer_setup(t, on_profile, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(t, ns_to_ktime(NSEC_PER_SEC / profile),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void profile_off(void)
{
	unsigned int cpu;

	if (profile)
		for_each_online_cpu(cpu)
			hrtimer_cancel(per_cpu_ptr(&profile_timer, cpu));
}

static int profile_show(struct seq_file *m, void *v)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (!places[i].count)
			continue;
		sprint_symbol_no_offset(name, places[i].ip);
		seq_printf(m, "%llu %s\n", places[i].count, name);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(profile);

static void on_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
	struct cpu_state *s;
	unsigned long flags;

	local_irq_save(flags);
	s = this_cpu_ptr(&cpu_state);
	charge_task(s, task_account(s, next));
	local_irq_restore(flags);
}

static void set_work(void *work)
{
	struct entry *e = map_find(workers, current);
	struct cpu_state *s;
	unsigned long flags;

	if (e)
		e->value = work;
	local_irq_save(flags);
	s = this_cpu_ptr(&cpu_state);
	s->work = NULL;
	charge_task(s, work ? work_account(s, work) : NOBODY);
	local_irq_restore(flags);
}

static void on_work_start(void *data, struct work_struct *work)
{
	set_work(work);
}

static void on_work_end(void *data, struct work_struct *work,
			work_func_t function)
{
	set_work(NULL);
}

static void on_softirq_entry(void *data, unsigned int nr)
{
	struct cpu_state *s;
	unsigned long flags;

	local_irq_save(flags);
	s = this_cpu_ptr(&cpu_state);
	s->softirq = true;
	charge(s, NOBODY_SOFTIRQ);
	local_irq_restore(flags);
}

static void on_softirq_exit(void *data, unsigned int nr)
{
	struct cpu_state *s;
	unsigned long flags;

	local_irq_save(flags);
	s = this_cpu_ptr(&cpu_state);
	s->softirq = false;
	charge(s, s->below);
	local_irq_restore(flags);
}

static void on_receive(void *data, struct sk_buff *skb)
{
	bool bridge = is_bridge(dev_net(skb->dev));
	struct cpu_state *s;
	unsigned long flags;

	local_irq_save(flags);
	s = this_cpu_ptr(&cpu_state);
	if (s->softirq)
		charge(s, bridge ? BRIDGE_SOFTIRQ : HOSTS_SOFTIRQ);
	if (!bridge)
		*(skb->len > BIG ? &s->host_big : &s->host_small) += 1;
	else if (netif_is_bridge_port(skb->dev))
		*(skb->len > BIG ? &s->port_big : &s->port_small) += 1;
	local_irq_restore(flags);
}

/* The device that sends a packet shows the owner. */
static void on_send(void *data, struct sk_buff *skb)
{
	bool bridge = is_bridge(dev_net(skb->dev));
	struct cpu_state *s;
	unsigned long flags;
	struct entry *e;

	local_irq_save(flags);
	s = this_cpu_ptr(&cpu_state);
	if (s->softirq ? s->now != NOBODY_SOFTIRQ : !s->work) {
		charge(s, s->now);
	} else if (s->softirq) {
		charge(s, bridge ? BRIDGE_SOFTIRQ : HOSTS_SOFTIRQ);
	} else {
		e = map_find(works, s->work);
		s->work = NULL;
		charge_task(s, bridge ? BRIDGE_WORK : HOSTS_WORK);
		if (e)
			e->value = (void *)(unsigned long)s->now;
	}
	local_irq_restore(flags);
}

static struct probe {
	const char		*name;
	void			*function;
	struct tracepoint	*tp;
	bool			on;
} probes[] = {
	{ "sched_switch",		on_switch },
	{ "workqueue_execute_start",	on_work_start },
	{ "workqueue_execute_end",	on_work_end },
	{ "softirq_entry",		on_softirq_entry },
	{ "softirq_exit",		on_softirq_exit },
	{ "netif_receive_skb",		on_receive },
	{ "net_dev_queue",		on_send },
};

static void find_tracepoint(struct tracepoint *tp, void *priv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

static void probes_off(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].on)
			tracepoint_probe_unregister(probes[i].tp,
						    probes[i].function, NULL);
	tracepoint_synchronize_unregister();
}

static int probes_on(void)
{
	unsigned int i;
	int err;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = probes[i].tp ?
		      tracepoint_probe_register(probes[i].tp,
						probes[i].function, NULL) :
		      -ENOENT;
		if (err) {
			pr_err("no tracepoint %s\n", probes[i].name);
			probes_off();
			return err;
		}
		probes[i].on = true;
	}
	return 0;
}

static int account_show(struct seq_file *m, void *v)
{
	u64 packets[4] = { 0 }, cycles, events;
	const struct cpu_state *s;
	unsigned int cpu, i;

	seq_printf(m, "{\"ns\":%llu,\"tsc\":%llu,\"event_cycles\":%llu,\"crc_cycles\":%llu",
		   ktime_get_ns(), cycles_now(), event_cycles, crc_cycles);
	for (i = 0; i < ACCOUNTS; i++) {
		cycles = 0;
		events = 0;
		for_each_possible_cpu(cpu) {
			s = per_cpu_ptr(&cpu_state, cpu);
			cycles += s->cycles[i];
			events += s->events[i];
		}
		seq_printf(m, ",\"%s\":[%llu,%llu]", account_names[i], cycles,
			   events);
	}
	for_each_possible_cpu(cpu) {
		s = per_cpu_ptr(&cpu_state, cpu);
		packets[0] += s->port_big;
		packets[1] += s->port_small;
		packets[2] += s->host_big;
		packets[3] += s->host_small;
	}
	seq_printf(m, ",\"port_big\":%llu,\"port_small\":%llu,\"host_big\":%llu,\"host_small\":%llu}\n",
		   packets[0], packets[1], packets[2], packets[3]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(account);

static u64 __init calibrate_limit(void)
{
	u64 ns = ktime_get_ns(), start = cycles_now();

	mdelay(5);
	return div64_u64((cycles_now() - start) * NSEC_PER_MSEC,
			 ktime_get_ns() - ns);
}

/* Cost of one event, to state the share of all events. */
static u64 __init calibrate(void)
{
	static struct cpu_state s __initdata;
	u64 start = cycles_now();
	unsigned int i;

	for (i = 0; i < CALIBRATE; i++)
		charge(&s, i & 1 ? IDLE : NOBODY);
	return div_u64(cycles_now() - start, CALIBRATE);
}

/*
 * Cost of this kernel's CRC over a packet's payload, which all RoCE pays: the
 * minimum of many, so that interrupts do not count.
 */
static u64 __init calibrate_crc(void)
{
	static u8 data[CRC_BYTES] __initdata;
	u64 start, least = U64_MAX;
	unsigned int i, n;
	u32 crc = ~0;

	for (i = 0; i < CRC_CALIBRATE; i++) {
		start = cycles_now();
		for (n = 0; n < CRC_CALIBRATE; n++) {
			crc = crc32_le(crc, data, sizeof(data));
			/* Keep every call, and keep it here. */
			asm volatile("" : "+r" (crc));
		}
		least = min(least, div_u64(cycles_now() - start, n));
	}
	return least;
}

static int __init account_init(void)
{
	unsigned int cpu;
	int err;

	limit = calibrate_limit();
	event_cycles = calibrate();
	crc_cycles = calibrate_crc();
	for_each_possible_cpu(cpu) {
		struct cpu_state *s = per_cpu_ptr(&cpu_state, cpu);

		s->last = cycles_now();
		s->now = NOBODY;
		s->below = NOBODY;
	}
	err = probes_on();
	if (err)
		return err;
	file = debugfs_create_file("inc_account", 0400, NULL, NULL,
				   &account_fops);
	if (profile) {
		profile_file = debugfs_create_file("inc_account_profile", 0400,
						   NULL, NULL, &profile_fops);
		on_each_cpu(profile_on, NULL, 1);
	}
	return 0;
}

static void __exit account_exit(void)
{
	profile_off();
	debugfs_remove(profile_file);
	debugfs_remove(file);
	probes_off();
}

module_init(account_init);
module_exit(account_exit);

MODULE_DESCRIPTION("Whose work a CPU does, for the benchmark of rdma_inc");
MODULE_LICENSE("GPL");
