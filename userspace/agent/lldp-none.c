// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Replaces lldp.c where there is no liblldpctl.
 */
#include "lldp.h"

#include "conf/log.h"

/* Report that there is no LLDP. Returns 0. */
int lldp_start(const struct agent *a, const char *sock, void (*changed)(void))
{
	log_info("LLDP: built without liblldpctl: links are learnt from the forwarding database");
	return 0;
}

/* Undo lldp_start(). */
void lldp_stop(void)
{
}

/* Add nothing. */
void lldp_add(struct lyd_node *sw)
{
}
