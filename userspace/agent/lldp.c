// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See lldp.h. A thread asks lldpd for all ports whenever lldpd reports a
 * change, and every few seconds, since new ports do not announce the switch
 * yet. Without lldpd it tries again; neighbours are kept for a while, so lldpd
 * may be restarted.
 */
#include "lldp.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <lldp-const.h>
#include <lldpctl.h>

#include "agent.h"
#include "announce.h"
#include "iface.h"
#include "name.h"

#define PEERS_MAX	1024
#define ADDRS_MAX	8
/* Most and least between reads; between attempts to connect; for an answer. */
#define AGAIN_MS	5000
#define GAP_MS		200
#define RETRY_MS	1000
#define ANSWER_MS	3000
/* How long to keep neighbours after lldpd has ended. */
#define KEEP_MS		10000

/**
 * struct peer - neighbour at a port
 * @ifname: port
 * @mac: its MAC address
 * @announce: its announcement
 * @naddrs: number of @addrs
 * @addrs: its management addresses, as text
 */
struct peer {
	char		ifname[16];
	uint8_t		mac[6];
	struct announce	announce;
	unsigned int	naddrs;
	char		addrs[ADDRS_MAX][46];
};

/**
 * struct peers - all neighbours
 * @n: their number
 * @list: peers
 */
struct peers {
	unsigned int	n;
	struct peer	list[PEERS_MAX];
};

/**
 * struct pipe - a connection to lldpd
 * @fd: socket
 * @wait_ms: how long to wait for data
 * @lldp: whose
 */
struct pipe {
	int	fd;
	int	wait_ms;
	const struct lldp *lldp;
};

/**
 * struct lldp - what lldpd tells
 * @agent: agent
 * @sock: lldpd's socket
 * @changed: to be called when neighbours have changed
 * @stop: descriptor of an event; -1: it has stopped
 * @failure_logged: the log says that lldpd is not there
 * @lost_at: since when it is not, as of now_ms(); or 0
 * @thread: asks it
 * @lock: protects @peers
 * @peers: neighbours, or NULL
 */
struct lldp {
	struct agent	*agent;
	const char	*sock;
	void		(*changed)(struct agent *a);
	int		stop;
	bool		failure_logged;
	uint64_t	lost_at;
	pthread_t	thread;
	pthread_mutex_t	lock;
	struct peers	*peers;
};

/* Waits for @fd; -1: for time only. Returns 1: ready; 0: late; -1: stop. */
static int wait_for(const struct lldp *lldp, int fd, short events, int ms)
{
	struct pollfd p[2] = {
		{ .fd = lldp->stop, .events = POLLIN },
		{ .fd = fd, .events = events },
	};
	int n = poll(p, 2, ms);

	if (n > 0 && p[0].revents)
		return -1;
	return n > 0;
}

/* --- Connections --------------------------------------------------------- */

static ssize_t pipe_send(lldpctl_conn_t *conn, const uint8_t *data, size_t len,
			 void *arg)
{
	struct pipe *p = arg;
	ssize_t n;

	if (wait_for(p->lldp, p->fd, POLLOUT, ANSWER_MS) <= 0)
		return LLDPCTL_ERR_CALLBACK_FAILURE;
	n = send(p->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? LLDPCTL_ERR_CALLBACK_FAILURE : n;
}

static ssize_t pipe_recv(lldpctl_conn_t *conn, const uint8_t *data, size_t len,
			 void *arg)
{
	struct pipe *p = arg;
	ssize_t n;

	if (wait_for(p->lldp, p->fd, POLLIN, p->wait_ms) <= 0)
		return LLDPCTL_ERR_WOULDBLOCK;
	n = recv(p->fd, (void *)data, len, MSG_DONTWAIT);
	if (!n)
		return LLDPCTL_ERR_EOF;
	return n < 0 ? LLDPCTL_ERR_CALLBACK_FAILURE : n;
}

static lldpctl_conn_t *pipe_open(struct pipe *p, const struct lldp *lldp,
				 int wait_ms)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	lldpctl_conn_t *conn = NULL;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", lldp->sock);
	p->wait_ms = wait_ms;
	p->lldp = lldp;
	p->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->fd < 0)
		return NULL;
	if (!connect(p->fd, (struct sockaddr *)&addr, sizeof(addr)))
		conn = lldpctl_new_name(lldp->sock, pipe_send, pipe_recv, p);
	if (!conn)
		close(p->fd);
	return conn;
}

