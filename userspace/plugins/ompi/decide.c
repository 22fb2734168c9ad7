// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The decision whether an operation goes through the switch must be the same on all
 * ranks, whenever each of them takes it. So it may depend only on:
 *
 * - properties that MPI requires to be equal on all ranks: the order of a
 *   communicator's collectives, which of them block, operation, type and count of a
 *   reduction, the bytes of other blocks; hence @counted, @meet_at and @tagged of the
 *   module, too
 * - the parameters, and whether processes have several threads in MPI, which all
 *   publish when MPI starts (params.c)
 * - the launcher's placement of ranks (han.c), and Open MPI's choice of components
 *   below, which must be the same without this one, too
 * - results of the ranks' meetings (group.c, aside.c): @state, @why, @no_aside,
 *   @memlock, @local, and which lanes are free
 *
 * Local knowledge (memory, devices, limits, daemon, lack of room: able.c) is exchanged
 * in a meeting, and the worst counts for all. The progress of a meeting or of
 * MPI_Finalize(), the clock, threads and the location of buffers (copy.c) must not
 * matter: operations wait in order in the module's queue until the decision.
 *
 * A rank whose Open MPI fails during a meeting does not know its outcome: see @err.
 */
#include "coll_inc.h"

/* Share of one operation: send and receive buffers, perhaps packed copies. */
#define MEMLOCK_PART	4

/*
 * Bytes that count towards a meeting like one more operation: the switch gains
 * about as much on this much data as on a short operation.
 */
#define BYTES_COUNT	16384

static bool works_on_hosts(enum coll_inc_fn fn)
{
	return fn == COLL_INC_allreduce || fn == COLL_INC_reduce ||
	       fn == COLL_INC_bcast || fn == COLL_INC_barrier;
}

static bool is_nonblocking(enum coll_inc_fn fn)
{
	return fn >= COLL_INC_iallgather && fn < COLL_INC_allgather_init;
}

/*
 * Open MPI makes a communicator by such operations on the parent communicator.
 * MPI_Comm_idup() calls them when this rank happens to be in MPI, before or after
 * other operations of the program's. So their position in the order of operations
 * may differ between ranks. Buffers do not help to tell them apart: they differ
 * between ranks, too.
 */
static bool may_be_idup(enum coll_inc_fn fn, const struct coll_inc_args *a)
{
	return fn == COLL_INC_iallreduce && a->rcount == 1 &&
	       a->rtype == &ompi_mpi_int.dt &&
	       (a->op == &ompi_mpi_op_max.op || a->op == &ompi_mpi_op_min.op);
}

/* Compare the parameters once, as ranks would wait for each other in vain. */
static bool are_alike(coll_inc_module_t *m, ompi_communicator_t *comm)
{
	if (m->alike < 0)
		m->alike = coll_inc_params_same(comm);
	return m->alike;
}

/*
 * Meeting costs as much as some operations gain, so ranks meet only after that
 * many suitable ones. In a blocking operation, or the creation of a persistent
 * one, they may wait for each other; a non-blocking one begins a meeting in the
 * background. All ranks count the same.
 */
static enum coll_inc_why approach_meeting(coll_inc_module_t *m,
					  ompi_communicator_t *comm,
					  enum coll_inc_fn fn, size_t total)
{
	m->counted += 1 + total / BYTES_COUNT;
	if (m->counted < m->meet_at)
		return m->why ? m->why : COLL_INC_NOT_YET;
	if (is_nonblocking(fn) && m->no_aside)
		return m->why ? m->why : COLL_INC_NO_WAIT;
	if (!are_alike(m, comm)) {
		m->why = COLL_INC_PARAMS;
		m->state = COLL_INC_NONE;
		return m->why;
	}
	if (!is_nonblocking(fn)) {
		coll_inc_meet(m, comm);
		return m->why;
	}
	m->no_aside = !coll_inc_aside_may(m, comm);
	if (m->no_aside)
		return COLL_INC_NO_WAIT;
	if (!m->tagged)
		m->tag = coll_inc_tags(comm);
	m->tagged = true;
	coll_inc_aside_begin(m, comm, m->tag);
	return COLL_INC_LATER;
}

