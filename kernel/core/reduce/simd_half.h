/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 16-bit floats: part of the template simd_x86.h.
 *
 * Minimum and maximum are 16-bit integer arithmetic. Sum and product are computed
 * in binary32: "unpack" splits a vector of 16-bit elements into two of 32 bits, and
 * "pack" joins two into one. With more than 16 bytes these work within each 16
 * bytes, so that the two vectors hold the elements in an order of their own, the
 * same in all.
 */

/* Map to signed integers that order as the values do, -0 below +0. */
static __always_inline vs16 half_key(vs16 x)
{
	return x ^ ((x >> 15) & 0x7fff);
}

static __always_inline vs16 half_pick(vs16 a, vs16 b, s16 inf, s16 quiet,
				      bool max)
{
	const vs16 ka = half_key(a), kb = half_key(b);
	const vec left = (vec)(max ? ka > kb : ka < kb);
	const vec a_nan = (vec)((a & 0x7fff) > inf), b_nan = (vec)((b & 0x7fff) > inf);

	return (vs16)pick(a_nan, (vec)(a | quiet),
			  pick(b_nan, (vec)(b | quiet),
			       pick(left, (vec)a, (vec)b)));
}

static __always_inline vec ROW(f16_min, vs16, half_pick(a, b, 0x7c00, 0x0200, false))
static __always_inline vec ROW(f16_max, vs16, half_pick(a, b, 0x7c00, 0x0200, true))
static __always_inline vec ROW(bf16_min, vs16, half_pick(a, b, 0x7f80, 0x0040, false))
static __always_inline vec ROW(bf16_max, vs16, half_pick(a, b, 0x7f80, 0x0040, true))

INSN(w16_insn, punpckl, wd)
INSN(w16_insn, punpckh, wd)
INSN(w32_insn, packss, dw)

/* Two vectors of binary32, or the two planes of as many elements. */
struct vec2 {
	vec	x[2];
};

static __always_inline struct vec2 interleave(vec hi, vec lo)
{
	return (struct vec2) {{
		w16_insn_punpckl(lo, hi), w16_insn_punpckh(lo, hi)
	}};
}

/* Lower 16 bits of all; the shifts extend the sign, so nothing saturates. */
static __always_inline vec pack_low(struct vec2 v)
{
	return w32_insn_packss((vec)((vs32)((vu32)v.x[0] << 16) >> 16),
			       (vec)((vs32)((vu32)v.x[1] << 16) >> 16));
}

static __always_inline vec pack_high(struct vec2 v)
{
	return w32_insn_packss((vec)((vs32)v.x[0] >> 16),
			       (vec)((vs32)v.x[1] >> 16));
}

#define F32_INF		0x7f800000

static __always_inline vec is_f32_nan(vs32 x)
{
	return (vec)((x & 0x7fffffff) > F32_INF);
}

static __always_inline struct vec2 bf16_widen(vec h)
{
	return interleave(h, (vec){});
}

/* To nearest even: add half an ulp less one, and one if the last bit is odd. */
static __always_inline vec bf16_round(vec v)
{
	const vu32 x = (vu32)v;

	return pick(is_f32_nan((vs32)v), (vec)(x | 0x00400000),
		    (vec)(x + 0x7fff + (x >> 16 & 1)));
}

static __always_inline vec bf16_narrow(struct vec2 v)
{
	v.x[0] = bf16_round(v.x[0]);
	v.x[1] = bf16_round(v.x[1]);
	return pack_high(v);
}

#if INC_VEC_BYTES == 16

/*
 * SSE2 has no conversion. The bits of a binary16, placed in a binary32, are the
 * number times 2^-112, subnormals included, except infinity and NaN. The operation
 * makes a signaling NaN quiet.
 */
static __always_inline vec f16_widen_one(vec h)
{
	const vu32 x = (vu32)h, abs = x & 0x7fff;
	const vec inf = (vec)((vs32)abs > 0x7bff);
	const vec scaled = f32_insn_mul((vec)(abs << 13),
					splat32(0x77800000));

	return scaled | (inf & splat32(F32_INF)) |
	       (vec)((x & 0x8000) << 16);
}

