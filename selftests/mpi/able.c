// SPDX-License-Identifier: GPL-2.0
/*
 * How long coll/inc remembers that a process cannot use the switch, by a clock that
 * the test sets. Prints one KTAP line per case.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "coll_inc.h"

struct coll_inc_params coll_inc_params = { .try_timeout_ms = 700 };

static atomic_llong now = 1000000;
static atomic_int tries, result;
static atomic_bool hangs;
static int cases, failed;

/* In place of libc's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	t->tv_sec = now / 1000;
	t->tv_nsec = now % 1000 * 1000000;
	return 0;
}

/* In place of check.c's. */
enum coll_inc_why coll_inc_check(const char *server, char said[COLL_INC_SAID])
{
	tries++;
	while (hangs)
		usleep(1000);
	snprintf(said, COLL_INC_SAID, "try %d", tries);
	return (enum coll_inc_why)result;
}

static void must(bool ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++cases, what);
	failed += !ok;
}

/* Real time for the thread, none by the clock. */
static bool is(enum coll_inc_why why, int n)
{
	int i;

	for (i = 0; i < 2000; i++) {
		if (coll_inc_tried() && coll_inc_able() == why && tries == n)
			return true;
		usleep(1000);
	}
	return false;
}

static bool has_said(const char *text)
{
	char said[COLL_INC_SAID] = "";
	int i;

	for (i = 0; i < 2000 && strcmp(said, text); i++) {
		coll_inc_able_said(COLL_INC_NO_DAEMON, said);
		usleep(1000);
	}
	return i < 2000;
}

/* What is known without asking the daemon. */
static void room(void)
{
	coll_inc_tree_made();
	coll_inc_tree_made();
	coll_inc_unable(COLL_INC_FULL, "full");
	now += 999;
	must(is(COLL_INC_FULL, 4), "without room, for a second");
	now += 1;
	must(is(COLL_INC_GOES, 4), "without a try");
	coll_inc_unable(COLL_INC_FULL, "full");
	coll_inc_tree_gone();
	must(is(COLL_INC_GOES, 4), "or until a tree is gone");
	coll_inc_tree_made();
	must(is(COLL_INC_FULL, 4), "but then for one more alone");
	coll_inc_tree_gone();
	coll_inc_tree_made();
	now += 1999;
	must(is(COLL_INC_FULL, 4), "however often, for as long as without that");
	now += 1;
	must(is(COLL_INC_GOES, 4), "and no longer");
	coll_inc_tree_made();
	coll_inc_unable(COLL_INC_FULL, "full");
	now += 1000;
	must(is(COLL_INC_GOES, 4), "once there was room, for a second again");
}

int main(void)
{
	hangs = true;
	must(!coll_inc_tried() && !coll_inc_tried(),
	     "a meeting waits for the first try");
	now += 700;
	must(is(COLL_INC_TRYING, 1), "but not for long");
	result = COLL_INC_NO_DAEMON;
	hangs = false;
	must(is(COLL_INC_NO_DAEMON, 1), "what the try has found counts");
	must(has_said("try 1"), "and what it was told");
	now += 59000;
	must(is(COLL_INC_NO_DAEMON, 1), "not tried again before a minute");
	now += 1000;
	hangs = true;
	must(is(COLL_INC_NO_DAEMON, 2), "nobody waits for the second try");
	hangs = false;
	must(has_said("try 2"), "but it counts, too");
	now += 119000;
	must(is(COLL_INC_NO_DAEMON, 2), "nor then before two minutes");
	now += 1000;
	result = COLL_INC_GOES;
	must(is(COLL_INC_GOES, 3), "it may work then");
	coll_inc_tree_made();
	coll_inc_unable(COLL_INC_NO_TREE, "met");
	coll_inc_tree_gone();
	must(is(COLL_INC_NO_TREE, 3), "a tree that is gone changes nothing");
	now += 59000;
	must(is(COLL_INC_NO_TREE, 3), "a meeting that fails counts as long");
	now += 1000;
	must(is(COLL_INC_GOES, 4), "and then the try tells");
	room();
	printf("1..%d\n", cases);
	return failed != 0;
}