static void pipe_close(struct pipe *p, lldpctl_conn_t *conn)
{
	lldpctl_release(conn);
	close(p->fd);
}

/* --- Announcing this switch ---------------------------------------------- */

static bool is_ours(lldpctl_atom_t *tlv)
{
	const uint8_t *oui;
	size_t len = 0;

	oui = lldpctl_atom_get_buffer(tlv, lldpctl_k_custom_tlv_oui, &len);
	return oui && len == ANNOUNCE_OUI_LEN &&
	       !memcmp(oui, ANNOUNCE_OUI, len);
}

static const uint8_t *get_content(lldpctl_atom_t *tlv, size_t *len)
{
	*len = 0;
	return lldpctl_atom_get_buffer(tlv,
				       lldpctl_k_custom_tlv_oui_info_string,
				       len);
}

static bool is_announced(lldpctl_atom_t *tlvs, const uint8_t *info, size_t len)
{
	lldpctl_atom_t *tlv;
	const uint8_t *has;
	bool found = false;
	size_t n;

	lldpctl_atom_foreach(tlvs, tlv) {
		has = get_content(tlv, &n);
		if (is_ours(tlv) && has && n == len && !memcmp(has, info, len))
			found = true;
	}
	return found;
}

/* Add our TLV to a port, or remove it: @op is "replace" or "remove". */
static void announce_port(const struct lldp *lldp, lldpctl_atom_t *port,
			  const char *ifname, const char *op)
{
	lldpctl_atom_t *tlvs = lldpctl_atom_get(port, lldpctl_k_custom_tlvs);
	lldpctl_atom_t *tlv = NULL;
	char id[AGENT_ID_LEN];
	uint8_t info[ANNOUNCE_MAX];
	size_t len;
	bool there;

	if (!tlvs)
		return;
	name_get(lldp->agent, id);
	len = announce_make(info, id, ifname);
	there = len && is_announced(tlvs, info, len);
	if (len && there == !strcmp(op, "remove"))
		tlv = lldpctl_atom_create(tlvs);
	if (tlv) {
		lldpctl_atom_set_buffer(tlv, lldpctl_k_custom_tlv_oui,
					(const uint8_t *)ANNOUNCE_OUI,
					ANNOUNCE_OUI_LEN);
		lldpctl_atom_set_int(tlv, lldpctl_k_custom_tlv_oui_subtype,
				     ANNOUNCE_SWITCH);
		lldpctl_atom_set_str(tlv, lldpctl_k_custom_tlv_op, op);
		lldpctl_atom_set_buffer(tlv,
					lldpctl_k_custom_tlv_oui_info_string,
					info, len);
		if (!lldpctl_atom_set(port, lldpctl_k_custom_tlv, tlv))
			log_warn("LLDP: %s: cannot announce the switch: %s",
				 ifname,
				 lldpctl_last_strerror(
					lldpctl_atom_get_connection(port)));
		lldpctl_atom_dec_ref(tlv);
	}
	lldpctl_atom_dec_ref(tlvs);
}

/* --- Neighbours ---------------------------------------------------------- */

static bool read_announce(lldpctl_atom_t *neighbour, struct announce *who)
{
	lldpctl_atom_t *tlvs = lldpctl_atom_get(neighbour,
						lldpctl_k_custom_tlvs);
	lldpctl_atom_t *tlv;
	const uint8_t *info;
	bool found = false;
	long subtype;
	size_t len;

	if (!tlvs)
		return false;
	lldpctl_atom_foreach(tlvs, tlv) {
		if (found || !is_ours(tlv))
			continue;
		subtype = lldpctl_atom_get_int(tlv,
					       lldpctl_k_custom_tlv_oui_subtype);
		info = get_content(tlv, &len);
		found = !announce_parse(subtype, info, len, who);
	}
	lldpctl_atom_dec_ref(tlvs);
	return found;
}

static bool mac_of(lldpctl_atom_t *atom, lldpctl_key_t subtype, long wanted,
		   lldpctl_key_t id, uint8_t *mac)
{
	const uint8_t *bytes;
	size_t len = 0;

	if (lldpctl_atom_get_int(atom, subtype) != wanted)
		return false;
	bytes = lldpctl_atom_get_buffer(atom, id, &len);
	return !announce_mac(bytes, len, mac);
}

