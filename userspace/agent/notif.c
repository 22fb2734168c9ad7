// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Notifications. One thread waits for events of the kernel and puts each into
 * the queues of the subscribers; one thread per subscriber sends. A client that
 * does not read fills its own queue, and its session is ended.
 */
#include "notif.h"

#include <pthread.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <libnetconf2/messages_server.h>
#include <libnetconf2/netconf.h>
#include <libnetconf2/session_server.h>

#include "beacon.h"
#include "datastore.h"
#include "filter.h"
#include "ifcache.h"
#include "iface.h"
#include "netconf.h"
#include "nl.h"
#include "serve.h"

#define QUEUE_MAX	1024
/* Time between two looks whether the module was loaded (again). */
#define CHECK_MS	1000
/* Hosts come together: time to wait for more, and before the next report. */
#define HOSTS_MS	100
#define HOSTS_GAP_MS	500
/* Messages of the kernel per turn. */
#define CHANGES_MAX	256

/**
 * struct event - a notification to be sent
 * @next: the next one
 * @data: the notification
 * @time: when it happened
 */
struct event {
	struct event	*next;
	struct lyd_node	*data;
	char		*time;
};

/**
 * struct subscriber - a session with a subscription
 * @next: the next one
 * @session: its session
 * @filter: its filter, or NULL
 * @thread: sender
 * @lock: protects the members below
 * @wake: the queue or @end has changed
 * @first: first event of the queue
 * @last: end of the queue
 * @n: length of the queue
 * @end: the session ends
 */
struct subscriber {
	struct subscriber	*next;
	struct nc_session	*session;
	struct lyd_node		*filter;
	pthread_t		thread;
	pthread_mutex_t		lock;
	pthread_cond_t		wake;
	struct event		*first;
	struct event		**last;
	unsigned int		n;
	bool			end;
};

static struct {
	struct agent		*agent;
	struct subscriber	*subscribers;	/* under netconf_lock() */
	struct inc_nl		nl;
	bool			open;
	ino_t			module;
	int			rt;
	int			stop;
	/* Milliseconds: next report of hosts, 0: none; not before. */
	uint64_t		hosts_at;
	uint64_t		hosts_next;
	char			hosts_if[64];
	pthread_t		thread;
} ntf = { .rt = -1, .stop = -1 };

static void free_event(struct event *e)
{
	lyd_free_tree(e->data);
	free(e->time);
	free(e);
}

static bool is_ending(struct subscriber *s)
{
	bool end;

	pthread_mutex_lock(&s->lock);
	end = s->end;
	pthread_mutex_unlock(&s->lock);
	return end;
}

/* A client that does not read keeps only its own sender waiting. */
static void send_event(struct subscriber *s, struct event *e)
{
	struct nc_server_notif *n;
	NC_MSG_TYPE sent;

	n = nc_server_notif_new(e->data, e->time, NC_PARAMTYPE_CONST);
	if (!n)
		return;
	do {
		sent = nc_server_notif_send(s->session, n, 1000);
	} while (sent == NC_MSG_WOULDBLOCK && !is_ending(s));
	if (sent == NC_MSG_NOTIF)
		serve_notified(s->session);
	nc_server_notif_free(n);
}

