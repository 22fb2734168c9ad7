// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What a rank says whose connection by RDMA CM fails: who it was, why, and what
 * may help. librdmacm is faked, as is the clock, so that nothing lasts. KTAP.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/cm-wire.h"
#include "plugins/am/cm.h"

#define STEP_MS		1	/* each look at the clock */
#define PMTU		1024
#define SIZE		4096
#define SLOTS		64
#define QPN		0x800001

int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);

/**
 * struct fate - how a connection goes
 * @name: of the case
 * @wants: event that something else comes for
 * @event: what comes
 * @status: of the event
 * @data: its private data, or NULL
 * @len: bytes of it
 * @call: this call fails instead, with EINVAL or ENODEV
 * @err: errno value that is the result
 * @says: what the text has in it
 */
struct fate {
	const char		*name;
	enum rdma_cm_event_type	wants;
	enum rdma_cm_event_type	event;
	int			status;
	const void		*data;
	uint8_t			len;
	const char		*call;
	int			err;
	const char		*says;
};

static const struct inc_cm_rej no_key = {
	.version = INC_CM_VERSION, .reason = INC_CM_NO_KEY,
	.text = "no tree has such a member\x1b[2J",
};

static const struct inc_cm_rej taken = {
	.version = INC_CM_VERSION, .reason = INC_CM_TAKEN,
	.text = "it is connected",
};

static const struct inc_cm_rej strange = {
	.version = INC_CM_VERSION, .reason = 77, .text = "a new reason",
};

static const struct inc_cm_rep old_version = { .version = INC_CM_VERSION + 1 };
static const struct inc_cm_rep other_tree = { .version = INC_CM_VERSION };

#define AT_ADDR		.wants = RDMA_CM_EVENT_ADDR_RESOLVED
#define AT_ROUTE	.wants = RDMA_CM_EVENT_ROUTE_RESOLVED
#define AT_ANSWER	.wants = RDMA_CM_EVENT_CONNECT_RESPONSE
#define REJECTED	AT_ANSWER, .event = RDMA_CM_EVENT_REJECTED
#define WITH(x)		.data = &(x), .len = sizeof(x)

static const struct fate fates[] = {
	{ "nobody listens", REJECTED, .status = 8, .err = ECONNREFUSED,
	  .says = "nobody listens there: does inc-agentd --cm run there?" },
	{ "the host's CM refuses", REJECTED, .status = 28, .err = ECONNREFUSED,
	  .says = "the host refuses: does inc-agentd --cm run there?" },
	{ "data of somebody else", REJECTED, .status = 28, .data = "\0\1\2",
	  .len = 3, .err = ECONNREFUSED, .says = "does inc-agentd --cm run" },
	{ "the agent: no such member", REJECTED, WITH(no_key), .status = 28,
	  .err = EACCES, .says = "refused: no tree has such a member?[2J" },
	{ "the agent: connected", REJECTED, WITH(taken), .status = 28,
	  .err = EBUSY, .says = "refused: it is connected" },
	{ "the agent: a reason of later", REJECTED, WITH(strange), .status = 28,
	  .err = EPROTO, .says = "refused: a new reason" },
	{ "no device", AT_ADDR, .event = RDMA_CM_EVENT_ADDR_ERROR,
	  .status = -ENODEV, .err = ENODEV, .says = "is there a route? (No such" },
	{ "no way", AT_ROUTE, .event = RDMA_CM_EVENT_ROUTE_ERROR,
	  .status = -ETIMEDOUT, .err = ETIMEDOUT, .says = "there is no way there" },
	{ "no answer of the host", AT_ANSWER,
	  .event = RDMA_CM_EVENT_UNREACHABLE, .status = -ETIMEDOUT,
	  .err = ETIMEDOUT, .says = "UDP port 4791 not filtered?" },
	{ "an event without a reason", AT_ANSWER,
	  .event = RDMA_CM_EVENT_DISCONNECTED, .err = EHOSTUNREACH,
	  .says = "it has ended the connection" },
	{ "the device is removed", AT_ANSWER,
	  .event = RDMA_CM_EVENT_DEVICE_REMOVAL, .err = EHOSTUNREACH,
	  .says = "this host's RDMA device was removed" },
	{ "an event that means nothing", AT_ANSWER,
	  .event = RDMA_CM_EVENT_MULTICAST_JOIN, .err = EHOSTUNREACH,
	  .says = "its answer is not understood" },
	{ "an answer without data", AT_ANSWER,
	  .event = RDMA_CM_EVENT_CONNECT_RESPONSE, .err = EPROTO,
	  .says = "is it inc-agentd's?" },
	{ "another version", AT_ANSWER,
	  .event = RDMA_CM_EVENT_CONNECT_RESPONSE, WITH(old_version),
	  .err = EPROTO, .says = "of one release?" },
	{ "another tree", AT_ANSWER, .event = RDMA_CM_EVENT_CONNECT_RESPONSE,
	  WITH(other_tree), .err = EPROTO,
	  .says = "the switch has another tree than the manager: pmtu 0" },
	{ "no module", .call = "rdma_create_event_channel", .err = ENODEV,
	  .says = "is the module rdma_ucm loaded here?" },
	{ "an address of no device", .call = "rdma_create_ep", .err = ENODEV,
	  .says = "10.0.0.7 of this host cannot be used: No such device; is it an address of an RDMA device?" },
	{ "the call to connect", .call = "rdma_connect", .err = ENODEV,
	  .says = "asking for a connection failed: No such device" },
	{ "silence", AT_ANSWER, .event = RDMA_CM_EVENT_TIMEWAIT_EXIT,
	  .err = ETIMEDOUT, .says = "no answer within 10 s" },
};

