// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See link.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/address.h"
#include "http2/link.h"
#include "http2/reach.h"

/*
 * Note a fault.
 * @fault: fault; only the first one counts, as it causes the others
 */
void link_fail(struct link *l, enum fault fault, int err)
{
	if (l->fault)
		return;
	l->fault = fault;
	if (fault == FAULT_TLS || fault == FAULT_BARE)
		snprintf(l->why, sizeof(l->why), "%s", inc_tls_why(l->tls));
	else if (fault != FAULT_LATE || !l->tls || l->has_handshake)
		inc_fault_words(fault, err, l->program, l->why, sizeof(l->why));
	else
		snprintf(l->why, sizeof(l->why), "TLS: it does not answer in time: is this the port of %s, and does it use TLS?",
			 l->program);
}

/* The server, or the network, has ended the connection. */
static void note_cut(struct link *l)
{
	link_fail(l, l->got_data ? FAULT_LOST : FAULT_CUT, 0);
}

static void note_tls(struct link *l)
{
	enum inc_tls_end end = inc_tls_end(l->tls);

	if (end == INC_TLS_CLOSED)
		note_cut(l);
	else
		link_fail(l, end == INC_TLS_BARE ? FAULT_BARE : FAULT_TLS, 0);
}

/*
 * Use an existing connection. Returns false if it cannot be used.
 * @fd: socket; becomes non-blocking, and @l owns it in any case
 * @address: the server's, whose certificate must have the host's name
 */
bool link_adopt(struct link *l, int fd, const char *address)
{
	char host[256] = "";

	l->fd = fd;
	l->events = POLLIN;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	if (!l->ctx) {
		l->has_handshake = true;
		return true;
	}
	if (!inc_reach_is_path(address) &&
	    inc_auth_host(address, host, sizeof(host)))
		l->tls = inc_tls_open(l->ctx, fd, host);
	if (!l->tls)
		link_fail(l, FAULT_SYSTEM, *host ? ENOMEM : EPROTONOSUPPORT);
	return l->tls;
}

/* Connect to a server. Returns false if it cannot be reached. */
bool link_connect(struct link *l, const char *address, int port,
		  int timeout_ms)
{
	int fd = inc_reach_connect(address, port, timeout_ms);

	if (fd < 0)
		link_fail(l, inc_fault_of(-fd), -fd);
	return fd >= 0 && link_adopt(l, fd, address);
}

/*
 * Go on with a handshake. Returns 1: done; 0: wait for @l->events at the
 * socket; -1: failed.
 */
int link_shake(struct link *l)
{
	int ret = l->has_handshake ? 0 : inc_tls_shake(l->tls, &l->events);

	if (ret == -EAGAIN)
		return 0;
	l->has_handshake = !ret;
	if (ret == -ENOPROTOOPT)
		link_fail(l, FAULT_STRANGER, 0);
	else if (ret == -ECONNRESET)
		note_cut(l);
	else if (ret)
		note_tls(l);
	l->events = POLLIN;
	return ret ? -1 : 1;
}

/* Translate a result of reading or writing: bytes; 0: not now; -1: the end. */
static ssize_t judge_result(struct link *l, ssize_t n)
{
	if (n > 0)
		return n;
	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n == -EPROTO && l->tls)
		note_tls(l);
	else
		note_cut(l);
	return -1;
}

/*
 * Read. Returns the number of bytes; 0: none now; -1: the end.
 * @len: size of @buf in bytes
 */
ssize_t link_read(struct link *l, void *buf, size_t len)
{
	ssize_t n = l->tls ? inc_tls_recv(l->tls, buf, len) :
			     recv(l->fd, buf, len, MSG_DONTWAIT);

	n = judge_result(l, n < 0 && !l->tls ? -errno : n);
	l->got_data |= n > 0;
	return n;
}

/*
 * Write. Returns the number of bytes; 0: not now; -1: the server reads no more,
 * but may have said why: link_read() tells.
 * @buf: bytes; after 0 the same ones must be given again
 */
ssize_t link_write(struct link *l, const void *buf, size_t len)
{
	ssize_t n = l->tls ? inc_tls_send(l->tls, buf, len) :
			     send(l->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (l->tls)
		return judge_result(l, n);
	return n >= 0 ? n : errno == EAGAIN || errno == EINTR ? 0 : -1;
}

/* End a connection. */
void link_close(struct link *l)
{
	if (l->tls)
		inc_tls_close(l->tls);
	if (l->fd >= 0)
		close(l->fd);
	l->tls = NULL;
	l->fd = -1;
	l->has_handshake = false;
	l->got_data = false;
	l->fault = FAULT_NONE;
	l->why[0] = '\0';
}
