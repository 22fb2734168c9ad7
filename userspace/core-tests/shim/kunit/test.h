/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of KUnit that the *_kunit.c files use, for user space. Link main.c:
 * it runs every suite of the program and prints KTAP.
 */
#ifndef _SHIM_KUNIT_TEST_H
#define _SHIM_KUNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asm/errno.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>

typedef unsigned int gfp_t;
#ifndef GFP_KERNEL
#define GFP_KERNEL	0u
#endif

struct kunit {
	const char	*name;
	void		*priv;
	const void	*param_value;
	/* private: */
	bool		failed;
	bool		skipped;
	jmp_buf		out;
	void		*allocs[256];
	unsigned int	nr_allocs;
};

struct kunit_case {
	void		(*run_case)(struct kunit *test);
	const char	*name;
	const void	*(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char	*name;
	int		(*suite_init)(struct kunit_suite *suite);
	void		(*suite_exit)(struct kunit_suite *suite);
	int		(*init)(struct kunit *test);
	void		(*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_PARAM_DESC_SIZE	128
#define KUNIT_CASE(fn)			{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_SLOW(fn)		KUNIT_CASE(fn)
#define KUNIT_CASE_PARAM(fn, gen) \
	{ .run_case = fn, .name = #fn, .generate_params = gen }

#define KUNIT_ARRAY_PARAM(nm, array, get_desc)				\
static const void *nm ## _gen_params(const void *prev, char *desc)	\
{									\
	__typeof__((array)[0]) *next = prev ?				\
		(__typeof__((array)[0]) *)prev + 1 : (array);		\
	void (*describe)(__typeof__(next), char *) = get_desc;		\
									\
	if (next - (array) >= (long)ARRAY_SIZE(array))			\
		return NULL;						\
	if (describe)							\
		describe(next, desc);					\
	return next;							\
}

#define KUNIT_ARRAY_PARAM_DESC(nm, array, member)			\
static const void *nm ## _gen_params(const void *prev, char *desc)	\
{									\
	__typeof__((array)[0]) *next = prev ?				\
		(__typeof__((array)[0]) *)prev + 1 : (array);		\
									\
	if (next - (array) >= (long)ARRAY_SIZE(array))			\
		return NULL;						\
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s", next->member);	\
	return next;							\
}

void shim_kunit_add(struct kunit_suite *suite);

#define kunit_test_suite(suite)						\
static void __attribute__((__constructor__)) shim_add_ ## suite(void)	\
{									\
	shim_kunit_add(&(suite));					\
}									\
struct shim_semicolon

#define SHIM_ADD2(suites, line)						\
static void __attribute__((__constructor__)) shim_add_ ## line(void)	\
{									\
	struct kunit_suite *const list[] = { suites };			\
									\
	for (unsigned int i = 0; i < ARRAY_SIZE(list); i++)		\
		shim_kunit_add(list[i]);				\
}									\
struct shim_semicolon
#define SHIM_COMMA(...)		__VA_ARGS__
#define SHIM_ADD(suites, line)	SHIM_ADD2(SHIM_COMMA suites, line)
#define kunit_test_suites(...)	SHIM_ADD((__VA_ARGS__), __LINE__)

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp);
void __attribute__((__format__(__printf__, 5, 6)))
shim_kunit_fail(struct kunit *test, bool fatal, const char *file, int line,
		const char *fmt, ...);

#define kunit_kmalloc(t, n, g)		kunit_kzalloc(t, n, g)
#define kunit_kcalloc(t, n, s, g)	kunit_kzalloc(t, (n) * (s), g)
#define kunit_kmalloc_array(t, n, s, g)	kunit_kzalloc(t, (n) * (s), g)
#define kunit_info(test, fmt, ...)	printf("# " fmt, ##__VA_ARGS__)
#define kunit_warn			kunit_info
#define kunit_err			kunit_info
#define kunit_skip(test, fmt, ...) do {					\
	printf("# skip: " fmt "\n", ##__VA_ARGS__);			\
	(test)->skipped = true;						\
	longjmp((test)->out, 1);					\
} while (0)

#define KUNIT_FAIL(test, fmt, ...) \
	shim_kunit_fail(test, false, __FILE__, __LINE__, fmt, ##__VA_ARGS__)
#define KUNIT_FAIL_AND_ABORT(test, fmt, ...) \
	shim_kunit_fail(test, true, __FILE__, __LINE__, fmt, ##__VA_ARGS__)

#define SHIM_CMP(test, fatal, l, op, r, fmt, ...) do {			\
	__typeof__(l) _l = (l);						\
	__typeof__(r) _r = (r);						\
									\
	if (!(_l op _r))						\
		shim_kunit_fail(test, fatal, __FILE__, __LINE__,	\
				"%s " #op " %s: 0x%llx, 0x%llx. " fmt,	\
				#l, #r, (unsigned long long)_l,		\
				(unsigned long long)_r, ##__VA_ARGS__);	\
} while (0)
#define SHIM_TRUE(test, fatal, cond, want, fmt, ...) do {		\
	bool _c = (cond);						\
									\
	if (_c != (want))						\
		shim_kunit_fail(test, fatal, __FILE__, __LINE__,	\
				"%s is not " #want ". " fmt, #cond,	\
				##__VA_ARGS__);				\
} while (0)
#define SHIM_PTR(test, fatal, l, op, r, fmt, ...) do {			\
	const void *_l = (l), *_r = (r);				\
									\
	if (!(_l op _r))						\
		shim_kunit_fail(test, fatal, __FILE__, __LINE__,	\
				"%s " #op " %s: %p, %p. " fmt,		\
				#l, #r, _l, _r, ##__VA_ARGS__);		\
} while (0)
#define SHIM_MEM(test, fatal, l, r, n, want, fmt, ...)			\
	SHIM_TRUE(test, fatal, memcmp(l, r, n) == 0, want, fmt, ##__VA_ARGS__)
#define SHIM_STR(test, fatal, l, r, want, fmt, ...)			\
	SHIM_TRUE(test, fatal, strcmp(l, r) == 0, want, fmt, ##__VA_ARGS__)

#define KUNIT_EXPECT_EQ(t, l, r)	SHIM_CMP(t, false, l, ==, r, "")
#define KUNIT_EXPECT_NE(t, l, r)	SHIM_CMP(t, false, l, !=, r, "")
#define KUNIT_EXPECT_LT(t, l, r)	SHIM_CMP(t, false, l, <, r, "")
#define KUNIT_EXPECT_LE(t, l, r)	SHIM_CMP(t, false, l, <=, r, "")
#define KUNIT_EXPECT_GT(t, l, r)	SHIM_CMP(t, false, l, >, r, "")
#define KUNIT_EXPECT_GE(t, l, r)	SHIM_CMP(t, false, l, >=, r, "")
#define KUNIT_EXPECT_TRUE(t, c)		SHIM_TRUE(t, false, c, true, "")
#define KUNIT_EXPECT_FALSE(t, c)	SHIM_TRUE(t, false, c, false, "")
#define KUNIT_EXPECT_NULL(t, p)		SHIM_PTR(t, false, p, ==, NULL, "")
#define KUNIT_EXPECT_NOT_NULL(t, p)	SHIM_PTR(t, false, p, !=, NULL, "")
#define KUNIT_EXPECT_PTR_EQ(t, l, r)	SHIM_PTR(t, false, l, ==, r, "")
#define KUNIT_EXPECT_PTR_NE(t, l, r)	SHIM_PTR(t, false, l, !=, r, "")
#define KUNIT_EXPECT_STREQ(t, l, r)	SHIM_STR(t, false, l, r, true, "")
#define KUNIT_EXPECT_STRNEQ(t, l, r)	SHIM_STR(t, false, l, r, false, "")
#define KUNIT_EXPECT_MEMEQ(t, l, r, n)	SHIM_MEM(t, false, l, r, n, true, "")
#define KUNIT_EXPECT_MEMNEQ(t, l, r, n)	SHIM_MEM(t, false, l, r, n, false, "")

#define KUNIT_ASSERT_EQ(t, l, r)	SHIM_CMP(t, true, l, ==, r, "")
#define KUNIT_ASSERT_NE(t, l, r)	SHIM_CMP(t, true, l, !=, r, "")
#define KUNIT_ASSERT_LT(t, l, r)	SHIM_CMP(t, true, l, <, r, "")
#define KUNIT_ASSERT_LE(t, l, r)	SHIM_CMP(t, true, l, <=, r, "")
#define KUNIT_ASSERT_GT(t, l, r)	SHIM_CMP(t, true, l, >, r, "")
#define KUNIT_ASSERT_GE(t, l, r)	SHIM_CMP(t, true, l, >=, r, "")
#define KUNIT_ASSERT_TRUE(t, c)		SHIM_TRUE(t, true, c, true, "")
#define KUNIT_ASSERT_FALSE(t, c)	SHIM_TRUE(t, true, c, false, "")
#define KUNIT_ASSERT_NULL(t, p)		SHIM_PTR(t, true, p, ==, NULL, "")
#define KUNIT_ASSERT_NOT_NULL(t, p)	SHIM_PTR(t, true, p, !=, NULL, "")
#define KUNIT_ASSERT_PTR_EQ(t, l, r)	SHIM_PTR(t, true, l, ==, r, "")
#define KUNIT_ASSERT_STREQ(t, l, r)	SHIM_STR(t, true, l, r, true, "")
#define KUNIT_ASSERT_MEMEQ(t, l, r, n)	SHIM_MEM(t, true, l, r, n, true, "")
#define KUNIT_ASSERT_NOT_ERR_OR_NULL	KUNIT_ASSERT_NOT_NULL

#define KUNIT_EXPECT_EQ_MSG(t, l, r, ...) \
	SHIM_CMP(t, false, l, ==, r, __VA_ARGS__)
#define KUNIT_EXPECT_NE_MSG(t, l, r, ...) \
	SHIM_CMP(t, false, l, !=, r, __VA_ARGS__)
#define KUNIT_EXPECT_TRUE_MSG(t, c, ...) \
	SHIM_TRUE(t, false, c, true, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(t, c, ...) \
	SHIM_TRUE(t, false, c, false, __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(t, l, r, ...) \
	SHIM_CMP(t, false, l, <=, r, __VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(t, l, r, ...) \
	SHIM_CMP(t, false, l, >=, r, __VA_ARGS__)
#define KUNIT_ASSERT_LT_MSG(t, l, r, ...) \
	SHIM_CMP(t, true, l, <, r, __VA_ARGS__)
#define KUNIT_ASSERT_LE_MSG(t, l, r, ...) \
	SHIM_CMP(t, true, l, <=, r, __VA_ARGS__)
#define KUNIT_ASSERT_GE_MSG(t, l, r, ...) \
	SHIM_CMP(t, true, l, >=, r, __VA_ARGS__)
#define KUNIT_ASSERT_NE_MSG(t, l, r, ...) \
	SHIM_CMP(t, true, l, !=, r, __VA_ARGS__)
#define KUNIT_EXPECT_NULL_MSG(t, p, ...) \
	SHIM_PTR(t, false, p, ==, NULL, __VA_ARGS__)
#define KUNIT_EXPECT_MEMEQ_MSG(t, l, r, n, ...) \
	SHIM_MEM(t, false, l, r, n, true, __VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(t, l, r, ...) \
	SHIM_CMP(t, true, l, ==, r, __VA_ARGS__)
#define KUNIT_ASSERT_TRUE_MSG(t, c, ...) \
	SHIM_TRUE(t, true, c, true, __VA_ARGS__)
#define KUNIT_ASSERT_MEMEQ_MSG(t, l, r, n, ...) \
	SHIM_MEM(t, true, l, r, n, true, __VA_ARGS__)

#endif
