/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that an allocation really takes, which is more than its size:
 * budgets are charged with this. All memory of trees and members is also
 * accounted to the memory cgroup of the task that makes them.
 */
#ifndef _INC_MEM_H
#define _INC_MEM_H

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/xarray.h>

/* The kernel's bookkeeping for each area of vmalloc(), besides its pages. */
#define INC_MEM_VMALLOC		192

/**
 * inc_mem_vmalloc() - compute the memory that vmalloc() takes
 * @size: bytes asked for
 *
 * Return: bytes, including the list of pages and page tables.
 */
static inline u64 inc_mem_vmalloc(u64 size)
{
	u64 pages = DIV_ROUND_UP_ULL(size, PAGE_SIZE);

	return INC_MEM_VMALLOC + pages * (PAGE_SIZE + 2 * sizeof(void *));
}

/**
 * inc_mem_kvmalloc() - compute the memory that kmalloc() and kvmalloc() take
 * @size: bytes asked for
 *
 * Return: bytes, including the object's reference to its memory cgroup.
 */
static inline u64 inc_mem_kvmalloc(u64 size)
{
	if (!size)
		return 0;
	if (size > KMALLOC_MAX_SIZE)
		return inc_mem_vmalloc(size);
	return kmalloc_size_roundup(size) + sizeof(void *);
}

/**
 * inc_mem_cache() - compute the memory that kmem_cache_alloc() takes
 * @size: bytes of an object
 *
 * Return: bytes, including the object's reference to its memory cgroup, and the
 * free end of a slab: a slab has at least 16 of them, or is a page.
 */
static inline u64 inc_mem_cache(u64 size)
{
	size = ALIGN(size, SMP_CACHE_BYTES) + sizeof(void *);
	return size + size / 32;
}

/**
 * inc_mem_percpu() - compute the memory that alloc_percpu() takes
 * @size: bytes for each CPU
 *
 * Return: bytes for all CPUs; the memory cgroup is noted for every four bytes.
 */
static inline u64 inc_mem_percpu(size_t size)
{
	size_t noted = IS_ENABLED(CONFIG_MEMCG) ? size / 4 * sizeof(void *) : 0;

	return (u64)size * num_possible_cpus() + noted;
}

/**
 * inc_mem_xarray() - get the memory that a node of an xarray takes
 *
 * Return: bytes.
 */
static inline u64 inc_mem_xarray(void)
{
	return sizeof(struct xa_node);
}

#endif /* _INC_MEM_H */
