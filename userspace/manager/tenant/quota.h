/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What tenants have now, and whether they may have more. A tenant is what the
 * certificates or tokens of its users name; those that name none are one, too.
 * It is known from its first group on, until the manager ends. Groups say when
 * they begin and end.
 */
#ifndef INC_MANAGER_QUOTA_H
#define INC_MANAGER_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/event.h"
#include "tenant/policy.h"

/**
 * struct tenant - who owns groups
 * @next: next one
 * @name: its name; empty: callers without a tenant
 * @limits: what it may have
 * @groups: groups that it has, but those that are ending
 * @ranks: their ranks
 * @refused: ranks that were refused because of limits
 * @said_at: milliseconds; when an event has said so last; 0: never
 * @unsaid: how many were refused since
 */
struct tenant {
	struct tenant		*next;
	char			name[IDENTITY_LEN];
	const struct limits	*limits;
	uint32_t		groups;
	uint32_t		ranks;
	uint64_t		refused;
	int64_t			said_at;
	unsigned int		unsaid;
};

/**
 * struct tenants - all tenants
 * @path: file with their limits, or NULL
 * @policy: what it says
 * @list: tenants that had a group
 * @groups: groups of all of them
 * @ranks: and their ranks
 */
struct tenants {
	const char	*path;
	struct policy	*policy;
	struct tenant	*list;
	uint32_t	groups;
	uint32_t	ranks;
};

int tenants_open(struct tenants *t, const char *path, char *err,
		 size_t err_len);
int tenants_reload(struct tenants *t, char *err, size_t err_len);
void tenants_close(struct tenants *t);

struct tenant *tenant_get(struct tenants *t, const char *name);
const char *tenant_call(const struct tenant *tn, char *buf, size_t len);
bool tenant_admits(const struct tenants *t, const struct tenant *tn,
		   uint32_t ranks, char *why, size_t len);
void tenant_enter(struct tenants *t, struct tenant *tn, uint32_t ranks);
void tenant_leave(struct tenants *t, struct tenant *tn, uint32_t ranks);
void tenant_refused(struct tenant *tn, struct events *events,
		    const char *group, const char *why);

#endif /* INC_MANAGER_QUOTA_H */
