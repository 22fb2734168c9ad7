// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Limits of tenants: files, what they allow, and random files under
 * AddressSanitizer: SEED and INPUTS of the environment say which, and how many.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenant/quota.h"
#include "tenant/victims.h"
#include "tests/fuzz.h"

#define INPUT_MAX	600

static struct policy *parse(const char *text, size_t len, char *err, size_t n)
{
	FILE *f = fmemopen((char *)text, len, "r");
	struct policy *p;

	p = policy_stream(f, "file", err, n);
	fclose(f);
	return p;
}

/* --- Known cases --------------------------------------------------------- */

static const char good[] =
	"# comment\n"
	"all-groups = 10\n"
	"tenant = red\n"
	"  groups 2\n"
	"  ranks = 16\n"
	"  min-ranks = 2\n"
	"  max-ranks = 8\n"
	"priority = 1000\n"
	"tenant = green\n"
	"  priority = 3\n"
	"tenant = *\n"
	"groups = 1\n"
	"all-ranks = 20\n"
	"tenant = -\n"
	"ranks = 7\n"
	"priority = 0\n";

static void known_files(void)
{
	static const struct {
		const char	*text;
		const char	*err;
	} bad[] = {
		{ "groups = 1", "file:1: whose" },
		{ "\ntenant = a\nranks = x", "file:3: this must be a number" },
		{ "tenant = a\nranks = -1", "file:2: this must be a number" },
		{ "tenant = a\nranks = 4294967295", "file:2: this must be a n" },
		{ "tenant = a\nranks = 1 2", "file:2: this must be a number" },
		{ "tenant = a\ntenant = a", "file:2: this tenant is there" },
		{ "tenant = a b", "file:1: the name must have" },
		{ "tenant = a\nmax-ranks = 2\nmin-ranks = 3", "file:3: min-r" },
		{ "priority = 1", "file:1: whose" },
		{ "tenant = a\npriority = 1001", "file:2: a priority is a num" },
		{ "tenant = a\npriority = high", "file:2: this must be a num" },
		{ "tenant = a\nrank = 1", "file:2: \"rank\": there is no such setting" },
		{ "tenant = a\ngroups = 1\ngroups = 2", "file:3: this was set" },
		{ "tenant = a\npriority = 1\nranks = 1\npriority = 1",
		  "file:4: this was set before for the same tenant" },
		{ "all-ranks = 1\ntenant = a\nranks = 1\nall-ranks = 1",
		  "file:4: this was set before" },
		{ "\xef\xbb\xbftenant = a", "file:1: it begins with a byte order" },
		{ "[tenant]", "file:1: \"[tenant]\": there are no sections" },
		{ "ten\x1b" "ant = a", "file:1: \"ten?ant\": there is no such" },
		{ "tenant", "file:1: this option needs a value" },
	};
	struct policy *p;
	char err[256];
	size_t i;

	p = parse(good, sizeof(good) - 1, err, sizeof(err));
	check(p, "a good file");
	if (!p)
		return;
	check(policy_of(p, "red")->max[LIMIT_MAX_RANKS] == 8, "red's limits");
	check(policy_of(p, "blue")->max[LIMIT_GROUPS] == 1, "others' limits");
	check(policy_of(p, "red")->priority == 1000 &&
	      policy_of(p, "green")->priority == 3 &&
	      !policy_of(p, "blue")->priority && !policy_of(p, "")->priority,
	      "priorities");
	check(policy_of(p, "")->max[LIMIT_GROUPS] == POLICY_NO_LIMIT &&
	      policy_of(p, "")->max[LIMIT_RANKS] == 7, "no tenant");
	check(policy_of_all(p)->max[LIMIT_RANKS] == 20, "limits of all");
	policy_free(p);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err[0] = '\0';
		p = parse(bad[i].text, strlen(bad[i].text), err, sizeof(err));
		check(!p && !strncmp(err, bad[i].err, strlen(bad[i].err)),
		      bad[i].text);
		policy_free(p);
	}
	check(!policy_read("/nowhere", err, sizeof(err)) &&
	      strstr(err, "/nowhere: No such file"), "no file");
	check(!policy_read("/", err, sizeof(err)) &&
	      strstr(err, "/: is not a regular file"), "a directory");
}

