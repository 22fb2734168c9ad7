// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Adding, deleting and listing reservations. A client sees and changes only its
 * own tenant's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "rpc/message.h"
#include "rdma_inc.pb-c.h"

/* Get the tenant that a request is about. NULL after an error. */
static const char *tenant_of(const char *name, struct rpc_answer *a)
{
	const char *own = a->who ? a->who->tenant : "";
	struct identity id;
	char why[128];

	if (!*name)
		name = own;
	else if (!strcmp(name, "-"))
		name = "";
	if (answer_hides(a) && strcmp(name, own)) {
		answer_refuse(a, EACCES, "reservations of other tenants are for operators");
		return NULL;
	}
	/* Check the tenant's name as in certificates; any user's name will do. */
	if (!identity_set(&id, "any", name, "client", why, sizeof(why)))
		return name;
	answer_refuse(a, EINVAL, "%s", why);
	return NULL;
}

static void fill_reservation(RdmaInc__V1__Reservation *out,
			     const struct reservation *r)
{
	rdma_inc__v1__reservation__init(out);
	out->name = (char *)r->name;
	out->tenant = r->tenant->name;
	out->groups = r->groups;
	out->ranks = r->ranks;
	if (r->until != INT64_MAX)
		out->seconds = (uint32_t)((r->until - now_ms() + 999) / 1000);
	out->used_groups = r->used_groups;
	out->used_ranks = r->used_ranks;
	out->by = (char *)r->requester;
}

static void reply_reservation(struct rpc_answer *a, const struct reservation *r)
{
	RdmaInc__V1__Reservation out;

	fill_reservation(&out, r);
	answer_reply(a, &out.base);
}

/* Set the owner of a wish. An operator may name somebody else. */
static bool set_by(struct reservation *wish, const char *by,
		   struct rpc_answer *a)
{
	const char *own = answer_by(a);
	struct identity id;
	char why[128];

	if (*by && strcmp(by, own) && answer_hides(a)) {
		answer_refuse(a, EACCES, "reservations in another's name are for operators");
		return false;
	}
	if (*by && identity_set(&id, by, "", "client", why, sizeof(why))) {
		answer_refuse(a, EINVAL, "by whom: %s", why);
		return false;
	}
	snprintf(wish->requester, sizeof(wish->requester), "%s",
		 *by ? by : own);
	return true;
}

/*
 * Check that the groups of a wish can exist at all, whatever tenants' limits are.
 * Else the room held for them would count against limits that are set later.
 */
static bool may_be(const struct manager *m, const struct reservation *wish,
		   struct rpc_answer *a)
{
	uint64_t trees = (uint64_t)m->fabric.ids.last - m->fabric.ids.first + 1;

	if (wish->groups > trees)
		answer_refuse(a, EINVAL, "reservation \"%s\": " TENANT_NEVER "the manager has IDs for %llu trees, and it is for %u groups",
			      wish->name, (unsigned long long)trees,
			      wish->groups);
	else if (wish->ranks > (uint64_t)wish->groups * AM_RANKS_MAX)
		answer_refuse(a, EINVAL, "reservation \"%s\": " TENANT_NEVER "a group has %u ranks at most, and it is for %u groups of %u ranks in all",
			      wish->name, AM_RANKS_MAX, wish->groups,
			      wish->ranks);
	return !a->err;
}

/* Answer AddReservation. */
void answer_reserve(struct manager *m, const void *msg,
		    struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__Reservation *req = msg;
	struct reservation wish = {
		.groups	= req->groups ? req->groups : 1,
		.ranks	= req->ranks,
		.until	= INT64_MAX,
	}, *made;
	const char *tenant;
	char why[256];
	int ret;

	if (strlen(req->name) >= sizeof(wish.name)) {
		answer_refuse(a, EINVAL, "a reservation's name has %zu characters at most",
			      sizeof(wish.name) - 1);
		return;
	}
	if (req->seconds > AM_RESERVE_MAX_S) {
		answer_refuse(a, EINVAL, "a reservation lasts %u seconds at most",
			      AM_RESERVE_MAX_S);
		return;
	}
	tenant = tenant_of(req->tenant, a);
	if (!tenant)
		return;
	wish.tenant = tenant_get(&m->tenants, tenant);
	if (!wish.tenant) {
		answer_refuse(a, ENOMEM, "no memory");
		return;
	}
	memcpy(wish.name, req->name, strlen(req->name) + 1);
	if (!set_by(&wish, req->by, a))
		return;
	if (!may_be(m, &wish, a))
		return;
	if (req->seconds)
		wish.until = now_ms() + (int64_t)req->seconds * 1000;
	ret = reserve_add(m, &wish, &made, why, sizeof(why));
	if (ret)
		answer_refuse(a, -ret, "reservation \"%s\": %s", wish.name,
			      why);
	else
		reply_reservation(a, made);
}

/*
 * Answer DeleteReservation.
 * @a: answer: the reservation before its deletion
 */
void answer_unreserve(struct manager *m, const void *msg,
		      struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__ReservationRequest *req = msg;
	const char *tenant = tenant_of(req->tenant, a);
	struct reservation *r = m->tenants.reservations;
	char why[IDENTITY_LEN + 32];

	if (!tenant)
		return;
	while (r && (strcmp(r->name, req->name) ||
		     strcmp(r->tenant->name, tenant)))
		r = r->next;
	if (!r) {
		answer_refuse(a, ENOENT, "there is no reservation \"%.63s\"",
			      req->name);
		return;
	}
	reply_reservation(a, r);
	snprintf(why, sizeof(why), "it was deleted, by %s", answer_by(a));
	reserve_end(m, r, why);
}

static bool is_asked_for(const struct reservation *r, const char *name,
			 const char *tenant)
{
	return (!tenant || !strcmp(r->tenant->name, tenant)) &&
	       (!*name || !strcmp(r->name, name));
}

/* Answer ListReservations. */
void answer_reservations(struct manager *m, const void *msg,
			 struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__ReservationRequest *req = msg;
	RdmaInc__V1__Reservations out = RDMA_INC__V1__RESERVATIONS__INIT;
	uint32_t n = m->tenants.nreservations;
	const char *tenant = NULL;
	const struct reservation *r;
	RdmaInc__V1__Reservation *rows = calloc(n + 1, sizeof(*rows));

	out.reservations = calloc(n + 1, sizeof(*out.reservations));
	if (*req->tenant || answer_hides(a))
		tenant = tenant_of(req->tenant, a);
	if (!rows || !out.reservations)
		answer_refuse(a, ENOMEM, "no memory");
	for (r = m->tenants.reservations; r && !a->err; r = r->next) {
		if (!is_asked_for(r, req->name, tenant))
			continue;
		fill_reservation(&rows[out.n_reservations], r);
		out.reservations[out.n_reservations] =
			&rows[out.n_reservations];
		out.n_reservations++;
	}
	if (!a->err && *req->name && !out.n_reservations)
		answer_refuse(a, ENOENT, "there is no reservation \"%.63s\"",
			      req->name);
	if (!a->err)
		answer_reply(a, &out.base);
	free(out.reservations);
	free(rows);
}
