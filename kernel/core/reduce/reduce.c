// SPDX-License-Identifier: GPL-2.0
/*
 * The table of reductions by data type and operation, and the choice of the
 * implementation: once per row at load, and between SIMD and integer-only code
 * at every call. No arithmetic here; reduce.h has its rules.
 */
#include <linux/bug.h>
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/types.h>

#include "fpu.h"
#include "reduce_impl.h"

/*
 * Minimum number of bytes that pays for kernel_fpu_begin() and
 * kernel_fpu_end(): some 50-100 ns when a task's registers have to be saved
 * first, less after that. softfp.c does about 1 byte/ns, and 0.1 for sums of
 * 16-bit floats; int.c about 8.
 */
#define INC_REDUCE_BREAK_EVEN_WIDE	32
#define INC_REDUCE_BREAK_EVEN_FP	128
#define INC_REDUCE_BREAK_EVEN_INT	512

static struct inc_reduce_ops
inc_reduce_table[INC_DTYPE_COUNT][INC_OP_COUNT] __ro_after_init;

/* Usable implementations, integer-only ones first, then slow to fast SIMD. */
static const struct inc_reduce_impl *inc_reduce_impls[5] __ro_after_init;
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
	[INC_DTYPE_FLOAT_INT]	= 8,
	[INC_DTYPE_DOUBLE_INT]	= 16,
	[INC_DTYPE_LONG_INT]	= 16,
	[INC_DTYPE_2INT]	= 8,
	[INC_DTYPE_SHORT_INT]	= 8,
};

static bool is_int(u8 dtype)
{
	return dtype <= INC_DTYPE_UINT64;
}

static bool is_float(u8 dtype)
{
	return dtype >= INC_DTYPE_FP16 && dtype <= INC_DTYPE_FP64;
}

/* If @impl lacks a kernel, the present one stays. */
static void add_row(struct inc_reduce_ops *ops,
		    const struct inc_reduce_impl *impl)
{
	const inc_reduce_fn fn = impl->fn[ops->dtype][ops->op];
	const inc_reduce_wide_fn wide = impl->wide[ops->dtype][ops->op];
	const inc_reduce_div_fn div = ops->op == INC_OP_AVG ?
				      impl->div[ops->dtype] : NULL;

	if (impl->fpu) {
		ops->block = impl->block[ops->dtype][ops->op] ?: ops->block;
		ops->simd = fn ?: ops->simd;
		ops->wide_simd = wide ?: ops->wide_simd;
		ops->div_simd = div ?: ops->div_simd;
	} else {
		ops->generic = fn ?: ops->generic;
		ops->wide = wide ?: ops->wide;
		ops->div = div ?: ops->div;
	}
}

/* Add @impl's rows to the table; a later one replaces an earlier one. */
static void add_impl(const struct inc_reduce_impl *impl)
{
	inc_reduce_impls[inc_reduce_nr_impls++] = impl;

	/* A type without a size, which is 0 here, cannot be reduced. */
	for (u8 dtype = 0; dtype < INC_DTYPE_COUNT; dtype++)
		for (u8 op = 0; op < INC_OP_COUNT && inc_dtype_sizes[dtype];
		     op++)
			add_row(&inc_reduce_table[dtype][op], impl);
}

static unsigned int break_even(u8 dtype, u8 op)
{
	if (inc_reduce_softfp.wide[dtype][op])
		return INC_REDUCE_BREAK_EVEN_WIDE;
	return is_int(dtype) ? INC_REDUCE_BREAK_EVEN_INT : INC_REDUCE_BREAK_EVEN_FP;
}

/**
 * inc_reduce_init_row() - describe the reduction of a data type by an operation
 * @ops: row of the table; the rest of it stays as it is
 * @dtype: enum inc_dtype
 * @op: enum inc_op
 * @size: bytes of an element, 0 if the type has none
 *
 * Context: Any. Not static, for tests.
 */
