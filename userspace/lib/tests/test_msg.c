// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Operations, messages and results against the switch of fake.h.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/arena.h"
#include "engine/uc.h"
#include "fake.h"

/* --- Cases ------------------------------------------------------------- */

static void sizes(void)
{
	static const size_t counts[] = { 0, 1, 3, 55, 56, 57, 255, 1024, 1025,
					 4097, 16384 };
	size_t i;

	begin();
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		fill();
		EQ(reduce(counts[i]), 0);
		OK(same(counts[i]));
	}
	EQ(sw.most, WINDOW);
	EQ(sw.n, 0);
	EQ(comm->info.operations, i);
	OK(sw.recvs >= comm->rq.depth / 2);
	end();
}

static void barrier(void)
{
	begin();
	EQ(inc_barrier(comm), 0);
	EQ(inc_barrier(comm), 0);
	EQ(sw.sent, 2);
	EQ(sw.header_only, 2);
	end();
}

/* A short operation arms the completion queue once and sleeps once. */
static void cheap(void)
{
	unsigned int i;

	begin();
	for (i = 0; i < 10; i++)
		EQ(reduce(2), 0);
	EQ(sw.sleeps, 10);
	EQ(sw.armed, 10);
	EQ(sw.send_armed, 0);
	EQ(sw.mrs, 1);
	end();
}

static void out_of_order(void)
{
	begin();
	sw.reverse = true;
	fill();
	EQ(reduce(5000), 0);
	OK(same(5000));
	EQ(sw.most, WINDOW);
	end();
}

static void wrap(void)
{
	static const uint32_t firsts[] = { 0xfffffe, 0xfffffffd, 0xffffff00 };
	size_t i;

	for (i = 0; i < 3; i++) {
		begin_at(firsts[i]);
		sw.reverse = i & 1;
		fill();
		EQ(reduce(16384), 0);
		OK(same(16384));
		EQ(comm->msgs.next, firsts[i] + 65536 / DATA + 1);
		end();
	}
}

static void nonblocking(void)
{
	struct inc_request *r[6];
	int i, done;

	begin();
	fill();
	for (i = 0; i < 6; i++)
		EQ(inc_iallreduce(comm, in + 4096 * i, out + 4096 * i,
				  (size_t)(1024 - i), INC_DTYPE_INT32,
				  INC_OP_SUM, &r[i]),
		   0);
	EQ(sw.n, WINDOW);
	EQ(inc_request_test(r[5], &done), 0);
	EQ(done, 0);
	while (sw.n) {
		answer(0);
		EQ(inc_request_test(r[5], &done), 0);
	}
	EQ(done, 1);
	for (i = 0; i < 6; i++) {
		EQ(inc_request_wait(r[i]), 0);
		OK(!memcmp(in + 4096 * i, out + 4096 * i,
			   (size_t)(1024 - i) * 4));
		inc_request_free(r[i]);
	}
	EQ(sw.sleeps, 0);
	EQ(sw.most, WINDOW);
	end();
}

static void in_place_and_orphan(void)
{
	struct inc_request *r, *b;

	begin();
	fill();
	memcpy(out, in, sizeof(out));
	EQ(inc_iallreduce(comm, INC_IN_PLACE, out, 2048, INC_DTYPE_FP32,
			  INC_OP_MAX, &r), 0);
	inc_request_free(r);
	EQ(inc_ibarrier(comm, &b), 0);
	EQ(inc_request_wait(b), 0);
	inc_request_free(b);
	OK(!memcmp(in, out, sizeof(out)));
	end();
}

/* A message fails: the operation ends with its error, and IDs stay in step. */
static void status(void)
{
	begin();
	fill();
	sw.status = INC_STATUS_MISMATCH;
	sw.status_for = 2;
	EQ(reduce(2000), -EBADE);
	EQ(sw.sent, 2000 * 4 / DATA + 1);
	OK(sw.header_only > 0);
	EQ(comm->err, 0);
	OK(strstr(comm->error.text, "disagree"));
	fill();
	EQ(reduce(2000), 0);
	OK(same(2000));
	end();
}

/* The rank at fault is reported by the daemon, a little later or not at all. */
static void whose_request(void)
{
	begin();
	fill();
	sw.status = INC_STATUS_MISMATCH;
	sw.status_for = 2;
	EQ(reduce(2000), -EBADE);
	strcpy(comm->watchdog.wrong, "rank 1 it was");
	comm->watchdog.wrong_id = comm->error.msg_id;
	OK(strstr(inc_comm_strerror(comm), "disagree"));
	OK(strstr(inc_comm_strerror(comm), ": rank 1 it was"));
	EQ(strlen(strstr(comm->error.text, "rank 1")), strlen("rank 1 it was"));
	fill();
	EQ(reduce(2000), 0);

	/* The report is about an older message. */
	sw.status = INC_STATUS_MISMATCH;
	sw.status_for = 2 + sw.sent;
	comm->watchdog.wrong_id -= comm->tree.slots + 1;
	fill();
	reduce(2000);
	OK(!strstr(inc_comm_strerror(comm), "rank 1"));
	end();
}

