// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-amd: starts, runs and stops the manager.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/message.h"
#include "conf/notify.h"
#include "manager.h"
#include "stats/stats.h"
#include "web/web.h"

#define STOP_MS		5000	/* to delete all trees at the end */
#define TELL_MS		200
#define FILES		65536	/* descriptors */

static struct manager manager;

/* --- Signals ------------------------------------------------------------- */

static void stop(struct work *work)
{
	(void)work;
	manager.stop = true;
}

static void reload(struct work *work)
{
	char err[512];

	free(work);
	if (manager.stop)
		return;
	group_check_callers(&manager);
	event_say(&manager.events,
		  tenants_reload(&manager.tenants, err, sizeof(err)) ?
		  EVENT_LIMITS_WRONG : EVENT_LIMITS_READ,
		  manager.o.advertise, "%s", manager.tenants.said);
}

static void post_reload(void)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work)
		return;
	work->fn = reload;
	loop_post(&manager.loop, work);
}

static void *wait_signal(void *arg)
{
	static struct work work = { .fn = stop };
	const sigset_t *set = arg;
	int sig;

	while (!sigwait(set, &sig) && sig == SIGHUP)
		post_reload();
	loop_post(&manager.loop, &work);
	/* The second one ends the program, if it hangs. */
	while (!sigwait(set, &sig) && sig == SIGHUP)
		;
	_exit(1);
}

/* Until somebody waits for them, they wait: SIGHUP would end the program. */
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

/* All other threads leave these signals to this one. */
static int catch_signals(const sigset_t *set)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, wait_signal, (void *)set);
}

/* --- Switches ------------------------------------------------------------ */

static void switch_seen(struct sw *sw, const struct sw_info *before)
{
	if (sw->up)
		topo_changed(manager.topo, sw);
	if (manager.state.phase != PHASE_ACTIVE)
		return;
	if (sw->up && !manager.stop)
		restore_check(&manager, sw);
	news_seen(&manager, sw, before);
	group_find_links(&manager);
	group_fabric_changed(&manager);
}

static const struct sw *switch_namesake(const struct sw *sw, const char *id)
{
	const struct sw *other;
	unsigned int i;

	for (i = 0; i < manager.o.nswitches; i++) {
		other = &manager.switches[i];
		if (other != sw && other->info && !strcmp(other->info->id, id))
			return other;
	}
	return NULL;
}

static void switch_heard(const struct sw_news *news)
{
	if (manager.state.phase == PHASE_ACTIVE)
		news_heard(&manager, news);
}

/* Changes are the leader's, even if they have waited in a queue. */
static bool may_change(void)
{
	return store_leads(manager.state.store);
}

static void set_path(char *to, size_t len, const char *from)
{
	snprintf(to, len, "%s", from ? from : "");
}

static int start_switches(struct manager *m)
{
	struct sw *sw;
	unsigned int i;
	int ret = 0;

	m->switches = calloc(m->o.nswitches, sizeof(*m->switches));
	m->topo = m->switches ? topo_new(m) : NULL;
	if (!m->topo || sw_crew_start(&m->crew, m->o.nswitches))
		return -ENOMEM;
	for (i = 0; i < m->o.nswitches && !ret; i++) {
		sw = &m->switches[i];
		sw->loop = &m->loop;
		sw->crew = &m->crew;
		sw->index = i;
		sw->address = m->o.switches[i];
		sw->interval_ms = m->o.agent_ms;
		sw->seen = switch_seen;
		sw->heard = switch_heard;
		sw->namesake = switch_namesake;
		sw->may_change = may_change;
		netconf_target_parse(&sw->target, sw->address);
		set_path(sw->target.key, sizeof(sw->target.key), m->o.key);
		set_path(sw->target.known_hosts,
			 sizeof(sw->target.known_hosts), m->o.known_hosts);
		sw->target.cert = m->o.security.cert;
		sw->target.cert_key = m->o.security.key;
		sw->target.ca = m->o.security.ca;
		ret = sw_start(sw);
	}
	return ret;
}

static void stop_switches(struct manager *m)
{
	unsigned int i;

	for (i = 0; i < m->o.nswitches; i++)
		sw_stop(&m->switches[i]);
	sw_crew_stop(&m->crew);
	/* What they have done last. */
	loop_turn(&m->loop, 0);
	for (i = 0; i < m->o.nswitches; i++)
		sw_info_free(m->switches[i].info);
	topo_free(m->topo);
	free(m->switches);
}

/* --- Run ----------------------------------------------------------------- */

