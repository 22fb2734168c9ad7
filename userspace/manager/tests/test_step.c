// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * group/step.c: a group in each state, and all that may happen to it there. The
 * manager is the real one, with a crew of switches that is faked. KTAP.
 *
 *   test_step [STEPS [SEED]]
 *
 * First each event in each state, then each fault, as switches, ranks and people
 * cause them; then as many random steps. A run with a seed is always the same.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rpc/message.h"
#include "group/group.h"
#include "rdma_inc_proto.h"
#include "tests/fake.h"

#define STEPS		100000
#define RUN		2000	/* steps of one manager */
#define RANKS		4
#define GROUPS		4
#define NOTICE_MS	40000	/* more than --rebuild-time */
#define BOUND_MS	90000	/* for a group to be ready, or to have ended */

/* As letters, in the order of enum group_state. */
static const char states[] = "GPMJRrpmjEO";
static const char *const state_names[GROUP_STATES] = {
	"gathering", "placing", "making", "joined", "ready", "rejoining",
	"replacing", "remaking", "rejoined", "ending", "over",
};

static unsigned int number, failures;
static uint64_t random_state, seed;
/* Calm: nothing goes wrong by chance, and what is first comes first. */
static enum luck { CALM, UNLUCKY, RANDOM } luck;
static bool silent;	/* ranks send no heartbeats */
static bool quiet;	/* a random run without another manager, or events from nowhere */