static void take_addrs(lldpctl_atom_t *chassis, struct peer *p)
{
	lldpctl_atom_t *list = lldpctl_atom_get(chassis, lldpctl_k_chassis_mgmt);
	lldpctl_atom_t *mgmt;
	const char *text;

	if (!list)
		return;
	lldpctl_atom_foreach(list, mgmt) {
		text = lldpctl_atom_get_str(mgmt, lldpctl_k_mgmt_ip);
		if (text && p->naddrs < ADDRS_MAX)
			snprintf(p->addrs[p->naddrs++], sizeof(p->addrs[0]),
				 "%s", text);
	}
	lldpctl_atom_dec_ref(list);
}

static void take_neighbour(struct peers *all, const char *ifname,
			   lldpctl_atom_t *neighbour)
{
	struct peer *p = &all->list[all->n];
	lldpctl_atom_t *chassis;

	if (all->n == PEERS_MAX)
		return;
	memset(p, 0, sizeof(*p));
	chassis = lldpctl_atom_get(neighbour, lldpctl_k_port_chassis);
	if (!chassis)
		return;
	if (read_announce(neighbour, &p->announce) &&
	    (mac_of(neighbour, lldpctl_k_port_id_subtype,
		    LLDP_PORTID_SUBTYPE_LLADDR, lldpctl_k_port_id, p->mac) ||
	     mac_of(chassis, lldpctl_k_chassis_id_subtype,
		    LLDP_CHASSISID_SUBTYPE_LLADDR, lldpctl_k_chassis_id,
		    p->mac))) {
		snprintf(p->ifname, sizeof(p->ifname), "%s", ifname);
		if (!p->announce.id[0])
			take_addrs(chassis, p);
		all->n++;
	}
	lldpctl_atom_dec_ref(chassis);
}

static void take_port(struct peers *all, lldpctl_atom_t *port,
		      const char *ifname)
{
	lldpctl_atom_t *list, *neighbour;

	list = lldpctl_atom_get(port, lldpctl_k_port_neighbors);
	if (!list)
		return;
	lldpctl_atom_foreach(list, neighbour)
		take_neighbour(all, ifname, neighbour);
	lldpctl_atom_dec_ref(list);
}

/*
 * Announce the switch at all ports, and read their neighbours unless @all is
 * NULL. Returns false if lldpd does not answer.
 */
static bool visit_ports(const struct lldp *lldp, struct peers *all,
			const char *op)
{
	lldpctl_atom_t *list, *item, *port;
	const char *name;
	struct pipe p;
	lldpctl_conn_t *conn = pipe_open(&p, lldp, ANSWER_MS);

	list = conn ? lldpctl_get_interfaces(conn) : NULL;
	if (list) {
		lldpctl_atom_foreach(list, item) {
			name = lldpctl_atom_get_str(item,
						    lldpctl_k_interface_name);
			port = lldpctl_get_port(item);
			if (name && port) {
				if (all)
					take_port(all, port, name);
				announce_port(lldp, port, name, op);
			}
			if (port)
				lldpctl_atom_dec_ref(port);
		}
		lldpctl_atom_dec_ref(list);
	}
	if (conn)
		pipe_close(&p, conn);
	return list;
}

/* --- The thread ---------------------------------------------------------- */

/* Report a change if the neighbours differ from the old ones. */
static void replace_peers(struct lldp *lldp, struct peers *all)
{
	struct peers *old;
	bool changed;

	pthread_mutex_lock(&lldp->lock);
	old = lldp->peers;
	changed = (old ? old->n : 0) != all->n ||
		  (all->n && memcmp(old->list, all->list,
				    all->n * sizeof(all->list[0])));
	lldp->peers = all;
	pthread_mutex_unlock(&lldp->lock);
	free(old);
	if (changed)
		lldp->changed(lldp->agent);
}

static bool read_neighbours(struct lldp *lldp)
{
	struct peers *all = calloc(1, sizeof(*all));

	if (!all)
		return true;
	if (!visit_ports(lldp, all, "replace")) {
		free(all);
		return false;
	}
	replace_peers(lldp, all);
	return true;
}

/* lldpctl_watch() then returns, and all neighbours are read again. */
static void ignore_change(lldpctl_change_t type, lldpctl_atom_t *interface,
			  lldpctl_atom_t *neighbour, void *arg)
{
}

