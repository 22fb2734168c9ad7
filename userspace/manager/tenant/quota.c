// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See quota.h.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "tenant/quota.h"
#include "tenant/victims.h"

#define PAUSE_MS	1000	/* between events about one tenant */

/* --- The policy ---------------------------------------------------------- */

/* Note what was read, for later requests. */
static void note_source(struct tenants *t, const char *how, const char *what)
{
	snprintf(t->result, sizeof(t->result), "%s%s", how, what);
	t->read_at = unix_ms();
}

/* Nobody has named the file, and it has not been there yet. */
static bool may_miss(const struct tenants *t)
{
	return !t->path || (t->optional && !t->found &&
			    access(t->path, F_OK) && errno == ENOENT);
}

/**
 * tenants_open() - read what tenants may have
 * @t: tenants, of which there are none
 * @path: file; NULL: nothing is limited
 * @optional: nothing is limited until it is there
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value.
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

/**
 * tenants_reload() - read the file again
 * @t: tenants; what they have stays theirs, and @t->said says what was done
 * @err: error message; then the limits are as they were
 * @err_len: size of @err in bytes
 *
 * A file that was there and is gone is an error: to limit nothing, it is emptied.
 *
 * Return: 0 or -EINVAL.
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

/**
 * tenants_close() - forget all tenants
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

/* --- What they have ------------------------------------------------------ */

/**
 * tenant_get() - find a tenant, or make it known
 * @t: tenants
 * @name: its name; empty: callers without a tenant
 *
 * Return: tenant, or NULL: no memory.
 */
struct tenant *tenant_get(struct tenants *t, const char *name)
{
	struct tenant *tn;

	for (tn = t->list; tn; tn = tn->next)
		if (!strcmp(tn->name, name))
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

/**
 * tenant_call() - name a tenant in a sentence
 * @tn: tenant
 * @buf: result
 * @len: size of @buf in bytes
 *
 * Return: @buf.
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

/* How many more there may be. */
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

/* What reservations hold, for a sentence. */
static const char *describe_held(uint64_t n, char buf[40])
{
	if (n)
		snprintf(buf, 40, " and %llu reserved", (unsigned long long)n);
	else
		buf[0] = '\0';
	return buf;
}

/* @groups more, of @ranks ranks together. */
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

/* What is more than @l allows even while nobody has anything. */
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

/**
 * tenant_reserve() - hold room for a tenant, if it may have it
 * @t: tenants
 * @wish: as for reservation_check()
 * @made: result: reservation
 * @why: result: if not, why, and what is allowed
 * @len: size of @why in bytes
 *
 * Return: 0, as reservation_check(), -ENOMEM, -EINVAL: it is more than the tenant
 * may ever have (TENANT_NEVER), or -ENOBUFS: more than it may have now.
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

/**
 * tenant_admits() - check whether a tenant may have one more group
 * @t: tenants
 * @tn: tenant
 * @r: reservation whose room it takes; NULL: none
 * @ranks: the group's ranks
 * @why: result: if not, why, and what is allowed
 * @len: size of @why in bytes
 *
 * Return: true if it may.
 */
bool tenant_admits(const struct tenants *t, const struct tenant *tn,
		   const struct reservation *r, uint32_t ranks, char *why,
		   size_t len)
{
	char who[IDENTITY_LEN + 16];

	tenant_call(tn, who, sizeof(who));
	if (!size_is_allowed(tn->limits, who, ranks, why, len))
		return false;
	if (r)
		return true;
	if (!sum_is_allowed(tn->limits, who, &tn->use, 1, ranks, why, len))
		return false;
	if (has_room(t, tn, 1, ranks, why, len))
		return true;
	if (tn->limits->priority)
		set_why(why + strlen(why), len - strlen(why), "%s",
			VICTIMS_NO_HELP);
	return false;
}

/* --- What groups of a lower priority have -------------------------------- */

/*
 * What would be left if all groups of tenants with a lower priority had ended,
 * except groups whose room a reservation would keep.
 */
static struct use without_lower(const struct tenants *t, uint32_t priority)
{
	const struct reservation *r;
	struct use u = t->use;
	const struct tenant *tn;

