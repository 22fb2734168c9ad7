// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* See session.h. All functions are called by threads of the pool. */
#include "fabric/netconf.h"
#include "fabric/switch.h"
#include "fabric/yang.h"

static const char counters[] =
	"<switch xmlns=\"urn:rdma-inc:switch\"><tree><id/>"
	"<state><counter-values/></state></tree></switch>";

/* Begin a session with a switch. Returns NULL on failure. */
struct sw_session *sw_session_open(const struct sw *sw, char *err)
{
	return netconf_open(&sw->target, err);
}

/* End a session. @s: session, or NULL */
void sw_session_close(struct sw_session *s)
{
	netconf_close(s);
}

/*
 * Read the counters of all trees of a switch. Returns 0 or a negative errno value.
 * @each: called for each tree
 */
int sw_session_counters(struct sw_session *s, sw_counters *each, void *ctx,
			char *err)
{
	const struct lyd_node *tree;
	struct lyd_node *data;
	const char *text;
	int ret = netconf_get(s, counters, &data, err);

	if (ret)
		return ret;
	LY_LIST_FOR(lyd_child(data), tree) {
		text = yang_text(yang_child(tree, "state"), "counter-values");
		if (text)
			each(ctx, (uint32_t)yang_number(tree, "id"), text);
	}
	netconf_free(data);
	return 0;
}
