// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Timers and the index, compared with lists that are searched from end to end;
 * and threads, of which some are stuck. KTAP.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loop/index.h"
#include "loop/loop.h"
#include "base/pool.h"
#include "conf/text.h"
#include "loop/timer.h"

#define MANY	500
#define ROUNDS	200000
#define TIMES	40	/* few, so that many are the same */

static unsigned int number, failures;
static uint32_t state = 12345;

static void ok(bool passed, const char *what)
{
	printf("%sok %u - %s\n", passed ? "" : "not ", ++number, what);
	failures += !passed;
}

static uint32_t draw(uint32_t below)
{
	state = state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)state * below >> 32);
}

/* --- Timers -------------------------------------------------------------- */

/**
 * struct alarm - a timer, and what is known of it
 * @timer: timer
 * @at: when it is due by the list
 * @added: it was added
 * @went: how often it went off
 */
struct alarm {
	struct timer	timer;
	int64_t		at;
	bool		added;
	unsigned int	went;
};

static struct alarm alarms[MANY];
static struct timers timers;
static int64_t last_at, now;
static bool in_order, at_once;

static void went_off(struct timer *timer)
{
	struct alarm *a = container_of(timer, struct alarm, timer);

	if (a->at > now || a->at < last_at)
		in_order = false;
	last_at = a->at;
	a->at = TIMER_NEVER;
	a->went++;
	/* One that is set again at once must not be called for ever. */
	if (at_once) {
		a->at = now;
		timer_set(&timers, timer, now);
	}
}

static int64_t earliest(void)
{
	int64_t at = TIMER_NEVER;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		if (alarms[i].added && alarms[i].at < at)
			at = alarms[i].at;
	return at;
}

static void change(struct alarm *a)
{
	if (!a->added) {
		a->added = !timer_add(&timers, &a->timer, went_off);
		a->at = TIMER_NEVER;
	} else if (!draw(8)) {
		timer_remove(&timers, &a->timer);
		/* Whoever looks at it now is caught by ASan or by its order. */
		memset(&a->timer, 0xff, sizeof(a->timer));
		a->added = false;
	} else {
		a->at = draw(6) ? now + draw(TIMES) : TIMER_NEVER;
		timer_set(&timers, &a->timer, a->at);
	}
}

static void test_timers(void)
{
	bool next = true, all = true;
	unsigned int i;

	in_order = true;
	for (i = 0; i < ROUNDS; i++) {
		change(&alarms[draw(MANY)]);
		next &= timers_next(&timers) == earliest();
		if (draw(20))
			continue;
		now += draw(5);
		last_at = 0;
		timers_run(&timers, now);
		all &= earliest() > now;
	}
	ok(next, "the earliest timer is known");
	ok(in_order, "timers go off in their order, and none too early");
	ok(all, "all that are due go off");
	now += TIMES;
	at_once = true;
	last_at = 0;
	for (i = 0; i < MANY; i++)
		alarms[i].went = 0;
	timers_run(&timers, now);
	for (i = 0; i < MANY; i++)
		next &= alarms[i].went <= 1;
	ok(next, "one that is set again for now waits for the next turn");
	timers_free(&timers);
}

/* --- Index --------------------------------------------------------------- */

/**
 * struct thing - what is searched for
 * @node: in the index
 * @key: key
 * @in: it is in the index
 */
struct thing {
	struct index_node	node;
	uint32_t		key;
	bool			in;
};

/* Keys with the same hash are frequent. */
static uint64_t hash_of(uint32_t key)
{
	key /= 2;
	return index_hash(7, &key, sizeof(key));
}

static unsigned int count_found(const struct index *ix, uint32_t key)
{
	struct index_node *node = index_first(ix, hash_of(key));
	unsigned int n = 0;

	for (; node; node = index_next(node))
		n += container_of(node, struct thing, node)->key == key;
	return n;
}

static unsigned int count_in(const struct thing *things, uint32_t key)
{
	unsigned int n = 0, i;

	for (i = 0; i < MANY; i++)
		n += things[i].in && things[i].key == key;
	return n;
}

static void test_index(void)
{
	struct thing *things = calloc(MANY, sizeof(*things)), *t;
	struct index ix = { .n = 0 };
	unsigned int i, n = 0;
	bool same = true;
	uint32_t key;

	for (i = 0; i < ROUNDS / 4; i++) {
		t = &things[draw(MANY)];
		if (t->in) {
			index_remove(&t->node);
			/* Twice does no harm. */
			index_remove(&t->node);
		} else {
			t->key = draw(MANY / 2);
			index_add(&ix, &t->node, hash_of(t->key));
		}
		t->in = !t->in;
		n += t->in ? 1 : -1U;
		key = draw(MANY / 2);
		same &= count_found(&ix, key) == count_in(things, key);
		same &= ix.n == n;
	}
	ok(same, "the index finds what is in it, and nothing else");
	index_free(&ix);
	free(things);
}

