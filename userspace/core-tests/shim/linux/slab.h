/* SPDX-License-Identifier: GPL-2.0 */
/* Exact sizes, so that AddressSanitizer guards the end of every allocation. */
#ifndef _SHIM_LINUX_SLAB_H
#define _SHIM_LINUX_SLAB_H

#include <stdlib.h>

#ifndef GFP_KERNEL
#define GFP_KERNEL	0u
#endif

static inline void *kmalloc(size_t size, unsigned int gfp)
{
	(void)gfp;
	return malloc(size);
}

static inline void *kzalloc(size_t size, unsigned int gfp)
{
	(void)gfp;
	return calloc(1, size);
}

static inline void kfree(const void *p)
{
	free((void *)p);
}

#endif
