/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Accepts ranks that connect by RDMA CM.
 */
#ifndef INC_AGENT_CM_H
#define INC_AGENT_CM_H

#include <stdint.h>

struct agent;

/**
 * struct cm_endpoint - endpoint of RDMA CM
 * @addr: address; NULL: none
 * @port: port of RDMA_PS_TCP, for RC, and of RDMA_PS_IB, for UC
 */
struct cm_endpoint {
	const char	*addr;
	uint16_t	port;
};

int cm_start(struct agent *a, const struct cm_endpoint *e);
void cm_stop(struct agent *a);

#endif /* INC_AGENT_CM_H */
