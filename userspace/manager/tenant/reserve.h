/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Room that is held for jobs which have not begun, and counts against the
 * tenant's limits. A group takes its room from a reservation if its ranks name
 * it, and returns it when it ends.
 */
#ifndef INC_MANAGER_RESERVE_H
#define INC_MANAGER_RESERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenant/tenant.h"

struct reservation *reservation_find(const struct tenants *t,
				     const struct tenant *tn, const char *name);
int reservation_check(const struct tenants *t, const struct reservation *wish,
		      char *why, size_t len);
int reservation_add(struct tenants *t, const struct reservation *wish,
		    struct reservation **made, char *why, size_t len);
void reservation_end(struct tenants *t, struct reservation *r);
bool reservation_fits(const struct reservation *r, uint32_t ranks);
void reservation_take(struct tenants *t, struct reservation *r,
		      uint32_t ranks);
void reservation_return(struct tenants *t, struct reservation *r,
			uint32_t ranks);

#endif /* INC_MANAGER_RESERVE_H */
