/* SPDX-License-Identifier: GPL-2.0 */
/* vmalloc() with inaccessible pages before and behind, as in the kernel. */
#ifndef _SHIM_LINUX_VMALLOC_H
#define _SHIM_LINUX_VMALLOC_H

#include <stddef.h>
#include <sys/mman.h>

#ifndef PAGE_SIZE
#define PAGE_SIZE	4096ul
#endif

static inline size_t shim_page_align(size_t n)
{
	return (n + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

/* The first page begins with the length, and is inaccessible after that. */
static inline void *vmalloc(size_t size)
{
	size_t len = shim_page_align(size);
	char *p = mmap(NULL, len + 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	*(size_t *)p = len;
	mprotect(p, PAGE_SIZE, PROT_NONE);
	mprotect(p + PAGE_SIZE + len, PAGE_SIZE, PROT_NONE);
	return p + PAGE_SIZE;
}

static inline void vfree(const void *addr)
{
	char *p;

	if (!addr)
		return;
	p = (char *)addr - PAGE_SIZE;
	mprotect(p, PAGE_SIZE, PROT_READ);
	munmap(p, *(size_t *)p + 2 * PAGE_SIZE);
}

#endif
