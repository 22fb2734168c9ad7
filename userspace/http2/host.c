// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Connections by host: hosts that are barred for a while, and connections that
 * give way when a pool is full: the owner that holds most of it loses some.
 */
#include <stdio.h>
#include <string.h>

#include "http2/conn.h"

#define LOOKS		64	/* hosts that are asked to give way */
#define OWN_MS		100	/* handshakes of one host: age to give way */
#define CUTS		8	/* malformed connections until a host is barred */
#define BARRED_TEXT	"; its host gets no new connection for 10 s"

static const char *host_of(const struct h2_conn *c)
{
	return c->share.by_kind[SHARE_HOST] ?
	       c->share.by_kind[SHARE_HOST]->name : "";
}

/* Ask whether a connection's host is barred. Returns true if so. */
bool host_barred(const struct h2_server *s, const struct h2_conn *c)
{
	unsigned int i;

	for (i = 0; i < BARRED; i++)
		if (s->barred[i].until > s->loop->now && *host_of(c) &&
		    !strcmp(s->barred[i].host, host_of(c)))
			return true;
	return false;
}

/*
 * Find the entry of a connection's host, else a free one, else one of a host that is
 * not barred, or not for long.
 */
static struct h2_barred *find_barred(struct h2_server *s, const struct h2_conn *c)
{
	struct h2_barred *b, *found = s->barred;

	for (b = s->barred; b < s->barred + BARRED; b++) {
		if (!strcmp(b->host, host_of(c)))
			return b;
		if (b->until < found->until ||
		    (b->until == found->until && b->since < found->since))
			found = b;
	}
	*found = (struct h2_barred){ .cuts = 0 };
	snprintf(found->host, sizeof(found->host), "%s", host_of(c));
	return found;
}

/*
 * Note that a connection is cut. Its host is barred if the connection took too
 * much, or if this happens often: a single wrong frame, which any user of the
 * host can send, must not keep the host's ranks out.
 */
void host_bar(struct h2_server *s, const struct h2_conn *c, const char *why)
{
	struct h2_barred *b = find_barred(s, c);
	char text[256];
	bool bars;

	if (s->loop->now - b->since >= BARRED_MS) {
		b->since = s->loop->now;
		b->cuts = 0;
	}
	bars = ++b->cuts >= CUTS || !c->is_malformed;
	if (bars)
		b->until = s->loop->now + BARRED_MS;
	snprintf(text, sizeof(text), "%s%s", why,
		 bars && *host_of(c) ? BARRED_TEXT : "");
	s->handler->cut(s->ctx, c->peer, text);
}

/* Returns a host's oldest connection if it may give way, or NULL. */
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
	return c->since + stale_ms <= s->loop->now ? c : NULL;
}

/*
 * Find a connection that may give way. Returns the oldest one of the host that
 * has most, or NULL. At most LOOKS hosts are asked.
 * @c: connection that needs the room; NULL: any
 * @full: kind of the share that is used up
 * @shakes: a connection whose handshake has taken a second, or a tenth of it if
 *	it is of @c's host, or whose host has more handshakes than @c's; else
 *	one that has no call
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

/* --- Calls and bytes ----------------------------------------------------- */

/* Find the share of a set's owner in a pool of kind @full. */
static struct share *find_rival(const struct share_set *set, int full)
{
	struct share *host = set->by_kind[SHARE_HOST];

	if (full == SHARE_ALL)
		return share_owner(set);
	return full == SHARE_TENANT && host ? host :
					      set->by_kind[SHARE_CONNECTION];
}

/*
 * Ask whether a connection's calls count towards the pool of kind @full that
 * @set's do. A connection joins the tenant of its first caller that has one.
 */
static bool in_pool(const struct h2_conn *c, const struct share_set *set,
		    int full)
{
	const struct share *own = c->share.by_kind[full];
	const struct share *pool = set->by_kind[full];

	return own == pool || (full == SHARE_TENANT && !own && !*pool->name);
}

static struct share *find_greediest(const struct h2_server *s,
				    const struct share_set *set,
				    enum share_what what, int full)
{
	struct share *most = find_rival(set, full), *other;
	const struct h2_conn *c;

	for (c = s->conns; c; c = c->next) {
		if (!in_pool(c, set, full))
			continue;
		other = find_rival(&c->share, full);
		if (other->used[what] > most->used[what])
			most = other;
	}
	return most;
}

/* Returns whether a connection holds some of @most's part of the pool. */
static bool has_some(const struct h2_conn *c, const struct share_set *set,
		     const struct share *most, enum share_what what, int full)
{
	return in_pool(c, set, full) &&
	       find_rival(&c->share, full) == most &&
	       c->share.by_kind[SHARE_CONNECTION]->used[what];
}

/*
 * End connections of the owner that holds most of a full pool. The newest go
 * first: the oldest are jobs. A few more than needed go: not every call should
 * search all connections. Returns false: nobody holds more than @set would.
 * @self: connection that needs the room, and does not give way itself
 * @set: shares of @self, or of a call
 * @full: kind of the share that is used up
 */
bool host_make_room(struct h2_conn *self, const struct share_set *set,
		    enum share_what what, size_t n, int full)
{
	const size_t spare = share_limit(full, what) / 16;
	const struct share *own = find_rival(set, full);
	struct h2_server *s = self->server;
	struct share_set hold = { { NULL } };
	struct h2_conn *c, *next;
	struct share *most;
	size_t before;

	most = full == SHARE_CONNECTION ? NULL :
	       find_greediest(s, set, what, full);
	if (!most || most->used[what] <= own->used[what] + n)
		return false;
	/* Hold the share: it is freed with its last connection. */
	share_hold(&hold, most);
	before = most->used[what];
	for (c = s->conns; c; c = next) {
		next = c->next;
		if (most->used[what] <= own->used[what] + n ||
		    before - most->used[what] >= n + spare)
			break;
		if (c == self || !has_some(c, set, most, what, full))
			continue;
		s->evict(c, share_greedy(most->kind, what));
	}
	share_leave(&hold);
	return true;
}
