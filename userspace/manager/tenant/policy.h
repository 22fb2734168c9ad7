/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Limits of tenants: a file with lines NAME = VALUE. After "tenant = NAME" come
 * the limits of this tenant, after "tenant = *" the limits of all tenants that
 * are not named, after "tenant = -" the limits of callers without a tenant. A
 * missing line means no limit. No I/O except for the file.
 */
#ifndef INC_MANAGER_POLICY_H
#define INC_MANAGER_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "auth/identity.h"

#define POLICY_NO_LIMIT		UINT32_MAX
#define POLICY_TENANTS_MAX	4096
#define POLICY_PRIORITY_MAX	1000
#define POLICY_CLASS_MAX	15
#define POLICY_VLAN_MAX		4094

/**
 * enum policy_limit - kinds of limits
 * @LIMIT_GROUPS: groups at a time
 * @LIMIT_RANKS: ranks of all groups together
 * @LIMIT_MIN_RANKS: ranks that a group must have
 * @LIMIT_MAX_RANKS: ranks that a group may have
 * @LIMIT_SWITCH_TREES: trees at each switch
 * @LIMIT_SWITCH_SLOTS: slots of all trees at each switch
 * @LIMITS: number of limits
 */
enum policy_limit {
	LIMIT_GROUPS,
	LIMIT_RANKS,
	LIMIT_MIN_RANKS,
	LIMIT_MAX_RANKS,
	LIMIT_SWITCH_TREES,
	LIMIT_SWITCH_SLOTS,
	LIMITS
};

/**
 * struct limits - limits of a tenant, or of all together
 * @max: by enum policy_limit; POLICY_NO_LIMIT: none
 * @priority: groups of a higher one that wait for room are placed first; 0 to
 *	POLICY_PRIORITY_MAX
 * @require_key: each group has a key
 * @priority_class: priority of its trees' packets at the switches, 0 to
 *	POLICY_CLASS_MAX
 * @vlan: VLAN that its hosts are in, 1 to POLICY_VLAN_MAX; 0: any
 */
struct limits {
	uint32_t	max[LIMITS];
	uint32_t	priority;
	bool		require_key;
	uint32_t	priority_class;
	uint16_t	vlan;
};

struct policy;

struct policy *policy_new(void);
struct policy *policy_read(const char *path, char *err, size_t err_len);
struct policy *policy_stream(FILE *f, const char *path, char *err,
			     size_t err_len);
void policy_free(struct policy *p);
const struct limits *policy_of(const struct policy *p, const char *tenant);
const struct limits *policy_of_all(const struct policy *p);
const char *policy_tenant(const struct policy *p, size_t i);
const char *limit_name(enum policy_limit limit);

#endif /* INC_MANAGER_POLICY_H */
