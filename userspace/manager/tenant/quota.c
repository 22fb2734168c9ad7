// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See quota.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop/loop.h"
#include "tenant/quota.h"

/* --- The policy ---------------------------------------------------------- */

/* Note the result of a reading, for later requests. */
static void note_source(struct tenants *t, const char *how, const char *what)
{
	snprintf(t->result, sizeof(t->result), "%s%s", how, what);
	t->read_at = unix_ms();
}

/* May the file be missing? Only the default one, and until it was first found. */
static bool may_miss(const struct tenants *t)
{
	return !t->path || (t->optional && !t->found &&
			    access(t->path, F_OK) && errno == ENOENT);
}

/*
 * Read the tenants' limits.
 * @path: file; NULL: no limits
 * @optional: no limits until the file exists
 * @err_len: size of @err in bytes
 */
int tenants_open(struct tenants *t, const char *path, bool optional, char *err,
		 size_t err_len)
{
	t->path = path;
	t->optional = optional;
	t->policy = policy_new();
	if (!t->policy) {
		snprintf(err, err_len, "no memory");
		return -ENOMEM;
	}
	return tenants_reload(t, err, err_len);
}

/*
 * Read the file again. A file that is gone is an error: empty it to limit
 * nothing. Returns 0 or -EINVAL.
 * @t: tenants, who keep their groups; @t->result has the result
 * @err: error message; then the limits stay unchanged
 * @err_len: size of @err in bytes
 */
int tenants_reload(struct tenants *t, char *err, size_t err_len)
{
	struct policy *p;
	struct tenant *tn;

	if (may_miss(t)) {
		note_source(t, "nothing is limited: there is no ",
			    t->path ? t->path : "file of limits");
		return 0;
	}
	p = policy_read(t->path, err, err_len);
	if (!p) {
		note_source(t, "the limits are as before: ", err);
		return -EINVAL;
	}
	t->found = true;
	note_source(t, "limits of tenants were read from ", t->path);
	for (tn = t->list; tn; tn = tn->next)
		tn->limits = policy_of(p, tn->name);
	policy_free(t->policy);
	t->policy = p;
	return 0;
}

/*
 * Free all tenants.
 * @t: tenants, none of which has a group
 */
void tenants_close(struct tenants *t)
{
	struct tenant *next;

	while (t->reservations)
		reservation_end(t, t->reservations);
	for (; t->list; t->list = next) {
		next = t->list->next;
		free(t->list);
	}
	policy_free(t->policy);
	t->policy = NULL;
}

/* --- Use ----------------------------------------------------------------- */

/* Find a tenant. Returns the tenant, or NULL: unknown. */
struct tenant *tenant_known(const struct tenants *t, const char *name)
{
	struct tenant *tn;

	for (tn = t->list; tn; tn = tn->next)
		if (!strcmp(tn->name, name))
			break;
	return tn;
}

/*
 * Find a tenant, or add it. Returns the tenant, or NULL: no memory.
 * @name: its name; empty: callers without a tenant
 */
struct tenant *tenant_get(struct tenants *t, const char *name)
{
	struct tenant *tn = tenant_known(t, name);

	if (tn)
		return tn;
	tn = calloc(1, sizeof(*tn));
	if (!tn)
		return NULL;
	snprintf(tn->name, sizeof(tn->name), "%s", name);
	tn->limits = policy_of(t->policy, name);
	tn->next = t->list;
	t->list = tn;
	return tn;
}

/*
 * Name a tenant in a sentence. Returns @buf.
 * @len: size of @buf in bytes
 */
const char *tenant_call(const struct tenant *tn, char *buf, size_t len)
{
	if (tn->name[0])
		snprintf(buf, len, "tenant %s", tn->name);
	else
		snprintf(buf, len, "a caller without a tenant");
	return buf;
}

static bool set_why(char *why, size_t len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool set_why(char *why, size_t len, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, len, fmt, ap);
	va_end(ap);
	return false;
}

/* Get the number left below a limit. */
static uint64_t count_left(uint32_t max, uint64_t used)
{
	if (max == POLICY_NO_LIMIT)
		return UINT64_MAX;
	return max > used ? max - used : 0;
}

static bool size_is_allowed(const struct limits *l, const char *who,
			    uint32_t ranks, char *why, size_t len)
{
	if (ranks < l->max[LIMIT_MIN_RANKS])
		return set_why(why, len, "it has %u ranks, and a group of %s must have at least %u",
			       ranks, who, l->max[LIMIT_MIN_RANKS]);
	if (ranks > l->max[LIMIT_MAX_RANKS])
		return set_why(why, len, "it has %u ranks, and a group of %s may have %u at most",
			       ranks, who, l->max[LIMIT_MAX_RANKS]);
	return true;
}

/* Describe the room that reservations hold, for a sentence. */
static const char *describe_held(uint64_t n, char buf[40])
{
	if (n)
		snprintf(buf, 40, " and %llu reserved", (unsigned long long)n);
	else
		buf[0] = '\0';
	return buf;
}

