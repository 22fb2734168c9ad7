// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See share.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http2/share.h"

#define NONE	SIZE_MAX	/* no limit */
#define MIB	(1UL << 20)

static const char *kinds[SHARE_KINDS] = {
	"connection", "host", "tenant", "manager",
};

static struct {
	size_t		most[SHARE_KINDS];
	const char	*full;
	const char	*greedy;
} limits[SHARE_WHATS] = {
	[SHARE_CONNECTIONS] = { { NONE, 32768, 32768, 65536 },
		"this %s has %zu connections already: end some of them",
		"connections" },
	[SHARE_IDLE] = { { NONE, 8192, NONE, 16384 },
		"this %s has %zu connections without a call: try again",
		"connections without a call" },
	[SHARE_HANDSHAKES] = { { NONE, 128, NONE, 1024 },
		"this %s has %zu handshakes under way: try again",
		"handshakes" },
	[SHARE_CALLS] = { { 1024, 32768, 65536, 131072 },
		"this %s has %zu calls already: end some of them",
		"calls" },
	[SHARE_SILENT] = { { 1024, 4096, 8192, 16384 },
		"this %s has %zu calls that were begun, and nothing was said: try again",
		"calls without a message" },
	[SHARE_HELD] = { { 1 * MIB, 16 * MIB, 32 * MIB, 64 * MIB },
		"this %s has sent %zu bytes of messages that are not whole: try again",
		"bytes of incomplete messages" },
	[SHARE_QUEUED] = { { 4 * MIB, 32 * MIB, 128 * MIB, 256 * MIB },
		"too many answers wait to be read: of this %s %zu bytes",
		"bytes of answers that nobody reads" },
};

static struct index shares;

static struct share *find_share(enum share_kind kind, const char *name)
{
	uint64_t hash = index_hash_text(kind, name);
	struct index_node *node;
	struct share *s;
	int i;

	for (node = index_first(&shares, hash); node; node = index_next(node)) {
		s = (struct share *)node;
		if (s->kind == kind && !strcmp(s->name, name))
			return s;
	}
	s = calloc(1, sizeof(*s) + strlen(name) + 1);
	if (!s)
		return NULL;
	s->kind = kind;
	for (i = 0; i < HOSTQS; i++)
		hostq_init(&s->queues[i]);
	lane_init(&s->lane);
	strcpy(s->name, name);
	/* Connections are not looked up. */
	if (kind != SHARE_CONNECTION)
		index_add(&shares, &s->node, hash);
	return s;
}

/* Set the name that texts use for the whole server: manager, say; constant. */
void share_self(const char *name)
{
	kinds[SHARE_ALL] = name;
}

/*
 * Join a share. Returns false: no memory.
 * @kind: kind, of which @set has no share yet
 * @name: host or tenant; else ""
 */
bool share_join(struct share_set *set, enum share_kind kind, const char *name)
{
	struct share *s = find_share(kind, name);

	_Static_assert(offsetof(struct share, node) == 0, "see find_share()");
	set->by_kind[kind] = s;
	if (s)
		s->uses++;
	return s;
}

/*
 * Join another share of a kind. Returns false: no memory; @set then has no
 * share of that kind.
 * @set: shares, of which nothing is in use
 */
bool share_change(struct share_set *set, enum share_kind kind, const char *name)
{
	struct share *s = set->by_kind[kind];
	struct share_set old = { { NULL } };

	if (s && !strcmp(s->name, name))
		return true;
	old.by_kind[kind] = s;
	share_leave(&old);
	return share_join(set, kind, name);
}

/* Join the same shares. */
void share_copy(struct share_set *to, const struct share_set *from)
{
	int kind;

	*to = *from;
	for (kind = 0; kind < SHARE_KINDS; kind++)
		if (to->by_kind[kind])
			to->by_kind[kind]->uses++;
}

/*
 * Keep a share from being freed.
 * @set: result, for share_leave(); had no share of this kind
 */
