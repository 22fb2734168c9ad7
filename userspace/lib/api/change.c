// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A communicator changes to another tree while it is used. One with default transport
 * begins over RC, and changes to UC, for good, if its path loses packets; and any one
 * moves to other switches, with all of its settings, as often as the manager wishes.
 *
 * Any rank's watch may report losses. The daemon tells all ranks to change. Each makes
 * another communicator in a thread of its own; to the daemon it is a job like others.
 * Operations do not wait for it. If it fails on any rank, it fails on all, and
 * everything goes on over the old tree.
 *
 * Once the other communicator exists, a Barrier over it shows that the new tree reaches
 * all ranks; until then operations go on over the old one, however long that takes. Then
 * a rank holds operations that it has not begun yet. The ranks agree, over the new tree, on the highest number of operations that any
 * has begun. Up to this number they use the old tree: each rank sends them, and waits
 * for them. Then a Barrier over the new tree tells all ranks that none needs the old
 * one. Until a rank starts it, a failure of the new tree is harmless; from then on,
 * the communicator fails with the new tree, as other ranks may have changed, but not
 * with the old one. So a rank leaves that as soon as the Barrier is done.
 *
 * So every operation is done by one of the two trees as a whole, and its result has the
 * same bits over either.
 *
 * A rail whose tree has failed is replaced likewise: each rank makes another
 * communicator, over the other rail's device, and the ranks agree, over it, on the
 * lowest number of operations of which any has all results. They repeat later ones, see
 * rebuild.c.
 */
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "call.h"
#include "change.h"
#include "comm/comm.h"
#include "engine/end.h"
#include "engine/fail.h"
#include "engine/msg.h"
#include "engine/progress.h"
#include "engine/rebuild.h"
#include "engine/uc.h"

#define TRIES		3
/* Ranks join within their next calls, some of them late. */
#define JOIN_MS		30000
/* A rank that computes joins within its next call: the tree stands ready meanwhile. */
#define MOVE_JOIN_MS	600000
/* Another tree may be refused while the failed one still holds resources. */
#define REPLACE_TRIES	100
#define REPLACE_PAUSE_MS	100

/* --- The thread ---------------------------------------------------------- */

static void *make_other(void *arg)
{
	struct inc_comm *comm = arg;

	inc_comm_create_until(&comm->change.other, &comm->change.opts,
			      &comm->change.stop);
	atomic_store(&comm->change.ended, true);
	inc_watchdog_ring();
	return NULL;
}

/* Make the tree over the device of the other rail. */
static void *replace_other(void *arg)
{
	const struct timespec pause = { .tv_nsec = REPLACE_PAUSE_MS * 1000000L };
	struct inc_comm *comm = arg;
	int tries = REPLACE_TRIES;

	while (inc_comm_create_until(&comm->change.other, &comm->rails.opts,
				     &comm->change.stop) &&
	       --tries && !atomic_load(&comm->change.stop))
		nanosleep(&pause, NULL);
	atomic_store(&comm->change.ended, true);
	return NULL;
}

static void *destroy_other(void *arg)
{
	struct inc_comm *comm = arg;

	inc_comm_destroy(comm->change.other);
	comm->change.other = NULL;
	atomic_store(&comm->change.ended, true);
	return NULL;
}

