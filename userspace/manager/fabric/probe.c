// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Have an agent probe for hosts that no switch has seen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/netconf.h"
#include "fabric/switch.h"
#include "rendezvous/network.h"

/* Limit of <probe>, see the agent's YANG model. */
#define ADDRS_MAX	64

static const char head[] = "<probe xmlns=\"urn:rdma-inc:switch\">";
static const char tail[] = "</probe>";

struct probe {
	struct sw_op	op;
	char		xml[sizeof(head) + sizeof(tail) + ADDRS_MAX * 80];
};

static int run_probe(struct sw_op *op, struct sw_session *n)
{
	return netconf_act(n, container_of(op, struct probe, op)->xml, op->err);
}

static void end_probe(struct sw_op *op)
{
	if (op->ret)
		log_debug("switch %s: cannot ask for hosts: %s",
			  sw_name(op->sw), op->err);
	free(container_of(op, struct probe, op));
}

/*
 * Have a switch probe for hosts. The answer to a later sw_refresh() has the
 * hosts that it has found.
 * @n: number of addresses; only 64 of them are probed for
 */
void sw_probe(struct sw *sw, const struct inc_rdv_addr *const *addrs,
	      unsigned int n)
{
	struct probe *p = sw->up ? calloc(1, sizeof(*p)) : NULL;
	char text[64], *at;
	unsigned int i;

	if (!p)
		return;
	at = stpcpy(p->xml, head);
	for (i = 0; i < n && i < ADDRS_MAX; i++)
		at += sprintf(at, "<address>%s</address>",
			      inc_rdv_addr_str(addrs[i], text, sizeof(text)));
	strcpy(at, tail);
	p->op.run = run_probe;
	p->op.done = end_probe;
	/* A probe changes nothing that another manager could rely on. */
	p->op.reads = true;
	sw_submit(sw, &p->op);
}
