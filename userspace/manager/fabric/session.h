/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A session with a switch: operations on its trees need one. The program's other
 * files do not know what carries it; agent.c and netconf.c do, by NETCONF.
 */
#ifndef INC_MANAGER_FABRIC_SESSION_H
#define INC_MANAGER_FABRIC_SESSION_H

#include <stdint.h>

#define SW_ERROR_LEN	512

struct sw;
struct sw_session;

/* Called with a tree's counters, as member_counts_add() reads them. */
typedef void sw_counters(void *ctx, uint32_t tree, const char *text);

struct sw_session *sw_session_open(const struct sw *sw, char *err);
void sw_session_close(struct sw_session *s);
int sw_session_counters(struct sw_session *s, sw_counters *each, void *ctx,
			char *err);

#endif /* INC_MANAGER_FABRIC_SESSION_H */
