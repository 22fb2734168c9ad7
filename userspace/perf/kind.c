// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The collectives, as MPI defines them.
 */
#include <errno.h>
#include <string.h>

#include "kind.h"

/* Look up a collective. Returns the enum inc_collective, KIND_MIX, or -1. */
int kind_by_name(const char *name)
{
	int i;

	for (i = 0; i <= KIND_MIX; i++)
		if (!strcmp(name, kind_name(i)))
			return i;
	return -1;
}

/* Get the name of a collective. */
const char *kind_name(int coll)
{
	return coll == KIND_MIX ? "mix" :
	       inc_collective_name((enum inc_collective)coll);
}

/* Check whether a collective has a root. Returns true if so. */
bool kind_rooted(enum inc_collective coll)
{
	return coll == INC_COLL_BROADCAST || coll == INC_COLL_SCATTER ||
	       coll == INC_COLL_GATHER || coll == INC_COLL_REDUCE;
}

/* Check whether a collective reduces. Returns true if so. */
bool kind_reduces(enum inc_collective coll)
{
	return coll == INC_COLL_REDUCE || coll == INC_COLL_ALLREDUCE ||
	       coll == INC_COLL_REDUCE_SCATTER;
}

/*
 * Count the blocks in the largest buffer of any rank. Times the size of a
 * block, this is the size of an operation in nccl-tests. Returns 1, or the
 * number of ranks.
 */
size_t kind_blocks(enum inc_collective coll, int nranks)
{
	switch (coll) {
	case INC_COLL_BROADCAST:
	case INC_COLL_REDUCE:
	case INC_COLL_ALLREDUCE:
	case INC_COLL_BARRIER:
		return 1;
	default:
		return (size_t)nranks;
	}
}

/*
 * Relate bus bandwidth to algorithm bandwidth. The factors of nccl-tests: the
 * share of the data that each link carries in each direction if the ranks do
 * the work themselves, as in a ring.
 */
double kind_bus_factor(enum inc_collective coll, int nranks)
{
	double others = (double)(nranks - 1) / nranks;

	switch (coll) {
	case INC_COLL_BROADCAST:
	case INC_COLL_REDUCE:
	case INC_COLL_BARRIER:
		return 1;
	case INC_COLL_ALLREDUCE:
		return 2 * others;
	default:
		return others;
	}
}

/* Count the elements of this rank's data. Returns their number. */
size_t kind_in(const struct kind *k)
{
	switch (k->coll) {
	case INC_COLL_BROADCAST:
		return k->rank == k->root ? k->count : 0;
	case INC_COLL_SCATTER:
		return k->rank == k->root ? k->count * (size_t)k->nranks : 0;
	case INC_COLL_ALLTOALL:
	case INC_COLL_REDUCE_SCATTER:
		return k->count * (size_t)k->nranks;
	case INC_COLL_BARRIER:
		return 0;
	default:
		return k->count;
	}
}

/*
 * Count the elements of this rank's result. The root of a broadcast counts as
 * receiving its own data. Returns their number.
 */
size_t kind_out(const struct kind *k)
{
	switch (k->coll) {
	case INC_COLL_ALLGATHER:
	case INC_COLL_ALLTOALL:
		return k->count * (size_t)k->nranks;
	case INC_COLL_GATHER:
		return k->rank == k->root ? k->count * (size_t)k->nranks : 0;
	case INC_COLL_REDUCE:
		return k->rank == k->root ? k->count : 0;
	case INC_COLL_SCATTER:
		return k->in_place && k->rank == k->root ? 0 : k->count;
	case INC_COLL_BARRIER:
		return 0;
	default:
		return k->count;
	}
}

/*
 * Check whether this rank's data is in its receive buffer. Returns true if so,
 * false if it is in the send buffer.
 */
bool kind_data_in_recv(const struct kind *k, size_t *at)
{
	*at = 0;
	switch (k->coll) {
	case INC_COLL_BROADCAST:
		return true;
	case INC_COLL_ALLGATHER:
		*at = k->count * (size_t)k->rank;
		return k->in_place;
	case INC_COLL_GATHER:
		*at = k->count * (size_t)k->rank;
		return k->in_place && k->rank == k->root;
	case INC_COLL_REDUCE:
		return k->in_place && k->rank == k->root;
	case INC_COLL_SCATTER:
		return false;
	default:
		return k->in_place;
	}
}

/* Find the source of an element of this rank's result. */
struct source kind_source(const struct kind *k, size_t i)
{
	size_t mine = k->count * (size_t)k->rank;
	struct source s = { .from = -1, .index = i };

	switch (k->coll) {
	case INC_COLL_BROADCAST:
		s.from = k->root;
		break;
	case INC_COLL_ALLGATHER:
	case INC_COLL_GATHER:
		s.from = (int)(i / k->count);
		s.index = i % k->count;
		break;
	case INC_COLL_ALLTOALL:
		s.from = (int)(i / k->count);
		s.index = mine + i % k->count;
		break;
	case INC_COLL_SCATTER:
		s.from = k->root;
		s.index = mine + i;
		break;
	case INC_COLL_REDUCE_SCATTER:
		s.index = mine + i;
		break;
	default:
		break;
	}
	return s;
}

static void *send_arg(const struct kind *k, void *send)
{
	size_t at;

	return kind_data_in_recv(k, &at) ? INC_IN_PLACE : send;
}

static void *recv_arg(const struct kind *k, void *recv)
{
	return k->coll == INC_COLL_SCATTER && !kind_out(k) && k->count ?
	       INC_IN_PLACE : recv;
}

/*
 * Call libinc for an operation. Returns what libinc returned.
 * @form: form of its function
 * @req: takes the request; not used by KIND_RUN
 */
int kind_call(const struct kind *k, enum kind_form form, struct inc_comm *comm,
	      void *send, void *recv, struct inc_request **req)
{
	void *s = send_arg(k, send), *r = recv_arg(k, recv);
	enum inc_dtype type = k->dtype;
	size_t n = k->count;
	int root = k->root;

#define CALL(name, ...)							\
	(form == KIND_RUN ? inc_##name(comm, ##__VA_ARGS__) :		\
	 form == KIND_BEGIN ? inc_i##name(comm, ##__VA_ARGS__, req) :	\
			      inc_##name##_init(comm, ##__VA_ARGS__, req))
	switch (k->coll) {
	case INC_COLL_BROADCAST:
		return CALL(broadcast, r, n, type, root);
	case INC_COLL_ALLGATHER:
		return CALL(allgather, s, r, n, type);
	case INC_COLL_ALLTOALL:
		return CALL(alltoall, s, r, n, type);
	case INC_COLL_SCATTER:
		return CALL(scatter, s, r, n, type, root);
	case INC_COLL_GATHER:
		return CALL(gather, s, r, n, type, root);
	case INC_COLL_REDUCE:
		return CALL(reduce, s, r, n, type, k->op, root);
	case INC_COLL_ALLREDUCE:
		return CALL(allreduce, s, r, n, type, k->op);
	case INC_COLL_REDUCE_SCATTER:
		return CALL(reduce_scatter, s, r, n, type, k->op);
	case INC_COLL_BARRIER:
		return CALL(barrier);
	default:
		return -EINVAL;
	}
#undef CALL
}
