/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Independent reference of the floating-point reductions: GNU MPFR, which
 * rounds correctly by definition. Numbers are bits in a uint64_t.
 */
#ifndef _REDUCE_REF_H
#define _REDUCE_REF_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct ref_format - an IEEE 754 binary format
 * @prec: precision, implicit bit included
 * @width: bits
 */
struct ref_format {
	unsigned int	prec;
	unsigned int	width;
};

extern const struct ref_format ref_fp16, ref_bf16, ref_fp32, ref_fp64;

const struct ref_format *ref_format(uint8_t dtype);
bool ref_is_nan(const struct ref_format *f, uint64_t a);
uint64_t ref_fp(const struct ref_format *f, uint8_t op, uint64_t a, uint64_t b);
uint64_t ref_div(const struct ref_format *f, uint64_t a, unsigned int div);
uint64_t ref_convert(const struct ref_format *to, const struct ref_format *from,
		     uint64_t a);

#endif
