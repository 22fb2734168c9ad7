/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Where results over UC land. The network may hold a result back, or double it, for
 * as long as it likes. So an entry is written to by one message only: memory comes
 * in parts, and before a part is used again its registration is given up and
 * another one made, at addresses that no message has named before. What comes late
 * finds no such R_Key, or no such address, and the device drops it.
 */
#ifndef INC_LIB_LANDING_H
#define INC_LIB_LANDING_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/* Entries of a part: a registration in so many messages costs nearly nothing. */
#define INC_LANDING_ENTRIES	256
/* Of 4096 slots. */
#define INC_LANDING_PARTS_MAX	17

/**
 * struct inc_landing - a communicator's
 * @pd: protection domain
 * @mem: memory of all parts
 * @stride: bytes of an entry
 * @nparts: number of parts
 * @part: the one that entries are taken from
 * @used: entries of it that are taken
 * @made: registrations made
 * @mr: registration of each part
 * @va: where that begins, to the switch
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
 * @mem: where it lies
 * @va: what the switch is to call it
 * @rkey: by which R_Key
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
