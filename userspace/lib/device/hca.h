/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Open verbs devices, shared by all communicators of a process, as each device
 * costs two file descriptors.
 */
#ifndef INC_LIB_HCA_H
#define INC_LIB_HCA_H

#include <infiniband/verbs.h>

/**
 * struct inc_hca - an open device
 * @next: next one; guarded by hca.c's lock, as are @refs and creation of @pd
 * @refs: users
 * @ctx: device
 * @pd: protection domain of all users; NULL: not created yet
 * @at: index in the watcher thread's poll array; that thread's own
 */
struct inc_hca {
	struct inc_hca		*next;
	unsigned int		refs;
	struct ibv_context	*ctx;
	struct ibv_pd		*pd;
	unsigned int		at;
};

struct inc_hca *inc_hca_get(struct ibv_device *device);
void inc_hca_put(struct inc_hca *hca);
struct ibv_pd *inc_hca_pd(struct inc_hca *hca);
void inc_hca_forked(void);

#endif /* INC_LIB_HCA_H */
