// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Whether this process can use the switch, as far as it knows. To find out by
 * meeting takes 10 s where a rank fails alone, since the others wait for it, 3 s
 * where no daemon answers, 70 ms where there is no room. So each process tries
 * before its first meeting what it needs for one, in a thread, and remembers what
 * failed for a while. The ranks exchange what they know before they meet: a rank
 * that cannot use the switch keeps all from trying, by a decision of them all. The
 * clock here decides what a rank says, never what it does.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"
#include "conf/clock.h"

/* How long a failure counts, twice as long each time: there may soon be room. */
#define FULL_MIN_MS	1000
#define FULL_MAX_MS	60000
#define CANNOT_MIN_MS	60000
#define CANNOT_MAX_MS	3600000

/*
 * Guarded by @lock, as ranks may meet in a thread of their own:
 * @trying: the thread runs
 * @began: milliseconds; when the first one did; 0: it has not
 * @why: what has failed, COLL_INC_GOES: nothing
 * @until: milliseconds; that counts until then
 * @ms: how long the next failure counts
 * @trees: trees that this process has
 * @most: how many it had when there was no room for another one
 * @full_until: milliseconds; until then there is room for no more than @most
 * @full_ms: how long the next refusal counts
 * @failed: what failed last, which may count no more
 * @said: what libinc or the daemon has said of that
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	bool		trying;
	int64_t		began;
	enum coll_inc_why why;
	int64_t		until;
	int		ms;
	unsigned int	trees;
	unsigned int	most;
	int64_t		full_until;
	int		full_ms;
	enum coll_inc_why failed;
	char		said[COLL_INC_SAID];
} able = { .ms = CANNOT_MIN_MS, .full_ms = FULL_MIN_MS };

/* Tell until when what was found now counts; the next time twice as long. */
static int64_t until_when(int *ms, int most)
{
	int64_t until = now_ms() + *ms;

	*ms = 2 * *ms < most ? 2 * *ms : most;
	return until;
}

static void note_failure(enum coll_inc_why why, const char *said)
{
	able.failed = why;
	snprintf(able.said, sizeof(able.said), "%s", said);
	if (why == COLL_INC_FULL) {
		able.why = COLL_INC_GOES;
		able.most = able.trees;
		able.full_until = until_when(&able.full_ms, FULL_MAX_MS);
	} else {
		able.why = why;
		able.until = until_when(&able.ms, CANNOT_MAX_MS);
	}
}

/*
 * Remember that this process could not use the switch. Context: any thread.
 * @said: what libinc or the daemon has said
 */
void coll_inc_unable(enum coll_inc_why why, const char *said)
{
	pthread_mutex_lock(&lock);
	note_failure(why, said);
	pthread_mutex_unlock(&lock);
}

/*
 * Note that this process has got a tree. Context: any thread. A tree in place of one
 * that was freed tells nothing of the room for more.
 */
void coll_inc_tree_made(void)
{
	pthread_mutex_lock(&lock);
	able.why = COLL_INC_GOES;
	able.ms = CANNOT_MIN_MS;
	if (able.trees++ >= able.most) {
		able.full_until = 0;
		able.full_ms = FULL_MIN_MS;
	}
	pthread_mutex_unlock(&lock);
}

/* Note that one of its trees is gone. Context: any thread. */
void coll_inc_tree_gone(void)
{
	pthread_mutex_lock(&lock);
	able.trees--;
	pthread_mutex_unlock(&lock);
}

static void *try_switch(void *server)
{
	char said[COLL_INC_SAID];
	enum coll_inc_why why = coll_inc_check(server, said);

	free(server);
	pthread_mutex_lock(&lock);
	if (why)
		note_failure(why, said);
	else
		able.why = COLL_INC_GOES;
	able.trying = false;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/*
 * MPI_Finalize() does not wait for this thread, and frees the parameters. The
 * program's signals are not for it.
 */
static bool start_try(void)
{
	char *server = strdup(coll_inc_params.server ?: "");
	sigset_t all, old;
	pthread_t thread;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = server ? pthread_create(&thread, NULL, try_switch, server) :
		       ENOMEM;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		free(server);
	else
		pthread_detach(thread);
	return !ret;
}

/*
 * Try whether this process can use the switch, if that is due. Context: any
 * thread. Returns true if enough is known of it for a meeting.
 */
bool coll_inc_tried(void)
{
	int64_t now = now_ms();
	bool tried;

	pthread_mutex_lock(&lock);
	if (!able.trying && (!able.began || (able.why && able.until <= now)))
		able.trying = start_try();
	if (!able.began)
		able.began = now;
	/* A host that is off answers later: the ranks meet in another operation then. */
	tried = !able.trying || able.why ||
		now >= able.began + coll_inc_params.try_timeout_ms;
	pthread_mutex_unlock(&lock);
	return tried;
}

/*
 * Tell what this process knows. Context: any thread; coll_inc_tried(). Returns
 * COLL_INC_GOES, or why it can't use the switch.
 */
enum coll_inc_why coll_inc_able(void)
{
	enum coll_inc_why why;

	pthread_mutex_lock(&lock);
	why = able.why;
	if (!why && able.trees >= able.most && able.full_until > now_ms())
		why = COLL_INC_FULL;
	else if (!why && able.trying)
		why = COLL_INC_TRYING;
	pthread_mutex_unlock(&lock);
	return why;
}

/*
 * Tell what libinc or the daemon said. Context: any thread.
 * @why: why this process can't use the switch
 * @said: result; COLL_INC_SAID bytes; unchanged if something else failed last
 */
void coll_inc_able_said(enum coll_inc_why why, char *said)
{
	pthread_mutex_lock(&lock);
	if (able.failed == why)
		snprintf(said, COLL_INC_SAID, "%s", able.said);
	pthread_mutex_unlock(&lock);
}
