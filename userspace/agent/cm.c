// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Ranks that connect by RDMA CM (draft-liu-nfsv4-rocev2-00, section 4). The
 * QP is the module's: CM only exchanges its number and PSNs.
 *
 * A tree's owner adds a member without a peer and tells the rank its QPN and
 * R_Key. A request that names both is connected: member-set, with CM's data on
 * the other end, and then the reply. In this order the member is there before
 * the rank's first packet. A request without the key is rejected at once and
 * leaves nothing behind. The end of a connection is the end of its member,
 * unless the request leaves that to the member's owner (INC_CM_F_KEEP).
 *
 * RDMA_PS_TCP is for RC only, so there is a listener in RDMA_PS_IB, too, for
 * UC: the kernel rejects requests of other types than the listener's.
 *
 * All state is in the kernel: after a restart only the connections' ends go
 * unnoticed, and members are lost like members without CM.
 */
#include "agent.h"

#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cm-wire.h"
#include "cm.h"
#include "conf/pace.h"
#include "nl.h"

/* Requests that the kernel queues; it drops more. */
#define BACKLOG		64

/**
 * struct cm_conn - a host that is connected
 * @next: next one in cm.conns
 * @prev: pointer to this one there
 * @id: CM's ID
 * @tree: tree
 * @rank: member
 * @qpn: the member's QPN, which a later member would not have
 * @keep: the member stays when the connection ends
 */
struct cm_conn {
	struct cm_conn		*next;
	struct cm_conn		**prev;
	struct rdma_cm_id	*id;
	uint32_t		tree;
	uint16_t		rank;
	uint32_t		qpn;
	bool			keep;
};

/**
 * struct cm - who connects by RDMA CM
 * @agent: agent
 * @channel: events
 * @listeners: of RC and UC
 * @conns: connections
 * @thread: waits for events
 * @stop: descriptor of an event
 * @pace: of messages on those who are refused
 */
struct cm {
	struct agent			*agent;
	struct rdma_event_channel	*channel;
	struct rdma_cm_id		*listeners[2];
	struct cm_conn			*conns;
	pthread_t			thread;
	int				stop;
	struct pace			pace;
};

/* Strangers must not fill the log. */
static void report_refusal(struct cm *cm, struct rdma_cm_id *id, const char *text)
{
	struct sockaddr *sa = rdma_get_peer_addr(id);
	unsigned int n = pace_take(&cm->pace);
	char host[64] = "?";

	if (!n)
		return;
	getnameinfo(sa, sa->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
						   sizeof(struct sockaddr_in6),
		    host, sizeof(host), NULL, 0, NI_NUMERICHOST);
	log_warn("RDMA CM: refused %s: %s (%u refused since the last message)",
		 host, text, n);
}

static int refuse_id(struct cm *cm, struct rdma_cm_id *id,
		     enum inc_cm_reason reason, const char *fmt,
		     ...) __attribute__((format(printf, 4, 5)));

static int refuse_id(struct cm *cm, struct rdma_cm_id *id,
		     enum inc_cm_reason reason, const char *fmt, ...)
{
	struct inc_cm_rej rej = {
		.version = INC_CM_VERSION, .reason = (uint8_t)reason,
	};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rej.text, sizeof(rej.text), fmt, ap);
	va_end(ap);
	report_refusal(cm, id, rej.text);
	rdma_reject(id, &rej, sizeof(rej));
	return -1;
}

/* Parse the private data of a request, which CM pads with zeros. */
static int parse_request(struct cm *cm, struct rdma_cm_id *id,
			 const struct rdma_conn_param *p,
			 struct inc_cm_req *req)
{
	const uint8_t *data = p->private_data;
	size_t i;

	if (!data || p->private_data_len < sizeof(*req))
		return refuse_id(cm, id, INC_CM_MALFORMED,
				 "%u bytes of private data, not %zu",
				 p->private_data_len, sizeof(*req));
	memcpy(req, data, sizeof(*req));
	if (req->version != INC_CM_VERSION)
		return refuse_id(cm, id, INC_CM_VERSION_UNKNOWN,
				 "version %u is not known, %u is", req->version,
				 INC_CM_VERSION);
	for (i = sizeof(*req); i < p->private_data_len && !data[i]; i++)
		;
	if (req->flags & ~INC_CM_F_KEEP || req->zero2 || i < p->private_data_len)
		return refuse_id(cm, id, INC_CM_MALFORMED,
				 "not 0 where the private data has to be 0");
	req->pmtu = ntohs(req->pmtu);
	req->tree_id = ntohl(req->tree_id);
	req->rank = ntohs(req->rank);
	req->qpn = ntohl(req->qpn);
	req->rkey = ntohl(req->rkey);
	return 0;
}