uint32_t fuzz_any(uint32_t n)
{
	if (luck != RANDOM)
		return luck == CALM ? n - 1 : 0;
	random_state = random_state * 6364136223846793005u +
		       1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

_Noreturn void fuzz_wrong(const char *what)
{
	printf("not ok %u - %s, seed %llu\n", ++number, what,
	       (unsigned long long)seed);
	fflush(stdout);
	abort();
}

static void ok(bool passed, const char *where, const char *what)
{
	printf("%sok %u - %s: %s\n", passed ? "" : "not ", ++number, where,
	       what);
	failures += !passed;
}

/* --- Ranks --------------------------------------------------------------- */

static void say(struct rpc_stream *call, const struct am_message *msg)
{
	uint8_t *data;
	size_t len;

	if (am_rank_pack(msg, &data, &len))
		abort();
	fake_send(call, data, len);
	free(data);
}

static void say_type(struct rpc_stream *call, enum inc_rdv_type type)
{
	struct am_message msg = { .rdv.type = type };

	msg.rdv.join.round = call->round;
	msg.rdv.join.qpn = 1000 + call->round;
	say(call, &msg);
}

/* Half of its ranks are at each leaf, for the tree to have several switches. */
static void join_job(const char *job, uint32_t rank, bool rebuild)
{
	struct am_message msg = { .rdv.type = INC_RDV_JOIN };
	struct inc_rdv_join *join = &msg.rdv.join;
	struct identity who = { .name = "one", .role = ROLE_CLIENT };
	struct rpc_stream *call;

	snprintf(join->job, sizeof(join->job), "%s", job);
	join->ranks = RANKS;
	join->rank = rank;
	join->qpn = 100 + rank;
	join->mtu = 1024;
	join->rebuild = rebuild;
	join->change = !rebuild;
	join->move = true;
	fake_host(&join->addr, rank / 2 * FAKE_HOSTS + rank % 2);
	call = fake_call(AM_JOIN, &who, &join->addr);
	call->join = *join;
	say(call, &msg);
}

static void join_rank(uint32_t group, uint32_t rank, bool rebuild)
{
	char job[16];

	snprintf(job, sizeof(job), "g%u", group);
	join_job(job, rank, rebuild);
}

static bool is_here(const struct rpc_stream *call)
{
	return !call->finished && !call->cancelled && !call->n && call->user;
}

/* A rank of a group that moves joins the other one, and leaves once that is ready. */
static bool rank_moves(struct rpc_stream *call)
{
	const struct rank *r = call->user;
	const struct group *g = r->group, *to = g->move.to;

	if (!g->move.job[0] || r->core.state != RANK_PRESENT ||
	    (g->state != GROUP_READY && g->state != GROUP_ENDING))
		return false;
	if (!to || to->ranks[r->join.rank].core.state == RANK_ABSENT)
		join_job(g->move.job, r->join.rank, g->request.rebuild);
	else if (to->state == GROUP_READY && !to->persisted.raise_stored)
		say_type(call, INC_RDV_LEAVE);
	else
		return false;
	return true;
}

/* What ranks do next, unless they want something else. */
static bool rank_acts(struct rpc_stream *call)
{
	const struct rank *r = call->user;
	const struct group *g;

	if (!is_here(call))
		return false;
	g = r->group;
	if (r->core.state == RANK_PRESENT && group_is_joined(g->state) && !r->core.rts)
		say_type(call, INC_RDV_RTS);
	else if (g->state == GROUP_REJOINING && !r->rejoined)
		say_type(call, INC_RDV_REJOIN);
	else
		return rank_moves(call);
	return true;
}

static bool ranks_act(void)
{
	struct rpc_stream *call;

	for (call = fake_calls(); call; call = call->next)
		if (rank_acts(call))
			return true;
	return false;
}

static struct rpc_stream *first_call(void)
{
	struct rpc_stream *call = fake_calls();

	while (call && !is_here(call))
		call = call->next;
	return call;
}

/* --- A group in a state -------------------------------------------------- */

static struct group *the_group(void)
{
	return fake_manager.groups;
}

static void pass_time(int64_t ms)
{
	struct rpc_stream *call;

	fake_ms += ms;
	for (call = fake_calls(); call && !silent; call = call->next)
		call->beat_at = fake_ms;
}

/* What comes next comes, one after the other. */
static void go_on(void)
{
	if (!fake_complete() && !ranks_act() && !fake_run() &&
	    !fake_store_run())
		pass_time(100);
	fake_settle();
}

static void raise_failed(struct group *g)
{
	group_fail(g, CAUSE_TREE, -1, INC_STATUS_TREE_GONE, "a test");
	group_settle(&fake_manager);
}

static void go_until(enum group_state state)
{
	int64_t until = fake_ms + BOUND_MS;

	while (the_group() && the_group()->state != state) {
		go_on();
		if (fake_ms > until)
			fuzz_wrong("a group does not come so far");
	}
	if (!the_group())
		fuzz_wrong("a group ended before");
}

static void break_all(bool broken)
{
	unsigned int i;

	for (i = 0; i < FAKE_AGENTS; i++)
		fake_break(i, broken);
}

/* A group is to be placed as long as no switch has told who is there. */
static void begin_group(enum group_state state, bool store, bool rebuild)
{
	uint32_t i;

	luck = CALM;
	silent = false;
	break_all(state == GROUP_PLACING);
	fake_start(NULL, store, 1000);
	fake_settle();
	while (fake_manager.state.phase != PHASE_ACTIVE || fake_run())
		go_on();
	for (i = 0; i < RANKS - (state == GROUP_GATHERING); i++)
		join_rank(0, i, rebuild);
	while (fake_complete())
		fake_settle();
	break_all(false);
}

static void reach(enum group_state state, bool store, bool rebuild)
{
	begin_group(state, store, rebuild);
	if (state < GROUP_READY) {
		go_until(state);
		return;
	}
	go_until(GROUP_READY);
	while (the_group()->persisted.raise_stored)
		go_on();
	if (state == GROUP_ENDING)
		say_type(first_call(), INC_RDV_LEAVE);
	else if (state == GROUP_OVER)
		group_delete(the_group(), "a test");
	else if (state != GROUP_READY)
		raise_failed(the_group());
	group_settle(&fake_manager);
	while (the_group()->state != state)
		if (state == GROUP_ENDING) {
			fake_complete();
			fake_settle();
		} else {
			go_on();
		}
}

/* Returns whether it is ready, or has ended, in time; sets after how long. */
static bool comes_to_rest(int64_t *ms)
{
	int64_t begin = fake_ms;
	const struct group *g;

	while ((g = the_group()) &&
	       (g->state != GROUP_READY || g->persisted.raise_stored)) {
		if (fake_ms - begin > BOUND_MS)
			return false;
		go_on();
	}
	*ms = fake_ms - begin;
	return true;
}

/* --- Events -------------------------------------------------------------- */

static void raise_event(struct group *g, enum group_event event)
{
	if (event <= GROUP_EV_FAILED)
		group_raise_fault(g, event, CAUSE_HAND, ECONNRESET, "a test");
	else
		group_raise(g, event);
}

/*
 * The states after each event, in the order of enum group_event, of a group that
 * is to have another tree if its own fails; -: it is freed.
 */
static const char *const after[GROUP_STATES] = {
	[GROUP_GATHERING]	= "----GGGGGGGGGGG",
	[GROUP_PLACING]		= "----EEPPPPPPPPP",
	[GROUP_MAKING]		= "OOOMEEMMMMMMMMM",
	[GROUP_JOINED]		= "-OOrEEJJJJJJJJJ",
	[GROUP_READY]		= "-ORrEERRRRRRRRR",
	[GROUP_REJOINING]	= "--rrEErrrrrrrrr",
	[GROUP_REPLACING]	= "--rrEEpppppppmp",
	[GROUP_REMAKING]	= "OOrrEEmmmmmmmmm",
	[GROUP_REJOINED]	= "-OrrEEjjjjjjjjj",
	[GROUP_ENDING]		= "-OOEEEOEEEEEEEE",
	[GROUP_OVER]		= "OOOOOOOOOOOOOOO",
};

static char state_after(enum group_state state, enum group_event event,
			bool store)
{
	struct group *g;
	int64_t ms;
	char to;

	reach(state, store, true);
	raise_event(the_group(), event);
	group_settle(&fake_manager);
	g = the_group();
	to = g ? states[g->state] : '-';
	if (!comes_to_rest(&ms))
		fuzz_wrong("a group stays as it is");
	fake_stop();
	return to;
}

static void walk_events(enum group_state state)
{
	char found[GROUP_EVENTS + 1] = "";
	unsigned int event;
	bool same = true;

	for (event = 0; event < GROUP_EVENTS; event++) {
		found[event] = state_after(state, event, false);
		same &= state_after(state, event, true) == found[event];
	}
	printf("# %-9s %s\n", state_names[state], found);
	ok(same && !strcmp(found, after[state]), state_names[state],
	   "each event");
}

/* --- Faults -------------------------------------------------------------- */

static void cut_rank(void)
{
	if (first_call())
		first_call()->cancelled = true;
}

static void leave_group(void)
{
	if (first_call())
		say_type(first_call(), INC_RDV_LEAVE);
}

static void silence_ranks(void)
{
	silent = true;
}

static void lose_tree(void)
{
	if (first_call())
		say_type(first_call(), INC_RDV_LOST);
}

static void revoke_ranks(void)
{
	luck = UNLUCKY;
	session_check_callers(&fake_manager);
	luck = CALM;
}

static void lose_switches(void)
{
	break_all(true);
}

static void refuse_trees(void)
{
	fake_refuse(-EINVAL);
}

static void unroute_leaves(void)
{
	fake_unroute(true);
}

static void fill_switches(void)
{
	fake_refuse(-ENOBUFS);
}

static void tell_news(enum sw_notif_kind kind)
{
	const struct subtree *subtree = the_group()->subtrees;
	struct sw_notif news = { .kind = kind,
				 .member = -1,
				 .other_member = -1 };

	if (!subtree)
		return;
	news.sw = subtree->sw;
	news.tree = subtree->tree.id;
	subtree->sw->on.notif(&news);
}

static void fail_tree(void)
{
	tell_news(SW_NOTIF_TREE_FAILED);
}

static void fail_member(void)
{
	tell_news(SW_NOTIF_MEMBER_ERROR);
	if (the_group())
		tell_news(SW_NOTIF_TREE_FAILED);
}

static void delete_tree(void)
{
	const struct subtree *subtree = the_group()->subtrees;

	if (!subtree)
		return;
	fake_forget((unsigned int)atoi(subtree->sw->address), subtree->tree.id);
	tell_news(SW_NOTIF_TREE_DELETED);
}

static void delete_group(void)
{
	group_delete(the_group(), "an operator has deleted the group");
	group_settle(&fake_manager);
}

static void lose_lead(void)
{
	fake_store_lead(false);
}

static const struct fault {
	const char	*name;
	void		(*happen)(void);
} faults[] = {
	{ "a rank is cut off",		cut_rank },
	{ "a rank leaves",		leave_group },
	{ "ranks are silent",		silence_ranks },
	{ "a rank's tree is lost",	lose_tree },
	{ "a rank is revoked",		revoke_ranks },
	{ "switches are not reached",	lose_switches },
	{ "switches refuse trees",	refuse_trees },
	{ "switches have no room",	fill_switches },
	{ "leaves have no routes",	unroute_leaves },
	{ "a tree fails",		fail_tree },
	{ "a tree fails by a member",	fail_member },
	{ "a tree is deleted",		delete_tree },
	{ "an operator",		delete_group },
	{ "another manager leads",	lose_lead },
};

#define FAULTS	(sizeof(faults) / sizeof(faults[0]))

/*
 * What becomes of a group, in the order of @faults, by the cause that the event
 * says when it has ended: Left, lost Client, Switch, Tree, Hand, Refused. +: it is
 * ready; -: it is another manager's.
 */
static const char *const fates[GROUP_STATES] = {
	[GROUP_GATHERING]	= "RRRRRRRRRRRRH-",
	[GROUP_PLACING]		= "CLCCCRRR++++H-",
	[GROUP_MAKING]		= "CLCCCRRR+TT+H-",
	[GROUP_JOINED]		= "CLCCCS+++TTTH-",
	[GROUP_READY]		= "CLCCCS+++TTTH-",
	[GROUP_ENDING]		= "LLLLLLLLLLLLL-",
	[GROUP_OVER]		= "HHHHHHHHHHHHHH",
};

/* Of one that is to have another tree if its own fails. */
static const char *const again[GROUP_STATES] = {
	[GROUP_GATHERING]	= "RRRRRRRRRRRRH-",
	[GROUP_PLACING]		= "CLCCCRRR++++H-",
	[GROUP_MAKING]		= "CLCCCRRR++++H-",
	[GROUP_JOINED]		= "CLC+CR++++++H-",
	[GROUP_READY]		= "CLC+CR++++++H-",
	[GROUP_REJOINING]	= "CLC+CRRR++++H-",
	[GROUP_REPLACING]	= "CLCCCRRR++++H-",
	[GROUP_REMAKING]	= "CLCCCRRR++++H-",
	[GROUP_REJOINED]	= "CLC+CR++++++H-",
	[GROUP_ENDING]		= "LLLLLLLLLLLLL-",
	[GROUP_OVER]		= "HHHHHHHHHHHHHH",
};

static const char *last_end(void)
{
	const struct event *ev;

	TAILQ_FOREACH_REVERSE(ev, &fake_manager.events.list, event_list, by_seq)
		if (!strcmp(ev->kind, EVENT_GROUP_ENDED))
			return ev->text;
	return "";
}

static char cause_letter(void)
{
	static const struct {
		const char	*text;
		char		letter;
	} causes[] = {
		{ "a rank left", 'L' }, { "a rank was lost", 'C' },
		{ "a switch was lost", 'S' }, { "a tree failed", 'T' },
		{ "by hand", 'H' }, { "refused", 'R' },
	};
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strncmp(last_end(), causes[i].text,
			     strlen(causes[i].text)))
			return causes[i].letter;
	return '-';
}

