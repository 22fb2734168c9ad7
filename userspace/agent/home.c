// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See home.h. A manager gets two calls, since it has two sessions: one for its
 * operations, and one for notifications, as it has when it connects itself. Each call is
 * a thread's, which becomes the session's.
 */
#include "home.h"

#include <pthread.h>
#include <unistd.h>

#include "http2/reach.h"
#include "netconf.h"

#define PORT		4335	/* RFC 8071 */
#define CALLS		2
#define REACH_MS	5000
/* Pauses between two calls: they grow from one to the other. */
#define PAUSE_MS	500
#define PAUSE_MAX_MS	8000

/**
 * struct manager - who is called
 * @home: all of them
 * @address: where
 * @sessions: calls that have become sessions
 * @why: why the last call has failed; empty: it has not
 */
struct manager {
	struct home	*home;
	const char	*address;
	unsigned int	sessions;
	char		why[192];
};

/**
 * struct home - calls
 * @a: agent
 * @n: number of @managers
 * @managers: who is called
 * @lock: protects the members below, and what changes of @managers
 * @ends: @stop has changed
 * @stop: calls end
 */
struct home {
	struct agent	*a;
	unsigned int	n;
	struct manager	managers[HOME_MANAGERS];
	pthread_mutex_t	lock;
	pthread_cond_t	ends;
	bool		stop;
};

/* Each reason is logged once; called with the lock held. */
static void note(struct manager *m, const char *why)
{
	if (*why && strcmp(m->why, why))
		log_warn("--manager %s: %s; it is tried again", m->address, why);
	snprintf(m->why, sizeof(m->why), "%s", why);
}

static const char *why_not(int err)
{
	return err == -ENXIO ? "there is no host of this name" :
	       err == -ENONET ? "no name server tells its address" :
	       strerror(-err);
}

static void begins(void *arg)
{
	struct manager *m = arg;

	pthread_mutex_lock(&m->home->lock);
	m->sessions++;
	note(m, "");
	pthread_mutex_unlock(&m->home->lock);
}

/* Returns whether a session has begun, when it has ended. */
static bool call_one(struct manager *m)
{
	int fd = inc_reach_connect(m->address, PORT, REACH_MS);
	struct home *h = m->home;
	struct login *l = NULL;
	bool good;

	pthread_mutex_lock(&h->lock);
	if (fd < 0)
		note(m, why_not(fd));
	else if (h->stop)
		close(fd);
	else
		l = netconf_call(h->a, fd, begins, m);
	pthread_mutex_unlock(&h->lock);
	if (!l)
		return false;
	good = netconf_serve(l);
	pthread_mutex_lock(&h->lock);
	if (good)
		m->sessions--;
	else
		note(m, "it does not take the call: does it lead, is it inc-amd with --switch callhome:ID, ID being the CN of --tls-cert, and is that of its --tls-ca?");
	pthread_mutex_unlock(&h->lock);
	return good;
}

/* Returns false if calls end. */
static bool pause_for(struct home *h, int64_t ms)
{
	struct timespec until;
	bool stop;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ms += until.tv_nsec / 1000000;
	until.tv_sec += ms / 1000;
	until.tv_nsec = ms % 1000 * 1000000;
	pthread_mutex_lock(&h->lock);
	while (!h->stop &&
	       !pthread_cond_clockwait(&h->ends, &h->lock, CLOCK_MONOTONIC,
				       &until))
		;
	stop = h->stop;
	pthread_mutex_unlock(&h->lock);
	return !stop;
}

/* A manager that ends sessions as soon as they begin is not called at once, either. */
static void *run_calls(void *arg)
{
	struct manager *m = arg;
	int64_t began, ms = PAUSE_MS;
	bool good;

	do {
		began = now_ms();
		good = call_one(m);
		if (good && now_ms() - began > PAUSE_MAX_MS)
			ms = PAUSE_MS;
		else
			ms = 2 * ms < PAUSE_MAX_MS ? 2 * ms : PAUSE_MAX_MS;
		/* Switches that lost the same manager do not call at once. */
	} while (pause_for(m->home, ms / 2 + now_ms() % (ms / 2)));
	return NULL;
}

/*
 * Begin to call managers. Returns 0, or -1 after a message.
 * @managers: HOST[:PORT] of each, up to HOME_MANAGERS; the texts must stay
 */
int home_start(struct agent *a, const char *const *managers, unsigned int n)
{
	/* A thread may wait for a connection when all else has ended. */
	static struct home home = { .lock = PTHREAD_MUTEX_INITIALIZER,
				    .ends = PTHREAD_COND_INITIALIZER };
	pthread_attr_t attr;
	pthread_t thread;
	unsigned int i;
	int rc = 0;

	home.a = a;
	home.n = n;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, NETCONF_STACK);
	for (i = 0; i < n; i++)
		home.managers[i] = (struct manager){ .home = &home,
						     .address = managers[i] };
	a->home = &home;
	for (i = 0; i < CALLS * n && !rc; i++)
		rc = pthread_create(&thread, &attr, run_calls,
				    &home.managers[i / CALLS]);
	pthread_attr_destroy(&attr);
	if (rc)
		log_error("cannot start a thread: %s", strerror(rc));
	return rc ? -1 : 0;
}

/* End calls that are no sessions yet. */
void home_stop(struct agent *a)
{
	struct home *h = a->home;

	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_broadcast(&h->ends);
	pthread_mutex_unlock(&h->lock);
}

/* Add the managers that are called to YANG data. */
void home_add(const struct agent *a, struct lyd_node *sw)
{
	struct home *h = a->home;
	struct lyd_node *node;
	unsigned int i;

	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	for (i = 0; i < h->n; i++) {
		if (lyd_new_list(sw, NULL, "manager", 0, &node,
				 h->managers[i].address))
			break;
		put_number(node, "sessions", h->managers[i].sessions);
		if (h->managers[i].why[0])
			lyd_new_term(node, NULL, "error", h->managers[i].why,
				     0, NULL);
	}
	pthread_mutex_unlock(&h->lock);
}
