// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Requests on the switch of fake.h: waits with a time limit, and persistent
 * operations.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "engine/end.h"
#include "fake.h"

/* A wait with a time limit sleeps that long and changes nothing. */
static void wait_for(void)
{
	struct inc_request *r;
	int64_t now;

	begin();
	fill();
	EQ(inc_iallreduce(comm, in, out, 3, INC_DTYPE_INT32, INC_OP_SUM, &r),
	   0);
	EQ(inc_request_wait_for(r, 0), -EAGAIN);
	EQ(sw.polls, 0);
	sw.answer_after_ms = 25;
	EQ(inc_request_wait_for(r, 10), -EAGAIN);
	EQ(sw.now_ms, 10);
	sw.interrupted = 3;
	EQ(inc_request_wait_for(r, 10), -EAGAIN);
	EQ(sw.now_ms, 20);
	EQ(sw.armed, 1);
	OK(!atomic_load(&comm->watchdog.waits));
	EQ(inc_request_wait_for(r, 10), 0);
	EQ(sw.now_ms, 25);
	OK(same(3));
	EQ(inc_request_wait_for(r, 10), 0);
	EQ(sw.sleeps, 1);
	inc_request_free(r);

	/*
	 * Results that do not end the operation do not extend the time limit.
	 */
	EQ(inc_iallreduce(comm, in, out, 5000, INC_DTYPE_INT32, INC_OP_SUM, &r),
	   0);
	sw.answers_every_ms = 4;
	for (now = sw.now_ms; inc_request_wait_for(r, 10) == -EAGAIN;
	     now = sw.now_ms)
		EQ(sw.now_ms, now + 10);
	OK(sw.now_ms - 25 >= 5000 * 4 / DATA * 4 - 4);
	OK(same(5000));
	inc_request_free(r);

	EQ(inc_iallreduce(comm, in, out, 1, INC_DTYPE_INT32, INC_OP_SUM, &r),
	   0);
	sw.watch_fires_at = (int)sw.sleeps + 1;
	EQ(inc_request_wait_for(r, 10), -ETIMEDOUT);
	inc_request_free(r);
	end();
}

/* The bell ends a sleep: what the watch has heard is done, and the wait goes on. */
static void bell(void)
{
	struct inc_request *r;
	uint64_t rings;

	begin();
	fill();
	comm->watchdog.bell = eventfd(2, EFD_NONBLOCK);
	OK(comm->watchdog.bell >= 0);
	sw.rings = 1;
	EQ(inc_iallreduce(comm, in, out, 3, INC_DTYPE_INT32, INC_OP_SUM, &r),
	   0);
	EQ(inc_request_wait(r), 0);
	OK(same(3));
	EQ(comm->info.sleeps, 2);
	EQ(sw.armed, 1);
	EQ(sw.rings, 0);
	EQ(read(comm->watchdog.bell, &rings, sizeof(rings)), -1);
	inc_request_free(r);
	close(comm->watchdog.bell);
	end();
}

static void count_up(void *arg)
{
	atomic_fetch_add((_Atomic int *)arg, 1);
}

static void sleep_ms(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	nanosleep(&ms, NULL);
}

/* The device holds packets, and what they are of: who fails does not wait for it. */
static void stuck(void)
{
	struct inc_dying *dying = NULL;
	struct inc_request *r;
	_Atomic int done = 0;
	struct ibv_qp other;
	int mrs;

	begin();
	fill();
	EQ(inc_iallreduce(comm, in, out, 5000, INC_DTYPE_INT32, INC_OP_SUM, &r),
	   0);
	mrs = sw.mrs;
	sw.stuck = true;
	inc_comm_fail(comm, -EIO, "gone");
	EQ(inc_request_wait(r), -EIO);
	inc_request_free(r);
	OK(!sw.qp_gone && comm->dying && !comm->qp);
	inc_comm_reap_mem(comm);
	EQ(sw.mrs, mrs);
	inc_dying_then(comm->dying, count_up, &done);
	comm->dying = NULL;
	EQ(done, 0);
	sw.stuck = false;
	while (!done)
		sleep_ms();
	OK(sw.qp_gone);
	inc_comm_reap_mem(comm);
	OK(sw.mrs < mrs);

	sw.stuck = true;
	EQ(inc_qp_destroy(&other, 1, &dying), 0);
	OK(dying && !inc_dying_over(&dying));
	sw.stuck = false;
	while (!inc_dying_over(&dying))
		sleep_ms();
	OK(!dying && inc_dying_over(&dying));
	EQ(inc_qp_destroy(&other, INC_FOREVER, &dying), 0);
	OK(!dying);
	end();
}

