/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CPU's vector registers: whether they exist, whether they may be used in
 * this context, and how. Only reduce.c includes this; the files that use the
 * registers do not.
 *
 * MXCSR: on real x86 kernel_fpu_begin() loads its default (round to nearest,
 * exceptions masked, no FTZ, no DAZ). In UML it does nothing, and need not: UML
 * is one process per CPU that never changes MXCSR from the ABI's default, which
 * is the same. An interrupt there is a signal, around which the host saves all
 * vector registers, and a thread switch is a function call, across which none
 * is live. In user space (tests), the ABI's default holds as well.
 */
#ifndef _INC_REDUCE_FPU_H
#define _INC_REDUCE_FPU_H

#include <linux/types.h>

#ifdef INC_REDUCE_X86

#ifdef __KERNEL__

#include <asm/cpufeature.h>
#include <asm/fpu/api.h>

static inline bool inc_fpu_os_saves_ymm(void)
{
#ifdef CONFIG_UML
	/*
	 * The flags are the host's, which saves all registers that it offers.
	 */
	return true;
#else
	return cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
#endif
}

static inline bool inc_fpu_has_sse2(void)
{
	return boot_cpu_has(X86_FEATURE_XMM2);
}

/* AVX2 and F16C. All CPUs with AVX2 have F16C, but not all virtual ones. */
static inline bool inc_fpu_has_avx2(void)
{
	return boot_cpu_has(X86_FEATURE_AVX2) && boot_cpu_has(X86_FEATURE_F16C) &&
	       inc_fpu_os_saves_ymm();
}

#else /* user space */

#define irq_fpu_usable()	true
#define kernel_fpu_begin()	do { } while (0)
#define kernel_fpu_end()	do { } while (0)

static inline bool inc_fpu_has_sse2(void)
{
	return __builtin_cpu_supports("sse2");
}

static inline bool inc_fpu_has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

#endif /* user space */

#else /* !INC_REDUCE_X86 */

#define irq_fpu_usable()	false
#define kernel_fpu_begin()	do { } while (0)
#define kernel_fpu_end()	do { } while (0)

#endif

#endif /* _INC_REDUCE_FPU_H */
