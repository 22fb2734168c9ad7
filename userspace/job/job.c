// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The ranks of a job. After inc_job_init(), only inc_job_set() and
 * inc_job_set_rts() change counts.
 */
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "job/job.h"
#include "rendezvous/proto.h"

#define SECRET_DIGITS	12	/* hexadecimal, of a name that nobody can guess */
/* Defaults of trees with a UC rank: as many bytes in flight as over RC. */
#define UC_SLOTS	1024
#define UC_MSG_SIZE	1024

/*
 * Begin a job, or restart it with other ranks.
 * @size: bytes per rank, which begins with a struct inc_job_rank
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

/* Set the state of a rank. A rank that is not present cannot send, either. */
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

/* Record whether a rank's queue pair is ready. */
void inc_job_set_rts(struct inc_job *job, struct inc_job_rank *r, bool rts)
{
	job->rts += (uint32_t)rts - r->rts;
	r->rts = rts;
}

/*
 * Check whether a rank has the key of the job's first one, or has none like that.
 * Returns true if so. Both have digests.
 */
bool inc_job_key_fits(const struct inc_rdv_join *first,
		      const struct inc_rdv_join *join)
{
	return first->has_key == join->has_key &&
	       !CRYPTO_memcmp(first->key, join->key, sizeof(join->key));
}

/* Say how a rank's key differs. */
const char *inc_job_key_why(const struct inc_rdv_join *first,
			    const struct inc_rdv_join *join)
{
	if (!join->has_key)
		return "no key, unlike the first rank";
	if (!first->has_key)
		return "a key, and the first rank has none";
	return "another key than the first rank: is it of this job?";
}

/*
 * Record that a rank has no member.
 * @r: rank that is not present; while the job is open, its place is free again
 */
void inc_job_vacate(struct inc_job *job, struct inc_job_rank *r)
{
	inc_job_set(job, r, job->phase == INC_JOB_OPEN ? RANK_ABSENT : RANK_GONE);
}

/*
 * Find a rank in a state. Returns the daemon's rank, or NULL if there is none.
 * @after: the rank before the first to look at; NULL: look at all
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

/*
 * Check whether a job waits for a rank. A rank that has come and gone is not
 * waited for: it did not want to wait, either. Returns true if so.
 * @told: the ranks that are present were told where to connect
 */
bool inc_job_misses(const struct inc_job *job, const struct inc_job_rank *r,
		    bool told)
{
	if (job->phase >= INC_JOB_READY)
		return false;
	return !r->arrived || (told && r->state == RANK_PRESENT && !r->rts);
}

/*
 * Add ranks to a list for people: "ranks 0, 2-3", "rank 0". Returns false if
 * they do not fit; the list then names the same ranks as before.
 * @len: size of @list in bytes
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

/*
 * Begin the end of a job, unless it has begun. Returns true if the job is over,
 * since no rank is present.
 * @job: failed job, or one after INC_JOB_OPEN that has lost a rank
 */
bool inc_job_fail(struct inc_job *job, int64_t now)
{
	if (job->phase < INC_JOB_ENDING) {
		job->phase = INC_JOB_ENDING;
		job->deadline = now + INC_JOB_ENDING_MS;
	}
	return !job->present;
}

/*
 * Handle the departure of a rank. Returns true if the job is over.
 * @wide: the job has ranks at other switches, which the last results of ranks
 *	here may not have reached yet
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

/*
 * Have an ending job be over soon, whichever ranks are present. Members of
 * ranks that have just left in order stay for the usual time. After that the
 * tree is of no use: the ranks that are present know that the job is over.
 * @job: job that is ending; others need the room of its tree
 */
void inc_job_hurry(struct inc_job *job, int64_t now)
{
	int64_t at = job->leave_at ? job->leave_at : now;

	if (at < job->deadline)
		job->deadline = at;
}

/*
 * Get the time when inc_job_due() has an answer. Returns milliseconds;
 * INT64_MAX: never.
 */
