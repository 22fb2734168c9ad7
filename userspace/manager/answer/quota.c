// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Use and limits of tenants. A client sees only its own tenant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "rdma_inc.pb-c.h"
#include "conf/array.h"

/**
 * struct row - a tenant
 * @msg: message
 * @list: pointers to @limits
 * @limits: use and limits
 */
struct row {
	RdmaInc__V1__Quota	msg;
	RdmaInc__V1__Limit	*list[LIMITS];
	RdmaInc__V1__Limit	limits[LIMITS];
};

/**
 * struct table - an answer under construction
 * @n: number of @rows
 * @rows: tenants
 */
struct table {
	size_t		n;
	struct row	**rows;
};

static void fill_row(struct row *r, const char *name, const struct limits *l,
		     const struct use *u)
{
	RdmaInc__V1__Limit *out;
	int i;

	rdma_inc__v1__quota__init(&r->msg);
	r->msg.tenant = (char *)name;
	r->msg.priority = l->priority;
	r->msg.require_key = l->require_key;
	r->msg.priority_class = l->priority_class;
	r->msg.vlan = l->vlan;
	r->msg.limits = r->list;
	r->msg.n_limits = LIMITS;
	for (i = 0; i < LIMITS; i++) {
		out = &r->limits[i];
		r->list[i] = out;
		rdma_inc__v1__limit__init(out);
		out->name = (char *)limit_name((enum policy_limit)i);
		out->limited = l->max[i] != POLICY_NO_LIMIT;
		if (out->limited)
			out->allowed = l->max[i];
	}
	r->limits[LIMIT_GROUPS].used = u->groups;
	r->limits[LIMIT_GROUPS].reserved = u->held_groups;
	r->limits[LIMIT_RANKS].used = u->ranks;
	r->limits[LIMIT_RANKS].reserved = u->held_ranks;
}

static void add_row(const struct manager *m, struct table *t, const char *name)
{
	static const struct use nothing;
	const struct tenant *tn = m->tenants.list;
	struct row *r;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->rows[i]->msg.tenant, name))
			return;
	r = ARRAY_ROOM(t->rows, t->n) ? calloc(1, sizeof(*r)) : NULL;
	if (!r)
		return;
	t->rows[t->n++] = r;
	while (tn && strcmp(tn->name, name))
		tn = tn->next;
	fill_row(r, name, policy_of(m->tenants.policy, name),
		 tn ? &tn->use : &nothing);
	r->msg.refused = tn ? tn->refused : 0;
}

/* Add tenants that have or had a group, and tenants that the file names. */
static void add_all(const struct manager *m, struct table *t)
{
	const struct tenant *tn;
	const char *name;
	size_t i;

	for (tn = m->tenants.list; tn; tn = tn->next)
		add_row(m, t, tn->name);
	for (i = 0; (name = policy_tenant(m->tenants.policy, i)); i++)
		if (strcmp(name, "*"))
			add_row(m, t, strcmp(name, "-") ? name : "");
}

/* Answer ListQuotas. */
void answer_quotas(struct manager *m, const void *msg,
		   struct rpc_stream *stream, struct rpc_answer *a)
{
	const RdmaInc__V1__ListQuotasRequest *req = msg;
	RdmaInc__V1__Quotas out = RDMA_INC__V1__QUOTAS__INIT;
	bool own = answer_hides(a);
	struct table t = { .n = 0 };
	struct row all;
	size_t i;

	if (own && req->tenant[0] && strcmp(req->tenant, a->who->tenant)) {
		answer_refuse(a, EACCES, "the limits of other tenants are for operators");
	} else {
		if (own || req->tenant[0])
			add_row(m, &t, own ? a->who->tenant : req->tenant);
		else
			add_all(m, &t);
		fill_row(&all, "", policy_of_all(m->tenants.policy),
			 &m->tenants.use);
		/* Only the first two limits apply to all tenants together. */
		all.msg.n_limits = LIMIT_RANKS + 1;
		out.all = own ? NULL : &all.msg;
		if (!own) {
			out.read = (char *)m->tenants.result;
			out.read_at = m->tenants.read_at;
		}
		out.n_quotas = t.n;
		out.quotas = (RdmaInc__V1__Quota **)t.rows;
		answer_reply(a, &out.base);
	}
	for (i = 0; i < t.n; i++)
		free(t.rows[i]);
	free(t.rows);
}
