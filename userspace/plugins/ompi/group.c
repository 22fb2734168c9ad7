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
 *
 * A rank's findings (memory for tables, devices, limits) decide about operations only
 * through such a collective (decide.c). Slots and waiting times may differ between
 * ranks.
 */
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

#include "../owner.h"
#include "coll_inc.h"

#include "ompi/proc/proc.h"
#include "opal/mca/hwloc/hwloc-internal.h"
#include "opal/util/info.h"
#include "opal/util/proc.h"

/* Microseconds between the attempts of a rank that the daemon refuses. */
#define ROOM_MIN_US	2000
#define ROOM_MAX_US	32000

/* Microseconds between checks whether the first try has ended. */
#define LOOK_US		200

/* Number of communicators that each process reports individually. */
#define TELL_MOST	10

/*
 * Encode a reason for coll_inc_blamed() so that the maximum over all ranks is
 * the worst reason; of equal reasons, the lowest rank's is the greatest.
 */
uint64_t coll_inc_blame(enum coll_inc_why why, ompi_communicator_t *comm)
{
	return (uint64_t)why << 32 | ~(uint32_t)ompi_comm_rank(comm);
}

/*
 * Record the worst reason of all ranks.
 * @blame: the greatest of coll_inc_blame() of all ranks
 */
enum coll_inc_why coll_inc_blamed(struct coll_inc_module *m, uint64_t blame)
{
	m->culprit = (int)~(uint32_t)blame;
	/* Ranks that timed out for no known reason would do so again. */
	if (blame >> 32 == COLL_INC_LATE)
		coll_inc_unable(COLL_INC_LATE, m->tried);
	return (enum coll_inc_why)(blame >> 32);
}

/* Agree on the worst reason of any rank. */
static enum coll_inc_why agree_reason(coll_inc_module_t *m,
				      ompi_communicator_t *comm,
				      enum coll_inc_why mine)
{
	uint64_t blame = coll_inc_blame(mine, comm);

	m->err = m->below.allreduce(MPI_IN_PLACE, &blame, 1,
				    &ompi_mpi_uint64_t.dt, &ompi_mpi_op_max.op,
				    comm, m->below.allreduce_module);
	return coll_inc_blamed(m, blame);
}

/* The MCA parameter, or NULL; libinc reads the environment itself. */
static const char *get_server(void)
{
	const char *s = coll_inc_params.server;

	return s && *s ? s : NULL;
}

static bool knows_server(void)
{
	return get_server() || getenv("INC_SERVER") || getenv("INC_AM");
}

/* RLIMIT_MEMLOCK covers registered memory, except with CAP_IPC_LOCK. */
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

/* Is one of the ranks below @n, other than this one, on this host? */
static bool has_neighbour(ompi_communicator_t *comm, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		ompi_proc_t *p = ompi_comm_peer_lookup(comm, i);

		if (i != ompi_comm_rank(comm) &&
		    OPAL_PROC_ON_LOCAL_NODE(p->super.proc_flags))
			return true;
	}
	return false;
}

