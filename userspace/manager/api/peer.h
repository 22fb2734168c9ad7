/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_MANAGER_API_PEER_H
#define INC_MANAGER_API_PEER_H

#include <stdbool.h>
#include <stddef.h>

#include "rendezvous/network.h"

bool addr_believed(const struct inc_rdv_network *allow, const char *peer,
		   const struct inc_rdv_addr *addr, char *err, size_t len);

#endif /* INC_MANAGER_API_PEER_H */
