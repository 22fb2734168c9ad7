// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The manager as main.c has it, and a clock that the test sets.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "rpc/message.h"
#include "group/group.h"
#include "stats/stats.h"
#include "tests/fake.h"

struct manager fake_manager;
int64_t fake_ms = 1000000;
static bool stopping;

/* --- Time ---------------------------------------------------------------- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_epoll_wait(int ep, struct epoll_event *list, int n, int ms);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = fake_ms / 1000;
	ts->tv_nsec = fake_ms % 1000 * 1000000;
	return 0;
}

/**
 * fake_work() - let one of those that the manager waits for do something
 *
 * Return: false if nobody has anything to do.
 */
bool fake_work(void)
{
	return fake_complete() || fake_run() || fake_store_run();
}

/**
 * fake_any_group() - choose one of the manager's groups
 *
 * Return: the group, or NULL if there is none.
 */
struct group *fake_any_group(void)
{
	struct group *g;
	uint32_t n = 0;

	for (g = fake_manager.groups; g; g = g->next)
		n++;
	if (!n)
		return NULL;
	n = fuzz_any(n);
	for (g = fake_manager.groups; n; n--)
		g = g->next;
	return g;
}

/* While the main loop waits for others to end, they work. */
int __wrap_epoll_wait(int ep, struct epoll_event *list, int n, int ms)
{
	(void)ep;
	(void)list;
	(void)n;
	(void)ms;
	if (stopping && !fake_work())
		fake_ms += 10;
	return 0;
}

/* --- The manager, as main.c has it --------------------------------------- */

static void name_switches(void)
{
	unsigned int i;

	fake_manager.o.nswitches = FAKE_SWITCHES;
	fake_manager.o.switches = calloc(FAKE_SWITCHES, sizeof(*fake_manager.o.switches));
	for (i = 0; fake_manager.o.switches && i < FAKE_SWITCHES; i++)
		fake_manager.o.switches[i] = strdup(fake_address(i));
	if (!fake_manager.o.switches)
		abort();
}

static void free_switches(void)
{
	unsigned int i;

	for (i = 0; i < FAKE_SWITCHES; i++)
		free((void *)fake_manager.o.switches[i]);
	free(fake_manager.o.switches);
	free(fake_manager.fabric.cables);
}

/**
 * fake_start() - start the manager
 * @limits: file with the limits of tenants
 * @store: there is a store
 * @beat_ms: interval of heartbeats
 */
void fake_start(const char *limits, bool store, uint32_t beat_ms)
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
	static const struct group_ops group_ops = {
		.store		= persist_store,
		.changed	= persist_changed,
		.unstore	= persist_delete,
		.on_end		= stats_group_ends,
	};
	static struct store_db db;
	char err[640];
	int port;

	log_start("inc-amd", LOG_LEVEL_INFO);
	memset(&fake_manager, 0, sizeof(fake_manager));
	fake_manager.o = (struct amd_options) {
		.listen = "fuzz:1", .advertise = "fuzz:1",
		.forming_ms = 10000, .heartbeat_ms = beat_ms,
		.misses = 8, .agent_ms = 2000, .agent_misses = 3,
		.rebuild_ms = 20000,
		.first_tree = 1, .last_tree = 400, .tenants = limits,
	};
	fake_manager.group_ops = &group_ops;
	/* Few: places are used again. */
	fake_manager.fabric.most = FAKE_SWITCHES + 3;
	name_switches();
	fake_store_lead(true);
	loop_init(&fake_manager.loop);
	if (tenants_open(&fake_manager.tenants, limits, true, err, sizeof(err)) ||
	    events_init(&fake_manager.events))
		fuzz_wrong("start");
	fake_manager.stats = stats_start(&fake_manager);
	ids_start(&fake_manager);
	if (switches_start(&fake_manager))
		fuzz_wrong("start");
	fake_manager.rpc = rpc_start(&fake_manager.loop, fake_manager.o.listen, &fake_manager.o.security, &handler, &fake_manager,
			  &port, err, sizeof(err));
	if (!fake_manager.stats || !fake_manager.rpc || state_start(&fake_manager, store ? &db : NULL, err))
		fuzz_wrong("start");
}

static int64_t deadline(void)
{
	int64_t next = state_deadline(&fake_manager);

	group_settle(&fake_manager);
	group_arm(&fake_manager);
	if (reserve_deadline(&fake_manager) < next)
		next = reserve_deadline(&fake_manager);
	if (fake_manager.stats->sample_at < next)
		next = fake_manager.stats->sample_at;
	if (group_drain_deadline(&fake_manager) < next)
		next = group_drain_deadline(&fake_manager);
	if (fake_manager.state.phase == PHASE_ACTIVE && hosts_deadline(&fake_manager.fabric) < next)
		next = hosts_deadline(&fake_manager.fabric);
	if (fake_manager.state.phase == PHASE_ACTIVE && meet_deadline(&fake_manager.fabric) < next)
		next = meet_deadline(&fake_manager.fabric);
	return timers_next(&fake_manager.loop.timers) < next ?
	       timers_next(&fake_manager.loop.timers) : next;
}