void inc_reduce_init_row(struct inc_reduce_ops *ops, u8 dtype, u8 op, u8 size)
{
	ops->dtype = dtype;
	ops->op = op;
	ops->size = size;
	/* Rounding depends on the order; min and max do not: the leftmost NaN wins. */
	ops->ordered = is_float(dtype) && op != INC_OP_MIN && op != INC_OP_MAX;
	ops->simd_min = break_even(dtype, op) / max(ops->size, 1);
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
			inc_reduce_init_row(&inc_reduce_table[dtype][op],
					    dtype, op, inc_dtype_sizes[dtype]);

	add_impl(&inc_reduce_int);
	add_impl(&inc_reduce_softfp);
	add_impl(&inc_reduce_pair);
#ifdef INC_REDUCE_X86
	if (inc_fpu_has_sse2())
		add_impl(&inc_reduce_sse2);
	if (inc_fpu_has_avx2())
		add_impl(&inc_reduce_avx2);
#endif
}

/**
 * inc_reduce_impl() - get the name of the fastest implementation in use
 *
 * Context: Any, after inc_reduce_init().
 * Return: "avx2", "sse2" or "generic".
 */
const char *inc_reduce_impl(void)
{
	return inc_reduce_impls[inc_reduce_nr_impls - 1]->name;
}

/**
 * inc_dtype_size() - get the size of an element
 * @dtype: enum inc_dtype, or anything that a peer sent
 *
 * Context: Any.
 * Return: bytes, 0 if there is no such type.
 */
unsigned int inc_dtype_size(u8 dtype)
{
	if (dtype >= INC_DTYPE_COUNT)
		return 0;
	return inc_dtype_sizes[array_index_nospec(dtype, INC_DTYPE_COUNT)];
}

/**
 * inc_reduce_lookup() - look up the reduction of a data type by an operation
 * @dtype: enum inc_dtype, or anything that a peer sent
 * @op: enum inc_op, or anything that a peer sent
 *
 * The row may be a wide one (its @wide is set): then use inc_reduce_wide()
 * instead of inc_reduce(). The result is complete after inc_reduce_finish().
 *
 * Context: Any, after inc_reduce_init().
 * Return: the row, valid while the module is loaded; NULL if the type or the
 * operation is unknown, or the operation is not defined for that type.
 */
const struct inc_reduce_ops *inc_reduce_lookup(u8 dtype, u8 op)
{
	const struct inc_reduce_ops *ops;

	if (dtype >= INC_DTYPE_COUNT || op >= INC_OP_COUNT)
		return NULL;
	dtype = array_index_nospec(dtype, INC_DTYPE_COUNT);
	op = array_index_nospec(op, INC_OP_COUNT);
	ops = &inc_reduce_table[dtype][op];
	return ops->generic || ops->wide ? ops : NULL;
}

/**
 * inc_reduce() - reduce two vectors element by element
 * @ops: type and operation; not a wide row
 * @dst: result, @nelem elements; may be @a or @b, else overlaps neither
 * @a: left operand (lower ranks), @nelem elements
 * @b: right operand, @nelem elements
 * @nelem: number of elements, from 0
 *
 * Buffers may be unaligned. One call uses the vector registers at most once,
 * for its whole length and without preemption: call it for a packet, not for a
 * megabyte.
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

/* The divisor of a result before it is rounded to 16 bits. */
static u32 wide_div(const struct inc_reduce_ops *ops, unsigned int ranks)
{
	return ops->op == INC_OP_AVG ? ranks : 1;
}

/**
 * inc_reduce_begin() - begin to reduce vectors that may lie in pieces
 * @ops: type and operation
 * @nelem: number of elements of all pieces
 *
 * Context: Any that may touch the buffers; does not sleep, nor until
 * inc_reduce_end().
 * Return: @simd for inc_reduce_some(), inc_reduce_block() and inc_reduce_end().
 */
bool inc_reduce_begin(const struct inc_reduce_ops *ops, unsigned int nelem)
{
	if (!(ops->wide ? !!ops->wide_simd : !!ops->simd) ||
	    nelem < ops->simd_min || !irq_fpu_usable())
		return false;
	kernel_fpu_begin();
	return true;
}

