// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The structures that NCCL looks up in the plugin, by version of the interface.
 */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

#define NAME		"INC"
#define EXPORT		__attribute__((visibility("default")))
#define MAX_BYTES	((size_t)1 << 29)
/* For NCCL's choice of algorithms; the speed of links is unknown here. */
#define SPEED_MBPS	10000

static nccl_result init_plugin(nccl_log_fn log)
{
	inc_nccl_log = log;
	return NCCL_SUCCESS;
}

static nccl_result init_v10(nccl_log_fn log, nccl_profiler_fn prof)
{
	return init_plugin(log);
}

static nccl_result init_v11(void **ctx, uint64_t comm_id,
			    struct nccl_comm_config *config, nccl_log_fn log,
			    nccl_profiler_fn prof)
{
	*ctx = NULL;
	return init_plugin(log);
}

static nccl_result coll_init_v11(void **ctx, uint64_t comm_id, nccl_log_fn log)
{
	*ctx = NULL;
	return init_plugin(log);
}

static nccl_result finalize_plugin(void *ctx)
{
	return NCCL_SUCCESS;
}

static nccl_result set_net_attr(void *ctx, void *attr)
{
	return NCCL_SUCCESS;
}

static nccl_result net_devices(int *ndev)
{
	*ndev = 1;
	return NCCL_SUCCESS;
}

static nccl_result coll_devices(int *ndev)
{
	*ndev = inc_coll_devices();
	return NCCL_SUCCESS;
}

/* The members that all versions have under the same names. */
#define PROPS								\
	.name		= NAME,						\
	.ptr_support	= NCCL_PTR_HOST,				\
	.speed		= SPEED_MBPS,					\
	.port		= 1,						\
	.max_comms	= 64,						\
	.max_recvs	= 1

#define PROPS_V10							\
	PROPS,								\
	.vprops		= { .ndevs = 1 },				\
	.max_p2p_bytes	= MAX_BYTES,					\
	.max_coll_bytes	= MAX_BYTES

static nccl_result props_v8(int dev, struct nccl_props_v8 *props)
{
	*props = (struct nccl_props_v8) { PROPS };
	return dev ? NCCL_INVALID_ARGUMENT : NCCL_SUCCESS;
}

static nccl_result props_v10(int dev, struct nccl_props_v10 *props)
{
	*props = (struct nccl_props_v10) { PROPS_V10 };
	return dev ? NCCL_INVALID_ARGUMENT : NCCL_SUCCESS;
}

static nccl_result props_v11(int dev, struct nccl_props_v11 *props)
{
	*props = (struct nccl_props_v11) { PROPS_V10, .max_multi_request = 1 };
	return dev ? NCCL_INVALID_ARGUMENT : NCCL_SUCCESS;
}

static nccl_result reg_mr_dma_buf(void *comm, void *data, size_t size, int type,
				  uint64_t offset, int fd, void **mhandle)
{
	return NCCL_INVALID_USAGE;
}

/* --- Network ----------------------------------------------------------- */

static nccl_result net_listen(int dev, void *handle, void **comm)
{
	return inc_net_listen(handle, comm);
}

static nccl_result net_listen_v11(void *ctx, int dev, void *handle, void **comm)
{
	return net_listen(dev, handle, comm);
}

static nccl_result net_connect_v8(int dev, void *handle, void **comm,
				  void **dev_comm)
{
	return inc_net_connect(handle, comm);
}

static nccl_result net_connect_v10(int dev, struct nccl_comm_config *config,
				   void *handle, void **comm, void **dev_comm)
{
	return net_connect_v8(dev, handle, comm, dev_comm);
}

static nccl_result net_connect_v11(void *ctx, int dev, void *handle,
				   void **comm, void **dev_comm)
{
	return net_connect_v8(dev, handle, comm, dev_comm);
}

static nccl_result net_accept(void *listen, void **comm, void **dev_comm)
{
	return inc_net_accept(listen, comm);
}

static nccl_result net_reg_mr(void *comm, void *data, size_t size, int type,
			      void **mhandle)
{
	*mhandle = NULL;
	return type == NCCL_PTR_HOST ? NCCL_SUCCESS : NCCL_INVALID_USAGE;
}

static nccl_result net_dereg_mr(void *comm, void *mhandle)
{
	return NCCL_SUCCESS;
}

static nccl_result net_isend_v8(void *comm, void *data, int size, int tag,
				void *mhandle, void **request)
{
	return inc_net_isend(comm, data, (size_t)size, tag, request);
}

static nccl_result net_isend_v10(void *comm, void *data, size_t size, int tag,
				 void *mhandle, void *phandle, void **request)
{
	return inc_net_isend(comm, data, size, tag, request);
}

static nccl_result net_irecv_v8(void *comm, int n, void **data, int *sizes,
				int *tags, void **mhandles, void **request)
{
	if (n != 1)
		return NCCL_INVALID_USAGE;
	return inc_net_irecv(comm, data[0], (size_t)sizes[0], tags[0], request);
}

static nccl_result net_irecv_v10(void *comm, int n, void **data, size_t *sizes,
				 int *tags, void **mhandles, void **phandles,
				 void **request)
{
	if (n != 1)
		return NCCL_INVALID_USAGE;
	return inc_net_irecv(comm, data[0], sizes[0], tags[0], request);
}

/* Memory of the host needs no flush. */
static nccl_result net_iflush(void *comm, int n, void **data, int *sizes,
			      void **mhandles, void **request)
{
	*request = NULL;
	return NCCL_SUCCESS;
}

