/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The collectives as inc-perf sees them: the number of blocks that a rank sends
 * and receives, the libinc calls, and the source of each element of a result.
 */
#ifndef INC_PERF_KIND_H
#define INC_PERF_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <inc/inc.h>

/* In place of a collective: a different one each time. */
#define KIND_MIX	((int)INC_COLL_COUNT)

/**
 * struct kind - one operation
 * @coll: collective
 * @root: root rank, 0 if it has none
 * @nranks: number of ranks
 * @rank: this rank
 * @in_place: data is in the receive buffer, laid out as for MPI_IN_PLACE
 * @count: elements of a block
 * @dtype: their type
 * @op: operation, if it reduces
 */
struct kind {
	enum inc_collective	coll;
	int			root;
	int			nranks;
	int			rank;
	bool			in_place;
	size_t			count;
	enum inc_dtype		dtype;
	enum inc_op		op;
};

/**
 * struct source - source of an element of a result
 * @from: rank whose data it is; -1: reduction over all ranks
 * @index: element of that rank's data, or of each rank's
 */
struct source {
	int	from;
	size_t	index;
};

/* libinc's forms of each collective: blocking, non-blocking, persistent. */
enum kind_form { KIND_RUN, KIND_BEGIN, KIND_INIT };

int kind_by_name(const char *name);
const char *kind_name(int coll);
bool kind_rooted(enum inc_collective coll);
bool kind_reduces(enum inc_collective coll);
size_t kind_blocks(enum inc_collective coll, int nranks);
double kind_bus_factor(enum inc_collective coll, int nranks);
size_t kind_in(const struct kind *k);
size_t kind_out(const struct kind *k);
bool kind_data_in_recv(const struct kind *k, size_t *block);
struct source kind_source(const struct kind *k, size_t i);
int kind_call(const struct kind *k, enum kind_form form, struct inc_comm *comm,
	      void *send, void *recv, struct inc_request **req);

#endif /* INC_PERF_KIND_H */
