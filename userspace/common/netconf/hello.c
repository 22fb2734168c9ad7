// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A peer's hello (RFC 6241, section 8.1).
 */
#include <errno.h>
#include <libyang/libyang.h>
#include <stdlib.h>
#include <string.h>

#include "netconf/carrier.h"

#define BASE	"urn:ietf:params:netconf:base:1."

static bool is_named(const struct lyd_node *node, const char *name)
{
	return !node->schema && !strcmp(LYD_NAME(node), name);
}

/* Which versions of NETCONF it has, as bits. */
static unsigned int versions_of(const struct lyd_node *list)
{
	const struct lyd_node *node;
	unsigned int found = 0;
	const char *text;

	LY_LIST_FOR(lyd_child(list), node) {
		if (!is_named(node, "capability"))
			continue;
		text = lyd_get_value(node);
		text += strspn(text, " \t\r\n");
		if (strncmp(text, BASE, strlen(BASE)))
			continue;
		text += strlen(BASE);
		if (*text && strchr(" \t\r\n", text[1]))
			found |= *text == '1' ? 2 : *text == '0';
	}
	return found;
}

/*
 * Understand a hello. Returns 1 if the peer speaks NETCONF 1.1, 0 if only 1.0,
 * -EPROTO if it is no hello.
 * @id: result: the session's ID; 0: it has none
 */
int hello_read(const struct ly_ctx *ctx, const char *text, uint32_t *id)
{
	struct lyd_node *hello = NULL;
	const struct lyd_node *node;
	unsigned int versions = 0;
	const char *ns;

	*id = 0;
	if (lyd_parse_data_mem(ctx, text, LYD_XML, LYD_PARSE_ONLY |
			       LYD_PARSE_OPAQ, 0, &hello) || !hello) {
		lyd_free_all(hello);
		return -EPROTO;
	}
	ns = hello->schema ? NULL :
	     ((const struct lyd_node_opaq *)hello)->name.module_ns;
	if (ns && !strcmp(ns, NETCONF_NS) && is_named(hello, "hello"))
		LY_LIST_FOR(lyd_child(hello), node) {
			if (is_named(node, "capabilities"))
				versions |= versions_of(node);
			else if (is_named(node, "session-id"))
				*id = (uint32_t)strtoul(lyd_get_value(node),
							NULL, 10);
		}
	lyd_free_all(hello);
	return versions ? !!(versions & 2) : -EPROTO;
}
