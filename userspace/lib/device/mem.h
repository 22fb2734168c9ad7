/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Registered user memory: found by address, kept while it is useful, and
 * deregistered once no send request can still read it.
 */
#ifndef INC_LIB_MEM_H
#define INC_LIB_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

struct inc_who;

#define INC_MEM_MAX_COUNT	64
#define INC_MEM_MAX_BYTES	(1ULL << 30)

/*
 * A range is registered in pieces, as devices have a limit (rdma_rxe: 1 GiB,
 * with a single allocation of 4 MiB). Each piece overlaps the next by a
 * message's length: every message must lie within one piece.
 */
#define INC_MEM_PIECE		(32UL << 20)
#define INC_MEM_OVERLAP		65536

/**
 * struct inc_mem - a registered range
 * @next: in one of the cache's lists
 * @addr: first byte
 * @len: bytes
 * @writable: the switch may write to it
 * @pinned: registered by the user, until the user deregisters it
 * @refs: operations in progress that use it
 * @last_seq: number of the last send request that may read it
 * @piece: distance of the pieces' first bytes
 * @nmrs: number of pieces
 * @mr: their registrations
 */
struct inc_mem {
	struct inc_mem	*next;
	uintptr_t	addr;
	size_t		len;
	bool		writable;
	bool		pinned;
	unsigned int	refs;
	uint64_t	last_seq;
	size_t		piece;
	size_t		nmrs;
	struct ibv_mr	*mr[];
};

/**
 * struct inc_mem_cache - all ranges of a communicator
 * @pd: protection domain
 * @keep: keep ranges that no operation uses (INC_REG_CACHE)
 * @who: its communicator, for the log
 * @piece: distance of a range's pieces, bytes
 * @max_count: maximum number of unused ranges to keep
 * @max_bytes: maximum number of bytes to keep
 * @list: ranges that can be found, most recently used first
 * @zombies: ranges that lookups no longer find, but an incomplete send request
 *	may still read
 * @count: ranges in @list
 * @bytes: bytes in @list
 * @regs: registrations made
 * @hits: lookups that found a registration
 */
struct inc_mem_cache {
	struct ibv_pd	*pd;
	bool		keep;
	const struct inc_who *who;
	size_t		piece;
	size_t		max_count;
	uint64_t	max_bytes;
	struct inc_mem	*list;
	struct inc_mem	*zombies;
	size_t		count;
	uint64_t	bytes;
	uint64_t	regs;
	uint64_t	hits;
};

void inc_mem_init(struct inc_mem_cache *cache, struct ibv_pd *pd, bool keep,
		  const struct inc_who *who);
void inc_mem_exit(struct inc_mem_cache *cache);
int inc_mem_get(struct inc_mem_cache *cache, const void *addr, size_t len,
		bool writable, struct inc_mem **mem);
void inc_mem_put(struct inc_mem_cache *cache, struct inc_mem *mem,
		 uint64_t last_seq);
int inc_mem_pin(struct inc_mem_cache *cache, void *addr, size_t len);
int inc_mem_unpin(struct inc_mem_cache *cache, void *addr, size_t len);
void inc_mem_repin(struct inc_mem_cache *cache,
		   const struct inc_mem_cache *from);
int inc_mem_forget(struct inc_mem_cache *cache, const void *addr, size_t len);
void inc_mem_retire(struct inc_mem_cache *cache);
bool inc_mem_is_there(const void *addr, size_t len, bool writable);
void inc_mem_renumber(struct inc_mem_cache *cache);
void inc_mem_reap(struct inc_mem_cache *cache, uint64_t done_seq);

/* Registration of a message's data, INC_MEM_OVERLAP bytes at most, at @addr. */
static inline const struct ibv_mr *inc_mem_mr(const struct inc_mem *mem,
					      const void *addr)
{
	return mem->mr[((uintptr_t)addr - mem->addr) / mem->piece];
}

#endif /* INC_LIB_MEM_H */
