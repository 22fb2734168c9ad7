/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * coll/inc: MPI collectives over an INC switch, for Open MPI 5.
 *
 * component.c	parameters, and which communicators get a module
 * module.c	a communicator's module, and what it falls through to
 * group.c	the ranks of a communicator meet at the switch
 * types.c	MPI's types and operations in the terms of INC
 * op.c		one collective under way: packing, waiting, unpacking
 * coll.c	the collectives where each host has one rank
 * hosts.c	those that are combined on hosts with several ranks
 * entry.c	what Open MPI calls
 */
#ifndef COLL_INC_H
#define COLL_INC_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"
#include "opal/util/output.h"

#include <inc/inc.h>

/* The operations that this component takes, as X(NAME). */
#define COLL_INC_BLOCKING(X)						\
	X(allgather) X(allreduce) X(alltoall) X(barrier) X(bcast)	\
	X(gather) X(reduce) X(reduce_scatter) X(reduce_scatter_block)	\
	X(scatter)
#define COLL_INC_NONBLOCKING(X)						\
	X(iallgather) X(iallreduce) X(ialltoall) X(ibarrier) X(ibcast)	\
	X(igather) X(ireduce) X(ireduce_scatter)			\
	X(ireduce_scatter_block) X(iscatter)
#define COLL_INC_ALL(X)	COLL_INC_BLOCKING(X) COLL_INC_NONBLOCKING(X)

enum coll_inc_fn {
#define X(name) COLL_INC_##name,
	COLL_INC_ALL(X)
#undef X
	COLL_INC_NFN
};

/**
 * enum coll_inc_why - why an operation did not go through the switch
 * @COLL_INC_GOES: it did
 * @COLL_INC_OFF: the communicator has no tree
 * @COLL_INC_NOT_YET: a non-blocking operation, before the first blocking one
 * @COLL_INC_HOSTS: it is not combined on hosts with several ranks
 * @COLL_INC_SIZE: it is smaller or larger than what is to go
 * @COLL_INC_TYPE: the switch does not know the type or the operation
 */
enum coll_inc_why {
	COLL_INC_GOES,
	COLL_INC_OFF,
	COLL_INC_NOT_YET,
	COLL_INC_HOSTS,
	COLL_INC_SIZE,
	COLL_INC_TYPE,
	COLL_INC_NWHY
};

/**
 * enum coll_inc_state - what is known of a communicator
 * @COLL_INC_NEW: its ranks have not tried to meet
 * @COLL_INC_MEETING: they do; what they use for it falls through
 * @COLL_INC_READY: its collectives go through the switch
 * @COLL_INC_NONE: they never will
 */
enum coll_inc_state {
	COLL_INC_NEW,
	COLL_INC_MEETING,
	COLL_INC_READY,
	COLL_INC_NONE,
};

/**
 * struct coll_inc_params - MCA parameters; "ompi_info --param coll inc" explains
 */
struct coll_inc_params {
	int		priority;
	int		verbose;
	int		min_ranks;
	unsigned long	min_bytes;
	unsigned long	max_bytes;
	int		timeout_ms;
	int		join_timeout_ms;
	bool		stats;
	char		*server;
};

extern struct coll_inc_params coll_inc_params;
extern int coll_inc_output;

/* What the component says at a level of coll_inc_verbose. */
#define coll_inc_say(level, ...)					\
	do {								\
		if (coll_inc_params.verbose >= (level))			\
			opal_output(coll_inc_output, __VA_ARGS__);	\
	} while (0)

/* What was selected before this component. */
struct coll_inc_below {
#define X(name)								\
	mca_coll_base_module_##name##_fn_t name;			\
	mca_coll_base_module_t *name##_module;
	COLL_INC_ALL(X)
#undef X
};

/**
 * struct coll_inc_module - of a communicator
 * @super: Open MPI's part
 * @below: what is fallen through to
 * @state: enum coll_inc_state
 * @inc: the switch; NULL on ranks that their host's leader speaks for
 * @local: the ranks of this host, NULL if each host has one rank
 * @host_of: of each rank, the number of its host; NULL as @local
 * @at: of each rank, its rank in its host's @local; NULL likewise
 * @count: how often each function went which way
 */
struct coll_inc_module {
	mca_coll_base_module_t	super;
	struct coll_inc_below	below;
	enum coll_inc_state	state;
	struct inc_comm		*inc;
	ompi_communicator_t	*local;
	int			*host_of;
	int			*at;
	unsigned long		count[COLL_INC_NFN][COLL_INC_NWHY];
};

OBJ_CLASS_DECLARATION(coll_inc_module_t);
typedef struct coll_inc_module coll_inc_module_t;