static int start_thread(struct inc_comm *comm, void *(*main)(void *))
{
	sigset_t all, old;
	int ret;

	atomic_store(&comm->change.ended, false);
	/* Leave signals to the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = -pthread_create(&comm->change.thread, NULL, main, comm);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	comm->change.runs = !ret;
	return ret;
}

static void join_thread(struct inc_comm *comm)
{
	if (comm->change.runs)
		pthread_join(comm->change.thread, NULL);
	comm->change.runs = false;
}

/* --- Steps --------------------------------------------------------------- */

static void forget_request(struct inc_comm *comm)
{
	inc_request_free(comm->change.req);
	comm->change.req = NULL;
}

/* Destroy the other communicator in a thread, as this waits for the daemon. */
static void clean_up(struct inc_comm *comm)
{
	comm->change.state = INC_CHANGE_CLEANING;
	if (start_thread(comm, destroy_other))
		destroy_other(comm);
}

/* Other calls drive UC, and two rails, in any case, so keep those listed. */
static void unlist(struct inc_comm *comm)
{
	if (!comm->rails.other && !comm->uc)
		inc_others_del(comm);
}

static void set_able(struct inc_comm *comm, bool able)
{
	comm->change.able = able;
	atomic_store(&comm->watchdog.may_change, able);
}

/* Go on over the old tree, as all ranks do. */
static void give_up(struct inc_comm *comm, const char *why)
{
	inc_warn(&comm->who, "stays %s: %s",
		 comm->change.keeps ? "on its tree" : "over RC", why);
	unlist(comm);
	comm->change.holds = false;
	if (!comm->change.keeps)
		set_able(comm, ++comm->change.tries < TRIES);
	atomic_store(&comm->watchdog.change, false);
	comm->change.state = INC_CHANGE_NONE;
	if (!comm->change.other)
		return;
	forget_request(comm);
	clean_up(comm);
}

/*
 * Choose the other communicator's options. A move asks for the settings that the tree
 * has: operations were planned for them.
 */
static void set_options(struct inc_comm *comm)
{
	struct inc_comm_opts *o = &comm->change.opts;
	bool keeps = comm->change.keeps;

	o->qp_type = comm->uc || !keeps ? INC_QP_UC : comm->change.qp_type;
	o->join_timeout_ms = keeps ? MOVE_JOIN_MS : JOIN_MS;
	/* UC needs more slots than RC, of a packet each. */
	o->tree.slots = keeps ? comm->tree.slots : 0;
	if (keeps)
		o->tree.pmtu = comm->tree.pmtu;
	o->timeout_ms = atomic_load(&comm->watchdog.timeout_ms);
}

static void begin_change(struct inc_comm *comm)
{
	/* Pairs with note_change(), which writes the job's name before this. */
	if (!atomic_load(&comm->watchdog.change))
		return;
	comm->change.keeps = comm->watchdog.change_keeps;
	if (!comm->change.keeps && !comm->change.able) {
		atomic_store(&comm->watchdog.change, false);
		return;
	}
	atomic_store(&comm->change.stop, false);
	comm->change.text[0] = '\0';
	memcpy(comm->change.job, comm->watchdog.change_job,
	       sizeof(comm->change.job));
	set_options(comm);
	comm->change.state = INC_CHANGE_MAKING;
	if (start_thread(comm, make_other))
		give_up(comm, "no thread");
	else
		inc_others_add(comm);
}

/*
 * Held operations were checked against the old tree, so the new one must offer as much;
 * and planned for it.
 */
static bool is_as_good(const struct inc_comm *comm,
		       const struct inc_comm *other)
{
	return other->dev.hca == comm->dev.hca &&
	       (!comm->change.keeps || inc_tree_fits(&comm->tree, &other->tree)) &&
	       !(comm->tree.collectives & ~other->tree.collectives) &&
	       !(comm->tree.dtypes & ~other->tree.dtypes) &&
	       !(comm->tree.ops & ~other->tree.ops);
}

static void start_over_other(struct inc_comm *comm, struct inc_call call,
			     enum inc_change_state next)
{
	if (inc_call_start(comm->change.other, call, &comm->change.req))
		give_up(comm, inc_comm_strerror(comm->change.other));
	else
		comm->change.state = next;
}

/* Nothing waits for this: the path to the new switch may not be what it should. */
static void begin_try(struct inc_comm *comm)
{
	const struct inc_call call = { .coll = INC_COLL_BARRIER };

	join_thread(comm);
	if (!comm->change.other) {
		give_up(comm, comm->change.text);
		return;
	}
	if (!is_as_good(comm, comm->change.other)) {
		give_up(comm, "the new tree offers less, or has other settings");
		return;
	}
	start_over_other(comm, call, INC_CHANGE_TRYING);
}

static void begin_count(struct inc_comm *comm)
{
	const struct inc_call call = {
		.coll = INC_COLL_ALLREDUCE, .send = INC_IN_PLACE,
		.recv = &comm->change.count, .count = 1,
		.dtype = INC_DTYPE_UINT64, .op = INC_OP_MAX,
	};

	comm->change.holds = true;
	comm->change.since = inc_now_us();
	comm->change.last = comm->info.begun;
	comm->change.count = htole64(comm->info.begun);
	start_over_other(comm, call, INC_CHANGE_COUNTING);
}

/*
 * Returns whether the operation over the new tree is done without an error, and the
 * tree works: it may have failed right after, and be rebuilt first. The time limit is
 * the waiting call's, if there is one.
 */
static bool finish_request(struct inc_comm *comm, bool called, int *ret)
{
	struct inc_comm *other = comm->change.other;
	int done;

	atomic_store(&other->watchdog.timeout_ms,
		     atomic_load(&comm->watchdog.timeout_ms));
	if (called)
		inc_watchdog_test(&other->watchdog);
	*ret = inc_request_try(comm->change.req, &done);
	if (done && other->rebuild.state)
		inc_comm_progress(other);
	if (!*ret)
		*ret = other->err;
	if (!done || *ret || other->rebuild.state)
		return false;
	forget_request(comm);
	return true;
}

/* The call that waits does so for an operation over the old tree: no limit counts here. */
static void take_try(struct inc_comm *comm)
{
	int ret;

	if (finish_request(comm, false, &ret))
		begin_count(comm);
	else if (ret)
		give_up(comm, inc_comm_strerror(comm->change.other));
}

static void take_count(struct inc_comm *comm, bool called)
{
	int ret;

	if (finish_request(comm, called, &ret)) {
		comm->change.last = le64toh(comm->change.count);
		comm->change.state = INC_CHANGE_DRAINING;
	} else if (ret) {
		give_up(comm, inc_comm_strerror(comm->change.other));
	}
}

static void drain(struct inc_comm *comm)
{
	const struct inc_call call = { .coll = INC_COLL_BARRIER };

	inc_comm_progress(comm->change.other);
	if (comm->change.other->err) {
		give_up(comm, inc_comm_strerror(comm->change.other));
		return;
	}
	if (comm->info.begun < comm->change.last ||
	    (comm->ops.first && !inc_request_is_held(comm->ops.first)))
		return;
	start_over_other(comm, call, INC_CHANGE_LEAVING);
}

#define SWAP(a, b, member)						\
	do {								\
		__typeof__((a)->member) tmp_ = (a)->member;		\
									\
		(a)->member = (b)->member;				\
		(b)->member = tmp_;					\
	} while (0)

/*
 * Swap the daemons' connections and messages, and leave @b without a watch:
 * failures of the old tree no longer matter.
 */
static void swap_watches(struct inc_watchdog *a, struct inc_watchdog *b)
{
	inc_watchdog_stop(a);
	inc_watchdog_stop(b);
	atomic_store(&a->err, atomic_load(&b->err));
	memcpy(a->text, b->text, sizeof(a->text));
	SWAP(a, b, conn);
	atomic_store(&a->hung_up, atomic_load(&b->hung_up));
	SWAP(a, b, lost);
	SWAP(a, b, seen);
	memcpy(a->said, b->said, sizeof(a->said));
	a->said_err = b->said_err;
	memcpy(a->wrong, b->wrong, sizeof(a->wrong));
	a->wrong_id = b->wrong_id;
	a->rebuild = b->rebuild;
	/* The new tree's group may have been told to move already. */
	a->change_keeps = b->change_keeps;
	memcpy(a->change_job, b->change_job, sizeof(a->change_job));
	atomic_store(&a->change, atomic_load(&b->change));
	a->conn.who = a->who;
	b->conn.who = b->who;
	b->qp = NULL;
}

/* Swap all but the user's memory, operations and statistics. */
static void swap_engines(struct inc_comm *a, struct inc_comm *b)
{
	a->rebuild.base = a->rebuild.finished - b->rebuild.finished;
	swap_watches(&a->watchdog, &b->watchdog);
	SWAP(a, b, dev);
	SWAP(a, b, pd);
	SWAP(a, b, chan);
	SWAP(a, b, qp);
	SWAP(a, b, dying);
	SWAP(a, b, qpn);
	SWAP(a, b, unsent);
	SWAP(a, b, rq);
	SWAP(a, b, sq);
	SWAP(a, b, window);
	SWAP(a, b, uc);
	SWAP(a, b, msgs);
	SWAP(a, b, arena);
	SWAP(a, b, first_arena);
	SWAP(a, b, bounce);
	SWAP(a, b, tree);
	SWAP(a, b, who.tree_id);
	SWAP(a, b, rebuild.round);
}

/* Cannot fail: inc_watchdog_hold() has kept the thread. */
static void watch_again(struct inc_comm *comm)
{
	inc_watchdog_start(&comm->watchdog, comm->qp, comm->dev.hca,
			   comm->dev.port);
	inc_watchdog_release();
}

static void say_changed(const struct inc_comm *comm)
{
	unsigned long long last = comm->change.last;

	if (comm->change.keeps)
		inc_info(&comm->who, "has moved after operation %llu, to tree %u; it took %.1f ms",
			 last, comm->tree.tree_id,
			 (double)(inc_now_us() - comm->change.since) / 1000);
	else
		inc_warn(&comm->who, "packets are lost: UC instead of RC after operation %llu, tree %u",
			 last, comm->tree.tree_id);
}

static void take_other(struct inc_comm *comm)
{
	struct inc_comm *other = comm->change.other;
	struct inc_request *req;

	inc_request_drop_kept(comm);
	inc_watchdog_hold();
	swap_engines(comm, other);
	/* Round trips so far are of short messages on an idle path only. */
	if (comm->uc)
		inc_uc_restart(comm);
	inc_mem_renumber(&comm->mem);
	for (req = comm->ops.first; req && !comm->change.keeps; req = req->next)
		inc_call_renew(req);
	set_able(comm, comm->change.able && comm->change.keeps &&
		       comm->tree.change);
	comm->change.holds = false;
	comm->rebuild.state = INC_REBUILD_NONE;
	watch_again(comm);
	say_changed(comm);
	clean_up(comm);
	inc_msg_resume(comm, comm->rebuild.finished);
}

static void leave_old(struct inc_comm *comm, bool called)
{
	int ret;

	if (finish_request(comm, called, &ret))
		take_other(comm);
	else if (ret)
		inc_fail_device(comm, ret, "changing to another tree: %s",
				inc_comm_strerror(comm->change.other));
}

/* --- Rails ----------------------------------------------------------------- */

/* End a change for good. Returns whether nothing is left of it. */
static bool forget_change(struct inc_comm *comm)
{
	comm->change.holds = false;
	comm->change.movable = false;
	set_able(comm, false);
	atomic_store(&comm->change.stop, true);
	if (comm->change.runs && !atomic_load(&comm->change.ended))
		return false;
	join_thread(comm);
	if (comm->change.other) {
		if (comm->change.req)
			forget_request(comm);
		clean_up(comm);
		return false;
	}
	comm->change.state = INC_CHANGE_NONE;
	return true;
}

/*
 * All ranks join the same job again, until they have agreed: a failure of one fails
 * all, or makes the others wait for it.
 */
static void begin_replacing(struct inc_comm *comm)
{
	struct inc_comm_opts *o = &comm->rails.opts;

	if (!forget_change(comm))
		return;
	/* The other rail works there now. */
	o->server = comm->rails.peer->rails.at;
	o->timeout_ms = atomic_load(&comm->watchdog.timeout_ms);
	comm->rails.text[0] = '\0';
	atomic_store(&comm->change.stop, false);
	comm->rebuild.state = INC_REBUILD_REJOINED;
	/* From here on, the watch serves the waiting call's time limit only. */
	if (comm->rails.other)
		inc_watchdog_restart(&comm->watchdog);
	inc_warn(&comm->who, "%s: another tree is made over the other device",
		 comm->rebuild.text);
	if (start_thread(comm, replace_other))
		inc_comm_fail(comm, -EAGAIN, "no thread");
}

/* Try again, as the replacement has failed, too. */
static void replace_again(struct inc_comm *comm, const char *why)
{
	if (++comm->rails.tries < TRIES)
		comm->rebuild.state = INC_REBUILD_BROKEN;
	else
		inc_comm_fail(comm, comm->rebuild.err, "%s; over the other device: %s",
			      comm->rebuild.text, why);
}

static void begin_resuming(struct inc_comm *comm)
{
	const struct inc_call call = {
		.coll = INC_COLL_ALLREDUCE, .send = INC_IN_PLACE,
		.recv = &comm->change.count, .count = 1,
		.dtype = INC_DTYPE_UINT64, .op = INC_OP_MIN,
	};

	if (!atomic_load(&comm->change.ended))
		return;
	join_thread(comm);
	comm->change.count = htole64(inc_rebuild_count(comm));
	if (!comm->change.other)
		replace_again(comm, comm->rails.text);
	else if (inc_call_start(comm->change.other, call, &comm->change.req))
		replace_again(comm, inc_comm_strerror(comm->change.other));
	else
		comm->rebuild.state = INC_REBUILD_CONNECTED;
}

static void take_rail(struct inc_comm *comm)
{
	uint64_t count = le64toh(comm->change.count);
	uint32_t done = comm->rebuild.finished +
			(uint32_t)(count - comm->info.operations);

	if (!inc_request_again(comm, done)) {
		inc_comm_fail(comm, comm->rebuild.err, "%s, and there was no memory to repeat operations",
			      comm->rebuild.text);
		return;
	}
	inc_watchdog_hold();
	swap_engines(comm, comm->change.other);
	comm->rebuild.state = INC_REBUILD_NONE;
	inc_call_move(comm, comm->change.other);
	watch_again(comm);
	if (comm->err)
		return;
	inc_warn(&comm->who, "goes on over %s, tree %u, after operation %llu",
		 ibv_get_device_name(comm->dev.ctx->device),
		 comm->tree.tree_id, (unsigned long long)count);
	memcpy(comm->rails.at, comm->rails.peer->rails.at,
	       sizeof(comm->rails.at));
	comm->rails.tries = 0;
	/* Now both rails use the same device. */
	atomic_store(&comm->watchdog.spare, false);
	atomic_store(&comm->rails.peer->watchdog.spare, false);
	if (comm->uc)
		inc_uc_restart(comm);
	inc_msg_resume(comm, done);
	clean_up(comm);
}

static void replace_rail(struct inc_comm *comm, bool called)
{
	int ret;

	if (comm->rails.other &&
	    inc_watchdog_error(&comm->watchdog) == -ETIMEDOUT) {
		inc_comm_watch_failed(comm);
		return;
	}
	switch (comm->rebuild.state) {
	case INC_REBUILD_NONE:
		break;
	case INC_REBUILD_BROKEN:
		begin_replacing(comm);
		break;
	case INC_REBUILD_REJOINED:
		begin_resuming(comm);
		break;
	case INC_REBUILD_CONNECTED:
		if (finish_request(comm, called, &ret))
			take_rail(comm);
		else if (ret)
			replace_again(comm, inc_comm_strerror(comm->change.other));
	}
}

/* Stop a change; inc_change_end() frees its resources. */
static void stop_change(struct inc_comm *comm)
{
	unlist(comm);
	atomic_store(&comm->change.stop, true);
	if (!comm->change.runs && comm->change.other)
		inc_comm_fail(comm->change.other, comm->err, "%s",
			      comm->error.text);
}

static void do_step(struct inc_comm *comm, bool called)
{
	if (comm->err) {
		stop_change(comm);
		return;
	}
	if (comm->rebuild.state && comm->change.state != INC_CHANGE_LEAVING) {
		replace_rail(comm, called);
		return;
	}
	switch (comm->change.state) {
	case INC_CHANGE_NONE:
		begin_change(comm);
		break;
	case INC_CHANGE_MAKING:
		if (atomic_load(&comm->change.ended))
			begin_try(comm);
		break;
	case INC_CHANGE_TRYING:
		take_try(comm);
		break;
	case INC_CHANGE_COUNTING:
		take_count(comm, called);
		break;
	case INC_CHANGE_DRAINING:
		drain(comm);
		break;
	case INC_CHANGE_LEAVING:
		leave_old(comm, called);
		break;
	case INC_CHANGE_CLEANING:
		if (!atomic_load(&comm->change.ended))
			break;
		join_thread(comm);
		comm->change.state = INC_CHANGE_NONE;
		unlist(comm);
		break;
	}
}

/* --- For the communicator -------------------------------------------------- */

static int copy_str(const char **str)
{
	if (!*str)
		return 0;
	*str = strdup(*str);
	return *str ? 0 : -ENOMEM;
}

/*
 * Prepare for changing to another tree: to UC if the options allow it. A given window,
 * message size or PSN is meant for RC. Returns 0 or -ENOMEM. inc_change_end() frees.
 */
int inc_change_init(struct inc_comm *comm, const struct inc_comm_opts *o)
{
	struct inc_comm_opts *other = &comm->change.opts;

	comm->change.step = do_step;
	*other = *o;
	other->job = comm->change.job;
	if (copy_str(&other->server) | copy_str(&other->dev) |
	    copy_str(&other->am))
		return -ENOMEM;
	other->errbuf = comm->change.text;
	other->errbuf_len = sizeof(comm->change.text);
	comm->change.qp_type = o->qp_type;
	comm->change.able = o->qp_type == INC_QP_DEFAULT && !o->window &&
			    !o->tree.msg_size &&
			    !(o->flags & INC_COMM_F_PSN);
	comm->change.movable = true;
	return 0;
}

/*
 * Let the watch look for losses. Settings that keep RC on a path that loses packets
 * are logged, since such a communicator is slow later for no visible reason.
 */
void inc_change_allow(struct inc_comm *comm)
{
	bool chosen = !comm->change.able;

	comm->change.able &= comm->tree.change;
	if (!comm->uc && !comm->change.able)
		inc_info(&comm->who, "stays over RC, even if packets are lost: %s",
			 chosen ? "a transport, window, message size or PSN was chosen" :
			 "the choices of another rank, or the daemon, exclude a change to UC");
	atomic_store(&comm->watchdog.may_change, comm->change.able);
}

/* Free all resources of a change. */
void inc_change_end(struct inc_comm *comm)
{
	struct inc_comm_opts *o = &comm->change.opts;

	atomic_store(&comm->change.stop, true);
	join_thread(comm);
	inc_comm_destroy(comm->change.other);
	comm->change.other = NULL;
	comm->change.state = INC_CHANGE_NONE;
	free((char *)o->server);
	free((char *)o->dev);
	free((char *)o->am);
}
