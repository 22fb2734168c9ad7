// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory for results over UC, see landing.h.
 *
 * A device may reuse an R_Key after its registration has ended. So the address
 * distinguishes an old registration from a new one: each begins where none
 * began before. The R_Keys nearly always differ as well.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "landing.h"
#include "verbs.h"

/* At least the size of a part, with entries of up to a packet. */
#define VA_SHIFT	24
/* 256 of these are whole pages: the device's addresses keep page offsets. */
#define ALIGN		64

static size_t part_size(const struct inc_landing *l)
{
	return INC_LANDING_ENTRIES * l->stride;
}

static int make_part(struct inc_landing *l, uint32_t part)
{
	uint64_t va = ++l->made << VA_SHIFT;

	l->va[part] = va;
	l->mr[part] = ibv_reg_mr_iova(l->pd, l->mem + part * part_size(l),
				      part_size(l), va,
				      IBV_ACCESS_LOCAL_WRITE |
				      IBV_ACCESS_REMOTE_WRITE);
	return l->mr[part] ? 0 : inc_verbs_errno();
}

/*
 * Allocate and register the landing memory. Returns 0 or a negative errno
 * value. inc_landing_exit() frees in either case.
 * @len: maximum size of a result, bytes
 */
int inc_landing_init(struct inc_landing *l, struct ibv_pd *pd, uint32_t slots,
		     size_t len)
{
	uint32_t i, n;
	void *mem;
	int ret;

	/* Messages in flight never use the part that is being re-registered. */
	*l = (struct inc_landing) {
		.pd = pd, .stride = (len + ALIGN - 1) / ALIGN * ALIGN,
	};
	n = (slots + INC_LANDING_ENTRIES - 1) / INC_LANDING_ENTRIES + 1;
	if (n > INC_LANDING_PARTS_MAX || part_size(l) > 1UL << VA_SHIFT)
		return -EOVERFLOW;
	l->nparts = n;
	mem = mmap(NULL, n * part_size(l), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	l->mem = mem;
	for (i = 0; i < n; i++) {
		ret = make_part(l, i);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Free the landing memory.
 * @l: landing memory; its queue pair is destroyed
 */
void inc_landing_exit(struct inc_landing *l)
{
	uint32_t i;

	for (i = 0; i < l->nparts; i++)
		if (l->mr[i])
			ibv_dereg_mr(l->mr[i]);
	if (l->mem)
		munmap(l->mem, l->nparts * part_size(l));
	memset(l, 0, sizeof(*l));
}

/* Move to the next part. All messages that named entries in it have ended. */
static int next_part(struct inc_landing *l)
{
	uint32_t part = (l->part + 1) % l->nparts;
	int ret;

	ret = -ibv_dereg_mr(l->mr[part]);
	if (ret)
		return ret;
	l->mr[part] = NULL;
	ret = make_part(l, part);
	if (ret)
		return ret;
	l->part = part;
	l->used = 0;
	return 0;
}

/*
 * Take an entry for the next message that has a result.
 * @l: landing memory; not all slots have a message in flight
 */
int inc_landing_take(struct inc_landing *l, struct inc_place *place)
{
	size_t off;
	int ret;

	if (l->used == INC_LANDING_ENTRIES) {
		ret = next_part(l);
		if (ret)
			return ret;
	}
	off = l->used++ * l->stride;
	place->mem = l->mem + l->part * part_size(l) + off;
	place->va = l->va[l->part] + off;
	place->rkey = l->mr[l->part]->rkey;
	return 0;
}
