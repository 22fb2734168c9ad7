/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_COMPILER_H
#define _SHIM_LINUX_COMPILER_H

#undef __always_inline
#define __always_inline	inline __attribute__((__always_inline__))
#define __maybe_unused	__attribute__((__unused__))
#define noinline	__attribute__((__noinline__))
#define __aligned(x)	__attribute__((__aligned__(x)))
#define __packed	__attribute__((__packed__))
#ifndef __force
#define __force
#endif
#ifndef fallthrough
#define fallthrough	__attribute__((__fallthrough__))
#endif
/* A program of one thread. */
#define data_race(x)	(x)
#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) do {						\
	*(volatile __typeof__(x) *)&(x) = (v);				\
} while (0)
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#endif
