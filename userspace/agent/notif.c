// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Notifications. One thread waits for events of the kernel and puts each into
 * the queues of the subscribers, whose sessions send them. A client
 * that does not read fills its own queue, and its session is ended.
 */
#include "notif.h"

#include <pthread.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "beacon.h"
#include "conf/list.h"
#include "datastore.h"
#include "filter.h"
#include "ifcache.h"
#include "iface.h"
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
 * @text: message
 * @len: its length
 */
struct event {
	struct event	*next;
	char		*text;
	size_t		len;
};

/**
 * struct subscriber - a session with a subscription
 * @next: the next one
 * @session: its session
 * @filter: its filter, or NULL
 * @first: queue
 * @last: its end
 * @n: its length
 */
struct subscriber {
	struct subscriber	*next;
	struct session		*session;
	struct lyd_node		*filter;
	struct event		*first;
	struct event		**last;
	unsigned int		n;
};

/**
 * struct notif - events, and who wants them
 * @subscribers: under netconf_lock()
 * @queues: protects theirs
 * @nl: the kernel's events
 * @open: it is open
 * @module: the module that it was opened for
 * @rt: descriptor for changes of interfaces
 * @stop: descriptor of an event
 * @hosts_at: milliseconds; when to tell of hosts, 0: never
 * @hosts_next: milliseconds; not before
 * @hosts_if: at which interface they are; empty: several
 * @thread: waits for events
 */
struct notif {
	struct subscriber	*subscribers;
	pthread_mutex_t		queues;
	struct inc_nl		nl;
	bool			open;
	ino_t			module;
	int			rt;
	int			stop;
	uint64_t		hosts_at;
	uint64_t		hosts_next;
	char			hosts_if[64];
	pthread_t		thread;
};

static void free_event(struct event *e)
{
	free(e->text);
	free(e);
}

static struct event *take_event(struct notif *ntf, struct subscriber *sub)
{
	struct event *e;

	pthread_mutex_lock(&ntf->queues);
	e = sub->first;
	if (e) {
		sub->first = e->next;
		if (!sub->first)
			sub->last = &sub->first;
		sub->n--;
	}
	pthread_mutex_unlock(&ntf->queues);
	return e;
}

/*
 * Send a session its notifications. A client that does not read keeps its own
 * thread here. Returns 0, or -errno: it is of no use any more.
 */
int notif_send(struct session *s)
{
	struct event *e;
	int ret = 0;

	while (s->sub && !ret && !s->end &&
	       (e = take_event(s->a->notif, s->sub))) {
		ret = carrier_send(&s->c, e->text, e->len, -1);
		if (!ret)
			serve_notified(s);
		free_event(e);
	}
	return ret;
}

static char *format_now(void)
{
	struct timespec t;
	char *text = NULL;

	clock_gettime(CLOCK_REALTIME, &t);
	return ly_time_ts2str(&t, &text) ? NULL : text;
}

static void print_event(FILE *out, const struct lyd_node *data)
{
	char *when = format_now();

	fprintf(out, "<notification xmlns=\"urn:ietf:params:xml:ns:netconf:notification:1.0\"><eventTime>%s</eventTime>",
		when ? when : "");
	lyd_print_file(out, data, LYD_XML, LYD_PRINT_SHRINK);
	fputs("</notification>", out);
	free(when);
}

static struct event *new_event(const struct lyd_node *data)
{
	struct event *e = calloc(1, sizeof(*e));
	FILE *out = e ? open_memstream(&e->text, &e->len) : NULL;

	if (out)
		print_event(out, data);
	if (out && !fclose(out))
		return e;
	free(e);
	return NULL;
}

/* Put an event into a queue; a full queue ends its session. */
static void enqueue_event(struct notif *ntf, struct subscriber *sub,
			  struct event *e)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&ntf->queues);
	if (sub->n < QUEUE_MAX) {
		*sub->last = e;
		sub->last = &e->next;
		sub->n++;
		e = NULL;
	}
	pthread_mutex_unlock(&ntf->queues);
	if (!e) {
		(void)!write(sub->session->wake, &one, sizeof(one));
		return;
	}
	free_event(e);
	netconf_wake(sub->session);
}

