// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Limits of tenants: files, what they allow, and random files under
 * AddressSanitizer: SEED and INPUTS of the environment say which, and how many.
 */
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
	"tenant = *\n"
	"groups = 1\n"
	"all-ranks = 20\n"
	"tenant = -\n"
	"ranks = 7\n";

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
		{ "tenant = a b", "file:1: names and tenants" },
		{ "tenant = a\nmax-ranks = 2\nmin-ranks = 3", "file:3: min-r" },
		{ "tenant = a\nrank = 1", "file:2: there is no such setting" },
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
}

static bool admits(const struct tenants *t, const struct tenant *tn,
		   uint32_t ranks, const char *says)
{
	char why[256] = "";
	bool ret = tenant_admits(t, tn, ranks, why, sizeof(why));

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
	tenant_enter(&t, red, 8);
	check(admits(&t, blue, 13, "12 are left"), "all tenants together");
	tenant_enter(&t, red, 2);
	check(admits(&t, red, 2, "tenant red may have 2 groups, and has 2"),
	      "too many groups");
	tenant_leave(&t, red, 8);
	check(admits(&t, red, 2, ""), "after one has ended");
	tenant_enter(&t, blue, 11);
	check(admits(&t, blue, 1, "tenant blue may have 1 groups"), "others");
	check(admits(&t, red, 8, "all tenants together may have 20 ranks"),
	      "all ranks");
	check(admits(&t, tenant_get(&t, ""), 1, ""), "no tenant");
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
	fuzz(n);
	printf("%s - limits of tenants\n", failures ? "not ok" : "ok");
	return failures ? 1 : 0;
}
