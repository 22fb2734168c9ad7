// SPDX-License-Identifier: GPL-2.0
/* Run the suites that <kunit/test.h> registered; print KTAP. */
#include <kunit/test.h>

static struct kunit_suite *suites[32];
static unsigned int nr_suites;

void shim_kunit_add(struct kunit_suite *suite)
{
	if (nr_suites == ARRAY_SIZE(suites))
		abort();
	suites[nr_suites++] = suite;
}

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	void *p = calloc(1, size);

	(void)gfp;
	if (!p || test->nr_allocs == ARRAY_SIZE(test->allocs))
		abort();
	test->allocs[test->nr_allocs++] = p;
	return p;
}

void shim_kunit_fail(struct kunit *test, bool fatal, const char *file, int line,
		     const char *fmt, ...)
{
	va_list ap;

	printf("# %s: FAILED at %s:%d: ", test->name, file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	test->failed = true;
	if (fatal)
		longjmp(test->out, 1);
}

static bool run_one(struct kunit_suite *suite, struct kunit_case *c,
		    const void *param)
{
	static struct kunit test;

	memset(&test, 0, sizeof(test));
	test.name = c->name;
	test.param_value = param;
	if (!setjmp(test.out)) {
		if (suite->init && suite->init(&test))
			test.failed = true;
		else
			c->run_case(&test);
	}
	if (suite->exit)
		suite->exit(&test);
	while (test.nr_allocs)
		free(test.allocs[--test.nr_allocs]);
	return !test.failed;
}

static bool run_case(struct kunit_suite *suite, struct kunit_case *c)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;
	bool ok = true;

	if (!c->generate_params)
		return run_one(suite, c, NULL);
	while ((param = c->generate_params(param, desc))) {
		bool pass = run_one(suite, c, param);

		printf("        %s - %s\n", pass ? "ok" : "not ok", desc);
		ok &= pass;
	}
	return ok;
}

static bool run_suite(struct kunit_suite *suite)
{
	unsigned int n = 0;
	bool ok = true;

	printf("    KTAP version 1\n    # Subtest: %s\n", suite->name);
	if (suite->suite_init && suite->suite_init(suite))
		return false;
	for (struct kunit_case *c = suite->test_cases; c->run_case; c++) {
		bool pass = run_case(suite, c);

		printf("    %s %u %s\n", pass ? "ok" : "not ok", ++n, c->name);
		ok &= pass;
	}
	printf("    1..%u\n", n);
	if (suite->suite_exit)
		suite->suite_exit(suite);
	return ok;
}

int main(void)
{
	bool ok = true;

	/* Lose no output if a sanitizer aborts. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%u\n", nr_suites);
	for (unsigned int i = 0; i < nr_suites; i++) {
		bool pass = run_suite(suites[i]);

		printf("%s %u %s\n", pass ? "ok" : "not ok", i + 1, suites[i]->name);
		ok &= pass;
	}
	return ok ? 0 : 1;
}