/* The daemon knows why the tree failed. */
static void tree_failed(void)
{
	begin();
	fill();
	sw.status = INC_STATUS_PEER_DEAD;
	sw.status_for = 1;
	strcpy(comm->watchdog.said, "rank 1: connection lost");
	OK(reduce(2000) < 0);
	OK(strstr(inc_comm_strerror(comm), ": rank 1: connection lost"));
	end();
}

/*
 * A request breaks a rule, or arrives at a tree that has failed: the daemon knows
 * why, again.
 */
static void tree_refuses(void)
{
	static const enum ibv_wc_status statuses[] = {
		IBV_WC_REM_OP_ERR,
		IBV_WC_REM_INV_REQ_ERR,
		IBV_WC_REM_ACCESS_ERR,
	};
	unsigned int i;

	for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		begin();
		sw.wc_status = statuses[i];
		result(0);
		strcpy(comm->watchdog.said, "rank 1: connection lost");
		comm->watchdog.said_err = -ECONNRESET;
		EQ(reduce(1), -ECONNRESET);
		EQ(strcmp(comm->error.text, "rank 1: connection lost"), 0);
		end();
	}
	begin();
	sw.wc_status = IBV_WC_REM_OP_ERR;
	result(0);
	EQ(reduce(1), -EIO);
	end();
}

/* Unknown statuses are handled according to their range. */
static void status_to_come(void)
{
	begin();
	result(40U << 24);
	sw.status = 0x85;
	sw.status_for = 0;
	EQ(inc_barrier(comm), 0);
	sw.status = 15;
	sw.status_for = 1;
	EQ(inc_barrier(comm), -EPROTO);
	EQ(comm->err, 0);
	sw.status = 31;
	sw.status_for = 2;
	EQ(inc_barrier(comm), -EPROTO);
	EQ(comm->err, -EPROTO);
	end();
}

/* An error that arrives before this rank has sent the message. */
static void early_status(void)
{
	begin();
	fill();
	result(INC_STATUS_VERSION << 24 | 1);
	EQ(reduce(1), 0);	/* message 0 */
	EQ(reduce(1), -EPROTONOSUPPORT);
	sw.n = 0;		/* the switch does not answer it any more */
	EQ(reduce(1), 0);
	/* a duplicate answer: ignored */
	result(INC_STATUS_VERSION << 24 | 1);
	EQ(reduce(1), 0);
	EQ(comm->err, 0);
	end();
}

static void dead_peer(void)
{
	struct inc_request *a, *b;

	begin();
	fill();
	EQ(inc_iallreduce(comm, in, out, 5000, INC_DTYPE_INT32, INC_OP_SUM, &a),
	   0);
	EQ(inc_ibarrier(comm, &b), 0);
	result(INC_STATUS_PEER_DEAD << 24 | 0x123456);
	EQ(inc_request_wait(b), -ECONNRESET);
	EQ(inc_request_wait(a), -ECONNRESET);
	OK(sw.qp_gone);
	EQ(sw.mrs, 1);		/* arena; the user's memory is deregistered */
	EQ(reduce(1), -ECONNRESET);
	EQ(inc_barrier(comm), -ECONNRESET);
	inc_request_free(a);
	inc_request_free(b);
	end();
}

/* Results that arrived before the end count. */
static void last_result_then_end(void)
{
	struct inc_request *a;

	begin();
	fill();
	EQ(inc_iallreduce(comm, in, out, 3, INC_DTYPE_INT32, INC_OP_SUM, &a),
	   0);
	answer(0);
	result(INC_STATUS_TREE_GONE << 24);
	EQ(inc_request_wait(a), 0);
	OK(same(3));
	EQ(inc_barrier(comm), -ESHUTDOWN);
	inc_request_free(a);
	end();
}

static void unexpected_result(void)
{
	begin();
	result(5);
	EQ(reduce(1), -EPROTO);
	EQ(comm->err, -EPROTO);
	end();
	begin();
	EQ(reduce(1), 0);
	result(0);		/* once more */
	EQ(reduce(1), -EPROTO);
	end();
}