static void *run_sender(void *arg)
{
	struct subscriber *s = arg;
	struct event *e;

	pthread_mutex_lock(&s->lock);
	while (!s->end) {
		e = s->first;
		if (!e) {
			pthread_cond_wait(&s->wake, &s->lock);
			continue;
		}
		s->first = e->next;
		if (!s->first)
			s->last = &s->first;
		s->n--;
		pthread_mutex_unlock(&s->lock);
		send_event(s, e);
		free_event(e);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static char *format_now(void)
{
	struct timespec t;
	char *text = NULL;

	clock_gettime(CLOCK_REALTIME, &t);
	return ly_time_ts2str(&t, &text) ? NULL : text;
}

static struct event *new_event(const struct lyd_node *data)
{
	struct event *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->time = format_now();
	if (!e->time || lyd_dup_single(data, NULL, LYD_DUP_RECURSIVE,
				       &e->data)) {
		free_event(e);
		return NULL;
	}
	return e;
}

/* Put an event into a queue; a full queue ends its session. */
static void enqueue_event(struct subscriber *s, struct event *e)
{
	pthread_mutex_lock(&s->lock);
	if (s->n < QUEUE_MAX) {
		*s->last = e;
		s->last = &e->next;
		s->n++;
		e = NULL;
	}
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	if (e) {
		free_event(e);
		netconf_kill(nc_session_get_id(s->session), 0);
	}
}

/* Send a notification to all sessions that want it, and free it. */
static void publish_data(struct lyd_node *data)
{
	struct subscriber *s;
	struct event *e;
	struct fault f;

	netconf_lock();
	for (s = ntf.subscribers; s; s = s->next) {
		e = new_event(data);
		if (!e)
			continue;
		filter_apply(ntf.agent->ctx, s->filter, &e->data, &f);
		if (e->data)
			enqueue_event(s, e);
		else
			free_event(e);
	}
	netconf_unlock();
	lyd_free_tree(data);
}

static int on_event(const struct inc_nl_event *ev, void *arg)
{
	static const struct {
		uint8_t			cmd;
		const char		*name;
		const struct object	*obj;
	} events[] = {
		{ RDMA_INC_CMD_TREE_READY_NTF, "tree-ready", &nl_tree },
		{ RDMA_INC_CMD_TREE_FAILED_NTF, "tree-failed", &nl_tree },
		{ RDMA_INC_CMD_TREE_DEL_NTF, "tree-deleted", &nl_tree },
		{ RDMA_INC_CMD_MEMBER_NEW_NTF, "member-added", &nl_member },
		{ RDMA_INC_CMD_MEMBER_ERROR_NTF, "member-error", &nl_member },
		{ RDMA_INC_CMD_MEMBER_DEL_NTF, "member-deleted", &nl_member },
		{ RDMA_INC_CMD_SLOT_FAILED_NTF, "slot-failed", &nl_slot },
	};
	struct lyd_node *node;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (events[i].cmd != ev->cmd ||
		    lyd_new_inner(NULL, ntf.agent->mod, events[i].name, 0,
				  &node))
			continue;
		/* Other objects have the tree's ID among their attributes. */
		if (events[i].obj == &nl_tree)
			put_number(node, "tree-id", ev->tree.id);
		ds_emit(node, NULL, events[i].obj,
			events[i].obj == &nl_tree ? (const void *)&ev->tree :
			events[i].obj == &nl_member ?
				(const void *)&ev->member :
				(const void *)&ev->slot);
		publish_data(node);
	}
	return 0;
}

/* @name: interface; empty: unknown, or several */
static void publish_change(const char *name)
{
	struct lyd_node *node;

	if (lyd_new_inner(NULL, ntf.agent->mod, "topology-changed", 0, &node))
		return;
	if (*name)
		lyd_new_term(node, NULL, "interface", name, 0, NULL);
	publish_data(node);
}

/* Report that neighbours have changed. */
void notif_changed(void)
{
	ifcache_note(IFCACHE_HOST);
	publish_change("");
}

/* Hosts are reported later, all at once: there may be thousands. */
static void note_host(const char *name)
{
	uint64_t now = now_ms();

	if (ntf.hosts_at) {
		if (strcmp(name, ntf.hosts_if))
			ntf.hosts_if[0] = '\0';
		return;
	}
	ntf.hosts_at = now + HOSTS_MS > ntf.hosts_next ? now + HOSTS_MS :
							 ntf.hosts_next;
	snprintf(ntf.hosts_if, sizeof(ntf.hosts_if), "%s", name);
}

static void on_interface(void)
{
	char name[64], last[64] = "";
	enum iface_change change;
	int n;

	for (n = 0; n < CHANGES_MAX; n++) {
		change = iface_changed(ntf.rt, name, sizeof(name));
		if (change == IFACE_NONE)
			break;
		ifcache_note(change == IFACE_LINK ? IFCACHE_LINK :
						    IFCACHE_HOST);
		if (change == IFACE_HOST)
			note_host(name);
		if (change == IFACE_LINK || change == IFACE_FORGOTTEN)
			beacon_hurry(change == IFACE_LINK);
		/* A change causes several messages. */
		if (change != IFACE_LINK || (n && !strcmp(name, last)))
			continue;
		strcpy(last, name);
		publish_change(name);
	}
}

/* Report hosts if it is time. Returns how long to wait, in milliseconds. */
static int hosts_turn(void)
{
	uint64_t now = now_ms();

	if (!ntf.hosts_at)
		return CHECK_MS;
	if (ntf.hosts_at > now)
		return (int)(ntf.hosts_at - now);
	publish_change(ntf.hosts_if);
	ntf.hosts_at = 0;
	ntf.hosts_next = now + HOSTS_GAP_MS;
	return CHECK_MS;
}

/* Do what is due. Returns how long to wait, in milliseconds. */
static int take_turn(void)
{
	int hosts = hosts_turn(), beacon = beacon_turn(now_ms());

	return hosts < beacon ? hosts : beacon;
}

/* The family's ID changes when the module is loaded again. */
static void check_module(void)
{
	struct stat st = { .st_ino = 0 };

	(void)!stat("/sys/module/rdma_inc", &st);
	if (ntf.open && st.st_ino == ntf.module)
		return;
	if (ntf.open)
		inc_nl_close(&ntf.nl);
	ntf.open = st.st_ino && !inc_nl_open(&ntf.nl) &&
		   !inc_nl_subscribe(&ntf.nl);
	if (!ntf.open)
		inc_nl_close(&ntf.nl);
	ntf.module = st.st_ino;
}

static void *run_watcher(void *arg)
{
	struct pollfd p[3] = {
		{ .fd = ntf.stop, .events = POLLIN },
		{ .fd = ntf.rt, .events = POLLIN },
		{ .events = POLLIN },
	};

	for (;;) {
		check_module();
		p[2].fd = ntf.open ? inc_nl_fd(&ntf.nl) : -1;
		if (poll(p, ARRAY_SIZE(p), take_turn()) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			break;
		if (p[1].revents)
			on_interface();
		if (p[2].revents &&
		    inc_nl_events(&ntf.nl, on_event, NULL) == -ENOBUFS)
			log_warn("events of the kernel were lost");
	}
	return NULL;
}

/* Begin to wait for events. Returns 0, or -1 after a message. */
int notif_start(struct agent *a)
{
	int rc;

	ntf.agent = a;
	ntf.rt = iface_watch();
	ntf.stop = eventfd(0, EFD_CLOEXEC);
	check_module();
	rc = pthread_create(&ntf.thread, NULL, run_watcher, NULL);
	if (rc)
		log_error("cannot start a thread: %s", strerror(rc));
	return rc ? -1 : 0;
}

/* Undo notif_start(). */
void notif_stop(void)
{
	uint64_t one = 1;

	(void)!write(ntf.stop, &one, sizeof(one));
	pthread_join(ntf.thread, NULL);
	if (ntf.open)
		inc_nl_close(&ntf.nl);
	close(ntf.stop);
	if (ntf.rt >= 0)
		close(ntf.rt);
	netconf_lock();
	while (ntf.subscribers)
		notif_unsubscribe(ntf.subscribers->session);
	netconf_unlock();
}

static struct subscriber **find_subscriber(const struct nc_session *session)
{
	struct subscriber **p = &ntf.subscribers;

	while (*p && (*p)->session != session)
		p = &(*p)->next;
	return p;
}

static void free_subscriber(struct subscriber *s)
{
	struct event *e;

	while ((e = s->first)) {
		s->first = e->next;
		free_event(e);
	}
	lyd_free_tree(s->filter);
	free(s);
}

/*
 * Send notifications to a session from now on.
 * @filter: the operation's node "filter", or NULL
 */
int notif_subscribe(struct nc_session *session, const struct lyd_node *filter,
		    struct fault *f)
{
	struct subscriber *s;

	if (*find_subscriber(session))
		return fault_set(f, NC_ERR_IN_USE, NULL,
				 "this session has a subscription already");
	s = calloc(1, sizeof(*s));
	if (!s || (filter && lyd_dup_single(filter, NULL, LYD_DUP_RECURSIVE,
					    &s->filter))) {
		free(s);
		return fault_set(f, NC_ERR_RES_DENIED, NULL,
				 "out of memory");
	}
	s->session = session;
	s->last = &s->first;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	nc_session_inc_notif_status(session);
	if (pthread_create(&s->thread, NULL, run_sender, s)) {
		nc_session_dec_notif_status(session);
		free_subscriber(s);
		return fault_set(f, NC_ERR_RES_DENIED, NULL,
				 "no more threads");
	}
	s->next = ntf.subscribers;
	ntf.subscribers = s;
	return 0;
}

/*
 * End the subscription of a session that ends.
 * @session: session, with or without a subscription
 */
void notif_unsubscribe(struct nc_session *session)
{
	struct subscriber **p = find_subscriber(session), *s = *p;

	if (!s)
		return;
	*p = s->next;
	pthread_mutex_lock(&s->lock);
	s->end = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	netconf_wake(session);
	pthread_join(s->thread, NULL);
	nc_session_dec_notif_status(session);
	free_subscriber(s);
}
