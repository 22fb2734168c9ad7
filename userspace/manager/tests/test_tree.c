// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * fabric/tree.c: trees that are made, or are not what was configured, as an agent
 * says that lies, or runs another version. Its session is faked. KTAP.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/netconf.h"
#include "fabric/schema.h"
#include "fabric/tree.h"

/* Of each leaf one. */
static const char *const good[] = {
	"<slots>64</slots>", "<msg-size>4096</msg-size>", "<pmtu>1024</pmtu>",
	"<first-msg-id>7</first-msg-id>", "<dead-time>350</dead-time>",
	"<traffic-class>104</traffic-class>", "<qpn>17</qpn>", "<psn>5</psn>",
};

#define SETTINGS	6

static unsigned int number, failures, deleted;
static const char *instead;
static const char *unrouted;	/* error-path, if there is no route */

static void ok(bool passed, const char *what)
{
	printf("%sok %u - %s\n", passed ? "" : "not ", ++number, what);
	failures += !passed;
}

/* --- In place of netconf.c ----------------------------------------------- */

int netconf_edit(struct sw_session *n, const char *config, char *err)
{
	(void)n;
	(void)err;
	deleted += strstr(config, "\"remove\"") != NULL;
	return unrouted ? -ENETUNREACH : 0;
}

const char *netconf_error_path(const struct sw_session *n)
{
	(void)n;
	return unrouted;
}

int netconf_get(struct sw_session *n, const char *filter,
		struct lyd_node **data, char *err)
{
	char xml[2048];
	size_t i, len;

	(void)n;
	(void)filter;
	(void)err;
	strcpy(xml, "<switch xmlns=\"urn:rdma-inc:switch\"><tree><id>3</id>");
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (i == SETTINGS)
			strcat(xml, "<member><rank>0</rank><local-addr>10.0.0.1</local-addr>");
		len = strcspn(good[i], ">");
		strcat(xml, strncmp(instead, good[i], len + 1) ? good[i] :
								 instead);
	}
	strcat(xml, "</member></tree></switch>");
	return lyd_parse_data_mem(schema_get(), xml, LYD_XML,
				  LYD_PARSE_ONLY | LYD_PARSE_OPAQ, 0, data) ?
	       -EPROTO : 0;
}

void netconf_free(struct lyd_node *data)
{
	lyd_free_siblings(data);
}

/* --- Cases --------------------------------------------------------------- */

/*
 * Is a tree made, if the agent says this, in place of what is good? @wished: 64
 * slots, and so on.
 */
static bool made(const char *says, bool wished)
{
	struct tree_member member = { .known = true, .peer.addr.len = 4 };
	char err[SW_ERROR_LEN] = "";
	struct tree t = { .id = 3, .n = 1, .members = &member };
	int ret;

	if (wished) {
		t.settings.slots = 64;
		t.settings.msg_size = 4096;
		t.settings.pmtu = 1024;
		t.settings.first_msg_id = 7;
		t.has_first_msg_id = true;
		t.settings.dead_time = 350;
	}
	instead = says;
	deleted = 0;
	ret = tree_make(&t, NULL, err);
	if (!ret)
		return t.settings.slots && member.own.qpn == 17 && !deleted;
	if (ret != -EPROTO || deleted != 1 ||
	    strcmp(err, "tree 3 is not as it was configured"))
		ok(false, err);
	return false;
}

/* Which member has the agent no route to, by the path of its error? */
static int without_route(const char *path)
{
	struct tree_member members[12] = { { .known = true } };
	char err[SW_ERROR_LEN] = "";
	struct tree t = { .id = 3, .n = 12, .members = members };
	int ret;

	unrouted = path;
	ret = tree_make(&t, NULL, err);
	unrouted = NULL;
	return ret == -ENETUNREACH ? t.unrouted : ret;
}

int main(void)
{
	static const char *const wrong[] = {
		"<slots>4294967295</slots>", "<slots>4294967297</slots>",
		"<slots>0</slots>", "<slots>8192</slots>", "<slots>63</slots>",
		"<msg-size>4294967295</msg-size>", "<msg-size>0</msg-size>",
		"<msg-size>131072</msg-size>", "<msg-size>4095</msg-size>",
		"<pmtu>0</pmtu>", "<pmtu>8192</pmtu>", "<pmtu>1000</pmtu>",
		"<dead-time>60001</dead-time>",
		"<traffic-class>256</traffic-class>",
		"<first-msg-id>4294967296</first-msg-id>",
		"<qpn>0</qpn>", "<qpn>16777216</qpn>", "<qpn>4294967313</qpn>",
		"<psn>16777216</psn>",
	};
	static const char *const unlike[] = {
		"<slots>32</slots>", "<msg-size>8192</msg-size>",
		"<pmtu>4096</pmtu>", "<dead-time>60000</dead-time>",
		"<first-msg-id>8</first-msg-id>",
	};
	size_t i;

	puts("KTAP version 1");
	ok(made("", true), "as it was configured");
	ok(made("", false), "as the kernel has chosen");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(!made(wrong[i], false), wrong[i]);
	for (i = 0; i < sizeof(unlike) / sizeof(unlike[0]); i++)
		ok(made(unlike[i], false) && !made(unlike[i], true), unlike[i]);
	ok(without_route("/incs:switch/tree[id='3']/member[rank='11']/peer-addr") == 11 &&
	   without_route("/incs:switch/tree[id='3']/member[rank='12']") == -1 &&
	   without_route("/incs:switch/tree[id='3']/member[rank='99999999999']") == -1 &&
	   without_route("/incs:switch/tree[id='3']/parent") == -1 &&
	   without_route("") == -1, "a member without a route");
	printf("1..%u\n", number);
	return failures != 0;
}
