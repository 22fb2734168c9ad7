// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Collectives of NCCL's CollNet over the switch.
 *
 * The handle made by rank 0 names the job at the switch's daemon, so the ranks
 * need no connections among each other. NCCL calls AllGather and ReduceScatter
 * on windows of the vector of all ranks. Each window becomes one broadcast or
 * reduction for the overlap with each rank's block.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <infiniband/verbs.h>
#include <inc/inc.h>

#include "../owner.h"
#include "conf/list.h"
#include "plugin.h"

#define HANDLE_MAGIC	0x636e6931u

/*
 * How long ranks wait for each other when a communicator is made; all have just
 * left NCCL's own rendezvous. As in NCCL, operations have no time limit: a rank
 * may be writing a checkpoint. Dead ranks are detected without one.
 */
#define JOIN_MS		30000

struct handle {
	uint32_t	magic;
	uint64_t	id[2];
	char		owner[INC_PLUGIN_OWNER];
};

/**
 * struct request - an operation in progress
 * @coll: communicator
 * @req: its libinc requests
 * @nreq: their number
 * @next: the first of them that is not done
 * @bytes: size reported to NCCL when it is done
 * @used: NCCL uses it
 */
struct request {
	struct coll	*coll;
	struct inc_request **req;
	int		nreq;
	int		next;
	size_t		bytes;
	bool		used;
};

/**
 * struct memory - NCCL's handle of registered memory
 * @next: next one of the communicator
 * @addr: its address
 * @size: bytes
 * @times: times that NCCL has registered it, as send and receive buffer for
 *	example
 */
struct memory {
	struct memory	*next;
	void		*addr;
	size_t		size;
	unsigned int	times;
};

/**
 * struct coll - a communicator
 * @inc: libinc's communicator
 * @lock: serializes NCCL's threads in calls to libinc
 * @memory: registered memory
 * @request: pool of requests
 */
struct coll {
	struct inc_comm	*inc;
	pthread_mutex_t	lock;
	struct memory	*memory;
	struct request	request[NCCL_MAX_REQUESTS];
};

static const enum inc_dtype dtypes[NCCL_NTYPES] = {
	[NCCL_INT8]	= INC_DTYPE_INT8,
	[NCCL_UINT8]	= INC_DTYPE_UINT8,
	[NCCL_INT32]	= INC_DTYPE_INT32,
	[NCCL_UINT32]	= INC_DTYPE_UINT32,
	[NCCL_INT64]	= INC_DTYPE_INT64,
	[NCCL_UINT64]	= INC_DTYPE_UINT64,
	[NCCL_FP16]	= INC_DTYPE_FP16,
	[NCCL_FP32]	= INC_DTYPE_FP32,
	[NCCL_FP64]	= INC_DTYPE_FP64,
	[NCCL_BF16]	= INC_DTYPE_BF16,
};

static const enum inc_op ops[NCCL_NOPS] = {
	[NCCL_SUM]	= INC_OP_SUM,
	[NCCL_PROD]	= INC_OP_PROD,
	[NCCL_MAX]	= INC_OP_MAX,
	[NCCL_MIN]	= INC_OP_MIN,
	[NCCL_AVG]	= INC_OP_AVG,
};

static bool is_known(int type, int op)
{
	return type >= 0 && type < NCCL_NTYPES && op >= 0 && op < NCCL_NOPS;
}

/*
 * Count the devices that support collectives. Returns 1 if a switch is
 * configured and an RDMA device exists, else 0, and NCCL continues without
 * this plugin.
 */
int inc_coll_devices(void)
{
	struct ibv_device **list;
	int n = 0;

	if (!getenv("INC_SERVER")) {
		say_info("INC_SERVER is not set: no collectives over a switch");
		return 0;
	}
	list = ibv_get_device_list(&n);
	if (list)
		ibv_free_device_list(list);
	if (!n)
		say_warn("this host has no RDMA device: no collectives over a switch");
	return n > 0;
}

/*
 * Make a handle that names a job. Returns NCCL_SUCCESS or NCCL_SYSTEM_ERROR.
 * @handle: result, NCCL_HANDLE_MAX bytes, which NCCL passes to all ranks
 */
