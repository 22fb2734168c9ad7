// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inc-amd: starts, runs and stops the manager. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "answer/answer.h"
#include "rpc/creds.h"
#include "rpc/message.h"
#include "conf/notify.h"
#include "conf/output.h"
#include "conf/pidfile.h"
#include "fabric/called.h"
#include "group/group.h"
#include "manager.h"
#include "stats/stats.h"
#include "web/web.h"

#define STOP_MS		5000	/* time to delete all trees at the end */
#define TELL_MS		200
#define HUNG_S		15	/* limit of a turn of the main loop */
#define REFRESH_MS	10000	/* between two looks at credentials */
#define FILES		65536	/* descriptors */
#define LARGE		(256 << 10)	/* bytes of an allocation */

static struct manager manager;

/* --- Signals ------------------------------------------------------------- */

static void on_stop(struct loop_work *work)
{
	manager.stop = true;
}

static void on_reload(struct loop_work *work)
{
	char err[512];

	free(work);
	if (manager.stop)
		return;
	rpc_refresh(manager.rpc);
	rpc_check_callers(manager.rpc);
	session_check_callers(&manager);
	switches_reload(&manager);
	event_log(&manager.events,
		  tenants_reload(&manager.tenants, err, sizeof(err)) ?
		  EVENT_LIMITS_WRONG : EVENT_LIMITS_READ,
		  manager.o.advertise, "%s", manager.tenants.result);
}

static void post_reload(void)
{
	struct loop_work *work = calloc(1, sizeof(*work));

	if (!work)
		return;
	work->fn = on_reload;
	loop_post(&manager.loop, work);
}

/*
 * Check the main loop, each second. A main loop that hangs serves nobody, while
 * its connections, its lock and its switches' sessions keep others from taking
 * over. Seconds are counted, since all threads stop while the machine is paused.
 */
static void watch_loop(void)
{
	static int64_t last;
	static int hung;
	int64_t since = loop_busy_since(&manager.loop);

	hung = since && since == last ? hung + 1 : 0;
	last = since;
	/* Without a message: the loop may hang in the log. */
	if (hung >= HUNG_S)
		abort();
	if (!hung)
		inc_notify("WATCHDOG=1");
}

/*
 * A second signal within this time is a duplicate of the first: timeout(1) and
 * a terminal send it both to the program and to its group.
 */
#define AGAIN_MS	1000

/* Wait for a signal. Returns SIGHUP, or one that ends the program. */
static int next_signal(const sigset_t *set)
{
	const struct timespec second = { .tv_sec = 1 };
	int sig;

	while ((sig = sigtimedwait(set, NULL, &second)) < 0)
		if (errno == EAGAIN)
			watch_loop();
	return sig;
}

static void *wait_signal(void *arg)
{
	static struct loop_work work = { .fn = on_stop };
	const sigset_t *set = arg;
	int64_t until;
	int sig;

	while (next_signal(set) == SIGHUP)
		post_reload();
	until = now_ms() + AGAIN_MS;
	loop_post(&manager.loop, &work);
	/* A later signal ends a program that hangs. */
	while (!sigwait(set, &sig) && (sig == SIGHUP || now_ms() < until))
		;
	_exit(1);
}

/* Block signals until a thread waits for them: SIGHUP would end the program. */
static const sigset_t *hold_signals(void)
{
	static sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return &set;
}

/* Start the thread that handles these signals, which all others block. */
static int catch_signals(const sigset_t *set)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, wait_signal, (void *)set);
}

/* --- Run ----------------------------------------------------------------- */

static void look_at_fabric(struct manager *m)
{
	bool changed = hosts_turn(&m->fabric);

	if (changed)
		group_note_again(m);
	meet_turn(&m->fabric, changed);
}

