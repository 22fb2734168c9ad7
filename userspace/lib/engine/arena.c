// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Memory that a communicator allocates once it knows its tree. The arena has
 * for each message a header, room for its data and, over RC, for its result.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "comm.h"

#define ENTRY_ALIGN		64

static size_t entry_stride(const struct inc_comm *comm)
{
	return (comm->uc ? 1 : 2) * comm->entry_data + ENTRY_ALIGN;
}

/**
 * inc_msg_hdr() - find the header of a message, followed by its copied data
 * @comm: communicator
 * @id: message that is in flight or is being made
 *
 * Return: the header.
 */
struct inc_hdr *inc_msg_hdr(const struct inc_comm *comm, uint32_t id)
{
	return (struct inc_hdr *)(comm->arena + (id & comm->ring_mask) *
				  entry_stride(comm));
}

/**
 * inc_msg_result() - find where a short result is written, over RC
 * @comm: communicator
 * @id: message that is in flight or is being made
 *
 * Return: the address.
 */
char *inc_msg_result(const struct inc_comm *comm, uint32_t id)
{
	return (char *)inc_msg_hdr(comm, id) + ENTRY_ALIGN + comm->entry_data;
}

static int alloc_arena(struct inc_comm *comm, uint32_t entries)
{
	size_t room = comm->tree.msg_size - INC_HDR_LEN;

	room = room < INC_EAGER_MAX ? room : INC_EAGER_MAX;
	comm->entry_data = (room + ENTRY_ALIGN - 1) / ENTRY_ALIGN * ENTRY_ALIGN;
	comm->arena_size = entries * entry_stride(comm);
	comm->arena = mmap(NULL, comm->arena_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (comm->arena == MAP_FAILED) {
		comm->arena = NULL;
		return -errno;
	}
	comm->arena_mr = ibv_reg_mr(comm->pd, comm->arena, comm->arena_size,
				    comm->uc ? 0 : IBV_ACCESS_LOCAL_WRITE |
						   IBV_ACCESS_REMOTE_WRITE);
	return comm->arena_mr ? 0 : inc_verbs_errno();
}

/* Memory that can't be registered must not keep the other ranks waiting. */
static int alloc_bounce(struct inc_comm *comm)
{
	struct inc_bounce *b = &comm->bounce;
	size_t room = comm->tree.msg_size - INC_HDR_LEN;
	void *mem;

	if (comm->uc || room <= comm->entry_data)
		return 0;
	mem = mmap(NULL, 2 * room, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	b->mem = mem;
	b->room = room;
	b->mr = ibv_reg_mr(comm->pd, mem, 2 * room,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return b->mr ? 0 : inc_verbs_errno();
}

/**
 * inc_msg_alloc() - allocate the memory that depends on the tree
 * @comm: communicator; the daemon has answered
 *
 * Return: 0 or a negative errno value, -EMSGSIZE if UC cannot carry the tree's
 * messages. inc_msg_free() frees in either case.
 */
int inc_msg_alloc(struct inc_comm *comm)
{
	uint32_t entries = 1;
	int ret;

	/* Over UC all data is copied, to entries of at most a packet. */
	if (comm->uc && comm->tree.msg_size > comm->tree.pmtu)
		return -EMSGSIZE;
	if (comm->window_max > comm->tree.slots)
		comm->window_max = comm->tree.slots;
	if (comm->window > comm->window_max)
		comm->window = comm->window_max;
	/* Over UC, older messages may still lack results: need all slots. */
	while (entries < (comm->uc ? comm->tree.slots : comm->window_max))
		entries *= 2;
	comm->ring_mask = entries - 1;
	comm->sq_every = (entries < comm->sq_depth && !comm->uc ? entries :
							  comm->sq_depth) / 4;
	if (!comm->sq_every)
		comm->sq_every = 1;
	comm->next_id = comm->tree.first_msg_id;
	comm->head_id = comm->next_id;
	comm->ring = calloc(entries, sizeof(*comm->ring));
	comm->early = calloc(comm->tree.slots, 1);
	comm->wr = calloc(comm->window_max, sizeof(*comm->wr));
	comm->sge = calloc(comm->window_max * 2, sizeof(*comm->sge));
	if (!comm->ring || !comm->early || !comm->wr || !comm->sge)
		return -ENOMEM;
	ret = alloc_arena(comm, entries);
	if (!ret)
		ret = alloc_bounce(comm);
	return ret || !comm->uc ? ret : inc_uc_alloc(comm);
}

/**
 * inc_msg_free() - free the message memory, the UC state and all requests
 * @comm: communicator without a queue pair and without operations in progress
 *
 * Also if inc_msg_alloc() failed, or was never called.
 */
void inc_msg_free(struct inc_comm *comm)
{
	struct inc_request *req;

	inc_uc_free(comm);
	if (comm->arena_mr)
		ibv_dereg_mr(comm->arena_mr);
	if (comm->arena)
		munmap(comm->arena, comm->arena_size);
	if (comm->bounce.mr)
		ibv_dereg_mr(comm->bounce.mr);
	if (comm->bounce.mem)
		munmap(comm->bounce.mem, 2 * comm->bounce.room);
	while ((req = comm->all)) {
		comm->all = req->all;
		free(req->temp);
		free(req);
	}
	free(comm->ring);
	free(comm->early);
	free(comm->wr);
	free(comm->sge);
}
