/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tenants: what they have, and what is held for them. A tenant is what the
 * certificates or tokens of its users name; all users that name none are one
 * tenant, too. It is known from its first group or reservation on, until the
 * manager ends.
 */
#ifndef INC_MANAGER_TENANT_H
#define INC_MANAGER_TENANT_H

#include <stdbool.h>
#include <stdint.h>

#include "conf/pace.h"
#include "tenant/policy.h"

#define RESERVATION_LEN		64
#define RESERVATIONS_MAX	1024	/* of a tenant, whatever its limits are */

/**
 * struct use - what is taken of a limit
 * @groups: groups, except ending ones
 * @ranks: their ranks
 * @held_groups: groups that reservations hold room for, and which are not there
 * @held_ranks: and ranks
 */
struct use {
	uint64_t	groups;
	uint64_t	ranks;
	uint64_t	held_groups;
	uint64_t	held_ranks;
};

/**
 * struct tenant - who owns groups
 * @next: next one
 * @name: its name; empty: callers without a tenant
 * @limits: what it may have
 * @use: what it has
 * @storing: its requests whose answers wait for the store
 * @refused: ranks that were refused because of limits
 * @pace: of the events that say so
 */
struct tenant {
	struct tenant		*next;
	char			name[IDENTITY_LEN];
	const struct limits	*limits;
	struct use		use;
	unsigned int		storing;
	uint64_t		refused;
	struct pace		pace;
};

/**
 * struct reservation - room for groups of one job
 * @next: next one
 * @tenant: whose it is
 * @name: its name, among the tenant's
 * @requester: who has made it
 * @groups: how many groups there may be
 * @ranks: ranks of all of them together
 * @used_groups: of these, existing ones
 * @used_ranks: and their ranks
 * @until: milliseconds; when it ends; INT64_MAX: when it is deleted
 * @ended: it has ended, and is freed with its last group
 */
struct reservation {
	struct reservation	*next;
	struct tenant		*tenant;
	char			name[RESERVATION_LEN];
	char			requester[IDENTITY_LEN];
	uint32_t		groups;
	uint32_t		ranks;
	uint32_t		used_groups;
	uint32_t		used_ranks;
	int64_t			until;
	bool			ended;
};

/**
 * struct tenants - all tenants
 * @path: file with their limits, or NULL
 * @optional: it need not be there
 * @found: it was there
 * @read_at: milliseconds since 1970; when it was read, or that was tried
 * @result: and what came of it
 * @policy: what it says
 * @list: tenants that had a group
 * @use: what all of them have
 * @reservations: room that is held, the oldest first
 * @nreservations: their number
 */
struct tenants {
	const char	*path;
	bool		optional;
	bool		found;
	int64_t		read_at;
	char		result[512];
	struct policy	*policy;
	struct tenant	*list;
	struct use	use;
	struct reservation *reservations;
	uint32_t	nreservations;
};

#endif /* INC_MANAGER_TENANT_H */