/* Start @r, let it complete, and compare. */
static void once(struct inc_request *r, size_t count, unsigned char with)
{
	size_t i;

	for (i = 0; i < sizeof(in); i++)
		in[i] = (unsigned char)(i * 7 + with);
	memset(out, 0xee, sizeof(out));
	EQ(inc_request_start(r), 0);
	EQ(inc_request_start(r), -EBUSY);
	EQ(inc_request_wait(r), 0);
	OK(same(count));
}

/* Registered once, started many times; sends only when started. */
static void persistent(void)
{
	struct inc_request *r, *other;
	int i, done = 0;

	begin();
	EQ(inc_allreduce_init(comm, in, out, 3000, INC_DTYPE_INT32, INC_OP_SUM,
			      &r),
	   0);
	EQ(sw.sent, 0);
	EQ(sw.mrs, 3);			/* arena, to send from, for results */
	EQ(inc_request_test(r, &done), 0);
	EQ(done, 1);
	EQ(inc_request_wait_for(r, 1), 0);
	for (i = 0; i < 20; i++) {
		once(r, 3000, (unsigned char)i);
		EQ(comm->mem.regs, 2);
	}
	EQ(sw.mrs, 3);
	EQ(comm->info.operations, 20);
	EQ(sw.sent, 20U * (3000 * 4 / DATA + 1));
	/* Other operations use its registrations, and it outlives them. */
	EQ(reduce(2000), 0);
	EQ(comm->mem.regs, 2);
	EQ(inc_mem_invalidate(comm, out, 1), -EBUSY);
	EQ(inc_iallreduce(comm, in, out, 1, INC_DTYPE_INT32, INC_OP_SUM,
			  &other),
	   0);
	EQ(inc_request_start(other), -EINVAL);
	EQ(inc_request_wait(other), 0);
	inc_request_free(other);
	inc_request_free(r);
	EQ(sw.mrs, 1);
	end();
}

/*
 * Several at once, in another order than they were made, with barriers between.
 */
static void persistent_several(void)
{
	struct inc_request *r[4], *b;
	int i, round;

	begin();
	EQ(inc_barrier_init(comm, &b), 0);
	for (i = 0; i < 4; i++)
		EQ(inc_allreduce_init(comm, in + 16384 * i, out + 16384 * i,
				      (size_t)(1200 * i), INC_DTYPE_INT32,
				      INC_OP_SUM, &r[i]), 0);
	for (round = 0; round < 5; round++) {
		fill();
		sw.reverse = round & 1;
		for (i = 3; i >= 0; i--)
			EQ(inc_request_start(r[i]), 0);
		EQ(inc_request_start(b), 0);
		EQ(inc_request_wait(b), 0);
		for (i = 0; i < 4; i++) {
			EQ(inc_request_wait(r[i]), 0);
			OK(!memcmp(in + 16384 * i, out + 16384 * i,
				   (size_t)(4800 * i)));
			EQ(out[16384 * i + 4800 * i], 0xee);
		}
	}
	for (i = 0; i < 4; i++)
		inc_request_free(r[i]);
	inc_request_free(b);
	EQ(sw.mrs, 1);
	end();
}

