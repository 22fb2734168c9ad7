// SPDX-License-Identifier: GPL-2.0
/*
 * The table of reductions by data type and operation, and the choice of the
 * implementation: once per row at load, between SIMD and integer-only code
 * at every call. No arithmetic here, see reduce.h for its rules.
 */
#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "fpu.h"
#include "reduce_impl.h"

/*
 * Fewest bytes that pay for kernel_fpu_begin() and kernel_fpu_end(): some
 * 50-100 ns when a task's registers have to be saved first, less after that.
 * softfp.c does about 1 byte/ns, int.c about 8.
 */
#define INC_REDUCE_BREAK_EVEN_FP	128
#define INC_REDUCE_BREAK_EVEN_INT	512

static struct inc_reduce_ops
inc_reduce_table[INC_DTYPE_COUNT][INC_OP_COUNT] __ro_after_init;

/* Usable implementations, integer-only ones first, then slow to fast SIMD. */
static const struct inc_reduce_impl *inc_reduce_impls[4] __ro_after_init;
static unsigned int inc_reduce_nr_impls __ro_after_init;

static const u8 inc_dtype_sizes[INC_DTYPE_COUNT] = {
	[INC_DTYPE_INT8]	= 1,
	[INC_DTYPE_INT16]	= 2,
	[INC_DTYPE_INT32]	= 4,
	[INC_DTYPE_INT64]	= 8,
	[INC_DTYPE_UINT8]	= 1,
	[INC_DTYPE_UINT16]	= 2,
	[INC_DTYPE_UINT32]	= 4,
	[INC_DTYPE_UINT64]	= 8,
	[INC_DTYPE_FP16]	= 2,
	[INC_DTYPE_BF16]	= 2,
	[INC_DTYPE_FP32]	= 4,
	[INC_DTYPE_FP64]	= 8,
};

static bool is_fp(u8 dtype)
{
	return dtype >= INC_DTYPE_FP16;
}

/* Adds @impl's rows to the table; a later one replaces an earlier one. */
static void add_impl(const struct inc_reduce_impl *impl)
{
	inc_reduce_impls[inc_reduce_nr_impls++] = impl;

	for (u8 dtype = 0; dtype < INC_DTYPE_COUNT; dtype++) {
		for (u8 op = 0; op < INC_OP_COUNT; op++) {
			struct inc_reduce_ops *ops = &inc_reduce_table[dtype][op];

			if (!impl->fn[dtype][op])
				continue;
			if (impl->fpu)
				ops->simd = impl->fn[dtype][op];
			else
				ops->generic = impl->fn[dtype][op];
		}
	}
}

static void init_row(struct inc_reduce_ops *ops, u8 dtype, u8 op)
{
	const unsigned int break_even = is_fp(dtype) ?
		INC_REDUCE_BREAK_EVEN_FP : INC_REDUCE_BREAK_EVEN_INT;

	ops->dtype = dtype;
	ops->op = op;
	ops->size = inc_dtype_sizes[dtype];
	ops->simd_min = break_even / ops->size;
}

/**
 * inc_reduce_init() - choose the implementations that this CPU can run
 *
 * Before this no data type can be reduced: inc_reduce_lookup() finds none.
 *
 * Context: Process, once, at module load.
 */
void inc_reduce_init(void)
{
	inc_reduce_nr_impls = 0;
	for (u8 dtype = 0; dtype < INC_DTYPE_COUNT; dtype++)
		for (u8 op = 0; op < INC_OP_COUNT; op++)
			init_row(&inc_reduce_table[dtype][op], dtype, op);

	add_impl(&inc_reduce_int);
	add_impl(&inc_reduce_softfp);
#ifdef INC_REDUCE_X86
	if (inc_fpu_has_sse2())
		add_impl(&inc_reduce_sse2);
	if (inc_fpu_has_avx2())
		add_impl(&inc_reduce_avx2);
#endif
}

/**
 * inc_reduce_impl() - name the fastest implementation in use
 *
 * Context: Any, after inc_reduce_init().
 * Return: "avx2", "sse2" or "generic".
 */
const char *inc_reduce_impl(void)
{
	return inc_reduce_impls[inc_reduce_nr_impls - 1]->name;
}

/**
 * inc_dtype_size() - size of an element
 * @dtype: enum inc_dtype, or anything that a peer sent
 *
 * Context: Any.
 * Return: bytes, 0 if there is no such type.
 */
unsigned int inc_dtype_size(u8 dtype)
{
	return dtype < INC_DTYPE_COUNT ? inc_dtype_sizes[dtype] : 0;
}

/**
 * inc_reduce_lookup() - find how a data type is reduced by an operation
 * @dtype: enum inc_dtype, or anything that a peer sent
 * @op: enum inc_op, or anything that a peer sent
 *
 * Context: Any, after inc_reduce_init().
 * Return: the row, valid as long as the module; NULL if the type or the
 * operation is unknown, or is not defined or not offered for that type.
 */
const struct inc_reduce_ops *inc_reduce_lookup(u8 dtype, u8 op)
{
	if (dtype >= INC_DTYPE_COUNT || op >= INC_OP_COUNT)
		return NULL;
	if (!inc_reduce_table[dtype][op].generic)
		return NULL;
	return &inc_reduce_table[dtype][op];
}

/**
 * inc_reduce() - reduce two vectors element by element
 * @ops: type and operation, from inc_reduce_lookup()
 * @dst: result, @nelem elements; may be @a or @b, else overlaps neither
 * @a: left operand (lower ranks), @nelem elements
 * @b: right operand, @nelem elements
 * @nelem: number of elements, from 0
 *
 * Buffers may be unaligned. One call takes the vector registers at most once,
 * for its whole length and without preemption: a packet, not a megabyte.
 *
 * Context: Any that may touch the buffers; does not sleep.
 */
void inc_reduce(const struct inc_reduce_ops *ops, void *dst, const void *a,
		const void *b, unsigned int nelem)
{
	if (ops->simd && nelem >= ops->simd_min && irq_fpu_usable()) {
		kernel_fpu_begin();
		ops->simd(dst, a, b, nelem);
		kernel_fpu_end();
	} else {
		ops->generic(dst, a, b, nelem);
	}
}

/**
 * inc_reduce_impl_at() - walk the implementations that this CPU can run
 * @i: index, from 0
 *
 * Context: Any, after inc_reduce_init(). For tests.
 * Return: implementation @i, NULL behind the last one.
 */
const struct inc_reduce_impl *inc_reduce_impl_at(unsigned int i)
{
	return i < inc_reduce_nr_impls ? inc_reduce_impls[i] : NULL;
}

/**
 * inc_reduce_by() - reduce by a given implementation, whatever the length
 * @impl: implementation that has a kernel for @ops
 * @ops: type and operation, from inc_reduce_lookup()
 * @dst: see inc_reduce()
 * @a: see inc_reduce()
 * @b: see inc_reduce()
 * @nelem: number of elements, from 0
 *
 * Context: Where irq_fpu_usable() holds; does not sleep. For tests.
 */
void inc_reduce_by(const struct inc_reduce_impl *impl,
		   const struct inc_reduce_ops *ops, void *dst, const void *a,
		   const void *b, unsigned int nelem)
{
	inc_reduce_fn fn = impl->fn[ops->dtype][ops->op];

	if (impl->fpu)
		kernel_fpu_begin();
	fn(dst, a, b, nelem);
	if (impl->fpu)
		kernel_fpu_end();
}
