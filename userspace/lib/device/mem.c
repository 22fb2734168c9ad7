// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Cache of registrations.
 *
 * A range may be deregistered only when no send request can read it any more:
 * the device reads a lost packet again to retransmit it, and the result of a
 * message may arrive before the acknowledgment of its request. So a released
 * range becomes a zombie until the send requests up to its @last_seq have
 * completed. Until then its pages stay pinned, whatever the user does with the
 * address.
 *
 * The lists are short (INC_MEM_MAX_COUNT, plus the ranges held by operations in
 * progress and by the user) and searched from the most recently used entry.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "mem.h"

/*
 * Initialize an empty cache.
 * @who: its communicator, for the log; NULL: none
 */
void inc_mem_init(struct inc_mem_cache *cache, struct ibv_pd *pd, bool keep,
		  const struct inc_who *who)
{
	memset(cache, 0, sizeof(*cache));
	cache->pd = pd;
	cache->keep = keep;
	cache->who = who;
	cache->piece = INC_MEM_PIECE;
	cache->max_count = INC_MEM_MAX_COUNT;
	cache->max_bytes = INC_MEM_MAX_BYTES;
}

static void mem_free(struct inc_mem_cache *cache, struct inc_mem *mem)
{
	size_t i;
	int ret;

	for (i = 0; i < mem->nmrs; i++) {
		ret = ibv_dereg_mr(mem->mr[i]);
		if (ret)
			inc_warn(cache->who,
				 "deregistering %zu bytes at 0x%zx: %s",
				 mem->len, (size_t)mem->addr, strerror(ret));
	}
	free(mem);
}

static void free_list(struct inc_mem_cache *cache, struct inc_mem *mem)
{
	struct inc_mem *next;

	for (; mem; mem = next) {
		next = mem->next;
		mem_free(cache, mem);
	}
}

/* Deregister everything. Only after the queue pair was destroyed. */
void inc_mem_exit(struct inc_mem_cache *cache)
{
	free_list(cache, cache->list);
	free_list(cache, cache->zombies);
	cache->list = NULL;
	cache->zombies = NULL;
}

static bool covers_range(const struct inc_mem *mem, uintptr_t addr, size_t len)
{
	return addr >= mem->addr && addr - mem->addr <= mem->len &&
	       len <= mem->len - (addr - mem->addr);
}

static bool overlaps_range(const struct inc_mem *mem, uintptr_t addr,
			   size_t len)
{
	return addr < mem->addr + mem->len && mem->addr < addr + len;
}

/* Remove *@link from the list of ranges that can be found. */
static struct inc_mem *unlink_mem(struct inc_mem_cache *cache,
				  struct inc_mem **link)
{
	struct inc_mem *mem = *link;

	*link = mem->next;
	cache->count--;
	cache->bytes -= mem->len;
	return mem;
}

static void link_first(struct inc_mem_cache *cache, struct inc_mem *mem)
{
	mem->next = cache->list;
	cache->list = mem;
	cache->count++;
	cache->bytes += mem->len;
}

static void retire_mem(struct inc_mem_cache *cache, struct inc_mem **link)
{
	struct inc_mem *mem = unlink_mem(cache, link);

	mem->next = cache->zombies;
	cache->zombies = mem;
}

/* Retire the least recently used range without users. */
static bool evict_mem(struct inc_mem_cache *cache)
{
	struct inc_mem **link, **oldest = NULL;

	for (link = &cache->list; *link; link = &(*link)->next)
		if (!(*link)->refs && !(*link)->pinned)
			oldest = link;
	if (!oldest)
		return false;
	retire_mem(cache, oldest);
	return true;
}

static struct inc_mem *find_mem(struct inc_mem_cache *cache, uintptr_t addr,
				size_t len, bool writable)
{
	struct inc_mem **link, *mem;

	for (link = &cache->list; (mem = *link); link = &mem->next) {
		if (!covers_range(mem, addr, len) ||
		    (writable && !mem->writable))
			continue;
		*link = mem->next;
		mem->next = cache->list;
		cache->list = mem;
		return mem;
	}
	return NULL;
}

static struct ibv_mr *register_piece(struct inc_mem_cache *cache,
				     const struct inc_mem *mem, size_t off)
{
	int access = mem->writable ? IBV_ACCESS_LOCAL_WRITE |
				     IBV_ACCESS_REMOTE_WRITE : 0;
	size_t len = mem->len - off;

	if (len > mem->piece + INC_MEM_OVERLAP)
		len = mem->piece + INC_MEM_OVERLAP;
	return ibv_reg_mr(cache->pd, (void *)(mem->addr + off), len, access);
}

static int make_mem(struct inc_mem_cache *cache, uintptr_t addr, size_t len,
		    bool writable, struct inc_mem **res)
{
	size_t n = (len - 1) / cache->piece + 1;
	struct inc_mem *mem;

	mem = calloc(1, sizeof(*mem) + n * sizeof(mem->mr[0]));
	if (!mem)
		return -ENOMEM;
	mem->addr = addr;
	mem->len = len;
	mem->writable = writable;
	mem->piece = cache->piece;
	for (; mem->nmrs < n; mem->nmrs++) {
		mem->mr[mem->nmrs] = register_piece(cache, mem,
						    mem->nmrs * mem->piece);
		if (!mem->mr[mem->nmrs]) {
			int err = errno ? errno : ENOMEM;

			mem_free(cache, mem);
			return -err;
		}
	}
	cache->regs++;
	inc_dbg(cache->who, "registered %zu bytes at 0x%zx for %s", len,
		(size_t)addr, writable ? "results" : "sending");
	*res = mem;
	return 0;
}

