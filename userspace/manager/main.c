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
#include <time.h>
#include <unistd.h>

#include "manager.h"

#define STOP_MS		5000	/* to delete all trees at the end */

static struct manager manager;

/* --- Signals ------------------------------------------------------------- */

static void stop(struct work *work)
{
	(void)work;
	manager.stop = true;
}

static void *wait_signal(void *arg)
{
	static struct work work = { .fn = stop };
	const sigset_t *set = arg;
	int sig;

	sigwait(set, &sig);
	loop_post(&manager.loop, &work);
	/* The second one ends the program, if it hangs. */
	sigwait(set, &sig);
	_exit(1);
}

/* All other threads leave these signals to this one. */
static int catch_signals(void)
{
	static sigset_t set;
	pthread_t thread;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return pthread_create(&thread, NULL, wait_signal, &set);
}

/* --- Switches ------------------------------------------------------------ */

/* Trees that an earlier manager has left there are in nobody's way for long. */
static void clear(struct manager *m, struct sw *sw)
{
	unsigned int i;
	uint32_t id;

	for (i = 0; i < sw->info->ntrees; i++) {
		id = sw->info->trees[i];
		if (id >= m->o.first_tree && id <= m->o.last_tree &&
		    !group_owns_tree(m, sw, id))
			group_clear_tree(sw, id);
	}
}

static void switch_seen(struct sw *sw)
{
	if (sw->up && !manager.stop)
		clear(&manager, sw);
	group_fabric_changed(&manager);
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
	if (!m->switches)
		return -ENOMEM;
	for (i = 0; i < m->o.nswitches && !ret; i++) {
		sw = &m->switches[i];
		sw->loop = &m->loop;
		sw->index = i;
		sw->address = m->o.switches[i];
		sw->seen = switch_seen;
		netconf_target_parse(&sw->target, sw->address);
		set_path(sw->target.key, sizeof(sw->target.key), m->o.key);
		set_path(sw->target.known_hosts,
			 sizeof(sw->target.known_hosts), m->o.known_hosts);
		ret = sw_start(sw);
	}
	return ret;
}

static void stop_switches(struct manager *m)
{
	unsigned int i;

	for (i = 0; i < m->o.nswitches; i++)
		sw_stop(&m->switches[i]);
	/* What they have done last. */
	loop_turn(&m->loop, 0);
	for (i = 0; i < m->o.nswitches; i++)
		sw_info_free(m->switches[i].info);
	free(m->switches);
}

/* --- Run ----------------------------------------------------------------- */

static void turn(struct manager *m, int64_t until)
{
	int64_t next = group_deadline(m);
	unsigned int i;

	for (i = 0; i < m->o.nswitches; i++)
		if (!m->switches[i].refreshing &&
		    m->switches[i].refresh_at < next)
			next = m->switches[i].refresh_at;
	loop_turn(&m->loop, next < until ? next : until);
	group_expire(m);
}

static void run(struct manager *m)
{
	unsigned int i;

	while (!m->stop) {
		for (i = 0; i < m->o.nswitches; i++)
			sw_refresh_due(&m->switches[i]);
		turn(m, INT64_MAX);
	}
}

/* Tell all ranks, and delete all trees. */
static void dismantle(struct manager *m)
{
	int64_t until = now_ms() + STOP_MS;
	unsigned int i;

	for (i = 0; i < m->o.nswitches; i++)
		m->switches[i].refresh_at = INT64_MAX;
	group_delete_all(m, "the aggregation manager is being stopped");
	while (m->groups && now_ms() < until)
		turn(m, until);
}

static int write_pid(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || fclose(f)) {
		fprintf(stderr, "inc-amd: --pidfile %s: %s\n", path,
			strerror(errno));
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct rpc_handler handler = {
		.call		= answer_call,
		.opened		= group_opened,
		.message	= group_message,
		.closed		= group_closed,
	};
	struct manager *m = &manager;
	int ret, port;

	ret = options_read(&m->o, argc, argv);
	if (ret)
		return ret < 0 ? 2 : 0;
	log_open(m->o.verbose);
	loop_init(&m->loop);
	/* IDs that were not used lately are easier to tell apart. */
	m->next_tree = m->o.first_tree + (uint32_t)time(NULL) %
		       (m->o.last_tree - m->o.first_tree + 1);
	if (catch_signals() || (m->o.pidfile && write_pid(m->o.pidfile)))
		return 1;
	m->rpc = rpc_start(&m->loop, m->o.listen, &handler, m, &port);
	if (!m->rpc) {
		fprintf(stderr, "inc-amd: --listen %s: this address cannot be used; is another manager running?\n",
			m->o.listen);
		return 1;
	}
	if (start_switches(m)) {
		fputs("inc-amd: no memory\n", stderr);
		return 1;
	}
	printf("listening on %s port %d\n", m->o.listen, port);
	fflush(stdout);
	run(m);
	dismantle(m);
	rpc_stop(m->rpc);
	stop_switches(m);
	if (m->o.pidfile)
		unlink(m->o.pidfile);
	return 0;
}