static bool admits(const struct tenants *t, const struct tenant *tn,
		   uint32_t ranks, const char *says)
{
	char why[256] = "";
	bool ret = tenant_admits(t, tn, NULL, ranks, why, sizeof(why));

	if (!*says)
		return ret;
	if (!ret && strstr(why, says))
		return true;
	printf("# \"%s\" has no \"%s\"\n", why, says);
	return false;
}

static void known_quotas(void)
{
	struct tenants t = { .path = NULL };
	struct tenant *red, *blue;
	char err[256];

	t.policy = parse(good, sizeof(good) - 1, err, sizeof(err));
	red = tenant_get(&t, "red");
	blue = tenant_get(&t, "blue");
	check(red && blue && red == tenant_get(&t, "red"), "tenants");
	check(admits(&t, red, 1, "at least 2"), "too few ranks");
	check(admits(&t, red, 9, "may have 8 at most"), "too many ranks");
	check(admits(&t, red, 8, ""), "as many as allowed");
	tenant_enter(&t, red, NULL, 8);
	check(admits(&t, blue, 13, "12 are left"), "all tenants together");
	tenant_enter(&t, red, NULL, 2);
	check(admits(&t, red, 2, "tenant red may have 2 groups, and has 2"),
	      "too many groups");
	tenant_leave(&t, red, NULL, 8);
	check(admits(&t, red, 2, ""), "after one has ended");
	tenant_enter(&t, blue, NULL, 11);
	check(admits(&t, blue, 1, "tenant blue may have 1 groups"), "others");
	check(admits(&t, red, 8, "all tenants together may have 20 ranks"),
	      "all ranks");
	check(admits(&t, tenant_get(&t, ""), 1, ""), "no tenant");
	tenants_close(&t);
}

static void reserve(struct tenants *t, struct tenant *tn, const char *name,
		    uint32_t groups, uint32_t ranks, int expected)
{
	struct reservation wish = {
		.tenant = tn, .groups = groups, .ranks = ranks,
		.until = INT64_MAX,
	}, *made = NULL;
	char why[256] = "";

	snprintf(wish.name, sizeof(wish.name), "%s", name);
	check(tenant_reserve(t, &wish, &made, why, sizeof(why)) == expected &&
	      !made == !!why[0], name);
}

static void known_reservations(void)
{
	struct tenants t = { .path = NULL };
	struct tenant *red, *blue;
	struct reservation *r;
	char err[256];

	t.policy = parse(good, sizeof(good) - 1, err, sizeof(err));
	red = tenant_get(&t, "red");
	blue = tenant_get(&t, "blue");
	reserve(&t, red, "a b", 1, 4, -EINVAL);
	reserve(&t, red, "none", 0, 4, -EINVAL);
	reserve(&t, red, "few", 2, 1, -EINVAL);
	reserve(&t, red, "many", 3, 6, -EINVAL);
	reserve(&t, red, "large", 1, 17, -EINVAL);
	reserve(&t, tenant_get(&t, ""), "of all", 1, 21, -EINVAL);
	reserve(&t, red, "job", 1, 12, 0);
	reserve(&t, red, "job", 1, 2, -EEXIST);
	reserve(&t, red, "later", 1, 5, -ENOBUFS);
	reserve(&t, blue, "job", 1, 8, 0);
	check(!reservation_find(&t, red, "jo") &&
	      !reservation_find(&t, tenant_get(&t, ""), "job"), "find");
	check(admits(&t, red, 5, "has 0 and 12 reserved: 4 are left"),
	      "what is reserved is used");
	check(admits(&t, tenant_get(&t, ""), 1, "all tenants together"),
	      "for all tenants, too");
	r = reservation_find(&t, red, "job");
	check(reservation_fits(r, 12) && !reservation_fits(r, 13), "it fits");
	tenant_enter(&t, red, r, 8);
	check(!reservation_fits(r, 1) && red->use.held_ranks == 4 &&
	      !red->use.held_groups, "a group has taken its room");
	tenant_leave(&t, red, r, 8);
	check(reservation_fits(r, 12) && red->use.held_ranks == 12,
	      "and has given it back");
	tenant_enter(&t, red, r, 8);
	reservation_end(&t, r);
	check(!reservation_find(&t, red, "job") && !red->use.held_ranks &&
	      red->use.ranks == 8 && t.use.held_ranks == 8,
	      "a group outlives its reservation");
	tenant_leave(&t, red, r, 8);
	check(!red->use.ranks && !red->use.held_groups, "and ends");
	tenants_close(&t);
	check(!t.use.held_ranks && !t.use.held_groups, "nothing is held");
}