static nccl_result get_device_mr(void *comm, void *mhandle, void **dptr)
{
	return NCCL_INVALID_USAGE;
}

static nccl_result irecv_consumed(void *comm, int n, void *request)
{
	return NCCL_SUCCESS;
}

#define NET(V, V_IO)							\
	.name		= NAME,						\
	.devices	= net_devices,					\
	.get_properties	= props_##V,					\
	.connect	= net_connect_##V,				\
	.accept		= net_accept,					\
	.reg_mr		= net_reg_mr,					\
	.reg_mr_dma_buf	= reg_mr_dma_buf,				\
	.dereg_mr	= net_dereg_mr,					\
	.isend		= net_isend_##V_IO,				\
	.irecv		= net_irecv_##V_IO,				\
	.iflush		= net_iflush,					\
	.test		= inc_net_test,					\
	.close_send	= inc_net_close,				\
	.close_recv	= inc_net_close,				\
	.close_listen	= inc_net_close_listen,				\
	.get_device_mr	= get_device_mr,				\
	.irecv_consumed	= irecv_consumed

EXPORT const struct nccl_net_v8 ncclNetPlugin_v8 = {
	NET(v8, v8), .init = init_plugin, .listen = net_listen,
};

EXPORT const struct nccl_net_v10 ncclNetPlugin_v10 = {
	NET(v10, v10), .init = init_v10, .listen = net_listen,
};

EXPORT const struct nccl_net_v11 ncclNetPlugin_v11 = {
	NET(v11, v10), .init = init_v11, .listen = net_listen_v11,
	.finalize = finalize_plugin, .set_net_attr = set_net_attr,
};

/* --- Collective network ------------------------------------------------ */

static nccl_result coll_listen(int dev, void *handle, void **comm)
{
	return inc_coll_listen(handle, comm);
}

static nccl_result coll_listen_v11(void *ctx, int dev, void *handle,
				   void **comm)
{
	return coll_listen(dev, handle, comm);
}

static nccl_result coll_connect(void *handles[], int nranks, int rank,
				void *listen, void **comm)
{
	return inc_coll_connect(handles, nranks, rank, comm);
}

static nccl_result iallreduce_v10(void *comm, void *send, void *recv,
				  size_t count, int type, int op,
				  void *send_mhandle, void *recv_mhandle,
				  void **request)
{
	return inc_coll_iallreduce(comm, send, recv, count, type, op, request);
}

static nccl_result iallreduce_v8(void *comm, void *send, void *recv, int count,
				 int type, int op, void *send_mhandle,
				 void *recv_mhandle, void **request)
{
	return iallreduce_v10(comm, send, recv, (size_t)count, type, op,
			      send_mhandle, recv_mhandle, request);
}

/* NCCL passes one part per call; more would be several windows. */
#define ALLGATHER(V)							\
static nccl_result iallgather_##V(void *comm, void *send, int nparts,	\
				  struct nccl_sge_##V *parts,		\
				  size_t per_rank, size_t offset,	\
				  size_t bytes, void *mhandle,		\
				  void **request)			\
{									\
	struct inc_nccl_part part = { parts->address, parts->size };	\
									\
	if (nparts != 1)						\
		return NCCL_INVALID_USAGE;				\
	return inc_coll_iallgather(comm, send, &part, per_rank, offset,	\
				   bytes, request);			\
}									\
static nccl_result ireducescatter_##V(void *comm, int nparts,		\
				      struct nccl_sge_##V *parts,	\
				      void *recv, size_t per_rank,	\
				      size_t offset, size_t bytes,	\
				      int type, int op, void *mhandle,	\
				      void **request)			\
{									\
	struct inc_nccl_part part = { parts->address, parts->size };	\
									\
	if (nparts != 1)						\
		return NCCL_INVALID_USAGE;				\
	return inc_coll_ireducescatter(comm, &part, recv, per_rank,	\
				       offset, bytes, type, op, request); \
}
ALLGATHER(v8)
ALLGATHER(v10)

static nccl_result coll_iflush(void *comm, void *data, int size, void *mhandle,
			       void **request)
{
	*request = NULL;
	return NCCL_SUCCESS;
}

#define COLL(V, V_IO)							\
	.name		= NAME,						\
	.devices	= coll_devices,					\
	.get_properties	= props_##V,					\
	.connect	= coll_connect,					\
	.reduce_support	= inc_coll_reduce_support,			\
	.reg_mr		= inc_coll_reg_mr,				\
	.reg_mr_dma_buf	= reg_mr_dma_buf,				\
	.dereg_mr	= inc_coll_dereg_mr,				\
	.iallreduce	= iallreduce_##V_IO,				\
	.iallgather	= iallgather_##V_IO,				\
	.ireducescatter	= ireducescatter_##V_IO,			\
	.iflush		= coll_iflush,					\
	.test		= inc_coll_test,				\
	.close_coll	= inc_coll_close,				\
	.close_listen	= inc_coll_close_listen

EXPORT const struct nccl_coll_v8 ncclCollNetPlugin_v8 = {
	COLL(v8, v8), .init = init_plugin, .listen = coll_listen,
};

EXPORT const struct nccl_coll_v10 ncclCollNetPlugin_v10 = {
	COLL(v10, v10), .init = init_plugin, .listen = coll_listen,
};

EXPORT const struct nccl_coll_v11 ncclCollNetPlugin_v11 = {
	COLL(v11, v10), .init = coll_init_v11, .listen = coll_listen_v11,
	.finalize = finalize_plugin,
};