int64_t inc_job_deadline(const struct inc_job *job)
{
	int64_t at = job->leave_at ? job->leave_at : INT64_MAX;

	return job->phase != INC_JOB_READY && job->deadline < at ?
	       job->deadline : at;
}

/*
 * Get the action that is due.
 * @job: job that is not over; after INC_JOB_LEAVE the caller clears @leave_at
 */
enum inc_job_due inc_job_due(const struct inc_job *job, int64_t now)
{
	if (job->phase != INC_JOB_READY && job->deadline <= now)
		return job->phase == INC_JOB_ENDING ? INC_JOB_END : INC_JOB_LATE;
	if (!job->leave_at || job->leave_at > now)
		return INC_JOB_NOTHING;
	return job->present ? INC_JOB_LEAVE : INC_JOB_END;
}

/*
 * Get the length of the name that a job began with: without what inc_job_secret()
 * adds when its ranks change to UC, or move.
 */
size_t inc_job_first(const char *job)
{
	const char *tail = strrchr(job, '~');

	if (!tail || tail == job || strlen(tail) != 4 + SECRET_DIGITS ||
	    (strncmp(tail, "~uc-", 4) && strncmp(tail, "~mv-", 4)) ||
	    strspn(tail + 4, "0123456789abcdef") != SECRET_DIGITS)
		return strlen(job);
	return (size_t)(tail - job);
}

/* Check whether a job's name was made by inc_job_secret() for such a job. */
bool inc_job_is_other(const char *job)
{
	return job[inc_job_first(job)];
}

/*
 * Make the name of another job for a job's ranks to join. It ends with a random
 * number: anybody who guessed the name could take a rank's place in a job that
 * is running. Returns false: @job's name is too long, or there is no random
 * number.
 * @msg: result: the name is its text
 */
bool inc_job_secret(struct inc_rdv_msg *msg, const char *job, const char *what)
{
	uint64_t secret;
	int len;

	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		return false;
	len = snprintf(msg->text, sizeof(msg->text), "%.*s~%s-%0*llx",
		       (int)inc_job_first(job), job, what, SECRET_DIGITS,
		       (unsigned long long)secret >> (64 - 4 * SECRET_DIGITS));
	return len > 0 && len <= INC_RDV_JOB_MAX;
}

/*
 * Decide whether ranks that lose packets change to UC now. Returns true if they
 * are to be told.
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

/*
 * Prepare a message that has ranks move to another tree. Returns false if a rank does
 * not support that, or there is no name for the other job.
 */
bool inc_job_move(const struct inc_rdv_join *like, struct inc_rdv_msg *msg)
{
	*msg = (struct inc_rdv_msg){ .type = INC_RDV_CHANGE, .keep = true };
	return like->move && inc_job_secret(msg, like->job, "mv");
}

/* --- Settings and texts of both daemons ----------------------------------- */

static bool values_differ(uint32_t is, uint32_t wish)
{
	return is && wish && is != wish;
}

static void take_value(uint32_t *is, uint32_t wish)
{
	if (wish)
		*is = wish;
}

/*
 * Add a rank's request to the others' requests. Returns false if it requests
 * another tree; @like is not changed then.
 * @like: the others' requests: tree, the lowest mtu, uc if any rank uses it,
 *	change and move if all support it
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
	like->move &= join->move;
	return true;
}

/*
 * Choose settings of a tree with a UC rank, unless they were requested.
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

/*
 * Explain why a switch has lost a member. Returns text to follow @why; empty:
 * @why says all.
 */
const char *inc_job_hint(const char *why)
{
	if (!strcmp(why, "local-place-lost"))
		return ": its RDMA device lost its place in a retransmission, see debugging.rst";
	if (!strcmp(why, "mtu-exceeded"))
		return ": the MTU of a device on the way to it has become too small for its path MTU, see inc-tool check";
	if (!strcmp(why, "retry-exceeded"))
		return ": it acknowledges nothing: is its host up, and lets in UDP port 4791, and packets of the path MTU?";
	return "";
}

/*
 * Describe whose request made a message fail.
 * @unlike: member whose request conflicts with it; NULL: none
 * @status: if @unlike is NULL: its fault; NULL: unknown
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
