// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Whether this process can use the switch, to its knowledge. A failed meeting
 * takes 10 s if one rank fails alone, since the others wait for it, 3 s if no
 * daemon answers, 70 ms if there is no room. So before its first meeting each
 * process tests its access in a thread, and remembers failures for a while. The
 * ranks exchange their knowledge before they meet: if one cannot use the switch,
 * all decide not to try. The clock affects only a rank's values in that
 * exchange, never its own decision.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"
#include "conf/clock.h"

/* Validity of a failure, doubled each time: there may soon be room. */
#define FULL_MIN_MS	1000
#define FULL_MAX_MS	60000
#define CANNOT_MIN_MS	60000
#define CANNOT_MAX_MS	3600000

/*
 * Guarded by @lock, as ranks may meet in a thread of their own:
 * @trying: the thread runs
 * @began: milliseconds; when the first thread began; 0: not yet
 * @why: reason of the failure, COLL_INC_GOES: none
 * @until: milliseconds; when @why expires
 * @ms: how long the next failure counts
 * @trees: trees that this process has
 * @most: value of @trees when there was no room for another one
 * @full_until: milliseconds; until then there is room for no more than @most
 * @full_ms: how long the next refusal counts
 * @failed: last reason, which may have expired
 * @said: message of libinc or the daemon about @failed
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

/* Returns when a finding expires; doubles the validity of the next one. */
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
 * @said: message of libinc or the daemon
 */
void coll_inc_unable(enum coll_inc_why why, const char *said)
{
	pthread_mutex_lock(&lock);
	note_failure(why, said);
	pthread_mutex_unlock(&lock);
}

/*
 * Note that this process has got a tree. Context: any thread. A tree that replaces a
 * freed one does not show that there is room for more.
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

/* Note that a tree of this process is gone. Context: any thread. */
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
 * Start the try in a thread with its own copy of the parameters: MPI_Finalize()
 * frees them without waiting. The thread blocks all signals, which are for the
 * program.
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
 * Test whether this process can use the switch, if a test is due. Context: any
 * thread. Returns true if enough is known for a meeting.
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
	/* If the daemon's host is off, the ranks meet in a later operation. */
	tried = !able.trying || able.why ||
		now >= able.began + coll_inc_params.try_timeout_ms;
	pthread_mutex_unlock(&lock);
	return tried;
}

/*
 * Returns COLL_INC_GOES, or why this process can't use the switch. Context: any
 * thread, after coll_inc_tried().
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
 * Get the message of libinc or the daemon. Context: any thread.
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