static char fate_of(enum group_state state, const struct fault *fault,
		    bool rebuild, int64_t *longest)
{
	int64_t ms, until;
	char fate;

	reach(state, true, rebuild);
	fault->happen();
	fake_settle();
	if (!comes_to_rest(&ms))
		fuzz_wrong(fault->name);
	*longest = ms > *longest ? ms : *longest;
	/* It may be noticed when the group is ready only. */
	until = fake_ms + NOTICE_MS;
	while (the_group() && fake_ms < until)
		go_on();
	if (!comes_to_rest(&ms))
		fuzz_wrong(fault->name);
	*longest = ms > *longest ? ms : *longest;
	fate = the_group() ? '+' : cause_letter();
	break_all(false);
	fake_refuse(0);
	fake_unroute(false);
	fake_stop();
	return fate;
}

static void walk_faults(enum group_state state, bool rebuild)
{
	const char *expected = rebuild ? again[state] : fates[state];
	char found[FAULTS + 1] = "";
	int64_t longest = 0;
	size_t i;

	for (i = 0; i < FAULTS; i++)
		found[i] = fate_of(state, &faults[i], rebuild, &longest);
	printf("# %-9s %s, after %lld ms at most\n", state_names[state], found,
	       (long long)longest);
	ok(!strcmp(found, expected), state_names[state], rebuild ?
	   "each fault, of a group that may have another tree" :
	   "each fault");
}