static void turn(struct manager *m, int64_t until)
{
	int64_t next = state_deadline(m);

	group_arm(m);
	if (reserve_deadline(m) < next)
		next = reserve_deadline(m);
	if (m->stats->at < next)
		next = m->stats->at;
	if (m->state.phase == PHASE_ACTIVE && hosts_deadline(m) < next)
		next = hosts_deadline(m);
	loop_turn(&m->loop, next < until ? next : until);
	reserve_expire(m);
	if (m->state.phase == PHASE_ACTIVE)
		hosts_turn(m);
	state_turn(m);
	stats_expire(m->stats);
}

static void run(struct manager *m)
{
	while (!m->stop)
		turn(m, INT64_MAX);
}

/* Delete all trees; or, if there is a store, leave them to the next manager. */
static void dismantle(struct manager *m)
{
	int64_t until = now_ms() + STOP_MS;
	unsigned int i;

	for (i = 0; i < m->o.nswitches; i++)
		sw_hush(&m->switches[i]);
	if (m->state.store)
		state_forget(m, "the manager is being stopped");
	else
		group_delete_all(m, "the aggregation manager is being stopped");
	while (m->groups && now_ms() < until)
		turn(m, until);
	/* Ranks are to hear it, rather than to lose their connection. */
	until = now_ms() + TELL_MS;
	while (!rpc_idle(m->rpc) && now_ms() < until)
		loop_turn(&m->loop, until);
}

/*
 * For 32,000 clients, each with a connection, but not more than strangers may use
 * up: a connection takes 24 KiB. See gate.h.
 */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur > FILES)
		return;
	limit.rlim_cur = limit.rlim_max > FILES ? FILES : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int write_pid(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f)) {
		fprintf(stderr, "inc-amd: --pidfile %s: %s\n", path,
			strerror(errno));
		if (f)
			unlink(path);
		return -1;
	}
	return 0;
}

static int start_stats(struct manager *m)
{
	if (!events_init(&m->events))
		m->stats = stats_start(m);
	if (m->stats)
		return 0;
	fputs("inc-amd: no memory\n", stderr);
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
	fprintf(stderr, "inc-amd: --http %s: %s\n", m->o.http, err);
	return -1;
}

static int start_tenants(struct manager *m)
{
	char err[512];

	if (!tenants_open(&m->tenants, m->o.tenants ? m->o.tenants : AM_TENANTS,
			  !m->o.tenants, err, sizeof(err))) {
		log_say("%s", m->tenants.said);
		return 0;
	}
	fprintf(stderr, "inc-amd: %s\n", err);
	return -1;
}

/* Port 0 was any: clients, events and the store are told the real one. */
static void name_port(struct options *o, int port)
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

static int start_rpc(struct manager *m)
{
	static const struct rpc_handler handler = {
		.call		= leader_call,
		.opened		= leader_opened,
		.is_beat	= am_rank_is_beat,
		.message	= group_message,
		.closed		= group_closed,
		.refused	= violation_call,
	};
	char err[640];
	int port;

	m->rpc = rpc_start(&m->loop, m->o.listen, &m->o.security, &handler, m,
			   &port, err, sizeof(err));
	if (m->rpc) {
		name_port(&m->o, port);
		return 0;
	}
	fprintf(stderr, "inc-amd: %s\n", err);
	return -1;
}

int main(int argc, char **argv)
{
	const sigset_t *signals = hold_signals();
	struct manager *m = &manager;
	char err[640];
	struct web *web = NULL;
	int ret;

	ret = options_read(&m->o, argc, argv);
	if (ret)
		return ret < 0 ? 2 : 0;
	log_open(m->o.verbose);
	rpc_prepare();
	raise_limit();
	loop_init(&m->loop);
	if (start_tenants(m) || start_stats(m))
		return 1;
	ids_start(m);
	if (catch_signals(signals))
		return 1;
	/* The store has the address; calls wait for the loop. */
	if (start_rpc(m))
		return 1;
	if (state_start(m, err)) {
		fprintf(stderr, "inc-amd: --store %s: %s\n", m->o.store, err);
		return 1;
	}
	if (start_switches(m)) {
		fputs("inc-amd: no memory\n", stderr);
		return 1;
	}
	/* Whatever fails before would overwrite that of one that runs. */
	if (start_web(m, &web) || (m->o.pidfile && write_pid(m->o.pidfile)))
		return 1;
	printf("listening on %s\n", m->o.listen);
	fflush(stdout);
	inc_notify("READY=1");
	run(m);
	inc_notify("STOPPING=1");
	web_stop(web);
	dismantle(m);
	rpc_stop(m->rpc);
	stop_switches(m);
	state_stop(m);
	stats_stop(m->stats);
	events_free(&m->events);
	tenants_close(&m->tenants);
	if (m->o.pidfile)
		unlink(m->o.pidfile);
	return 0;
}
