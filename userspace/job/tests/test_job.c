// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * job.c: each event in each state, all short interleavings of three ranks, and
 * long random ones of many, played by a daemon that does what the core says and
 * nothing else. KTAP.
 *
 *   test_job [STEPS [SEED]]
 */
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "job/job.h"
#include "lib/tests/test.h"
#include "rendezvous/proto.h"

#define MANY		16
#define FEW		3
#define DEPTH		5	/* of all interleavings of FEW ranks */
#define FORMING_MS	10000

/* With something before and after, for ranks to be found by their size. */
struct rank {
	struct inc_job_rank	core;
	char			other[5];
};

/* A daemon, and what it and its ranks know of a job. */
static struct model {
	struct inc_job	job;
	struct rank	ranks[MANY];
	int64_t		now;
	int64_t		ending_at;	/* 0: not yet */
	int64_t		first_left;	/* 0: none */
	bool		wide;
	bool		hurried;
	bool		members;	/* of lost ranks are deleted later */
} m;

static unsigned long long seed, steps = 300000;
static uint64_t random_state;

static uint32_t any(uint32_t n)
{
	random_state = random_state * 6364136223846793005u +
		       1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

/* --- The daemon ---------------------------------------------------------- */

static void begin(uint32_t n, bool wide, bool members)
{
	memset(&m, 0, sizeof(m));
	m.now = 1;
	m.wide = wide;
	m.members = members;
	inc_job_init(&m.job, m.ranks, sizeof(m.ranks[0]), n);
	m.job.deadline = m.now + FORMING_MS;
}

/* What must be true whatever has happened. */
static void check(void)
{
	uint32_t i, present = 0, rts = 0, lost = 0;

	for (i = 0; i < m.job.n; i++) {
		const struct inc_job_rank *r = &m.ranks[i].core;

		present += r->state == RANK_PRESENT;
		lost += r->state == RANK_LOST;
		rts += r->rts;
		OK(!r->rts || r->state == RANK_PRESENT);
		OK(r->state != RANK_PRESENT || r->arrived);
		OK(m.job.phase < INC_JOB_READY || !inc_job_misses(&m.job, r, true));
		OK(m.job.phase != INC_JOB_READY || r->rts);
		OK(m.job.phase != INC_JOB_OPEN || r->state != RANK_LEFT);
	}
	EQ(m.job.present, present);
	EQ(m.job.rts, rts);
	EQ(m.job.lost, lost);
	if (m.job.phase == INC_JOB_OVER)
		return;
	/* Time is told exactly when something is due. */
	EQ(inc_job_deadline(&m.job) <= m.now,
	   inc_job_due(&m.job, m.now) != INC_JOB_NOTHING);
	/* A job that ends needs somebody, or a moment for ranks elsewhere. */
	if (m.job.phase == INC_JOB_ENDING) {
		OK(m.job.present || (m.wide && m.job.leave_at));
		OK(m.job.deadline <= m.ending_at + INC_JOB_ENDING_MS);
		OK(!m.first_left || !m.job.present || !m.job.leave_at ||
		   m.job.leave_at <= m.now + INC_JOB_LEAVE_MS);
	}
}

static void note_ending(void)
{
	if (m.job.phase >= INC_JOB_ENDING && !m.ending_at)
		m.ending_at = m.now;
}

static void end(bool over)
{
	struct rank *r;

	note_ending();
	if (!over)
		return;
	m.job.phase = INC_JOB_OVER;
	note_ending();
	inc_job_for_each(&m.job, r, RANK_PRESENT)
		inc_job_set(&m.job, &r->core, RANK_GONE);
}

static void delete_members(enum rank_state state)
{
	struct rank *r;

	inc_job_for_each(&m.job, r, state)
		inc_job_vacate(&m.job, &r->core);
}

static void join(uint32_t i)
{
	struct inc_job_rank *r = &m.ranks[i].core;

	if (m.job.phase != INC_JOB_OPEN || r->state != RANK_ABSENT)
		return;
	inc_job_set(&m.job, r, RANK_PRESENT);
	/* A daemon that makes its tree for all ranks takes no others then. */
	if (m.wide && m.job.present == m.job.n)
		m.job.phase = INC_JOB_FORMING;
}

static void say_rts(uint32_t i)
{
	if (m.ranks[i].core.state != RANK_PRESENT)
		return;
	inc_job_set_rts(&m.job, &m.ranks[i].core, true);
	if (m.job.rts == m.job.n && m.job.phase < INC_JOB_READY)
		m.job.phase = INC_JOB_READY;
}

static void go(uint32_t i, enum rank_state state)
{
	struct inc_job_rank *r = &m.ranks[i].core;
	bool open = m.job.phase == INC_JOB_OPEN;

	if (r->state != RANK_PRESENT)
		return;
	inc_job_set(&m.job, r, open ? RANK_LOST : state);
	if (open) {
		if (state == RANK_LOST)
			r->arrived = false;
		end(!m.job.present);
	} else if (state == RANK_LEFT) {
		m.first_left = m.first_left ? m.first_left : m.now;
		end(inc_job_left(&m.job, m.now, m.wide));
	} else {
		end(inc_job_fail(&m.job, m.now));
	}
	if (!m.members)
		delete_members(RANK_LOST);
}

/* Only who has left just now is waited for. */
static void hurry(void)
{
	if (m.job.phase != INC_JOB_ENDING)
		return;
	m.hurried = true;
	inc_job_hurry(&m.job, m.now);
	OK(inc_job_deadline(&m.job) <= m.now + INC_JOB_LEAVE_MS);
	if (!m.job.leave_at)
		EQ(inc_job_due(&m.job, m.now), INC_JOB_END);
}

static void wait_ms(int64_t ms)
{
	m.now += ms;
	if (m.job.phase == INC_JOB_OVER)
		return;
	delete_members(RANK_LOST);
	switch (inc_job_due(&m.job, m.now)) {
	case INC_JOB_NOTHING:
		break;
	case INC_JOB_LATE:
		OK(m.job.phase <= INC_JOB_FORMING);
		end(true);
		break;
	case INC_JOB_LEAVE:
		OK(m.job.present);
		OK(m.now >= m.first_left + INC_JOB_LEAVE_MS);
		delete_members(RANK_LEFT);
		m.job.leave_at = 0;
		break;
	case INC_JOB_END:
		OK(m.job.phase == INC_JOB_ENDING);
		OK(m.now >= m.ending_at + INC_JOB_ENDING_MS || m.hurried ||
		   (m.wide && !m.job.present));
		end(true);
		break;
	}
}

enum event { JOIN, RTS, LEAVE, LOSE, RANK_EVENTS, FAIL = RANK_EVENTS, HURRY,
	     WAIT, EVENTS };

static void take(enum event event, uint32_t i, int64_t ms)
{
	if (m.job.phase == INC_JOB_OVER)
		return;
	switch (event) {
	case JOIN:
		join(i);
		break;
	case RTS:
		say_rts(i);
		break;
	case LEAVE:
		go(i, RANK_LEFT);
		break;
	case LOSE:
		go(i, RANK_LOST);
		break;
	case FAIL:
		end(inc_job_fail(&m.job, m.now));
		break;
	case HURRY:
		hurry();
		break;
	default:
		wait_ms(ms);
		break;
	}
	check();
}

/* Whatever has happened, a job ends if its ranks do nothing more. */
static void finish(void)
{
	int64_t next;
	int turns;

	for (turns = 0; m.job.phase < INC_JOB_OVER && turns < 6; turns++) {
		if (m.job.phase == INC_JOB_READY)
			end(inc_job_fail(&m.job, m.now));
		next = inc_job_deadline(&m.job);
		OK(next <= m.now + INC_JOB_ENDING_MS);
		wait_ms(next > m.now ? next - m.now : 0);
		if (m.job.phase < INC_JOB_OVER)
			check();
	}
	EQ(m.job.phase, INC_JOB_OVER);
	EQ(m.job.present, 0);
}

/* --- Each event in each state -------------------------------------------- */

/* Bring a job of FEW ranks into a phase. */
static void bring_to(enum inc_job_phase phase, bool wide)
{
	uint32_t i;

	begin(FEW, wide, true);
	if (phase == INC_JOB_OPEN) {
		join(0);
		return;
	}
	for (i = 0; i < FEW; i++)
		join(i);
	if (!wide && phase == INC_JOB_FORMING)
		m.job.phase = INC_JOB_FORMING;
	if (phase == INC_JOB_FORMING)
		return;
	for (i = 0; i < FEW; i++)
		say_rts(i);
	if (phase == INC_JOB_ENDING)
		end(inc_job_fail(&m.job, m.now));
}

static void phase_after(enum inc_job_phase from, enum event event,
			enum inc_job_phase to)
{
	int wide;

	for (wide = 0; wide < 2; wide++) {
		bring_to(from, wide);
		EQ(m.job.phase, from);
		take(event, 0, 1);
		EQ(m.job.phase, to);
		finish();
	}
}

static void test_events(void)
{
	/* Of an open job, with one rank: it is over without it. */
	static const enum inc_job_phase after[INC_JOB_OVER][EVENTS] = {
		[INC_JOB_OPEN] = { INC_JOB_OPEN, INC_JOB_OPEN, INC_JOB_OVER,
				   INC_JOB_OVER, INC_JOB_ENDING, INC_JOB_OPEN,
				   INC_JOB_OPEN },
		[INC_JOB_FORMING] = { INC_JOB_FORMING, INC_JOB_FORMING,
				      INC_JOB_ENDING, INC_JOB_ENDING,
				      INC_JOB_ENDING, INC_JOB_FORMING,
				      INC_JOB_FORMING },
		[INC_JOB_READY] = { INC_JOB_READY, INC_JOB_READY,
				    INC_JOB_ENDING, INC_JOB_ENDING,
				    INC_JOB_ENDING, INC_JOB_READY,
				    INC_JOB_READY },
		[INC_JOB_ENDING] = { INC_JOB_ENDING, INC_JOB_ENDING,
				     INC_JOB_ENDING, INC_JOB_ENDING,
				     INC_JOB_ENDING, INC_JOB_ENDING,
				     INC_JOB_ENDING },
	};
	unsigned int phase, event;

	for (phase = INC_JOB_OPEN; phase < INC_JOB_OVER; phase++)
		for (event = 0; event < EVENTS; event++)
			phase_after((enum inc_job_phase)phase,
				    (enum event)event, after[phase][event]);
}

static void test_states(void)
{
	unsigned int from, to, phase;
	struct inc_job_rank *r;

	for (from = RANK_ABSENT; from <= RANK_LOST; from++)
		for (to = RANK_ABSENT; to <= RANK_LOST; to++)
			for (phase = 0; phase <= INC_JOB_OVER; phase++) {
				begin(FEW, false, true);
				r = &m.ranks[1].core;
				inc_job_set(&m.job, r, (enum rank_state)from);
				if (from == RANK_PRESENT)
					inc_job_set_rts(&m.job, r, true);
				m.job.phase = (enum inc_job_phase)phase;
				inc_job_set(&m.job, r, (enum rank_state)to);
				EQ(m.job.present, to == RANK_PRESENT);
				EQ(m.job.lost, to == RANK_LOST);
				EQ(m.job.rts, from == to && from == RANK_PRESENT);
				OK(inc_job_next(&m.job, NULL, (enum rank_state)to) ==
				   &m.ranks[to != RANK_ABSENT]);
				OK(inc_job_next(&m.job, r, (enum rank_state)to) ==
				   (to == RANK_ABSENT ? &m.ranks[2] : NULL));
				inc_job_vacate(&m.job, r);
				EQ(r->state, phase ? RANK_GONE : RANK_ABSENT);
				EQ(m.job.present + m.job.lost + m.job.rts, 0);
			}
}

/* --- When ---------------------------------------------------------------- */

static void test_times(void)
{
	bring_to(INC_JOB_READY, false);
	EQ(inc_job_deadline(&m.job), INT64_MAX);
	go(0, RANK_LEFT);
	EQ(inc_job_deadline(&m.job), m.now + INC_JOB_LEAVE_MS);
	wait_ms(1000);
	go(1, RANK_LEFT);
	EQ(m.job.leave_at, m.now - 1000 + INC_JOB_LEAVE_MS);
	wait_ms(999);
	EQ(m.ranks[0].core.state, RANK_LEFT);
	wait_ms(1);
	EQ(m.ranks[0].core.state, RANK_GONE);
	EQ(m.ranks[1].core.state, RANK_GONE);
	EQ(inc_job_deadline(&m.job), m.ending_at + INC_JOB_ENDING_MS);
	go(2, RANK_LEFT);
	EQ(m.job.phase, INC_JOB_OVER);

	bring_to(INC_JOB_READY, true);
	for (m.now += 5; m.job.present;)
		go(m.job.present - 1, RANK_LEFT);
	EQ(m.job.phase, INC_JOB_ENDING);
	EQ(inc_job_deadline(&m.job), m.now + INC_JOB_CHILD_MS);
	wait_ms(INC_JOB_CHILD_MS);
	EQ(m.job.phase, INC_JOB_OVER);

	bring_to(INC_JOB_READY, false);
	go(0, RANK_LEFT);
	wait_ms(1000);
	hurry();
	EQ(inc_job_deadline(&m.job), m.now + INC_JOB_LEAVE_MS - 1000);
	go(1, RANK_LEFT);
	EQ(inc_job_deadline(&m.job), m.now + INC_JOB_LEAVE_MS - 1000);
	wait_ms(INC_JOB_LEAVE_MS - 1000);
	EQ(m.job.phase, INC_JOB_OVER);

	bring_to(INC_JOB_OPEN, false);
	EQ(inc_job_due(&m.job, m.now + FORMING_MS - 1), INC_JOB_NOTHING);
	EQ(inc_job_due(&m.job, m.now + FORMING_MS), INC_JOB_LATE);
}

static void test_missing(void)
{
	bring_to(INC_JOB_OPEN, false);
	OK(inc_job_misses(&m.job, &m.ranks[0].core, true));
	OK(!inc_job_misses(&m.job, &m.ranks[0].core, false));
	OK(inc_job_misses(&m.job, &m.ranks[1].core, false));
	say_rts(0);
	OK(!inc_job_misses(&m.job, &m.ranks[0].core, true));
	/* One that was lost is waited for, and none that has given up. */
	join(1);
	join(2);
	go(1, RANK_LOST);
	OK(inc_job_misses(&m.job, &m.ranks[1].core, true));
	go(2, RANK_LEFT);
	OK(!inc_job_misses(&m.job, &m.ranks[2].core, true));
	OK(!inc_job_misses(&m.job, &m.ranks[2].core, false));
	wait_ms(1);
	EQ(m.ranks[2].core.state, RANK_ABSENT);
	join(2);
	OK(inc_job_misses(&m.job, &m.ranks[2].core, true));
}

/* --- Interleavings ------------------------------------------------------- */

static unsigned long long interleavings;

static void interleave(int depth)
{
	struct model before = m;
	unsigned int event, i;

	interleavings++;
	for (event = 0; event < EVENTS && !test_errors; event++)
		for (i = 0; i < (event < RANK_EVENTS ? FEW : 1); i++) {
			take((enum event)event, i, INC_JOB_LEAVE_MS);
			if (depth > 1 && m.job.phase < INC_JOB_OVER)
				interleave(depth - 1);
			else
				finish();
			m = before;
		}
}

static void test_interleavings(void)
{
	unsigned int phase, how;

	for (phase = INC_JOB_OPEN; phase < INC_JOB_OVER; phase++)
		for (how = 0; how < 4; how++) {
			bring_to((enum inc_job_phase)phase, how & 1);
			m.members = how & 2;
			interleave(DEPTH);
		}
	printf("# %llu interleavings of %u ranks\n", interleavings, FEW);
}

static void test_random(void)
{
	static const int64_t ms[] = { 0, 1, 299, 300, 1999, 2000, 10000, 60000 };
	unsigned long long i, jobs = 0;
	unsigned int event;

	begin(MANY, false, true);
	for (i = 0; i < steps && !test_errors; i++) {
		event = any(100);
		event = event < 45 ? JOIN : event < 80 ? RTS : event < 90 ? WAIT :
			event < 94 ? LEAVE : event < 98 ? LOSE :
			event < 99 ? FAIL : HURRY;
		take((enum event)event, any(m.job.n), ms[any(8)]);
		if (m.job.phase < INC_JOB_OVER && any(1000))
			continue;
		finish();
		begin(1 + any(MANY), any(2), any(2));
		jobs++;
	}
	printf("# %llu steps of %llu jobs, seed %llu\n", i, jobs, seed);
}

/* --- Words --------------------------------------------------------------- */

/* Only a ready job whose ranks all can, not again soon, and with a name of its own. */
static void test_change(void)
{
	struct inc_rdv_join like = { .job = "train", .change = true };
	struct inc_rdv_msg msg, again;
	struct inc_job job = { .n = 1 };
	int phase;

	for (phase = INC_JOB_OPEN; phase <= INC_JOB_OVER; phase++) {
		job.phase = phase;
		job.change_at = 0;
		EQ(inc_job_change(&job, &like, 1, &msg),
		   phase == INC_JOB_READY);
	}
	job.phase = INC_JOB_READY;
	like.change = false;
	OK(!inc_job_change(&job, &like, 7, &msg));
	like.change = true;
	OK(inc_job_change(&job, &like, 7, &msg));
	OK(!inc_job_change(&job, &like, 7 + INC_JOB_CHANGE_PAUSE_MS - 1, &again));
	OK(inc_job_change(&job, &like, 7 + INC_JOB_CHANGE_PAUSE_MS, &again));
	EQ(again.type, INC_RDV_CHANGE);
	OK(strcmp(msg.text, again.text));
	job.change_at = 0;
	memset(like.job, 'x', sizeof(like.job) - 1);
	OK(!inc_job_change(&job, &like, 7, &msg));
	EQ(job.change_at, 0);
	/* The longest name that leaves room for a secret. */
	like.job[sizeof(like.job) - 1 - strlen("~uc-0123456789ab")] = '\0';
	OK(inc_job_secret(&msg, like.job, "uc"));
	OK(!strncmp(msg.text, like.job, strlen(like.job)));
	OK(!inc_job_secret(&msg, like.job, "uc2"));
}

static void test_words(void)
{
	struct inc_rdv_msg msg = { .msg_id = 7 };
	uint32_t size = 0, slots = 0;

	inc_job_uc(0, &size, &slots);
	EQ(size, 1024);
	EQ(slots, 1024);
	size = 0;
	inc_job_uc(4096, &size, &slots);
	EQ(size, 4096);
	slots = 3;
	inc_job_uc(256, &size, &slots);
	EQ(size, 4096);
	EQ(slots, 3);
	OK(!*inc_job_hint("peer-dead"));
	OK(strstr(inc_job_hint("mtu-exceeded"), "inc-tool check"));
	inc_job_say_wrong(&msg, "rank 1", NULL, NULL);
	OK(!strcmp(msg.text, "message 7: the request of rank 1 is wrong (?)"));
	inc_job_say_wrong(&msg, "rank 1", "rank 2", "length");
	OK(!strcmp(msg.text, "message 7: the request of rank 1 disagrees with that of rank 2"));
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{ "each event in each phase", test_events },
		{ "each state of a rank after each other", test_states },
		{ "what is due when", test_times },
		{ "for whom a job waits", test_missing },
		{ "all interleavings of a few ranks", test_interleavings },
		{ "random ones of many", test_random },
		{ "when ranks change to UC", test_change },
		{ "what ranks are told", test_words },
	};

	steps = argc > 1 ? strtoull(argv[1], NULL, 0) : steps;
	seed = argc > 2 ? strtoull(argv[2], NULL, 0) :
			  (unsigned long long)time(NULL);
	random_state = seed;
	return test_run(cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
