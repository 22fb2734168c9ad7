/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * libinc - collectives that an INC switch computes in the network.
 *
 * A process is a rank of a communicator (struct inc_comm). The ranks of one
 * communicator meet at a coordinator: the rendezvous daemon of the switch
 * ("inc-tool serve"), or the aggregation manager of several ("inc-amd"). Each
 * rank gets one queue pair to the switch, RC or UC, and from then on every
 * collective goes over stock verbs.
 *
 * Conventions
 *
 * - Functions return 0 or a negative errno value unless said otherwise. The
 *   library prints nothing and never ends the process.
 * - All ranks of a communicator call the same collectives, in the same order,
 *   with the same count, type and operation.
 * - A communicator and its requests are used by one thread at a time; different
 *   communicators are independent. All communicators of a process share one
 *   thread, which only watches time limits and the connections to the daemon.
 *   libinc(7) has the rules, including those for fork() and signals.
 * - In a child of fork(), calls on the parent's communicators return -ESTALE.
 * - No call blocks forever: when the communicator's time limit expires, it
 *   returns -ETIMEDOUT. Once a communicator has failed (time limit, dead peer,
 *   switch gone), nothing more is written to the caller's buffers, and every
 *   later call returns the same error until the communicator is destroyed.
 */
#ifndef INC_INC_H
#define INC_INC_H

#include <stddef.h>
#include <stdint.h>

#include "rdma_inc_proto.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INC_LIB_VERSION_MAJOR	1
#define INC_LIB_VERSION_MINOR	0

struct inc_comm;
struct inc_request;

/*
 * As a send buffer: the data is in the receive buffer, laid out as for
 * MPI_IN_PLACE. As the receive buffer of a Scatter's root: its block stays
 * where it is.
 */
#define INC_IN_PLACE	((void *)-1)

/**
 * enum inc_reg_mode - how to treat user memory that inc_mem_reg() has not
 *	registered
 * @INC_REG_DEFAULT: environment INC_REG ("each" or "cache"), else INC_REG_EACH
 * @INC_REG_EACH: register for each operation; always safe
 * @INC_REG_CACHE: cache registrations and evict the least recently used. The
 *	caller must call inc_mem_invalidate() before memory used in a collective
 *	is returned to the system (by munmap(), or a free() that does so: of a mapped
 *	chunk, or at the heap's end).
 *	Otherwise a later buffer at the same address would silently use the old
 *	pages
 *
 * Short operations (INC_EAGER_MAX bytes or less) are copied and register
 * nothing.
 */
enum inc_reg_mode {
	INC_REG_DEFAULT	= 0,
	INC_REG_EACH	= 1,
	INC_REG_CACHE	= 2,
};

/**
 * enum inc_qp_type - the transport of the rank's queue pair
 * @INC_QP_DEFAULT: environment INC_TRANSPORT ("rc" or "uc"). If that is not set, or
 *	"auto": RC, and UC from when libinc sees that packets are lost, unless a
 *	window, a message size, a PSN or a flag is given. inc_comm_query() says
 *	which it is
 * @INC_QP_RC: reliable connection: the device retransmits
 * @INC_QP_UC: unreliable connection: libinc retransmits lost messages, and only
 *	those. For links that lose packets. A message is one packet, all data is
 *	copied, and progress is made only inside calls to the library
 */
enum inc_qp_type {
	INC_QP_DEFAULT	= 0,
	INC_QP_RC	= 1,
	INC_QP_UC	= 2,
};

/* Operations of up to this many bytes are copied instead of registered. */
#define INC_EAGER_MAX	4096

