// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See reserve.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/list.h"
#include "tenant/reserve.h"

static void hold_room(struct tenants *t, struct reservation *r, uint32_t groups,
		      uint32_t ranks)
{
	r->tenant->use.held_groups += groups;
	r->tenant->use.held_ranks += ranks;
	t->use.held_groups += groups;
	t->use.held_ranks += ranks;
}

static void release_room(struct tenants *t, struct reservation *r,
			 uint32_t groups, uint32_t ranks)
{
	r->tenant->use.held_groups -= groups;
	r->tenant->use.held_ranks -= ranks;
	t->use.held_groups -= groups;
	t->use.held_ranks -= ranks;
}

/* Find a reservation. Returns the reservation, or NULL. */
struct reservation *reservation_find(const struct tenants *t,
				     const struct tenant *tn, const char *name)
{
	struct reservation *r;

	for (r = t->reservations; r; r = r->next)
		if (r->tenant == tn && !strcmp(r->name, name))
			return r;
	return NULL;
}

static unsigned int count_of(const struct tenants *t, const struct tenant *tn)
{
	const struct reservation *r;
	unsigned int n = 0;

	for (r = t->reservations; r; r = r->next)
		n += r->tenant == tn;
	return n;
}

/*
 * Check whether a reservation makes sense. tenant_reserve() checks whether the
 * tenant may have it. Returns 0, -EINVAL, -EEXIST, or -ENOBUFS: there are too
 * many.
 * @wish: tenant, name, requester, groups, ranks, end
 * @len: size of @why in bytes
 */
int reservation_check(const struct tenants *t, const struct reservation *wish,
		      char *why, size_t len)
{
	size_t n;

	for (n = 0; wish->name[n] > ' ' && wish->name[n] <= '~'; n++)
		;
	if (!n || wish->name[n]) {
		snprintf(why, len, "a reservation's name has 1 to %d printable ASCII characters, without spaces",
			 RESERVATION_LEN - 1);
		return -EINVAL;
	}
	if (!wish->groups || wish->ranks < wish->groups) {
		snprintf(why, len, "%u groups of %u ranks in all: there must be one group at least, and a rank for each",
			 wish->groups, wish->ranks);
		return -EINVAL;
	}
	if (reservation_find(t, wish->tenant, wish->name)) {
		snprintf(why, len, "there is a reservation \"%s\" already",
			 wish->name);
		return -EEXIST;
	}
	if (count_of(t, wish->tenant) >= RESERVATIONS_MAX) {
		snprintf(why, len, "there are %d reservations, which is all that the manager keeps of a tenant",
			 RESERVATIONS_MAX);
		return -ENOBUFS;
	}
	return 0;
}

/*
 * Add a reservation, and hold its room. Returns 0 or -ENOMEM.
 * @len: size of @why in bytes
 */
int reservation_add(struct tenants *t, const struct reservation *wish,
		    struct reservation **made, char *why, size_t len)
{
	struct reservation **link, *r = malloc(sizeof(*r));

	if (!r) {
		snprintf(why, len, "no memory");
		return -ENOMEM;
	}
	*r = *wish;
	r->next = NULL;
	for (link = &t->reservations; *link; link = &(*link)->next)
		;
	*link = r;
	t->nreservations++;
	hold_room(t, r, r->groups, r->ranks);
	*made = r;
	return 0;
}

/*
 * Remove a reservation, and release its room.
 * @r: reservation; its groups go on like all others
 */
void reservation_end(struct tenants *t, struct reservation *r)
{
	list_remove(t->reservations, r);
	t->nreservations--;
	release_room(t, r, r->groups - r->used_groups,
		     r->ranks - r->used_ranks);
	r->ended = true;
	if (!r->used_groups)
		free(r);
}

/* Check whether a reservation has room for one more group. Returns true if so. */
bool reservation_fits(const struct reservation *r, uint32_t ranks)
{
	return r->used_groups < r->groups && ranks <= r->ranks - r->used_ranks;
}

/* Take a group's room from a reservation. */
void reservation_take(struct tenants *t, struct reservation *r, uint32_t ranks)
{
	r->used_groups++;
	r->used_ranks += ranks;
	release_room(t, r, 1, ranks);
}

/*
 * Return the room of a group that ends.
 * @r: reservation; must not be used afterwards if it has ended
 */
void reservation_return(struct tenants *t, struct reservation *r,
			uint32_t ranks)
{
	r->used_groups--;
	r->used_ranks -= ranks;
	if (!r->ended)
		hold_room(t, r, 1, ranks);
	else if (!r->used_groups)
		free(r);
}
