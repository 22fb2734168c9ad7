/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random MPI programs: see random.c.
 */
#ifndef RANDOM_DATA_H
#define RANDOM_DATA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANKS	16	/* most ranks of a communicator */

/* The collectives, as X(NAME, CAPITALIZED). */
#define KINDS(X)							\
	X(barrier, Barrier) X(bcast, Bcast) X(gather, Gather)		\
	X(gatherv, Gatherv) X(scatter, Scatter) X(scatterv, Scatterv)	\
	X(allgather, Allgather) X(allgatherv, Allgatherv)		\
	X(alltoall, Alltoall) X(alltoallv, Alltoallv)			\
	X(alltoallw, Alltoallw) X(reduce, Reduce) X(allreduce, Allreduce) \
	X(reduce_scatter, Reduce_scatter)				\
	X(reduce_scatter_block, Reduce_scatter_block) X(scan, Scan)	\
	X(exscan, Exscan)

enum kind {
#define X(name, cap) K_##name,
	KINDS(X)
#undef X
	NKINDS,
	/* Point-to-point: always both, as a pair. */
	K_send = NKINDS,
	K_recv,
};

enum mode { BLOCKING, NONBLOCKING, PERSISTENT };

/**
 * struct comm - a communicator
 * @c: as MPI knows it; MPI_COMM_NULL: this rank is not in it
 * @me: this rank in it
 * @np: number of ranks
 */
struct comm {
	MPI_Comm	c;
	int		me;
	int		np;
};

/**
 * struct side - a buffer: blocks of words of a type that may have gaps
 * @word: bytes of a word, 1 or 4; of a reduction: of an element
 * @type: number of its type; see types in random_data.c
 * @blocks: number of blocks
 * @len: words of each
 * @count: elements of the type in each
 * @disp: where each begins, in extents of the type
 * @bytes: of @mem
 * @mem: memory, with room on both sides of the data
 * @want: what it shall contain at the end
 */
struct side {
	int	word;
	int	type;
	int	blocks;
	int	len[RANKS];
	int	count[RANKS];
	int	disp[RANKS];
	size_t	bytes;
	char	*mem;
	char	*want;
};

struct dtype;

/**
 * struct op - a collective, or one side of a message between two ranks
 * @id: number in its program
 * @kind: which one
 * @mode: how it is called
 * @c: its communicator
 * @n: words of a block, or elements of a reduction
 * @root: root rank; of a message: the other rank, which may be MPI_PROC_NULL
 * @in_place: MPI_IN_PLACE is used where it may be
 * @varied: with counts for each rank, those differ
 * @stype: type of data to send
 * @rtype: type of received data
 * @apart: ranks have different types
 * @word: bytes of a word
 * @d: type of a reduction's elements
 * @rop: its operation; see ops in random_data.c
 * @round: how often it was started before
 * @s: data to send
 * @r: result
 * @types: for Alltoallw: types
 * @sbytes: for Alltoallw: displacements
 * @rbytes: for Alltoallw: displacements
 * @q: request
 * @going: started, and not complete
 * @spoilt: the result can't be written on this rank
 * @line: of a message: those at the ends have no other rank, or that is themselves
 * @sync: of a message: its sender waits for the receiver
 * @any: of a message: may come from anybody
 * @twin: of a persistent pair: the other one
 */
struct op {
	int			id;
	enum kind		kind;
	enum mode		mode;
	struct comm		*c;
	int			n;
	int			root;
	bool			in_place;
	bool			varied;
	int			stype;
	int			rtype;
	int			apart;
	int			word;
	const struct dtype	*d;
	int			rop;
	unsigned int		round;
	struct side		s;
	struct side		r;
	MPI_Datatype		types[2][RANKS];
	int			sbytes[RANKS];
	int			rbytes[RANKS];
	MPI_Request		q;
	bool			going;
	bool			spoilt;
	bool			line;
	bool			sync;
	bool			any;
	struct op		*twin;
};

/* random_data.c */
void data_up(void);
void data_down(void);
const char *kind_name(enum kind kind);
bool is_reduction(enum kind kind);
void op_draw(struct op *o, unsigned int *state);
unsigned int draw(unsigned int *state, unsigned int n);
void op_draw_pair(struct op *o, unsigned int *state);
void op_spoil(struct op *o);
void op_make(struct op *o);
void op_fill(struct op *o, unsigned int seed);
const char *op_check(struct op *o);
const char *op_check_status(const struct op *o, const MPI_Status *st);
void op_free(struct op *o);
int op_call(struct op *o);

#endif /* RANDOM_DATA_H */
