/* SPDX-License-Identifier: GPL-2.0 */
/* Independent reference of the reductions: the host's scalar FPU. */
#ifndef _REDUCE_REF_H
#define _REDUCE_REF_H

#include <stdint.h>

uint64_t reduce_ref_fp32(uint8_t op, uint64_t a, uint64_t b);
uint64_t reduce_ref_fp64(uint8_t op, uint64_t a, uint64_t b);

#endif