static const char *name_of(bool uc)
{
	return uc ? "UC" : "RC";
}

/* Use one error for all: strangers must not learn which members exist. */
static int find_member(struct cm *cm, struct inc_nl *nl, struct rdma_cm_id *id,
		       const struct inc_cm_req *req, struct inc_nl_member *m)
{
	int rc = req->tree_id ? inc_nl_member_get(nl, req->tree_id, req->rank,
						  m) : -ENOENT;
	bool uc;

	if (rc && !nl->from_kernel && req->tree_id)
		return refuse_id(cm, id, INC_CM_REFUSED, "%s", nl->error);
	if (rc || ((m->qpn ^ req->qpn) | (m->rkey ^ req->rkey)))
		return refuse_id(cm, id, INC_CM_NO_KEY,
				 "no tree has such a rank with this key");
	if (m->state != RDMA_INC_MEMBER_STATE_INIT)
		return refuse_id(cm, id, INC_CM_TAKEN,
				 "tree %u rank %u is connected already",
				 req->tree_id, req->rank);
	/* The ID inherits the listener's type of QP. */
	uc = id->qp_type == IBV_QPT_UC;
	if (uc != (m->transport == RDMA_INC_TRANSPORT_UC))
		return refuse_id(cm, id, INC_CM_MISMATCH,
				 "tree %u rank %u is %s, the QP %s",
				 req->tree_id, req->rank, name_of(!uc),
				 name_of(uc));
	return 0;
}

static void set_addr(struct inc_nl_addr *addr, const struct sockaddr *sa)
{
	const void *from = &((const struct sockaddr_in6 *)sa)->sin6_addr;

	addr->len = 16;
	if (sa->sa_family == AF_INET) {
		addr->len = 4;
		from = &((const struct sockaddr_in *)sa)->sin_addr;
	}
	memcpy(addr->bytes, from, addr->len);
}

/* Get CM's data on the other end of the QP. */
static int fill_peer(struct cm *cm, struct rdma_cm_id *id,
		     const struct inc_cm_req *req, const struct inc_nl_member *m,
		     struct inc_nl_member *set)
{
	struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	unsigned int pmtu = req->pmtu;
	struct inc_nl_addr addr;
	int mask;

	if (rdma_init_qp_attr(id, &rtr, &mask) ||
	    rdma_init_qp_attr(id, &rts, &mask))
		return refuse_id(cm, id, INC_CM_REFUSED, "RDMA CM: %s",
				 strerror(errno));
	if (!pmtu)
		pmtu = 128U << rtr.path_mtu;
	if (pmtu != m->pmtu || 128U << rtr.path_mtu < m->pmtu)
		return refuse_id(cm, id, INC_CM_MISMATCH,
				 "the tree's pmtu is %u, the QP's %u, the path's %u",
				 m->pmtu, pmtu, 128U << rtr.path_mtu);
	INC_NL_SET(set, MEMBER_TREE_ID, tree_id, req->tree_id);
	INC_NL_SET(set, MEMBER_RANK, rank, req->rank);
	INC_NL_SET(set, MEMBER_PEER_QPN, peer_qpn, rtr.dest_qp_num);
	INC_NL_SET(set, MEMBER_PEER_PSN, peer_psn, rtr.rq_psn);
	INC_NL_SET(set, MEMBER_PSN, psn, rts.sq_psn);
	addr.len = 16;
	memcpy(addr.bytes, rtr.ah_attr.grh.dgid.raw, sizeof(addr.bytes));
	INC_NL_SET(set, MEMBER_PEER_ADDR, peer_addr, addr);
	set_addr(&addr, rdma_get_local_addr(id));
	INC_NL_SET(set, MEMBER_LOCAL_ADDR, local_addr, addr);
	return 0;
}

static struct cm_conn *conn_new(struct cm *cm, struct rdma_cm_id *id,
				const struct inc_cm_req *req)
{
	struct cm_conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->id = id;
	c->tree = req->tree_id;
	c->rank = req->rank;
	c->qpn = req->qpn;
	c->keep = req->flags & INC_CM_F_KEEP;
	c->next = cm->conns;
	c->prev = &cm->conns;
	if (c->next)
		c->next->prev = &c->next;
	cm->conns = c;
	id->context = c;
	return c;
}

