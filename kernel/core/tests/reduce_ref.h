/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expected results of reductions, bit for bit, for the KUnit tests. Elements
 * are bits in a u64, integers extended according to their type.
 */
#ifndef _INC_TESTS_REDUCE_REF_H
#define _INC_TESTS_REDUCE_REF_H

#include <linux/types.h>

struct fp_format {
	unsigned int prec, width;
};

extern const struct fp_format ref_fp32;

/* NULL if @dtype is not a floating-point type. */
const struct fp_format *fp_format(u8 dtype);
u64 ref_fp_inf(const struct fp_format *f);
u64 ref_fp(u8 dtype, u8 op, u64 a, u64 b);
u64 ref_fp_div(u64 a, u32 div, const struct fp_format *f);
u64 ref_fp_convert(u64 a, const struct fp_format *from, const struct fp_format *to);
u64 ref_int(u8 dtype, u8 op, u64 a, u64 b);
u64 ref_int_div(u8 dtype, u64 a, u32 div);

/* Elements in memory, including pairs of a value and an index. */
unsigned int ref_size(u8 dtype);
u8 ref_value_dtype(u8 dtype);
unsigned int ref_idx_offset(u8 dtype);
void ref_elem(u8 dtype, u8 op, u8 *dst, const u8 *a, const u8 *b);
u64 ref_load(const u8 *p, u8 dtype);
void ref_store(u8 *p, u8 dtype, u64 x);

#endif /* _INC_TESTS_REDUCE_REF_H */
