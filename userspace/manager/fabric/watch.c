// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The news of a switch: a thread with a NETCONF session of its own waits for
 * the agent's notifications. That this session ends is news, too.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/switch.h"

#define RETRY_MS	500	/* between attempts to connect */
#define WAIT_MS		500	/* how often to look whether it is to end */

static const struct {
	const char		*name;
	enum sw_news_kind	kind;
} kinds[] = {
	{ "tree-failed", SW_NEWS_TREE_FAILED },
	{ "tree-deleted", SW_NEWS_TREE_DELETED },
	{ "member-error", SW_NEWS_MEMBER_ERROR },
	{ "slot-failed", SW_NEWS_SLOT_FAILED },
	{ "topology-changed", SW_NEWS_LINK },
};

/* --- The thread ---------------------------------------------------------- */

static void arrived(struct work *work)
{
	struct sw_news *news = container_of(work, struct sw_news, work);

	news->sw->heard(news);
	free(news);
}

static struct sw_news *make(struct sw *sw, enum sw_news_kind kind)
{
	struct sw_news *news = calloc(1, sizeof(*news));

	if (!news)
		return NULL;
	news->work.fn = arrived;
	news->sw = sw;
	news->kind = kind;
	news->member = -1;
	news->unlike = -1;
	return news;
}

static void say(struct sw *sw, enum sw_news_kind kind)
{
	struct sw_news *news = make(sw, kind);

	if (news)
		loop_post(sw->loop, &news->work);
}

static int member_of(const struct lyd_node *notif, const char *name)
{
	return yang_child(notif, name) ? (int)yang_number(notif, name) : -1;
}

static void take(struct sw *sw, const struct lyd_node *notif)
{
	bool slot = !strcmp(LYD_NAME(notif), "slot-failed");
	struct sw_news *news = NULL;
	const char *text;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(LYD_NAME(notif), kinds[i].name))
			news = make(sw, kinds[i].kind);
	if (!news)
		return;
	news->tree = (uint32_t)yang_number(notif, "tree-id");
	news->member = member_of(notif, slot ? "wrong-rank" : "rank");
	news->unlike = member_of(notif, "unlike-rank");
	news->status = (unsigned int)yang_number(notif, slot ? "status" :
							       "error");
	news->msg_id = (uint32_t)yang_number(notif, "msg-id");
	text = yang_text(notif, news->kind == SW_NEWS_LINK ? "interface" :
							     "error");
	snprintf(news->text, sizeof(news->text), "%s", text ? text : "");
	loop_post(sw->loop, &news->work);
}

static void listen_to(struct sw *sw, struct netconf *n)
{
	struct lyd_node *notif;
	int ret;

	say(sw, SW_NEWS_WATCHED);
	while (sw->watching) {
		ret = netconf_notif(n, WAIT_MS, &notif);
		if (!ret)
			take(sw, notif);
		lyd_free_tree(notif);
		if (ret == -ENOTCONN)
			break;
	}
	say(sw, SW_NEWS_UNWATCHED);
}

static void *watch(void *arg)
{
	char err[NETCONF_ERROR_LEN];
	struct sw *sw = arg;
	struct netconf *n;

	while (sw->watching) {
		n = netconf_open(&sw->target, err);
		if (n && !netconf_subscribe(n, err))
			listen_to(sw, n);
		netconf_close(n);
		if (sw->watching)
			poll(NULL, 0, RETRY_MS);
	}
	return NULL;
}

/* --- The main loop ------------------------------------------------------- */

/**
 * sw_watch_start() - start to wait for a switch's news
 * @sw: switch, with @heard
 *
 * Return: 0 or a negative errno value.
 */
int sw_watch_start(struct sw *sw)
{
	int ret;

	sw->watching = true;
	ret = -pthread_create(&sw->watcher, NULL, watch, sw);
	if (ret)
		sw->watching = false;
	return ret;
}

/**
 * sw_watch_stop() - end that
 * @sw: switch; its @watching may have been cleared already
 */
void sw_watch_stop(struct sw *sw)
{
	sw->watching = false;
	if (sw->watcher)
	pthread_join(sw->watcher, NULL);
}