/**
 * struct coll_inc_op - a collective under way
 * @req: of libinc
 * @send_tmp: packed data to send, or NULL
 * @recv_tmp: where packed data comes, or NULL
 * @buf: where it goes from there
 * @blocks: in so many blocks
 * @count: of so many elements
 * @type: of this type
 */
struct coll_inc_op {
	struct inc_req		*req;
	void			*send_tmp;
	void			*recv_tmp;
	char			*buf;
	int			blocks;
	int			count;
	ompi_datatype_t		*type;
};

/* module.c */
mca_coll_base_module_t *coll_inc_comm_query(ompi_communicator_t *comm,
					    int *priority);
enum coll_inc_why coll_inc_goes(struct coll_inc_module *m,
				ompi_communicator_t *comm,
				enum coll_inc_fn fn, size_t bytes,
				enum coll_inc_why fits);

/* group.c */
void coll_inc_meet(struct coll_inc_module *m, ompi_communicator_t *comm);
void coll_inc_part(struct coll_inc_module *m);
bool coll_inc_meeting(void);

/* types.c */
bool coll_inc_terms(const ompi_datatype_t *type, ompi_op_t *op,
		    enum inc_dtype *dtype, enum inc_op *iop);
enum inc_dtype coll_inc_bytes(size_t bytes, size_t *count);
size_t coll_inc_size(const ompi_datatype_t *type, int count);

/* op.c */
void coll_inc_lock(void);
void coll_inc_unlock(void);
const void *coll_inc_send(struct coll_inc_op *o, const void *buf, int blocks,
			  int count, ompi_datatype_t *type);
void *coll_inc_recv(struct coll_inc_op *o, void *buf, int blocks, int count,
		    ompi_datatype_t *type);
int coll_inc_wait(struct coll_inc_module *m, struct coll_inc_op *o, int rc);
int coll_inc_request(struct coll_inc_module *m, ompi_communicator_t *comm,
		     struct coll_inc_op *o, int rc, ompi_request_t **request);
void coll_inc_progress_end(void);

/* coll.c: begin an operation; 0 or -errno */
int coll_inc_begin_allgather(struct coll_inc_module *m, struct coll_inc_op *o,
			     const void *sbuf, int scount, ompi_datatype_t *stype,
			     void *rbuf, int rcount, ompi_datatype_t *rtype);
int coll_inc_begin_allreduce(struct coll_inc_module *m, struct coll_inc_op *o,
			     const void *sbuf, void *rbuf, int count,
			     ompi_datatype_t *type, ompi_op_t *op);
int coll_inc_begin_alltoall(struct coll_inc_module *m, struct coll_inc_op *o,
			    const void *sbuf, int scount, ompi_datatype_t *stype,
			    void *rbuf, int rcount, ompi_datatype_t *rtype);
int coll_inc_begin_barrier(struct coll_inc_module *m, struct coll_inc_op *o);
int coll_inc_begin_bcast(struct coll_inc_module *m, struct coll_inc_op *o,
			 void *buf, int count, ompi_datatype_t *type, int root);
int coll_inc_begin_gather(struct coll_inc_module *m, struct coll_inc_op *o,
			  const void *sbuf, int scount, ompi_datatype_t *stype,
			  void *rbuf, int rcount, ompi_datatype_t *rtype,
			  int root);
int coll_inc_begin_reduce(struct coll_inc_module *m, struct coll_inc_op *o,
			  const void *sbuf, void *rbuf, int count,
			  ompi_datatype_t *type, ompi_op_t *op, int root);
int coll_inc_begin_reduce_scatter(struct coll_inc_module *m,
				  struct coll_inc_op *o, const void *sbuf,
				  void *rbuf, int count, ompi_datatype_t *type,
				  ompi_op_t *op);
int coll_inc_begin_scatter(struct coll_inc_module *m, struct coll_inc_op *o,
			   const void *sbuf, int scount, ompi_datatype_t *stype,
			   void *rbuf, int rcount, ompi_datatype_t *rtype,
			   int root);

/* hosts.c */
int coll_inc_hosts_allreduce(struct coll_inc_module *m, const void *sbuf,
			     void *rbuf, int count, ompi_datatype_t *type,
			     ompi_op_t *op);
int coll_inc_hosts_reduce(struct coll_inc_module *m, const void *sbuf,
			  void *rbuf, int count, ompi_datatype_t *type,
			  ompi_op_t *op, int root, int rank);
int coll_inc_hosts_bcast(struct coll_inc_module *m, void *buf, int count,
			 ompi_datatype_t *type, int root, int rank);
int coll_inc_hosts_barrier(struct coll_inc_module *m);

/* entry.c */
#define X(name)								\
	extern const mca_coll_base_module_##name##_fn_t coll_inc_##name##_fn;
COLL_INC_ALL(X)
#undef X

#endif /* COLL_INC_H */
