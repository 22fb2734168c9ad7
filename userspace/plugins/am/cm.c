// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See cm.h. All waiting is done in a thread, which ends when the switch has
 * answered; the connection stays until am_cm_stop(). The agent gives its reason
 * for a REJ in private data. Without such data, the host's CM itself refused (no
 * listener right now, or too many requests): the request is repeated.
 *
 * A later end of the connection has no effect: the switch's agent may have been
 * restarted, and the queue pairs keep working.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/cm-wire.h"
#include "cm.h"
#include "conf/clock.h"
#include "conf/thread.h"

/* Limit of all attempts; the kernel repeats a request after 4.3 seconds. */
#define TOTAL_MS	10000
#define AGAIN_MS	100	/* between attempts */
#define REJ_NO_SERVICE	8	/* IB: "invalid service ID" */

/**
 * struct am_cm - a connection
 * @peers: the two ends
 * @wake: eventfd, written when @result is ready
 * @stop: eventfd: give up
 * @thread: makes the connection
 * @until: milliseconds; when to give up
 * @channel: RDMA CM event channel
 * @id: RDMA CM identifier of the connection
 * @result: the outcome, if @done
 * @done: the thread is done
 * @told: am_cm_done() has returned the result
 */
struct am_cm {
	struct am_cm_peers		peers;
	int				wake;
	int				stop;
	pthread_t			thread;
	int64_t				until;
	struct rdma_event_channel	*channel;
	struct rdma_cm_id		*id;
	struct am_cm_result		result;
	_Atomic bool			done;
	bool				told;
};

/* --- Results ------------------------------------------------------------- */

