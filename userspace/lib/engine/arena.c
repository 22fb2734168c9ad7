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
	return (comm->uc ? 1 : 2) * comm->arena.entry_data + ENTRY_ALIGN;
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
	return (struct inc_hdr *)(comm->arena.mem + (id & comm->msgs.mask) *
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
	return (char *)inc_msg_hdr(comm, id) + ENTRY_ALIGN +
	       comm->arena.entry_data;
}

static int alloc_arena(struct inc_comm *comm, uint32_t entries)
{
	size_t room = comm->tree.msg_size - INC_HDR_LEN;

	room = room < INC_EAGER_MAX ? room : INC_EAGER_MAX;
	comm->arena.entry_data = (room + ENTRY_ALIGN - 1) / ENTRY_ALIGN *
				 ENTRY_ALIGN;
	comm->arena.size = entries * entry_stride(comm);
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

/* Memory that can't be registered must not keep the other ranks waiting. */
static int alloc_bounce(struct inc_comm *comm)
{
	struct inc_bounce *b = &comm->bounce;
	size_t room = comm->tree.msg_size - INC_HDR_LEN;
	void *mem;

	if (comm->uc || room <= comm->arena.entry_data)
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
	if (comm->window.max > comm->tree.slots)
		comm->window.max = comm->tree.slots;
	if (comm->window.now > comm->window.max)
		comm->window.now = comm->window.max;
	/* Over UC, older messages may still lack results: need all slots. */
	while (entries < (comm->uc ? comm->tree.slots : comm->window.max))
		entries *= 2;
	comm->msgs.mask = entries - 1;
	comm->sq.every = (entries < comm->sq.depth && !comm->uc ? entries :
							  comm->sq.depth) / 4;
	if (!comm->sq.every)
		comm->sq.every = 1;
	comm->msgs.next = comm->tree.first_msg_id;
	comm->msgs.head = comm->msgs.next;
	comm->msgs.ring = calloc(entries, sizeof(*comm->msgs.ring));
	comm->msgs.early = calloc(comm->tree.slots, 1);
	comm->sq.wr = calloc(comm->window.max, sizeof(*comm->sq.wr));
	comm->sq.sge = calloc(comm->window.max * 2, sizeof(*comm->sq.sge));
	if (!comm->msgs.ring || !comm->msgs.early || !comm->sq.wr ||
	    !comm->sq.sge)
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
	if (comm->arena.mr)
		ibv_dereg_mr(comm->arena.mr);
	if (comm->arena.mem)
		munmap(comm->arena.mem, comm->arena.size);
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