static void run_turn(struct manager *m, int64_t until)
{
	int64_t next = state_deadline(m);

	group_settle(m);
	group_arm(m);
	if (reserve_deadline(m) < next)
		next = reserve_deadline(m);
	if (m->stats->sample_at < next)
		next = m->stats->sample_at;
	if (group_drain_deadline(m) < next)
		next = group_drain_deadline(m);
	if (m->state.phase == PHASE_ACTIVE && hosts_deadline(&m->fabric) < next)
		next = hosts_deadline(&m->fabric);
	if (m->state.phase == PHASE_ACTIVE && meet_deadline(&m->fabric) < next)
		next = meet_deadline(&m->fabric);
	if (m->refresh_at < next)
		next = m->refresh_at;
	loop_turn(&m->loop, next < until ? next : until);
	group_settle(m);
	if (m->loop.now >= m->refresh_at) {
		m->refresh_at = m->loop.now + REFRESH_MS;
		rpc_refresh(m->rpc);
	}
	reserve_expire(m);
	group_drain_turn(m);
	if (m->state.phase == PHASE_ACTIVE)
		look_at_fabric(m);
	state_turn(m);
	answer_health_turn(m);
	stats_expire(m->stats);
}

static void run_loop(struct manager *m)
{
	while (!m->stop)
		run_turn(m, INT64_MAX);
}

/* Delete all trees; or, if there is a store, leave them to the next manager. */
static void dismantle_groups(struct manager *m)
{
	int64_t until = now_ms() + STOP_MS;
	unsigned int i;

	for (i = 0; i < m->fabric.n; i++)
		sw_silence(&m->fabric.switches[i]);
	if (m->state.store)
		state_forget(m, "the manager is being stopped");
	else
		group_delete_all(m, "the aggregation manager is being stopped");
	while (m->groups && now_ms() < until)
		run_turn(m, until);
	/* Let ranks get their messages before the connection ends. */
	until = now_ms() + TELL_MS;
	while (!rpc_idle(m->rpc) && now_ms() < until)
		loop_turn(&m->loop, until);
}

/*
 * Raise the limit for 32,000 clients, each with a connection, but not beyond,
 * as strangers could use more up.
 */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > FILES)
		return;
	limit.rlim_cur = limit.rlim_max > FILES ? FILES : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * Return large allocations to the system when they are freed. By default the C
 * library learns to keep up to 32 MiB, for each of the threads that read answers.
 */
static void return_large(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE);
}

static int start_loop(struct manager *m)
{
	int ret = loop_init(&m->loop);

	if (ret)
		log_error("epoll: %s", strerror(-ret));
	return ret;
}

static int start_hashes(void)
{
	if (!index_key())
		return 0;
	log_error("no random numbers: %s", strerror(errno));
	return -1;
}

static int start_stats(struct manager *m)
{
	if (!events_init(&m->events))
		m->stats = stats_start(m);
	if (m->stats)
		return 0;
	log_error("no memory");
	return -1;
}

static int start_web(struct manager *m, struct web **web)
{
	char err[256];

	if (!m->o.http)
		return 0;
	*web = web_start(m, m->stats, m->o.http, err, sizeof(err));
	if (*web)
		return 0;
	log_error("--http %s: %s", m->o.http, err);
	return -1;
}

static int start_tenants(struct manager *m)
{
	char err[512];

	if (!tenants_open(&m->tenants, m->o.tenants ? m->o.tenants : AM_TENANTS,
			  !m->o.tenants, err, sizeof(err))) {
		log_info("%s", m->tenants.result);
		return 0;
	}
	log_error("%s", err);
	return -1;
}

/* Replace port 0 by the real one, for clients, events and the store. */
static void name_port(struct amd_options *o, int port)
{
	static char real[300];

	if (!strncmp(o->listen, "unix:", 5))
		return;
	snprintf(real, sizeof(real), "%.*s:%d",
		 (int)(strrchr(o->listen, ':') - o->listen), o->listen, port);
	if (o->advertise == o->listen)
		o->advertise = real;
	o->listen = real;
}

static const struct group_ops group_ops = {
	.store		= persist_store,
	.changed	= persist_changed,
	.unstore	= persist_delete,
	.on_end		= stats_group_ends,
};

