/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Addresses of gRPC clients.
 */
#ifndef INC_RPC_PEER_H
#define INC_RPC_PEER_H

#include <stdbool.h>

#include "rendezvous/proto.h"

bool addr_of_peer(const char *peer, struct inc_rdv_addr *addr);

#endif /* INC_RPC_PEER_H */