/* Of several faults the first one counts, but for those that say more. */
static void compare_faults(void)
{
	struct group *g;

	reach(GROUP_READY, false, false);
	g = the_group();
	group_fail(g, CAUSE_LINK, -1, INC_STATUS_PEER_DEAD, "first");
	group_fail(g, CAUSE_TREE, -1, INC_STATUS_PEER_DEAD, "second");
	while (the_group())
		go_on();
	ok(!strcmp(last_end(), "a link failed: first"), "two faults",
	   "the first one counts");
	fake_stop();
	reach(GROUP_READY, false, true);
	g = the_group();
	group_fail(g, CAUSE_LINK, -1, INC_STATUS_PEER_DEAD, "first");
	group_delete(g, "second");
	while (the_group())
		go_on();
	ok(!strcmp(last_end(), "by hand: second"), "two faults",
	   "an operator's word counts");
	fake_stop();
}

/* Let a tree be ready for so long, and then fail. Returns whether there is another. */
static bool flap(int64_t ms, const char *why)
{
	int64_t at = fake_ms + ms, rest;

	while (the_group() && fake_ms < at)
		go_on();
	if (!the_group())
		return false;
	group_fail(the_group(), CAUSE_LINK, -1, INC_STATUS_PEER_DEAD, "%s", why);
	group_settle(&fake_manager);
	return comes_to_rest(&rest) && the_group();
}