/**
 * inc_reduce_end() - undo inc_reduce_begin()
 * @simd: its result
 */
void inc_reduce_end(bool simd)
{
	if (simd)
		kernel_fpu_end();
}

/**
 * inc_reduce_some() - reduce elements of two vectors that lie in pieces
 * @ops: type and operation
 * @simd: from inc_reduce_begin()
 * @dst: as for inc_reduce_wide(), or inc_reduce(): then no @lo is used
 * @a: the same
 * @b: the same
 * @nelem: number of elements, from 0
 * @ranks: as for inc_reduce_wide()
 */
void inc_reduce_some(const struct inc_reduce_ops *ops, bool simd,
		     struct inc_operand dst, struct inc_operand a,
		     struct inc_operand b, unsigned int nelem,
		     unsigned int ranks)
{
	if (ops->wide)
		(simd ? ops->wide_simd : ops->wide)(dst, a, b, nelem,
						    wide_div(ops, ranks));
	else
		(simd ? ops->simd : ops->generic)(dst.hi, a.hi, b.hi, nelem);
}

/* As an inc_reduce_block_fn, with two operands in a call, in the left ones' places. */
static void reduce_pairs(const struct inc_reduce_ops *ops, struct inc_operand dst,
			 void *const src[], unsigned int nelem,
			 unsigned int ranks)
{
	unsigned int i, n;

	for (n = 1; n < INC_REDUCE_BLOCK; n *= 2) {
		for (i = 0; i < INC_REDUCE_BLOCK; i += 2 * n) {
			const bool was_wide = ops->wide && n > 1;
			struct inc_operand a = { src[i], was_wide ? src[i + 1] : NULL };
			struct inc_operand b = {
				src[i + n], was_wide ? src[i + n + 1] : NULL
			};
			struct inc_operand to = { src[i], ops->wide ? src[i + 1] : NULL };

			if (2 * n == INC_REDUCE_BLOCK)
				to = dst;
			inc_reduce_some(ops, false, to, a, b, nelem, ranks);
		}
	}
}

/**
 * inc_reduce_block() - reduce elements of eight vectors that may lie in pieces
 * @ops: type and operation, a row whose @block is set
 * @simd: from inc_reduce_begin()
 * @dst: as for an inc_reduce_block_fn; in a row that is not wide only @hi
 * @src: the same; all but @dst is undefined afterwards
 * @nelem: number of elements, from 0
 * @ranks: as for inc_reduce_wide()
 */
void inc_reduce_block(const struct inc_reduce_ops *ops, bool simd,
		      struct inc_operand dst, void *const src[],
		      unsigned int nelem, unsigned int ranks)
{
	if (simd)
		ops->block(dst, src, nelem, wide_div(ops, ranks));
	else
		reduce_pairs(ops, dst, src, nelem, ranks);
}

/**
 * inc_reduce_wide() - reduce two vectors of a wide row element by element
 * @ops: type and operation, a row whose @wide is set
 * @dst: result; its planes may be any planes of @a and @b, else overlap none.
 *	Narrow: the final result, which is rounded, and divided for an average
 * @a: left operand (lower ranks), narrow or wide
 * @b: right operand, narrow or wide
 * @nelem: number of elements, from 0
 * @ranks: number of ranks of the average, 1 to U16_MAX; only used if @dst is
 *	narrow
 *
 * All planes have @nelem 16-bit elements and may be unaligned.
 *
 * Context: Any that may touch the buffers; does not sleep.
 */
void inc_reduce_wide(const struct inc_reduce_ops *ops, struct inc_operand dst,
		     struct inc_operand a, struct inc_operand b,
		     unsigned int nelem, unsigned int ranks)
{
	bool simd = inc_reduce_begin(ops, nelem);

	inc_reduce_some(ops, simd, dst, a, b, nelem, ranks);
	inc_reduce_end(simd);
}

