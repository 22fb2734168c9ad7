// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Events. Each is logged, too. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/event.h"
#include "loop/index.h"
#include "loop/loop.h"
#include "conf/pace.h"
#include "conf/text.h"

/* Limit of a tenant: journald limits the lines of a whole service. */
#define LOG_LINES	100
#define LOG_MS		10000

/**
 * enum half - separate halves of the list
 * @FABRIC: events without a tenant; each kind is an owner
 * @TENANTS: events of tenants, who are the owners
 * @HALVES: number of halves
 */
enum half {
	FABRIC,
	TENANTS,
	HALVES
};

/**
 * struct event_owner - owner of events: a tenant, or a kind of events
 * @key: tenant, or kind
 * @by_key: node of the half's index
 * @by_n: node among owners with as many events
 * @events: its events, the oldest first
 * @n: number of @events
 * @pace: limits its lines in the log
 */
struct event_owner {
	char				key[64];
	struct index_node		by_key;
	TAILQ_ENTRY(event_owner)	by_n;
	struct event_list		events;
	unsigned int			n;
	struct pace			pace;
};

TAILQ_HEAD(owner_list, event_owner);

/**
 * struct shared - a half of the list
 * @owners: owners by their keys
 * @n: number of events
 * @max_n: largest number of events of an owner
 * @by_n: owners, by the number of their events
 */
struct shared {
	struct index		owners;
	unsigned int		n;
	unsigned int		max_n;
	struct owner_list	by_n[EVENT_HALF + 2];
};

/**
 * struct event_store - memory of events
 * @halves: both halves
 * @free: unused events
 * @idle: owners without events
 * @events: all events; one more than EVENT_MAX, since a new one comes first
 * @owners: all owners, each with an event
 */
struct event_store {
	struct shared		halves[HALVES];
	struct event_list	free;
	struct owner_list	idle;
	struct event		events[EVENT_MAX + 1];
	struct event_owner	owners[EVENT_MAX + 1];
};

/* Begin to collect events. Returns 0 or -ENOMEM. */
int events_init(struct events *e)
{
	struct event_store *st = calloc(1, sizeof(*st));
	unsigned int i, h;

	if (!st)
		return -ENOMEM;
	TAILQ_INIT(&st->free);
	TAILQ_INIT(&st->idle);
	for (i = 0; i <= EVENT_MAX; i++) {
		TAILQ_INSERT_TAIL(&st->free, &st->events[i], by_seq);
		TAILQ_INSERT_TAIL(&st->idle, &st->owners[i], by_n);
	}
	for (h = 0; h < HALVES; h++)
		for (i = 0; i < EVENT_HALF + 2; i++)
			TAILQ_INIT(&st->halves[h].by_n[i]);
	TAILQ_INIT(&e->list);
	e->store = st;
	return 0;
}

void events_free(struct events *e)
{
	unsigned int h;

	for (h = 0; e->store && h < HALVES; h++)
		index_free(&e->store->halves[h].owners);
	free(e->store);
	e->store = NULL;
	TAILQ_INIT(&e->list);
}

/* --- Displacement -------------------------------------------------------- */

static struct event_owner *get_owner(struct event_store *st, struct shared *s,
				     const char *key)
{
	uint64_t hash = index_hash_text(0, key);
	struct index_node *node;
	struct event_owner *o;

	for (node = index_first(&s->owners, hash); node;
	     node = index_next(node)) {
		o = container_of(node, struct event_owner, by_key);
		if (!strcmp(o->key, key))
			return o;
	}
	o = TAILQ_FIRST(&st->idle);
	TAILQ_REMOVE(&st->idle, o, by_n);
	memset(o, 0, sizeof(*o));
	snprintf(o->key, sizeof(o->key), "%s", key);
	TAILQ_INIT(&o->events);
	index_add(&s->owners, &o->by_key, hash);
	TAILQ_INSERT_HEAD(&s->by_n[0], o, by_n);
	return o;
}

static void count_event(struct shared *s, struct event_owner *o, int more)
{
	TAILQ_REMOVE(&s->by_n[o->n], o, by_n);
	o->n += more;
	s->n += more;
	TAILQ_INSERT_HEAD(&s->by_n[o->n], o, by_n);
}

/*
 * Displace an event of the owner with most. Among equals, it is the one who has had
 * this number for longest, so a new event stays even if each owner has just one.
 */
static void displace_event(struct events *e, struct shared *s)
{
	struct event_owner *o = TAILQ_LAST(&s->by_n[s->max_n], owner_list);
	struct event_store *st = e->store;
	struct event *ev = TAILQ_FIRST(&o->events);

	TAILQ_REMOVE(&o->events, ev, by_owner);
	TAILQ_REMOVE(&e->list, ev, by_seq);
	TAILQ_INSERT_HEAD(&st->free, ev, by_seq);
	count_event(s, o, -1);
	if (TAILQ_EMPTY(&s->by_n[s->max_n]))
		s->max_n--;
	if (o->n)
		return;
	TAILQ_REMOVE(&s->by_n[0], o, by_n);
	index_remove(&o->by_key);
	TAILQ_INSERT_HEAD(&st->idle, o, by_n);
}