static const struct fate *fate;
static atomic_long clock_ms;
static enum rdma_cm_event_type next;
static unsigned int asked;

/* --- librdmacm, and the clock -------------------------------------------- */

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	long ms = atomic_fetch_add(&clock_ms, STEP_MS);

	(void)id;
	t->tv_sec = ms / 1000;
	t->tv_nsec = ms % 1000 * 1000000;
	return 0;
}

/* Nothing ever comes. */
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	while (n--)
		fds[n].revents = 0;
	atomic_fetch_add(&clock_ms, timeout);
	return 0;
}

static int outcome(const char *call)
{
	if (!fate->call || strcmp(fate->call, call))
		return 0;
	errno = ENODEV;
	return -1;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *c;

	if (outcome(__func__))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (c)
		c->fd = eventfd(0, EFD_CLOEXEC);
	return c;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res,
		   struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	(void)res;
	(void)pd;
	(void)attr;
	if (outcome(__func__))
		return -1;
	*id = calloc(1, sizeof(**id));
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	id->channel = channel;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      struct sockaddr *dst, int timeout_ms)
{
	(void)id;
	(void)src;
	(void)dst;
	(void)timeout_ms;
	next = RDMA_CM_EVENT_ADDR_RESOLVED;
	return outcome(__func__);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	(void)id;
	(void)timeout_ms;
	next = RDMA_CM_EVENT_ROUTE_RESOLVED;
	return outcome(__func__);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	(void)id;
	(void)param;
	asked++;
	next = RDMA_CM_EVENT_CONNECT_RESPONSE;
	return outcome(__func__);
}

int rdma_get_cm_event(struct rdma_event_channel *channel,
		      struct rdma_cm_event **event)
{
	bool here = !fate->call && next == fate->wants;
	struct rdma_cm_event *ev;

	(void)channel;
	if (here && fate->event == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
		errno = EAGAIN;
		return -1;
	}
	ev = calloc(1, sizeof(*ev));
	if (!ev)
		return -1;
	ev->event = here ? fate->event : next;
	ev->status = here ? fate->status : 0;
	ev->param.conn.private_data = here ? fate->data : NULL;
	ev->param.conn.private_data_len = here ? fate->len : 0;
	*event = ev;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	return 0;
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr,
		      int *mask)
{
	(void)id;
	(void)attr;
	(void)mask;
	return 0;
}

int rdma_establish(struct rdma_cm_id *id)
{
	(void)id;
	return 0;
}

/* --- Cases --------------------------------------------------------------- */

static bool goes(const struct fate *f, unsigned int number)
{
	static const char who[] = "RDMA CM to 10.0.0.1 port 18515: ";
	struct am_cm_peers peers = {
		.own = { .len = 4, .bytes = { 10, 0, 0, 7 } },
		.port = 18515,
		.tree = {
			.addr = { .len = 4, .bytes = { 10, 0, 0, 1 } },
			.pmtu = PMTU, .msg_size = SIZE, .slots = SLOTS,
			.qpn = QPN,
		},
	};
	struct am_cm_result r = { .err = -1 };
	int wake = eventfd(0, EFD_CLOEXEC);
	struct am_cm *cm;
	uint64_t n;
	bool ok;

	fate = f;
	asked = 0;
	cm = am_cm_start(&peers, wake);
	ok = cm && read(wake, &n, sizeof(n)) == sizeof(n) &&
	     am_cm_done(cm, &r) && r.err == f->err &&
	     !strncmp(r.text, who, strlen(who)) && strstr(r.text, f->says);
	/* Who may only be late is asked again, nobody else. */
	if (ok && f->err == ECONNREFUSED)
		ok = asked > 1;
	else if (ok)
		ok = asked <= 1;
	printf("%sok %u - %s", ok ? "" : "not ", number, f->name);
	if (ok)
		putchar('\n');
	else
		printf(" # %d, asked %u times: %s\n", r.err, asked, r.text);
	am_cm_stop(cm);
	close(wake);
	return ok;
}

int main(void)
{
	unsigned int i, n = sizeof(fates) / sizeof(fates[0]);
	bool ok = true;

	printf("KTAP version 1\n1..%u\n", n);
	for (i = 0; i < n; i++)
		ok &= goes(&fates[i], i + 1);
	return !ok;
}
