// SPDX-License-Identifier: GPL-2.0
/*
 * Softirq batch: packets that a CPU receives before it does anything else.
 *
 * A member's packets arrive in bursts. The chunks of a burst are put into the slot
 * together, at the end of the message, or else of the batch: the CPUs of all members
 * contend for the slot's lock and the cache lines that it guards.
 *
 * The CPU that completes a chunk has results for all members. The state needed to
 * send to a member is in the cache of the CPU that receives from it. A CPU in the
 * middle of a batch sends at its end; an idle one is not interrupted, but the CPU that
 * has the result sends it. A child switch, which gets results in bursts from its
 * parent, leaves its own results to the end of the batch, too.
 *
 * Drivers do not tell when a batch ends. So each CPU has a NAPI context, as
 * gro_cells have: once scheduled, it is polled behind contexts already scheduled.
 */
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>

#include "datapath/batch.h"
#include "datapath/tx_queue.h"
#include "object/qp.h"
#include "object/tree.h"
#include "object/wait.h"

/* QPs that may put something off, and for which the CPU may send. */
#define BATCH_QPS	16
#define BATCH_SENDS	64

/*
 * Microseconds after which nothing is passed on to a CPU: it may not run, but be kept
 * from it by a hypervisor, or by other softirqs. It is far more than a NIC's packets of
 * a poll take.
 */
#define BATCH_US		500
/* Times that a poll looks for the end of the batch. */
#define BATCH_ENDS	4

/*
 * In inc_qp.tx.passed_on: the number of batches whose end sends, and 1 + the CPU
 * for whose batch to end the QP waits, or 0. No kernel has 65,535 CPUs.
 */
#define SENDING		1
#define PASSED_TO	GENMASK(31, 16)

/**
 * struct inc_batch - a CPU's batch
 * @newest: QP of the last request; may be gone: to compare only
 * @follows: the request before that was its, too
 * @napi: polled when the batch ends
 * @lock: guards the rest; inside inc_qp.rx.lock. If the CPU goes offline, another
 *	one polls
 * @active: @napi will be polled; this and the next one are read without the lock, too
 * @seen_at: when that was so at first, or last found to be so by @napi
 * @qp: QPs in the batch
 * @n: their number
 * @send: QPs that are to send then
 * @nsend: their number
 */
struct inc_batch {
	const struct inc_qp	*newest;
	bool			follows;
	struct napi_struct	napi;
	/* Other CPUs use these. */
	spinlock_t		lock ____cacheline_aligned_in_smp;	/* see above */
	bool			active;
	u64			seen_at;
	struct inc_qp		*qp[BATCH_QPS];
	unsigned int		n;
	struct inc_qp		*send[BATCH_SENDS];
	unsigned int		nsend;
};

static struct inc_batch __percpu *batches;
static struct net_device *batch_dev;
static void (*end_batch)(struct inc_qp *qp);

/* Add the QP to this CPU's batch. Returns false if there is no room. */
static bool join_batch(struct inc_batch *batch, struct inc_qp *qp)
{
	bool room;

	spin_lock(&batch->lock);
	room = batch->n < BATCH_QPS;
	if (room) {
		batch->qp[batch->n++] = qp;
		if (!batch->active)
			WRITE_ONCE(batch->seen_at, inc_now());
		WRITE_ONCE(batch->active, true);
	}
	spin_unlock(&batch->lock);
	if (!room)
		return false;
	qp->rx.batch_cpu = smp_processor_id();
	napi_schedule(&batch->napi);
	return true;
}

/**
 * inc_batch_note() - note a request
 * @qp: QP of the member whose request it is
 *
 * Context: softirq.
 */
void inc_batch_note(const struct inc_qp *qp)
{
	struct inc_batch *batch = this_cpu_ptr(batches);

	batch->follows = batch->newest == qp;
	batch->newest = qp;
}

/**
 * inc_batch_continues() - check whether a member's next packet may be next
 * @qp: QP of the member, one of whose requests is accepted
 *
 * If the request before was the member's, too, it is a burst; or if the last one was.
 *
 * Context: softirq, qp->rx.lock held.
 * Return: true if the QP is in this CPU's batch.
 */
bool inc_batch_continues(struct inc_qp *qp)
{
	struct inc_batch *batch = this_cpu_ptr(batches);

	lockdep_assert_held(&qp->rx.lock);
	if (qp->rx.batch_cpu >= 0)
		return qp->rx.batch_cpu == smp_processor_id();
	return (batch->follows || qp->rx.bursts) &&
	       READ_ONCE(qp->state) == RDMA_INC_MEMBER_STATE_RTS &&
	       join_batch(batch, qp);
}

/*
 * Have the QP wait for the end of the CPU's batch, whose lock is held. Returns false if
 * it waits for another one's.
 */
static bool pass_to(struct inc_qp *qp, struct inc_batch *batch, unsigned int cpu)
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
	batch->send[batch->nsend++] = qp;
	return true;
}

