// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Cache of registrations, on fake verbs that count. */
#include <errno.h>
#include <string.h>

#include "device/mem.h"
#include "test.h"

static int live, made, refuse, refuse_after;

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			  int access)
{
	struct ibv_mr *mr;

	if (refuse_after && !--refuse_after) {
		errno = ENOMEM;
		return NULL;
	}
	if (refuse) {
		errno = refuse;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	made++;
	mr->rkey = (uint32_t)made;
	mr->handle = (uint32_t)access;
	live++;
	return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	live--;
	free(mr);
	return 0;
}

static char area[1 << 16];

static void start(struct inc_mem_cache *c, bool keep)
{
	live = 0;
	made = 0;
	refuse = 0;
	inc_mem_init(c, NULL, keep, NULL);
}

static void keep_hits(void)
{
	struct inc_mem_cache c;
	struct inc_mem *a, *b;

	start(&c, true);
	EQ(inc_mem_get(&c, area, 1000, true, &a), 0);
	inc_mem_put(&c, a, 5);
	EQ(inc_mem_get(&c, area + 100, 900, false, &b), 0);
	OK(a == b);
	EQ(made, 1);
	EQ(c.hits, 1);
	inc_mem_put(&c, b, 6);
	EQ(inc_mem_get(&c, area + 100, 901, false, &b), 0);
	OK(a != b);
	inc_mem_put(&c, b, 7);
	EQ(live, 2);
	inc_mem_exit(&c);
	EQ(live, 0);
}

static void read_only_is_not_written(void)
{
	struct inc_mem_cache c;
	struct inc_mem *a, *b;

	start(&c, true);
	EQ(inc_mem_get(&c, area, 1000, false, &a), 0);
	EQ(inc_mem_get(&c, area, 1000, true, &b), 0);
	OK(a != b);
	EQ(a->mr[0]->handle, 0);
	EQ(b->mr[0]->handle, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	inc_mem_put(&c, a, 1);
	inc_mem_put(&c, b, 0);
	inc_mem_exit(&c);
	EQ(live, 0);
}

/* Not kept: retired, but only when no send can read it any more. */
static void each(void)
{
	struct inc_mem_cache c;
	struct inc_mem *a, *b;

	start(&c, false);
	EQ(inc_mem_get(&c, area, 1000, true, &a), 0);
	EQ(inc_mem_get(&c, area, 1000, false, &b), 0);
	OK(a == b);
	inc_mem_put(&c, a, 10);
	EQ(c.count, 1);
	inc_mem_put(&c, b, 12);
	EQ(c.count, 0);
	OK(c.zombies);
	inc_mem_reap(&c, 11);
	EQ(live, 1);
	EQ(inc_mem_get(&c, area, 1000, true, &b), 0);
	EQ(made, 2);
	inc_mem_reap(&c, 12);
	EQ(live, 1);
	OK(!c.zombies);
	inc_mem_put(&c, b, 13);
	inc_mem_exit(&c);
	EQ(live, 0);
}

static void oldest_out_first(void)
{
	struct inc_mem_cache c;
	struct inc_mem *m[4];
	int i;

	start(&c, true);
	c.max_count = 3;
	for (i = 0; i < 3; i++) {
		EQ(inc_mem_get(&c, area + 1000 * i, 1000, true, &m[i]), 0);
		inc_mem_put(&c, m[i], 0);
	}
	EQ(inc_mem_get(&c, area, 10, true, &m[0]), 0);	/* used again */
	inc_mem_put(&c, m[0], 0);
	EQ(inc_mem_get(&c, area + 9000, 1000, true, &m[3]), 0);
	inc_mem_put(&c, m[3], 0);
	EQ(c.count, 3);
	inc_mem_reap(&c, 0);
	EQ(live, 3);
	EQ(inc_mem_get(&c, area, 1000, true, &m[0]), 0);
	inc_mem_put(&c, m[0], 0);
	EQ(made, 4);
	EQ(inc_mem_get(&c, area + 1000, 1000, true, &m[1]), 0);
	inc_mem_put(&c, m[1], 0);
	EQ(made, 5);
	inc_mem_exit(&c);
	EQ(live, 0);
}

static void bytes_are_bounded(void)
{
	struct inc_mem_cache c;
	struct inc_mem *a, *b;

	start(&c, true);
	c.max_bytes = 1500;
	EQ(inc_mem_get(&c, area, 1000, true, &a), 0);
	EQ(inc_mem_get(&c, area + 2000, 1000, true, &b), 0);
	EQ(c.count, 2);		/* both in use */
	inc_mem_put(&c, a, 0);
	inc_mem_put(&c, b, 0);
	EQ(inc_mem_get(&c, area + 2000, 500, true, &b), 0);
	EQ(c.count, 1);
	EQ(c.bytes, 1000);
	inc_mem_put(&c, b, 0);
	inc_mem_exit(&c);
	EQ(live, 0);
}

static void pinned(void)
{
	struct inc_mem_cache c;
	struct inc_mem *a;

	start(&c, false);
	EQ(inc_mem_pin(&c, area, 5000), 0);
	EQ(inc_mem_get(&c, area + 4000, 1000, true, &a), 0);
	EQ(made, 1);
	EQ(inc_mem_unpin(&c, area, 5000), -EBUSY);
	EQ(inc_mem_forget(&c, area + 100, 1), -EBUSY);
	inc_mem_put(&c, a, 3);
	EQ(c.count, 1);
	EQ(inc_mem_unpin(&c, area, 4999), -ENOENT);
	EQ(inc_mem_unpin(&c, area, 5000), 0);
	EQ(inc_mem_unpin(&c, area, 5000), -ENOENT);
	inc_mem_reap(&c, 2);
	EQ(live, 1);
	inc_mem_reap(&c, 3);
	EQ(live, 0);
	inc_mem_exit(&c);
}

static void forget(void)
{
	struct inc_mem_cache c;
	struct inc_mem *a;
	int i;

	start(&c, true);
	for (i = 0; i < 4; i++) {
		EQ(inc_mem_get(&c, area + 1000 * i, 1000, true, &a), 0);
		inc_mem_put(&c, a, 0);
	}
	EQ(inc_mem_forget(&c, area + 999, 1002), 0);	/* touches 0, 1, 2 */
	EQ(c.count, 1);
	EQ(inc_mem_forget(&c, area + 2999, 1), 0);
	EQ(c.count, 1);
	inc_mem_reap(&c, 0);
	EQ(live, 1);
	inc_mem_exit(&c);
	EQ(live, 0);
}

/* One registration covers all of a message, wherever it is. */
static void pieces(void)
{
	static char large[10 * INC_MEM_OVERLAP];
	const size_t len = sizeof(large) - 100;
	struct inc_mem_cache c;
	const struct ibv_mr *mr;
	struct inc_mem *a;
	size_t off, n;

	start(&c, false);
	c.piece = 3 * INC_MEM_OVERLAP;
	EQ(inc_mem_get(&c, large, len, true, &a), 0);
	EQ(a->nmrs, 4);
	EQ(live, 4);
	for (off = 0; off < len; off += 1000) {
		n = len - off < INC_MEM_OVERLAP ? len - off : INC_MEM_OVERLAP;
		mr = inc_mem_mr(a, large + off);
		OK(large + off >= (char *)mr->addr);
		OK(large + off + n <= (char *)mr->addr + mr->length);
		OK((char *)mr->addr + mr->length <= large + len);
	}
	inc_mem_put(&c, a, 1);
	inc_mem_reap(&c, 1);
	EQ(live, 0);
	refuse_after = 2;
	EQ(inc_mem_get(&c, large, len, true, &a), -ENOMEM);
	refuse_after = 0;
	EQ(live, 0);
	inc_mem_exit(&c);
}

static void refused(void)
{
	struct inc_mem_cache c;
	struct inc_mem *a;

	start(&c, true);
	refuse = ENOMEM;
	EQ(inc_mem_get(&c, area, 1000, true, &a), -ENOMEM);
	refuse = EFAULT;
	EQ(inc_mem_pin(&c, area, 1000), -EFAULT);
	EQ(c.count, 0);
	inc_mem_exit(&c);
}

static const struct test_case cases[] = {
	{ "keep_hits", keep_hits },
	{ "read_only_is_not_written", read_only_is_not_written },
	{ "each", each },
	{ "oldest_out_first", oldest_out_first },
	{ "bytes_are_bounded", bytes_are_bounded },
	{ "pinned", pinned },
	{ "forget", forget },
	{ "pieces", pieces },
	{ "refused", refused },
};

TEST_MAIN(cases)
