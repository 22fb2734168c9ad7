// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See called.h. The manager is the client of TLS, and of NETCONF: it gives away
 * nothing but its certificate, and believes nothing, until it knows by its
 * authority who calls. Few may be in between, and not for long: the others wait in the
 * kernel.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/address.h"
#include "auth/crl.h"
#include "auth/identity.h"
#include "conf/keepalive.h"
#include "conf/socket.h"
#include "fabric/called.h"
#include "fabric/dial.h"
#include "fabric/switch.h"
#include "tls/tls.h"

/* Handshakes at a time; age at which one may give way; time limit of one. */
#define CALLERS		16
#define STALE_MS	100
#define SHAKE_MS	5000
#define CHECK_MS	1000
/* Files of certificates are read again: others may have taken their places. */
#define FILES_MS	10000
#define BACKLOG		512

/**
 * struct caller - who calls, before its name is known
 * @io: handler of @fd
 * @fd: socket; -1: there is none
 * @tls: over it
 * @at: milliseconds; when it came
 * @from: host, or network
 * @peer: the same, as text
 */
struct caller {
	struct loop_fd	io;
	int		fd;
	struct inc_tls	*tls;
	int64_t		at;
	struct in6_addr	from;
	char		peer[INET6_ADDRSTRLEN];
};

/* Where agents call. */
static struct {
	struct loop_fd		io;
	struct loop		*loop;
	struct called_how	how;
	int			fd;
	struct inc_tls_ctx	*tls;
	struct crl		*crl;
	int64_t			read_at;
	struct timer		timer;
	bool			full;
	struct caller		callers[CALLERS];
} home;

static void listen_for(bool more)
{
	struct epoll_event e = {
		.events = more ? EPOLLIN : 0, .data.ptr = &home.io,
	};

	if (home.full != more)
		return;
	home.full = !more;
	epoll_ctl(home.loop->ep, EPOLL_CTL_MOD, home.fd, &e);
	timer_set(&home.loop->timers, &home.timer,
		  home.loop->now + (more ? CHECK_MS : STALE_MS));
}

/* There is a place again. */
static void leave(struct caller *c)
{
	c->tls = NULL;
	c->fd = -1;
	listen_for(true);
}

static void refuse(struct caller *c, const char *why)
{
	char text[600];

	snprintf(text, sizeof(text), "it calls as an agent: %s", why);
	home.how.refused(home.how.ctx, c->peer, text);
	if (c->tls)
		inc_tls_close(c->tls);
	close(c->fd);
	leave(c);
}

/* --- The certificate ----------------------------------------------------- */

/* Whose is it? Returns NULL, and why it is not taken. */
static struct sw *identify(const X509 *cert, char *id, char *why, size_t len)
{
	struct sw *sw = NULL;
	char err[512];

	*id = '\0';
	if (!cert || identity_of_agent(id, cert)) {
		snprintf(why, len, "its certificate is not an agent's: with the OU agent, and a name as the CN");
		return NULL;
	}
	if (home.crl && crl_refresh(home.crl, err, sizeof(err)) < 0)
		log_warn("%s; the list that was read before still counts", err);
	if (home.crl && crl_revokes(home.crl, cert))
		snprintf(why, len, "the certificate of %s has been revoked", id);
	else if (!(sw = home.how.find(home.how.ctx, id)))
		snprintf(why, len, "there is no --switch callhome:%s", id);
	return sw;
}

static void take(struct caller *c)
{
	X509 *cert = inc_tls_peer(c->tls);
	char id[IDENTITY_LEN], why[256];
	struct sw *sw = identify(cert, id, why, sizeof(why));

	X509_free(cert);
	if (!sw) {
		refuse(c, why);
		return;
	}
	log_debug("switch %s calls from %s", id, c->peer);
	epoll_ctl(home.loop->ep, EPOLL_CTL_DEL, c->fd, NULL);
	inc_set_keepalive(c->fd, RDMA_INC_DEFAULT_DEAD_TIME);
	dial_keep(id, c->fd, c->tls);
	leave(c);
	if (!sw->up)
		sw_refresh(sw);
}

static void shake(struct loop_fd *io, uint32_t events)
{
	struct caller *c = container_of(io, struct caller, io);
	short wanted;
	int ret;

	/* It has been ended in this turn. */
	if (c->fd < 0)
		return;
	ret = inc_tls_shake(c->tls, &wanted);
	if (!ret)
		take(c);
	else if (ret != -EAGAIN)
		refuse(c, inc_tls_why(c->tls));
}

/* --- Connections --------------------------------------------------------- */

static unsigned int count_same(const struct in6_addr *from,
			       struct caller **oldest)
{
	struct caller *c;
	unsigned int n = 0;

