// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory that a communicator allocates once it knows its tree. The arena has
 * for each message a header, room for its data and, over RC, for its result.
 *
 * Registering memory takes long for each page, and is limited for ordinary
 * users. Over RC many communicators never have more than one message in flight,
 * and no long one. So they begin with a small arena and without a bounce
 * buffer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arena.h"
#include "base/log.h"

#define ENTRY_ALIGN		64
#define FIRST_ENTRIES		8U	/* over RC */

static size_t entry_stride(const struct inc_comm *comm)
{
	return (comm->uc ? 1 : 2) * comm->arena.entry_data + ENTRY_ALIGN;
}

/*
 * Find the header of a message, followed by its copied data.
 * @id: message that is in flight or is being made
 */
struct inc_hdr *inc_msg_hdr(const struct inc_comm *comm, uint32_t id)
{
	return (struct inc_hdr *)(comm->arena.mem + (id & comm->msgs.mask) *
				  entry_stride(comm));
}

/*
 * Find where a short result is written, over RC.
 * @id: message that is in flight or is being made
 */
char *inc_msg_result(const struct inc_comm *comm, uint32_t id)
{
	return (char *)inc_msg_hdr(comm, id) + ENTRY_ALIGN +
	       comm->arena.entry_data;
}

static void free_arena(const struct inc_arena *arena)
{
	if (arena->mr)
		ibv_dereg_mr(arena->mr);
	if (arena->mem)
		munmap(arena->mem, arena->size);
}

static int alloc_arena(struct inc_comm *comm, uint32_t entries)
{
	size_t room = comm->tree.msg_size - INC_HDR_LEN;

	room = room < INC_EAGER_MAX ? room : INC_EAGER_MAX;
	comm->arena.entry_data = (room + ENTRY_ALIGN - 1) / ENTRY_ALIGN *
				 ENTRY_ALIGN;
	comm->arena.size = entries * entry_stride(comm);
	comm->arena.mr = NULL;
	comm->arena.mem = mmap(NULL, comm->arena.size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (comm->arena.mem == MAP_FAILED) {
		comm->arena.mem = NULL;
		return -errno;
	}
	comm->arena.mr = ibv_reg_mr(comm->pd, comm->arena.mem, comm->arena.size,
				    comm->uc ? 0 : IBV_ACCESS_LOCAL_WRITE |
						   IBV_ACCESS_REMOTE_WRITE);
	return comm->arena.mr ? 0 : inc_verbs_errno();
}

/*
 * Allocate the buffer for long messages that must be copied. Call this before
 * registering user memory: else RLIMIT_MEMLOCK might leave too little for it,
 * and the other ranks would wait for this one.
 */
int inc_msg_bounce(struct inc_comm *comm)
{
	struct inc_bounce *b = &comm->bounce;
	size_t room = comm->tree.msg_size - INC_HDR_LEN;
	void *mem;
	int ret;

	if (comm->uc || room <= comm->arena.entry_data || b->mr)
		return 0;
	mem = mmap(NULL, 2 * room, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	b->mr = ibv_reg_mr(comm->pd, mem, 2 * room,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!b->mr) {
		ret = inc_verbs_errno();
		munmap(mem, 2 * room);
		return ret;
	}
	b->mem = mem;
	b->room = room;
	return 0;
}

/* Set the interval of send completions: several in a turn of the ring. */
static void set_every(struct inc_comm *comm, uint32_t entries)
{
	uint32_t turn = comm->sq.depth;

	if (!comm->uc && entries < turn)
		turn = entries;
	comm->sq.every = turn / (turn > FIRST_ENTRIES ? 4 : 2);
	if (!comm->sq.every)
		comm->sq.every = 1;
}

/* Allocate the ring and the arena; keep the previous ones on failure. */
static int alloc_entries(struct inc_comm *comm, uint32_t entries)
{
	struct inc_arena before = comm->arena;
	struct inc_msg *ring;
	int ret;

	ring = calloc(entries, sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	ret = alloc_arena(comm, entries);
	if (ret) {
		free_arena(&comm->arena);
		comm->arena = before;
		free(ring);
		return ret;
	}
	free(comm->msgs.ring);
	comm->msgs.ring = ring;
	comm->msgs.mask = entries - 1;
	set_every(comm, entries);
	/* Lost packets of earlier messages may have to be sent again. */
	comm->first_arena = before;
	return 0;
}

/* Make room for as many messages as the window admits. */
void inc_msg_grow(struct inc_comm *comm)
{
	int ret = alloc_entries(comm, comm->msgs.entries_max);

	if (ret) {
		inc_info(&comm->who, "memory for %u messages in flight: %s: %u must do",
			 comm->msgs.entries_max, strerror(-ret),
			 comm->msgs.mask + 1);
		comm->msgs.entries_max = comm->msgs.mask + 1;
	}
	comm->msgs.grow = false;
}

/*
 * Allocate the memory that depends on the tree. Returns 0 or a negative errno
 * value, -EMSGSIZE if UC cannot carry the tree's messages. inc_msg_free()
 * frees in either case.
 */
int inc_msg_alloc(struct inc_comm *comm)
{
	uint32_t entries = 1;

	/* Over UC all data is copied, to entries of at most a packet. */
	if (comm->uc && comm->tree.msg_size > comm->tree.pmtu)
		return -EMSGSIZE;
	if (comm->window.max > comm->tree.slots)
		comm->window.max = comm->tree.slots;
	if (comm->window.now > comm->window.max)
		comm->window.now = comm->window.max;
	/* Over UC, older messages may still lack results: need all slots. */
	while (entries < (comm->uc ? comm->tree.slots : comm->window.max))
		entries *= 2;
	comm->msgs.entries_max = entries;
	comm->msgs.next = comm->tree.first_msg_id;
	comm->msgs.head = comm->msgs.next;
	comm->msgs.early = calloc(comm->tree.slots, 1);
	comm->sq.wr = calloc(comm->window.max * 2, sizeof(*comm->sq.wr));
	comm->sq.sge = calloc(comm->window.max * 4, sizeof(*comm->sq.sge));
	if (!comm->msgs.early || !comm->sq.wr || !comm->sq.sge)
		return -ENOMEM;
	if (!comm->uc && entries > FIRST_ENTRIES)
		entries = FIRST_ENTRIES;
	return alloc_entries(comm, entries);
}

/*
 * Free the message memory and all requests; allowed if inc_msg_alloc() failed,
 * or was never called.
 * @comm: communicator without a queue pair and without operations in progress
 */
void inc_msg_free(struct inc_comm *comm)
{
	struct inc_request *req;

	free_arena(&comm->arena);
	free_arena(&comm->first_arena);
	if (comm->bounce.mr)
		ibv_dereg_mr(comm->bounce.mr);
	if (comm->bounce.mem)
		munmap(comm->bounce.mem, 2 * comm->bounce.room);
	while ((req = comm->ops.all)) {
		comm->ops.all = req->all;
		free(req->temp);
		free(req);
	}
	free(comm->msgs.ring);
	free(comm->msgs.early);
	free(comm->sq.wr);
	free(comm->sq.sge);
}
