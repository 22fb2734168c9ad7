// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The ranks of a job. After inc_job_init(), all counts change in inc_job_set() and
 * inc_job_set_rts().
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "job/job.h"
#include "rendezvous/proto.h"

/* Of trees with a UC rank: as many bytes in flight as over RC. */
#define UC_SLOTS	1024
#define UC_MSG_SIZE	1024

/**
 * inc_job_init() - begin a job, or begin it anew with other ranks
 * @job: job; its times are the caller's
 * @ranks: ranks, all absent
 * @size: bytes of one; it begins with a struct inc_job_rank
 * @n: their number
 */
void inc_job_init(struct inc_job *job, void *ranks, size_t size, uint32_t n)
{
	job->phase = INC_JOB_OPEN;
	job->n = n;
	job->present = 0;
	job->rts = 0;
	job->lost = 0;
	job->ranks = ranks;
	job->size = size;
}

/**
 * inc_job_set() - set the state of a rank
 * @job: job
 * @r: rank
 * @state: state
 *
 * One that is not present cannot send, either.
 */
void inc_job_set(struct inc_job *job, struct inc_job_rank *r,
		 enum rank_state state)
{
	job->present -= r->state == RANK_PRESENT;
	job->present += state == RANK_PRESENT;
	job->lost -= r->state == RANK_LOST;
	job->lost += state == RANK_LOST;
	r->state = state;
	if (state == RANK_PRESENT)
		r->arrived = true;
	else
		inc_job_set_rts(job, r, false);
}

/**
 * inc_job_set_rts() - record whether a rank's queue pair is ready
 * @job: job
 * @r: rank
 * @rts: it is
 */
void inc_job_set_rts(struct inc_job *job, struct inc_job_rank *r, bool rts)
{
	job->rts += (uint32_t)rts - r->rts;
	r->rts = rts;
}

/**
 * inc_job_vacate() - record that a rank has no member
 * @job: job
 * @r: rank that is not present; while ranks are missing its place is free again
 */
void inc_job_vacate(struct inc_job *job, struct inc_job_rank *r)
{
	inc_job_set(job, r, job->phase == INC_JOB_OPEN ? RANK_ABSENT : RANK_GONE);
}

/**
 * inc_job_next() - find a rank that is in a state
 * @job: job
 * @after: the rank before the first to look at; NULL: look at all
 * @state: state
 *
 * Return: the daemon's rank, or NULL if there is none.
 */
void *inc_job_next(const struct inc_job *job, const void *after,
		   enum rank_state state)
{
	char *r = after ? (char *)after + job->size : job->ranks;
	const char *end = (char *)job->ranks + job->n * job->size;

	for (; r < end; r += job->size)
		if (((struct inc_job_rank *)r)->state == state)
			return r;
	return NULL;
}

/**
 * inc_job_misses() - check whether a job waits for a rank
 * @job: job
 * @r: rank
 * @told: ranks that are present know what to connect to
 *
 * It does not wait for a rank that has come and gone: that one did not want to
 * wait, either.
 *
 * Return: true if so.
 */
bool inc_job_misses(const struct inc_job *job, const struct inc_job_rank *r,
		    bool told)
{
	if (job->phase >= INC_JOB_READY)
		return false;
	return !r->arrived || (told && r->state == RANK_PRESENT && !r->rts);
}

/**
 * inc_job_name_ranks() - add ranks to a list for people: "ranks 0, 2-3", "rank 0"
 * @list: list; empty at first
 * @len: its size in bytes
 * @first: first rank
 * @last: last rank, or @first
 *
 * Return: false without room for them; the list names the same as before.
 */
