/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The NCCL plugin, independent of the interface's version.
 *
 * coll.c	collectives over the switch
 * net.c	messages between hosts, which NCCL requires of every plugin
 * versions.c	the structures that NCCL looks up
 *
 * NCCL's proxy threads call these functions: for one communicator one thread at
 * a time, for different ones concurrently. Only connect blocks.
 */
#ifndef INC_NCCL_PLUGIN_H
#define INC_NCCL_PLUGIN_H

#include "abi.h"

extern nccl_log_fn inc_nccl_log;

#define say_warn(...)							\
	do {								\
		if (inc_nccl_log)					\
			inc_nccl_log(NCCL_LOG_WARN, NCCL_LOG_NET,	\
				     __func__, __LINE__, "INC: " __VA_ARGS__); \
	} while (0)
#define say_info(...)							\
	do {								\
		if (inc_nccl_log)					\
			inc_nccl_log(NCCL_LOG_INFO, NCCL_LOG_NET,	\
				     __func__, __LINE__, "INC: " __VA_ARGS__); \
	} while (0)

/* A piece of a rank's memory that contains a window. */
struct inc_nccl_part {
	char	*addr;
	size_t	size;
};

/* net.c */
nccl_result inc_net_listen(void *handle, void **comm);
nccl_result inc_net_connect(void *handle, void **comm);
nccl_result inc_net_accept(void *listen, void **comm);
nccl_result inc_net_isend(void *comm, const void *data, size_t size, int tag,
			  void **request);
nccl_result inc_net_irecv(void *comm, void *data, size_t size, int tag,
			  void **request);
nccl_result inc_net_test(void *request, int *done, int *size);
nccl_result inc_net_close(void *comm);
nccl_result inc_net_close_listen(void *comm);

/* coll.c */
int inc_coll_devices(void);
nccl_result inc_coll_listen(void *handle, void **comm);
nccl_result inc_coll_connect(void *handles[], int nranks, int rank,
			     void **comm);
nccl_result inc_coll_reduce_support(int type, int op, int *supported);
nccl_result inc_coll_reg_mr(void *comm, void *data, size_t size, int type,
			    void **mhandle);
nccl_result inc_coll_dereg_mr(void *comm, void *mhandle);
nccl_result inc_coll_iallreduce(void *comm, const void *send, void *recv,
				size_t count, int type, int op, void **request);
nccl_result inc_coll_iallgather(void *comm, char *send,
				const struct inc_nccl_part *recv,
				size_t bytes_per_rank, size_t offset,
				size_t bytes, void **request);
nccl_result inc_coll_ireducescatter(void *comm,
				    const struct inc_nccl_part *send,
				    char *recv, size_t bytes_per_rank,
				    size_t offset, size_t bytes, int type,
				    int op, void **request);
nccl_result inc_coll_test(void *request, int *done, int *size);
nccl_result inc_coll_close(void *comm);
nccl_result inc_coll_close_listen(void *comm);

#endif /* INC_NCCL_PLUGIN_H */