static void turn_loop(void)
{
	bool changed;

	deadline();
	loop_turn(&fake_manager.loop, 0);
	group_settle(&fake_manager);
	reserve_expire(&fake_manager);
	group_drain_turn(&fake_manager);
	if (fake_manager.state.phase == PHASE_ACTIVE) {
		changed = hosts_turn(&fake_manager.fabric);
		if (changed)
			group_note_again(&fake_manager);
		meet_turn(&fake_manager.fabric, changed);
	}
	state_turn(&fake_manager);
	stats_expire(fake_manager.stats);
}

/* Without heartbeats, as long as their connections are there. */
static bool waits_for_ranks(const struct group *g)
{
	return g->state == GROUP_READY || g->state == GROUP_REJOINED ||
	       (g->state == GROUP_REJOINING && g->rebuild.rejoined < g->request.ranks);
}

static bool is_made(const struct group *g)
{
	return g->state == GROUP_MAKING || g->state == GROUP_REMAKING;
}

/* A group has what it says, and there is something that it waits for. */
static void check_group(const struct group *g)
{
	uint32_t present = 0, rts = 0, i;

	for (i = 0; i < g->request.ranks; i++) {
		present += g->ranks[i].core.state == RANK_PRESENT;
		rts += g->ranks[i].core.rts;
	}
	if (g->core.present != present || g->core.rts != rts)
		fuzz_wrong("a group counts its ranks wrong");
	if (g->raised.events || g->raised.queued)
		fuzz_wrong("an event was not settled");
	if (!g->making.ops && (is_made(g) ? !g->persisted.raise_stored :
			 !g->due.timer.place && !waits_for_ranks(g)))
		fuzz_wrong("a group waits for nothing");
	if (g->state == GROUP_OVER && !g->making.ops)
		fuzz_wrong("a group that is over stays");
}

static void check_groups(void)
{
	const struct group *g;
	uint32_t placing = 0, live = 0;

	for (g = fake_manager.groups; g; g = g->next) {
		check_group(g);
		live += g->state < GROUP_ENDING;
		placing += g->state == GROUP_PLACING ||
			   g->state == GROUP_REPLACING;
	}
	if (placing != fake_manager.placing ||
	    live != fake_manager.tenants.use.groups)
		fuzz_wrong("groups are counted wrong");
}

/**
 * fake_settle() - let the main loop run until it waits
 *
 * What is due is done in a few turns. Then all groups are as they should be.
 */
void fake_settle(void)
{
	unsigned int n = 0;

	do {
		turn_loop();
		if (++n > 1000)
			fuzz_wrong("the main loop spins");
	} while (!TAILQ_EMPTY(&fake_manager.loop.queue) || deadline() <= fake_ms);
	check_groups();
}

/**
 * fake_stop() - stop the manager
 */
void fake_stop(void)
{
	int64_t until = fake_ms + 200000;
	unsigned int i;

	stopping = true;
	fake_manager.stop = true;
	for (i = 0; i < fake_manager.fabric.n; i++)
		sw_silence(&fake_manager.fabric.switches[i]);
	if (fake_manager.state.store)
		state_forget(&fake_manager, "stop");
	else
		group_delete_all(&fake_manager, "stop");
	while (fake_manager.groups && fake_ms < until)
		turn_loop();
	if (fake_manager.groups)
		fuzz_wrong("a group stays for ever");
	rpc_stop(fake_manager.rpc);
	while (fake_run())
		;
	loop_turn(&fake_manager.loop, 0);
	for (i = 0; i < fake_manager.fabric.n; i++)
		if (fake_manager.fabric.switches[i].subtrees)
			fuzz_wrong("a switch has subtrees of no group");
	drain_forget(&fake_manager);
	switches_stop(&fake_manager);
	if (fake_manager.groups)
		fuzz_wrong("a group came while the manager ended");
	state_stop(&fake_manager);
	loop_turn(&fake_manager.loop, 0);
	stats_stop(fake_manager.stats);
	events_free(&fake_manager.events);
	tenants_close(&fake_manager.tenants);
	loop_free(&fake_manager.loop);
	index_free(&fake_manager.by_name);
	index_free(&fake_manager.by_tree);
	fake_store_free();
	fake_fabric_free();
	free_switches();
	stopping = false;
}