/* Each failure has its own time, unless the tree has hardly been ready. */
static void fail_often(void)
{
	unsigned int n;

	reach(GROUP_READY, true, true);
	for (n = 0; n < 60 && flap(4000, "it flaps"); n++)
		;
	ok(n == 60, "a link that flaps", "does not end a group");
	if (the_group() && flap(2000, "the first"))
		for (n = 0; n < 600 && flap(100, "the last"); n++)
			;
	ok(!the_group() &&
	   !strcmp(last_end(), "a link failed: the first; no other tree has lasted, for 20 s (--rebuild-time), the last one: the last"),
	   "no tree lasts", "the group ends, and what was first is named");
	printf("# %s\n", last_end());
	fake_stop();
}

/* --- Random steps -------------------------------------------------------- */

static bool raised[GROUP_STATES][GROUP_EVENTS];

/* Leaves have no routes to each other: the spine is the root, and is drained. */
static void drain_spine(void)
{
	const struct group *g;
	struct sw *spine;
	int64_t until;

	fake_unroute(true);
	reach(GROUP_READY, true, true);
	spine = &fake_manager.fabric.switches[FAKE_SWITCHES - 1];
	g = the_group();
	ok(g->nsubtrees == 3 && g->subtrees[0].sw == spine, "no routes",
	   "the root is a spine, which has some");
	drain_add(&fake_manager, spine, "a test");
	until = fake_ms + NOTICE_MS;
	while (the_group() && !g->move.refused[0] && fake_ms < until)
		go_on();
	printf("# %s\n", g->move.refused);
	ok(g->move.refused[0] && !g->move.job[0], "no routes",
	   "a group that nothing else can serve does not leave a drained spine");
	while (the_group() && fake_ms < until)
		go_on();
	ok(the_group() == g && !g->next && g->state == GROUP_READY &&
	   !g->rebuild.round && g->nsubtrees == 3 && g->subtrees[0].sw == spine &&
	   !spine->drain->reported_empty, "no routes", "it goes on there");
	fake_unroute(false);
	fake_stop();
}

static bool has_event(const char *kind)
{
	const struct event *ev;

	TAILQ_FOREACH(ev, &fake_manager.events.list, by_seq)
		if (!strcmp(ev->kind, kind) && !strcmp(ev->subject, "g0"))
			return true;
	return false;
}

/* Move the group. Returns whether it has, and nothing else is left. */
static bool moves(bool rebuild)
{
	int64_t until;

	reach(GROUP_READY, true, rebuild);
	if (!move_begin(the_group(), NULL, "a test"))
		return false;
	until = fake_ms + NOTICE_MS;
	while (the_group() && (the_group()->move.job[0] || the_group()->next) &&
	       fake_ms < until)
		go_on();
	return the_group() && !the_group()->next &&
	       the_group()->state == GROUP_READY &&
	       the_group()->rebuild.round == 0;
}

