// SPDX-License-Identifier: GPL-2.0
/* The reductions of simd_x86.h for SSE2, which every x86-64 has. */
#define INC_VEC_BYTES	16
#define INC_VEC_IMPL	inc_reduce_sse2
#define INC_VEC_NAME	"sse2"

#include "simd_x86.h"