/* What is not limited is not, however much others have reserved. */
static void known_plenty(void)
{
	struct tenants t = { .path = NULL };
	struct tenant *red, *blue;

	t.policy = policy_new();
	red = tenant_get(&t, "red");
	blue = tenant_get(&t, "blue");
	reserve(&t, red, "all", UINT32_MAX, UINT32_MAX, 0);
	check(admits(&t, blue, 8, "") && admits(&t, red, 8, ""),
	      "room is left beside all that a number can say");
	reserve(&t, blue, "all", UINT32_MAX, UINT32_MAX, 0);
	check(tenant_may_overcommit(&t, blue, 8), "more than a number can say");
	tenant_enter(&t, blue, NULL, 8);
	check(admits(&t, blue, 8, "") && t.use.held_ranks == 2ULL * UINT32_MAX,
	      "and it is counted");
	tenant_leave(&t, blue, NULL, 8);
	tenants_close(&t);
}

static void reads(struct tenants *t, const char *text)
{
	struct tenant *tn;
	char err[256];

	policy_free(t->policy);
	t->policy = parse(text, strlen(text), err, sizeof(err));
	check(t->policy, err);
	for (tn = t->list; tn && t->policy; tn = tn->next)
		tn->limits = policy_of(t->policy, tn->name);
}

/* Who may have the room of others, and how much of it a group needs. */
static void known_overcommit(void)
{
	struct tenants t = { .path = NULL };
	struct tenant *high, *low, *same;
	struct reservation *r;
	struct tenant_amount lack;

	high = low = same = NULL;
	reads(&t, "all-groups = 4\nall-ranks = 20\ntenant = high\n"
		  "priority = 2\nranks = 14\ngroups = 2\n"
		  "tenant = same\npriority = 2\n");
	high = tenant_get(&t, "high");
	low = tenant_get(&t, "low");
	same = tenant_get(&t, "same");
	tenant_enter(&t, low, NULL, 10);
	tenant_enter(&t, same, NULL, 8);
	check(admits(&t, high, 4, "2 are left, and this group needs 4; groups with"),
	      "no room, and it is said that a priority does not help");
	check(admits(&t, high, 15, "tenant high may have 14 ranks"), "own limit");
	check(tenant_may_overcommit(&t, high, 4), "a lower one has room");
	check(tenant_may_overcommit(&t, high, 12), "all of it");
	check(!tenant_may_overcommit(&t, high, 13), "no more than that");
	check(!tenant_may_overcommit(&t, low, 4), "the lowest");
	check(tenant_may_overcommit(&t, same, 12) && !tenant_may_overcommit(&t, same, 13),
	      "it is not its own, either");
	tenant_enter(&t, high, NULL, 4);
	tenant_overcommit(&t, 4);
	lack = tenant_lacks(&t, 4);
	check(!lack.groups && lack.ranks == 2, "what must end");
	check(admits(&t, low, 1, "all tenants together may have 20 ranks"),
	      "nobody else gets it");
	/* What another one is overcommitted by is not the first one's business. */
	tenant_enter(&t, high, NULL, 8);
	tenant_overcommit(&t, 8);
	lack = tenant_lacks(&t, 4);
	check(!lack.groups && lack.ranks == 2, "the same as before");
	lack = tenant_lacks(&t, 8);
	check(!lack.groups && lack.ranks == 6, "what the other one needs");
	check(!tenant_may_overcommit(&t, high, 1), "its own limit holds");
	tenant_end_overcommit(&t, 8);
	tenant_leave(&t, high, NULL, 8);
	tenant_end_overcommit(&t, 4);
	tenant_leave(&t, high, NULL, 4);
	tenant_leave(&t, low, NULL, 10);
	reserve(&t, low, "job", 1, 10, 0);
	check(!tenant_may_overcommit(&t, high, 3), "a reservation is kept");
	r = reservation_find(&t, low, "job");
	tenant_enter(&t, low, r, 10);
	check(!tenant_may_overcommit(&t, high, 3), "while it is used, too");
	reservation_end(&t, r);
	check(tenant_may_overcommit(&t, high, 3), "not when it is over");
	reads(&t, "all-ranks = 20\ntenant = low\npriority = 3\n");
	check(!tenant_may_overcommit(&t, high, 3) && tenant_may_overcommit(&t, low, 3),
	      "priorities are read again");
	tenant_leave(&t, low, r, 10);
	tenant_leave(&t, same, NULL, 8);
	check(!t.overcommit.groups && !t.overcommit.ranks && !t.use.ranks, "no more");
	tenants_close(&t);
}