/* A group moves, and is the same one to operators. */
static void move_group(bool rebuild)
{
	const char *where = rebuild ? "a move, rebuild" : "a move";
	bool good = moves(rebuild);
	const struct group *g = the_group();

	ok(good && strcmp(g->request.job, "g0") && !strcmp(g->name, "g0"), where,
	   "its ranks have another group, operators the same one");
	ok(good && group_of_tenant(&fake_manager, "", "g0") == g &&
	   group_of_tenant(&fake_manager, "", g->request.job) == NULL, where,
	   "it is found by its first name");
	ok(has_event(EVENT_GROUP_MOVES) && has_event(EVENT_GROUP_MOVED) &&
	   !has_event(EVENT_GROUP_ENDED) && !has_event(EVENT_GROUP_STAYS), where,
	   "there are events of one group");
	join_rank(0, 0, rebuild);
	fake_settle();
	ok(the_group() == g && !g->next, where, "nobody else gets its name");
	ok(move_begin(the_group(), NULL, "again"), where, "it may move again");
	fake_stop();
}

/* A switch refuses the new tree, or a rank does not come: nothing changes. */
static void move_fails(void)
{
	const struct group *g;
	int64_t until;

	reach(GROUP_READY, true, false);
	g = the_group();
	move_begin(the_group(), NULL, "a test");
	join_job(g->move.job, 0, false);
	while (fake_complete())
		fake_settle();
	ok(g->move.to && group_is_hidden(g->move.to), "a rank that computes",
	   "the other group is hidden");
	until = fake_ms + 2 * MOVE_MS;
	while (the_group() == g && g->move.job[0] && fake_ms < until) {
		pass_time(1000);
		fake_settle();
		while (fake_complete() || fake_run() || fake_store_run())
			fake_settle();
	}
	ok(the_group() == g && !g->next && g->state == GROUP_READY &&
	   !g->move.job[0] && has_event(EVENT_GROUP_STAYS),
	   "a rank that computes", "after ten minutes all is as before");
	fake_stop();
}

static const char *text_of_event(const char *kind)
{
	const struct event *ev;

	TAILQ_FOREACH(ev, &fake_manager.events.list, by_seq)
		if (!strcmp(ev->kind, kind) && !strcmp(ev->subject, "g0"))
			return ev->text;
	return "";
}

/* A switch that does not answer is named. Nobody tries again what was by hand. */
static void move_by_hand(bool by_hand)
{
	const struct group_wish wish = { true, "s2" };
	const char *where = by_hand ? "a move by hand" : "another move";
	struct group *g;
	int64_t until;
	char text[64];
	uint32_t i;

	reach(GROUP_READY, false, false);
	g = the_group();
	move_begin(g, by_hand ? &wish : NULL, "a test");
	for (i = 0; i < RANKS; i++)
		join_job(g->move.job, i, false);
	until = fake_ms + NOTICE_MS;
	while ((!g->move.to || g->move.to->state != GROUP_MAKING) && fake_ms < until)
		if (fake_complete() || fake_run())
			fake_settle();
		else
			pass_time(100);
	move_missing(g, text, sizeof(text));
	printf("# waits for %s\n", text);
	ok(!strncmp(text, "switch ", 7), where, "the switch that it waits for is named");
	fake_refuse(-EINVAL);
	until = fake_ms + 10000;
	while (g->move.job[0] && fake_ms < until)
		go_on();
	printf("# %s\n", text_of_event(EVENT_GROUP_STAYS));
	ok(!g->move.job[0] && the_group() == g && has_event(EVENT_GROUP_STAYS) &&
	   !strstr(text_of_event(EVENT_GROUP_STAYS), "not tried again") == by_hand,
	   where, "when it is tried again after a failure is said if it is");
	ok(by_hand == move_can_begin(g), where, "it may begin again at once if it was");
	fake_refuse(0);
	fake_stop();
}

/* The store's answer to the move is overtaken by that to the tree that is made next. */
static void fail_before_move(void)
{
	const struct group *g;
	int64_t ms;

	reach(GROUP_READY, true, true);
	move_begin(the_group(), NULL, "a test");
	ok(the_group()->persisted.raise_stored, "a move that is being stored",
	   "its ranks do not know of it yet");
	raise_failed(the_group());
	group_settle(&fake_manager);
	ok(comes_to_rest(&ms) && (g = the_group()) && !g->rebuild.untold &&
	   g->rebuild.round == 1 && g->move.asked_at,
	   "a tree fails then", "ranks hear that another one is ready, and of the move");
	fake_stop();
}