/**
 * inc_reduce_finish() - complete a result when all ranks are in
 * @ops: type and operation
 * @dst: the reduction of all ranks, @nelem elements, which becomes the result
 * @nelem: number of elements, from 0
 * @ranks: number of ranks, 1 to U16_MAX
 *
 * Divides the sums of an average. Nothing is left to do for a wide row, whose
 * last inc_reduce_wide() has done that, for any other operation, and for one
 * rank.
 *
 * Context: Any that may touch the buffer; does not sleep.
 */
void inc_reduce_finish(const struct inc_reduce_ops *ops, void *dst,
		       unsigned int nelem, unsigned int ranks)
{
	if (!ops->div || ranks < 2)
		return;
	if (ops->div_simd && nelem >= ops->simd_min && irq_fpu_usable()) {
		kernel_fpu_begin();
		ops->div_simd(dst, nelem, ranks);
		kernel_fpu_end();
	} else {
		ops->div(dst, nelem, ranks);
	}
}

/**
 * inc_reduce_impl_at() - walk the implementations that this CPU can run
 * @i: index, from 0
 *
 * Context: Any, after inc_reduce_init(). For tests.
 * Return: implementation @i, NULL after the last one.
 */
const struct inc_reduce_impl *inc_reduce_impl_at(unsigned int i)
{
	return i < inc_reduce_nr_impls ? inc_reduce_impls[i] : NULL;
}

/**
 * inc_reduce_by() - reduce by a given implementation, for any length
 * @impl: implementation that has a kernel for @ops
 * @ops: type and operation, not a wide row
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

/**
 * inc_reduce_wide_by() - reduce a wide row by a given implementation
 * @impl: implementation that has a kernel for @ops
 * @ops: type and operation, a row whose @wide is set
 * @dst: see inc_reduce_wide()
 * @a: see inc_reduce_wide()
 * @b: see inc_reduce_wide()
 * @nelem: number of elements, from 0
 * @ranks: see inc_reduce_wide()
 *
 * Context: Where irq_fpu_usable() holds; does not sleep. For tests.
 */
void inc_reduce_wide_by(const struct inc_reduce_impl *impl,
			const struct inc_reduce_ops *ops,
			struct inc_operand dst, struct inc_operand a,
			struct inc_operand b, unsigned int nelem,
			unsigned int ranks)
{
	inc_reduce_wide_fn fn = impl->wide[ops->dtype][ops->op];

	if (impl->fpu)
		kernel_fpu_begin();
	fn(dst, a, b, nelem, wide_div(ops, ranks));
	if (impl->fpu)
		kernel_fpu_end();
}

/**
 * inc_reduce_block_by() - reduce eight vectors by a given implementation
 * @impl: implementation that has an @block for @ops
 * @ops: type and operation
 * @dst: see inc_reduce_block()
 * @src: see inc_reduce_block()
 * @nelem: number of elements, from 0
 * @ranks: see inc_reduce_wide()
 *
 * Context: Where irq_fpu_usable() holds; does not sleep. For tests.
 */
void inc_reduce_block_by(const struct inc_reduce_impl *impl,
			 const struct inc_reduce_ops *ops, struct inc_operand dst,
			 void *const src[], unsigned int nelem,
			 unsigned int ranks)
{
	kernel_fpu_begin();
	impl->block[ops->dtype][ops->op](dst, src, nelem, wide_div(ops, ranks));
	kernel_fpu_end();
}

/**
 * inc_reduce_finish_by() - complete a result by a given implementation
 * @impl: implementation that divides @ops' type
 * @ops: type and operation, a row whose @div is set
 * @dst: see inc_reduce_finish()
 * @nelem: number of elements, from 0
 * @ranks: number of ranks, 2 to U16_MAX
 *
 * Context: Where irq_fpu_usable() holds; does not sleep. For tests.
 */
void inc_reduce_finish_by(const struct inc_reduce_impl *impl,
			  const struct inc_reduce_ops *ops, void *dst,
			  unsigned int nelem, unsigned int ranks)
{
	if (impl->fpu)
		kernel_fpu_begin();
	impl->div[ops->dtype](dst, nelem, ranks);
	if (impl->fpu)
		kernel_fpu_end();
}
