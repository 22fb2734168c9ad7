/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * NCCL's plugin interface, versions 8, 10 and 11, as far as a network plugin
 * needs it: order and types of members, and the numbers. NCCL finds a plugin's
 * functions by their offset in these structures, so no member may move.
 */
#ifndef INC_NCCL_ABI_H
#define INC_NCCL_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
	NCCL_SUCCESS		= 0,
	NCCL_SYSTEM_ERROR	= 2,
	NCCL_INTERNAL_ERROR	= 3,
	NCCL_INVALID_ARGUMENT	= 4,
	NCCL_INVALID_USAGE	= 5,
	NCCL_REMOTE_ERROR	= 6,
} nccl_result;

/* ncclDataType_t */
enum {
	NCCL_INT8, NCCL_UINT8, NCCL_INT32, NCCL_UINT32, NCCL_INT64, NCCL_UINT64,
	NCCL_FP16, NCCL_FP32, NCCL_FP64, NCCL_BF16, NCCL_NTYPES
};

/* ncclRedOp_t */
enum { NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG, NCCL_NOPS };

#define NCCL_PTR_HOST		1
#define NCCL_HANDLE_MAX		128
#define NCCL_MAX_REQUESTS	32
#define NCCL_MAX_DEVS_PER_NIC	4

/* ncclDebugLogLevel, and NCCL_NET of the subsystems */
#define NCCL_LOG_WARN	2
#define NCCL_LOG_INFO	3
#define NCCL_LOG_NET	16

typedef void (*nccl_log_fn)(int level, unsigned long flags, const char *file,
			    int line, const char *fmt, ...);
typedef nccl_result (*nccl_profiler_fn)(void **handle, int type, void *parent,
					int64_t plugin, void *data);

struct nccl_vprops {
	int	ndevs;
	int	devs[NCCL_MAX_DEVS_PER_NIC];
};

struct nccl_comm_config {
	int	traffic_class;
};

struct nccl_props_v8 {
	const char	*name;
	const char	*pci_path;
	uint64_t	guid;
	int		ptr_support;
	int		reg_is_global;
	int		speed;
	int		port;
	float		latency;
	int		max_comms;
	int		max_recvs;
	int		device_type;
	int		device_version;
};

#define NCCL_PROPS_V10 \
	const char	*name; \
	const char	*pci_path; \
	uint64_t	guid; \
	int		ptr_support; \
	int		reg_is_global; \
	int		force_flush; \
	int		speed; \
	int		port; \
	float		latency; \
	int		max_comms; \
	int		max_recvs; \
	int		device_type; \
	int		device_version; \
	struct nccl_vprops vprops; \
	size_t		max_p2p_bytes; \
	size_t		max_coll_bytes;

struct nccl_props_v10 {
	NCCL_PROPS_V10
};

struct nccl_props_v11 {
	NCCL_PROPS_V10
	int		max_multi_request;
};

struct nccl_sge_v8 {
	void		*mhandle;
	void		*address;
	uint32_t	size;
};

struct nccl_sge_v10 {
	void		*mhandle;
	void		*address;
	size_t		size;
};

/* Members that versions have in common. */
#define NCCL_NET_MEMORY \
	nccl_result (*accept)(void *listen, void **comm, void **dev_comm); \
	nccl_result (*reg_mr)(void *comm, void *data, size_t size, int type, \
			      void **mhandle); \
	nccl_result (*reg_mr_dma_buf)(void *comm, void *data, size_t size, \
				      int type, uint64_t offset, int fd, \
				      void **mhandle); \
	nccl_result (*dereg_mr)(void *comm, void *mhandle);

#define NCCL_NET_IO_V10 \
	nccl_result (*isend)(void *comm, void *data, size_t size, int tag, \
			     void *mhandle, void *phandle, void **request); \
	nccl_result (*irecv)(void *comm, int n, void **data, size_t *sizes, \
			     int *tags, void **mhandles, void **phandles, \
			     void **request);

#define NCCL_NET_END \
	nccl_result (*iflush)(void *comm, int n, void **data, int *sizes, \
			      void **mhandles, void **request); \
	nccl_result (*test)(void *request, int *done, int *sizes); \
	nccl_result (*close_send)(void *comm); \
	nccl_result (*close_recv)(void *comm); \
	nccl_result (*close_listen)(void *comm); \
	nccl_result (*get_device_mr)(void *comm, void *mhandle, void **dptr); \
	nccl_result (*irecv_consumed)(void *comm, int n, void *request);

struct nccl_net_v8 {
	const char *name;
	nccl_result (*init)(nccl_log_fn log);
	nccl_result (*devices)(int *ndev);
	nccl_result (*get_properties)(int dev, struct nccl_props_v8 *props);
	nccl_result (*listen)(int dev, void *handle, void **comm);
	nccl_result (*connect)(int dev, void *handle, void **comm,
			       void **dev_comm);
	NCCL_NET_MEMORY
	nccl_result (*isend)(void *comm, void *data, int size, int tag,
			     void *mhandle, void **request);
	nccl_result (*irecv)(void *comm, int n, void **data, int *sizes,
			     int *tags, void **mhandles, void **request);
	NCCL_NET_END
};

