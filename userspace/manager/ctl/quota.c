// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inc-amctl quota. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ctl/amctl.h"
#include "rdma_inc.pb-c.h"

static bool has_use(const RdmaInc__V1__Limit *l)
{
	return !strcmp(l->name, "groups") || !strcmp(l->name, "ranks");
}

static void print_use(const RdmaInc__V1__Limit *l)
{
	printf("  %s: %llu", l->name, (unsigned long long)l->used);
	if (l->reserved)
		printf(" and %llu reserved", (unsigned long long)l->reserved);
	if (l->limited)
		printf(" of %llu\n", (unsigned long long)l->allowed);
	else
		puts(", no limit");
}

static void print_quota(const char *name, const RdmaInc__V1__Quota *q)
{
	const RdmaInc__V1__Limit *l;
	size_t i;

	fputs(name, stdout);
	if (q->priority)
		printf(", priority %u", q->priority);
	if (q->priority_class)
		printf(", priority-class %u", q->priority_class);
	if (q->vlan)
		printf(", vlan %u", q->vlan);
	if (q->require_key)
		printf(", require-key");
	if (q->refused)
		printf(", %llu refused", (unsigned long long)q->refused);
	putchar('\n');
	for (i = 0; i < q->n_limits; i++) {
		l = q->limits[i];
		if (has_use(l))
			print_use(l);
		else if (l->limited && l->allowed)
			printf("  %s: %llu\n", l->name,
			       (unsigned long long)l->allowed);
	}
}

/* Print the result of the last start, or reload, with the file. */
static void print_read(const RdmaInc__V1__Quotas *list)
{
	time_t at = list->read_at / 1000;
	char text[32] = "";
	struct tm tm;

	if (!list->read[0])
		return;
	if (localtime_r(&at, &tm))
		strftime(text, sizeof(text), "%F %T", &tm);
	printf("%s: %s\n", text, list->read);
}

static void print_all(const ProtobufCMessage *msg)
{
	const RdmaInc__V1__Quotas *list = (const RdmaInc__V1__Quotas *)msg;
	char name[128];
	size_t i;

	print_read(list);
	for (i = 0; i < list->n_quotas; i++) {
		snprintf(name, sizeof(name), "tenant %s",
			 list->quotas[i]->tenant[0] ? list->quotas[i]->tenant :
						      "-");
		print_quota(name, list->quotas[i]);
	}
	if (list->all)
		print_quota("all tenants together", list->all);
}

static int run_quota(int argc, char **argv)
{
	RdmaInc__V1__ListQuotasRequest req =
		RDMA_INC__V1__LIST_QUOTAS_REQUEST__INIT;

	if (argc && ctl_is_show(argv[0])) {
		argc--;
		argv++;
	}
	if (argc > 1)
		return ctl_wrong("quota: one tenant at most");
	if (argc)
		req.tenant = argv[0];
	return ctl_show("ListQuotas", &req.base,
			&rdma_inc__v1__quotas__descriptor, NULL, print_all);
}

const struct ctl_object ctl_quota = {
	.name	= "quota",
	.usage	=
	"Usage: inc-amctl quota [show [TENANT]]\n"
	"\n"
	"What tenants have and may have; \"-\" are callers without a tenant. A client\n"
	"sees its own tenant. The limits are lines of the manager's file tenants.conf;\n"
	"its other lines, unless they have their defaults, and the number of ranks\n"
	"that were refused because of limits follow the name.\n",
	.run	= run_quota,
};
