// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Brings the ranks of a communicator together at the switch.
 *
 * If hosts have several ranks, only one per host, its leader, is a rank of the
 * switch's tree; the others go through the leader. The meeting uses the
 * collectives below this component. If any rank can't take part, all ranks fall
 * through from then on.
 *
 * All ranks call the same collectives: a rank with an error reports it in the
 * next one, and stops where all stop. If such a collective itself fails, the
 * state of the other ranks is unknown: the operation in which the ranks met
 * fails, and so does each later one.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include <infiniband/verbs.h>

#include "../owner.h"
#include "coll_inc.h"

#include "ompi/proc/proc.h"
#include "opal/mca/hwloc/hwloc-internal.h"

/*
 * Over RC, libinc has no more messages in flight, whichever operations they
 * belong to. The daemon's own number of slots would cost eight times as much of
 * the switch's memory.
 */
#define SLOTS		32

/* Microseconds between the tries of a rank that the daemon refuses. */
#define ROOM_MIN_US	2000
#define ROOM_MAX_US	32000

/* Communicators that each process reports one by one. */
#define TELL_MOST	10

/* This thread is creating a communicator for a meeting. */
static __thread bool meeting;

/**
 * coll_inc_meeting() - check whether a communicator is made for our own use
 *
 * Return: true while this thread creates a communicator for a meeting.
 */
bool coll_inc_meeting(void)
{
	return meeting;
}

/* Agree on the worst reason of any rank. */
static enum coll_inc_why agree_reason(coll_inc_module_t *m,
				      ompi_communicator_t *comm,
				      enum coll_inc_why mine)
{
	int value = (int)mine;

	m->err = m->below.allreduce(MPI_IN_PLACE, &value, 1, &ompi_mpi_int.dt,
				    &ompi_mpi_op_max.op, comm,
				    m->below.allreduce_module);
	return (enum coll_inc_why)value;
}

/* The parameter; libinc knows the environment's. NULL: none. */
static const char *get_server(void)
{
	const char *s = coll_inc_params.server;

	return s && *s ? s : NULL;
}

static enum coll_inc_why check_able(void)
{
	struct ibv_device **list;
	int n = 0;

	if (!get_server() && !getenv("INC_SERVER") && !getenv("INC_AM"))
		return COLL_INC_NO_SERVER;
	list = ibv_get_device_list(&n);
	if (list)
		ibv_free_device_list(list);
	return n > 0 ? COLL_INC_GOES : COLL_INC_NO_DEVICE;
}

/* Registered memory counts as locked, except for the privileged. */
static unsigned long may_lock(void)
{
	struct __user_cap_header_struct hdr = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct caps[2] = { { 0 } };
	struct rlimit limit;

	if (syscall(SYS_capget, &hdr, caps) ||
	    getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY ||
	    caps[0].effective & 1U << CAP_IPC_LOCK)
		return ULONG_MAX;
	return limit.rlim_cur;
}

static bool alone_on_host(ompi_communicator_t *comm)
{
	int i;

	for (i = 0; i < ompi_comm_size(comm); i++) {
		ompi_proc_t *p = ompi_comm_peer_lookup(comm, i);

		if (i != ompi_comm_rank(comm) &&
		    OPAL_PROC_ON_LOCAL_NODE(p->super.proc_flags))
			return false;
	}
	return true;
}

/* Number the hosts by their leaders, and the ranks of each. */
static int number_hosts(coll_inc_module_t *m, const int *leader_of, int size)
{
	int hosts = 0, i, j;

	for (i = 0; i < size; i++) {
		if (leader_of[i] < 0)
			return -1;
		m->host_of[i] = leader_of[i] == i ? hosts++ :
						    m->host_of[leader_of[i]];
		for (j = leader_of[i]; j < i; j++)
			m->at[i] += leader_of[j] == leader_of[i];
	}
	return hosts;
}

/* Find the lowest rank in @comm on this host; -1 if unknown. */
static int find_leader(coll_inc_module_t *m, ompi_communicator_t *comm)
{
	int zero = 0, leader, ret;

	meeting = true;
	ret = ompi_comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, NULL,
				   &m->local);
	meeting = false;
	if (ret == OMPI_SUCCESS)
		ret = ompi_group_translate_ranks(m->local->c_local_group, 1,
						 &zero, comm->c_local_group,
						 &leader);
	return ret == OMPI_SUCCESS ? leader : -1;
}

/*
 * Find out which ranks are on which host. The leader is a host's lowest rank.
 * Returns the number of hosts, -1 if a rank does not know its host.
 */