static void conn_free(struct cm_conn *c)
{
	*c->prev = c->next;
	if (c->next)
		c->next->prev = c->prev;
	free(c);
}

/* The rank has left: delete its member, unless another one has replaced it. */
static void end_member(const struct cm_conn *c)
{
	struct inc_nl_member m;
	struct inc_nl nl;

	if (c->keep)
		return;
	if (!inc_nl_open(&nl) &&
	    !inc_nl_member_get(&nl, c->tree, c->rank, &m) && m.qpn == c->qpn &&
	    !inc_nl_member_del(&nl, c->tree, c->rank))
		log_info("RDMA CM: tree %u rank %u has left", c->tree, c->rank);
	inc_nl_close(&nl);
}

static int accept_rank(struct rdma_cm_id *id, const struct inc_nl_member *m,
		       const struct inc_nl_tree *tree)
{
	const struct inc_cm_rep rep = {
		.version = INC_CM_VERSION,
		.pmtu = htons(m->pmtu),
		.msg_size = htonl(m->msg_size),
		.slots = htons(m->slots),
		.ranks = htons(tree->ranks),
		.first_msg_id = htonl(m->next_msg_id),
	};
	/* Without a QP of its own, librdmacm takes the QPN from here. */
	struct rdma_conn_param p = {
		.private_data = &rep,
		.private_data_len = sizeof(rep),
		.rnr_retry_count = 7,
		.qp_num = m->qpn,
	};

	return rdma_accept(id, &p);
}

/* Returns 0 if @id is connected now; otherwise it was rejected. */
static int connect_rank(struct cm *cm, struct inc_nl *nl, struct rdma_cm_id *id,
			const struct inc_cm_req *req)
{
	struct inc_nl_member set = { .has = 0 }, m;
	struct inc_nl_tree tree;
	struct cm_conn *c;

	if (find_member(cm, nl, id, req, &m) ||
	    fill_peer(cm, id, req, &m, &set))
		return -1;
	c = conn_new(cm, id, req);
	if (!c)
		return refuse_id(cm, id, INC_CM_REFUSED, "out of memory");
	if (inc_nl_tree_get(nl, req->tree_id, &tree) ||
	    inc_nl_member_set(nl, &set, &m)) {
		conn_free(c);
		return refuse_id(cm, id, INC_CM_REFUSED, "%s", nl->error);
	}
	if (accept_rank(id, &m, &tree)) {
		log_warn("RDMA CM: cannot answer tree %u rank %u: %s",
			 req->tree_id, req->rank, strerror(errno));
		end_member(c);
		conn_free(c);
		return -1;
	}
	return 0;
}

static int on_request(struct cm *cm, struct rdma_cm_event *ev)
{
	struct inc_cm_req req;
	struct inc_nl nl;
	int rc;

	/* A new ID inherits the listener's context. */
	ev->id->context = NULL;
	if (parse_request(cm, ev->id, &ev->param.conn, &req))
		return -1;
	if (inc_nl_open(&nl))
		rc = refuse_id(cm, ev->id, INC_CM_REFUSED, "%s", nl.error);
	else
		rc = connect_rank(cm, &nl, ev->id, &req);
	inc_nl_close(&nl);
	return rc;
}

static bool is_listener(const struct cm *cm, const struct rdma_cm_id *id)
{
	return id == cm->listeners[0] || id == cm->listeners[1];
}

/* Returns whether the event's ID is to be destroyed. */
static bool on_event(struct cm *cm, struct rdma_cm_event *ev)
{
	struct cm_conn *c = ev->id->context;
	bool listens = is_listener(cm, ev->id);

	switch (ev->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return on_request(cm, ev);
	case RDMA_CM_EVENT_ESTABLISHED:
		if (c)
			log_info("RDMA CM: tree %u rank %u is connected",
				 c->tree, c->rank);
		return false;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (listens) {
			if (atomic_exchange(&cm->agent->cm_port, 0))
				log_error("RDMA CM: the device is gone: nobody can connect until a restart");
			return false;
		}
		/* The QP is the module's, not the device's, and stays. */
		if (c)
			conn_free(c);
		return true;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		if (c) {
			end_member(c);
			conn_free(c);
		}
		if (ev->event == RDMA_CM_EVENT_DISCONNECTED)
			rdma_disconnect(ev->id);
		return !listens;
	default:
		return false;
	}
}

static void take_events(struct cm *cm)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;
	bool done;

	while (!rdma_get_cm_event(cm->channel, &ev)) {
		id = ev->id;
		done = on_event(cm, ev);
		if (done)
			id->context = NULL;
		rdma_ack_cm_event(ev);
		if (done)
			rdma_destroy_id(id);
	}
}

