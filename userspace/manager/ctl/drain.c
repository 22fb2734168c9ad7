// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-amctl switch drain, and resume.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/amctl.h"
#include "rdma_inc.pb-c.h"

static int by_name(const void *a, const void *b)
{
	RdmaInc__V1__SwitchGroup *const *x = a, *const *y = b;

	return ctl_by_name((*x)->name, (*x)->tenant, (*y)->name, (*y)->tenant);
}

static void print_groups(const RdmaInc__V1__SwitchGroups *list,
			 const char *name)
{
	const RdmaInc__V1__SwitchGroup *g;
	size_t i;

	if (list->switch_ && list->switch_->drain[0])
		printf("switch %s: %s, %zu group%s there\n", name,
		       list->switch_->drain, list->n_groups,
		       list->n_groups == 1 ? "" : "s");
	else
		printf("switch %s: it gets new trees\n", name);
	if (!list->switch_ || !list->switch_->drain[0])
		return;
	for (i = 0; i < list->n_groups; i++) {
		g = list->groups[i];
		printf("  group %s%s%s: %s%s\n", g->name,
		       g->tenant[0] ? ", tenant " : "", g->tenant,
		       g->moves ? "moves away" : "stays: ", g->stays);
	}
}

/**
 * ctl_drain() - have a switch drained, or resumed
 * @name: switch
 * @method: "DrainSwitch" or "ResumeSwitch"
 *
 * Return: exit status.
 */
int ctl_drain(const char *name, const char *method)
{
	RdmaInc__V1__SwitchRequest req = RDMA_INC__V1__SWITCH_REQUEST__INIT;
	RdmaInc__V1__SwitchGroups *list;

	req.name = (char *)name;
	list = (void *)ctl_ask(method, &req.base,
			       &rdma_inc__v1__switch_groups__descriptor);
	if (!list)
		return CTL_REFUSED;
	if (list->n_groups)
		qsort(list->groups, list->n_groups, sizeof(*list->groups),
		      by_name);
	if (ctl_json)
		ctl_print_json(&list->base, NULL);
	else
		print_groups(list, name);
	ctl_free(&list->base);
	return CTL_OK;
}
