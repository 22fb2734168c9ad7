/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an allocation takes, which is more than what was asked for: budgets are
 * charged that. All memory of trees and members is accounted to the memory
 * cgroup of who makes them, too.
 */
#ifndef _INC_MEM_H
#define _INC_MEM_H

#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/xarray.h>

/* Kept by the kernel for each area of vmalloc(), beside its pages. */
#define INC_MEM_VMALLOC		192

/**
 * inc_mem_vmalloc() - what vmalloc() takes
 * @size: bytes asked for
 *
 * Return: bytes, those of the list of pages and of page tables included.
 */
static inline u64 inc_mem_vmalloc(u64 size)
{
	u64 pages = DIV_ROUND_UP_ULL(size, PAGE_SIZE);

	return INC_MEM_VMALLOC + pages * (PAGE_SIZE + 2 * sizeof(void *));
}

/**
 * inc_mem_kvmalloc() - what kmalloc() and kvmalloc() take
 * @size: bytes asked for
 *
 * Return: bytes, those included by which the object knows its memory cgroup.
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
 * inc_mem_percpu() - what alloc_percpu() takes
 * @size: bytes for each CPU
 *
 * Return: bytes for all of them; the memory cgroup is noted for every four bytes.
 */
static inline u64 inc_mem_percpu(size_t size)
{
	size_t noted = IS_ENABLED(CONFIG_MEMCG) ? size / 4 * sizeof(void *) : 0;

	return (u64)size * num_possible_cpus() + noted;
}

/**
 * inc_mem_xarray() - what a node of an xarray takes
 *
 * Return: bytes.
 */
static inline u64 inc_mem_xarray(void)
{
	return sizeof(struct xa_node);
}

#endif /* _INC_MEM_H */