static void time_limit(void)
{
	begin();
	sw.watch_fires_at = 3;
	fill();
	EQ(reduce(5000), -ETIMEDOUT);
	OK(strstr(comm->error.text, "late"));
	OK(sw.qp_gone);
	EQ(inc_barrier(comm), -ETIMEDOUT);
	end();
}

static void broken_qp(void)
{
	begin();
	sw.wc_status = IBV_WC_WR_FLUSH_ERR;
	result(0);
	EQ(reduce(1), -EIO);
	OK(strstr(comm->error.text, "flushed"));
	end();
	begin();
	sw.post_error = ENOMEM;
	EQ(reduce(1), -ENOMEM);
	EQ(comm->err, -ENOMEM);
	end();
}

/* The send queue is full, as nothing is acknowledged. */
static void full_send_queue(void)
{
	begin();
	fill();
	sw.hold_sends = true;
	EQ(reduce(16384), 0);
	OK(same(16384));
	OK(!sw.hold_sends);
	end();
}

/* Registrations end when their last send has completed. */
static void registrations(void)
{
	begin_tree(0, 16384, 1024);
	fill();
	sw.hold_sends = true;
	EQ(reduce(1100), 0);
	EQ(sw.mrs, 3);		/* arena, bounce buffer, send buffer */
	sw.hold_sends = false;
	EQ(reduce(1), 0);
	EQ(sw.mrs, 2);
	EQ(inc_mem_reg(comm, out, sizeof(out)), 0);
	EQ(inc_mem_reg(comm, in, sizeof(in)), 0);
	EQ(reduce(5000), 0);
	EQ(reduce(5000), 0);
	EQ(comm->mem.hits, 4);
	EQ(inc_mem_dereg(comm, in, 1), -ENOENT);
	EQ(inc_mem_dereg(comm, in, sizeof(in)), 0);
	EQ(inc_mem_invalidate(comm, out, 1), 0);
	EQ(inc_mem_reg(comm, NULL, 1), -EINVAL);
	end();
}

static void arguments(void)
{
	begin();
	EQ(inc_allreduce(comm, in, out, 1, INC_DTYPE_COUNT, INC_OP_SUM),
	   -EINVAL);
	EQ(inc_allreduce(comm, in, out, 1, INC_DTYPE_INT8, (enum inc_op)-1),
	   -EINVAL);
	EQ(inc_allreduce(comm, in, out, 1, INC_DTYPE_FP16, INC_OP_SUM),
	   -EOPNOTSUPP);
	OK(strstr(comm->error.text, "fp16"));
	EQ(inc_allreduce(comm, in, out, SIZE_MAX / 2, INC_DTYPE_INT32,
			 INC_OP_SUM),
	   -EOVERFLOW);
	EQ(inc_allreduce(comm, NULL, NULL, 0, INC_DTYPE_INT32, INC_OP_SUM), 0);
	EQ(sw.sent, 1);
	EQ(comm->err, 0);
	inc_request_free(NULL);
	EQ(inc_allreduce(comm, in, NULL, 1, INC_DTYPE_INT8, INC_OP_SUM),
	   -EFAULT);
	EQ(comm->err, -EFAULT);
	end();
}

/* --- Results that come again ------------------------------------------- */

static struct sent old[4000];
static unsigned int nold, hits;

/* An older result arrives again, with different contents, after this one. */
static void come_again(const struct sent *s)
{
	unsigned int i;
	char *to;

	for (i = 0; i < nold; i++) {
		to = place(ntohl(old[i].hdr.result_rkey),
			   be64toh(old[i].hdr.result_va), old[i].len);
		if (!to)
			continue;
		hits++;
		memset(to, 0x5a, old[i].len);
	}
	if (nold < sizeof(old) / sizeof(old[0]))
		old[nold++] = *s;
}

static void uc_late_results(void)
{
	size_t i, count;

	for (i = 0; i < 2; i++) {
		begin_uc();
		sw.came = come_again;
		sw.reverse = i;
		nold = 0;
		hits = 0;
		for (count = 1; sw.sent < 3500; count = count * 5 % 997) {
			fill();
			EQ(reduce(count), 0);
			OK(same(count));
		}
		OK(comm->uc->landing.made > 10);
		OK(hits > 1000);	/* to unused memory */
		end();
	}
}

/* --- Operations that can't begin as they should ------------------------ */

