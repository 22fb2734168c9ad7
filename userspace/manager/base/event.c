// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Events. Each is logged, too.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/event.h"
#include "base/loop.h"
#include "base/text.h"

/**
 * events_init() - begin to collect events
 * @e: events
 *
 * Return: 0 or -ENOMEM.
 */
int events_init(struct events *e)
{
	e->ring = calloc(EVENT_MAX, sizeof(*e->ring));
	return e->ring ? 0 : -ENOMEM;
}

/**
 * events_free() - free all events
 * @e: events
 */
void events_free(struct events *e)
{
	free(e->ring);
	e->ring = NULL;
}

static void say(struct events *e, const char *kind, const char *tenant,
		const char *subject, const char *fmt, va_list ap)
{
	struct event *ev = &e->ring[++e->last % EVENT_MAX];
	struct event_listener *l, *next;

	ev->seq = e->last;
	ev->time = unix_ms();
	ev->kind = kind;
	snprintf(ev->subject, sizeof(ev->subject), "%s", subject);
	snprintf(ev->tenant, sizeof(ev->tenant), "%s", tenant);
	vsnprintf(ev->text, sizeof(ev->text), fmt, ap);
	text_clean(ev->subject);
	text_clean(ev->text);
	log_say("%s %s: %s", kind, ev->subject, ev->text);
	for (l = e->listeners; l; l = next) {
		next = l->next;
		l->heard(l, ev);
	}
}

/**
 * event_say() - report that something has happened
 * @e: events
 * @kind: what, a constant of event.h
 * @subject: the switch, host ... that it happened to
 * @fmt: more, for people; one line
 */
void event_say(struct events *e, const char *kind, const char *subject,
	       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(e, kind, "", subject, fmt, ap);
	va_end(ap);
}

/**
 * event_say_of() - report that something has happened to what is a tenant's
 * @e: events
 * @kind: what, a constant of event.h
 * @tenant: whose it is: others may have one of the same name
 * @subject: the group or reservation
 * @fmt: more, for people; one line
 */
void event_say_of(struct events *e, const char *kind, const char *tenant,
		  const char *subject, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(e, kind, tenant, subject, fmt, ap);
	va_end(ap);
}

/**
 * event_get() - find an event
 * @e: events
 * @seq: its number
 *
 * Return: the event, or NULL if there is none with this number any more, or
 * yet.
 */
const struct event *event_get(const struct events *e, uint64_t seq)
{
	const struct event *ev = &e->ring[seq % EVENT_MAX];

	return seq && ev->seq == seq ? ev : NULL;
}

/**
 * event_listen() - get each new event
 * @e: events
 * @l: listener, with @l->heard
 */
void event_listen(struct events *e, struct event_listener *l)
{
	l->next = e->listeners;
	e->listeners = l;
}

/**
 * event_ignore() - get no events any more
 * @e: events
 * @l: listener; may be the one that is being called
 */
void event_ignore(struct events *e, struct event_listener *l)
{
	struct event_listener **link;

	for (link = &e->listeners; *link; link = &(*link)->next)
		if (*link == l) {
			*link = l->next;
			return;
		}
}
