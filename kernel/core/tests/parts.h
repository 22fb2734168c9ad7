/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots of a private tree, with parts that are counted: the memory of a slot
 * ends at a page that faults, and each part has an allocation of its own.
 */
#ifndef _INC_TESTS_PARTS_H
#define _INC_TESTS_PARTS_H

#include <linux/types.h>

#include "common.h"
#include "core/slot.h"

/**
 * struct slot_test - a slot and its expected result
 * @geom: geometry of the tree
 * @s: the slot
 * @rng: random numbers
 * @mem: area at whose end the slot's memory lies
 * @data: for each rank, room for the longest message
 * @want: result by the reference
 * @halves: scratch memory of the reference
 * @old: result of the previous message
 * @sent: for each rank, chunks that it sent + 1; 0 before it began
 * @cpus: CPUs that bring parts, each time a random one
 */
struct slot_test {
	struct inc_slot_geom	geom;
	struct inc_slot		s;
	struct inc_rng		rng;
	void			*mem;
	u8			*data;
	u8			*want;
	u8			*halves;
	u8			*old;
	u16			*sent;
	u32			cpus;
};

/* Parts allocated and not freed yet. */
extern int test_parts_live;

struct inc_part *test_part(const void *data, u16 len);

int slot_test_init(struct kunit *test);
void slot_test_exit(struct kunit *test);
void slot_test_tree(struct kunit *test, u16 ranks, u16 pmtu, u16 max_chunks,
		    u32 msg_id);
struct inc_hdr test_hdr(const struct slot_test *t, u8 collective, u8 dtype,
			u8 op, u32 msg_id, u32 nelem);
struct inc_msg test_msg(struct kunit *test, u8 collective, u8 dtype, u8 op,
			u32 msg_id, u32 nelem);
void test_fill(struct slot_test *t, const struct inc_msg *msg);
enum inc_slot_verdict test_begin(struct slot_test *t, u16 rank,
				 const struct inc_msg *msg);
bool test_add(struct slot_test *t, u16 rank, const struct inc_msg *msg);
void test_reference(struct slot_test *t, const struct inc_msg *msg, void *to);
void test_expect_chunk(struct kunit *test, const struct inc_msg *msg,
		       u16 chunk, const void *want);

static inline u8 *test_data(const struct slot_test *t, u16 rank)
{
	return t->data + (size_t)rank * t->geom.max_chunks * t->geom.pmtu;
}

#endif /* _INC_TESTS_PARTS_H */
