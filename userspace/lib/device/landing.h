/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Where results over UC land. The network may delay or duplicate a result
 * without bound, so only one message may ever write to an entry. The memory is
 * split into parts. Before a part is reused, its registration is replaced by
 * one at addresses that no message has named before. A late result names an
 * unknown R_Key or address, and the device drops it.
 */
#ifndef INC_LIB_LANDING_H
#define INC_LIB_LANDING_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/* Entries of a part: one registration per this many messages is nearly free. */
#define INC_LANDING_ENTRIES	256
/* Number of parts for 4096 slots. */
#define INC_LANDING_PARTS_MAX	17

/**
 * struct inc_landing - landing memory of a communicator
 * @pd: protection domain
 * @mem: memory of all parts
 * @stride: bytes of an entry
 * @nparts: number of parts
 * @part: the part that entries are taken from
 * @used: entries of @part in use
 * @made: registrations made
 * @mr: registration of each part
 * @va: virtual address of each part, as the switch sees it
 */
struct inc_landing {
	struct ibv_pd	*pd;
	char		*mem;
	size_t		stride;
	uint32_t	nparts;
	uint32_t	part;
	uint32_t	used;
	uint64_t	made;
	struct ibv_mr	*mr[INC_LANDING_PARTS_MAX];
	uint64_t	va[INC_LANDING_PARTS_MAX];
};

/**
 * struct inc_place - an entry, for one message
 * @mem: its memory
 * @va: virtual address for the switch
 * @rkey: R_Key for the switch
 */
struct inc_place {
	char		*mem;
	uint64_t	va;
	uint32_t	rkey;
};

int inc_landing_init(struct inc_landing *l, struct ibv_pd *pd, uint32_t slots,
		     size_t len);
void inc_landing_exit(struct inc_landing *l);
int inc_landing_take(struct inc_landing *l, struct inc_place *place);

#endif /* INC_LIB_LANDING_H */