static void *run_loop(void *arg)
{
	struct cm *cm = arg;
	struct pollfd p[2] = {
		{ .fd = cm->stop, .events = POLLIN },
		{ .fd = cm->channel->fd, .events = POLLIN },
	};

	for (;;) {
		if (poll(p, ARRAY_SIZE(p), -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			break;
		take_events(cm);
	}
	return NULL;
}

/* Only rdma_create_ep() sets the QP type of a port space. */
static int listen_in(struct cm *cm, struct rdma_cm_id **id, enum rdma_port_space ps,
		     enum ibv_qp_type type, const struct addrinfo *ai)
{
	struct rdma_addrinfo at = {
		.ai_flags = RAI_PASSIVE,
		.ai_port_space = ps,
		.ai_qp_type = type,
		.ai_src_addr = ai->ai_addr,
		.ai_src_len = ai->ai_addrlen,
	};

	return rdma_create_ep(id, &at, NULL, NULL) ||
	       rdma_migrate_id(*id, cm->channel) ||
	       rdma_listen(*id, BACKLOG);
}

static int listen_at(struct cm *cm, const struct cm_endpoint *e)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	struct addrinfo *ai;
	char port[8];
	int rc;

	snprintf(port, sizeof(port), "%u", e->port);
	rc = getaddrinfo(e->addr, port, &hints, &ai);
	if (rc) {
		log_error("%s: %s", e->addr, gai_strerror(rc));
		return -1;
	}
	rc = listen_in(cm, &cm->listeners[0], RDMA_PS_TCP, IBV_QPT_RC, ai) ||
	     listen_in(cm, &cm->listeners[1], RDMA_PS_IB, IBV_QPT_UC, ai);
	if (rc)
		log_error("cannot listen for RDMA CM at %s port %u: %s; is there an RDMA device with this address (rdma link)?",
			  e->addr, e->port, strerror(errno));
	freeaddrinfo(ai);
	return rc ? -1 : 0;
}

static int open_channel(struct cm *cm)
{
	int flags;

	cm->channel = rdma_create_event_channel();
	if (!cm->channel) {
		log_error("/dev/infiniband/rdma_cm: %s; is the module rdma_ucm loaded?",
			  strerror(errno));
		return -1;
	}
	flags = fcntl(cm->channel->fd, F_GETFL);
	if (fcntl(cm->channel->fd, F_SETFL, flags | O_NONBLOCK)) {
		log_error("RDMA CM: %s", strerror(errno));
		return -1;
	}
	return 0;
}

static void release_all(struct cm *cm)
{
	struct cm_conn *c;
	size_t i;

	while ((c = cm->conns)) {
		rdma_destroy_id(c->id);
		conn_free(c);
	}
	for (i = 0; i < ARRAY_SIZE(cm->listeners); i++) {
		if (cm->listeners[i])
			rdma_destroy_id(cm->listeners[i]);
		cm->listeners[i] = NULL;
	}
	if (cm->channel)
		rdma_destroy_event_channel(cm->channel);
	if (cm->stop >= 0)
		close(cm->stop);
	free(cm);
}

/* Accept ranks by RDMA CM. Returns 0, or -1 after a message. */
int cm_start(struct agent *a, const struct cm_endpoint *e)
{
	struct cm *cm;
	int rc;

	if (!e->addr)
		return 0;
	cm = calloc(1, sizeof(*cm));
	if (!cm) {
		log_error("no memory");
		return -1;
	}
	cm->agent = a;
	cm->stop = eventfd(0, EFD_CLOEXEC);
	if (open_channel(cm) || listen_at(cm, e)) {
		release_all(cm);
		return -1;
	}
	rc = pthread_create(&cm->thread, NULL, run_loop, cm);
	if (rc) {
		log_error("cannot start a thread: %s", strerror(rc));
		release_all(cm);
		return -1;
	}
	a->cm = cm;
	a->cm_addr = e->addr;
	atomic_store(&a->cm_port, e->port);
	return 0;
}

/* Stop accepting ranks, and disconnect the hosts. Members stay. */
void cm_stop(struct agent *a)
{
	struct cm *cm = a->cm;
	uint64_t one = 1;

	if (!cm)
		return;
	(void)!write(cm->stop, &one, sizeof(one));
	pthread_join(cm->thread, NULL);
	release_all(cm);
	a->cm = NULL;
}
