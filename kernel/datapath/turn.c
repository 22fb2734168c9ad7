// SPDX-License-Identifier: GPL-2.0
/*
 * The turn of a CPU: the packets that it receives before it does anything else.
 *
 * A member's packets arrive in bursts. What a burst brings for a message is put
 * into its slot at once, at the end of the message, or else of the turn: the
 * slot's lock, and what it guards, is in use by the CPUs of all members.
 *
 * The CPU that completes a chunk has results for all members. What it takes to send
 * to one is in the cache of the CPU that receives from it. If that one is in its turn,
 * it sends when the turn ends, all that there is. It is not interrupted for that:
 * otherwise the CPU that has the result sends it. At a child switch, where a burst of
 * the parent brings the results, that holds for one CPU, too.
 *
 * Drivers don't say when their turn ends. So each CPU has a NAPI context, as
 * gro_cells have: once scheduled, it is polled behind the ones that are now.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "datapath/turn.h"
#include "datapath/tx_queue.h"
#include "object/qp.h"
#include "object/tree.h"
#include "object/wait.h"

/* QPs that may put something off, and for which the CPU may send. */
#define TURN_QPS	16
#define TURN_SENDS	64

/*
 * Microseconds after which nothing is passed on to a CPU: it may not run, but be kept
 * from it by a hypervisor, or by other softirqs. It is far more than a NIC's packets of
 * a poll take.
 */
#define TURN_US		500
/* Times that a turn's end is looked for in a poll. */
#define TURN_ENDS	4

/*
 * In inc_qp.tx.passed_on: one for each turn's end that sends, and the number of the CPU
 * for the end of whose turn the QP waits, from 1 on, or 0. No kernel has 65,535 CPUs.
 */
#define SENDING		1
#define PASSED_TO	GENMASK(31, 16)

/**
 * struct inc_turn - a CPU's turn
 * @newest: QP of the last request; may be gone: to compare only
 * @follows: the request before that was its, too
 * @napi: is polled when the turn ends
 * @lock: guards the rest; inside inc_qp.rx.lock. If the CPU goes offline, another
 *	one polls
 * @goes_on: @napi will be polled; this and the next one are read without the lock, too
 * @seen_at: when that was so at first, or last found to be so by @napi
 * @qp: QPs in the turn
 * @n: their number
 * @send: QPs that are to send then
 * @nsend: their number
 */
struct inc_turn {
	const struct inc_qp	*newest;
	bool			follows;
	struct napi_struct	napi;
	/* Other CPUs use these. */
	spinlock_t		lock ____cacheline_aligned_in_smp;	/* see above */
	bool			goes_on;
	u64			seen_at;
	struct inc_qp		*qp[TURN_QPS];
	unsigned int		n;
	struct inc_qp		*send[TURN_SENDS];
	unsigned int		nsend;
};

static struct inc_turn __percpu *turns;
static struct net_device *turn_dev;
static void (*end_turn)(struct inc_qp *qp);

/* The QP is in this CPU's turn. Returns false if there is no room. */
static bool join_turn(struct inc_turn *turn, struct inc_qp *qp)
{
	bool room;

	spin_lock(&turn->lock);
	room = turn->n < TURN_QPS;
	if (room) {
		turn->qp[turn->n++] = qp;
		if (!turn->goes_on)
			WRITE_ONCE(turn->seen_at, inc_now());
		WRITE_ONCE(turn->goes_on, true);
	}
	spin_unlock(&turn->lock);
	if (!room)
		return false;
	qp->rx.turn_cpu = smp_processor_id();
	napi_schedule(&turn->napi);
	return true;
}

/**
 * inc_turn_note() - note a request
 * @qp: QP of the member whose request it is
 *
 * Context: softirq.
 */
void inc_turn_note(const struct inc_qp *qp)
{
	struct inc_turn *turn = this_cpu_ptr(turns);

	turn->follows = turn->newest == qp;
	turn->newest = qp;
}

/**
 * inc_turn_goes_on() - check whether a member's next packet may be next
 * @qp: QP of the member, one of whose requests is accepted
 *
 * If the request before was the member's, too, it is a burst; or if the last one was.
 *
 * Context: softirq, qp->rx.lock held.
 * Return: true if the QP is in this CPU's turn.
 */
bool inc_turn_goes_on(struct inc_qp *qp)
{
	struct inc_turn *turn = this_cpu_ptr(turns);

	lockdep_assert_held(&qp->rx.lock);
	if (qp->rx.turn_cpu >= 0)
		return qp->rx.turn_cpu == smp_processor_id();
	return (turn->follows || qp->rx.bursts) &&
	       READ_ONCE(qp->state) == RDMA_INC_MEMBER_STATE_RTS &&
	       join_turn(turn, qp);
}

/*
 * Have the QP wait for the end of the CPU's turn, whose lock is held. Returns false if
 * it waits for another one's.
 */
static bool pass_to(struct inc_qp *qp, struct inc_turn *turn, unsigned int cpu)
{
	u32 to = FIELD_PREP(PASSED_TO, cpu + 1);
	int old;

	/* As in send_all(): who takes the number away sees the queue. */
	smp_mb();
	old = atomic_read(&qp->tx.passed_on);
	do {
		if (old & PASSED_TO)
			return (old & PASSED_TO) == to;
	} while (!atomic_try_cmpxchg(&qp->tx.passed_on, &old, old | to));
	turn->send[turn->nsend++] = qp;
	return true;
}

