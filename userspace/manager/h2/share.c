// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See share.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h2/share.h"

#define NONE	SIZE_MAX	/* it is not limited there */
#define MIB	(1UL << 20)

static const char *const kinds[SHARE_KINDS] = {
	"connection", "host", "tenant", "manager",
};

static struct {
	size_t		most[SHARE_KINDS];
	const char	*full;
} limits[SHARE_WHATS] = {
	[SHARE_CONNECTIONS] = { { NONE, 32768, NONE, 65536 },
		"this %s has %zu connections already: end some of them" },
	[SHARE_IDLE] = { { NONE, 8192, NONE, 16384 },
		"this %s has %zu connections without a call: try again" },
	[SHARE_HANDSHAKES] = { { NONE, 128, NONE, 1024 },
		"this %s has %zu handshakes under way: try again" },
	[SHARE_CALLS] = { { 1024, 32768, 65536, 131072 },
		"this %s has %zu calls already: end some of them" },
	[SHARE_SILENT] = { { 1024, 4096, 8192, 16384 },
		"this %s has %zu calls that were begun, and nothing was said: try again" },
	[SHARE_HELD] = { { 1 * MIB, 16 * MIB, 32 * MIB, 64 * MIB },
		"this %s has sent %zu bytes of messages that are not whole: try again" },
	[SHARE_QUEUED] = { { 4 * MIB, 32 * MIB, 128 * MIB, 256 * MIB },
		"too many answers wait to be read: of this %s %zu bytes" },
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
	strcpy(s->name, name);
	/* Connections are not searched. */
	if (kind != SHARE_CONNECTION)
		index_add(&shares, &s->node, hash);
	return s;
}

/**
 * share_join() - become one of a kind
 * @set: whose shares
 * @kind: kind, of which it has none yet
 * @name: host or tenant; of a connection ""
 *
 * Return: false: no memory.
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

/**
 * share_copy() - become the same of each kind
 * @to: result
 * @from: whose shares
 */
void share_copy(struct share_set *to, const struct share_set *from)
{
	int kind;

	*to = *from;
	for (kind = 0; kind < SHARE_KINDS; kind++)
		if (to->by_kind[kind])
			to->by_kind[kind]->uses++;
}

/**
 * share_leave() - stop being one
 * @set: whose shares, of which it has nothing
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

/**
 * share_lane() - tell with whom one shares the main loop's time
 * @set: whose shares, at least the connection's
 *
 * Return: its tenant's lane; without a tenant its host's, without a host its
 * connection's. It is there as long as the share, or a copy of it.
 */
struct lane *share_lane(const struct share_set *set)
{
	struct share *s = set->by_kind[SHARE_TENANT];

	if (!s)
		s = set->by_kind[SHARE_HOST];
	return s ? &s->lane : &set->by_kind[SHARE_CONNECTION]->lane;
}

/**
 * share_limit() - tell how much one may have
 * @kind: of this kind
 * @what: of what
 *
 * Return: number.
 */
size_t share_limit(enum share_kind kind, enum share_what what)
{
	return limits[what].most[kind];
}

/**
 * share_lower() - have one have less than usual
 * @kind: of this kind
 * @what: of what
 * @most: number; if it is not less, nothing changes
 */
void share_lower(enum share_kind kind, enum share_what what, size_t most)
{
	if (most < limits[what].most[kind])
		limits[what].most[kind] = most;
}

/**
 * share_take() - have more
 * @set: whose shares
 * @what: of what
 * @n: how much
 * @why: result: why not
 * @len: size of @why in bytes
 *
 * Return: -1, or the kind that has too much already; then nothing was taken.
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
		/* One answer may be larger than that. */
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

/**
 * share_give() - have less
 * @set: whose shares
 * @what: of what
 * @n: how much
 */
void share_give(struct share_set *set, enum share_what what, size_t n)
{
	int kind;

	for (kind = 0; kind < SHARE_KINDS; kind++)
		if (set->by_kind[kind])
			set->by_kind[kind]->used[what] -= n;
}

/**
 * allowance_take() - let something happen
 * @a: allowance; zeroed it is whole
 * @now: milliseconds
 * @n: how often; negative: more is allowed
 * @most: so often at once
 * @a_second: and so often again each second
 *
 * Return: false if that is too often.
 */
bool allowance_take(struct allowance *a, int64_t now, int64_t n, int64_t most,
		    int64_t a_second)
{
	if (!a->counted_at) {
		a->left = most;
		a->counted_at = now;
	}
	/* What is left of a second counts the next time. */
	if ((now - a->counted_at) * a_second >= 1000) {
		a->left += (now - a->counted_at) * a_second / 1000;
		a->counted_at = now;
	}
	if (a->left > most)
		a->left = most;
	a->left -= n;
	return a->left >= 0;
}