/* Returns true if the end of a batch will send the QP's queue. */
static bool pass_on(struct inc_qp *qp, u64 now)
{
	unsigned int cpu = READ_ONCE(qp->cpu);
	struct inc_batch *batch = per_cpu_ptr(batches, cpu);
	bool passed;

	/* A root has several chunks at a time, a child one from each packet. */
	if (cpu == raw_smp_processor_id() && !qp->tree->geom.child)
		return false;
	if (!READ_ONCE(batch->active) ||
	    (s64)(now - READ_ONCE(batch->seen_at)) > BATCH_US)
		return false;
	spin_lock_bh(&batch->lock);
	passed = batch->active && batch->nsend < BATCH_SENDS && pass_to(qp, batch, cpu);
	spin_unlock_bh(&batch->lock);
	return passed;
}

/**
 * inc_batch_send() - send, now or at the end of a batch
 * @qp: QP
 * @now: time, from inc_now() not long ago
 *
 * Context: any but hard interrupt, RCU read side, no lock held.
 */
void inc_batch_send(struct inc_qp *qp, u64 now)
{
	if (!pass_on(qp, now))
		inc_txq_kick(qp, now);
}

/* Take the QPs of one of a batch's lists. Returns their number. */
static unsigned int take_qps(struct inc_batch *batch, struct inc_qp **list,
			     unsigned int *len, struct inc_qp **qp)
{
	unsigned int n;

	spin_lock(&batch->lock);
	n = *len;
	memcpy(qp, list, n * sizeof(*qp));
	*len = 0;
	spin_unlock(&batch->lock);
	return n;
}

/* Send for the QPs that other CPUs have left to this one. */
static void send_all(struct inc_batch *batch)
{
	struct inc_qp *qp[BATCH_SENDS];
	unsigned int i, n;
	u64 now;

	n = take_qps(batch, batch->send, &batch->nsend, qp);
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
static bool stop_batch(struct inc_batch *batch)
{
	bool more;

	spin_lock(&batch->lock);
	more = batch->n || batch->nsend;
	if (more)
		WRITE_ONCE(batch->seen_at, inc_now());
	WRITE_ONCE(batch->active, more);
	spin_unlock(&batch->lock);
	return !more;
}

static void end_all(struct inc_batch *batch)
{
	struct inc_qp *qp[BATCH_QPS];
	unsigned int i, n;

	n = take_qps(batch, batch->qp, &batch->n, qp);
	for (i = 0; i < n; i++)
		end_batch(qp[i]);
}

static int poll_batch(struct napi_struct *napi, int budget)
{
	struct inc_batch *batch = container_of(napi, struct inc_batch, napi);
	int left = BATCH_ENDS;
	bool stopped = false;

	rcu_read_lock();
	while (!stopped && left--) {
		/* First, since members wait for results. */
		send_all(batch);
		end_all(batch);
		stopped = stop_batch(batch);
	}
	rcu_read_unlock();
	if (!stopped)
		return budget;
	napi_complete_done(napi, 0);
	return 0;
}

/**
 * inc_batch_leave() - wait until no CPU has a QP in its batch, or is to send for it
 * @qp: unpublished QP, in error and without readers
 *
 * Context: process.
 */
void inc_batch_leave(struct inc_qp *qp)
{
	bool in_batch = true;

	while (in_batch) {
		spin_lock_bh(&qp->rx.lock);
		in_batch = qp->rx.batch_cpu >= 0;
		spin_unlock_bh(&qp->rx.lock);
		in_batch |= !!atomic_read_acquire(&qp->tx.passed_on);
		if (in_batch)
			fsleep(1000);
	}
}

/**
 * inc_batch_init() - prepare for packets
 * @end: called at the end of a batch for each QP there, in a softirq's RCU read
 *	side, without a lock; takes it from the batch (inc_qp.rx.batch_cpu)
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int inc_batch_init(void (*end)(struct inc_qp *qp))
{
	struct inc_batch *batch;
	int cpu;

	end_batch = end;
	batch_dev = alloc_netdev_dummy(0);
	if (!batch_dev)
		return -ENOMEM;
	batches = alloc_percpu(struct inc_batch);
	if (!batches) {
		free_netdev(batch_dev);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu) {
		batch = per_cpu_ptr(batches, cpu);
		spin_lock_init(&batch->lock);
		/* Without that, anybody may poll it, by its ID, at any time. */
		set_bit(NAPI_STATE_NO_BUSY_POLL, &batch->napi.state);
		netif_napi_add(batch_dev, &batch->napi, poll_batch);
		napi_enable(&batch->napi);
	}
	return 0;
}

/**
 * inc_batch_exit() - undo inc_batch_init()
 *
 * Context: module exit, when there are no QPs.
 */
void inc_batch_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		napi_disable(&per_cpu_ptr(batches, cpu)->napi);
		__netif_napi_del(&per_cpu_ptr(batches, cpu)->napi);
	}
	/* Lookups of NAPI contexts use RCU. */
	synchronize_net();
	free_netdev(batch_dev);
	free_percpu(batches);
}
