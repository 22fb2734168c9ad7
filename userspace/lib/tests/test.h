/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * KTAP for the unit tests: a case is a function, OK() says what must hold.
 */
#ifndef INC_LIB_TEST_H
#define INC_LIB_TEST_H

#include <stdio.h>
#include <stdlib.h>

static int test_errors;

#define OK(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond); \
			test_errors++;					\
		}							\
	} while (0)

#define EQ(a, b)							\
	do {								\
		long long a_ = (long long)(a), b_ = (long long)(b);	\
									\
		if (a_ != b_) {						\
			printf("# %s:%d: %s is %lld, %s is %lld\n",	\
			       __FILE__, __LINE__, #a, a_, #b, b_);	\
			test_errors++;					\
		}							\
	} while (0)

struct test_case {
	const char	*name;
	void		(*fn)(void);
};

static inline int test_run(const struct test_case *cases, int n)
{
	int i, failed = 0;

	printf("KTAP version 1\n1..%d\n", n);
	for (i = 0; i < n; i++) {
		test_errors = 0;
		cases[i].fn();
		printf("%sok %d %s\n", test_errors ? "not " : "", i + 1,
		       cases[i].name);
		fflush(stdout);
		failed += !!test_errors;
	}
	return failed ? 1 : 0;
}

#define TEST_MAIN(cases)						\
	int main(void)							\
	{								\
		return test_run(cases, (int)(sizeof(cases) /		\
					     sizeof((cases)[0])));	\
	}

#endif /* INC_LIB_TEST_H */