/* --- Who ends ------------------------------------------------------------ */

#define ENDS_MAX	10
#define KINDS		3

/**
 * struct puzzle - groups that take room of several kinds
 * @n: groups
 * @has: what each takes
 * @lack: what must become free
 * @asked: how often it was asked
 * @patience: how often it may be asked before the search is to end
 */
struct puzzle {
	size_t		n;
	uint32_t	has[ENDS_MAX][KINDS];
	uint32_t	lack[KINDS];
	unsigned int	asked;
	unsigned int	patience;
};

static bool enough(void *ctx, const bool *ends)
{
	struct puzzle *p = ctx;
	uint32_t sum;
	size_t i, k;

	p->asked++;
	for (k = 0; k < KINDS; k++) {
		sum = 0;
		for (i = 0; i < p->n; i++)
			sum += ends[i] ? p->has[i][k] : 0;
		if (sum < p->lack[k])
			return false;
	}
	return true;
}

/*
 * By trying all sets: the best one ends none of the last groups that another
 * one spares, which as a number, the first group's bit the lowest, is the
 * least of those from which none can be left out.
 */
static uint32_t best_set(struct puzzle *p)
{
	bool ends[ENDS_MAX];
	uint32_t set;
	size_t i;

	for (set = 0; set < 1U << p->n; set++) {
		for (i = 0; i < p->n; i++)
			ends[i] = set >> i & 1;
		if (enough(p, ends))
			return set;
	}
	return UINT32_MAX;
}

static bool in_a_hurry(void *ctx)
{
	const struct puzzle *p = ctx;

	return p->asked >= p->patience;
}

/* A search that ends early has found room, too. */
static bool hurried_is_enough(struct puzzle *p)
{
	bool ends[ENDS_MAX];
	struct puzzle hurried = *p;

	hurried.asked = 0;
	hurried.patience = 1 + any(8);
	return victims_choose(ends, p->n, enough, in_a_hurry, &hurried) &&
	       hurried.asked <= hurried.patience && enough(p, ends);
}

static void random_choices(unsigned long steps)
{
	unsigned long wrong = 0, none = 0, several = 0;
	bool ends[ENDS_MAX], found;
	uint32_t set, expected;
	struct puzzle p;
	size_t i, k;

	for (; steps; steps--) {
		p = (struct puzzle) { .n = any(ENDS_MAX + 1) };
		for (k = 0; k < KINDS; k++) {
			for (i = 0; i < p.n; i++)
				p.has[i][k] = any(2) * any(5);
			p.lack[k] = any(3) * any(4);
		}
		expected = best_set(&p);
		p.asked = 0;
		p.patience = UINT_MAX;
		found = victims_choose(ends, p.n, enough, in_a_hurry, &p);
		for (set = 0, i = 0; i < p.n; i++)
			set |= (uint32_t)ends[i] << i;
		wrong += found != (expected != UINT32_MAX) ||
			 (found && set != expected) || p.asked > 60;
		wrong += found && !hurried_is_enough(&p);
		none += !found;
		several += found && (set & (set - 1));
	}
	printf("# %lu choices without an answer, %lu of several groups\n", none,
	       several);
	check(!wrong, "the groups that end are those found by trying all sets");
	check(none && several, "there are puzzles of all kinds");
}