struct nccl_net_v10 {
	const char *name;
	nccl_result (*init)(nccl_log_fn log, nccl_profiler_fn prof);
	nccl_result (*devices)(int *ndev);
	nccl_result (*get_properties)(int dev, struct nccl_props_v10 *props);
	nccl_result (*listen)(int dev, void *handle, void **comm);
	nccl_result (*connect)(int dev, struct nccl_comm_config *config,
			       void *handle, void **comm, void **dev_comm);
	NCCL_NET_MEMORY
	NCCL_NET_IO_V10
	NCCL_NET_END
	nccl_result (*make_vdevice)(int *dev, struct nccl_vprops *props);
};

struct nccl_net_v11 {
	const char *name;
	nccl_result (*init)(void **ctx, uint64_t comm_id,
			    struct nccl_comm_config *config, nccl_log_fn log,
			    nccl_profiler_fn prof);
	nccl_result (*devices)(int *ndev);
	nccl_result (*get_properties)(int dev, struct nccl_props_v11 *props);
	nccl_result (*listen)(void *ctx, int dev, void *handle, void **comm);
	nccl_result (*connect)(void *ctx, int dev, void *handle, void **comm,
			       void **dev_comm);
	NCCL_NET_MEMORY
	NCCL_NET_IO_V10
	NCCL_NET_END
	nccl_result (*make_vdevice)(int *dev, struct nccl_vprops *props);
	nccl_result (*finalize)(void *ctx);
	nccl_result (*set_net_attr)(void *ctx, void *attr);
};

/* Members that versions have in common, but for the type of counts. */
#define NCCL_COLL(COUNT, SGE) \
	nccl_result (*connect)(void *handles[], int nranks, int rank, \
			       void *listen, void **comm); \
	nccl_result (*reduce_support)(int type, int op, int *supported); \
	nccl_result (*reg_mr)(void *comm, void *data, size_t size, int type, \
			      void **mhandle); \
	nccl_result (*reg_mr_dma_buf)(void *comm, void *data, size_t size, \
				      int type, uint64_t offset, int fd, \
				      void **mhandle); \
	nccl_result (*dereg_mr)(void *comm, void *mhandle); \
	nccl_result (*iallreduce)(void *comm, void *send, void *recv, \
				  COUNT count, int type, int op, \
				  void *send_mhandle, void *recv_mhandle, \
				  void **request); \
	nccl_result (*iallgather)(void *comm, void *send, int nparts, \
				  SGE *parts, \
				  size_t bytes_per_rank, size_t offset, \
				  size_t bytes, void *mhandle, void **request); \
	nccl_result (*ireducescatter)(void *comm, int nparts, \
				      SGE *parts, void *recv, \
				      size_t bytes_per_rank, size_t offset, \
				      size_t bytes, int type, int op, \
				      void *mhandle, void **request); \
	nccl_result (*iflush)(void *comm, void *data, int size, void *mhandle, \
			      void **request); \
	nccl_result (*test)(void *request, int *done, int *size); \
	nccl_result (*close_coll)(void *comm); \
	nccl_result (*close_listen)(void *comm);

struct nccl_coll_v8 {
	const char *name;
	nccl_result (*init)(nccl_log_fn log);
	nccl_result (*devices)(int *ndev);
	nccl_result (*get_properties)(int dev, struct nccl_props_v8 *props);
	nccl_result (*listen)(int dev, void *handle, void **comm);
	NCCL_COLL(int, struct nccl_sge_v8)
};

struct nccl_coll_v10 {
	const char *name;
	nccl_result (*init)(nccl_log_fn log);
	nccl_result (*devices)(int *ndev);
	nccl_result (*get_properties)(int dev, struct nccl_props_v10 *props);
	nccl_result (*listen)(int dev, void *handle, void **comm);
	NCCL_COLL(size_t, struct nccl_sge_v10)
	nccl_result (*make_vdevice)(int *dev, struct nccl_vprops *props);
};

struct nccl_coll_v11 {
	const char *name;
	nccl_result (*init)(void **ctx, uint64_t comm_id, nccl_log_fn log);
	nccl_result (*devices)(int *ndev);
	nccl_result (*get_properties)(int dev, struct nccl_props_v11 *props);
	nccl_result (*listen)(void *ctx, int dev, void *handle, void **comm);
	NCCL_COLL(size_t, struct nccl_sge_v10)
	nccl_result (*make_vdevice)(int *dev, struct nccl_vprops *props);
	nccl_result (*finalize)(void *ctx);
};

#endif /* INC_NCCL_ABI_H */
