/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How a collective is executed: in one step if its blocks fit into a message of
 * the switch, else in several. Pure functions, tested by test_plan.c.
 *
 * All ranks make the same plan: it depends only on values that all ranks share,
 * and each rank takes part in each message, with or without data.
 */
#ifndef INC_LIB_PLAN_H
#define INC_LIB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rdma_inc_proto.h"

/**
 * struct inc_plan - a collective, as one rank sees it
 * @collective: enum inc_collective
 * @rank: this rank
 * @nranks: number of ranks
 * @root: root rank, 0 if there is none
 * @block: bytes of a block
 * @chunk: maximum bytes of a block in one message
 * @apart: blocks are parts of the caller's, so they do not lie side by side
 * @whole: one step, with messages of the collective itself
 * @steps: number of steps
 */
struct inc_plan {
	uint8_t		collective;
	unsigned int	rank;
	unsigned int	nranks;
	unsigned int	root;
	size_t		block;
	size_t		chunk;
	bool		apart;
	bool		whole;
	uint64_t	steps;
};

/**
 * struct inc_step - the messages that carry the parts of a block
 * @collective: collective of the messages
 * @root: root of the messages
 * @from: first block of the send buffer that this rank sends
 * @to: first block of the receive buffer that holds this rank's result
 * @nfrom: blocks that it sends; 0: none
 * @nto: blocks that it receives; 0: none
 */
struct inc_step {
	uint8_t		collective;
	unsigned int	root;
	unsigned int	from;
	unsigned int	to;
	unsigned int	nfrom;
	unsigned int	nto;
};

unsigned int inc_plan_blocks_in(const struct inc_plan *p);
unsigned int inc_plan_blocks_out(const struct inc_plan *p);
void inc_plan_init(struct inc_plan *p, uint32_t msg_size, uint32_t pmtu,
		   size_t esize);
void inc_plan_step(const struct inc_plan *p, uint64_t i, struct inc_step *s);
void inc_plan_next(const struct inc_plan *p, uint64_t *i, size_t *off);
uint64_t inc_plan_msgs(const struct inc_plan *p);
size_t inc_plan_share(size_t count, size_t esize);
bool inc_plan_is_short(const struct inc_plan *p);

#endif /* INC_LIB_PLAN_H */