static void known_order(void)
{
	struct candidate list[] = {
		{ 1, 70, NULL }, { 0, 10, NULL }, { 0, 30, NULL },
		{ 2, 90, NULL }, { 1, 80, NULL }, { 0, 20, NULL },
	};
	static const uint64_t order[] = { 30, 20, 10, 80, 70, 90 };
	size_t i;

	victims_order(list, 6);
	for (i = 0; i < 6; i++)
		check(list[i].born_ms == order[i],
		      "the youngest of the lowest first");
}

/* --- Random reservations ------------------------------------------------- */

#define JOBS	12

static unsigned long settled;

/**
 * struct job - a group
 * @tn: its tenant; NULL: it is not there
 * @r: its reservation, or NULL
 * @ranks: its ranks
 * @overcommitted: others are to end for it
 */
struct job {
	struct tenant		*tn;
	struct reservation	*r;
	uint32_t		ranks;
	bool			overcommitted;
};

/* Not those that are overcommitted, or have their room from a reservation. */
static bool may_end(const struct job *job, const struct job *for_job)
{
	return job->tn && !job->overcommitted && (!job->r || job->r->ended) &&
	       job->tn->limits->priority < for_job->tn->limits->priority;
}

static uint32_t lower_ranks(const struct job *jobs, const struct job *job)
{
	uint32_t sum = 0;
	int i;

	for (i = 0; i < JOBS; i++)
		if (may_end(&jobs[i], job))
			sum += jobs[i].ranks;
	return sum;
}

static bool overcommit_adds_up(const struct tenants *t, const struct job *jobs)
{
	const struct limits *l = policy_of_all(t->policy);
	struct tenant_amount sum = { 0 };
	int i;

	for (i = 0; i < JOBS; i++)
		if (jobs[i].tn && jobs[i].overcommitted) {
			sum.groups++;
			sum.ranks += jobs[i].ranks;
		}
	if (sum.groups != t->overcommit.groups || sum.ranks != t->overcommit.ranks)
		return false;
	/* Without those, the limits hold. */
	return t->use.ranks + t->use.held_ranks - sum.ranks <=
		       l->max[LIMIT_RANKS] &&
	       t->use.groups + t->use.held_groups - sum.groups <=
		       l->max[LIMIT_GROUPS];
}

/* What the tenants must have, counted anew. */
static bool adds_up(const struct tenants *t, const struct job *jobs)
{
	const struct reservation *r;
	const struct tenant *tn;
	struct use all = { 0 };
	int i;

	for (tn = t->list; tn; tn = tn->next) {
		struct use u = { 0 };

		for (i = 0; i < JOBS; i++)
			if (jobs[i].tn == tn) {
				u.groups++;
				u.ranks += jobs[i].ranks;
			}
		for (r = t->reservations; r; r = r->next)
			if (r->tenant == tn) {
				u.held_groups += r->groups - r->used_groups;
				u.held_ranks += r->ranks - r->used_ranks;
			}
		if (memcmp(&u, &tn->use, sizeof(u)))
			return false;
		all.groups += u.groups;
		all.ranks += u.ranks;
		all.held_groups += u.held_groups;
		all.held_ranks += u.held_ranks;
	}
	return !memcmp(&all, &t->use, sizeof(all)) && overcommit_adds_up(t, jobs);
}

static void end_job(struct tenants *t, struct job *job)
{
	if (job->overcommitted)
		tenant_end_overcommit(t, job->ranks);
	tenant_leave(t, job->tn, job->r, job->ranks);
	*job = (struct job) { NULL };
}

/* Others end for a group, as long as there are any. */
static void complete(struct tenants *t, struct job *jobs, struct job *job)
{
	struct tenant_amount lack;
	int i;

	for (i = 0; i < JOBS; i++) {
		lack = tenant_lacks(t, job->ranks);
		if (!lack.groups && !lack.ranks)
			break;
		if (may_end(&jobs[i], job))
			end_job(t, &jobs[i]);
	}
	lack = tenant_lacks(t, job->ranks);
	if (lack.groups || lack.ranks) {
		end_job(t, job);
		return;
	}
	tenant_end_overcommit(t, job->ranks);
	job->overcommitted = false;
	settled++;
}

static void job_step(struct tenants *t, struct job *jobs, struct job *job,
		     struct tenant *tn, const char *name)
{
	char why[256];