/* Does this rank go to the switch? Other ranks need no access to it. */
static bool leads_host(ompi_communicator_t *comm)
{
	return !has_neighbour(comm, ompi_comm_rank(comm));
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

/*
 * Find the lowest rank in @comm on this host; -1 if unknown. An info key keeps this
 * component off the host's communicator: any thread may happen to complete it.
 */
static int find_leader(coll_inc_module_t *m, ompi_communicator_t *comm)
{
	int zero = 0, leader, ret;
	opal_info_t info;

	OBJ_CONSTRUCT(&info, opal_info_t);
	ret = opal_info_set(&info, "ompi_comm_coll_preference", "^inc");
	if (ret == OMPI_SUCCESS)
		ret = ompi_comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, &info,
					   &m->local);
	OBJ_DESTRUCT(&info);
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

static bool name_job(uint64_t say[COLL_INC_SAY_N], ompi_communicator_t *comm)
{
	const size_t len = 2 * sizeof(*say);

	if (ompi_comm_rank(comm))
		return true;
	inc_plugin_owner((char *)&say[COLL_INC_SAY_OWNER]);
	return getrandom(&say[COLL_INC_SAY_NAME], len, 0) == (ssize_t)len;
}

static bool needs_switch(ompi_communicator_t *comm)
{
	return knows_server() && leads_host(comm);
}

/*
 * Start the first try of the switch, if due and this rank needs the switch.
 * Returns true if coll_inc_say_mine() may be called.
 */
bool coll_inc_can_say(ompi_communicator_t *comm)
{
	return !needs_switch(comm) || coll_inc_tried();
}

/* Collect this rank's values for a meeting. */
void coll_inc_say_mine(uint64_t say[COLL_INC_SAY_N], ompi_communicator_t *comm)
{
	enum coll_inc_why why = COLL_INC_GOES;

	memset(say, 0, COLL_INC_SAY_N * sizeof(*say));
	if (!name_job(say, comm))
		why = COLL_INC_NO_TREE;
	if (!knows_server())
		why = COLL_INC_NO_SERVER;
	else if (!why && needs_switch(comm))
		why = coll_inc_able();
	say[COLL_INC_SAY_WHY] = coll_inc_blame(why, comm);
	say[COLL_INC_SAY_SHARED] = has_neighbour(comm, ompi_comm_size(comm));
	say[COLL_INC_SAY_MEMLOCK] = ~(uint64_t)may_lock();
}

/* Exchange all values in one operation, as each takes a round trip or more. */
static enum coll_inc_why exchange_say(coll_inc_module_t *m,
				      ompi_communicator_t *comm,
				      uint64_t say[COLL_INC_SAY_N])
{
	m->err = m->below.allreduce(MPI_IN_PLACE, say, COLL_INC_SAY_N,
				    &ompi_mpi_uint64_t.dt, &ompi_mpi_op_max.op,
				    comm, m->below.allreduce_module);
	return coll_inc_blamed(m, say[COLL_INC_SAY_WHY]);
}

/*
 * The daemon refuses the first rank of a job if its host has no room for
 * another job. A rank of another host may begin the job, and would wait for
 * this one: so retry for as long as another rank may come later than this one.
 */
static int create_comm(struct inc_comm **inc, struct inc_comm_opts *opts)
{
	unsigned int us;
	int ret;

	ret = inc_comm_create(inc, opts);
	for (us = ROOM_MIN_US; us <= ROOM_MAX_US; us *= 2) {
		if (coll_inc_why_of(ret) != COLL_INC_FULL)
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
		coll_inc_tree_made();
		return COLL_INC_GOES;
	}
	snprintf(m->tried, sizeof(m->tried), "%s",
		 *said ? said : inc_strerror(ret));
	/* Lateness of other ranks is no failure of this one. */
	if (coll_inc_why_of(ret) != COLL_INC_LATE)
		coll_inc_unable(coll_inc_why_of(ret), m->tried);
	return coll_inc_why_of(ret);
}

/*
 * Join the job of a communicator with one rank per host. Waits for the other
 * ranks. May run in a thread of its own. Returns COLL_INC_GOES, or why it
 * failed.
 */
enum coll_inc_why coll_inc_join(struct coll_inc_module *m,
				ompi_communicator_t *comm,
				const uint64_t say[COLL_INC_SAY_N])
{
	return join_job(m, &m->inc, say, ompi_comm_rank(comm),
			ompi_comm_size(comm), coll_inc_slots());
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

	while (!coll_inc_can_say(comm))
		usleep(LOOK_US);
	coll_inc_say_mine(say, comm);
	/* Allocate the tables of hosts, needed if any rank shares its host. */
	m->host_of = calloc((size_t)nranks, sizeof(int));
	m->at = calloc((size_t)nranks, 2 * sizeof(int));
	if (!m->host_of || !m->at)
		say[COLL_INC_SAY_WHY] = coll_inc_blame(COLL_INC_NO_TREE, comm);
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
					 coll_inc_slots()));
}

/* Report few communicators only, since a program may make thousands. */
static bool is_told(const coll_inc_module_t *m, const ompi_communicator_t *comm)
{
	static enum coll_inc_why last;
	static int told;

	if (ompi_comm_rank(comm) != m->culprit)
		return false;
	if (coll_inc_params.verbose < 1) {
		/* A user who names a switch wants to know once why none is used. */
		if (!m->why || m->why == last || m->why == COLL_INC_FULL ||
		    m->why > COLL_INC_NO_DAEMON)
			return false;
		last = m->why;
		return true;
	}
	if (coll_inc_params.verbose < 2 && told++ >= TELL_MOST) {
		if (told == TELL_MOST + 1)
			coll_inc_say(1, "coll/inc: further communicators are only counted");
		return false;
	}
	return true;
}

static void tell_outcome(const coll_inc_module_t *m,
			 const ompi_communicator_t *comm)
{
	bool again = m->state == COLL_INC_NEW;
	char who[128] = "", later[64] = "";

	if (!is_told(m, comm))
		return;
	if (!m->why) {
		coll_inc_say(1,
			     "coll/inc: %s: %d ranks%s go through the switch",
			     comm->c_name, ompi_comm_size(comm),
			     m->local ? ", one per host," : "");
		return;
	}
	if (again)
		snprintf(later, sizeof(later),
			 "; tries again after %lu operation%s",
			 m->meet_at - m->counted,
			 m->meet_at - m->counted == 1 ? "" : "s");
	if (m->why < COLL_INC_ONE_HOST)
		snprintf(who, sizeof(who), "rank %d on %s: ", m->culprit,
			 opal_process_info.nodename);
	coll_inc_say(0, "coll/inc: %s: nothing goes through the switch%s: %s%s%s%s%s",
		     comm->c_name, again ? " now" : "", who,
		     coll_inc_why_text(m->why), *m->said ? ": " : "", m->said,
		     later);
}