/**
 * struct inc_comm_opts - options of a communicator
 * @size: sizeof(struct inc_comm_opts), set by INC_COMM_OPTS_INIT
 * @server: "host", "host:port" or "[addr]:port" of the rendezvous daemon;
 *	NULL: environment INC_SERVER
 * @job: name shared by the ranks of this communicator, at most INC_JOB_MAX
 *	printable characters; NULL: INC_JOB
 * @rank: rank of the caller, 0 ... @nranks - 1; -1: INC_RANK
 * @nranks: number of ranks; -1: INC_NRANKS
 * @timeout_ms: time limit of each blocking call in milliseconds; 0:
 *	INC_TIMEOUT_MS, else 30000
 * @join_timeout_ms: time limit of inc_comm_create(), which waits for the other
 *	ranks; 0: INC_JOIN_TIMEOUT_MS, else @timeout_ms
 * @errbuf: NULL, or where inc_comm_create() writes an error message
 * @errbuf_len: size of @errbuf in bytes
 * @dev: verbs device; NULL: INC_DEV, else the device that has the local address
 *	of the connection to the daemon
 * @port: port of the device; 0: INC_IB_PORT, else the first that fits
 * @gid_index: index into the port's GID table; -1: INC_GID_INDEX, else the
 *	RoCEv2 GID with the local address of the connection to the daemon. If
 *	@dev is not given, a device where the index holds that address is
 *	preferred
 * @qp_type: transport of the queue pair
 * @qp_timeout: local ACK timeout exponent (4.096 us * 2^n), 1 ... 31; 0:
 *	INC_QP_TIMEOUT, else 18
 * @retries: over UC: unanswered queries about a message before the
 *	communicator fails; 0: INC_RETRIES, else 60, some 11 s
 * @flags: INC_COMM_F_PSN: @psn is given. INC_COMM_F_REBUILD: if the tree fails,
 *	the aggregation manager is to make another one, over which the
 *	communicator goes on; all ranks must agree. Default: environment
 *	INC_AM_ON_FAILURE ("end" or "rebuild"). INC_COMM_F_CM: connect the queue
 *	pair by RDMA CM to a tree of an aggregation manager. Default:
 *	environment INC_AM_CONNECT ("manager" or "cm")
 * @psn: first PSN that this rank sends, 24 bits; random if not given
 * @window: maximum number of messages in flight; 0: INC_WINDOW, else adapted to
 *	the path, 3 to 32 over RC, 64 or more over UC. Never more than the
 *	tree's slots or, over UC, half of the network device's queue
 * @reg: how user memory is registered
 * @tree: settings of the tree to make. 0 leaves the choice to the daemon. If
 *	another rank joined first, the tree exists already, and a setting that
 *	differs from the tree's is an error
 * @tree.slots: number of slots, a power of two, 1 ... 4096
 * @tree.msg_size: maximum message size in bytes, including the INC header of
 *	32 bytes; a multiple of 64, 64 ... 65536
 * @tree.pmtu: path MTU in bytes, 256, 512, 1024, 2048 or 4096
 * @tree.flags: INC_TREE_F_FIRST_MSG_ID: @tree.first_msg_id is given
 * @tree.first_msg_id: message ID of the first message
 * @am: "host", "host:port" or "[addr]:port" of an aggregation manager, which is
 *	asked for a tree instead of a daemon; NULL: INC_AM, unless @server is
 *	given
 *
 * Start from INC_COMM_OPTS_INIT. Members that later versions add default to 0.
 * A library that does not know a nonzero member returns -E2BIG.
 */
struct inc_comm_opts {
	size_t		size;
	const char	*server;
	const char	*job;
	int		rank;
	int		nranks;
	unsigned int	timeout_ms;
	unsigned int	join_timeout_ms;
	char		*errbuf;
	size_t		errbuf_len;
	const char	*dev;
	int		port;
	int		gid_index;
	enum inc_qp_type qp_type;
	unsigned int	qp_timeout;
	unsigned int	retries;
	unsigned int	flags;
	uint32_t	psn;
	unsigned int	window;
	enum inc_reg_mode reg;
	struct {
		unsigned int	slots;
		unsigned int	msg_size;
		unsigned int	pmtu;
		unsigned int	flags;
		uint32_t	first_msg_id;
	} tree;
	const char	*am;
};

#define INC_COMM_F_PSN		(1U << 0)
#define INC_COMM_F_REBUILD	(1U << 1)
#define INC_COMM_F_CM		(1U << 2)

#define INC_TREE_F_FIRST_MSG_ID	(1U << 0)

#define INC_JOB_MAX	63

#define INC_COMM_OPTS_INIT				\
	{						\
		.size = sizeof(struct inc_comm_opts),	\
		.rank = -1,				\
		.nranks = -1,				\
		.gid_index = -1,			\
	}

/**
 * enum inc_state - state of a communicator
 * @INC_STATE_IDLE: no operation is in progress
 * @INC_STATE_BUSY: at least one operation is in progress
 * @INC_STATE_FAILED: the communicator has failed for good
 */
enum inc_state {
	INC_STATE_IDLE		= 0,
	INC_STATE_BUSY		= 1,
	INC_STATE_FAILED	= 2,
};

