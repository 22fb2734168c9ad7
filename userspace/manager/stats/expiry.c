// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See expiry.h.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/expiry.h"
#include "conf/list.h"
#include "manager.h"
#include "stats/expiry.h"

#define LOOK_MS		10000	/* between looks at files, which may be renewed */
#define KEEP_MS		86400000 /* after a client's last call */
#define CLIENTS_MAX	1024	/* the first to expire */

/*
 * Judge how urgent it is to renew a certificate. Returns as @reported of struct
 * certificate.
 */
unsigned int expiry_level(const struct certificate *c, int64_t now)
{
	if (c->expires <= now)
		return 3;
	if (c->expires - now <= EXPIRY_NOW_S)
		return 2;
	return c->expires - now <= EXPIRY_SOON_S;
}

/*
 * Describe when a certificate expires.
 * @len: size of @text in bytes
 */
void expiry_text(const struct certificate *c, int64_t now, char *text,
		 size_t len)
{
	const char *what = strcmp(c->holder, "crl") ? "certificate" :
			   "list of revoked certificates";
	int64_t left = c->expires - now;
	char date[32];

	inc_auth_expiry_text(c->expires, date, sizeof(date));
	if (left <= 0)
		snprintf(text, len, "the %s expired at %s: make a new one",
			 what, date);
	else
		snprintf(text, len, "the %s expires in %lld %s, at %s: make a new one",
			 what, (long long)(left / (left < 172800 ? 3600 :
						   86400)),
			 left < 172800 ? "hours" : "days", date);
}

static void report_expiry(struct expiry *e, struct certificate *c)
{
	int64_t now = unix_ms() / 1000;
	unsigned int level = expiry_level(c, now);
	char text[160];

	if (level <= c->reported)
		return;
	c->reported = level;
	expiry_text(c, now, text, sizeof(text));
	event_log(&e->m->events, EVENT_EXPIRES, c->name, "%s: %s", c->holder,
		  text);
}

static bool is_of(const struct certificate *c, const char *of, const char *name)
{
	return !strcmp(c->holder, of) && !strcmp(c->name, name);
}

static struct certificate *find_certificate(struct expiry *e, const char *of,
					    const char *name)
{
	struct certificate *c = e->list;

	while (c && !is_of(c, of, name))
		c = c->next;
	return c;
}

static struct certificate *add_certificate(struct expiry *e, const char *of,
					   const char *name, int64_t expires)
{
	struct certificate *c = calloc(1, sizeof(*c)), **link = &e->list;

	if (!c)
		return NULL;
	c->holder = of;
	c->expires = expires;
	snprintf(c->name, sizeof(c->name), "%s", name);
	while (*link && !is_of(*link, of, name))
		link = &(*link)->next;
	while (*link && is_of(*link, of, name) && (*link)->expires < expires)
		link = &(*link)->next;
	c->next = *link;
	*link = c;
	return c;
}

/* Note the expiry of a file or an agent; if unknown, the last one is kept. */
static void look_at(struct expiry *e, const char *of, const char *name,
		    int64_t expires)
{
	struct certificate *c;

	if (expires == EXPIRY_UNKNOWN)
		return;
	c = find_certificate(e, of, name);
	if (!c)
		c = add_certificate(e, of, name, expires);
	if (!c)
		return;
	if (c->expires != expires)
		c->reported = 0;
	c->expires = expires;
}

static void look_at_file(struct expiry *e, const char *of, const char *path)
{
	if (path)
		look_at(e, of, path, inc_auth_expiry_of_file(path));
}

static void drop_certificate(struct expiry *e, struct certificate *c)
{
	list_remove(e->list, c);
	e->nclients -= !strcmp(c->holder, "client");
	free(c);
}

/* Find the client's certificate that expires last, as the least urgent one. */
static struct certificate *last_client(struct expiry *e)
{
	struct certificate *c, *last = NULL;

	for (c = e->list; c; c = c->next)
		if (!strcmp(c->holder, "client") &&
		    (!last || c->expires > last->expires))
			last = c;
	return last;
}

static struct certificate *add_client(struct expiry *e, const char *name,
				      int64_t expires)
{
	struct certificate *c;

	if (e->nclients >= CLIENTS_MAX) {
		c = last_client(e);
		if (c->expires <= expires)
			return NULL;
		drop_certificate(e, c);
	}
	c = add_certificate(e, "client", name, expires);
	e->nclients += c != NULL;
	return c;
}

/* Note the certificate of a caller. */
void expiry_client(struct expiry *e, const struct identity *who)
{
	char name[sizeof(e->list->name)];
	struct certificate *c;

	if (who->expires == EXPIRY_UNKNOWN)
		return;
	snprintf(name, sizeof(name), "%s%s%s", who->name,
		 who->tenant[0] ? " of " : "", who->tenant);
	c = find_certificate(e, "client", name);
	while (c && is_of(c, "client", name) && c->expires != who->expires)
		c = c->next;
	if (!c || !is_of(c, "client", name))
		c = add_client(e, name, who->expires);
	if (!c)
		return;
	c->seen_at = e->m->loop.now;
	report_expiry(e, c);
}

/* Forget certificates with which no client calls any more. */
static void forget_old(struct expiry *e)
{
	struct certificate *c, *next;

	for (c = e->list; c; c = next) {
		next = c->next;
		if (!strcmp(c->holder, "client") &&
		    e->m->loop.now - c->seen_at > KEEP_MS)
			drop_certificate(e, c);
	}
}

static void look_at_agents(struct expiry *e)
{
	struct certificate *c;
	const struct sw *sw;
	unsigned int i;

	for (i = 0; i < e->m->fabric.n; i++) {
		sw = &e->m->fabric.switches[i];
		if (!sw->info)
			continue;
		if (!sw->gone)
			look_at(e, "agent", sw_name(sw), sw->info->expires);
		c = sw->gone || sw->info->expires == EXPIRY_UNKNOWN ?
		    find_certificate(e, "agent", sw_name(sw)) : NULL;
		if (c)
			drop_certificate(e, c);
	}
}

/* Look at all certificates, if it is time. */
void expiry_turn(struct expiry *e)
{
	const struct amd_options *o = &e->m->o;
	struct certificate *c;

	if (e->m->loop.now < e->check_at)
		return;
	e->check_at = e->m->loop.now + LOOK_MS;
	look_at_file(e, "manager", o->security.cert);
	look_at_file(e, "authority", o->security.ca);
	look_at_file(e, "crl", o->security.crl);
	look_at_file(e, "etcd", o->etcd.cert);
	look_at_file(e, "etcd", o->etcd.ca);
	look_at_agents(e);
	forget_old(e);
	for (c = e->list; c; c = c->next)
		report_expiry(e, c);
}

/* Forget all certificates. */
void expiry_free(struct expiry *e)
{
	struct certificate *c;

	while ((c = e->list)) {
		e->list = c->next;
		free(c);
	}
}
