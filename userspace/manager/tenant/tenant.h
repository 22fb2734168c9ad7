/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Tenants: their use of limits, and the room held for them. The certificates or
 * tokens of users name their tenant; all users without one are one tenant, too.
 * A tenant is known from its first group or reservation until the manager ends.
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
 * struct use - use of limits
 * @groups: groups, except ending ones
 * @ranks: their ranks
 * @held_groups: groups without the existing ones that reservations hold room for
 * @held_ranks: ranks without the existing ones that reservations hold room for
 */
struct use {
	uint64_t	groups;
	uint64_t	ranks;
	uint64_t	held_groups;
	uint64_t	held_ranks;
};

/**
 * struct tenant - owner of groups
 * @next: next tenant
 * @name: its name; empty: callers without a tenant
 * @limits: its limits
 * @use: its use of them
 * @storing: its requests whose answers wait for the store
 * @refused: ranks that were refused because of limits
 * @pace: limits events of refusals
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
 * @next: next reservation
 * @tenant: tenant
 * @name: name, unique among the tenant's
 * @requester: user who has made it
 * @groups: number of groups
 * @ranks: ranks of all groups together
 * @used_groups: existing groups
 * @used_ranks: ranks of existing groups
 * @until: milliseconds; when it ends; INT64_MAX: when it is deleted
 * @ended: has ended, and is freed with its last group
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
 * @optional: the file may be missing at first
 * @found: the file was found
 * @read_at: milliseconds since 1970; last attempt to read the file
 * @result: result of this attempt
 * @policy: its content
 * @list: tenants that had a group or reservation
 * @use: use of all tenants together
 * @reservations: reservations, the oldest first
 * @nreservations: number of reservations
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