static __always_inline struct vec2 f16_widen(vec h)
{
	struct vec2 v = interleave((vec){}, h);

	v.x[0] = f16_widen_one(v.x[0]);
	v.x[1] = f16_widen_one(v.x[1]);
	return v;
}

/*
 * To nearest even: normal numbers as in bf16_round(). Results that become
 * subnormal are rounded by an addition: the ulp of 0.5 is the smallest
 * binary16.
 */
static __always_inline vec f16_round(vec v)
{
	const vu32 abs = (vu32)v & 0x7fffffff;
	const vec half = splat32(0x3f000000);
	const vec small = (vec)((vu32)f32_insn_add((vec)abs, half) - (vu32)half);
	const vec normal = (vec)((abs - 0x38000000 + 0x0fff + (abs >> 13 & 1)) >> 13);
	const vec nan = (vec)((abs >> 13 & 0x03ff) | 0x7e00);
	vec r;

	r = pick((vec)((vs32)abs < 0x38800000), small, normal);
	r = pick((vec)((vs32)abs >= 0x47800000), splat32(0x7c00), r);
	r = pick(is_f32_nan((vs32)v), nan, r);
	return r | (vec)((vu32)v >> 16 & 0x8000);
}

static __always_inline vec f16_narrow(struct vec2 v)
{
	v.x[0] = f16_round(v.x[0]);
	v.x[1] = f16_round(v.x[1]);
	return pack_low(v);
}

#else

/* F16C takes the elements in order, "unpack" the first and third quarter. */
static __always_inline vec swap_quarters(vec v)
{
	asm("vpermq $0xd8, %0, %0" : "+x" (v));
	return v;
}

static __always_inline struct vec2 f16_widen(vec h)
{
	struct vec2 v;

	h = swap_quarters(h);
	asm("vcvtph2ps %x1, %0" : "=x" (v.x[0]) : "x" (h));
	asm("vextracti128 $1, %0, %x0" : "+x" (h));
	asm("vcvtph2ps %x1, %0" : "=x" (v.x[1]) : "x" (h));
	return v;
}

static __always_inline vec f16_narrow(struct vec2 v)
{
	vec lo, hi;

	asm("vcvtps2ph $0, %1, %x0" : "=x" (lo) : "x" (v.x[0]));
	asm("vcvtps2ph $0, %1, %x0" : "=x" (hi) : "x" (v.x[1]));
	asm("vinserti128 $1, %x1, %0, %0" : "+x" (lo) : "x" (hi));
	return swap_quarters(lo);
}

#endif

/* The operations of a wide row of one of the types. */
struct half_ops {
	struct vec2 (*widen)(vec h);
	vec (*narrow)(struct vec2 v);
	vec (*op)(vec a, vec b);
};

static __always_inline struct vec2 wide_load(const struct half_ops *ops,
					     struct inc_operand x, size_t at)
{
	const vec hi = load(x.hi + at);

	return x.lo ? interleave(hi, load(x.lo + at)) : ops->widen(hi);
}

static __always_inline struct vec2 wide_op(const struct half_ops *ops,
					   struct vec2 a, struct vec2 b)
{
	return (struct vec2) {{
		ops->op(a.x[0], b.x[0]), ops->op(a.x[1], b.x[1])
	}};
}

/* Make binary32 one vector of each plane; x[1] of the result is unused if narrow. */
static __always_inline struct vec2 wide_planes(const struct half_ops *ops,
					       bool narrow, struct vec2 r,
					       u32 div)
{
	const vec by = f32_from(div);

	if (!narrow)
		return (struct vec2) {{ pack_high(r), pack_low(r) }};
	if (div > 1) {
		r.x[0] = f32_insn_div(r.x[0], by);
		r.x[1] = f32_insn_div(r.x[1], by);
	}
	return (struct vec2) {{ ops->narrow(r), r.x[1] }};
}

static __always_inline struct vec2 wide_vec(const struct half_ops *ops,
					    bool narrow, struct inc_operand a,
					    struct inc_operand b, size_t at,
					    u32 div)
{
	struct vec2 r = wide_op(ops, wide_load(ops, a, at), wide_load(ops, b, at));

	return wide_planes(ops, narrow, r, div);
}

