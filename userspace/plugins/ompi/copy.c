// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Data and results are contiguous and in host memory. Where the program's
 * buffers are not, they are copied.
 *
 * Neither the NIC nor the CPU can access device memory here, so Open MPI's
 * accelerator framework copies it. Ranks may differ in whether a buffer is on a
 * device, so nothing else may depend on that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"

#include "opal/mca/accelerator/accelerator.h"

static char nothing[1];

static bool on_device(const void *buf)
{
	uint64_t flags;
	int dev;

	return buf && opal_accelerator.check_addr(buf, &dev, &flags) > 0;
}

/* Copy data; @to and @from may each be on a device. */
static int copy_bytes(void *to, const void *from, size_t len)
{
	if (!len)
		return OMPI_SUCCESS;
	if (!on_device(to) && !on_device(from)) {
		memcpy(to, from, len);
		return OMPI_SUCCESS;
	}
	return opal_accelerator.mem_copy(MCA_ACCELERATOR_NO_DEVICE_ID,
					 MCA_ACCELERATOR_NO_DEVICE_ID, to, from,
					 len, MCA_ACCELERATOR_TRANSFER_UNSPEC);
}

static void *copy_of(const void *from, size_t len)
{
	void *tmp = malloc(len + 1);

	if (tmp && copy_bytes(tmp, from, len) != OMPI_SUCCESS) {
		free(tmp);
		tmp = NULL;
	}
	return tmp;
}

/* Are elements of @type contiguous? */
static bool is_dense(const ompi_datatype_t *type, ptrdiff_t *gap)
{
	size_t size;
	ptrdiff_t span = opal_datatype_span(&type->super, 2, gap);

	ompi_datatype_type_size(type, &size);
	return ompi_datatype_is_contiguous_memory_layout(type, 2) &&
	       (size_t)span == 2 * size;
}

/* Open MPI's own copying detects by itself where the data is. */
static int copy_blocks(struct coll_inc_op *o, char *packed, char *buf,
		       bool pack)
{
	size_t len = coll_inc_size(o->type, o->count);
	ptrdiff_t lb, extent;
	int i, ret = OMPI_SUCCESS;

	ompi_datatype_get_extent(o->type, &lb, &extent);
	for (i = 0; i < o->blocks && ret == OMPI_SUCCESS; i++) {
		if (pack)
			ret = ompi_datatype_sndrcv(buf, o->count, o->type,
						   packed, (int)len,
						   &ompi_mpi_packed.dt);
		else
			ret = ompi_datatype_sndrcv(packed, (int)len,
						   &ompi_mpi_packed.dt, buf,
						   o->count, o->type);
		packed += len;
		buf += extent * o->count;
	}
	return ret;
}

/*
 * Get data to send, contiguous and in host memory. Returns the data, or NULL
 * without memory.
 */
const void *coll_inc_send(struct coll_inc_op *o, const void *buf, int blocks,
			  int count, ompi_datatype_t *type)
{
	struct coll_inc_op side = {
		.blocks = blocks, .count = count, .type = type,
	};
	size_t size = coll_inc_size(type, count) * (size_t)blocks;
	ptrdiff_t gap = 0;

	/* Without data the user's address may be NULL. */
	if (!coll_inc_size(type, count))
		return nothing;
	if (is_dense(type, &gap)) {
		if (!on_device((const char *)buf + gap))
			return (const char *)buf + gap;
		o->send_tmp = copy_of((const char *)buf + gap, size);
		return o->send_tmp;
	}
	o->send_tmp = malloc(size + 1);
	if (o->send_tmp && copy_blocks(&side, o->send_tmp, (char *)buf,
				       true) != OMPI_SUCCESS) {
		free(o->send_tmp);
		o->send_tmp = NULL;
	}
	return o->send_tmp;
}

/*
 * Get a contiguous result buffer in host memory. Returns the buffer, or NULL
 * without memory.
 * @o: operation, which unpacks it at its end
 */
void *coll_inc_recv(struct coll_inc_op *o, void *buf, int blocks, int count,
		    ompi_datatype_t *type)
{
	size_t size = coll_inc_size(type, count) * (size_t)blocks;
	ptrdiff_t gap = 0;
	bool whole;

	if (!size)
		return nothing;
	whole = is_dense(type, &gap);
	if (whole && !on_device((char *)buf + gap))
		return (char *)buf + gap;
	o->recv_tmp = malloc(size + 1);
	if (!o->recv_tmp)
		return NULL;
	if (whole) {
		o->buf = (char *)buf + gap;
		o->recv_at = o->recv_tmp;
		o->bytes = size;
		return o->recv_tmp;
	}
	o->buf = buf;
	o->blocks = blocks;
	o->count = count;
	o->type = type;
	OBJ_RETAIN(type);
	return o->recv_tmp;
}

/*
 * Get a reduction's buffers in host memory. Returns 0 or -ENOMEM.
 * @o: operation, which copies the result at its end
 * @out: bytes of result; 0: none for this rank, but in place its data is there
 */
int coll_inc_stage(struct coll_inc_op *o, const struct coll_inc_args *a,
		   const void **send, size_t in, void **recv, size_t out)
{
	bool in_place = a->sbuf == MPI_IN_PLACE;

	*send = in_place ? INC_IN_PLACE : a->sbuf;
	*recv = a->rbuf;
	if (!in_place && in && on_device(a->sbuf)) {
		o->send_tmp = copy_of(a->sbuf, in);
		*send = o->send_tmp;
		if (!*send)
			return -ENOMEM;
	}
	if ((!out && !in_place) || !in || !on_device(a->rbuf))
		return coll_inc_apart(o, send, in, a->rbuf, 0, out);
	o->recv_tmp = in_place ? copy_of(a->rbuf, in) : malloc(out);
	o->recv_at = o->recv_tmp;
	o->buf = a->rbuf;
	o->bytes = out;
	*recv = o->recv_tmp;
	return *recv ? 0 : -ENOMEM;
}

/*
 * Keep results from overwriting data that is still to be sent. MPI forbids such
 * buffers (4.1, section 2.3), but old programs have them, and Open MPI does
 * what they expect. Other ranks cannot know of the overlap, so this rank makes
 * a copy. Returns 0 or -ENOMEM.
 * @send: data; becomes INC_IN_PLACE or a copy if it overlaps the results
 * @recv: result buffer, or NULL
 * @own: offset in @recv at which libinc expects in-place data
 */
int coll_inc_apart(struct coll_inc_op *o, const void **send, size_t in,
		   const void *recv, size_t own, size_t out)
{
	const char *from = *send, *to = recv;

	if (from == INC_IN_PLACE || !out || !to || from >= to + out ||
	    to >= from + in)
		return 0;
	if (from == to + own) {
		*send = INC_IN_PLACE;
		return 0;
	}
	o->send_tmp = copy_of(from, in);
	*send = o->send_tmp;
	return *send ? 0 : -ENOMEM;
}

/* Copy the result to the user's buffer. Returns OMPI_SUCCESS or an error. */
int coll_inc_deliver(struct coll_inc_op *o)
{
	if (o->type)
		return copy_blocks(o, o->recv_tmp, o->buf, false);
	return copy_bytes(o->buf, o->recv_at, o->bytes);
}
