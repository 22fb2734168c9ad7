/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Registered user memory: found again by address, kept while it is of use,
 * given up when no send request can read it any more.
 */
#ifndef INC_LIB_MEM_H
#define INC_LIB_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define INC_MEM_MAX_COUNT	64
#define INC_MEM_MAX_BYTES	(1ULL << 30)

/**
 * struct inc_mem - a registered range
 * @next: in one of the cache's lists
 * @mr: its registration
 * @addr: first byte
 * @len: bytes
 * @writable: the switch may write to it
 * @pinned: registered by the user: stays until the user says so
 * @refs: operations under way that use it
 * @last_seq: number of the last send request that may read it
 */
struct inc_mem {
	struct inc_mem	*next;
	struct ibv_mr	*mr;
	uintptr_t	addr;
	size_t		len;
	bool		writable;
	bool		pinned;
	unsigned int	refs;
	uint64_t	last_seq;
};

/**
 * struct inc_mem_cache - all ranges of a communicator
 * @pd: protection domain
 * @keep: keep ranges that no operation uses (INC_REG_CACHE)
 * @max_count: so many unused ones are kept at most
 * @max_bytes: so many bytes are kept at most
 * @list: ranges that can be found, most recently used first
 * @zombies: ranges that can not be found any more, but be read by a send
 *	request that is not complete
 * @count: ranges in @list
 * @bytes: bytes in @list
 * @regs: registrations made
 * @hits: found instead of made
 */
struct inc_mem_cache {
	struct ibv_pd	*pd;
	bool		keep;
	size_t		max_count;
	uint64_t	max_bytes;
	struct inc_mem	*list;
	struct inc_mem	*zombies;
	size_t		count;
	uint64_t	bytes;
	uint64_t	regs;
	uint64_t	hits;
};

void inc_mem_init(struct inc_mem_cache *cache, struct ibv_pd *pd, bool keep);
void inc_mem_exit(struct inc_mem_cache *cache);
int inc_mem_get(struct inc_mem_cache *cache, const void *addr, size_t len,
		bool writable, struct inc_mem **mem);
void inc_mem_put(struct inc_mem_cache *cache, struct inc_mem *mem,
		 uint64_t last_seq);
int inc_mem_pin(struct inc_mem_cache *cache, void *addr, size_t len);
int inc_mem_unpin(struct inc_mem_cache *cache, void *addr, size_t len);
int inc_mem_forget(struct inc_mem_cache *cache, const void *addr, size_t len);
void inc_mem_reap(struct inc_mem_cache *cache, uint64_t done_seq);

#endif /* INC_LIB_MEM_H */