/* The rank's own data is copied at each start, in place as well. */
static void persistent_in_place(void)
{
	struct inc_request *a, *g;
	int i;

	begin();
	EQ(inc_alltoall_init(comm, INC_IN_PLACE, out, 3000, INC_DTYPE_INT32,
			     &a),
	   0);
	EQ(inc_allgather_init(comm, in, out, 3000, INC_DTYPE_INT32, &g), 0);
	for (i = 0; i < 3; i++) {
		memset(out, i + 1, sizeof(out));
		EQ(inc_request_start(a), 0);
		EQ(inc_request_wait(a), 0);
		EQ(out[0], i + 1);
		EQ(out[11999], i + 1);
		memset(in, i + 100, sizeof(in));
		EQ(inc_request_start(g), 0);
		EQ(inc_request_wait(g), 0);
		OK(!memcmp(in, out, 12000));
	}
	inc_request_free(g);
	/* @a is freed with the communicator. */
	end();
}

/*
 * A failed operation can be started again; free one in progress; end the
 * communicator.
 */
static void persistent_ends(void)
{
	struct inc_request *r, *s;

	begin();
	EQ(inc_allreduce_init(comm, in, out, 2000, INC_DTYPE_INT32, INC_OP_SUM,
			      &r),
	   0);
	sw.status = INC_STATUS_MISMATCH;
	sw.status_for = 2;
	EQ(inc_request_start(r), 0);
	EQ(inc_request_wait(r), -EBADE);
	once(r, 2000, 1);
	EQ(inc_request_start(r), 0);
	inc_request_free(r);
	EQ(sw.mrs, 3);
	EQ(inc_barrier(comm), 0);
	EQ(reduce(1), 0);
	EQ(sw.mrs, 1);

	EQ(inc_allreduce_init(comm, in, out, 2000, INC_DTYPE_INT32, INC_OP_SUM,
			      &r),
	   0);
	EQ(inc_allreduce_init(comm, in, out, 2, INC_DTYPE_INT32, INC_OP_SUM,
			      &s),
	   0);
	EQ(inc_request_start(r), 0);
	result(INC_STATUS_PEER_DEAD << 24);
	EQ(inc_request_wait(r), -ECONNRESET);
	EQ(inc_request_start(r), -ECONNRESET);
	EQ(inc_request_start(s), -ECONNRESET);
	EQ(inc_request_wait(s), 0);
	inc_request_free(r);
	EQ(sw.mrs, 1);
	inc_request_free(s);
	end();
}

/* Invalid arguments are refused at once, and nothing is allocated. */
static void persistent_arguments(void)
{
	struct inc_request *r;

	begin();
	EQ(inc_allreduce_init(comm, in, out, 1, INC_DTYPE_COUNT, INC_OP_SUM,
			      &r),
	   -EINVAL);
	EQ(inc_broadcast_init(comm, out, 5000, INC_DTYPE_INT8, 1, &r), -EINVAL);
	EQ(inc_scatter_init(comm, in, out, SIZE_MAX / 2, INC_DTYPE_INT64, 0,
			    &r),
	   -EOVERFLOW);
	EQ(inc_reduce_scatter_init(comm, in, out, 1, INC_DTYPE_FP16, INC_OP_SUM,
				   &r),
	   -EOPNOTSUPP);
	EQ(sw.mrs, 1);
	/* Other ranks may have started this one, so the communicator fails. */
	EQ(inc_gather_init(comm, in, in + 1, 5000, INC_DTYPE_INT8, 0, &r),
	   -EINVAL);
	EQ(comm->err, -EINVAL);
	end();
}

static const struct test_case cases[] = {
	{ "wait_for", wait_for },
	{ "bell", bell },
	{ "stuck", stuck },
	{ "persistent", persistent },
	{ "persistent_several", persistent_several },
	{ "persistent_in_place", persistent_in_place },
	{ "persistent_ends", persistent_ends },
	{ "persistent_arguments", persistent_arguments },
};

TEST_MAIN(cases)
