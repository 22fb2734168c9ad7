/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Use of tenants, and whether they may have more. Groups report their begin and
 * end.
 */
#ifndef INC_MANAGER_QUOTA_H
#define INC_MANAGER_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/event.h"
#include "tenant/reserve.h"

/* Prefix of refusals that are final. Slurm's prolog knows it. */
#define TENANT_NEVER	"this can never be reserved: "

int tenants_open(struct tenants *t, const char *path, bool optional, char *err,
		 size_t err_len);
int tenants_reload(struct tenants *t, char *err, size_t err_len);
void tenants_close(struct tenants *t);

struct tenant *tenant_known(const struct tenants *t, const char *name);
struct tenant *tenant_get(struct tenants *t, const char *name);
const char *tenant_call(const struct tenant *tn, char *buf, size_t len);
int tenant_reserve(struct tenants *t, const struct reservation *wish,
		   struct reservation **made, char *why, size_t len);
bool tenant_admits(const struct tenants *t, const struct tenant *tn,
		   const struct reservation *r, uint32_t ranks, char *why,
		   size_t len);
void tenant_enter(struct tenants *t, struct tenant *tn, struct reservation *r,
		  uint32_t ranks);
void tenant_leave(struct tenants *t, struct tenant *tn, struct reservation *r,
		  uint32_t ranks);
void tenant_refused(struct tenant *tn, struct events *events,
		    const char *group, const char *why);

#endif /* INC_MANAGER_QUOTA_H */