static bool size_suits(size_t bytes)
{
	return bytes >= coll_inc_params.min_bytes &&
	       bytes <= coll_inc_params.max_bytes;
}

/*
 * Check whether an operation may go through the switch. Returns false if it
 * falls through whether the ranks have met or not.
 */
bool coll_inc_suits(ompi_communicator_t *comm, enum coll_inc_fn fn,
		    const struct coll_inc_args *args)
{
	size_t bytes = coll_inc_args_size(args, ompi_comm_rank(comm),
					  ompi_comm_size(comm));

	return !may_be_idup(fn, args) && !coll_inc_args_fit(args, bytes) &&
	       size_suits(bytes);
}

/*
 * Check whether an operation that falls through is reduced in the order of the ranks
 * all the same, by ranked.c. Where hosts have several ranks, the switch adds up what
 * Open MPI has added up on each host, so there is no such order. Returns the same on
 * all ranks.
 */
bool coll_inc_keeps_order(struct coll_inc_module *m, ompi_communicator_t *comm,
			  const struct coll_inc_args *args)
{
	if (!coll_inc_params.same_bits || !coll_inc_ranked_is(args))
		return false;
	if (m->ranked < 0)
		m->ranked = are_alike(m, comm) && !coll_inc_hosts_shared(comm);
	return m->ranked;
}

static enum coll_inc_why decide_path(coll_inc_module_t *m,
				     ompi_communicator_t *comm,
				     enum coll_inc_fn fn, size_t bytes,
				     size_t total, enum coll_inc_why fits)
{
	enum coll_inc_why why;

	if (m->state == COLL_INC_NONE)
		return m->why;
	if (fits)
		return fits;
	if (!size_suits(bytes))
		return COLL_INC_SIZE;
	if (m->state == COLL_INC_ASIDE && is_nonblocking(fn))
		return COLL_INC_LATER;
	if (m->state == COLL_INC_ASIDE)
		coll_inc_aside_wait(m);
	if (m->state == COLL_INC_NONE)
		return m->why;
	if (m->state == COLL_INC_NEW) {
		why = approach_meeting(m, comm, fn, total);
		if (m->state != COLL_INC_READY)
			return why;
	}
	return m->local && !works_on_hosts(fn) ? COLL_INC_HOSTS : COLL_INC_GOES;
}

/*
 * Decide whether an operation goes through the switch. Returns COLL_INC_GOES,
 * or why it does not.
 */
enum coll_inc_why coll_inc_decide(coll_inc_module_t *m,
				  ompi_communicator_t *comm, enum coll_inc_fn fn,
				  const struct coll_inc_args *args)
{
	return coll_inc_decide_apart(m, comm, fn, args, NULL);
}

/*
 * Decide on an operation that may need its own tree. Returns COLL_INC_GOES, or
 * why it does not.
 * @lane: set to the number of a tree for this operation alone; NULL: none
 *	needed
 */
enum coll_inc_why coll_inc_decide_apart(coll_inc_module_t *m,
					ompi_communicator_t *comm,
					enum coll_inc_fn fn,
					const struct coll_inc_args *args,
					int *lane)
{
	size_t bytes = coll_inc_args_size(args, ompi_comm_rank(comm),
					  ompi_comm_size(comm));
	size_t total = coll_inc_args_total(args, bytes, ompi_comm_size(comm));
	enum coll_inc_why why;

	/* Collectives of the meeting itself are not counted. */
	if (m->state == COLL_INC_MEETING)
		return COLL_INC_NOT_YET;
	why = decide_path(m, comm, fn, bytes, total,
			  may_be_idup(fn, args) ? COLL_INC_DUP :
						  coll_inc_args_fit(args, bytes));
	/* After a failed meeting all operations end with its error. */
	if (m->err)
		return COLL_INC_GOES;
	if (why == COLL_INC_LATER)
		return why;
	if (!why && total > m->memlock / MEMLOCK_PART)
		why = COLL_INC_MEMLOCK;
	if (!why && lane)
		why = coll_inc_lane(m, comm, lane);
	coll_inc_count(m, fn, bytes, args, why);
	return why;
}
