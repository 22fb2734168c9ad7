// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The public functions for memory.
 */
#include <errno.h>
#include <string.h>

#include "call.h"
#include "comm/comm.h"
#include "device/cause.h"
#include "engine/arena.h"
#include "engine/end.h"

static int pin_range(struct inc_comm *comm, void *addr, size_t len)
{
	/* Allocate first: this range may exhaust RLIMIT_MEMLOCK. */
	int ret = inc_msg_bounce(comm);

	return ret ? ret : inc_mem_pin(&comm->mem, addr, len);
}

/**
 * inc_mem_reg() - register memory once for many operations
 * @comm: communicator
 * @addr: first byte; memory that can be written to
 * @len: bytes
 *
 * Operations on buffers within the range need no registration of their own. The
 * memory must stay mapped until inc_mem_dereg().
 *
 * Return: 0, -EINVAL, -EFAULT, -ENOMEM (also: RLIMIT_MEMLOCK), or the error
 * that the communicator failed with.
 */
int inc_mem_reg(struct inc_comm *comm, void *addr, size_t len)
{
	char text[INC_RDV_TEXT_MAX];
	int ret;

	if (!addr || !len)
		return -EINVAL;
	inc_comm_lock(comm);
	ret = comm->err;
	if (!ret) {
		ret = pin_range(comm, addr, len);
		/* On failure, operations register or copy the range. */
		if (!ret && comm->rails.other)
			pin_range(comm->rails.other, addr, len);
		if (ret) {
			inc_cause(-ret, text, sizeof(text),
				  "registering %zu bytes", len);
			inc_comm_note(comm, ret, "%s: %s", inc_cause_host(),
				      text);
		}
	}
	inc_comm_unlock(comm);
	return ret;
}

/**
 * inc_mem_dereg() - end a registration
 * @comm: communicator
 * @addr: as given to inc_mem_reg()
 * @len: as given to inc_mem_reg()
 *
 * Return: 0, -ENOENT if the range was never registered, -EBUSY if an operation
 * in progress or a persistent one uses it.
 */
int inc_mem_dereg(struct inc_comm *comm, void *addr, size_t len)
{
	int ret = 0;

	inc_comm_lock(comm);
	if (comm->rails.other)
		ret = inc_mem_unpin(&comm->rails.other->mem, addr, len);
	if (ret != -EBUSY)
		ret = inc_mem_unpin(&comm->mem, addr, len);
	inc_call_reap(comm);
	inc_comm_unlock(comm);
	return ret;
}

/**
 * inc_mem_invalidate() - end the library's registrations in a range
 * @comm: communicator
 * @addr: first byte
 * @len: bytes
 *
 * Call it before memory is returned to the system, with INC_REG_CACHE, and for
 * memory that inc_mem_reg() has registered.
 *
 * Return: 0, -EBUSY if an operation in progress or a persistent one uses some
 * of it.
 */
int inc_mem_invalidate(struct inc_comm *comm, const void *addr, size_t len)
{
	struct inc_comm *second = comm->rails.other;
	int ret;

	inc_comm_lock(comm);
	ret = inc_mem_forget(&comm->mem, addr, len);
	if (second && inc_mem_forget(&second->mem, addr, len))
		ret = -EBUSY;
	inc_call_reap(comm);
	inc_comm_unlock(comm);
	return ret;
}