nccl_result inc_coll_listen(void *handle, void **comm)
{
	struct handle h = { .magic = HANDLE_MAGIC };

	if (getrandom(h.id, sizeof(h.id), 0) != sizeof(h.id))
		return NCCL_SYSTEM_ERROR;
	inc_plugin_owner(h.owner);
	memset(handle, 0, NCCL_HANDLE_MAX);
	memcpy(handle, &h, sizeof(h));
	/* No rank connects to the object, but NCCL needs one to close. */
	*comm = malloc(1);
	return *comm ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

/* Free the object of inc_coll_listen(). Returns NCCL_SUCCESS. */
nccl_result inc_coll_close_listen(void *comm)
{
	free(comm);
	return NCCL_SUCCESS;
}

static bool is_set(const char *name)
{
	const char *text = getenv(name);

	return text && *text;
}

/*
 * Join the job of a handle. Waits for the other ranks. Returns NCCL_SUCCESS,
 * NCCL_INVALID_ARGUMENT or NCCL_SYSTEM_ERROR.
 * @handles: handles of all ranks; only rank 0's is used
 */
nccl_result inc_coll_connect(void *handles[], int nranks, int rank, void **comm)
{
	struct inc_comm_opts opts = INC_COMM_OPTS_INIT;
	char job[INC_JOB_MAX + 1], why[256] = "";
	struct handle h;
	struct coll *c;
	int ret;

	memcpy(&h, handles[0], sizeof(h));
	if (h.magic != HANDLE_MAGIC || rank < 0 || rank >= nranks)
		return NCCL_INVALID_ARGUMENT;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NCCL_SYSTEM_ERROR;
	snprintf(job, sizeof(job), "nccl-%.*s-%016llx%016llx",
		 INC_PLUGIN_OWNER - 1, h.owner,
		 (unsigned long long)h.id[0], (unsigned long long)h.id[1]);
	opts.job = job;
	opts.rank = rank;
	opts.nranks = nranks;
	opts.timeout_ms = is_set("INC_TIMEOUT_MS") ? 0 : INT_MAX;
	opts.join_timeout_ms = is_set("INC_JOIN_TIMEOUT_MS") ? 0 : JOIN_MS;
	/* NCCL does not report when memory is returned to the system. */
	opts.reg = INC_REG_EACH;
	opts.errbuf = why;
	opts.errbuf_len = sizeof(why);
	ret = inc_comm_create(&c->inc, &opts);
	if (ret) {
		say_warn("rank %d of %d: %s", rank, nranks,
			 *why ? why : inc_strerror(ret));
		free(c);
		return NCCL_SYSTEM_ERROR;
	}
	pthread_mutex_init(&c->lock, NULL);
	say_info("rank %d of %d goes through the switch", rank, nranks);
	*comm = c;
	return NCCL_SUCCESS;
}

/* Leave a communicator and free it. Returns NCCL_SUCCESS. */
nccl_result inc_coll_close(void *comm)
{
	struct coll *c = comm;
	struct memory *mem;
	int i;

	inc_comm_destroy(c->inc);
	while ((mem = c->memory)) {
		c->memory = mem->next;
		free(mem);
	}
	for (i = 0; i < NCCL_MAX_REQUESTS; i++)
		free(c->request[i].req);
	pthread_mutex_destroy(&c->lock);
	free(c);
	return NCCL_SUCCESS;
}

/*
 * Check whether a reduction is supported. Returns NCCL_SUCCESS.
 * @supported: set to 1 if so, else to 0
 */
nccl_result inc_coll_reduce_support(int type, int op, int *supported)
{
	*supported = is_known(type, op);
	return NCCL_SUCCESS;
}

static struct memory *find_registered(struct coll *c, const void *addr,
				      size_t size)
{
	struct memory *mem;

	for (mem = c->memory; mem; mem = mem->next)
		if (mem->addr == addr && mem->size == size)
			break;
	return mem;
}

static int memory_new(struct coll *c, void *addr, size_t size,
		      struct memory **res)
{
	struct memory *mem = malloc(sizeof(*mem));
	int ret;

	if (!mem)
		return -ENOMEM;
	ret = size ? inc_mem_reg(c->inc, addr, size) : 0;
	if (ret) {
		free(mem);
		return ret;
	}
	*mem = (struct memory) {
		.next = c->memory, .addr = addr, .size = size,
	};
	c->memory = mem;
	*res = mem;
	return 0;
}

/*
 * Register memory, or find it registered. Returns NCCL_SUCCESS,
 * NCCL_INVALID_USAGE for memory of a GPU, or NCCL_SYSTEM_ERROR.
 * @mhandle: set to the handle of the registration
 */
nccl_result inc_coll_reg_mr(void *comm, void *data, size_t size, int type,
			    void **mhandle)
{
	struct coll *c = comm;
	struct memory *mem;
	int ret = 0;

	if (type != NCCL_PTR_HOST) {
		say_warn("only memory of the host can be registered");
		return NCCL_INVALID_USAGE;
	}
	pthread_mutex_lock(&c->lock);
	mem = find_registered(c, data, size);
	if (!mem)
		ret = memory_new(c, data, size, &mem);
	if (!ret) {
		mem->times++;
		*mhandle = mem;
	}
	pthread_mutex_unlock(&c->lock);
	if (ret)
		say_warn("registering %zu bytes: %s", size, inc_strerror(ret));
	return ret ? NCCL_SYSTEM_ERROR : NCCL_SUCCESS;
}

/*
 * NCCL deregisters memory of an operation in progress when it has aborted and
 * will not test it again. It would not close a communicator whose memory it
 * can't deregister.
 */
static void forget_memory(struct coll *c, const struct memory *mem)
{
	if (!mem->size || inc_mem_dereg(c->inc, mem->addr, mem->size) != -EBUSY)
		return;
	say_info("given up with operations under way");
	inc_comm_abort(c->inc, -ECANCELED);
	inc_mem_dereg(c->inc, mem->addr, mem->size);
}

/*
 * End a registration. Returns NCCL_SUCCESS.
 * @mhandle: handle of the registration; NULL does nothing
 */
nccl_result inc_coll_dereg_mr(void *comm, void *mhandle)
{
	struct memory *mem = mhandle;
	struct coll *c = comm;

	if (!mem)
		return NCCL_SUCCESS;
	pthread_mutex_lock(&c->lock);
	if (!--mem->times) {
		forget_memory(c, mem);
		list_remove(c->memory, mem);
		free(mem);
	}
	pthread_mutex_unlock(&c->lock);
	return NCCL_SUCCESS;
}

/* Get a free request with room for @nreq operations; the lock is held. */
static struct request *request_get(struct coll *c, int nreq)
{
	int i;

	for (i = 0; i < NCCL_MAX_REQUESTS; i++) {
		struct request *r = &c->request[i];
		struct inc_request **req;

		if (r->used)
			continue;
		req = realloc(r->req, (size_t)nreq * sizeof(*req));
		if (!req)
			return NULL;
		*r = (struct request) { .coll = c, .req = req, .used = true };
		return r;
	}
	return NULL;
}

/*
 * Abort the communicator: the other ranks must not wait for an operation that
 * can't start here. The lock is held.
 */
static void give_up(struct coll *c, struct request *r, int ret)
{
	inc_comm_abort(c->inc, ret);
	while (r->nreq)
		inc_request_free(r->req[--r->nreq]);
	r->used = false;
}

static nccl_result report_failure(struct coll *c, int ret)
{
	const char *why = inc_comm_strerror(c->inc);

	say_warn("%s", why && *why ? why : inc_strerror(ret));
	return NCCL_REMOTE_ERROR;
}

/*
 * Start an AllReduce. Returns NCCL_SUCCESS, NCCL_INVALID_ARGUMENT or
 * NCCL_REMOTE_ERROR.
 * @recv: buffer for the result; may be @send
 * @request: set to the request; NULL: all requests are in use, try again
 */
nccl_result inc_coll_iallreduce(void *comm, const void *send, void *recv,
				size_t count, int type, int op, void **request)
{
	struct coll *c = comm;
	struct request *r;
	int ret;

	*request = NULL;
	if (!is_known(type, op))
		return NCCL_INVALID_ARGUMENT;
	pthread_mutex_lock(&c->lock);
	r = request_get(c, 1);
	if (!r) {
		pthread_mutex_unlock(&c->lock);
		return NCCL_SUCCESS;
	}
	ret = inc_iallreduce(c->inc, send == recv ? INC_IN_PLACE : send, recv,
			     count, dtypes[type], ops[op], &r->req[0]);
	r->nreq = !ret;
	r->bytes = count * inc_dtype_size(dtypes[type]);
	if (ret)
		give_up(c, r, ret);
	else
		*request = r;
	pthread_mutex_unlock(&c->lock);
	return ret ? report_failure(c, ret) : NCCL_SUCCESS;
}

/* Find where @rank's block and the window overlap, from the vector's start. */
static size_t find_overlap(int rank, size_t per_rank, size_t offset,
			   size_t bytes, size_t *from)
{
	size_t begin = (size_t)rank * per_rank, end = begin + per_rank;

	if (begin < offset)
		begin = offset;
	if (end > offset + bytes)
		end = offset + bytes;
	*from = begin;
	return end > begin ? end - begin : 0;
}

/* Block of a window: its rank, and how to start its operation. */
struct block {
	int	rank;
	char	*window;	/* the block's part of the window */
	char	*own;		/* own memory, if the block is own */
	size_t	bytes;
	int	type;
	int	op;
};

static int begin_gather(struct coll *c, const struct block *b,
			struct inc_request **req)
{
	bool mine = b->rank == inc_comm_rank(c->inc);

	/* The switch returns nothing to the root. */
	if (mine && b->own != b->window)
		memcpy(b->window, b->own, b->bytes);
	return inc_ibroadcast(c->inc, b->window, b->bytes, INC_DTYPE_UINT8,
			      b->rank, req);
}

static int begin_scatter(struct coll *c, const struct block *b,
			 struct inc_request **req)
{
	bool mine = b->rank == inc_comm_rank(c->inc);
	enum inc_dtype dtype = dtypes[b->type];

	return inc_ireduce(c->inc,
			   mine && b->own == b->window ? INC_IN_PLACE :
							 b->window,
			   mine ? b->own : NULL,
			   b->bytes / inc_dtype_size(dtype), dtype,
			   ops[b->op], b->rank, req);
}

/*
 * Execute a window, block by block. @own begins where this rank's block and the
 * window first overlap.
 */
static nccl_result run_window(struct coll *c, char *win, char *own,
			      size_t per_rank,
			      size_t offset, size_t bytes, struct block *b,
			      int (*begin)(struct coll *, const struct block *,
					   struct inc_request **),
			      void **request)
{
	int first = per_rank ? (int)(offset / per_rank) : 0, ret = 0;
	int last = per_rank && bytes ? (int)((offset + bytes - 1) / per_rank) :
				       first;
	struct request *r;
	size_t from;

	*request = NULL;
	if (last >= inc_comm_size(c->inc))
		return NCCL_INVALID_ARGUMENT;
	pthread_mutex_lock(&c->lock);
	r = request_get(c, last - first + 1);
	if (!r) {
		pthread_mutex_unlock(&c->lock);
		return NCCL_SUCCESS;
	}
	r->bytes = bytes;
	for (b->rank = first; b->rank <= last && !ret; b->rank++) {
		b->bytes = find_overlap(b->rank, per_rank, offset, bytes,
					&from);
		b->window = win + (from - offset);
		b->own = own;
		ret = begin(c, b, &r->req[r->nreq]);
		if (!ret)
			r->nreq++;
	}
	if (ret)
		give_up(c, r, ret);
	else
		*request = r;
	pthread_mutex_unlock(&c->lock);
	return ret ? report_failure(c, ret) : NCCL_SUCCESS;
}

/*
 * Start an AllGather of a window. Returns NCCL_SUCCESS, NCCL_INVALID_ARGUMENT
 * or NCCL_REMOTE_ERROR.
 * @bytes_per_rank: bytes of a rank's block
 * @offset: where the window begins in the vector of all blocks, bytes
 * @bytes: bytes of the window
 * @request: set to the request; NULL: all requests are in use, try again
 */
nccl_result inc_coll_iallgather(void *comm, char *send,
				const struct inc_nccl_part *recv,
				size_t bytes_per_rank, size_t offset,
				size_t bytes, void **request)
{
	struct block b = { .rank = 0 };

	if (recv->size < bytes)
		return NCCL_INVALID_ARGUMENT;
	return run_window(comm, recv->addr, send, bytes_per_rank, offset, bytes,
			  &b, begin_gather, request);
}

/*
 * Start a ReduceScatter of a window. Returns NCCL_SUCCESS,
 * NCCL_INVALID_ARGUMENT or NCCL_REMOTE_ERROR.
 * @send: the window, in the data of this rank
 * @recv: buffer for this rank's part of the window
 * @bytes_per_rank: bytes of a rank's block
 * @offset: where the window begins in the vector of all blocks, bytes
 * @bytes: bytes of the window
 * @request: set to the request; NULL: all requests are in use, try again
 */
nccl_result inc_coll_ireducescatter(void *comm,
				    const struct inc_nccl_part *send,
				    char *recv, size_t bytes_per_rank,
				    size_t offset, size_t bytes, int type,
				    int op, void **request)
{
	struct block b = { .type = type, .op = op };

	if (!is_known(type, op) || send->size < bytes)
		return NCCL_INVALID_ARGUMENT;
	return run_window(comm, send->addr, recv, bytes_per_rank, offset, bytes,
			  &b, begin_scatter, request);
}

/*
 * Check whether a request is done, and free it if so. Returns NCCL_SUCCESS or
 * NCCL_REMOTE_ERROR.
 * @done: set to 1 if so, else to 0
 * @size: NULL, or set to its bytes if it is done
 */
nccl_result inc_coll_test(void *request, int *done, int *size)
{
	struct request *r = request;
	struct coll *c = r->coll;
	int ret = 0, one = 1;

	*done = 0;
	pthread_mutex_lock(&c->lock);
	while (r->next < r->nreq && one && !ret) {
		ret = inc_request_test(r->req[r->next], &one);
		if (one || ret)
			inc_request_free(r->req[r->next++]);
	}
	if (!ret && r->next == r->nreq) {
		*done = 1;
		if (size)
			*size = (int)r->bytes;
		r->used = false;
	}
	pthread_mutex_unlock(&c->lock);
	return ret ? report_failure(c, ret) : NCCL_SUCCESS;
}