/* Nothing can be registered: long messages are copied. */
static void refused(void)
{
	static const int errors[] = { ENOMEM, EFAULT, EIO };
	struct inc_request *r[4];
	size_t i;

	for (i = 0; i < 3; i++) {
		begin_tree(0, 16384, 1024);
		sw.refuse = errors[i];
		sw.refuse_from = 2;	/* after arena and bounce buffer */
		fill();
		EQ(reduce(16384), 0);
		OK(same(16384));
		EQ(sw.most, 1);
		EQ(sw.mrs, 2);
		EQ(comm->err, 0);
		end();
	}
	begin_tree(0, 16384, 1024);
	sw.refuse = ENOMEM;
	sw.refuse_from = 4;
	fill();
	for (i = 0; i < 4; i++)
		EQ(inc_iallreduce(comm, in + 16384 * i, out + 16384 * i, 4096,
				  INC_DTYPE_INT32, INC_OP_SUM, &r[i]), 0);
	for (i = 0; i < 4; i++) {
		EQ(inc_request_wait(r[i]), 0);
		inc_request_free(r[i]);
	}
	OK(!memcmp(in, out, sizeof(in)));
	end();
}

/* Not even a buffer to copy messages to: the others must not wait. */
static void refused_all(void)
{
	begin_tree(0, 16384, 1024);
	sw.refuse = ENOMEM;
	fill();
	EQ(reduce(4), 0);
	EQ(reduce(16384), -ENOMEM);
	OK(strstr(comm->error.text, "memory to copy messages"));
	OK(sw.qp_gone && sw.hung_up);
	EQ(reduce(4), -ENOMEM);
	end();
}

/*
 * The room for messages in flight grows with the window, once; if there is no
 * memory it stays.
 */
static void grows(void)
{
	struct inc_request *r[32];
	size_t i, try;

	for (try = 0; try < 2; try++) {
		begin_window(16);
		sw.refuse = try ? ENOMEM : 0;
		EQ(comm->msgs.mask, 7);
		fill();
		for (i = 0; i < 32; i++)
			EQ(inc_iallreduce(comm, in + 4 * i, out + 4 * i, 1,
					  INC_DTYPE_INT32, INC_OP_SUM, &r[i]),
			   0);
		for (i = 0; i < 32; i++) {
			EQ(inc_request_wait(r[i]), 0);
			OK(!memcmp(in + 4 * i, out + 4 * i, 4));
			inc_request_free(r[i]);
		}
		EQ(comm->msgs.mask, try ? 7 : 15);
		EQ(sw.most, try ? 8 : 16);
		EQ(sw.mrs, try ? 1 : 2);
		end();
	}
}

/* Unused registrations in the cache make room first. */
static void refused_for_what_is_kept(void)
{
	size_t i;

	begin_tree(0, 16384, 1024);
	comm->mem.keep = true;
	sw.refuse = ENOMEM;
	sw.refuse_from = 6;
	for (i = 0; i < 8; i++) {
		fill();
		EQ(inc_allreduce(comm, in + 4 * i, out + 4 * i, 12000,
				 INC_DTYPE_INT32, INC_OP_SUM), 0);
		OK(!memcmp(in + 4 * i, out + 4 * i, 48000));
		OK(sw.mrs <= 6);
	}
	OK(sw.most > 1);
	end();
}

/* Unmapped memory ends the communicator, as the other ranks have begun. */
static void can_not_begin(void)
{
	char *page =
		mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct inc_request *r;

	begin_tree(0, 16384, 1024);
	sw.refuse = EFAULT;
	sw.refuse_from = 2;	/* after arena and bounce buffer */
	EQ(inc_allreduce(comm, page, out, 2048, INC_DTYPE_INT32, INC_OP_SUM),
	   0);
	EQ(inc_allreduce(comm, in, page, 2048, INC_DTYPE_INT32, INC_OP_SUM),
	   -EFAULT);
	OK(sw.qp_gone && sw.hung_up);
	EQ(inc_barrier(comm), -EFAULT);
	end();
	munmap(page, 8192);

	begin();
	EQ(inc_iallreduce(comm, in, out, 5000, INC_DTYPE_INT32, INC_OP_SUM, &r),
	   0);
	EQ(inc_allreduce(comm, in, in + 4, 2, INC_DTYPE_INT32, INC_OP_SUM),
	   -EINVAL);
	OK(strstr(comm->error.text, "overlap"));
	OK(sw.qp_gone && sw.hung_up);
	EQ(inc_request_wait(r), -EINVAL);
	inc_request_free(r);
	end();

	begin();
	EQ(inc_allreduce_init(comm, in, NULL, 1, INC_DTYPE_INT8, INC_OP_SUM,
			      &r),
	   -EFAULT);
	OK(sw.qp_gone && sw.hung_up);
	end();
}

