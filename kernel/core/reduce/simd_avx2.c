// SPDX-License-Identifier: GPL-2.0
/* The reductions of simd_x86.h for AVX2 and F16C. */
#define INC_VEC_BYTES	32
#define INC_VEC_IMPL	inc_reduce_avx2
#define INC_VEC_NAME	"avx2"

#include "simd_x86.h"
