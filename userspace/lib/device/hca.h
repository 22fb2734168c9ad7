/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Open verbs devices, shared by all communicators of a process, as each device
 * costs two file descriptors.
 */
#ifndef INC_LIB_HCA_H
#define INC_LIB_HCA_H

#include <infiniband/verbs.h>

#include "rendezvous/proto.h"

/**
 * struct inc_hca_gid - a GID of a device
 * @addr: address in it; len 0: none
 * @port: its port
 * @index: its index
 * @queue: length of the network device's queue in packets; 0: unknown
 */
struct inc_hca_gid {
	struct inc_rdv_addr	addr;
	uint8_t			port;
	int			index;
	unsigned int		queue;
};

/**
 * struct inc_hca - an open device
 * @next: next one; guarded by hca.c's lock, as are @refs, @gid and creation of
 *	@pd
 * @refs: users
 * @ctx: device
 * @pd: protection domain of all users; NULL: not created yet
 * @gid: the GID that a user found last
 * @at: index in the watcher thread's poll array; private to that thread
 */
struct inc_hca {
	struct inc_hca		*next;
	unsigned int		refs;
	struct ibv_context	*ctx;
	struct ibv_pd		*pd;
	struct inc_hca_gid	gid;
	unsigned int		at;
};

struct inc_hca *inc_hca_get(struct ibv_device *device);
struct inc_hca *inc_hca_find(const char *name, const struct inc_rdv_addr *addr,
			     struct inc_hca_gid *gid);
void inc_hca_found(struct inc_hca *hca, const struct inc_hca_gid *gid);
void inc_hca_put(struct inc_hca *hca);
struct ibv_pd *inc_hca_pd(struct inc_hca *hca);
void inc_hca_forked(void);

#endif /* INC_LIB_HCA_H */