static int start_rpc(struct manager *m)
{
	static const struct rpc_handler handler = {
		.call		= answer_call,
		.opened		= session_opened,
		.is_beat	= am_rank_is_beat,
		.message	= session_message,
		.closed		= session_closed,
		.identified	= stats_caller,
		.refused	= violation_call,
		.cut		= violation_cut,
	};
	char err[640];
	int port;

	m->o.security.self = "manager";
	m->o.security.env = "INC_AM";
	creds_watch(&m->loop, stats_creds, m);
	m->rpc = rpc_start(&m->loop, m->o.listen, &m->o.security, &handler, m,
			   &port, err, sizeof(err));
	if (m->rpc) {
		name_port(&m->o, port);
		return 0;
	}
	log_error("%s", err);
	return -1;
}

static int start_calls(struct manager *m)
{
	const struct called_how how = {
		.listen = m->o.callhome,
		.ca = m->o.security.ca,
		.cert = m->o.security.cert,
		.key = m->o.security.key,
		.crl = m->o.security.crl,
		.leads = switches_may_call,
		.find = switches_caller,
		.refused = violation_call,
		.ctx = m,
	};
	char err[640];

	if (!m->o.callhome ||
	    !called_start(&m->loop, &how, err, sizeof(err)))
		return 0;
	log_error("--callhome %s: %s", m->o.callhome, err);
	return -1;
}

static int start_state(struct manager *m, char *err)
{
	struct store_db *db = NULL;
	int ret = 0;

	if (strcmp(m->o.store, "none"))
		ret = store_db_open(&db, m->o.store, m->o.advertise,
				    &m->o.etcd, err);
	return ret ? ret : state_start(m, db, err);
}

/*
 * Start all parts that may fail, the store last: a failed start must leave
 * nothing behind, so the store is opened, or made, only if all else works.
 */
static int start_serving(struct manager *m, struct web **web)
{
	char err[640];

	/* The store has the address; calls wait for the loop. */
	if (start_rpc(m))
		return -1;
	if (!start_web(m, web) && !start_calls(m) &&
	    !inc_pidfile_write("inc-amd", m->o.pidfile)) {
		if (!start_state(m, err))
			return 0;
		log_error("--store %s: %s", m->o.store, err);
		inc_pidfile_remove(m->o.pidfile);
	}
	rpc_unlisten(m->rpc);
	return -1;
}

int main(int argc, char **argv)
{
	const sigset_t *signals = hold_signals();
	struct manager *m = &manager;
	struct web *web = NULL;
	bool ended;
	int ret;

	inc_output_open();
	ret = options_read(&m->o, argc, argv);
	if (ret)
		return ret < 0 || !inc_output_end("inc-amd") ? 2 : 0;
	log_start("inc-amd", m->o.verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	return_large();
	raise_limit();
	m->group_ops = &group_ops;
	m->fabric.most = SWITCHES_PLACES;
	if (start_loop(m) || start_hashes() || start_tenants(m) || start_stats(m))
		return 1;
	ids_start(m);
	if (catch_signals(signals))
		return 1;
	if (start_serving(m, &web))
		return 1;
	if (switches_start(m)) {
		log_error("no memory");
		inc_pidfile_remove(m->o.pidfile);
		rpc_unlisten(m->rpc);
		return 1;
	}
	web_publish(web);
	printf("listening on %s\n", m->o.listen);
	inc_output_end("inc-amd");
	inc_notify("READY=1");
	run_loop(m);
	inc_notify("STOPPING=1");
	web_stop(web);
	dismantle_groups(m);
	rpc_stop(m->rpc);
	ended = switches_stop(m);
	state_stop(m);
	stats_stop(m->stats);
	events_free(&m->events);
	tenants_close(&m->tenants);
	inc_pidfile_remove(m->o.pidfile);
	/* exit() would destroy data that a blocked thread still uses. */
	if (!ended)
		_exit(0);
	return 0;
}
