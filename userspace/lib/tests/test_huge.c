// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Operations around and beyond 2^31 and 2^32 elements and bytes, up to 16 GiB,
 * on the switch of fake.h. It checks each message against a 128-bit reference:
 * the addresses of data and result, and the registrations that cover them. The
 * memory is address space only: nothing is written.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include <sys/mman.h>

#include "fake.h"

#define BIG_MSG		65536
#define BIG_PMTU	4096
#define MAX_RANKS	48

typedef unsigned __int128 u128;

/* The operation in progress. */
static struct {
	enum inc_collective	coll;
	unsigned int		rank;
	unsigned int		nranks;
	u128			block;		/* bytes */
	size_t			esize;
	char			*buf;
	u128			done[MAX_RANKS]; /* of each root's block */
	unsigned int		steps[MAX_RANKS]; /* blocks sent, by root */
	u128			msgs;
} x;

static size_t room(void)
{
	return (BIG_MSG - INC_HDR_LEN) / x.esize * x.esize;
}

/*
 * Block of the buffer that holds the root's message. AllToAll: the @n-th block
 * of a root is for the rank n + 1 after it; this rank takes its own from the
 * others. Send and receive buffer are the same, as in place.
 */
static unsigned int sends_of(unsigned int root)
{
	return x.coll == INC_COLL_ALLTOALL ?
	       (root + 1 + x.steps[root]) % x.nranks : root;
}

static bool wants(unsigned int root)
{
	return x.coll == INC_COLL_ALLTOALL ? sends_of(root) == x.rank : true;
}

static void at(uint64_t addr, const void *base, u128 off)
{
	OK((u128)addr == (u128)(uintptr_t)base + off);
}

/* Check that a message is the next part of its root's block. */
static void look(const struct sent *s)
{
	unsigned int root = ntohs(s->hdr.root);
	u128 len = x.block - x.done[root], off = x.done[root];
	const char *from = x.coll == INC_COLL_ALLTOALL ?
				   x.buf + x.nranks * x.block :
				   x.buf;
	uint64_t to = be64toh(s->hdr.result_va);
	bool reduces = x.coll == INC_COLL_ALLREDUCE;

	if (len > room())
		len = room();
	OK((u128)ntohl(s->hdr.nelem) * x.esize == len);
	if (reduces || root == x.rank) {
		OK(s->len == len);
		if (x.coll != INC_COLL_ALLTOALL)
			at((uintptr_t)s->data, from, root * x.block + off);
		else
			at((uintptr_t)s->data, from,
			   sends_of(root) * x.block + off);
	} else {
		EQ(s->len, 0);
	}
	if (reduces || (root != x.rank && wants(root)))
		at(to, x.buf, root * x.block + off);
	else
		EQ(to, 0);
	x.msgs++;
	x.done[root] += len;
	if (x.done[root] == x.block) {
		x.done[root] = 0;
		x.steps[root]++;
	}
}

static void *space(u128 len)
{
	void *p = mmap(NULL, (size_t)len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED) {
		printf("# no address space for %llu bytes\n",
		       (unsigned long long)len);
		exit(1);
	}
	return p;
}

static void start(enum inc_collective coll, unsigned int rank,
		  unsigned int nranks, size_t count, enum inc_dtype dtype)
{
	begin_tree(0xfffffff0, BIG_MSG, BIG_PMTU);
	comm->rank = (int)rank;
	comm->nranks = (int)nranks;
	memset(&x, 0, sizeof(x));
	x.coll = coll;
	x.rank = rank;
	x.nranks = nranks;
	x.esize = inc_dtype_size(dtype);
	x.block = (u128)count * x.esize;
	sw.looks = look;
}

/* Check that each root has sent all of its blocks. */
static void finish(unsigned int blocks)
{
	u128 per_block = (x.block + room() - 1) / room();
	unsigned int root, roots = x.coll == INC_COLL_ALLREDUCE ? 1 : x.nranks;

	for (root = 0; root < roots; root++) {
		EQ(x.steps[root], blocks);
		OK(!x.done[root]);
	}
	OK(x.msgs == per_block * roots * blocks);
	OK(x.msgs == sw.sent);
	OK((u128)comm->info.rx_bytes ==
	   (x.coll == INC_COLL_ALLREDUCE ? x.block : x.block * (x.nranks - 1)));
	sw.looks = NULL;
	end();
}

static void allreduce(size_t count, enum inc_dtype dtype)
{
	start(INC_COLL_ALLREDUCE, 0, 1, count, dtype);
	x.buf = space(x.block);
	EQ(inc_allreduce(comm, INC_IN_PLACE, x.buf, count, dtype, INC_OP_SUM),
	   0);
	munmap(x.buf, (size_t)x.block);
	finish(1);
}

static void reductions(void)
{
	static const size_t counts[] = {
		0x7fffffff, 0x80000000, 0x80000005, 0xffffffff, 0x100000007,
	};
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		allreduce(counts[i], INC_DTYPE_INT8);
	allreduce(0x80000003, INC_DTYPE_INT16);
	allreduce(0x7fffffff, INC_DTYPE_FP32);
	allreduce(0x80000003, INC_DTYPE_FP64);
}

/* Consecutive blocks of more than 2 GiB and 4 GiB. */
static void blocks(void)
{
	static const size_t counts[] = { 0x80000005, 0x100000003 };
	size_t i, total;

	for (i = 0; i < 2; i++) {
		start(INC_COLL_ALLGATHER, 1, 3, counts[i], INC_DTYPE_INT8);
		total = (size_t)x.block * 3;
		x.buf = space(total);
		EQ(inc_allgather(comm, INC_IN_PLACE, x.buf, counts[i],
				 INC_DTYPE_INT8), 0);
		munmap(x.buf, total);
		finish(1);
	}
}

/* A rank's own block is copied, so blocks are short here, but not their sum. */
static void exchange(void)
{
	size_t count = 0x1000001, total;

	start(INC_COLL_ALLTOALL, 2, MAX_RANKS, count, INC_DTYPE_INT32);
	total = (size_t)x.block * MAX_RANKS;
	x.buf = space(2 * total);
	EQ(inc_alltoall(comm, x.buf + total, x.buf, count, INC_DTYPE_INT32), 0);
	munmap(x.buf, 2 * total);
	finish(MAX_RANKS - 1);
}

/* Every product that overflows 64 bits is refused. */
static void overflows(void)
{
	char *p = space(4096);

	start(INC_COLL_ALLTOALL, 0, 4, 1, INC_DTYPE_INT8);
	sw.looks = NULL;
	EQ(inc_allreduce(comm, INC_IN_PLACE, p, SIZE_MAX / 8 + 2,
			 INC_DTYPE_FP64, INC_OP_SUM),
	   -EOVERFLOW);
	EQ(inc_alltoall(comm, INC_IN_PLACE, p, SIZE_MAX / 4 + 1,
			INC_DTYPE_INT8),
	   -EOVERFLOW);
	EQ(inc_allgather(comm, p, p, SIZE_MAX / 8 + 1, INC_DTYPE_INT16),
	   -EOVERFLOW);
	EQ(inc_reduce_scatter(comm, p, p, SIZE_MAX / 16 + 1, INC_DTYPE_INT32,
			      INC_OP_MAX), -EOVERFLOW);
	EQ(sw.sent, 0);
	EQ(comm->err, 0);
	munmap(p, 4096);
	end();
}

static const struct test_case cases[] = {
	{ "huge: reductions", reductions },
	{ "huge: blocks side by side", blocks },
	{ "huge: an exchange", exchange },
	{ "huge: overflows", overflows },
};

TEST_MAIN(cases)
