/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Which groups end for another one. No I/O; the same input gives the same
 * groups.
 */
#ifndef INC_MANAGER_VICTIMS_H
#define INC_MANAGER_VICTIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is said then to a tenant with a priority. */
#define VICTIMS_NO_HELP	"; groups with a lower priority would not make room"

/**
 * struct candidate - a group that may end for another one
 * @priority: its tenant's
 * @born_ms: when it began; a later one ends first
 * @ctx: the group
 */
struct candidate {
	uint32_t	priority;
	uint64_t	born_ms;
	void		*ctx;
};

void victims_order(struct candidate *list, size_t n);
bool victims_choose(bool *ends, size_t n,
		    bool (*fits)(void *ctx, const bool *ends),
		    bool (*hurry)(void *ctx), void *ctx);

#endif /* INC_MANAGER_VICTIMS_H */