/* Add an event; @tenant: NULL: none. */
static struct event *add_event(struct events *e, const char *kind,
			       const char *tenant)
{
	struct event_store *st = e->store;
	struct shared *s = &st->halves[tenant ? TENANTS : FABRIC];
	struct event_owner *o = get_owner(st, s, tenant ? tenant : kind);
	struct event *ev = TAILQ_FIRST(&st->free);

	TAILQ_REMOVE(&st->free, ev, by_seq);
	TAILQ_INSERT_TAIL(&e->list, ev, by_seq);
	TAILQ_INSERT_TAIL(&o->events, ev, by_owner);
	count_event(s, o, 1);
	if (o->n > s->max_n)
		s->max_n = o->n;
	if (s->n > EVENT_HALF)
		displace_event(e, s);
	ev->owner = o;
	ev->seq = ++e->last;
	ev->time = unix_ms();
	ev->kind = kind;
	snprintf(ev->tenant, sizeof(ev->tenant), "%s", tenant ? tenant : "");
	return ev;
}

/* --- Reports ------------------------------------------------------------- */

/*
 * Count a line. Returns true if it may be logged; else logs, once instead, that
 * lines are left out, and later how many.
 */
static bool count_line(struct event_owner *o)
{
	const char *whose = *o->key ? "tenant " : "callers without a tenant";
	unsigned int before, n = pace_count(&o->pace, LOG_MS, &before);

	if (before > LOG_LINES)
		log_info("%u events of %s%s are not in this log",
			before - LOG_LINES, whose, o->key);
	if (n == LOG_LINES + 1)
		log_info("too many events of %s%s for this log: \"inc-amctl event\" has the next ones",
			whose, o->key);
	return n <= LOG_LINES;
}

static void publish_event(struct events *e, const char *kind,
			  const char *tenant, const char *subject,
			  const char *fmt, va_list ap)
{
	struct event_listener *l, *next;
	struct event *ev = add_event(e, kind, tenant);

	snprintf(ev->subject, sizeof(ev->subject), "%s", subject);
	vsnprintf(ev->text, sizeof(ev->text), fmt, ap);
	text_clean(ev->subject);
	text_clean(ev->text);
	/* The tenant is logged, too: others may have a group of the same name. */
	if (!tenant || count_line(ev->owner))
		log_info(*ev->tenant ? "%s %s: %s (tenant %s)" : "%s %s: %s",
			kind, ev->subject, ev->text, ev->tenant);
	for (l = LIST_FIRST(&e->listeners); l; l = next) {
		next = LIST_NEXT(l, entry);
		l->on_event(l, ev);
	}
}

/*
 * Report an event.
 * @subject: switch, host, or other object of the event
 */
void event_log(struct events *e, const char *kind, const char *subject,
	       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	publish_event(e, kind, NULL, subject, fmt, ap);
	va_end(ap);
}

/*
 * Report an event of a tenant's object.
 * @tenant: its tenant, since names are only unique within one; empty: a caller
 *	without a tenant; NULL: no tenant's
 */
void event_log_of(struct events *e, const char *kind, const char *tenant,
		  const char *subject, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	publish_event(e, kind, tenant, subject, fmt, ap);
	va_end(ap);
}

/*
 * Find the first event with at least this number. Followers ask for the last events,
 * so the search from the end is short. Returns the event, or NULL: none yet.
 */
const struct event *event_from(const struct events *e, uint64_t seq)
{
	const struct event *ev, *found = NULL;

	TAILQ_FOREACH_REVERSE(ev, &e->list, event_list, by_seq) {
		if (ev->seq < seq)
			break;
		found = ev;
	}
	return found;
}

/*
 * Choose recent events to show at once. At most half of them are of one tenant,
 * or of one kind, so the others are not hidden. Returns their number.
 * @max: size of @list
 */
size_t event_recent(const struct events *e, const struct event **list,
		    size_t max)
{
	const struct event *ev;
	size_t n = 0, same, i;

	TAILQ_FOREACH_REVERSE(ev, &e->list, event_list, by_seq) {
		if (n == max)
			break;
		for (same = 0, i = 0; i < n; i++)
			same += list[i]->owner == ev->owner;
		if (same < max / 2)
			list[n++] = ev;
	}
	return n;
}

/* Register for each new event. */
void event_listen(struct events *e, struct event_listener *l)
{
	LIST_INSERT_HEAD(&e->listeners, l, entry);
}

/*
 * Stop following the events.
 * @l: listener; may be the one that is being called
 */
void event_ignore(struct events *e, struct event_listener *l)
{
	LIST_REMOVE(l, entry);
}