static __always_inline void wide_store(struct inc_operand dst, size_t at,
				       struct vec2 v)
{
	store(dst.hi + at, v.x[0]);
	if (dst.lo)
		store(dst.lo + at, v.x[1]);
}

static __always_inline void wide_short(const struct half_ops *ops,
				       struct inc_operand dst,
				       struct inc_operand a,
				       struct inc_operand b, size_t len, u32 div)
{
	struct vec2 x = {}, y = {}, r;
	struct inc_operand xs = { &x.x[0], a.lo ? &x.x[1] : NULL };
	struct inc_operand ys = { &y.x[0], b.lo ? &y.x[1] : NULL };

	memcpy(xs.hi, a.hi, len);
	if (a.lo)
		memcpy(xs.lo, a.lo, len);
	memcpy(ys.hi, b.hi, len);
	if (b.lo)
		memcpy(ys.lo, b.lo, len);
	r = wide_vec(ops, !dst.lo, xs, ys, 0, div);
	memcpy(dst.hi, &r.x[0], len);
	if (dst.lo)
		memcpy(dst.lo, &r.x[1], len);
}

/* As vec_loop(): the last vector overlaps, and is computed first. */
static __always_inline void wide_loop(const struct half_ops *ops,
				      struct inc_operand dst,
				      struct inc_operand a,
				      struct inc_operand b, size_t len, u32 div)
{
	struct vec2 last;

	if (len < INC_VEC_BYTES) {
		wide_short(ops, dst, a, b, len, div);
		return;
	}

	len -= INC_VEC_BYTES;
	last = wide_vec(ops, !dst.lo, a, b, len, div);
	for (size_t i = 0; i < len; i += INC_VEC_BYTES)
		wide_store(dst, i, wide_vec(ops, !dst.lo, a, b, i, div));
	wide_store(dst, len, last);
}

/* As block_loop(). */
static __always_inline size_t wide_block_loop(const struct half_ops *ops,
					      struct inc_operand dst,
					      void *const src[], size_t len,
					      u32 div)
{
	const struct block s = block_operands(src);
	struct vec2 v[INC_REDUCE_BLOCK / 2];
	size_t at;

	for (at = 0; at + INC_VEC_BYTES <= len; at += INC_VEC_BYTES) {
#pragma GCC unroll 4
		for (int i = 0; i < INC_REDUCE_BLOCK / 2; i++) {
			v[i] = wide_op(ops, ops->widen(load(s.src[2 * i] + at)),
				       ops->widen(load(s.src[2 * i + 1] + at)));
			if (i % 2)
				v[i - 1] = wide_op(ops, v[i - 1], v[i]);
		}
		wide_store(dst, at, wide_planes(ops, !dst.lo,
						wide_op(ops, v[0], v[2]), div));
	}
	return at;
}

static __always_inline void wide_block_row(inc_reduce_block_fn fn,
					   const struct half_ops *ops,
					   struct inc_operand dst,
					   void *const src[], size_t nelem,
					   u32 div)
{
	size_t at = wide_block_loop(ops, dst, src, 2 * nelem, div);

	if (at < 2 * nelem)
		block_rest(fn, dst, src, at, 2 * nelem - at, 2, div);
}

#define WIDE_ROW(t, how)						\
static const struct half_ops t ## _ ## how ## _ops = {			\
	.widen	= t ## _widen,						\
	.narrow	= t ## _narrow,						\
	.op	= f32_ ## how ## _vec,					\
};									\
									\
static void t ## _ ## how(struct inc_operand dst, struct inc_operand a,	\
			  struct inc_operand b, unsigned int nelem, u32 div) \
{									\
	wide_loop(&t ## _ ## how ## _ops, dst, a, b, (size_t)nelem * 2, div); \
}									\
									\
static void __maybe_unused						\
block_ ## t ## _ ## how(struct inc_operand dst, void *const src[],	\
			unsigned int nelem, u32 div)			\
{									\
	wide_block_row(block_ ## t ## _ ## how, &t ## _ ## how ## _ops, dst, \
		       src, nelem, div);				\
}

WIDE_ROW(f16, sum)
WIDE_ROW(f16, prod)
WIDE_ROW(bf16, sum)
WIDE_ROW(bf16, prod)