static int set_error(struct am_cm *cm, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Mask unprintable text of peers: users see it. Returns -@err. */
static int set_error(struct am_cm *cm, int err, const char *fmt, ...)
{
	struct am_cm_result *r = &cm->result;
	char why[160], addr[64], *c;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	for (c = why; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	r->err = err;
	snprintf(r->text, sizeof(r->text), "RDMA CM to %s port %u: %s",
		 inc_rdv_addr_str(&cm->peers.tree.addr, addr, sizeof(addr)),
		 cm->peers.port, why);
	return -err;
}

static int failed_call(struct am_cm *cm, const char *what)
{
	int err = errno;

	return set_error(cm, err, "%s failed: %s", what, strerror(err));
}

static const int errs[] = {
	[INC_CM_VERSION_UNKNOWN] = EPROTO,
	[INC_CM_MALFORMED]	= EPROTO,
	[INC_CM_NO_KEY]		= EACCES,
	[INC_CM_TAKEN]		= EBUSY,
	[INC_CM_MISMATCH]	= EINVAL,
	[INC_CM_REFUSED]	= EHOSTUNREACH,
};

/* Explain a REJ. Returns -EAGAIN if the agent did not send it. */
static int explain_rejection(struct am_cm *cm, const struct rdma_cm_event *ev)
{
	const struct inc_cm_rej *rej = ev->param.conn.private_data;
	int err = EPROTO;

	if (!rej || ev->param.conn.private_data_len < sizeof(*rej) ||
	    !rej->version) {
		set_error(cm, ECONNREFUSED,
			  "%s: does inc-agentd --cm run there?",
			  ev->status == REJ_NO_SERVICE ?
			  "nobody listens there" : "the host refuses");
		return -EAGAIN;
	}
	if (rej->reason < sizeof(errs) / sizeof(errs[0]) && errs[rej->reason])
		err = errs[rej->reason];
	return set_error(cm, err, "refused: %.*s", INC_CM_TEXT_LEN, rej->text);
}

/* --- Events -------------------------------------------------------------- */

/* Explain an event, with a hint for the user. */
static const char *event_words(enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
		return "no RDMA device of this host reaches it: is there a route?";
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return "there is no way there";
	case RDMA_CM_EVENT_UNREACHABLE:
		return "it does not answer: is the switch up, and UDP port 4791 not filtered?";
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return "no connection can be made";
	case RDMA_CM_EVENT_DISCONNECTED:
		return "it has ended the connection";
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return "this host's RDMA device was removed";
	default:
		return "its answer is not understood";
	}
}

static int explain_event(struct am_cm *cm, const struct rdma_cm_event *ev)
{
	if (ev->event == RDMA_CM_EVENT_REJECTED)
		return explain_rejection(cm, ev);
	if (ev->status < 0)
		return set_error(cm, -ev->status, "%s (%s)",
				 event_words(ev->event), strerror(-ev->status));
	return set_error(cm, EHOSTUNREACH, "%s", event_words(ev->event));
}

/* Check that the switch's reply agrees with the manager's "joined". */
static int check_reply(struct am_cm *cm, const struct rdma_conn_param *p)
{
	const struct inc_rdv_joined *tree = &cm->peers.tree;
	struct inc_cm_rep rep;

	if (!p->private_data || p->private_data_len < sizeof(rep))
		return set_error(cm, EPROTO, "the answer says nothing of the tree: is it inc-agentd's?");
	memcpy(&rep, p->private_data, sizeof(rep));
	if (rep.version != INC_CM_VERSION)
		return set_error(cm, EPROTO, "the answer is of version %u, not %u: are inc-agentd there and libinc-am here of one release?",
				 rep.version, INC_CM_VERSION);
	if (ntohs(rep.pmtu) != tree->pmtu ||
	    ntohl(rep.msg_size) != tree->msg_size ||
	    ntohs(rep.slots) != tree->slots ||
	    ntohl(rep.first_msg_id) != tree->first_msg_id)
		return set_error(cm, EPROTO, "the switch has another tree than the manager: pmtu %u, messages of %u bytes, %u slots",
				 ntohs(rep.pmtu), ntohl(rep.msg_size),
				 ntohs(rep.slots));
	return 0;
}

/* Wait until @fd is readable, at most until @until. */
static int wait_readable(struct am_cm *cm, int fd, int64_t until)
{
	struct pollfd pfd[] = {
		{ .fd = cm->stop, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	int64_t now = now_ms();
	int n;

	n = poll(pfd, 2, until > now ? (int)(until - now) : 0);
	if (pfd[0].revents)
		return -ECANCELED;
	return n > 0 ? 0 : n && errno != EINTR ? -errno : -ETIMEDOUT;
}

static int wait_event(struct am_cm *cm, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *ev;
	int ret;

	while (rdma_get_cm_event(cm->channel, &ev)) {
		if (errno != EAGAIN)
			return failed_call(cm, "waiting for the answer");
		ret = wait_readable(cm, cm->channel->fd, cm->until);
		if (ret == -ETIMEDOUT && now_ms() < cm->until)
			continue;
		if (ret == -ETIMEDOUT)
			return set_error(cm, ETIMEDOUT, "no answer within %d s",
					 TOTAL_MS / 1000);
		if (ret)
			return ret;
	}
	ret = ev->event == want ? 0 : explain_event(cm, ev);
	if (!ret && want == RDMA_CM_EVENT_CONNECT_RESPONSE)
		ret = check_reply(cm, &ev->param.conn);
	rdma_ack_cm_event(ev);
	return ret;
}

/* --- Steps --------------------------------------------------------------- */

/*
 * Create an ID at the rank's own address. RDMA_PS_TCP is for RC only, and only
 * rdma_create_ep() takes another type of queue pair. The ID is passive: with an
 * active one, rdma_create_ep() would block until the switch answers.
 */
static int create_id(struct am_cm *cm)
{
	struct sockaddr_storage own;
	struct rdma_addrinfo at = {
		.ai_flags = RAI_PASSIVE,
		.ai_port_space = cm->peers.uc ? RDMA_PS_IB : RDMA_PS_TCP,
		.ai_qp_type = cm->peers.uc ? IBV_QPT_UC : IBV_QPT_RC,
		.ai_src_addr = (struct sockaddr *)&own,
	};
	char addr[64];

	at.ai_src_len = inc_rdv_addr_to_sockaddr(&cm->peers.own, 0, &own);
	if (rdma_create_ep(&cm->id, &at, NULL, NULL))
		return set_error(cm, errno, "%s of this host cannot be used: %s; is it an address of an RDMA device?",
				 inc_rdv_addr_str(&cm->peers.own, addr,
						  sizeof(addr)),
						  strerror(errno));
	if (rdma_migrate_id(cm->id, cm->channel))
		return failed_call(cm, "waiting for events");
	return 0;
}

static int open_id(struct am_cm *cm)
{
	int flags;

	cm->channel = rdma_create_event_channel();
	if (!cm->channel)
		return set_error(cm, errno, "/dev/infiniband/rdma_cm: %s; is the module rdma_ucm loaded here?",
				 strerror(errno));
	flags = fcntl(cm->channel->fd, F_GETFL);
	if (fcntl(cm->channel->fd, F_SETFL, flags | O_NONBLOCK))
		return failed_call(cm, "making its file non-blocking");
	return create_id(cm);
}

static void close_id(struct am_cm *cm)
{
	if (cm->id)
		rdma_destroy_id(cm->id);
	if (cm->channel)
		rdma_destroy_event_channel(cm->channel);
	cm->id = NULL;
	cm->channel = NULL;
}

static int resolve_addr(struct am_cm *cm)
{
	struct sockaddr_storage to;
	int ret;

	inc_rdv_addr_to_sockaddr(&cm->peers.tree.addr, cm->peers.port, &to);
	if (rdma_resolve_addr(cm->id, NULL, (struct sockaddr *)&to, TOTAL_MS))
		return failed_call(cm, "looking for its address");
	ret = wait_event(cm, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (ret)
		return ret;
	if (rdma_resolve_route(cm->id, TOTAL_MS))
		return failed_call(cm, "looking for the way there");
	return wait_event(cm, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int ask_agent(struct am_cm *cm)
{
	const struct inc_rdv_joined *tree = &cm->peers.tree;
	const struct inc_cm_req req = {
		.version = INC_CM_VERSION,
		.flags = INC_CM_F_KEEP,
		.pmtu = htons((uint16_t)tree->pmtu),
		.tree_id = htonl(tree->tree_id),
		.rank = htons(cm->peers.member),
		.qpn = htonl(tree->qpn),
		.rkey = htonl(tree->rkey),
	};
	struct rdma_conn_param p = {
		.private_data = &req,
		.private_data_len = sizeof(req),
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = cm->peers.own_qpn,
	};

	if (rdma_connect(cm->id, &p))
		return failed_call(cm, "asking for a connection");
	return wait_event(cm, RDMA_CM_EVENT_CONNECT_RESPONSE);
}

static int take_psns(struct am_cm *cm)
{
	struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	int mask;

	if (rdma_init_qp_attr(cm->id, &rtr, &mask) ||
	    rdma_init_qp_attr(cm->id, &rts, &mask))
		return failed_call(cm, "reading the first PSNs");
	if (rtr.dest_qp_num != cm->peers.tree.qpn)
		return set_error(cm, EPROTO,
				 "the answer is of QPN 0x%x, not 0x%x",
				 rtr.dest_qp_num, cm->peers.tree.qpn);
	cm->result.psn = rtr.rq_psn & 0xffffff;
	cm->result.own_psn = rts.sq_psn & 0xffffff;
	cm->result.err = 0;
	return 0;
}

static int attempt_connect(struct am_cm *cm)
{
	int ret = open_id(cm);

	if (!ret)
		ret = resolve_addr(cm);
	if (!ret)
		ret = ask_agent(cm);
	if (!ret)
		ret = take_psns(cm);
	if (ret)
		close_id(cm);
	return ret;
}

static void *run_thread(void *arg)
{
	const uint64_t one = 1;
	struct am_cm *cm = arg;
	int ret;

	while ((ret = attempt_connect(cm)) == -EAGAIN &&
	       now_ms() + AGAIN_MS < cm->until)
		if (wait_readable(cm, -1, now_ms() + AGAIN_MS) == -ECANCELED)
			break;
	if (ret && !cm->result.err)
		set_error(cm, -ret, "%s", strerror(-ret));
	atomic_store(&cm->done, true);
	if (write(cm->wake, &one, sizeof(one)) < 0)
		return NULL;	/* it has been woken already */
	return NULL;
}

/* --- Called by am.c ------------------------------------------------------ */

/*
 * Begin to connect. Returns the connection, for am_cm_stop(); NULL: no memory.
 * @wake: eventfd that is written when am_cm_done() has a result
 */
struct am_cm *am_cm_start(const struct am_cm_peers *peers, int wake)
{
	struct am_cm *cm = calloc(1, sizeof(*cm));

	if (!cm)
		return NULL;
	cm->peers = *peers;
	cm->wake = wake;
	cm->until = now_ms() + TOTAL_MS;
	cm->stop = eventfd(0, EFD_CLOEXEC);
	if (cm->stop < 0 || thread_create(&cm->thread, run_thread, cm)) {
		if (cm->stop >= 0)
			close(cm->stop);
		free(cm);
		return NULL;
	}
	return cm;
}

/* Get the result. Returns true once, when it is ready. */
bool am_cm_done(struct am_cm *cm, struct am_cm_result *result)
{
	if (cm->told || !atomic_load(&cm->done))
		return false;
	cm->told = true;
	*result = cm->result;
	return true;
}

/*
 * Tell the switch that the queue pair is in RTS. The switch does not depend on
 * it: the manager lets all ranks begin at once.
 * @cm: connection; if it was not made, nothing is done
 */
void am_cm_established(struct am_cm *cm)
{
	if (cm->told && !cm->result.err)
		rdma_establish(cm->id);
}

/* End a connection, or the attempt. */
void am_cm_stop(struct am_cm *cm)
{
	const uint64_t one = 1;

	if (!cm)
		return;
	(void)!write(cm->stop, &one, sizeof(one));
	pthread_join(cm->thread, NULL);
	close_id(cm);
	close(cm->stop);
	free(cm);
}

/*
 * Close a child's copies of a connection's files.
 * @cm: the parent's connection, or NULL
 */
void am_cm_forked(struct am_cm *cm)
{
	if (!cm)
		return;
	if (cm->channel)
		close(cm->channel->fd);
	close(cm->stop);
}