/* Check whether @groups more, with @ranks ranks in all, are allowed. */
static bool sum_is_allowed(const struct limits *l, const char *who,
			   const struct use *u, uint32_t groups, uint32_t ranks,
			   char *why, size_t len)
{
	uint64_t more = count_left(l->max[LIMIT_RANKS],
				   u->ranks + u->held_ranks);
	char text[40];

	if (count_left(l->max[LIMIT_GROUPS], u->groups +
		       u->held_groups) < groups)
		return set_why(why, len, "%s may have %u groups, and has %llu%s: when one ends there is room for this one",
			       who, l->max[LIMIT_GROUPS],
			       (unsigned long long)u->groups,
			       describe_held(u->held_groups, text));
	if (more < ranks)
		return set_why(why, len, "%s may have %u ranks in all, and has %llu%s: %llu are left, and this group needs %u",
			       who, l->max[LIMIT_RANKS],
			       (unsigned long long)u->ranks,
			       describe_held(u->held_ranks, text),
			       (unsigned long long)more,
			       ranks);
	return true;
}

static bool has_room(const struct tenants *t, const struct tenant *tn,
		     uint32_t groups, uint32_t ranks, char *why, size_t len)
{
	char who[IDENTITY_LEN + 16];

	tenant_call(tn, who, sizeof(who));
	return sum_is_allowed(tn->limits, who, &tn->use, groups, ranks, why,
			      len) &&
	       sum_is_allowed(policy_of_all(t->policy), "all tenants together",
			      &t->use, groups, ranks, why, len);
}

/* Check a wish against limits as if nothing were in use. */
static bool may_ever_have(const struct limits *l, const char *who,
			  uint32_t groups, uint32_t ranks, char *why,
			  size_t len)
{
	if (groups > l->max[LIMIT_GROUPS])
		return set_why(why, len, TENANT_NEVER "%s may have %u groups in all, and it is for %u",
			       who, l->max[LIMIT_GROUPS], groups);
	if (ranks > l->max[LIMIT_RANKS])
		return set_why(why, len, TENANT_NEVER "%s may have %u ranks in all, and it is for %u",
			       who, l->max[LIMIT_RANKS], ranks);
	return true;
}

/*
 * Hold room for a tenant, if it may have it. Returns 0, as reservation_check(),
 * -ENOMEM, -EINVAL: more than the tenant may ever have (TENANT_NEVER), or
 * -ENOBUFS: more than it may have now.
 * @why: result: on failure the reason, and the limit
 * @len: size of @why in bytes
 */
int tenant_reserve(struct tenants *t, const struct reservation *wish,
		   struct reservation **made, char *why, size_t len)
{
	int ret = reservation_check(t, wish, why, len);
	const struct tenant *tn = wish->tenant;
	char who[IDENTITY_LEN + 16];

	if (ret)
		return ret;
	tenant_call(tn, who, sizeof(who));
	if (!may_ever_have(tn->limits, who, wish->groups, wish->ranks, why,
			   len) ||
	    !may_ever_have(policy_of_all(t->policy), "all tenants together",
			   wish->groups, wish->ranks, why, len))
		return -EINVAL;
	if (!has_room(t, wish->tenant, wish->groups, wish->ranks, why,
			     len))
		return -ENOBUFS;
	return reservation_add(t, wish, made, why, len);
}

/*
 * Check whether a tenant may have one more group. Returns true if it may.
 * @r: reservation whose room it takes; NULL: none
 * @why: result: if false, the reason, and the limit
 * @len: size of @why in bytes
 */
bool tenant_admits(const struct tenants *t, const struct tenant *tn,
		   const struct reservation *r, uint32_t ranks, char *why,
		   size_t len)
{
	char who[IDENTITY_LEN + 16];

	tenant_call(tn, who, sizeof(who));
	if (!size_is_allowed(tn->limits, who, ranks, why, len))
		return false;
	return r || has_room(t, tn, 1, ranks, why, len);
}

/* --- Changes ------------------------------------------------------------- */

/*
 * Count a group.
 * @r: reservation whose room it takes, or NULL
 */
void tenant_enter(struct tenants *t, struct tenant *tn, struct reservation *r,
		  uint32_t ranks)
{
	tn->use.groups++;
	tn->use.ranks += ranks;
	t->use.groups++;
	t->use.ranks += ranks;
	if (r)
		reservation_take(t, r, ranks);
}

/*
 * Stop counting a group.
 * @r: reservation whose room it had, or NULL
 */
void tenant_leave(struct tenants *t, struct tenant *tn, struct reservation *r,
		  uint32_t ranks)
{
	tn->use.groups--;
	tn->use.ranks -= ranks;
	t->use.groups--;
	t->use.ranks -= ranks;
	if (r)
		reservation_return(t, r, ranks);
}

/*
 * Report that a group is over its tenant's limits. A tenant gets at most one
 * event a second.
 */
void tenant_refused(struct tenant *tn, struct events *events,
		    const char *group, const char *why)
{
	unsigned int n = pace_take(&tn->pace);

	tn->refused++;
	if (n)
		event_log_of(events, EVENT_OVER_QUOTA, tn->name, group,
			     "%.180s (%u refused since the last such event)",
			     why, n);
}
