/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A requester, its clock, and the packets that it sends.
 */
#ifndef _INC_TESTS_REQ_TEST_H
#define _INC_TESTS_REQ_TEST_H

#include <linux/errno.h>
#include <linux/string.h>
#include <uapi/linux/rdma_inc.h>

#include "common.h"
#include "core/psn.h"
#include "core/requester.h"

#define START		1000000		/* microseconds; not 0, as in a kernel */
#define MIN_RTO		2500
#define DEAD		1000000
#define SILENT		(1000 * RDMA_INC_SILENT_TIME)
#define INITIAL_RTO	50000		/* as in requester.c */

struct req_test {
	struct inc_requester	r;
	struct inc_requester	before;
	struct inc_wqe		ring[INC_REQ_MAX_WINDOW];
	struct inc_wqe		ring_before[INC_REQ_MAX_WINDOW];
	u64		now;
};

/* Its path is known to take any window: most tests are about other things. */
static inline struct inc_requester *setup(struct kunit *test, u32 psn,
					  u16 window)
{
	struct req_test *t = test->priv;

	t->now = START;
	inc_requester_init(&t->r, t->ring, INC_REQ_MAX_WINDOW, psn);
	inc_requester_tune(&t->r, window, MIN_RTO, DEAD);
	t->r.path = INC_REQ_MAX_WINDOW;
	return &t->r;
}

static inline u64 *clock(struct kunit *test)
{
	return &((struct req_test *)test->priv)->now;
}

static inline void remember(struct kunit *test)
{
	struct req_test *t = test->priv;

	t->before = t->r;
	memcpy(t->ring_before, t->ring, sizeof(t->ring));
}

static inline bool unchanged(struct kunit *test)
{
	struct req_test *t = test->priv;

	return !memcmp(&t->r, &t->before, sizeof(t->r)) &&
	       !memcmp(t->ring, t->ring_before, sizeof(t->ring));
}

struct sent {
	struct inc_wqe	*wqe;
	u32		psn;
	bool		ackreq, again, asks;
};

static inline struct sent next_end(struct kunit *test,
				   enum inc_requester_end end)
{
	struct req_test *t = test->priv;
	enum inc_requester_kind kind;
	struct sent s = {};

	s.wqe = inc_requester_next(&t->r, t->now, end, &s.psn, &s.ackreq,
				   &kind);
	s.again = s.wqe && kind == INC_REQ_RETRANSMIT;
	s.asks = s.wqe && kind == INC_REQ_SOLICIT;
	return s;
}

static inline struct sent next(struct kunit *test, bool last)
{
	return next_end(test, last ? INC_REQ_END : INC_REQ_MORE);
}

/* Push and send @n packets; each carries its number. */
static inline void send(struct kunit *test, unsigned int n)
{
	struct req_test *t = test->priv;

	for (unsigned int i = 0; i < n; i++) {
		struct inc_wqe *w = inc_requester_push(&t->r);

		KUNIT_ASSERT_NOT_NULL(test, w);
		w->imm = inc_psn_add(t->r.max, -1);
	}
	for (unsigned int i = 0; i < n; i++) {
		struct sent s = next(test, true);

		KUNIT_ASSERT_NOT_NULL(test, s.wqe);
		KUNIT_ASSERT_EQ(test, s.wqe->imm, s.psn);
	}
}

/* Retransmit @n packets from @psn on. */
static inline void expect_again(struct kunit *test, u32 psn, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct sent s = next(test, true);

		KUNIT_ASSERT_NOT_NULL(test, s.wqe);
		KUNIT_EXPECT_EQ(test, s.psn, inc_psn_add(psn, i));
		KUNIT_EXPECT_EQ(test, s.wqe->imm, s.psn);
		KUNIT_EXPECT_TRUE(test, s.again);
	}
	KUNIT_EXPECT_NULL(test, next(test, true).wqe);
}

static inline int req_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct req_test), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

#endif /* _INC_TESTS_REQ_TEST_H */