	if (job->tn && job->overcommitted && any(2)) {
		complete(t, jobs, job);
		return;
	}
	if (job->tn) {
		end_job(t, job);
		return;
	}
	job->ranks = 1 + any(6);
	job->r = reservation_find(t, tn, name);
	if (job->r && !reservation_fits(job->r, job->ranks))
		job->r = NULL;
	job->overcommitted = !tenant_admits(t, tn, job->r, job->ranks, why,
				     sizeof(why));
	if (job->overcommitted && !tenant_may_overcommit(t, tn, job->ranks))
		return;
	tenant_enter(t, tn, job->r, job->ranks);
	job->tn = tn;
	if (!job->overcommitted)
		return;
	tenant_overcommit(t, job->ranks);
	check(tenant_lacks(t, job->ranks).ranks <= lower_ranks(jobs, job),
	      "others have what a group is overcommitted by");
}

static void random_reservations(unsigned long steps)
{
	static const char *const names[] = { "red", "blue", "", "green" };
	struct job jobs[JOBS] = { { NULL } };
	struct tenants t = { .path = NULL };
	struct reservation wish, *r;
	struct tenant *tn;
	char text[256];
	uint32_t i;

	t.policy = parse(good, sizeof(good) - 1, text, sizeof(text));
	for (; steps; steps--) {
		tn = tenant_get(&t, names[any(4)]);
		wish = (struct reservation) {
			.tenant = tn, .groups = 1 + any(2),
			.ranks = 1 + any(12), .until = INT64_MAX,
		};
		snprintf(wish.name, sizeof(wish.name), "r%u", any(2));
		r = reservation_find(&t, tn, wish.name);
		if (any(3))
			job_step(&t, jobs, &jobs[any(JOBS)], tn, wish.name);
		else if (r)
			reservation_end(&t, r);
		else
			tenant_reserve(&t, &wish, &r, text, sizeof(text));
		if (!adds_up(&t, jobs)) {
			check(false, "what tenants have adds up");
			break;
		}
	}
	for (i = 0; i < JOBS; i++)
		if (jobs[i].tn)
			end_job(&t, &jobs[i]);
	printf("# %lu groups had others end\n", settled);
	check(settled, "groups had others end");
	tenants_close(&t);
}

/* --- Random files -------------------------------------------------------- */

static size_t mutate(char *data, size_t len)
{
	static const char *const words[] = {
		"tenant = ", "groups = ", "\n", "4294967296", "=", "#", "*",
	};
	uint32_t n = any(8);
	const char *word;
	size_t at;

	while (n--) {
		at = any((uint32_t)len);
		word = words[any(7)];
		if (any(2) && at + strlen(word) < len)
			memcpy(data + at, word, strlen(word));
		else
			data[at] = (char)any(256);
		if (!any(6))
			len = 1 + any(INPUT_MAX - 1);
	}
	return len;
}

static void fuzz(unsigned long inputs)
{
	unsigned long i, taken = 0;
	struct policy *p;
	char text[INPUT_MAX], err[128], *copy;
	size_t len;

	for (i = 0; i < inputs; i++) {
		memset(text, '\n', sizeof(text));
		memcpy(text, good, sizeof(good) - 1);
		len = mutate(text, sizeof(good) - 1);
		/* An exact copy, so that AddressSanitizer sees its end. */
		copy = malloc(len);
		memcpy(copy, text, len);
		err[0] = '\0';
		p = parse(copy, len, err, sizeof(err));
		check(p || err[0], "an error without a message");
		taken += p != NULL;
		policy_free(p);
		free(copy);
	}
	printf("# %lu files were taken\n", taken);
	check(taken && taken < inputs, "random files are good and bad");
}

int main(void)
{
	const char *seed = getenv("SEED"), *inputs = getenv("INPUTS");
	unsigned long n = inputs ? strtoul(inputs, NULL, 0) : 20000;

	state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
	printf("# seed %llu, %lu files\n", (unsigned long long)state, n);
	known_files();
	known_quotas();
	known_reservations();
	known_plenty();
	known_overcommit();
	known_order();
	random_choices(n);
	random_reservations(n);
	fuzz(n);
	printf("%s - limits of tenants\n", failures ? "not ok" : "ok");
	return failures ? 1 : 0;
}