/* Send a subscriber what its filter leaves. */
static void publish_to(struct agent *a, struct subscriber *sub,
		       const struct lyd_node *data)
{
	struct lyd_node *mine;
	struct event *e;
	struct fault f;

	if (lyd_dup_single(data, NULL, LYD_DUP_RECURSIVE, &mine))
		return;
	filter_apply(a->ctx, sub->filter, &mine, &f);
	e = mine ? new_event(mine) : NULL;
	if (e)
		enqueue_event(a->notif, sub, e);
	lyd_free_tree(mine);
}

/* Send a notification to all sessions that want it, and free it. */
static void publish_data(struct agent *a, struct lyd_node *data)
{
	struct subscriber *sub;

	netconf_lock(a);
	for (sub = a->notif->subscribers; sub; sub = sub->next)
		publish_to(a, sub, data);
	netconf_unlock(a);
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
	struct agent *a = arg;
	struct lyd_node *node;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (events[i].cmd != ev->cmd ||
		    lyd_new_inner(NULL, a->mod, events[i].name, 0, &node))
			continue;
		/* Other objects have the tree's ID among their attributes. */
		if (events[i].obj == &nl_tree)
			put_number(node, "tree-id", ev->tree.id);
		ds_emit(node, NULL, events[i].obj,
			events[i].obj == &nl_tree ? (const void *)&ev->tree :
			events[i].obj == &nl_member ?
				(const void *)&ev->member :
				(const void *)&ev->slot);
		publish_data(a, node);
	}
	return 0;
}

/* @name: interface; empty: unknown, or several */
static void publish_change(struct agent *a, const char *name)
{
	struct lyd_node *node;

	if (lyd_new_inner(NULL, a->mod, "topology-changed", 0, &node))
		return;
	if (*name)
		lyd_new_term(node, NULL, "interface", name, 0, NULL);
	publish_data(a, node);
}

/* Report that neighbours have changed. */
void notif_changed(struct agent *a)
{
	ifcache_note(a, IFCACHE_HOST);
	publish_change(a, "");
}

/* Hosts are reported later, all at once: there may be thousands. */
static void note_host(struct notif *ntf, const char *name)
{
	uint64_t now = now_ms();

	if (ntf->hosts_at) {
		if (strcmp(name, ntf->hosts_if))
			ntf->hosts_if[0] = '\0';
		return;
	}
	ntf->hosts_at = now + HOSTS_MS > ntf->hosts_next ? now + HOSTS_MS :
							 ntf->hosts_next;
	snprintf(ntf->hosts_if, sizeof(ntf->hosts_if), "%s", name);
}

static void on_interface(struct agent *a)
{
	struct notif *ntf = a->notif;
	char name[64], last[64] = "";
	enum iface_change change;
	int n;

	for (n = 0; n < CHANGES_MAX; n++) {
		change = iface_changed(ntf->rt, name, sizeof(name));
		if (change == IFACE_NONE)
			break;
		ifcache_note(a, change == IFACE_LINK ? IFCACHE_LINK :
						    IFCACHE_HOST);
		if (change == IFACE_HOST)
			note_host(ntf, name);
		if (change == IFACE_LINK || change == IFACE_FORGOTTEN)
			beacon_hurry(&a->beacon,
				     change == IFACE_LINK);
		/* A change causes several messages. */
		if (change != IFACE_LINK || (n && !strcmp(name, last)))
			continue;
		strcpy(last, name);
		publish_change(a, name);
	}
}

/* Report hosts if it is time. Returns how long to wait, in milliseconds. */
static int hosts_turn(struct agent *a)
{
	struct notif *ntf = a->notif;
	uint64_t now = now_ms();

	if (!ntf->hosts_at)
		return CHECK_MS;
	if (ntf->hosts_at > now)
		return (int)(ntf->hosts_at - now);
	publish_change(a, ntf->hosts_if);
	ntf->hosts_at = 0;
	ntf->hosts_next = now + HOSTS_GAP_MS;
	return CHECK_MS;
}