	for (tn = t->list; tn; tn = tn->next)
		if (tn->limits->priority < priority) {
			u.groups -= tn->use.groups;
			u.ranks -= tn->use.ranks;
		}
	for (r = t->reservations; r; r = r->next)
		if (r->tenant->limits->priority < priority) {
			u.groups += r->used_groups;
			u.ranks += r->used_ranks;
		}
	return u;
}

/**
 * tenant_may_overcommit() - check whether others would have to end for a group
 * @t: tenants
 * @tn: its tenant
 * @ranks: its ranks
 *
 * Return: true if the group is within its tenant's own limits, and what all
 * tenants together may have is enough for it without groups of tenants with a
 * lower priority. No reservation ends for it, nor a group that has its room from
 * one.
 */
bool tenant_may_overcommit(const struct tenants *t, const struct tenant *tn,
			   uint32_t ranks)
{
	struct use rest = without_lower(t, tn->limits->priority);
	char why[256];

	return size_is_allowed(tn->limits, "", ranks, why, sizeof(why)) &&
	       sum_is_allowed(tn->limits, "", &tn->use, 1, ranks, why,
			      sizeof(why)) &&
	       sum_is_allowed(policy_of_all(t->policy), "", &rest, 1, ranks,
			      why, sizeof(why));
}

/**
 * tenant_overcommit() - let a group that is counted have the room of others
 * @t: tenants
 * @ranks: its ranks
 *
 * They end when all its ranks are there: that may never be. Until then nobody
 * else gets what they leave.
 */
void tenant_overcommit(struct tenants *t, uint32_t ranks)
{
	t->overcommit.groups++;
	t->overcommit.ranks += ranks;
}

/**
 * tenant_end_overcommit() - a group has its room now, or needs it no longer
 * @t: tenants
 * @ranks: its ranks
 */
void tenant_end_overcommit(struct tenants *t, uint32_t ranks)
{
	t->overcommit.groups--;
	t->overcommit.ranks -= ranks;
}

static uint64_t count_over(uint64_t used, uint32_t max)
{
	return max != POLICY_NO_LIMIT && used > max ? used - max : 0;
}

/**
 * tenant_lacks() - tell how much must end for an overcommitted group
 * @t: tenants
 * @ranks: its ranks
 *
 * What others are overcommitted by is not its business.
 *
 * Return: groups, and ranks of groups.
 */
struct tenant_amount tenant_lacks(const struct tenants *t, uint32_t ranks)
{
	const struct limits *l = policy_of_all(t->policy);
	const struct use *u = &t->use;

	return (struct tenant_amount) {
		.groups = count_over(u->groups +
				     u->held_groups - (t->overcommit.groups - 1),
				     l->max[LIMIT_GROUPS]),
		.ranks = count_over(u->ranks +
				    u->held_ranks - (t->overcommit.ranks - ranks),
				    l->max[LIMIT_RANKS]),
	};
}

/* --- What changes -------------------------------------------------------- */

/**
 * tenant_enter() - count a group
 * @t: tenants
 * @tn: its tenant
 * @r: reservation whose room it takes, or NULL
 * @ranks: its ranks
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

/**
 * tenant_leave() - count a group no longer
 * @t: tenants
 * @tn: its tenant
 * @r: reservation whose room it had, or NULL
 * @ranks: its ranks
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

/**
 * tenant_refused() - report that a group is more than its tenant may have
 * @tn: tenant
 * @events: events
 * @group: name of the group
 * @why: what tenant_admits() has said
 *
 * A tenant that tries often gets one event a second.
 */
void tenant_refused(struct tenant *tn, struct events *events,
		    const char *group, const char *why)
{
	int64_t now = now_ms();

	tn->refused++;
	tn->unlogged++;
	if (tn->said_at && now - tn->said_at < PAUSE_MS)
		return;
	tn->said_at = now;
	event_log_of(events, EVENT_OVER_QUOTA, tn->name, group,
		     "%.180s (%u refused since the last such event)", why,
		     tn->unlogged);
	tn->unlogged = 0;
}
