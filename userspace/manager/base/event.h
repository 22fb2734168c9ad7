/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Events for operators: the last ones, and listeners that get each new one. All
 * of it belongs to the main loop.
 *
 * A tenant that makes many events displaces only its own: one half of the list is
 * for the fabric, the other half for tenants. If a half is full, the owner with
 * most events in it loses its oldest. So a tenant loses none while it has no more
 * than EVENT_HALF, divided by the number of tenants with events. Kinds of the
 * fabric's events share their half in the same way: a caller that is refused again
 * and again, or a host that moves all the time, does not hide a lost switch.
 */
#ifndef INC_MANAGER_EVENT_H
#define INC_MANAGER_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define EVENT_MAX	4096
#define EVENT_HALF	(EVENT_MAX / 2)

struct event_owner;
struct event_store;

/**
 * struct event - an event
 * @seq: number, from 1
 * @time: milliseconds since 1970
 * @kind: kind, as in "group-ready": EVENT_*
 * @subject: group, switch, host, or other object of the event
 * @text: more, for people; one line
 * @tenant: owner of the group or reservation; empty: a caller without a tenant,
 *	or another kind of subject
 * @owner: owner of the event
 * @by_seq: node of the list of struct events
 * @by_owner: node of the owner's list
 */
struct event {
	uint64_t	seq;
	int64_t		time;
	const char	*kind;
	char		subject[64];
	char		text[256];
	char		tenant[64];
	struct event_owner	*owner;
	TAILQ_ENTRY(event)	by_seq;
	TAILQ_ENTRY(event)	by_owner;
};

TAILQ_HEAD(event_list, event);

#define EVENT_SWITCH_UP		"switch-up"
#define EVENT_SWITCH_DOWN	"switch-down"
#define EVENT_GROUP_READY	"group-ready"
#define EVENT_GROUP_REFUSED	"group-refused"
#define EVENT_GROUP_ENDED	"group-ended"
#define EVENT_RANK_LOST		"rank-lost"
#define EVENT_GROUP_FAILED	"group-failed"
#define EVENT_GROUP_REBUILT	"group-rebuilt"
#define EVENT_MESSAGE_FAILED	"message-failed"
#define EVENT_LINK_DOWN		"link-down"
#define EVENT_LINK_UP		"link-up"
#define EVENT_HOST_SEEN		"host-seen"
#define EVENT_HOST_MOVED	"host-moved"
#define EVENT_HOST_CLAIMED	"host-claimed"
#define EVENT_SWITCH_LOST	"switch-lost"
#define EVENT_SWITCH_DRAINING	"switch-draining"
#define EVENT_SWITCH_DRAINED	"switch-drained"
#define EVENT_SWITCH_RESUMED	"switch-resumed"
#define EVENT_SWITCH_RENAMED	"switch-renamed"
#define EVENT_SWITCH_GONE	"switch-gone"
#define EVENT_SWITCHES_READ	"switches-read"
#define EVENT_SWITCHES_WRONG	"switches-wrong"
#define EVENT_GROUP_MOVES	"group-moves"
#define EVENT_GROUP_MOVED	"group-moved"
#define EVENT_GROUP_STAYS	"group-stays"
#define EVENT_GROUP_UNWATCHED	"group-unwatched"
#define EVENT_REFUSED		"caller-refused"
#define EVENT_CUT		"connection-cut"
#define EVENT_CREDS_READ	"credentials-read"
#define EVENT_CREDS_WRONG	"credentials-wrong"
#define EVENT_EXPIRES		"certificate-expires"
#define EVENT_GROUP_RESTORED	"group-restored"
#define EVENT_GROUP_LOST	"group-lost"
#define EVENT_LEADER		"leader"
#define EVENT_STANDBY		"standby"
#define EVENT_STORE_FAILED	"store-failed"
#define EVENT_OVER_QUOTA	"over-quota"
#define EVENT_RESERVED		"reserved"
#define EVENT_RESERVATION_OVER	"reservation-over"
#define EVENT_LIMITS_READ	"limits-read"
#define EVENT_LIMITS_WRONG	"limits-wrong"

/**
 * struct event_listener - gets each new event
 * @entry: node among all listeners
 * @on_event: called with each event
 */
struct event_listener {
	LIST_ENTRY(event_listener)	entry;
	void				(*on_event)(struct event_listener *l,
						    const struct event *ev);
};

LIST_HEAD(event_listeners, event_listener);

/**
 * struct events - the last events
 * @store: memory
 * @list: events in the order of their numbers, some of which may be missing
 * @last: number of the last one, 0: none
 * @listeners: listeners
 */
struct events {
	struct event_store	*store;
	struct event_list	list;
	uint64_t		last;
	struct event_listeners	listeners;
};

int events_init(struct events *e);
void events_free(struct events *e);
void event_log(struct events *e, const char *kind, const char *subject,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void event_log_of(struct events *e, const char *kind, const char *tenant,
		  const char *subject, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
const struct event *event_from(const struct events *e, uint64_t seq);
size_t event_recent(const struct events *e, const struct event **list,
		    size_t max);
void event_listen(struct events *e, struct event_listener *l);
void event_ignore(struct events *e, struct event_listener *l);

#endif /* INC_MANAGER_EVENT_H */
