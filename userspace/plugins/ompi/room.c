// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What this process knows of the room at the switch. To ask takes some 70 ms, as a
 * rank that is refused may be the first of those that would not be: so for a while
 * after a refusal the ranks of other communicators do not ask. What one of them
 * knows the others take for granted, since they exchange it.
 */
#include <pthread.h>
#include <stdio.h>

#include "coll_inc.h"
#include "conf/clock.h"

/* How long a refusal counts, twice as long each time. */
#define FULL_MIN_MS	100
#define FULL_MAX_MS	1600

/*
 * Guarded by @lock, as ranks may meet in a thread of their own:
 * @until: milliseconds; there is no room until then; 0: there may be
 * @ms: how long the next refusal counts
 * @said: and what the daemon has said
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int64_t	until;
	int	ms;
	char	said[COLL_INC_SAID];
} room = { .ms = FULL_MIN_MS };

/**
 * coll_inc_room_full() - remember that there is no room
 * @said: what the daemon has said
 *
 * Context: Any thread.
 */
void coll_inc_room_full(const char *said)
{
	pthread_mutex_lock(&lock);
	room.until = now_ms() + room.ms;
	room.ms = room.ms < FULL_MAX_MS ? 2 * room.ms : FULL_MAX_MS;
	snprintf(room.said, sizeof(room.said), "%s", said);
	pthread_mutex_unlock(&lock);
}

/**
 * coll_inc_room_freed() - remember that there may be room
 *
 * A tree of this process was made, or is gone.
 *
 * Context: Any thread.
 */
void coll_inc_room_freed(void)
{
	pthread_mutex_lock(&lock);
	room.until = 0;
	room.ms = FULL_MIN_MS;
	pthread_mutex_unlock(&lock);
}

/**
 * coll_inc_room_none() - check whether there is known to be no room
 *
 * Context: Any thread.
 * Return: true if so.
 */
bool coll_inc_room_none(void)
{
	bool none;

	pthread_mutex_lock(&lock);
	none = room.until > now_ms();
	pthread_mutex_unlock(&lock);
	return none;
}

/**
 * coll_inc_room_why() - tell what the daemon said when there was no room
 * @said: result; COLL_INC_SAID bytes; empty: it has not refused this process
 *
 * Context: Any thread.
 */
void coll_inc_room_why(char *said)
{
	pthread_mutex_lock(&lock);
	snprintf(said, COLL_INC_SAID, "%s", room.said);
	pthread_mutex_unlock(&lock);
}