/*
 * Register a range, or find it registered, and hold it. Returns 0 or the error
 * of ibv_reg_mr() (-EFAULT: unmapped or read-only memory; -ENOMEM:
 * RLIMIT_MEMLOCK).
 */
int inc_mem_get(struct inc_mem_cache *cache, const void *addr, size_t len,
		bool writable, struct inc_mem **mem)
{
	struct inc_mem *found;
	int ret;

	found = find_mem(cache, (uintptr_t)addr, len, writable);
	if (found) {
		cache->hits++;
	} else {
		ret = make_mem(cache, (uintptr_t)addr, len, writable, &found);
		if (ret)
			return ret;
		link_first(cache, found);
	}
	found->refs++;
	while (cache->count > cache->max_count ||
	       cache->bytes > cache->max_bytes)
		if (!evict_mem(cache))
			break;
	*mem = found;
	return 0;
}

/*
 * Release an operation's hold on a range.
 * @last_seq: number of the last send request that may read it
 */
void inc_mem_put(struct inc_mem_cache *cache, struct inc_mem *mem,
		 uint64_t last_seq)
{
	struct inc_mem **link;

	if (last_seq > mem->last_seq)
		mem->last_seq = last_seq;
	if (--mem->refs || mem->pinned || cache->keep)
		return;
	for (link = &cache->list; *link != mem; link = &(*link)->next)
		;
	retire_mem(cache, link);
}

/*
 * Register a range until the user deregisters it. Returns 0 or the error of
 * ibv_reg_mr().
 */
int inc_mem_pin(struct inc_mem_cache *cache, void *addr, size_t len)
{
	struct inc_mem *mem;
	int ret;

	ret = make_mem(cache, (uintptr_t)addr, len, true, &mem);
	if (ret)
		return ret;
	mem->pinned = true;
	link_first(cache, mem);
	return 0;
}

/*
 * Undo inc_mem_pin(). Returns 0, -ENOENT, or -EBUSY if an operation in progress
 * uses it.
 */
int inc_mem_unpin(struct inc_mem_cache *cache, void *addr, size_t len)
{
	struct inc_mem **link, *mem;

	for (link = &cache->list; (mem = *link); link = &mem->next) {
		if (!mem->pinned || mem->addr != (uintptr_t)addr ||
		    mem->len != len)
			continue;
		if (mem->refs)
			return -EBUSY;
		retire_mem(cache, link);
		return 0;
	}
	return -ENOENT;
}

/*
 * Pin the ranges of another cache. If one can't be pinned, operations register
 * it when they use it.
 */
void inc_mem_repin(struct inc_mem_cache *cache, const struct inc_mem_cache *from)
{
	const struct inc_mem *mem;

	for (mem = from->list; mem; mem = mem->next)
		if (mem->pinned)
			inc_mem_pin(cache, (void *)mem->addr, mem->len);
}

/*
 * Retire the registrations that overlap a range. Returns 0, or -EBUSY if an
 * operation in progress uses some of them; others are retired in any case.
 */
int inc_mem_forget(struct inc_mem_cache *cache, const void *addr, size_t len)
{
	struct inc_mem **link = &cache->list, *mem;
	int ret = 0;

	while ((mem = *link)) {
		if (!overlaps_range(mem, (uintptr_t)addr, len)) {
			link = &mem->next;
		} else if (mem->refs) {
			ret = -EBUSY;
			link = &mem->next;
		} else {
			retire_mem(cache, link);
		}
	}
	return ret;
}

/*
 * Deregister zombies.
 * @done_seq: number of the last send request that is complete
 */
void inc_mem_reap(struct inc_mem_cache *cache, uint64_t done_seq)
{
	struct inc_mem **link = &cache->zombies, *mem;

	while ((mem = *link)) {
		if (mem->last_seq > done_seq) {
			link = &mem->next;
			continue;
		}
		*link = mem->next;
		mem_free(cache, mem);
	}
}

/*
 * Restart the numbers of send requests.
 * @cache: cache whose ranges no send request needs any more
 */
void inc_mem_renumber(struct inc_mem_cache *cache)
{
	struct inc_mem *mem;

	inc_mem_reap(cache, UINT64_MAX);
	for (mem = cache->list; mem; mem = mem->next)
		mem->last_seq = 0;
}

/* Retire all ranges that no operation uses. */
void inc_mem_retire(struct inc_mem_cache *cache)
{
	while (evict_mem(cache))
		;
}

static int populate_range(uintptr_t start, size_t len, bool writable)
{
	return madvise((void *)start, len, writable ? MADV_POPULATE_WRITE :
						      MADV_POPULATE_READ);
}

/*
 * Check that a range can be accessed without a signal. Returns true if so, or
 * if the kernel cannot tell (before Linux 5.14).
 */
bool inc_mem_is_there(const void *addr, size_t len, bool writable)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)addr & ~(page - 1);
	char here;

	if (!populate_range(start, (uintptr_t)addr + len - start, writable))
		return true;
	return errno == EINVAL &&
	       populate_range((uintptr_t)&here & ~(page - 1), page, false);
}
