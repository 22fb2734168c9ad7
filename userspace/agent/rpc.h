/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * NETCONF's operations.
 */
#ifndef INC_AGENT_RPC_H
#define INC_AGENT_RPC_H

#include "agent.h"
#include "netconf.h"

extern const struct netconf_ops rpc_ops;

#endif /* INC_AGENT_RPC_H */
