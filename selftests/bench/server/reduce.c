// SPDX-License-Identifier: GPL-2.0
/*
 * Reduce all ranks' vectors to one, with the kernel's own arithmetic (SIMD
 * included) and in its order: a balanced binary tree, so that results have the
 * same bits.
 *
 * Works in blocks that stay in the first-level cache: each element is read from
 * memory once and written once, whatever the number of ranks.
 */
#include <linux/string.h>
#include <linux/types.h>

#include "core/reduce/reduce.h"
#include "uapi/linux/rdma_inc_proto.h"

#define BLOCK		2048	/* bytes of each vector */
#define MAX_RANKS	64

void reduce_init(void);
u32 reduce_dtypes(void);
u32 reduce_ops(void);
unsigned int reduce_size(unsigned int dtype);
int reduce_all(unsigned int dtype, unsigned int op, char *dst,
	       const char *const *src, unsigned int n, unsigned int nelem);

/* Choose the implementation that suits this CPU. */
void reduce_init(void)
{
	inc_reduce_init();
}

/* Mask of types that can be summed. */
u32 reduce_dtypes(void)
{
	u32 mask = 0;
	u8 dtype;

	for (dtype = 0; dtype < INC_DTYPE_COUNT; dtype++)
		if (inc_reduce_lookup(dtype, INC_OP_SUM))
			mask |= 1U << dtype;
	return mask;
}

/* Mask of operations on 32-bit integers, which have the most. */
u32 reduce_ops(void)
{
	u32 mask = 0;
	u8 op;

	for (op = 0; op < INC_OP_COUNT; op++)
		if (inc_reduce_lookup(INC_DTYPE_INT32, op))
			mask |= 1U << op;
	return mask;
}

/* Bytes of an element; 0 for an unknown type. */
unsigned int reduce_size(unsigned int dtype)
{
	return dtype < INC_DTYPE_COUNT ? inc_dtype_size((u8)dtype) : 0;
}

static void reduce_block(const struct inc_reduce_ops *ops, char *dst,
			 const char *const *src, unsigned int n, size_t off,
			 unsigned int nelem)
{
	static char tmp[MAX_RANKS / 2][BLOCK] __attribute__((aligned(64)));
	const char *in[MAX_RANKS];
	unsigned int i;
	char *out;

	for (i = 0; i < n; i++)
		in[i] = src[i] + off;
	for (; n > 1; n = (n + 1) / 2) {
		for (i = 0; i < n / 2; i++) {
			out = n == 2 ? dst + off : tmp[i];
			inc_reduce(ops, out, in[2 * i], in[2 * i + 1], nelem);
			in[i] = out;
		}
		if (n % 2)
			in[n / 2] = in[n - 1];
	}
}

/* Reduces @nelem elements of @n vectors. Returns 0, or -1 if it cannot. */
int reduce_all(unsigned int dtype, unsigned int op, char *dst,
	       const char *const *src, unsigned int n, unsigned int nelem)
{
	const struct inc_reduce_ops *ops = NULL;
	unsigned int step, done, now;

	if (dtype < INC_DTYPE_COUNT && op < INC_OP_COUNT)
		ops = inc_reduce_lookup((u8)dtype, (u8)op);
	if (!ops || !n || n > MAX_RANKS)
		return -1;
	if (n == 1) {
		memcpy(dst, src[0], (size_t)nelem * ops->size);
		return 0;
	}
	step = BLOCK / ops->size;
	for (done = 0; done < nelem; done += now) {
		now = nelem - done < step ? nelem - done : step;
		reduce_block(ops, dst, src, n, (size_t)done * ops->size, now);
	}
	return 0;
}
