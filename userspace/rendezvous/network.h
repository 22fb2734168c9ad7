/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Addresses that a rank may name as its own; for the rendezvous daemon and the
 * aggregation manager.
 */
#ifndef INC_RENDEZVOUS_NETWORK_H
#define INC_RENDEZVOUS_NETWORK_H

#include <stdbool.h>

#include "rendezvous/proto.h"

/**
 * struct inc_rdv_network - addresses with a common prefix
 * @next: next of a list
 * @addr: network
 * @bits: length of its prefix
 */
struct inc_rdv_network {
	struct inc_rdv_network	*next;
	struct inc_rdv_addr	addr;
	unsigned int		bits;
};

int inc_rdv_network_add(struct inc_rdv_network **list, const char *text);
bool inc_rdv_network_has(const struct inc_rdv_network *list,
			 const struct inc_rdv_addr *addr);
void inc_rdv_network_free(struct inc_rdv_network **list);

bool inc_rdv_addr_same(const struct inc_rdv_addr *a,
		       const struct inc_rdv_addr *b);
const char *inc_rdv_addr_no_host(const struct inc_rdv_addr *addr);

#endif /* INC_RENDEZVOUS_NETWORK_H */
