/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Template of the x86 SIMD reductions: included once by each simd_*.c, which
 * defines INC_VEC_BYTES (16 or 32), INC_VEC_IMPL and INC_VEC_NAME and is
 * compiled with the flags of that level (see objs.mk). All functions here must
 * run between kernel_fpu_begin() and kernel_fpu_end(), which the caller calls:
 * no code outside of such a section may call them.
 *
 * Integers use the compiler's vector arithmetic. Floating-point instructions are
 * asm: C leaves the result of a NaN open and cannot express minps. So there is no
 * float type here either.
 *
 * 64 (AVX-512) would work, too, but gains nothing: every unaligned vector then
 * crosses a cache line. A Zen 4 took twice the time of AVX2 for 4 KB.
 */
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "reduce_impl.h"

#define VECTOR	__attribute__((__vector_size__(INC_VEC_BYTES), __may_alias__))

typedef u64 vec VECTOR;
typedef u64 vec_mem VECTOR __aligned(1);

typedef u8 vu8 VECTOR;
typedef u16 vu16 VECTOR;
typedef u32 vu32 VECTOR;
typedef u64 vu64 VECTOR;
typedef s8 vs8 VECTOR;
typedef s16 vs16 VECTOR;
typedef s32 vs32 VECTOR;
typedef s64 vs64 VECTOR;

static __always_inline vec load(const void *p)
{
	return *(const vec_mem *)p;
}

static __always_inline void store(void *p, vec v)
{
	*(vec_mem *)p = v;
}

/* @n in all lanes of 32 bits. */
static __always_inline vec splat32(u32 n)
{
	const vu32 zero = {};

	return (vec)(zero + n);
}

/* Bits of @a where @mask is set, else of @b. */
static __always_inline vec pick(vec mask, vec a, vec b)
{
	return (mask & a) | (~mask & b);
}

/*
 * Apply @op to @len bytes, @len being a multiple of the element size.
 *
 * The last vector overlaps the one before it. It is computed first, since
 * @dst may be @a or @b and the loop overwrites them.
 */
static __always_inline void vec_loop(void *dst, const void *a, const void *b,
				     size_t len, vec (*op)(vec a, vec b))
{
	vec last;

	if (len < INC_VEC_BYTES) {
		vec va = {}, vb = {};

		memcpy(&va, a, len);
		memcpy(&vb, b, len);
		va = op(va, vb);
		memcpy(dst, &va, len);
		return;
	}

	len -= INC_VEC_BYTES;
	last = op(load(a + len), load(b + len));
	for (size_t i = 0; i < len; i += INC_VEC_BYTES)
		store(dst + i, op(load(a + i), load(b + i)));
	store(dst + len, last);
}

/*
 * Eight vectors at once: operands are read once, and only the result is stored. Pairs,
 * and pairs of pairs, stay in registers.
 */

/* Have the last bytes at @at, less than a vector, reduced by @fn in a copy. */
static noinline void block_rest(inc_reduce_block_fn fn, struct inc_operand dst,
				void *const src[], size_t at, size_t len,
				unsigned int size, u32 div)
{
	vec v[INC_REDUCE_BLOCK] = {}, r[2];
	struct inc_operand to = { &r[0], dst.lo ? &r[1] : NULL };
	void *copy[INC_REDUCE_BLOCK];

	for (int i = 0; i < INC_REDUCE_BLOCK; i++) {
		copy[i] = &v[i];
		memcpy(copy[i], src[i] + at, len);
	}
	fn(to, copy, INC_VEC_BYTES / size, div);
	memcpy(dst.hi + at, to.hi, len);
	if (dst.lo)
		memcpy(dst.lo + at, to.lo, len);
}

/* Operands: copies of pointers, which no store changes, as the compiler sees then. */
struct block {
	const void	*src[INC_REDUCE_BLOCK];
};

static __always_inline struct block block_operands(void *const src[])
{
	return (struct block) {{
		src[0], src[1], src[2], src[3], src[4], src[5], src[6], src[7]
	}};
}

