// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The hosts of connections: which get no new one for a while, and whose connection
 * gives way when there are too many: the oldest of the host that has most.
 */
#include <stdio.h>
#include <string.h>

#include "h2/conn.h"

#define LOOKS		64	/* at hosts that may give way */
#define OWN_MS		100	/* until a handshake gives way to others of its host */
#define BARRED_TEXT	"; its host gets no new connection for 10 s"

static const char *host_of(const struct h2_conn *c)
{
	return c->share.by_kind[SHARE_HOST] ?
	       c->share.by_kind[SHARE_HOST]->name : "";
}

/**
 * host_barred() - ask whether a connection's host gets no new connection
 * @s: server
 * @c: connection
 *
 * Return: true if so.
 */
bool host_barred(const struct h2_server *s, const struct h2_conn *c)
{
	unsigned int i;

	for (i = 0; i < BARRED; i++)
		if (s->barred[i].until > s->now && *host_of(c) &&
		    !strcmp(s->barred[i].host, host_of(c)))
			return true;
	return false;
}

/**
 * host_bar() - keep the host of a connection that is cut out for a while
 * @s: server
 * @c: connection
 * @why: what was wrong
 */
void host_bar(struct h2_server *s, const struct h2_conn *c, const char *why)
{
	char text[256];
	unsigned int i, k = 0;

	for (i = 0; i < BARRED; i++) {
		if (!strcmp(s->barred[i].host, host_of(c))) {
			k = i;
			break;
		}
		/* The one that is free, or would be first. */
		if (s->barred[i].until < s->barred[k].until)
			k = i;
	}
	snprintf(s->barred[k].host, sizeof(s->barred[k].host), "%s",
		 host_of(c));
	s->barred[k].until = s->now + BARRED_MS;
	snprintf(text, sizeof(text), "%s%s", why,
		 *host_of(c) ? BARRED_TEXT : "");
	s->handler->cut(s->ctx, c->peer, text);
}

/* Returns the oldest connection of a host, if it may give way, or NULL. */
static struct h2_conn *find_oldest(const struct h2_server *s,
				   const struct hostq *l, bool shakes,
				   int64_t stale_ms)
{
	struct hostq_node *p = TAILQ_FIRST(&l->nodes);
	struct h2_conn *c;

	if (!p)
		return NULL;
	if (!shakes)
		return container_of(p, struct h2_conn, idle_node);
	c = container_of(p, struct h2_conn, shake_node);
	return c->since + stale_ms <= s->now ? c : NULL;
}

/**
 * host_greedy() - find a connection that may give way
 * @s: server
 * @c: to this one; NULL: to any
 * @full: of what kind that has too much
 * @shakes: one that has shaken hands for a second, or a tenth of it if it is of
 *	@c's host, or whose host has more of those than @c's; else one that has no
 *	call
 *
 * Return: the oldest one of the host that has most, or NULL. Of many hosts not all
 * are asked.
 */
struct h2_conn *host_greedy(struct h2_server *s, struct h2_conn *c, int full,
			      bool shakes)
{
	enum hostq_kind kind = shakes ? HOSTQ_SHAKES : HOSTQ_IDLE;
	const struct hostq_set *set = &s->queues[kind];
	const struct hostq *l;
	struct h2_conn *other;
	int left = LOOKS;
	size_t n;

	if (full == SHARE_HOST)
		return find_oldest(s, conn_hostq(c, kind), shakes, OWN_MS);
	for (n = set->most; n && left; n--) {
		TAILQ_FOREACH(l, &set->by_n[n], entry) {
			other = find_oldest(s, l, shakes, STALE_MS);
			if (other)
				return other;
			if (!--left)
				break;
		}
	}
	l = TAILQ_FIRST(&set->by_n[set->most]);
	if (!shakes || !l || l->n <= conn_hostq(c, kind)->n + 1)
		return NULL;
	return container_of(TAILQ_FIRST(&l->nodes), struct h2_conn, shake_node);
}