/* Set m->said: this rank's own message from this meeting or before, or the culprit. */
static void say_culprit(coll_inc_module_t *m, ompi_communicator_t *comm)
{
	ompi_proc_t *p = ompi_comm_peer_lookup(comm, m->culprit);

	memcpy(m->said, m->tried, sizeof(m->said));
	if (!*m->said)
		coll_inc_able_said(m->why, m->said);
	if (!*m->said && m->culprit != ompi_comm_rank(comm))
		snprintf(m->said, sizeof(m->said), "rank %d on %s", m->culprit,
			 opal_get_proc_hostname(&p->super));
}

/*
 * The ranks did not meet. The obstacle may go away, so they try again, less and
 * less often. A retry costs only an exchange if a rank already knows that it will
 * fail.
 */
static void fall_back(coll_inc_module_t *m, ompi_communicator_t *comm)
{
	coll_inc_part(m);
	m->state = COLL_INC_NONE;
	if (m->why > COLL_INC_NO_DAEMON)
		return;
	say_culprit(m, comm);
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

/*
 * Go to the state that follows from a meeting.
 * @m: module with the outcome in m->why and m->err
 */
void coll_inc_met(coll_inc_module_t *m, ompi_communicator_t *comm)
{
	char text[MPI_MAX_ERROR_STRING];

	if (m->err) {
		coll_inc_part(m);
		m->state = COLL_INC_READY;
		if (coll_inc_lost(comm))
			return;
		opal_output(coll_inc_output,
			    "coll/inc: %s: the ranks could not agree whether to use the switch, as Open MPI's own collective failed (%s): is a rank or host gone? All collectives of this communicator fail",
			    comm->c_name, error_text(m->err, text));
		return;
	}
	if (m->why == COLL_INC_NO_WAIT) {
		m->state = COLL_INC_NEW;
		return;
	}
	if (m->why) {
		fall_back(m, comm);
	} else {
		m->state = COLL_INC_READY;
		coll_inc_watch(m);
	}
	tell_outcome(m, comm);
}

/*
 * Make a communicator's tree on the switch. All ranks are in the same call. If
 * the collectives used here fail, the state is COLL_INC_READY, and each
 * operation ends with m->err.
 * @m: module in state COLL_INC_NEW; goes to COLL_INC_READY or COLL_INC_NONE,
 *	or back to COLL_INC_NEW if there is no room now
 * @comm: its communicator; all its ranks have the same parameters
 */
void coll_inc_meet(coll_inc_module_t *m, ompi_communicator_t *comm)
{
	m->state = COLL_INC_MEETING;
	m->tried[0] = '\0';
	m->why = meet_ranks(m, comm);
	coll_inc_met(m, comm);
}

static void drop_tree(struct inc_comm *inc)
{
	if (!inc)
		return;
	inc_comm_destroy(inc);
	coll_inc_tree_gone();
}

static enum coll_inc_why add_lane(coll_inc_module_t *m,
				  ompi_communicator_t *comm)
{
	uint64_t say[COLL_INC_SAY_N];
	struct inc_comm *inc = NULL;
	enum coll_inc_why why;

	if (m->nlanes >= coll_inc_params.max_persistent ||
	    m->nlanes >= COLL_INC_MAX_LANES)
		return COLL_INC_LANES;
	coll_inc_say_mine(say, comm);
	if (m->ended)
		say[COLL_INC_SAY_WHY] = coll_inc_blame(COLL_INC_NO_TREE, comm);
	why = exchange_say(m, comm, say);
	if (why || m->err)
		return why;
	why = agree_reason(m, comm, join_job(m, &inc, say, ompi_comm_rank(comm),
					     ompi_comm_size(comm),
					     coll_inc_slots()));
	if (!why && !m->err)
		m->lanes[m->nlanes++] = inc;
	else
		drop_tree(inc);
	return why;
}

/*
 * Find a tree for a persistent operation. All ranks are in the same call. Trees
 * are kept: once all ranks have released a tree, in any order, it is reused.
 * Returns COLL_INC_GOES, or why there is none; m->err is set on failure.
 * @m: module in state COLL_INC_READY whose hosts have one rank each
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

/* Release the resources of coll_inc_meet(). */
void coll_inc_part(coll_inc_module_t *m)
{
	coll_inc_unwatch(m);
	while (m->nlanes)
		drop_tree(m->lanes[--m->nlanes]);
	drop_tree(m->inc);
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