bool inc_job_name_ranks(char *list, size_t len, uint32_t first, uint32_t last)
{
	const char *begin = last > first ? "ranks " : "rank ";
	size_t used = strlen(list);
	int n;

	if (used && list[strlen("rank")] == ' ' && used + 1 < len) {
		memmove(list + strlen("ranks"), list + strlen("rank"),
			used - strlen("rank") + 1);
		list[strlen("rank")] = 's';
		used++;
	}
	n = snprintf(list + used, len - used,
		     last > first ? "%s%u-%u" : "%s%u", used ? ", " : begin,
		     first, last);
	if (n >= 0 && (size_t)n < len - used)
		return true;
	list[used] = '\0';
	return false;
}

/**
 * inc_job_fail() - begin the end of a job, if that has not begun
 * @job: job that has failed, or that has lost a rank and is not open
 * @now: milliseconds
 *
 * Return: true if it is over, since nobody is there.
 */
bool inc_job_fail(struct inc_job *job, int64_t now)
{
	if (job->phase < INC_JOB_ENDING) {
		job->phase = INC_JOB_ENDING;
		job->deadline = now + INC_JOB_ENDING_MS;
	}
	return !job->present;
}

/**
 * inc_job_left() - find out what it means that a rank has left
 * @job: job that is not open
 * @now: milliseconds
 * @wide: it has ranks at other switches: what the last one here has sent may be
 *	on its way there
 *
 * Return: true if the job is over.
 */
bool inc_job_left(struct inc_job *job, int64_t now, bool wide)
{
	inc_job_fail(job, now);
	if (job->present && !job->leave_at)
		job->leave_at = now + INC_JOB_LEAVE_MS;
	else if (!job->present && wide)
		job->leave_at = now + INC_JOB_CHILD_MS;
	return !job->present && !wide;
}

/**
 * inc_job_hurry() - have a job that is ending be over soon, whoever is there
 * @job: job that is ending: others need the room of its tree
 * @now: milliseconds
 *
 * Members of ranks that have just left in order stay for as long as always. After
 * that nobody can use the tree: the ranks that are there know that it is over.
 */
void inc_job_hurry(struct inc_job *job, int64_t now)
{
	int64_t at = job->leave_at ? job->leave_at : now;

	if (at < job->deadline)
		job->deadline = at;
}

/**
 * inc_job_deadline() - get the time when inc_job_due() has an answer
 * @job: job that is not over
 *
 * Return: milliseconds, INT64_MAX if never.
 */
int64_t inc_job_deadline(const struct inc_job *job)
{
	int64_t at = job->leave_at ? job->leave_at : INT64_MAX;

	return job->phase != INC_JOB_READY && job->deadline < at ?
	       job->deadline : at;
}

/**
 * inc_job_due() - find out what is due
 * @job: job that is not over; if INC_JOB_LEAVE is done, the caller clears
 *	@leave_at
 * @now: milliseconds
 *
 * Return: it.
 */
enum inc_job_due inc_job_due(const struct inc_job *job, int64_t now)
{
	if (job->phase != INC_JOB_READY && job->deadline <= now)
		return job->phase == INC_JOB_ENDING ? INC_JOB_END : INC_JOB_LATE;
	if (!job->leave_at || job->leave_at > now)
		return INC_JOB_NOTHING;
	return job->present ? INC_JOB_LEAVE : INC_JOB_END;
}

/**
 * inc_job_secret() - name another job that the ranks of a job are to join
 * @msg: its text is set to the name
 * @job: their job
 * @what: what it is for
 *
 * The name ends with a random number: who could guess it could take a rank's place
 * in a job that works already.
 *
 * Return: false: @job's name is too long for that, or there is no random number.
 */
bool inc_job_secret(struct inc_rdv_msg *msg, const char *job, const char *what)
{
	uint64_t secret;
	int len;

	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		return false;
	len = snprintf(msg->text, sizeof(msg->text), "%s~%s-%012llx", job, what,
		       (unsigned long long)secret >> 16);
	return len > 0 && len <= INC_RDV_JOB_MAX;
}

/**
 * inc_job_change() - decide whether ranks that lose packets change to UC now
 * @job: job
 * @like: what its ranks have requested
 * @now: milliseconds
 * @msg: result, INC_RDV_CHANGE
 *
 * Return: true if they are to be told so.
 */