/* Reduce all whole vectors of @len bytes. Returns the bytes that are done. */
static __always_inline size_t block_loop(void *dst, void *const src[], size_t len,
					 vec (*op)(vec a, vec b))
{
	const struct block s = block_operands(src);
	vec v[INC_REDUCE_BLOCK / 2];
	size_t at;

	for (at = 0; at + INC_VEC_BYTES <= len; at += INC_VEC_BYTES) {
#pragma GCC unroll 4
		for (int i = 0; i < INC_REDUCE_BLOCK / 2; i++) {
			v[i] = op(load(s.src[2 * i] + at),
				  load(s.src[2 * i + 1] + at));
			if (i % 2)
				v[i - 1] = op(v[i - 1], v[i]);
		}
		store(dst + at, op(v[0], v[2]));
	}
	return at;
}

static __always_inline void block_row(inc_reduce_block_fn fn,
				      struct inc_operand dst, void *const src[],
				      size_t nelem, unsigned int size, u32 div,
				      vec (*op)(vec a, vec b))
{
	size_t at = block_loop(dst.hi, src, nelem * size, op);

	if (at < nelem * size)
		block_rest(fn, dst, src, at, nelem * size - at, size, div);
}

/*
 * The operation @name on two vectors, and the kernels @name itself and block_@name,
 * for elements of @size bytes; @expr is of a and b, vectors of @type. The compiler
 * inlines the first into the loops of the others, so there is no indirect call.
 */
#define ROW_OF(size, name, type, expr)					\
name ## _vec(vec va, vec vb)						\
{									\
	const type a = (type)va, b = (type)vb;				\
									\
	return (vec)(expr);						\
}									\
									\