/* Returns true if the end of a turn will see what is queued, and send it. */
static bool pass_on(struct inc_qp *qp, u64 now)
{
	unsigned int cpu = READ_ONCE(qp->cpu);
	struct inc_turn *turn = per_cpu_ptr(turns, cpu);
	bool passed;

	/* A root has several chunks at a time, a child what each packet brings. */
	if (cpu == raw_smp_processor_id() && !qp->tree->geom.child)
		return false;
	if (!READ_ONCE(turn->goes_on) ||
	    (s64)(now - READ_ONCE(turn->seen_at)) > TURN_US)
		return false;
	spin_lock_bh(&turn->lock);
	passed = turn->goes_on && turn->nsend < TURN_SENDS && pass_to(qp, turn, cpu);
	spin_unlock_bh(&turn->lock);
	return passed;
}

/**
 * inc_turn_send() - send what is ready, now or at the end of a turn
 * @qp: QP
 * @now: time, from inc_now() not long ago
 *
 * Context: any but hard interrupt, RCU read side, no lock held.
 */
void inc_turn_send(struct inc_qp *qp, u64 now)
{
	if (!pass_on(qp, now))
		inc_txq_kick(qp, now);
}

/* Take the QPs of one of a turn's lists. Returns their number. */
static unsigned int take_qps(struct inc_turn *turn, struct inc_qp **list,
			     unsigned int *len, struct inc_qp **qp)
{
	unsigned int n;

	spin_lock(&turn->lock);
	n = *len;
	memcpy(qp, list, n * sizeof(*qp));
	*len = 0;
	spin_unlock(&turn->lock);
	return n;
}

/* Send what was left to this CPU's turn. */
static void send_all(struct inc_turn *turn)
{
	struct inc_qp *qp[TURN_SENDS];
	unsigned int i, n;
	u64 now;

	n = take_qps(turn, turn->send, &turn->nsend, qp);
	if (!n)
		return;
	now = inc_now();
	for (i = 0; i < n; i++) {
		/* From here on it may be passed on again; a full barrier. */
		atomic_sub_return((atomic_read(&qp[i]->tx.passed_on) & PASSED_TO) -
				  SENDING, &qp[i]->tx.passed_on);
		inc_txq_kick(qp[i], now);
		atomic_fetch_sub_release(SENDING, &qp[i]->tx.passed_on);
	}
}

/* Returns true if there is no more to do for this CPU. */
static bool stop_turn(struct inc_turn *turn)
{
	bool more;

	spin_lock(&turn->lock);
	more = turn->n || turn->nsend;
	if (more)
		WRITE_ONCE(turn->seen_at, inc_now());
	WRITE_ONCE(turn->goes_on, more);
	spin_unlock(&turn->lock);
	return !more;
}

static void end_all(struct inc_turn *turn)
{
	struct inc_qp *qp[TURN_QPS];
	unsigned int i, n;

	n = take_qps(turn, turn->qp, &turn->n, qp);
	for (i = 0; i < n; i++)
		end_turn(qp[i]);
}

static int poll_turn(struct napi_struct *napi, int budget)
{
	struct inc_turn *turn = container_of(napi, struct inc_turn, napi);
	int left = TURN_ENDS;
	bool stopped = false;

	rcu_read_lock();
	while (!stopped && left--) {
		/* Others wait for it. */
		send_all(turn);
		end_all(turn);
		stopped = stop_turn(turn);
	}
	rcu_read_unlock();
	if (!stopped)
		return budget;
	napi_complete_done(napi, 0);
	return 0;
}

/**
 * inc_turn_leave() - wait until no CPU has a QP in its turn, or is to send for it
 * @qp: unpublished QP, in error and without readers
 *
 * Context: process.
 */
void inc_turn_leave(struct inc_qp *qp)
{
	bool in_turn = true;

	while (in_turn) {
		spin_lock_bh(&qp->rx.lock);
		in_turn = qp->rx.turn_cpu >= 0;
		spin_unlock_bh(&qp->rx.lock);
		in_turn |= !!atomic_read_acquire(&qp->tx.passed_on);
		if (in_turn)
			fsleep(1000);
	}
}

/**
 * inc_turn_init() - prepare for packets
 * @end: called at the end of its turn for each QP there, in a softirq's RCU read
 *	side, without a lock; takes it from the turn (inc_qp.rx.turn_cpu)
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int inc_turn_init(void (*end)(struct inc_qp *qp))
{
	struct inc_turn *turn;
	int cpu;

	end_turn = end;
	turn_dev = alloc_netdev_dummy(0);
	if (!turn_dev)
		return -ENOMEM;
	turns = alloc_percpu(struct inc_turn);
	if (!turns) {
		free_netdev(turn_dev);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu) {
		turn = per_cpu_ptr(turns, cpu);
		spin_lock_init(&turn->lock);
		/* Without that, anybody may poll it, by its ID, at any time. */
		set_bit(NAPI_STATE_NO_BUSY_POLL, &turn->napi.state);
		netif_napi_add(turn_dev, &turn->napi, poll_turn);
		napi_enable(&turn->napi);
	}
	return 0;
}

/**
 * inc_turn_exit() - undo inc_turn_init()
 *
 * Context: module exit, when there are no QPs.
 */
void inc_turn_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		napi_disable(&per_cpu_ptr(turns, cpu)->napi);
		__netif_napi_del(&per_cpu_ptr(turns, cpu)->napi);
	}
	/* Whoever looks NAPI contexts up does so by RCU. */
	synchronize_net();
	free_netdev(turn_dev);
	free_percpu(turns);
}
