// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inc-amctl event. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/amctl.h"
#include "rdma_inc.pb-c.h"

static void print_event(const RdmaInc__V1__Event *ev)
{
	time_t secs = (time_t)(ev->time / 1000);
	char text[32] = "";
	struct tm tm;

	if (localtime_r(&secs, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	printf("%llu %s.%03d %s %s: %s", (unsigned long long)ev->seq, text,
	       (int)(ev->time % 1000), ev->kind, ev->subject, ev->text);
	printf(ev->tenant[0] ? " (tenant %s)\n" : "\n", ev->tenant);
}

static void print_events(const ProtobufCMessage *msg)
{
	const RdmaInc__V1__Events *list = (const RdmaInc__V1__Events *)msg;
	size_t i;

	for (i = 0; i < list->n_events; i++) {
		/* Print lines, not a list, which would never end. */
		if (ctl_json)
			ctl_print_line(&list->events[i]->base);
		else
			print_event(list->events[i]);
	}
}

static int run_event(int argc, char **argv)
{
	RdmaInc__V1__EventsRequest req = RDMA_INC__V1__EVENTS_REQUEST__INIT;
	bool follow = false, has_from = false;
	char *end;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--follow") || !strcmp(argv[i], "-f")) {
			follow = true;
		} else if (!strcmp(argv[i], "from") && i + 1 < argc) {
			if (has_from)
				return ctl_wrong("event: \"from\" is there twice");
			has_from = true;
			errno = 0;
			req.from = strtoull(argv[++i], &end, 10);
			if (errno || *end || *argv[i] == '-' || !*argv[i])
				return ctl_wrong("event: from \"%s\": must be a number",
						 argv[i]);
		} else if (i || !(ctl_is(argv[i], "show") ||
				   ctl_is(argv[i], "list"))) {
			return ctl_wrong("event: \"%s\" is neither --follow nor from NUMBER",
					 argv[i]);
		}
	}
	if (!follow)
		return ctl_show("ListEvents", &req.base,
				&rdma_inc__v1__events__descriptor, "events",
				print_events);
	return ctl_follow("WatchEvents", &req.base,
			  &rdma_inc__v1__events__descriptor, print_events);
}

static const char *const keywords[] = { "from", NULL };

const struct ctl_object ctl_event = {
	.name	= "event",
	.keywords = keywords,
	.usage	=
	"Usage: inc-amctl event [show] [--follow] [from NUMBER]\n"
	"\n"
	"Up to 4096 events: number, time, kind, what it happened to, and more.\n"
	"--follow: wait for more, until interrupted. from: begin with this number.\n"
	"With -j, --follow prints one object per line.\n",
	.run	= run_event,
};
