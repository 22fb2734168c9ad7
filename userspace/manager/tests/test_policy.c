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
	"priority-class = 15\n"
	"vlan = 4094\n"
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
		{ "tenant = a\npriority-class = 16", "file:2: a priority-class is" },
		{ "priority-class = 1", "file:1: whose" },
		{ "tenant = a\nvlan = 0", "file:2: a vlan is a number" },
		{ "tenant = a\nvlan = 4095", "file:2: a vlan is a number" },
		{ "tenant = a\nvlan = 65546", "file:2: a vlan is a number" },
		{ "vlan = 1", "file:1: whose" },
		{ "tenant = a\npriority-class = 1\npriority-class = 1",
		  "file:3: this was set before for the same tenant" },
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
	check(policy_of(p, "red")->priority_class == 15 &&
	      !policy_of(p, "green")->priority_class &&
	      !policy_of(p, "blue")->priority_class, "priority classes");
	check(policy_of(p, "red")->vlan == 4094 &&
	      !policy_of(p, "green")->vlan && !policy_of(p, "blue")->vlan, "VLANs");
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
	tenant_enter(&t, blue, NULL, 8);
	check(admits(&t, blue, 8, "") && t.use.held_ranks == 2ULL * UINT32_MAX,
	      "and it is counted");
	tenant_leave(&t, blue, NULL, 8);
	tenants_close(&t);
}

/* --- Random reservations ------------------------------------------------- */

#define JOBS	12

/**
 * struct job - a group
 * @tn: its tenant; NULL: it is not there
 * @r: its reservation, or NULL
 * @ranks: its ranks
 */
struct job {
	struct tenant		*tn;
	struct reservation	*r;
	uint32_t		ranks;
};

static bool limits_hold(const struct tenants *t)
{
	const struct limits *l = policy_of_all(t->policy);

	return t->use.ranks + t->use.held_ranks <= l->max[LIMIT_RANKS] &&
	       t->use.groups + t->use.held_groups <= l->max[LIMIT_GROUPS];
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
	return !memcmp(&all, &t->use, sizeof(all)) && limits_hold(t);
}

static void end_job(struct tenants *t, struct job *job)
{
	tenant_leave(t, job->tn, job->r, job->ranks);
	*job = (struct job) { NULL };
}

static void job_step(struct tenants *t, struct job *job, struct tenant *tn,
		     const char *name)
{
	char why[256];

	if (job->tn) {
		end_job(t, job);
		return;
	}
	job->ranks = 1 + any(6);
	job->r = reservation_find(t, tn, name);
	if (job->r && !reservation_fits(job->r, job->ranks))
		job->r = NULL;
	if (!tenant_admits(t, tn, job->r, job->ranks, why, sizeof(why)))
		return;
	tenant_enter(t, tn, job->r, job->ranks);
	job->tn = tn;
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
			job_step(&t, &jobs[any(JOBS)], tn, wish.name);
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
	random_reservations(n);
	fuzz(n);
	printf("%s - limits of tenants\n", failures ? "not ok" : "ok");
	return failures ? 1 : 0;
}