static void in_place_results(void)
{
	begin();
	EQ(inc_allreduce(comm, in, INC_IN_PLACE, 1, INC_DTYPE_INT32,
			 INC_OP_SUM),
	   -EINVAL);
	EQ(sw.sent, 0);
	end();
	begin();
	EQ(inc_scatter(comm, INC_IN_PLACE, out, 1, INC_DTYPE_INT32, 0),
	   -EINVAL);
	end();
	begin();
	EQ(inc_broadcast(comm, INC_IN_PLACE, 1, INC_DTYPE_INT32, 0), -EINVAL);
	end();
	begin();
	comm->nranks = 2;
	EQ(inc_scatter(comm, in, INC_IN_PLACE, 1, INC_DTYPE_INT32, 0), 0);
	end();
}

/*
 * A message ends with an error before it is acknowledged: its buffer must not
 * change until then.
 */
static void error_before_ack(void)
{
	struct sent first = { 0 };
	struct inc_request *r;
	unsigned int i, every;
	int done;

	for (every = 1; every <= 16; every += 15) {
		begin();
		fill();
		comm->sq.every = every;
		sw.hold_sends = true;
		sw.status = INC_STATUS_MISMATCH;
		for (i = 0; i < WINDOW; i++) {
			EQ(inc_iallreduce(comm, in + 64 * i, out, 4,
					  INC_DTYPE_INT32, INC_OP_SUM, &r),
			   0);
			if (!i)
				first = sw.flight[0];
			answer(0);
			EQ(inc_request_test(r, &done), i ? 0 : -EBADE);
			EQ(done, 1);
			inc_request_free(r);
		}
		/* This one would reuse the entry of the first. */
		EQ(inc_iallreduce(comm, in + 640, out, 4, INC_DTYPE_INT32,
				  INC_OP_SUM, &r),
		   0);
		EQ(inc_request_test(r, &done), 0);
		EQ(sw.sent, WINDOW);
		EQ(sw.empty, every > 1);
		OK(!memcmp(first.data, in, 16));
		EQ(inc_request_wait(r), 0);
		OK(!memcmp(in + 640, out, 16));
		EQ(sw.sent, WINDOW + 1);
		EQ(sw.empty, every > 1);
		inc_request_free(r);
		EQ(reduce(5000), 0);
		end();
	}
}

/* The cause appears in the other queue, later. */
static void first_error(void)
{
	begin();
	sw.wc_status = IBV_WC_WR_FLUSH_ERR;
	result(0);
	sw.cause = IBV_WC_LOC_QP_OP_ERR;
	sw.cause_after = 5;
	EQ(reduce(1), -EIO);
	OK(strstr(comm->error.text, "sending: operation"));
	end();
}

/* UC copies data to entries of a packet's length. */
static void uc_messages(void)
{
	struct inc_comm c = {
		.window = { .now = WINDOW, .max = WINDOW },
		.sq = { .depth = 16 },
		.tree = { .slots = SLOTS, .msg_size = MSG_SIZE, .pmtu = 128 },
	};

	begin();
	c.uc = calloc(1, sizeof(*c.uc));
	EQ(inc_msg_alloc(&c), -EMSGSIZE);
	c.tree.pmtu = MSG_SIZE;
	EQ(inc_msg_alloc(&c), 0);
	EQ(inc_uc_alloc(&c), 0);
	inc_uc_free(&c);
	inc_msg_free(&c);
	OK(!c.uc);
	end();
}

static const struct test_case cases[] = {
	{ "sizes", sizes },
	{ "barrier", barrier },
	{ "cheap", cheap },
	{ "out_of_order", out_of_order },
	{ "wrap", wrap },
	{ "nonblocking", nonblocking },
	{ "in_place_and_orphan", in_place_and_orphan },
	{ "status", status },
	{ "whose_request", whose_request },
	{ "tree_failed", tree_failed },
	{ "tree_refuses", tree_refuses },
	{ "status_to_come", status_to_come },
	{ "early_status", early_status },
	{ "dead_peer", dead_peer },
	{ "last_result_then_end", last_result_then_end },
	{ "unexpected_result", unexpected_result },
	{ "time_limit", time_limit },
	{ "broken_qp", broken_qp },
	{ "full_send_queue", full_send_queue },
	{ "registrations", registrations },
	{ "arguments", arguments },
	{ "uc_messages", uc_messages },
	{ "uc_late_results", uc_late_results },
	{ "refused", refused },
	{ "refused_for_what_is_kept", refused_for_what_is_kept },
	{ "refused_all", refused_all },
	{ "grows", grows },
	{ "can_not_begin", can_not_begin },
	{ "in_place_results", in_place_results },
	{ "error_before_ack", error_before_ack },
	{ "first_error", first_error },
};

TEST_MAIN(cases)