/**
 * struct inc_comm_info - state and statistics of a communicator
 * @size: sizeof(struct inc_comm_info), set by the caller; this many bytes are
 *	written
 * @job: name of the job; together with @tree_id it identifies the task,
 *	together with @rank the caller
 * @rank: rank of the caller
 * @nranks: number of ranks
 * @state: enum inc_state, the task's status
 * @status: 0, or the negative errno value that the communicator failed with
 * @timeout_ms: time limit of a blocking call
 * @tree_id: tree on the switch
 * @slots: slots of the tree
 * @msg_size: maximum message size in bytes, including the INC header
 * @pmtu: path MTU in bytes
 * @collectives: mask of offered collectives (1 << enum inc_collective)
 * @dtypes: mask of offered data types (1 << enum inc_dtype)
 * @ops: mask of offered operations (1 << enum inc_op)
 * @qp_type: enum inc_qp_type
 * @qpn: QPN of the caller's queue pair
 * @switch_qpn: QPN of the switch's queue pair
 * @dev: name of the verbs device
 * @addr: address of the caller's GID
 * @switch_addr: address of the switch
 * @window: maximum number of messages in flight; the current value if it adapts
 * @next_msg_id: message ID of the next message
 * @collective: enum inc_collective of the oldest operation in progress, or else
 *	of the last one begun; -1: none yet
 * @block: its data block: size in bytes of the call's @count elements
 * @op_messages: messages of the oldest operation in progress; 0: none
 * @op_results: of these, messages whose result or error has arrived
 * @begun: collectives begun; minus @operations: number in progress
 * @operations: collectives completed, including failed ones
 * @messages: messages sent
 * @results: messages whose result or error has arrived, of all operations
 * @errors: messages that ended with a status other than INC_STATUS_OK
 * @tx_bytes: payload bytes sent, including INC headers
 * @rx_bytes: payload bytes of results
 * @resent: over UC: messages retransmitted
 * @queries: over UC: queries sent to the switch about a message's status
 * @sleeps: times that a call slept for a completion
 * @mem_regs: registrations of user memory made
 * @mem_hits: buffers of operations that were already registered
 * @devices: number of devices that operations use; @dev and its settings are the
 *	first's
 */
struct inc_comm_info {
	size_t		size;
	char		job[INC_JOB_MAX + 1];
	int		rank;
	int		nranks;
	int		state;
	int		status;
	uint32_t	timeout_ms;
	uint32_t	tree_id;
	uint32_t	slots;
	uint32_t	msg_size;
	uint32_t	pmtu;
	uint32_t	collectives;
	uint32_t	dtypes;
	uint32_t	ops;
	int		qp_type;
	uint32_t	qpn;
	uint32_t	switch_qpn;
	char		dev[64];
	char		addr[48];
	char		switch_addr[48];
	uint32_t	window;
	uint32_t	next_msg_id;
	int		collective;
	uint64_t	block;
	uint64_t	op_messages;
	uint64_t	op_results;
	uint64_t	begun;
	uint64_t	operations;
	uint64_t	messages;
	uint64_t	results;
	uint64_t	errors;
	uint64_t	tx_bytes;
	uint64_t	rx_bytes;
	uint64_t	resent;
	uint64_t	queries;
	uint64_t	sleeps;
	uint64_t	mem_regs;
	uint64_t	mem_hits;
	uint32_t	devices;
};

/* --- Communicators ----------------------------------------------------- */

int inc_comm_create(struct inc_comm **comm, const struct inc_comm_opts *opts);
int inc_comm_check(const struct inc_comm_opts *opts);
int inc_comm_destroy(struct inc_comm *comm);
int inc_comm_abort(struct inc_comm *comm, int err);
int inc_comm_rank(const struct inc_comm *comm);
int inc_comm_size(const struct inc_comm *comm);
int inc_comm_set_timeout(struct inc_comm *comm, unsigned int timeout_ms);
int inc_comm_query(struct inc_comm *comm, struct inc_comm_info *info);
const char *inc_comm_strerror(struct inc_comm *comm);

/* --- Collectives ------------------------------------------------------- */

int inc_allreduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		  size_t count, enum inc_dtype dtype, enum inc_op op);
int inc_reduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
	       size_t count, enum inc_dtype dtype, enum inc_op op, int root);
int inc_reduce_scatter(struct inc_comm *comm, const void *sendbuf,
		       void *recvbuf, size_t count, enum inc_dtype dtype,
		       enum inc_op op);
int inc_broadcast(struct inc_comm *comm, void *buf, size_t count,
		  enum inc_dtype dtype, int root);
int inc_allgather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		  size_t count, enum inc_dtype dtype);
int inc_gather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
	       size_t count, enum inc_dtype dtype, int root);
int inc_scatter(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		size_t count, enum inc_dtype dtype, int root);
int inc_alltoall(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		 size_t count, enum inc_dtype dtype);
int inc_barrier(struct inc_comm *comm);

int inc_iallreduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		   size_t count, enum inc_dtype dtype, enum inc_op op,
		   struct inc_request **req);
int inc_ireduce(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		size_t count, enum inc_dtype dtype, enum inc_op op, int root,
		struct inc_request **req);