static int find_hosts(coll_inc_module_t *m, ompi_communicator_t *comm,
		      int *leader_of)
{
	int mine = find_leader(m, comm);

	if (mine == ompi_comm_rank(comm)) {
		m->scratch = malloc(COLL_INC_SCRATCH);
		mine = m->scratch ? mine : -1;
	}
	m->err = m->below.allgather(&mine, 1, &ompi_mpi_int.dt, leader_of, 1,
				    &ompi_mpi_int.dt, comm,
				    m->below.allgather_module);
	return m->err ? -1 : number_hosts(m, leader_of, ompi_comm_size(comm));
}

static void name_job(uint64_t say[COLL_INC_SAY_N], ompi_communicator_t *comm)
{
	const size_t len = 2 * sizeof(*say);

	if (ompi_comm_rank(comm))
		return;
	if (getrandom(&say[COLL_INC_SAY_NAME], len, 0) != (ssize_t)len)
		say[COLL_INC_SAY_WHY] = COLL_INC_NO_TREE;
	inc_plugin_owner((char *)&say[COLL_INC_SAY_OWNER]);
}

/**
 * coll_inc_say_mine() - collect what this rank says in a meeting
 * @say: result
 * @comm: communicator
 */
void coll_inc_say_mine(uint64_t say[COLL_INC_SAY_N], ompi_communicator_t *comm)
{
	memset(say, 0, COLL_INC_SAY_N * sizeof(*say));
	say[COLL_INC_SAY_WHY] = check_able();
	if (!say[COLL_INC_SAY_WHY] && coll_inc_room_none())
		say[COLL_INC_SAY_WHY] = COLL_INC_FULL;
	say[COLL_INC_SAY_SHARED] = !alone_on_host(comm);
	say[COLL_INC_SAY_MEMLOCK] = ~(uint64_t)may_lock();
	name_job(say, comm);
}

/* Exchange it in one operation, as each takes a round trip or more. */
static enum coll_inc_why exchange_say(coll_inc_module_t *m,
				      ompi_communicator_t *comm,
				      uint64_t say[COLL_INC_SAY_N])
{
	m->err = m->below.allreduce(MPI_IN_PLACE, say, COLL_INC_SAY_N,
				    &ompi_mpi_uint64_t.dt, &ompi_mpi_op_max.op,
				    comm, m->below.allreduce_module);
	return (enum coll_inc_why)say[COLL_INC_SAY_WHY];
}

/* Over UC, a message is one packet, and there are many in flight. */
static unsigned int slots_wanted(void)
{
	const char *transport = getenv("INC_TRANSPORT");

	return transport && !strcmp(transport, "uc") ? 0 : SLOTS;
}

static enum coll_inc_why why_of(int err)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
	case -ENOBUFS:
		return COLL_INC_FULL;
	case -ETIMEDOUT:
		return COLL_INC_LATE;
	case -ECONNREFUSED:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return COLL_INC_NO_DAEMON;
	default:
		return COLL_INC_NO_TREE;
	}
}

/*
 * The daemon refuses a rank that would be the first of a job if there is no
 * room for another job of its host. A rank of another host may begin the job,
 * and would wait for this one: so ask again, for as long as another rank may
 * come later than this one.
 */
static int create_comm(struct inc_comm **inc, struct inc_comm_opts *opts)
{
	unsigned int us;
	int ret;

	ret = inc_comm_create(inc, opts);
	for (us = ROOM_MIN_US; us <= ROOM_MAX_US; us *= 2) {
		if (why_of(ret) != COLL_INC_FULL)
			break;
		usleep(us);
		ret = inc_comm_create(inc, opts);
	}
	if (ret)
		*inc = NULL;
	return ret;
}

/* The name of the job is unique among all communicators of all jobs. */
static enum coll_inc_why join_job(coll_inc_module_t *m, struct inc_comm **inc,
				  const uint64_t say[COLL_INC_SAY_N], int rank,
				  int nranks, unsigned int slots)
{
	struct inc_comm_opts opts = INC_COMM_OPTS_INIT;
	char name[INC_JOB_MAX + 1], said[COLL_INC_SAID] = "";
	int ret;

	snprintf(name, sizeof(name), "ompi-%.*s-%016jx%016jx",
		 INC_PLUGIN_OWNER - 1, (const char *)&say[COLL_INC_SAY_OWNER],
		 (uintmax_t)say[COLL_INC_SAY_NAME], (uintmax_t)say[COLL_INC_SAY_NAME + 1]);
	opts.server = get_server();
	opts.job = name;
	opts.rank = rank;
	opts.nranks = nranks;
	opts.tree.slots = slots;
	/* No caller reports when memory is returned to the system. */
	opts.reg = INC_REG_EACH;
	opts.timeout_ms = coll_inc_params.timeout_ms > 0 ?
			  (unsigned int)coll_inc_params.timeout_ms : INT_MAX;
	opts.join_timeout_ms = (unsigned int)coll_inc_params.join_timeout_ms;
	opts.errbuf = said;
	opts.errbuf_len = sizeof(said);
	ret = create_comm(inc, &opts);
	if (!ret) {
		coll_inc_room_freed();
		return COLL_INC_GOES;
	}
	snprintf(m->said, sizeof(m->said), "%s",
		 *said ? said : inc_strerror(ret));
	if (why_of(ret) == COLL_INC_FULL)
		coll_inc_room_full(m->said);
	return why_of(ret);
}

