// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Recovery from the loss of a manager: a thread searches for it, or for another one
 * that knows the group; then the rank's unanswered messages are sent again. Context
 * of all functions, unless stated otherwise: the stream's lock is held.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "conf/array.h"
#include "conf/clock.h"
#include "conf/thread.h"

#define CONNECT_MS	1000	/* to find any manager; EACH_MS more for each */
#define EACH_MS		250
#define AGAIN_MS	100	/* between attempts to find a manager */
#define JOIN_MS		10000	/* to find a leader, without a tree yet */
#define REJOIN_MS	30000	/* the same, if once accepted by a manager */
#define WORKED_MS	500	/* a stream that lasts this long has worked */

/* --- Unanswered messages ------------------------------------------------- */

/* Record the rank's messages, to be repeated if a stream loses them. */
void am_note_said(struct inc_am *am, const struct inc_rdv_msg *msg)
{
	if (msg->type == INC_RDV_JOIN)
		am->asked = msg->join;
	/* Earlier messages are about the failed tree. */
	if (msg->type == INC_RDV_REJOIN) {
		am->rejoin = msg->join;
		am->owed &= ~(1U << INC_RDV_RTS | 1U << INC_RDV_LOST);
	}
	/* The rank repeats "lossy" itself, if needed. */
	if (msg->type != INC_RDV_LOSSY)
		am->owed |= 1U << msg->type;
}

static void say_join(struct inc_am *am)
{
	struct am_message msg = {
		.resume = am->tree_id,
		.tree_id = am->tree_id,
		.rdv = { .type = INC_RDV_JOIN, .join = am->asked },
	};

	memcpy(msg.reservation, am->reservation, sizeof(msg.reservation));
	am_stream_send(&am->stream, &msg);
}

/* Repeat over a new stream the messages that the last one may have lost. */
void am_say_again(struct inc_am *am)
{
	static const enum inc_rdv_type types[] = {
		INC_RDV_REJOIN, INC_RDV_RTS, INC_RDV_LOST, INC_RDV_LEAVE,
	};
	struct am_message msg;
	size_t i;

	if (am->tree_id || am->owed & 1U << INC_RDV_JOIN)
		say_join(am);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (!(am->owed & 1U << types[i]))
			continue;
		msg = (struct am_message){ .rdv.type = types[i] };
		if (types[i] == INC_RDV_REJOIN)
			msg.rdv.join = am->rejoin;
		am_stream_send(&am->stream, &msg);
	}
	channel_flush(am->stream.channel);
}

/* --- The search ---------------------------------------------------------- */

/*
 * Is the manager lost, or not serving? UNAVAILABLE also means a group refused
 * because the fabric is unreachable: then all its ranks end.
 */
static bool manager_fails(const struct inc_am *am)
{
	return am->end.status == WIRE_UNAVAILABLE &&
	       strncmp(am->end.text, AM_GROUP, strlen(AM_GROUP)) != 0;
}

/* Does a manager say that it, or another one, will soon take the stream? */
static bool is_begun(const char *text)
{
	return !strncmp(text, AM_STARTING, strlen(AM_STARTING)) ||
	       !strncmp(text, AM_NO_LEADER, strlen(AM_NO_LEADER));
}

/*
 * How long to search for another manager. A single manager that refused the
 * stream will refuse it again, unless it says otherwise. But on a busy host, the
 * first connection may merely have exceeded the manager's limit for the first
 * message.
 */
static int64_t get_patience(const struct inc_am *am)
{
	if (am->tree_id)
		return am->resume_ms;
	if (am->worked)
		return REJOIN_MS;
	return am->several || am->opened < 2 ? JOIN_MS : 0;
}

/* Mark all sockets of the search as unused. */
void am_forget_sockets(struct inc_am *am)
{
	unsigned int i;

	for (i = 0; i < INC_REACH_SEEN; i++)
		am->search.connecting.fd[i] = -1;
}

/*
 * Connect to a manager not tried in this round. A silent one does not delay the
 * attempts at the others.
 */
static int try_next(struct inc_am *am, int64_t left)
{
	int64_t limit = CONNECT_MS + inc_reach_count(am->others) * EACH_MS;

	if (!inc_reach_left(am->others))
		inc_reach_again(am->others);
	return inc_reach_next(am->others, (int)(limit < left ? limit : left),
			      &am->search.connecting);
}

static void *run_search(void *arg)
{
	const struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000L };
	struct inc_am *am = arg;
	struct am_search *s = &am->search;
	const uint64_t one = 1;
	int64_t left;

	while (s->fd < 0 && !atomic_load(&s->stop)) {
		nanosleep(&pause, NULL);
		left = s->until - now_ms();
		if (left <= 0)
			break;
		s->fd = try_next(am, left);
	}
	atomic_store(&s->over, true);
	if (write(am->wake, &one, sizeof(one)) < 0)
		return NULL;	/* it has been woken already */
	return NULL;
}

/*
 * Start a search for the manager, or another one, after the stream has ended.
 * Returns false if a search cannot help.
 */
bool am_search_begin(struct inc_am *am)
{
	struct am_search *s = &am->search;
	int64_t now = now_ms();

	am->worked |= now - am->opened_at >= WORKED_MS ||
		      is_begun(am->end.text);
	if (!manager_fails(am))
		return false;
	if (!am->lost_at)
		am->lost_at = now;
	s->until = am->lost_at + get_patience(am);
	if (s->until <= now)
		return false;
	s->fd = -1;
	atomic_store(&s->over, false);
	s->runs = !thread_create(&s->thread, run_search, am);
	return s->runs;
}

/* Ask whether a search is over. */
bool am_search_is_over(const struct inc_am *am)
{
	return am->search.runs && atomic_load(&am->search.over);
}

/* Take a search's result. Returns the connection, or -1 if there is none. */
int am_search_end(struct inc_am *am)
{
	struct am_search *s = &am->search;
	int fd = s->fd;

	pthread_join(s->thread, NULL);
	s->runs = false;
	s->fd = -1;
	am_forget_sockets(am);
	if (fd >= 0)
		snprintf(am->server, sizeof(am->server), "%s",
			 inc_reach_addr(am->others,
					inc_reach_which(am->others)));
	return fd;
}

/* End a search. Waits for it. Context: nobody uses the stream any more. */
void am_search_stop(struct inc_am *am)
{
	int fd;

	if (!am->search.runs)
		return;
	atomic_store(&am->search.stop, true);
	fd = am_search_end(am);
	if (fd >= 0)
		close(fd);
}