/* Do what is due. Returns how long to wait, in milliseconds. */
static int take_turn(struct agent *a)
{
	int hosts = hosts_turn(a), beacon = beacon_turn(&a->beacon, now_ms());

	return hosts < beacon ? hosts : beacon;
}

/* The family's ID changes when the module is loaded again. */
static void check_module(struct notif *ntf)
{
	struct stat st = { .st_ino = 0 };

	(void)!stat("/sys/module/rdma_inc", &st);
	if (ntf->open && st.st_ino == ntf->module)
		return;
	if (ntf->open)
		inc_nl_close(&ntf->nl);
	ntf->open = st.st_ino && !inc_nl_open(&ntf->nl) &&
		   !inc_nl_subscribe(&ntf->nl);
	if (!ntf->open)
		inc_nl_close(&ntf->nl);
	ntf->module = st.st_ino;
}

static void *run_watcher(void *arg)
{
	struct agent *a = arg;
	struct notif *ntf = a->notif;
	struct pollfd p[3] = {
		{ .fd = ntf->stop, .events = POLLIN },
		{ .fd = ntf->rt, .events = POLLIN },
		{ .events = POLLIN },
	};

	for (;;) {
		check_module(ntf);
		p[2].fd = ntf->open ? inc_nl_fd(&ntf->nl) : -1;
		if (poll(p, ARRAY_SIZE(p), take_turn(a)) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			break;
		if (p[1].revents)
			on_interface(a);
		if (p[2].revents &&
		    inc_nl_events(&ntf->nl, on_event, a) == -ENOBUFS)
			log_warn("events of the kernel were lost");
	}
	return NULL;
}

/* Begin to wait for events. Returns 0, or -1 after a message. */
int notif_start(struct agent *a)
{
	struct notif *ntf = calloc(1, sizeof(*ntf));
	int rc;

	if (!ntf) {
		log_error("no memory");
		return -1;
	}
	a->notif = ntf;
	pthread_mutex_init(&ntf->queues, NULL);
	ntf->rt = iface_watch();
	ntf->stop = eventfd(0, EFD_CLOEXEC);
	check_module(ntf);
	rc = pthread_create(&ntf->thread, NULL, run_watcher, a);
	if (rc)
		log_error("cannot start a thread: %s", strerror(rc));
	return rc ? -1 : 0;
}

/* Undo notif_start(). */
void notif_stop(struct agent *a)
{
	struct notif *ntf = a->notif;
	uint64_t one = 1;

	(void)!write(ntf->stop, &one, sizeof(one));
	pthread_join(ntf->thread, NULL);
	if (ntf->open)
		inc_nl_close(&ntf->nl);
	close(ntf->stop);
	if (ntf->rt >= 0)
		close(ntf->rt);
}

/* All sessions have ended. */
void notif_free(struct agent *a)
{
	free(a->notif);
	a->notif = NULL;
}

static void free_subscriber(struct subscriber *sub)
{
	struct event *e;

	while ((e = sub->first)) {
		sub->first = e->next;
		free_event(e);
	}
	lyd_free_tree(sub->filter);
	free(sub);
}

/*
 * Send notifications to a session from now on.
 * @filter: the operation's node "filter", or NULL
 */
int notif_subscribe(struct session *s, const struct lyd_node *filter,
		    struct fault *f)
{
	struct subscriber *sub;

	if (s->sub)
		return fault_set(f, NC_ERR_IN_USE, NULL,
				 "this session has a subscription already");
	sub = calloc(1, sizeof(*sub));
	if (!sub || (filter && lyd_dup_single(filter, NULL, LYD_DUP_RECURSIVE,
					      &sub->filter))) {
		free(sub);
		return fault_set(f, NC_ERR_RES_DENIED, NULL, "out of memory");
	}
	sub->session = s;
	sub->last = &sub->first;
	sub->next = s->a->notif->subscribers;
	s->a->notif->subscribers = sub;
	s->sub = sub;
	return 0;
}

/*
 * The session ends.
 * @s: a session, with a subscription or without
 */
void notif_unsubscribe(struct session *s)
{
	if (!s->sub)
		return;
	list_remove(s->a->notif->subscribers, s->sub);
	free_subscriber(s->sub);
	s->sub = NULL;
}