int inc_ireduce_scatter(struct inc_comm *comm, const void *sendbuf,
			void *recvbuf, size_t count, enum inc_dtype dtype,
			enum inc_op op, struct inc_request **req);
int inc_ibroadcast(struct inc_comm *comm, void *buf, size_t count,
		   enum inc_dtype dtype, int root, struct inc_request **req);
int inc_iallgather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		   size_t count, enum inc_dtype dtype,
		   struct inc_request **req);
int inc_igather(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		size_t count, enum inc_dtype dtype, int root,
		struct inc_request **req);
int inc_iscatter(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		 size_t count, enum inc_dtype dtype, int root,
		 struct inc_request **req);
int inc_ialltoall(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		  size_t count, enum inc_dtype dtype, struct inc_request **req);
int inc_ibarrier(struct inc_comm *comm, struct inc_request **req);

int inc_allreduce_init(struct inc_comm *comm, const void *sendbuf,
		       void *recvbuf, size_t count, enum inc_dtype dtype,
		       enum inc_op op, struct inc_request **req);
int inc_reduce_init(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		    size_t count, enum inc_dtype dtype, enum inc_op op,
		    int root, struct inc_request **req);
int inc_reduce_scatter_init(struct inc_comm *comm, const void *sendbuf,
			    void *recvbuf, size_t count, enum inc_dtype dtype,
			    enum inc_op op, struct inc_request **req);
int inc_broadcast_init(struct inc_comm *comm, void *buf, size_t count,
		       enum inc_dtype dtype, int root,
		       struct inc_request **req);
int inc_allgather_init(struct inc_comm *comm, const void *sendbuf,
		       void *recvbuf, size_t count, enum inc_dtype dtype,
		       struct inc_request **req);
int inc_gather_init(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		    size_t count, enum inc_dtype dtype, int root,
		    struct inc_request **req);
int inc_scatter_init(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		     size_t count, enum inc_dtype dtype, int root,
		     struct inc_request **req);
int inc_alltoall_init(struct inc_comm *comm, const void *sendbuf, void *recvbuf,
		      size_t count, enum inc_dtype dtype,
		      struct inc_request **req);
int inc_barrier_init(struct inc_comm *comm, struct inc_request **req);
int inc_request_start(struct inc_request *req);

int inc_request_test(struct inc_request *req, int *done);
int inc_request_wait(struct inc_request *req);
int inc_request_wait_for(struct inc_request *req, unsigned int timeout_ms);
void inc_request_free(struct inc_request *req);

/* --- Memory ------------------------------------------------------------ */

int inc_mem_reg(struct inc_comm *comm, void *addr, size_t len);
int inc_mem_dereg(struct inc_comm *comm, void *addr, size_t len);
int inc_mem_invalidate(struct inc_comm *comm, const void *addr, size_t len);

/* --- Names, errors, log ------------------------------------------------ */

size_t inc_dtype_size(enum inc_dtype dtype);
const char *inc_collective_name(enum inc_collective coll);
const char *inc_dtype_name(enum inc_dtype dtype);
const char *inc_op_name(enum inc_op op);
int inc_dtype_by_name(const char *name);
int inc_op_by_name(const char *name);
int inc_status_errno(unsigned int status);
const char *inc_status_str(unsigned int status);
const char *inc_strerror(int err);
const char *inc_version(void);

/**
 * enum inc_log_level - how much to log
 * @INC_LOG_NONE: nothing
 * @INC_LOG_ERROR: failures of calls and communicators
 * @INC_LOG_WARN: oddities that stop nothing
 * @INC_LOG_INFO: communicators created and destroyed
 * @INC_LOG_DEBUG: operations, registrations, lines from and to the daemon
 */
enum inc_log_level {
	INC_LOG_NONE	= -1,
	INC_LOG_ERROR	= 0,
	INC_LOG_WARN	= 1,
	INC_LOG_INFO	= 2,
	INC_LOG_DEBUG	= 3,
};

/**
 * enum inc_log_format - format of a log line
 * @INC_LOG_TEXT: job "x", rank 0 of 2, tree 1: what happened
 * @INC_LOG_JSON: an object with the members time (RFC 3339, UTC), level, pid,
 *	job, rank, ranks, tree (these four only if known) and message
 */
enum inc_log_format {
	INC_LOG_TEXT	= 0,
	INC_LOG_JSON	= 1,
};

/*
 * Takes one line without a newline. May be called from any thread. Must call
 * neither libinc nor fork().
 */
typedef void (*inc_log_fn)(enum inc_log_level level, const char *line,
			   void *arg);

void inc_log_set(inc_log_fn fn, void *arg, enum inc_log_level level);
void inc_log_set_format(enum inc_log_format form);

#ifdef __cplusplus
}
#endif

#endif /* INC_INC_H */
