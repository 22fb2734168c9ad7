// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See share.h. A connection that takes too much is cut: no client of ours does.
 * A host or a tenant has many clients; there, who comes last is refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/share.h"
#include "base/index.h"
#include "base/loop.h"

/**
 * struct share - what one has
 * @node: found by kind and name
 * @kind: kind
 * @calls: calls, which hold it
 * @silent: those of them whose client has said nothing yet
 * @queued: bytes of answers that are not sent
 * @name: connection, address, or tenant
 */
struct share {
	struct index_node	node;
	enum share_kind		kind;
	unsigned int		calls;
	unsigned int		silent;
	size_t			queued;
	char			name[];
};

/**
 * struct limit - what one may have
 * @calls: calls
 * @silent: those of them whose client has said nothing yet
 * @queued: bytes of answers, besides one answer
 * @what: its name in messages
 */
struct limit {
	unsigned int	calls;
	unsigned int	silent;
	size_t		queued;
	const char	*what;
};

static const struct limit limits[SHARE_KINDS] = {
	[SHARE_CONNECTION] = { 1024, 1024, 4 << 20, "connection" },
	[SHARE_HOST] = { 32768, 4096, 32 << 20, "host" },
	[SHARE_TENANT] = { 65536, 8192, 128 << 20, "tenant" },
};

static struct index shares;

static struct share *share_get(enum share_kind kind, const char *name,
			       size_t len)
{
	uint64_t hash = index_hash(kind, name, len);
	struct index_node *node;
	struct share *s;

	for (node = index_first(&shares, hash); node; node = index_next(node)) {
		s = container_of(node, struct share, node);
		if (s->kind == kind && !strncmp(s->name, name, len) &&
		    !s->name[len])
			return s;
	}
	s = calloc(1, sizeof(*s) + len + 1);
	if (!s)
		return NULL;
	s->kind = kind;
	memcpy(s->name, name, len);
	index_add(&shares, &s->node, hash);
	return s;
}

static void take(struct share_use *u, enum share_kind kind, const char *name,
		 size_t len)
{
	struct share *s = len ? share_get(kind, name, len) : NULL;

	u->of[kind] = s;
	if (!s)
		return;
	s->calls++;
	s->silent += u->silent;
}

static bool is_full(const struct share *s, char *why, size_t len)
{
	const struct limit *l = &limits[s->kind];

	if (s->calls > l->calls)
		snprintf(why, len, "this %s has %u calls already: end some of them",
			 l->what, l->calls);
	else if (s->silent > l->silent)
		snprintf(why, len, "%u calls of this %s have been begun, and nothing was said: try again",
			 l->silent, l->what);
	else
		return false;
	return true;
}

/**
 * share_enter() - take note of a call
 * @u: result
 * @peer: "ipv4:ADDRESS:PORT" or "ipv6:[ADDRESS]:PORT"; calls from elsewhere, by a
 *	UNIX socket, have no connection and no host
 * @who: who calls
 * @why: result: why the call is refused
 * @len: size of @why in bytes
 *
 * Return: 0, -ENOBUFS: too much; share_leave() has to be called in both cases.
 */
int share_enter(struct share_use *u, const char *peer,
		const struct identity *who, char *why, size_t len)
{
	const char *colon = strrchr(peer, ':');
	enum share_kind kind;

	u->silent = true;
	if (!strncmp(peer, "ipv", 3) && colon) {
		u->meter = meter_get(peer);
		take(u, SHARE_CONNECTION, peer, strlen(peer));
		take(u, SHARE_HOST, peer, (size_t)(colon - peer));
	}
	take(u, SHARE_TENANT, who->tenant, strlen(who->tenant));
	for (kind = 0; kind < SHARE_KINDS; kind++) {
		if (!u->of[kind] || !is_full(u->of[kind], why, len))
			continue;
		if (kind == SHARE_CONNECTION)
			meter_cut(u->meter, "it has more calls than one client needs");
		return -ENOBUFS;
	}
	if (meter_take(u->meter, 0))
		return 0;
	snprintf(why, len, "calls come faster than one client needs");
	return -ENOBUFS;
}

/**
 * share_speak() - a call's client has said what it wants
 * @u: what the call has
 */
void share_speak(struct share_use *u)
{
	enum share_kind kind;

	for (kind = 0; u->silent && kind < SHARE_KINDS; kind++)
		if (u->of[kind])
			u->of[kind]->silent--;
	u->silent = false;
}

/**
 * share_leave() - a call is over
 * @u: what it has; of answers nothing any more
 */
void share_leave(struct share_use *u)
{
	enum share_kind kind;
	struct share *s;

	share_speak(u);
	for (kind = 0; kind < SHARE_KINDS; kind++) {
		s = u->of[kind];
		if (!s || --s->calls)
			continue;
		index_remove(&s->node);
		free(s);
	}
	meter_put(u->meter);
}

/**
 * share_queue() - take note of an answer
 * @u: what the call has
 * @bytes: of the answer
 *
 * Return: false: too many wait to be read already.
 */
bool share_queue(struct share_use *u, size_t bytes)
{
	enum share_kind kind;

	for (kind = 0; kind < SHARE_KINDS; kind++) {
		if (!u->of[kind] || u->of[kind]->queued <= limits[kind].queued)
			continue;
		if (kind == SHARE_CONNECTION)
			meter_cut(u->meter, "it does not read its answers");
		return false;
	}
	for (kind = 0; kind < SHARE_KINDS; kind++)
		if (u->of[kind])
			u->of[kind]->queued += bytes;
	return true;
}

/**
 * share_unqueue() - an answer was sent, or dropped
 * @u: what the call has
 * @bytes: as for share_queue()
 */
void share_unqueue(struct share_use *u, size_t bytes)
{
	enum share_kind kind;

	for (kind = 0; kind < SHARE_KINDS; kind++)
		if (u->of[kind])
			u->of[kind]->queued -= bytes;
}
