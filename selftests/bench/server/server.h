/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inc-server: the same service as rdma_inc.ko, by a process on the bridge host
 * over stock verbs, for comparison with the module.
 *
 *	main.c		rendezvous: ranks come and go
 *	job.c		verbs objects of a job
 *	data.c		the data path, a thread of its own
 *	reduce.c	the arithmetic, that of kernel/core/reduce
 */
#ifndef INC_BENCH_SERVER_H
#define INC_BENCH_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "device/verbs.h"
#include "rpc/rpc.h"

#define MAX_RANKS	64
/* At least the messages that a rank has in flight; libinc's window is 8. */
#define SLOTS		32
#define MSG_SIZE	65536
#define SQ_DEPTH	128
#define RQ_DEPTH	(2 * SLOTS + 16)
#define INLINE_MAX	96
/*
 * 1.07 s, longer than the queues of a slow link: an rxe that times out without
 * any loss loses track of its PSNs. Nothing is lost here.
 */
#define QP_TIMEOUT	18

/**
 * struct rank - a rank of the job
 * @stream: its stream
 * @qp: our end of its queue pair
 * @mr: its slots, at address 0 for the rank
 * @slots: the same memory, for us
 * @psn: first PSN that we send
 * @recvs: receives posted
 * @posted: send requests made
 * @done: send requests known to be complete
 */
struct rank {
	struct rpc_stream	*stream;
	struct ibv_qp		*qp;
	struct ibv_mr		*mr;
	char			*slots;
	uint32_t		psn;
	unsigned int		recvs;
	uint64_t		posted;
	uint64_t		done;
};

/**
 * struct job - the objects of one run of the ranks
 * @nranks: number of ranks
 * @joined: number of ranks that have joined
 * @ready: number of those that can send and receive
 * @left: and that have left
 * @rank: those ranks
 * @dev: verbs device
 * @pd: protection domain
 * @chan: completion channel of @rcq
 * @rcq: completion queue of all receives
 * @scq: completion queue of all sends, only polled
 * @mem: results, then the slots of each rank
 * @result_mr: registration of the results
 * @arrived: for each slot, the ranks whose message has arrived
 * @events: events of @rcq not acknowledged yet
 * @thread: the data path
 * @running: @thread was started
 * @stop: the queue pairs are flushed because the job has ended
 */
struct job {
	unsigned int		nranks;
	unsigned int		joined;
	unsigned int		ready;
	unsigned int		left;
	struct rank		rank[MAX_RANKS];
	struct inc_dev		dev;
	struct ibv_pd		*pd;
	struct ibv_comp_channel	*chan;
	struct ibv_cq		*rcq;
	struct ibv_cq		*scq;
	char			*mem;
	struct ibv_mr		*result_mr;
	unsigned int		arrived[SLOTS];
	unsigned int		events;
	pthread_t		thread;
	bool			running;
	atomic_bool		stop;
};

/* Report an error of an operation. Returns -1. */
static inline int fail(const char *what, int err)
{
	fprintf(stderr, "inc-server: %s: %s\n", what, strerror(err));
	return -1;
}

int job_open(struct job *job, const struct inc_rdv_join *join,
	     const struct inc_rdv_addr *local, const char *dev);
int job_add(struct job *job, const struct inc_rdv_join *join,
	    struct inc_rdv_joined *joined);
void job_close(struct job *job);

int data_post_recvs(struct job *job, struct rank *rank);
int data_start(struct job *job);
void data_stop(struct job *job);

/* From reduce.c, which includes the kernel's headers and none of the above. */
void reduce_init(void);
uint32_t reduce_dtypes(void);
uint32_t reduce_ops(void);
unsigned int reduce_size(unsigned int dtype);
int reduce_all(unsigned int dtype, unsigned int op, char *dst,
	       const char *const *src, unsigned int n, unsigned int nelem);

#endif /* INC_BENCH_SERVER_H */
