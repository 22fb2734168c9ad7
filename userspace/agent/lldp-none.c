// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Replaces lldp.c where there is no liblldpctl.
 */
#include "lldp.h"

#include "conf/log.h"

/* Report that there is no LLDP. Returns 0. */
int lldp_start(struct agent *a, const char *sock,
	       void (*changed)(struct agent *a))
{
	log_info("LLDP: built without liblldpctl: links are learnt from the forwarding database");
	return 0;
}

/* Undo lldp_start(). */
void lldp_stop(struct agent *a)
{
}

/* Forget nothing. */
void lldp_free(struct agent *a)
{
}

/* Add nothing. */
void lldp_add(struct agent *a, struct lyd_node *sw)
{
}