static void join_group(void)
{
	uint32_t group = fuzz_any(GROUPS), i;

	for (i = 0; i < RANKS; i++)
		join_rank(group, i, group % 2);
}

/* Several may be raised before they are settled. */
static void raise_any(void)
{
	enum group_event event = (enum group_event)fuzz_any(GROUP_EVENTS);
	struct group *g = fake_any_group();

	if (g) {
		raised[g->state][event] = true;
		raise_event(g, event);
	}
	if (fuzz_any(3))
		group_settle(&fake_manager);
}

static void move_any(void)
{
	struct group *g = fake_any_group();

	if (g)
		move_begin(g, NULL, "anything");
	group_settle(&fake_manager);
}

static void rank_errs(void)
{
	static const enum inc_rdv_type types[] = {
		INC_RDV_RTS, INC_RDV_LEAVE, INC_RDV_LOST, INC_RDV_REJOIN,
		INC_RDV_LOSSY,
	};
	struct rpc_stream *call = first_call();
	uint32_t n;

	for (n = fuzz_any(GROUPS * RANKS); call && n && call->next; n--)
		call = call->next;
	if (!call || !is_here(call))
		return;
	if (fuzz_any(4))
		say_type(call, types[fuzz_any(5)]);
	else
		call->cancelled = true;
}

/* What operators have heard of each name in this run: a move that has not ended. */
static struct heard {
	bool	moves;
	unsigned int	n;
	char	last[3][300];
} heard[GROUPS];

static void hear(struct event_listener *l, const struct event *ev)
{
	struct heard *h = heard;
	unsigned int i;

	(void)l;
	if (ev->subject[0] != 'g' || ev->subject[1] < '0' ||
	    ev->subject[1] >= '0' + GROUPS || ev->subject[2])
		return;
	h += ev->subject[1] - '0';
	h->n += !strcmp(ev->kind, EVENT_GROUP_ENDED);
	for (i = 2; i; i--)
		memcpy(h->last[i], h->last[i - 1], sizeof(h->last[i]));
	snprintf(h->last[0], sizeof(h->last[0]), "%.30s: %.250s", ev->kind, ev->text);
	if (!strcmp(ev->kind, EVENT_GROUP_MOVES))
		h->moves = true;
	else if (!strcmp(ev->kind, EVENT_GROUP_MOVED) ||
		 !strcmp(ev->kind, EVENT_GROUP_STAYS) ||
		 !strcmp(ev->kind, EVENT_GROUP_ENDED))
		h->moves = false;
}

static void check_heard(void)
{
	int64_t until = fake_ms + 200000;
	unsigned int i, k;

	group_delete_all(&fake_manager, "a test");
	while (fake_manager.groups && fake_ms < until) {
		fake_settle();
		if (!fake_work())
			pass_time(1000);
	}
	for (i = 0; i < GROUPS; i++) {
		if (!heard[i].moves)
			continue;
		for (k = 0; k < 3; k++)
			printf("# g%u: %s\n", i, heard[i].last[k]);
		fuzz_wrong("nobody hears how a move has ended");
	}
}

static void leave_groups(bool old)
{
	struct rpc_stream *call;
	const struct rank *r;

	for (call = fake_calls(); call; call = call->next) {
		r = call->user;
		if (is_here(call) && !!r->group->move.from != old)
			say_type(call, INC_RDV_LEAVE);
	}
}

/* All ranks leave, the new group first, as libinc does. */
static void leave_both(void)
{
	leave_groups(false);
	leave_groups(true);
}

static void kill_rank(void)
{
	struct rpc_stream *call;
	const struct rank *r;

	for (call = fake_calls(); call; call = call->next) {
		r = call->user;
		if (is_here(call) && r->join.rank == 1)
			call->cancelled = true;
	}
}

static void delete_shown(void)
{
	group_delete(group_of_tenant(&fake_manager, "", "g0"), "a test");
}

/*
 * End a group after @steps of its move. Returns whether there is one event of that; sets
 * whether the move was over before.
 */
