// SPDX-License-Identifier: GPL-2.0
/*
 * Independent reference of the floating-point reductions: the host's scalar
 * FPU does the arithmetic, on ordinary C floats. Only what C leaves open is
 * said here by hand: which NaN, and how zeros are ordered. The rounding mode is
 * the one that every program starts with, to nearest even.
 *
 * Nothing of the kernel's code is included.
 */
#include <math.h>
#include <string.h>

#include <uapi/linux/inc_proto.h>

#include "reduce_ref.h"

/**
 * reduce_ref_fp32() - one element of binary32
 * @op: INC_OP_SUM, INC_OP_MIN or INC_OP_MAX
 * @a: left operand's bits
 * @b: right operand's bits
 *
 * Return: the result's bits.
 */
uint64_t reduce_ref_fp32(uint8_t op, uint64_t a, uint64_t b)
{
	uint32_t ia = a, ib = b, ir;
	float fa, fb, fr;

	memcpy(&fa, &ia, sizeof(fa));
	memcpy(&fb, &ib, sizeof(fb));
	if (isnan(fa))
		return ia | 0x00400000;
	if (isnan(fb))
		return ib | 0x00400000;
	if (op == INC_OP_SUM) {
		if (isinf(fa) && isinf(fb) && signbit(fa) != signbit(fb))
			return 0xffc00000;
		fr = fa + fb;
	} else if (fa == fb) {
		/* the same, or zeros of two signs */
		fr = !signbit(fa) == (op == INC_OP_MAX) ? fa : fb;
	} else {
		fr = (fa < fb) == (op == INC_OP_MIN) ? fa : fb;
	}
	memcpy(&ir, &fr, sizeof(ir));
	return ir;
}

/**
 * reduce_ref_fp64() - one element of binary64
 * @op: INC_OP_SUM, INC_OP_MIN or INC_OP_MAX
 * @a: left operand's bits
 * @b: right operand's bits
 *
 * Return: the result's bits.
 */
uint64_t reduce_ref_fp64(uint8_t op, uint64_t a, uint64_t b)
{
	double fa, fb, fr;
	uint64_t ir;

	memcpy(&fa, &a, sizeof(fa));
	memcpy(&fb, &b, sizeof(fb));
	if (isnan(fa))
		return a | 0x0008000000000000;
	if (isnan(fb))
		return b | 0x0008000000000000;
	if (op == INC_OP_SUM) {
		if (isinf(fa) && isinf(fb) && signbit(fa) != signbit(fb))
			return 0xfff8000000000000;
		fr = fa + fb;
	} else if (fa == fb) {
		fr = !signbit(fa) == (op == INC_OP_MAX) ? fa : fb;
	} else {
		fr = (fa < fb) == (op == INC_OP_MIN) ? fa : fb;
	}
	memcpy(&ir, &fr, sizeof(ir));
	return ir;
}