enum { name ## _size = size };						\
									\
static void name(void *dst, const void *a, const void *b,		\
		 unsigned int nelem)					\
{									\
	vec_loop(dst, a, b, (size_t)nelem * name ## _size, name ## _vec); \
}									\
									\
static void __maybe_unused						\
block_ ## name(struct inc_operand dst, void *const src[],		\
	       unsigned int nelem, u32 div)				\
{									\
	block_row(block_ ## name, dst, src, nelem, name ## _size, div,	\
		  name ## _vec);					\
}

/* An element is a lane of the vectors. */
#define ROW(name, type, expr)						\
ROW_OF(sizeof(((type){})[0]), name, type, expr)

#define DEFINE_WIDTH(w, type)						\
static __always_inline vec ROW(w ## _sum, type, a + b)			\
static __always_inline vec ROW(w ## _prod, type, a * b)			\
static __always_inline vec						\
ROW(w ## _land, type, (type)((a != 0) & (b != 0)) & 1)			\
static __always_inline vec						\
ROW(w ## _lor, type, (type)((a | b) != 0) & 1)				\
static __always_inline vec						\
ROW(w ## _lxor, type, (type)((a != 0) ^ (b != 0)) & 1)			\
static __always_inline vec ROW(w ## _band, type, a & b)			\
static __always_inline vec ROW(w ## _bor, type, a | b)			\
static __always_inline vec ROW(w ## _bxor, type, a ^ b)

#define DEFINE_ORDER(t, type)						\
static __always_inline vec						\
ROW(t ## _min, type, pick((vec)(a < b), va, vb))			\
static __always_inline vec						\
ROW(t ## _max, type, pick((vec)(a > b), va, vb))

/* @insn with a as its first source and b as its second. */
#if INC_VEC_BYTES == 16
#define INSN(t, insn, suffix)						\
static __always_inline vec t ## _ ## insn(vec a, vec b)			\
{									\
	asm(# insn # suffix " %1, %0" : "+x" (a) : "x" (b));		\
	return a;							\
}
#else
#define INSN(t, insn, suffix)						\
static __always_inline vec t ## _ ## insn(vec a, vec b)			\
{									\
	vec r;								\
									\
	asm("v" # insn # suffix " %2, %1, %0"				\
	    : "=x" (r) : "x" (a), "x" (b));				\
	return r;							\
}
#endif

INSN(f32_insn, add, ps)
INSN(f32_insn, mul, ps)
INSN(f32_insn, div, ps)
INSN(f32_insn, min, ps)
INSN(f32_insn, max, ps)
INSN(f32_insn, cmpunord, ps)

INSN(f64_insn, add, pd)
INSN(f64_insn, mul, pd)
INSN(f64_insn, div, pd)
INSN(f64_insn, min, pd)
INSN(f64_insn, max, pd)
INSN(f64_insn, cmpunord, pd)

/*
 * The sum: where a is a NaN, 0 is added to it, which makes it quiet. addps
 * itself would take the first of two NaNs, but QEMU's does not: it takes the
 * larger. The product works the same way.
 *
 * minps gives its second source if either is a NaN or both are zeros, so the
 * two orders together give both zeros: their signs are or-ed (min) or and-ed
 * (max). If there is a NaN, the result is the sum's.
 */
#define DEFINE_FP(t, type)						\
static __always_inline vec						\
ROW(t ## _sum, type, t ## _insn_add((vec)a, (vec)b &			\
				    ~t ## _insn_cmpunord(va, va)))	\
static __always_inline vec						\
ROW(t ## _prod, type, t ## _insn_mul((vec)a, (vec)b &			\
				     ~t ## _insn_cmpunord(va, va)))	\
static __always_inline vec						\
ROW(t ## _min, type, pick(t ## _insn_cmpunord((vec)a, (vec)b),		\
			  t ## _sum_vec(va, vb),			\
			  t ## _insn_min(va, vb) |			\
			  t ## _insn_min(vb, va)))			\
static __always_inline vec						\
ROW(t ## _max, type, pick(t ## _insn_cmpunord((vec)a, (vec)b),		\
			  t ## _sum_vec(va, vb),			\
			  t ## _insn_max(va, vb) &			\
			  t ## _insn_max(vb, va)))

DEFINE_WIDTH(w8, vu8)
DEFINE_WIDTH(w16, vu16)
DEFINE_WIDTH(w32, vu32)
DEFINE_WIDTH(w64, vu64)

DEFINE_ORDER(s8, vs8)
DEFINE_ORDER(s16, vs16)
DEFINE_ORDER(s32, vs32)
DEFINE_ORDER(s64, vs64)
DEFINE_ORDER(u8, vu8)
DEFINE_ORDER(u16, vu16)
DEFINE_ORDER(u32, vu32)
DEFINE_ORDER(u64, vu64)

DEFINE_FP(f32, vu32)
DEFINE_FP(f64, vu64)

/* @n in all lanes, as binary32 and as binary64. */
static __always_inline vec f32_from(u32 n)
{
	vec r = splat32(n);

#if INC_VEC_BYTES == 16
	asm("cvtdq2ps %0, %0" : "+x" (r));
#else
	asm("vcvtdq2ps %0, %0" : "+x" (r));
#endif
	return r;
}

static __always_inline vec f64_from(u32 n)
{
	vec r = splat32(n);

#if INC_VEC_BYTES == 16
	asm("cvtdq2pd %0, %0" : "+x" (r));
#else
	asm("vcvtdq2pd %x0, %0" : "+x" (r));
#endif
	return r;
}

/* As vec_loop(), in place, with the same second operand everywhere. */
static __always_inline void vec_loop_with(void *dst, size_t len, vec with,
					  vec (*op)(vec a, vec b))
{
	vec last = {};

	if (len < INC_VEC_BYTES) {
		memcpy(&last, dst, len);
		last = op(last, with);
		memcpy(dst, &last, len);
		return;
	}

	len -= INC_VEC_BYTES;
	last = op(load(dst + len), with);
	for (size_t i = 0; i < len; i += INC_VEC_BYTES)
		store(dst + i, op(load(dst + i), with));
	store(dst + len, last);
}

static void f32_div(void *dst, unsigned int nelem, u32 div)
{
	vec_loop_with(dst, (size_t)nelem * 4, f32_from(div), f32_insn_div);
}

static void f64_div(void *dst, unsigned int nelem, u32 div)
{
	vec_loop_with(dst, (size_t)nelem * 8, f64_from(div), f64_insn_div);
}

#include "simd_half.h"
#if INC_VEC_BYTES > 16
#include "simd_pair.h"
#endif

const struct inc_reduce_impl INC_VEC_IMPL = {
	.name	= INC_VEC_NAME,
	.fpu	= true,
	.fn	= {
		[INC_DTYPE_INT8]	= { INC_REDUCE_INT_ROWS(w8, s8) },
		[INC_DTYPE_INT16]	= { INC_REDUCE_INT_ROWS(w16, s16) },
		[INC_DTYPE_INT32]	= { INC_REDUCE_INT_ROWS(w32, s32) },
		[INC_DTYPE_INT64]	= { INC_REDUCE_INT_ROWS(w64, s64) },
		[INC_DTYPE_UINT8]	= { INC_REDUCE_INT_ROWS(w8, u8) },
		[INC_DTYPE_UINT16]	= { INC_REDUCE_INT_ROWS(w16, u16) },
		[INC_DTYPE_UINT32]	= { INC_REDUCE_INT_ROWS(w32, u32) },
		[INC_DTYPE_UINT64]	= { INC_REDUCE_INT_ROWS(w64, u64) },
		[INC_DTYPE_FP16]	= { INC_REDUCE_HALF_ROWS(f16) },
		[INC_DTYPE_BF16]	= { INC_REDUCE_HALF_ROWS(bf16) },
		[INC_DTYPE_FP32]	= { INC_REDUCE_FP_ROWS(f32) },
		[INC_DTYPE_FP64]	= { INC_REDUCE_FP_ROWS(f64) },
#if INC_VEC_BYTES > 16
		[INC_DTYPE_FLOAT_INT]	= { INC_REDUCE_PAIR_ROWS(f32i) },
		[INC_DTYPE_DOUBLE_INT]	= { INC_REDUCE_PAIR_ROWS(f64i) },
		[INC_DTYPE_LONG_INT]	= { INC_REDUCE_PAIR_ROWS(s64i) },
		[INC_DTYPE_2INT]	= { INC_REDUCE_PAIR_ROWS(s32i) },
		[INC_DTYPE_SHORT_INT]	= { INC_REDUCE_PAIR_ROWS(s16i) },
#endif
	},
	.wide	= {
		[INC_DTYPE_FP16]	= { INC_REDUCE_WIDE_ROWS(f16) },
		[INC_DTYPE_BF16]	= { INC_REDUCE_WIDE_ROWS(bf16) },
	},
#if INC_VEC_BYTES > 16
	.block	= {
		[INC_DTYPE_INT8]	= { INC_REDUCE_INT_ROWS(block_w8, block_s8) },
		[INC_DTYPE_INT16]	= { INC_REDUCE_INT_ROWS(block_w16, block_s16) },
		[INC_DTYPE_INT32]	= { INC_REDUCE_INT_ROWS(block_w32, block_s32) },
		[INC_DTYPE_INT64]	= { INC_REDUCE_INT_ROWS(block_w64, block_s64) },
		[INC_DTYPE_UINT8]	= { INC_REDUCE_INT_ROWS(block_w8, block_u8) },
		[INC_DTYPE_UINT16]	= { INC_REDUCE_INT_ROWS(block_w16, block_u16) },
		[INC_DTYPE_UINT32]	= { INC_REDUCE_INT_ROWS(block_w32, block_u32) },
		[INC_DTYPE_UINT64]	= { INC_REDUCE_INT_ROWS(block_w64, block_u64) },
		[INC_DTYPE_FP16]	= {
			INC_REDUCE_HALF_ROWS(block_f16), INC_REDUCE_WIDE_ROWS(block_f16)
		},
		[INC_DTYPE_BF16]	= {
			INC_REDUCE_HALF_ROWS(block_bf16), INC_REDUCE_WIDE_ROWS(block_bf16)
		},
		[INC_DTYPE_FP32]	= { INC_REDUCE_FP_ROWS(block_f32) },
		[INC_DTYPE_FP64]	= { INC_REDUCE_FP_ROWS(block_f64) },
	},
#endif
	.div	= {
		[INC_DTYPE_FP32]	= f32_div,
		[INC_DTYPE_FP64]	= f64_div,
	},
};