/**
 * coll_inc_join() - join the job of a communicator with one rank per host
 * @m: module
 * @comm: its communicator
 * @say: what the ranks have agreed on
 *
 * Waits for the other ranks. May run in a thread of its own.
 *
 * Return: COLL_INC_GOES, or why it failed.
 */
enum coll_inc_why coll_inc_join(struct coll_inc_module *m,
				ompi_communicator_t *comm,
				const uint64_t say[COLL_INC_SAY_N])
{
	return join_job(m, &m->inc, say, ompi_comm_rank(comm),
			ompi_comm_size(comm), slots_wanted());
}

/* On hosts with several ranks: select the ranks of the tree. */
static enum coll_inc_why meet_hosts(coll_inc_module_t *m,
				    ompi_communicator_t *comm, int *rank,
				    int *nranks)
{
	int *leader_of = m->at + ompi_comm_size(comm);

	*nranks = find_hosts(m, comm, leader_of);
	if (m->err || *nranks < 0)
		return COLL_INC_NO_TREE;
	*rank = m->at[*rank] ? -1 : m->host_of[*rank];
	return *nranks < 2 ? COLL_INC_ONE_HOST : COLL_INC_GOES;
}

static enum coll_inc_why meet_ranks(coll_inc_module_t *m,
				    ompi_communicator_t *comm)
{
	int rank = ompi_comm_rank(comm), nranks = ompi_comm_size(comm);
	uint64_t say[COLL_INC_SAY_N];
	enum coll_inc_why why;

	coll_inc_say_mine(say, comm);
	/* Allocate the tables of hosts, needed if any rank shares its host. */
	m->host_of = calloc((size_t)nranks, sizeof(int));
	m->at = calloc((size_t)nranks, 2 * sizeof(int));
	if (!m->host_of || !m->at)
		say[COLL_INC_SAY_WHY] = COLL_INC_NO_TREE;
	why = exchange_say(m, comm, say);
	if (why || m->err)
		return why;
	m->memlock = (unsigned long)~say[COLL_INC_SAY_MEMLOCK];
	if (say[COLL_INC_SAY_SHARED])
		why = meet_hosts(m, comm, &rank, &nranks);
	if (why || m->err)
		return why;
	return agree_reason(m, comm, rank < 0 ? COLL_INC_GOES :
				join_job(m, &m->inc, say, rank, nranks,
					 slots_wanted()));
}

/*
 * Report the outcome of few communicators, since a program may make thousands:
 * by the first rank, and by the ranks that know why.
 */
static void tell_outcome(const coll_inc_module_t *m,
			 const ompi_communicator_t *comm)
{
	static int told;
	bool again = m->state == COLL_INC_NEW;
	char later[64] = "";

	if (ompi_comm_rank(comm) && (!m->why || !*m->said))
		return;
	if (coll_inc_params.verbose < 2 && told++ >= TELL_MOST) {
		if (told == TELL_MOST + 1)
			coll_inc_say(1, "coll/inc: further communicators are only counted");
		return;
	}
	if (!m->why) {
		coll_inc_say(1,
			     "coll/inc: %s: %d ranks%s go through the switch",
			     comm->c_name, ompi_comm_size(comm),
			     m->local ? ", one per host," : "");
		return;
	}
	if (again)
		snprintf(later, sizeof(later),
			 "; tries again after %lu operations",
			 m->meet_at - m->counted);
	coll_inc_say(1, "coll/inc: %s: nothing goes through the switch%s: %s%s%s%s",
		     comm->c_name, again ? " now" : "",
		     coll_inc_why_text(m->why), *m->said ? ": " : "", m->said,
		     later);
}

/*
 * The ranks did not meet. Where there was no room, there may be some when other
 * communicators have been freed: the ranks try again, less and less often.
 */
static void fall_back(coll_inc_module_t *m)
{
	coll_inc_part(m);
	m->state = COLL_INC_NONE;
	if (m->why != COLL_INC_FULL)
		return;
	/* Where no rank has asked, that is what an earlier one was told. */
	if (!*m->said)
		coll_inc_room_why(m->said);
	m->state = COLL_INC_NEW;
	m->meet_at = 2 * m->counted;
}