bool inc_job_change(struct inc_job *job, const struct inc_rdv_join *like,
		    int64_t now, struct inc_rdv_msg *msg)
{
	*msg = (struct inc_rdv_msg){ .type = INC_RDV_CHANGE };
	if (job->phase != INC_JOB_READY || !like->change ||
	    now < job->change_at || !inc_job_secret(msg, like->job, "uc"))
		return false;
	job->change_at = now + INC_JOB_CHANGE_PAUSE_MS;
	return true;
}

/* --- What both daemons choose for ranks, and tell them -------------------- */

static bool values_differ(uint32_t is, uint32_t wish)
{
	return is && wish && is != wish;
}

static void take_value(uint32_t *is, uint32_t wish)
{
	if (wish)
		*is = wish;
}

/**
 * inc_job_merge() - add what a rank requests to what others have
 * @like: the others' requests: tree, the lowest mtu, uc if any of them is, change if
 *	all know that
 * @join: the rank's
 *
 * Return: false if it requests another tree; @like is not changed then.
 */
bool inc_job_merge(struct inc_rdv_join *like, const struct inc_rdv_join *join)
{
	const struct inc_rdv_tree *wish = &join->tree;
	struct inc_rdv_tree *tree = &like->tree;

	if (values_differ(tree->slots, wish->slots) ||
	    values_differ(tree->msg_size, wish->msg_size) ||
	    values_differ(tree->pmtu, wish->pmtu) ||
	    (wish->has_first_msg_id && tree->has_first_msg_id &&
	     wish->first_msg_id != tree->first_msg_id))
		return false;
	take_value(&tree->slots, wish->slots);
	take_value(&tree->msg_size, wish->msg_size);
	take_value(&tree->pmtu, wish->pmtu);
	if (wish->has_first_msg_id) {
		tree->has_first_msg_id = true;
		tree->first_msg_id = wish->first_msg_id;
	}
	if (join->mtu && (!like->mtu || join->mtu < like->mtu))
		like->mtu = join->mtu;
	like->uc |= join->uc;
	like->change &= join->change;
	return true;
}

/**
 * inc_job_uc() - choose settings of a tree with a UC rank, if nobody has
 * @pmtu: path MTU, 0: unknown
 * @msg_size: bytes of a message, which is one packet over UC; 0: not chosen
 * @slots: number of slots, 0: not chosen
 */
void inc_job_uc(uint32_t pmtu, uint32_t *msg_size, uint32_t *slots)
{
	if (!*msg_size)
		*msg_size = pmtu ? pmtu : UC_MSG_SIZE;
	if (!*slots)
		*slots = UC_SLOTS;
}

/**
 * inc_job_hint() - explain why a switch has lost a member
 * @why: the kernel's name of the cause
 *
 * Return: more about it; empty: the name says all.
 */
const char *inc_job_hint(const char *why)
{
	if (!strcmp(why, "local-place-lost"))
		return ": its RDMA device lost its place in a retransmission, see debugging.rst";
	if (!strcmp(why, "mtu-exceeded"))
		return ": the MTU of a device on the way to it has become too small for its path MTU, see inc-tool check";
	return "";
}

/**
 * inc_job_say_wrong() - say whose request made a message fail
 * @msg: result: its text
 * @wrong: the request's member
 * @unlike: member whose request it disagrees with; NULL: none
 * @status: otherwise, what is wrong with it; NULL: unknown
 */
void inc_job_say_wrong(struct inc_rdv_msg *msg, const char *wrong,
		       const char *unlike, const char *status)
{
	if (unlike)
		snprintf(msg->text, sizeof(msg->text),
			 "message %u: the request of %s disagrees with that of %s",
			 msg->msg_id, wrong, unlike);
	else
		snprintf(msg->text, sizeof(msg->text),
			 "message %u: the request of %s is wrong (%s)",
			 msg->msg_id, wrong, status ? status : "?");
}