void share_hold(struct share_set *set, struct share *s)
{
	set->by_kind[s->kind] = s;
	s->uses++;
}

/*
 * Say why a connection gives way. Returns the text, valid until the next call.
 */
const char *share_greedy(enum share_kind kind, enum share_what what)
{
	static char text[160];

	snprintf(text, sizeof(text), "the pool is full, and its %s has most %s",
		 kinds[kind], limits[what].greedy);
	return text;
}

/*
 * Leave all shares.
 * @set: shares, of which nothing is in use
 */
void share_leave(struct share_set *set)
{
	struct share *s;
	int kind;

	for (kind = 0; kind < SHARE_KINDS; kind++) {
		s = set->by_kind[kind];
		set->by_kind[kind] = NULL;
		if (!s || --s->uses)
			continue;
		index_remove(&s->node);
		free(s);
	}
}

/*
 * Tell to whom the use of shares is charged. Returns the tenant, if it has a
 * name; else the host; else the connection.
 * @set: shares, at least a connection's
 */
struct share *share_owner(const struct share_set *set)
{
	struct share *s = set->by_kind[SHARE_TENANT];

	if (!s || !*s->name)
		s = set->by_kind[SHARE_HOST];
	return s ? s : set->by_kind[SHARE_CONNECTION];
}

/*
 * Get the lane of the main loop in which a connection has its turns. Returns
 * the lane of share_owner(), valid as long as the share, or a copy of it.
 * @set: shares, at least a connection's
 */
struct lane *share_lane(const struct share_set *set)
{
	return &share_owner(set)->lane;
}

/* Get a limit. Returns the number. */
size_t share_limit(enum share_kind kind, enum share_what what)
{
	return limits[what].most[kind];
}

/*
 * Lower a limit.
 * @most: new limit; if it is not lower, nothing changes
 */
void share_lower(enum share_kind kind, enum share_what what, size_t most)
{
	if (most < limits[what].most[kind])
		limits[what].most[kind] = most;
}

/*
 * Take from all shares of a set. Returns -1, or the kind of the share that is
 * used up; then nothing was taken.
 * @len: size of @why in bytes
 */
int share_take(struct share_set *set, enum share_what what, size_t n,
	       char *why, size_t len)
{
	const struct share *s;
	size_t most;
	int kind;

	for (kind = 0; kind < SHARE_KINDS; kind++) {
		s = set->by_kind[kind];
		most = limits[what].most[kind];
		/* A single answer may be larger than the limit. */
		if (!s || (what == SHARE_QUEUED ? s->used[what] <= most :
						  s->used[what] + n <= most))
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(why, len, limits[what].full, kinds[kind], most);
#pragma GCC diagnostic pop
		return kind;
	}
	for (kind = 0; kind < SHARE_KINDS; kind++)
		if (set->by_kind[kind])
			set->by_kind[kind]->used[what] += n;
	return -1;
}

/* Give back to all shares of a set. */
void share_give(struct share_set *set, enum share_what what, size_t n)
{
	int kind;

	for (kind = 0; kind < SHARE_KINDS; kind++)
		if (set->by_kind[kind])
			set->by_kind[kind]->used[what] -= n;
}

/*
 * Ask whether something may happen. Returns false if it happens too often.
 * @n: how often; negative: so many more are allowed
 * @a_second: allowance that each second adds
 */
bool allowance_take(struct allowance *a, int64_t now, int64_t n, int64_t most,
		    int64_t a_second)
{
	int64_t grown;

	if (!a->counted_at) {
		a->left = most;
		a->counted_at = now;
	}
	grown = (now - a->counted_at) * a_second / 1000;
	/* Time too short for one more counts the next time. */
	if (grown) {
		a->left += grown;
		a->counted_at += grown * 1000 / a_second;
	}
	if (a->left > most)
		a->left = most;
	a->left -= n;
	return a->left >= 0;
}
