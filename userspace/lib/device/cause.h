/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Explanations for users why this host's RDMA does not work, with remedies. */
#ifndef INC_LIB_CAUSE_H
#define INC_LIB_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include <infiniband/verbs.h>

#include "rendezvous/proto.h"

/**
 * struct inc_dev_sel - selection of device, port and GID
 * @dev: name, NULL: any
 * @port: port number, 0: any
 * @gid_index: index, -1: any
 * @addr: preferred address of the GID; failing that, one of the same family is
 *	preferred. @gid_index takes precedence. len 0: any RoCEv2 GID
 */
struct inc_dev_sel {
	const char		*dev;
	int			port;
	int			gid_index;
	struct inc_rdv_addr	addr;
};

/**
 * struct inc_unfit - why devices are not used
 * @text: descriptions of the first few
 * @len: length of @text
 * @n: number of devices
 * @opened: at least one could be opened
 */
struct inc_unfit {
	char		text[INC_RDV_TEXT_MAX / 2];
	size_t		len;
	unsigned int	n;
	bool		opened;
};

const char *inc_cause_host(void);
void inc_cause(int err, char *text, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void inc_unfit_closed(struct inc_unfit *u, struct ibv_device *device, int err);
void inc_unfit_open(struct inc_unfit *u, struct ibv_context *ctx,
		    const struct inc_dev_sel *sel);
void inc_unfit_why(const struct inc_unfit *u, const struct inc_dev_sel *sel,
		   char *err, size_t err_len);

#endif /* INC_LIB_CAUSE_H */