#define CHOSEN	10000U
#define CHAINS	16384U	/* that many have, then */

static uint64_t fnv(uint64_t h, uint8_t byte)
{
	return (h ^ byte) * 1099511628211ULL;
}

/* The next of those that an unkeyed hash would put into the same chain. */
static void colliding_name(char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	static unsigned int next;
	const unsigned int n = sizeof(letters) - 1;
	static uint64_t begun;
	uint64_t h;
	char *p;

	do {
		if (!(next % (n * n))) {
			sprintf(name, "job%08u", next / (n * n));
			begun = 14695981039346656037ULL;
			for (p = name; *p; p++)
				begun = fnv(begun, (uint8_t)*p);
		}
		name[11] = letters[next / n % n];
		name[12] = letters[next++ % n];
		h = fnv(fnv(begun, (uint8_t)name[11]), (uint8_t)name[12]);
		h = fnv(h, '\0');
	} while ((h ^ h >> 32) % CHAINS);
	name[13] = '\0';
}

/* Seconds to look for all names and enter them, as it is done with groups'. */
static double enter_all(bool colliding)
{
	static struct index_node nodes[CHOSEN];
	static char names[CHOSEN][16];
	struct index ix = { .n = 0 };
	struct timespec a, b;
	unsigned int i;
	uint64_t hash;

	for (i = 0; i < CHOSEN; i++) {
		if (i)
			strcpy(names[i], names[i - 1]);
		if (colliding)
			colliding_name(names[i]);
		else
			sprintf(names[i], "any%u", i);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (i = 0; i < CHOSEN; i++) {
		hash = index_hash_text(0, names[i]);
		index_first(&ix, hash);
		index_add(&ix, &nodes[i], hash);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	index_free(&ix);
	return (double)(b.tv_sec - a.tv_sec) +
	       (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

static void test_keyed(void)
{
	double any, chosen;
	unsigned int tries = 5;
	uint64_t before;

	/* A machine that is busy takes a thread's time for its own, now and then. */
	do {
		any = enter_all(false);
		chosen = enter_all(true);
	} while (chosen >= 8 * any && --tries);
	printf("# %u names: %.1f ms, chosen ones %.1f ms\n", CHOSEN, any * 1e3,
	       chosen * 1e3);
	ok(chosen < 8 * any, "chosen names take no longer");
	before = index_hash_text(0, "job");
	ok(!index_key() && index_hash_text(0, "job") != before,
	   "each manager has hashes of its own");
}

/* --- Threads ------------------------------------------------------------- */

#define STUCK	50
#define QUICK	1000
#define LONG_MS	20000

static struct pool pool, other;
static atomic_uint quick_done, stuck_begun, again_done;
static atomic_bool let_go;

static void be_stuck(struct job *job)
{
	(void)job;
	stuck_begun++;
	while (!let_go)
		usleep(1000);
}

static void be_quick(struct job *job)
{
	(void)job;
	quick_done++;
}

/* Jobs may submit themselves. */
static void do_again(struct job *job)
{
	if (++again_done < QUICK)
		pool_submit(&pool, job);
}

static bool wait_for(atomic_uint *value, unsigned int least)
{
	int64_t until = now_ms() + LONG_MS;

	while (*value < least && now_ms() < until)
		usleep(1000);
	return *value >= least;
}

static void test_pool(void)
{
	static struct job stuck[STUCK], quick[QUICK], again = { .run = do_again };
	unsigned int i;

	ok(!pool_start(&pool, STUCK), "threads start");
	for (i = 0; i < STUCK; i++) {
		stuck[i].run = be_stuck;
		pool_submit(&pool, &stuck[i]);
	}
	for (i = 0; i < QUICK; i++) {
		quick[i].run = be_quick;
		pool_submit(&pool, &quick[i]);
	}
	pool_submit(&pool, &again);
	ok(wait_for(&stuck_begun, STUCK) && wait_for(&quick_done, QUICK) &&
	   wait_for(&again_done, QUICK), "jobs are done although others are stuck");
	pthread_mutex_lock(&pool.lock);
	ok(pool.n <= pool.max_threads, "no more threads than allowed");
	pthread_mutex_unlock(&pool.lock);
	let_go = true;
	for (i = 0; i < QUICK; i++)
		pool_submit(&pool, &quick[i]);
	ok(pool_stop(&pool, LONG_MS) && quick_done == 2 * QUICK && !pool.n,
	   "all jobs are done at the end, and no thread is left");
	let_go = false;
	stuck_begun = 0;
	ok(!pool_start(&other, STUCK), "others start");
	pool_submit(&other, &stuck[0]);
	ok(wait_for(&stuck_begun, 1) && !pool_stop(&other, 100),
	   "who ends the threads does not wait for one that is stuck");
	let_go = true;
}

/* --- Texts ---------------------------------------------------------------- */

/* What is no UTF-8 is a "?" a byte; what must not be shown one a character. */
static void test_text(void)
{
	static const struct {
		const char	*text;
		const char	*clean;
	} cases[] = {
		{ "", "" },
		{ "a b~", "a b~" },
		{ "a\nb\r\033\177", "a?b???" },
		{ "\302\205\302\233\302\240", "??\302\240" },
		{ "\342\200\250\342\200\251\342\200\256", "???" },
		{ "\342\201\246\342\200\217\330\234", "???" },
		{ "\303\274\342\202\254\360\237\230\200",
		  "\303\274\342\202\254\360\237\230\200" },
		{ "\300\212\340\200\212", "?????" },
		{ "\355\240\200\364\220\200\200", "???????" },
		{ "\377\200a\303", "??a?" },
		{ "\342\202", "??" },
	};
	char text[32];
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%s", cases[i].text);
		text_clean(text);
		good = good && !strcmp(text, cases[i].clean);
	}
	ok(good, "texts of others are one line, of what is shown");
}

/* --- Turns --------------------------------------------------------------- */

/* One letter for each that is done, in their order. */
static char turns[64];

struct chore {
	struct loop_work	work;
	const char	*letter;
	int		ms;
};

static void toil(struct loop_work *work)
{
	struct chore *c = container_of(work, struct chore, work);
	const struct timespec ts = { .tv_nsec = c->ms * 1000000 };

	nanosleep(&ts, NULL);
	strcat(turns, c->letter);
}

static void ring(struct timer *timer)
{
	(void)timer;
	strcat(turns, "!");
}

/* @letters: A and B are clients, others the manager itself. */
static void post_chores(struct loop *loop, struct lane *lanes,
			struct chore *chores, const char *letters, int ms)
{
	static const char *const names[] = { "A", "B", "m" };
	size_t i;
	int k;

	for (i = 0; i < strlen(letters); i++) {
		k = letters[i] == 'A' ? 0 : letters[i] == 'B' ? 1 : 2;
		chores[i] = (struct chore){
			.work.fn = toil, .work.lane = k < 2 ? &lanes[k] : NULL,
			.letter = names[k], .ms = ms,
		};
		loop_post(loop, &chores[i].work);
	}
}

static void test_turns(void)
{
	struct lane lanes[2];
	struct chore chores[16];
	struct timer timer;
	struct loop loop;
	bool full;

	lane_init(&lanes[0]);
	lane_init(&lanes[1]);
	if (loop_init(&loop) || timer_add(&loop.timers, &timer, ring))
		exit(1);
	post_chores(&loop, lanes, chores, "AAAABm", 0);
	full = loop_turn(&loop, INT64_MAX);
	ok(!full && !strcmp(turns, "mABAAA"),
	   "the manager's own work first, then one of each client");
	turns[0] = 0;
	post_chores(&loop, lanes, chores, "AAAAAAAA", 30);
	timer_set(&loop.timers, &timer, now_ms());
	full = loop_turn(&loop, INT64_MAX);
	ok(full && strlen(turns) <= 3 && strchr(turns, '!'),
	   "timers do not wait until all is done for a client");
	turns[0] = 0;
	post_chores(&loop, lanes, chores + 8, "Bm", 0);
	loop_turn(&loop, INT64_MAX);
	loop_turn(&loop, INT64_MAX);
	ok(!strncmp(turns, "mAB", 3), "nor does another client");
	while (loop_turn(&loop, now_ms()))
		;
	ok(TAILQ_EMPTY(&lanes[0].queue) && TAILQ_EMPTY(&lanes[1].queue) &&
	   TAILQ_EMPTY(&loop.lanes),
	   "all is done in the end");
	timer_remove(&loop.timers, &timer);
	loop_free(&loop);
}

int main(void)
{
	puts("KTAP version 1\n1..16");
	test_timers();
	test_index();
	test_keyed();
	test_pool();
	test_text();
	test_turns();
	return failures != 0;
}
