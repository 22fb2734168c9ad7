// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inc-amctl task. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "conf/unit.h"
#include "ctl/amctl.h"
#include "rdma_inc.pb-c.h"

static void print_task(const RdmaInc__V1__Task *t)
{
	char in[UNIT_LEN], out[UNIT_LEN];

	printf("%s %s: %s", t->kind, t->name, t->state);
	if (t->why[0])
		printf(": %s", t->why);
	if (t->tenant[0])
		printf(", tenant %s", t->tenant);
	if (t->ranks)
		printf(", %u of %u ranks, %u switches, %u levels", t->present,
		       t->ranks, t->switches, t->levels);
	printf(", in %s/s out %s/s, %.0f messages/s", unit_rate(t->rx_rate, in),
	       unit_rate(t->tx_rate, out), t->message_rate);
	printf(", %s in, %s out", unit_rate((double)t->rx_bytes, in),
	       unit_rate((double)t->tx_bytes, out));
	if (t->trouble)
		printf(", %llu retransmissions and errors",
		       (unsigned long long)t->trouble);
	if (t->waits_for[0])
		printf(", waits for %s", t->waits_for);
	putchar('\n');
}

static void print_tasks(const ProtobufCMessage *msg)
{
	const RdmaInc__V1__Tasks *list = (const RdmaInc__V1__Tasks *)msg;
	size_t i;

	for (i = 0; i < list->n_tasks; i++) {
		/* Print lines, not a list, which would never end. */
		if (ctl_json)
			ctl_print_line(&list->tasks[i]->base);
		else
			print_task(list->tasks[i]);
	}
}

static void print_history(const ProtobufCMessage *msg)
{
	const RdmaInc__V1__History *h = (const RdmaInc__V1__History *)msg;
	char text[32] = "", in[UNIT_LEN], out[UNIT_LEN];
	struct tm tm;
	time_t at;
	size_t i;

	for (i = 0; i < h->n_rx_rate; i++) {
		at = (time_t)(h->last - (int64_t)(h->n_rx_rate - 1 - i));
		if (localtime_r(&at, &tm))
			strftime(text, sizeof(text), "%H:%M:%S", &tm);
		printf("%s in %s/s out %s/s, %.0f messages/s, %.0f retransmissions and errors/s\n",
		       text, unit_rate(h->rx_rate[i], in),
		       unit_rate(h->tx_rate[i], out), h->message_rate[i],
		       h->trouble_rate[i]);
	}
}

static int run_task(int argc, char **argv)
{
	RdmaInc__V1__TasksRequest req = RDMA_INC__V1__TASKS_REQUEST__INIT;
	bool follow = false, history = false, switches = false;
	bool clients = false;
	int i;

	req.kind = (char *)"task";
	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--follow") || !strcmp(argv[i], "-f"))
			follow = true;
		else if (!strcmp(argv[i], "--history"))
			history = true;
		else if (!strcmp(argv[i], "--switches"))
			switches = true;
		else if (!strcmp(argv[i], "--clients"))
			clients = true;
		else if (req.name[0] && !req.tenant[0] &&
			 (argv[i][0] != '-' || !argv[i][1]))
			req.tenant = argv[i];
		else if (argv[i][0] == '-' || req.name[0])
			return ctl_wrong("task: \"%s\" is too much; try \"inc-amctl task help\"",
					 argv[i]);
		else if (i || !ctl_is_show(argv[i]))
			req.name = argv[i];
	}
	if (switches && clients)
		return ctl_wrong("task: --switches or --clients, not both");
	if (switches || clients)
		req.kind = (char *)(switches ? "switch" : "client");
	if (req.tenant[0] && strcmp(req.kind, "task"))
		return ctl_wrong("task: a tenant has no switches and clients");
	if (history && (follow || !req.name[0]))
		return ctl_wrong("task: --history needs a name, and no --follow");
	if (history)
		return ctl_show("GetHistory", &req.base,
				&rdma_inc__v1__history__descriptor, NULL,
				print_history);
	if (!follow)
		return ctl_show("ListTasks", &req.base,
				&rdma_inc__v1__tasks__descriptor, "tasks",
				print_tasks);
	return ctl_follow("WatchTasks", &req.base,
			  &rdma_inc__v1__tasks__descriptor, print_tasks);
}

const struct ctl_object ctl_task = {
	.name	= "task",
	.usage	=
	"Usage: inc-amctl task [show] [--switches | --clients] [NAME [TENANT]]\n"
	"                      [--follow | --history]\n"
	"\n"
	"What groups do: state, ranks, payload of their hosts per second and in all.\n"
	"--switches, --clients: what those do instead. --follow: each second, until\n"
	"interrupted. --history: the last hour, a line for each second.\n"
	"With -j, --follow prints one object per line. TENANT: whose task, if several\n"
	"have one of that name; \"-\": no tenant.\n",
	.run	= run_task,
};
