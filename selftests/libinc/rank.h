/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* A rank of the live tests, and its checks. */
#ifndef RANK_H
#define RANK_H

#include <stdio.h>
#include <stdlib.h>

#include <inc/inc.h>

extern int live_errors;

#define OK(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			__atomic_add_fetch(&live_errors, 1, __ATOMIC_RELAXED); \
		}							\
	} while (0)

#define EQ(a, b)							\
	do {								\
		long long a_ = (long long)(a), b_ = (long long)(b);	\
									\
		if (a_ != b_) {						\
			printf("%s:%d: %s is %lld, %s is %lld\n",	\
			       __FILE__, __LINE__, #a, a_, #b, b_);	\
			__atomic_add_fetch(&live_errors, 1, __ATOMIC_RELAXED); \
		}							\
	} while (0)

/* Exit if this is not 0. */
#define MUST(ret)							\
	do {								\
		int ret_ = (ret);					\
									\
		if (ret_) {						\
			printf("%s:%d: %s is %d: %s\n", __FILE__,	\
			       __LINE__, #ret, ret_, inc_strerror(ret_)); \
			exit(1);					\
		}							\
	} while (0)

static inline void live_ok(const char *what)
{
	printf("%s %s\n", live_errors ? "not ok" : "ok", what);
	fflush(stdout);
}

double live_now_ms(void);
struct inc_comm *live_join(const char *suffix, int rank, int nranks);

#endif /* RANK_H */
