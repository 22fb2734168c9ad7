// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See carrier.h. Nothing here waits but in poll(), so that a time limit holds, and a
 * peer that sends half a message, or does not read, keeps nobody else.
 */
#include <errno.h>
#include <libssh/libssh.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/clock.h"
#include "netconf/carrier.h"
#include "tls/tls.h"

#define PIECE	16384	/* bytes; a chunk, with what is around it */
#define MARKS	64	/* of these at most */

/* Returns -ETIMEDOUT at @until, -EAGAIN if it was woken, or 0. */
static int wait_for(const struct carrier *c, short events, int64_t until,
		    int wake)
{
	struct pollfd p[2] = {
		{ .fd = c->fd, .events = events },
		{ .fd = wake, .events = POLLIN },
	};
	int n;

	if (c->ssh && ssh_get_poll_flags(c->ssh) & SSH_WRITE_PENDING)
		p[0].events |= POLLOUT;
	n = poll(p, 2, until < 0 ? -1 : ms_until(until));
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (p[1].revents)
		return -EAGAIN;
	return n ? 0 : -ETIMEDOUT;
}

/* libssh tells the end of a connection, and of a channel, in several ways. */
static ssize_t read_ssh(struct carrier *c)
{
	int n;

	if (ssh_channel_is_closed(c->channel))
		return 0;
	n = ssh_channel_read_nonblocking(c->channel, c->buf, sizeof(c->buf), 0);
	if (n > 0)
		return n;
	if (n == SSH_ERROR || n == SSH_EOF || ssh_channel_is_eof(c->channel) ||
	    ssh_channel_is_closed(c->channel) || !ssh_is_connected(c->ssh))
		return 0;
	return -EAGAIN;
}

static ssize_t read_some(struct carrier *c)
{
	ssize_t n;

	if (c->ssh)
		return read_ssh(c);
	if (c->tls)
		return inc_tls_recv(c->tls, c->buf, sizeof(c->buf));
	n = recv(c->fd, c->buf, sizeof(c->buf), 0);
	return n < 0 ? -errno : n;
}

/*
 * Read a message. Returns 0, and it is c->in.text until frame_done();
 * -ETIMEDOUT: it is not there yet; -EAGAIN: neither, but @wake is readable;
 * -EPIPE: the connection has ended; or an error of frame_take().
 * @until: as of now_ms(); -1: no time limit
 * @wake: descriptor, or -1
 */
int carrier_recv(struct carrier *c, int64_t until, int wake)
{
	size_t used;
	ssize_t n;
	bool more;
	int ret;

	for (more = false;; more = true) {
		ret = frame_take(&c->in, c->buf + c->at, c->have - c->at, &used);
		c->at += used;
		if (ret)
			return ret > 0 ? 0 : ret;
		/* A peer that sends all the time has a time limit, too. */
		if (more && until >= 0 && !ms_until(until))
			return -ETIMEDOUT;
		c->at = 0;
		c->have = 0;
		n = read_some(c);
		if (n > 0)
			c->have = (size_t)n;
		else if (n != -EAGAIN && n != -EINTR)
			return -EPIPE;
		else
			ret = wait_for(c, POLLIN, until, wake);
		if (ret)
			return ret;
	}
}

/* As send(); -EAGAIN, and what to poll for. */
static ssize_t write_some(struct carrier *c, const char *data, size_t len,
			  short *events)
{
	ssize_t n;

	*events = POLLOUT;
	if (c->tls)
		return inc_tls_send(c->tls, data, len);
	if (c->ssh) {
		/* The client's window opens by what it sends. */
		*events = POLLIN;
		n = ssh_channel_write(c->channel, data, (uint32_t)len);
		return n > 0 ? n : n && n != SSH_AGAIN ? -EPIPE : -EAGAIN;
	}
	n = send(c->fd, data, len, MSG_NOSIGNAL);
	return n < 0 ? -errno : n;
}

static int write_all(struct carrier *c, const char *data, size_t len,
		     int64_t until)
{
	short events;
	ssize_t n;
	int ret;

	while (len) {
		n = write_some(c, data, len, &events);
		if (n > 0) {
			data += n;
			len -= (size_t)n;
			continue;
		}
		if (n != -EAGAIN && n != -EINTR)
			return -EPIPE;
		ret = wait_for(c, events, until, -1);
		if (ret)
			return ret;
	}
	return 0;
}

/* What libssh has not sent yet. */
static int flush_ssh(struct carrier *c, int64_t until)
{
	int ret = 0;

	while (c->ssh && !ret) {
		ret = ssh_blocking_flush(c->ssh, 0);
		if (ret != SSH_AGAIN)
			return ret == SSH_OK ? 0 : -EPIPE;
		ret = wait_for(c, POLLOUT, until, -1);
	}
	return ret;
}

/*
 * Send a message. Returns 0, -ETIMEDOUT or -EPIPE: the session is of no use.
 * @until: as of now_ms(); -1: no time limit
 */
int carrier_send(struct carrier *c, const char *text, size_t len, int64_t until)
{
	const char *end = c->in.chunked ? "\n##\n" : "]]>]]>";
	char buf[PIECE];
	size_t size, n;
	int ret;

	/* What belongs together goes out at once. */
	do {
		size = len < PIECE - MARKS ? len : PIECE - MARKS;
		n = c->in.chunked ? (size_t)sprintf(buf, "\n#%zu\n", size) : 0;
		memcpy(buf + n, text, size);
		n += size;
		text += size;
		len -= size;
		if (!len) {
			memcpy(buf + n, end, strlen(end));
			n += strlen(end);
		}
		ret = write_all(c, buf, n, until);
	} while (len && !ret);
	return ret ? ret : flush_ssh(c, until);
}

/* Close the connection. */
void carrier_close(struct carrier *c)
{
	frame_done(&c->in);
	if (c->tls)
		inc_tls_close(c->tls);
	if (c->channel)
		ssh_channel_close(c->channel);
	if (c->ssh) {
		ssh_blocking_flush(c->ssh, 0);
		ssh_disconnect(c->ssh);
		ssh_free(c->ssh);
	}
	/* libssh has closed its own copy. */
	if (c->fd >= 0)
		close(c->fd);
	c->tls = NULL;
	c->ssh = NULL;
	c->channel = NULL;
	c->fd = -1;
}