/* Open MPI's own errors are negative, MPI's are not. */
static const char *error_text(int err, char text[MPI_MAX_ERROR_STRING])
{
	int len;

	if (err < 0 || MPI_Error_string(err, text, &len) != MPI_SUCCESS)
		return opal_strerror(err);
	return text;
}

/**
 * coll_inc_met() - go to the state that follows from a meeting
 * @m: module with the outcome in m->why and m->err
 * @comm: its communicator
 */
void coll_inc_met(coll_inc_module_t *m, ompi_communicator_t *comm)
{
	char text[MPI_MAX_ERROR_STRING];

	if (m->err) {
		coll_inc_part(m);
		m->state = COLL_INC_READY;
		opal_output(coll_inc_output,
			    "coll/inc: %s: the ranks could not agree whether to use the switch, as Open MPI's own collective failed (%s): is a rank or host gone? All collectives of this communicator fail",
			    comm->c_name, error_text(m->err, text));
		return;
	}
	if (m->why == COLL_INC_NO_WAIT) {
		m->state = COLL_INC_NEW;
		return;
	}
	if (!m->why)
		m->state = COLL_INC_READY;
	else
		fall_back(m);
	tell_outcome(m, comm);
}

/**
 * coll_inc_meet() - make a communicator's tree on the switch
 * @m: module in state COLL_INC_NEW; goes to COLL_INC_READY or COLL_INC_NONE, or
 *	back to COLL_INC_NEW if there is no room now
 * @comm: its communicator; all its ranks have the same parameters
 *
 * All ranks are in the same call. If the collectives used here fail, the state
 * is COLL_INC_READY, and each operation ends with m->err.
 */
void coll_inc_meet(coll_inc_module_t *m, ompi_communicator_t *comm)
{
	m->state = COLL_INC_MEETING;
	m->why = meet_ranks(m, comm);
	coll_inc_met(m, comm);
}

static enum coll_inc_why add_lane(coll_inc_module_t *m,
				  ompi_communicator_t *comm)
{
	uint64_t say[COLL_INC_SAY_N] = { [COLL_INC_SAY_WHY] = m->ended ? COLL_INC_NO_TREE :
						      COLL_INC_GOES };
	struct inc_comm *inc = NULL;
	enum coll_inc_why why;

	if (m->nlanes >= coll_inc_params.max_persistent ||
	    m->nlanes >= COLL_INC_MAX_LANES)
		return COLL_INC_LANES;
	name_job(say, comm);
	why = exchange_say(m, comm, say);
	if (why || m->err)
		return why;
	why = agree_reason(m, comm, join_job(m, &inc, say, ompi_comm_rank(comm),
					     ompi_comm_size(comm),
					     slots_wanted()));
	if (!why && !m->err)
		m->lanes[m->nlanes++] = inc;
	else if (inc)
		inc_comm_destroy(inc);
	return why;
}

/**
 * coll_inc_lane() - find a tree for a persistent operation
 * @m: module in state COLL_INC_READY whose hosts have one rank each
 * @comm: its communicator
 * @lane: set to its number
 *
 * All ranks are in the same call. Trees are kept: once all ranks have returned
 * a tree, in any order, it is reused.
 *
 * Return: COLL_INC_GOES, unless m->err is set, or why there is none.
 */
enum coll_inc_why coll_inc_lane(coll_inc_module_t *m, ompi_communicator_t *comm,
				int *lane)
{
	int free_lanes = m->free_lanes;
	enum coll_inc_why why;

	m->err = m->below.allreduce(MPI_IN_PLACE, &free_lanes, 1,
				    &ompi_mpi_int.dt, &ompi_mpi_op_band.op,
				    comm, m->below.allreduce_module);
	if (m->err)
		return COLL_INC_GOES;
	if (free_lanes) {
		*lane = __builtin_ctz((unsigned int)free_lanes);
		return COLL_INC_GOES;
	}
	why = add_lane(m, comm);
	if (m->err)
		return COLL_INC_GOES;
	*lane = m->nlanes - 1;
	return why;
}

/**
 * coll_inc_part() - release what coll_inc_meet() has made
 * @m: module
 */
void coll_inc_part(coll_inc_module_t *m)
{
	if (m->inc)
		coll_inc_room_freed();
	while (m->nlanes)
		inc_comm_destroy(m->lanes[--m->nlanes]);
	if (m->inc)
		inc_comm_destroy(m->inc);
	m->inc = NULL;
	if (m->local)
		ompi_comm_free(&m->local);
	m->local = NULL;
	free(m->host_of);
	free(m->at);
	free(m->scratch);
	m->host_of = NULL;
	m->at = NULL;
	m->scratch = NULL;
}