	*oldest = NULL;
	for (c = home.callers; c < home.callers + CALLERS; c++) {
		if (c->fd < 0 || !IN6_ARE_ADDR_EQUAL(&c->from, from))
			continue;
		n++;
		if (!*oldest || c->at < (*oldest)->at)
			*oldest = c;
	}
	return n;
}

/*
 * Whose host has most gives way, by the oldest one, if that has had its time. Returns
 * NULL: all places are taken.
 */
static struct caller *find_place(void)
{
	struct caller *c, *oldest, *found = NULL;
	unsigned int n, most = 0;

	for (c = home.callers; c < home.callers + CALLERS; c++) {
		if (c->fd < 0)
			return c;
		n = count_same(&c->from, &oldest);
		if (n > most || (n == most && oldest->at < found->at))
			found = oldest;
		most = n > most ? n : most;
	}
	if (home.loop->now - found->at < STALE_MS)
		return NULL;
	refuse(found, "it gives way to others");
	return found;
}

/* Returns why nobody can be taken, or NULL. */
static const char *read_files(void)
{
	static const struct inc_tls_words words = {
		.peer = "it",
		.cert = "--tls-cert",
		.plain = "is it inc-agentd with --manager?",
	};
	const struct inc_tls_how how = {
		.ca = home.how.ca, .cert = home.how.cert,
		.key = home.how.key, .words = &words,
	};
	struct inc_tls_ctx *tls;
	static char err[512];

	if (home.tls && home.loop->now - home.read_at < FILES_MS)
		return NULL;
	tls = inc_tls_ctx_new(&how, err, sizeof(err));
	if (!tls)
		return err;
	if (home.tls)
		inc_tls_ctx_free(home.tls);
	home.tls = tls;
	home.read_at = home.loop->now;
	return NULL;
}

static void begin(struct caller *c)
{
	struct epoll_event e = {
		.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = &c->io,
	};
	const char *why = home.how.leads(home.how.ctx) ? read_files() :
			  "this manager does not lead";

	c->at = home.loop->now;
	if (!why) {
		c->tls = inc_tls_called(home.tls, c->fd);
		if (!c->tls ||
		    epoll_ctl(home.loop->ep, EPOLL_CTL_ADD, c->fd, &e))
			why = "no memory";
	}
	if (why)
		refuse(c, why);
}

static void accept_call(struct loop_fd *io, uint32_t events)
{
	struct caller *c = find_place();
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);
	int fd = -1;

	if (c)
		fd = accept4(home.fd, (struct sockaddr *)&peer, &len,
			     SOCK_CLOEXEC | SOCK_NONBLOCK);
	/* Where there are no descriptors left, some may be in a moment. */
	if (!c || (fd < 0 && (errno == EMFILE || errno == ENFILE)))
		listen_for(false);
	if (fd < 0)
		return;
	c->fd = fd;
	inc_auth_peer_key((struct sockaddr *)&peer, &c->from);
	c->peer[0] = '\0';
	getnameinfo((struct sockaddr *)&peer, len, c->peer, sizeof(c->peer),
		    NULL, 0, NI_NUMERICHOST);
	begin(c);
}

static void on_timer(struct timer *timer)
{
	struct caller *c;

	timer_set(&home.loop->timers, timer, home.loop->now + CHECK_MS);
	listen_for(true);
	for (c = home.callers; c < home.callers + CALLERS; c++)
		if (c->fd >= 0 && home.loop->now - c->at >= SHAKE_MS)
			refuse(c, "it does not go on");
}

/*
 * Listen for calls, until the manager ends. Returns 0 or -1.
 * @err_len: size of @err in bytes
 */
int called_start(struct loop *loop, const struct called_how *how, char *err,
		 size_t err_len)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = &home.io };
	int port = CALLED_PORT, i;
	char host[256];

	home.loop = loop;
	home.how = *how;
	home.io.fn = accept_call;
	for (i = 0; i < CALLERS; i++)
		home.callers[i] = (struct caller){ .io.fn = shake, .fd = -1 };
	if (how->crl) {
		home.crl = crl_open(how->crl, how->ca, err, err_len);
		if (!home.crl)
			return -1;
	}
	home.fd = inc_auth_address(how->listen, host, sizeof(host), &port) ?
		  -EINVAL :
		  inc_socket_listen_at(host, (uint16_t)port, BACKLOG);
	if (home.fd < 0) {
		snprintf(err, err_len, "%s", home.fd == -EINVAL ?
			 "must be an IP address of this host, and no name" :
			 strerror(-home.fd));
		return -1;
	}
	if (epoll_ctl(loop->ep, EPOLL_CTL_ADD, home.fd, &e) ||
	    timer_add(&loop->timers, &home.timer, on_timer)) {
		snprintf(err, err_len, "no memory");
		return -1;
	}
	timer_set(&loop->timers, &home.timer, loop->now + CHECK_MS);
	return 0;
}