/* Follow lldpd until it ends, or the agent does. */
static void follow_lldpd(struct lldp *lldp)
{
	struct pipe p;
	lldpctl_conn_t *conn = pipe_open(&p, lldp, AGAIN_MS);

	if (!conn)
		return;
	if (lldpctl_watch_callback2(conn, ignore_change, NULL) < 0) {
		pipe_close(&p, conn);
		return;
	}
	log_info("LLDP: connected with lldpd");
	lldp->failure_logged = false;
	while (read_neighbours(lldp)) {
		lldp->lost_at = 0;
		if (wait_for(lldp, -1, 0, GAP_MS) < 0)
			break;
		if (lldpctl_watch(conn) < 0 &&
		    lldpctl_last_error(conn) != LLDPCTL_ERR_WOULDBLOCK)
			break;
	}
	pipe_close(&p, conn);
}

static void *run_thread(void *arg)
{
	struct lldp *lldp = arg;
	struct peers *none;

	do {
		follow_lldpd(lldp);
		if (wait_for(lldp, -1, 0, 0) < 0)
			break;
		if (!lldp->failure_logged)
			log_info("LLDP: no lldpd at %s: links are learnt from the forwarding database",
				 lldp->sock);
		lldp->failure_logged = true;
		if (!lldp->lost_at)
			lldp->lost_at = now_ms();
		none = now_ms() - lldp->lost_at > KEEP_MS ?
		       calloc(1, sizeof(*none)) : NULL;
		if (none)
			replace_peers(lldp, none);
	} while (wait_for(lldp, -1, 0, RETRY_MS) >= 0);
	return NULL;
}

static void log_lldp(int severity, const char *msg)
{
	log_debug("LLDP: %s", msg);
}

/*
 * Begin to announce this switch. Returns 0, or -1 after a message.
 * @sock: lldpd's socket; NULL: the default one
 */
int lldp_start(struct agent *a, const char *sock,
	       void (*changed)(struct agent *a))
{
	struct lldp *lldp = calloc(1, sizeof(*lldp));
	int rc;

	if (!lldp) {
		log_error("no memory");
		return -1;
	}
	pthread_mutex_init(&lldp->lock, NULL);
	lldp->agent = a;
	lldp->changed = changed;
	lldp->sock = sock ? sock : lldpctl_get_default_transport();
	lldp->stop = eventfd(0, EFD_CLOEXEC);
	lldpctl_log_callback(log_lldp);
	rc = pthread_create(&lldp->thread, NULL, run_thread, lldp);
	if (rc) {
		log_error("cannot start a thread: %s", strerror(rc));
		free(lldp);
		return -1;
	}
	a->lldp = lldp;
	return 0;
}

/* Stop announcing this switch. */
void lldp_stop(struct agent *a)
{
	struct lldp *lldp = a->lldp;
	uint64_t one = 1;

	if (!lldp)
		return;
	(void)!write(lldp->stop, &one, sizeof(one));
	pthread_join(lldp->thread, NULL);
	/* Wait for lldpd's answers from now on, but not for long. */
	close(lldp->stop);
	lldp->stop = -1;
	visit_ports(lldp, NULL, "remove");
}

/* All sessions have ended: forget the neighbours. */
void lldp_free(struct agent *a)
{
	if (!a->lldp)
		return;
	free(a->lldp->peers);
	free(a->lldp);
	a->lldp = NULL;
}

/* Add the neighbours that LLDP has found. */
void lldp_add(struct agent *a, struct lyd_node *sw)
{
	struct lldp *lldp = a->lldp;
	const struct peer *p;
	struct lyd_node *node;
	unsigned int i, k;

	/* It is the last one to start. */
	if (!lldp)
		return;
	pthread_mutex_lock(&lldp->lock);
	for (i = 0; lldp->peers && i < lldp->peers->n; i++) {
		p = &lldp->peers->list[i];
		node = iface_neighbour(sw, p->ifname, p->mac);
		if (!node)
			continue;
		if (p->announce.id[0]) {
			lyd_new_path(node, NULL, "switch-id", p->announce.id,
				     LYD_NEW_PATH_UPDATE, NULL);
			lyd_new_path(node, NULL, "switch-port",
				     p->announce.port, LYD_NEW_PATH_UPDATE,
				     NULL);
		}
		for (k = 0; k < p->naddrs; k++)
			lyd_new_path(node, NULL, "address", p->addrs[k],
				     LYD_NEW_PATH_UPDATE, NULL);
	}
	pthread_mutex_unlock(&lldp->lock);
}