static bool end_moving(unsigned int steps, void (*end)(void), bool rebuild, bool *over)
{
	struct event_listener ear = { .on_event = hear };
	int64_t until;
	bool good;

	reach(GROUP_READY, true, rebuild);
	memset(heard, 0, sizeof(heard));
	event_listen(&fake_manager.events, &ear);
	move_begin(the_group(), NULL, "a test");
	while (steps--)
		go_on();
	*over = !heard[0].moves;
	end();
	fake_settle();
	until = fake_ms + 2 * MOVE_MS;
	while (the_group() && fake_ms < until) {
		if (!fake_complete() && !fake_run() && !fake_store_run())
			pass_time(1000);
		fake_settle();
	}
	good = !the_group() && !heard[0].moves && heard[0].n == 1;
	if (!good)
		printf("# %u ends; %s; %s; %s\n", heard[0].n, heard[0].last[2],
		       heard[0].last[1], heard[0].last[0]);
	event_ignore(&fake_manager.events, &ear);
	fake_stop();
	return good;
}

static void end_in_moves(void)
{
	static const struct {
		const char	*what;
		void		(*end)(void);
	} ends[] = {
		{ "all ranks leave",	leave_both },
		{ "a rank dies",	kill_rank },
		{ "a group is deleted",	delete_shown },
	};
	unsigned int i, steps;
	bool good, over;

	for (i = 0; i < 2 * sizeof(ends) / sizeof(ends[0]); i++) {
		good = true;
		over = false;
		for (steps = 0; !over; steps++)
			good &= end_moving(steps, ends[i / 2].end, i % 2, &over);
		printf("# at %u moments\n", steps);
		ok(good, ends[i / 2].what, "in the middle of a move, there is one event of that");
	}
}

static void do_anything(void)
{
	static const int64_t ms[] = { 1, 10, 100, 700, 2500, 15000, 70000 };
	uint32_t what = fuzz_any(100), n;

	if (what < 40)
		for (n = fuzz_any(20); n && fake_work(); n--)
			fake_settle();
	else if (what < 53 && !quiet)
		raise_any();
	else if (what < 55)
		move_any();
	else if (what < 63)
		join_group();
	else if (what < 80)
		while (ranks_act() && fuzz_any(20))
			;
	else if (what < 84)
		rank_errs();
	else if (what < 96)
		pass_time(ms[fuzz_any(7)]);
	else if (what < 98)
		fake_news(&fake_manager);
	else if (what < 99)
		fake_break(fuzz_any(FAKE_AGENTS), fuzz_any(2));
	else if (fuzz_any(2))
		fake_unroute(fuzz_any(2));
	else if (!quiet)
		fake_store_lead(fuzz_any(4));
	fake_settle();
}

static void walk_randomly(uint64_t steps)
{
	struct event_listener ear = { .on_event = hear };
	unsigned int pairs = 0, k;
	uint64_t i;

	luck = RANDOM;
	silent = false;
	for (i = 0; i < steps; i += RUN) {
		quiet = fuzz_any(2);
		fake_start(NULL, fuzz_any(2), fuzz_any(4) ? 1000 : 0);
		memset(heard, 0, sizeof(heard));
		event_listen(&fake_manager.events, &ear);
		for (k = 0; k < RUN; k++)
			do_anything();
		if (quiet)
			check_heard();
		fake_stop();
	}
	for (k = 0; k < GROUP_STATES * GROUP_EVENTS; k++)
		pairs += raised[k / GROUP_EVENTS][k % GROUP_EVENTS];
	printf("# %u of %u events in all states\n", pairs, k);
	ok(true, "random steps", "all groups end, and none waits for nothing");
}

int main(int argc, char **argv)
{
	uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 0) : STEPS;
	unsigned int state;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) :
			  (uint64_t)getpid() * 1000003 + (uint64_t)time(NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* The manager's log has too many lines; ASan writes its own elsewhere. */
	stderr = fopen("/dev/null", "w");
	puts("KTAP version 1");
	printf("# %llu random steps, seed %llu\n", (unsigned long long)steps,
	       (unsigned long long)seed);
	fflush(stdout);
	random_state = seed;
	for (state = 0; state < GROUP_STATES; state++)
		walk_events(state);
	for (state = 0; state < GROUP_STATES; state++) {
		if (fates[state])
			walk_faults(state, false);
		walk_faults(state, true);
	}
	compare_faults();
	fail_often();
	drain_spine();
	move_group(false);
	move_group(true);
	move_fails();
	move_by_hand(true);
	move_by_hand(false);
	fail_before_move();
	end_in_moves();
	walk_randomly(steps);
	printf("1..%u\n", number);
	return failures != 0;
}
