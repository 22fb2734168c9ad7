// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A rank's stream to the manager, see libinc-am.h. Two threads translate
 * between it and lines of the rendezvous: copy_up() the rank's lines,
 * copy_down() the lines to it. The stream ends with the socket to libinc, and
 * the socket with the stream: unless the manager can be found again, or another
 * one that knows the group. copy_down() looks for it, and makes another stream;
 * what the last one may have lost is sent again.
 *
 * If the rank connects by RDMA CM, that is done here, too, between the
 * manager's "joined" and the one to libinc, which learns the PSNs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "channel/reach.h"
#include "auth/client.h"
#include "cm.h"
#include "conf/clock.h"
#include "conf/thread.h"
#include "lib/daemon/libinc-am.h"
#include "manager/api/hint.h"
#include "manager/api/message.h"
#include "conf/text.h"
#include "stream.h"

#define CONNECT_MS	1000	/* to find any manager, and the more, the longer */
#define EACH_MS		250
#define AGAIN_MS	100	/* between attempts to find a manager */
#define JOIN_MS		10000	/* to find one that leads, without a tree yet */
#define REJOIN_MS	30000	/* the same, if one has accepted us before */
#define WORKED_MS	500	/* a stream that lasts so long has worked */

/**
 * struct inc_am - a rank's stream
 * @pid: process that it belongs to, not its children
 * @stream: the stream; of the second thread, but for sending
 * @auth: what proves who the rank is
 * @fd: our end of the socket to libinc
 * @others: all managers, the first one's first; of the second thread
 * @several: they are
 * @manager: address of this one
 * @connecting: sockets that are not the stream's yet
 * @wake: event for "up": @beat_ms has changed, or @cm is done
 * @say: guards writing to libinc, and @cm and @joined
 * @cm: connection by RDMA CM; NULL: none
 * @joined: "joined" of the tree that it is for
 * @lock: guards @stream, @manager, @usable and @closing
 * @usable: "up" may use it
 * @closing: libinc has closed its end
 * @asked: what the rank asked for first; it has, if its job is not empty
 * @reservation: that it names; empty: none
 * @rejoin: its last "rejoin"
 * @owed: messages that have not been answered: 1 << enum inc_rdv_type
 * @tree_id: its tree, 0: not joined yet
 * @resume_ms: for how long to look for a manager
 * @opened_at: milliseconds; when this stream was opened
 * @opened: number of streams that were opened
 * @worked: one of them was not refused
 * @lost_at: milliseconds; when the stream was lost; 0: it was not
 * @up: thread that reads lines
 * @down: thread that receives messages
 * @failed: there are no threads: it could not start
 * @beat_ms: interval of heartbeats, 0: none
 */
struct inc_am {
	pid_t			pid;
	struct am_stream	stream;
	struct auth_client	auth;
	int			fd;
	struct inc_reach	*others;
	bool			several;
	char			manager[INC_REACH_ADDR];
	struct inc_reach_sockets connecting;
	int			wake;
	pthread_mutex_t		say;
	struct am_cm		*cm;
	struct inc_rdv_msg	joined;
	pthread_mutex_t		lock;
	bool			usable;
	bool			closing;
	struct inc_rdv_join	asked;
	char			reservation[AM_ID_MAX + 1];
	struct inc_rdv_join	rejoin;
	_Atomic uint32_t	owed;
	uint32_t		tree_id;
	uint32_t		resume_ms;
	int64_t			opened_at;
	unsigned int		opened;
	bool			worked;
	int64_t			lost_at;
	pthread_t		up;
	pthread_t		down;
	bool			failed;
	_Atomic uint32_t	beat_ms;
};

/* --- To libinc ----------------------------------------------------------- */

/* The caller holds @am->say. */
static bool write_line_locked(struct inc_am *am, const struct inc_rdv_msg *msg)
{
	char line[INC_RDV_LINE_MAX + 1];
	int len = inc_rdv_format(msg, line, sizeof(line));

	return len > 0 &&
	       send(am->fd, line, (size_t)len, MSG_NOSIGNAL) == len;
}

static bool write_line(struct inc_am *am, const struct inc_rdv_msg *msg)
{
	bool good;

	pthread_mutex_lock(&am->say);
	good = write_line_locked(am, msg);
	pthread_mutex_unlock(&am->say);
	return good;
}

/* Tell libinc as a daemon would. */
static void tell_error(struct inc_am *am, int err, const char *text)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_ERROR, .err = err };

	pthread_mutex_lock(&am->lock);
	snprintf(msg.text, sizeof(msg.text), "aggregation manager %s: %s",
		 am->manager, text);
	pthread_mutex_unlock(&am->lock);
	write_line(am, &msg);
}

/* --- Up ------------------------------------------------------------------ */

/* If there is no stream now, or it is lost, "down" sends it over the next. */
static void try_send(struct inc_am *am, const struct am_message *msg)
{
	pthread_mutex_lock(&am->lock);
	if (am->usable)
		am_stream_send(&am->stream, msg);
	pthread_mutex_unlock(&am->lock);
}

static void mark_established(struct inc_am *am)
{
	pthread_mutex_lock(&am->say);
	if (am->cm)
		am_cm_established(am->cm);
	pthread_mutex_unlock(&am->say);
}

/* @rebuild: the manager makes another tree, as the tree may have failed. */
static void cannot_connect(struct inc_am *am, const struct am_cm_result *result,
			   bool rebuild)
{
	struct am_message msg = {
		.failure = !rebuild,
		.rdv.type = INC_RDV_LOST,
	};

	snprintf(msg.rdv.text, sizeof(msg.rdv.text), "%s", result->text);
	if (rebuild)
		atomic_fetch_or(&am->owed, 1U << INC_RDV_LOST);
	try_send(am, &msg);
	if (!rebuild)
		tell_error(am, result->err, result->text);
}

/* Is the connection made? */
static void take_cm(struct inc_am *am)
{
	struct inc_rdv_joined *joined = &am->joined.joined;
	struct am_cm_result result = { .err = 0 };
	bool rebuild;

	pthread_mutex_lock(&am->say);
	rebuild = joined->rebuild;
	if (am->cm && am_cm_done(am->cm, &result) && !result.err) {
		joined->psn = result.psn;
		joined->has_own_psn = true;
		joined->own_psn = result.own_psn;
		write_line_locked(am, &am->joined);
	}
	pthread_mutex_unlock(&am->say);
	if (result.err)
		cannot_connect(am, &result, rebuild);
}

static bool send_line(struct inc_am *am, const char *line)
{
	struct am_message msg = { .heartbeat = false };
	char err[INC_RDV_TEXT_MAX];

	if (inc_rdv_parse(line, &msg.rdv, err, sizeof(err)) ||
	    msg.rdv.type > INC_RDV_LOSSY)
		return false;
	pthread_mutex_lock(&am->lock);
	if (msg.rdv.type == INC_RDV_JOIN)
		am->asked = msg.rdv.join;
	if (msg.rdv.type == INC_RDV_REJOIN)
		am->rejoin = msg.rdv.join;
	pthread_mutex_unlock(&am->lock);
	if (msg.rdv.type == INC_RDV_RTS)
		mark_established(am);
	/* What it said before is about a tree that has failed. */
	if (msg.rdv.type == INC_RDV_REJOIN)
		atomic_fetch_and(&am->owed,
				 ~(1U << INC_RDV_RTS | 1U << INC_RDV_LOST));
	memcpy(msg.reservation, am->reservation, sizeof(msg.reservation));
	/* It says that again, if need be. */
	if (msg.rdv.type != INC_RDV_LOSSY)
		atomic_fetch_or(&am->owed, 1U << msg.rdv.type);
	try_send(am, &msg);
	return true;
}

/* Wait for input. Returns false when it is time for a heartbeat. */
static bool wait_input(struct inc_am *am)
{
	struct pollfd pfd[] = {
		{ .fd = am->fd, .events = POLLIN },
		{ .fd = am->wake, .events = POLLIN },
	};
	int64_t since = now_ms(), left;
	uint32_t beat;
	uint64_t count;

	for (;;) {
		beat = atomic_load(&am->beat_ms);
		left = beat ? since + beat - now_ms() : INT_MAX;
		if (left <= 0)
			return false;
		if (!poll(pfd, 2, left == INT_MAX ? -1 : (int)left))
			continue;
		if (pfd[0].revents)
			return true;
		if (!pfd[1].revents)
			continue;
		if (read(am->wake, &count, sizeof(count)) < 0)
			return true;
		take_cm(am);
	}
}

static void *copy_up(void *arg)
{
	const struct am_message beat = { .heartbeat = true };
	struct inc_rdv_lines lines = { 0 };
	char line[INC_RDV_LINE_MAX];
	struct inc_am *am = arg;
	bool good = true;
	size_t room;
	ssize_t n;
	char *to;
	int ret;

	while (good) {
		if (!wait_input(am)) {
			try_send(am, &beat);
			continue;
		}
		to = inc_rdv_space(&lines, &room);
		n = recv(am->fd, to, room, 0);
		if (n <= 0)
			break;
		inc_rdv_added(&lines, (size_t)n);
		while (good &&
		       (ret = inc_rdv_line(&lines, line, sizeof(line))))
			good = ret > 0 && send_line(am, line);
	}
	/* libinc has closed its end. */
	pthread_mutex_lock(&am->lock);
	am->closing = true;
	am_stream_cancel(&am->stream);
	pthread_mutex_unlock(&am->lock);
	return NULL;
}

/* --- Down ---------------------------------------------------------------- */

static void set_beat(struct inc_am *am, const struct am_message *msg)
{
	const uint64_t one = 1;

	am->resume_ms = msg->resume_ms;
	atomic_store(&am->beat_ms, msg->heartbeat_ms);
	if (write(am->wake, &one, sizeof(one)) < 0)
		return;	/* it has been woken already */
}

static void drop_cm(struct inc_am *am)
{
	struct am_cm *cm;

	pthread_mutex_lock(&am->say);
	cm = am->cm;
	am->cm = NULL;
	pthread_mutex_unlock(&am->say);
	am_cm_stop(cm);
}

/* libinc gets "joined" from take_cm(). */
static void connect_by_cm(struct inc_am *am, const struct am_message *msg)
{
	struct am_cm_peers peers = {
		.tree	= msg->rdv.joined,
		.port	= msg->cm_port,
		.member	= msg->cm_member,
	};

	drop_cm(am);
	pthread_mutex_lock(&am->lock);
	peers.own = am->asked.addr;
	peers.own_qpn = am->asked.qpn;
	peers.uc = am->asked.uc;
	pthread_mutex_unlock(&am->lock);
	pthread_mutex_lock(&am->say);
	am->joined = msg->rdv;
	am->cm = am_cm_start(&peers, am->wake);
	pthread_mutex_unlock(&am->say);
	if (!am->cm)
		tell_error(am, ENOMEM, "no memory for RDMA CM");
}

/* Returns whether libinc is to know of it, now. */
static bool note_message(struct inc_am *am, const struct am_message *msg)
{
	uint32_t done = 0;

	if (msg->resumed) {
		set_beat(am, msg);
		if (msg->rdv.type != INC_RDV_READY ||
		    !(atomic_load(&am->owed) & 1U << INC_RDV_RTS))
			return false;
	}
	switch (msg->rdv.type) {
	case INC_RDV_JOINED:
		set_beat(am, msg);
		am->tree_id = msg->rdv.joined.tree_id;
		done = 1U << INC_RDV_JOIN | 1U << INC_RDV_REJOIN;
		pthread_mutex_lock(&am->lock);
		if (atomic_load(&am->owed) & 1U << INC_RDV_REJOIN) {
			am->asked.qpn = am->rejoin.qpn;
			am->asked.psn = am->rejoin.psn;
		}
		pthread_mutex_unlock(&am->lock);
		break;
	case INC_RDV_READY:
		done = 1U << INC_RDV_RTS;
		break;
	case INC_RDV_REBUILD:
		drop_cm(am);
		done = 1U << INC_RDV_RTS | 1U << INC_RDV_LOST;
		break;
	default:
		break;
	}
	atomic_fetch_and(&am->owed, ~done);
	return true;
}

/* Returns false when there are no more. */
static bool take_message(struct inc_am *am)
{
	struct am_message msg;
	int ret = am_stream_receive(&am->stream, &msg);

	if (ret == -EPROTO)
		tell_error(am, EPROTO, "what it sends is not understood");
	if (ret)
		return ret == -ENOMSG;
	am->lost_at = 0;
	if (!note_message(am, &msg))
		return true;
	if (msg.rdv.type == INC_RDV_JOINED && msg.cm_port) {
		connect_by_cm(am, &msg);
		return true;
	}
	return write_line(am, &msg.rdv);
}

/*
 * Is it the manager that is lost, or does not serve? If a group is refused because
 * the fabric cannot be reached, that is UNAVAILABLE, too, and all its ranks end.
 */
static bool manager_fails(int status, const char *text)
{
	return status == WIRE_UNAVAILABLE &&
	       strncmp(text, AM_GROUP, strlen(AM_GROUP)) != 0;
}

/* --- Another manager ----------------------------------------------------- */

static int start_stream(struct inc_am *am, int tcp, char *err, size_t err_len)
{
	am->opened_at = now_ms();
	am->opened++;
	return am_stream_open(&am->stream, tcp, am->manager, &am->auth, err,
			      err_len);
}

static bool is_closing(struct inc_am *am)
{
	bool closing;

	pthread_mutex_lock(&am->lock);
	closing = am->closing;
	pthread_mutex_unlock(&am->lock);
	return closing;
}

/* They are the stream's, or there are none. */
static void forget_sockets(struct inc_am *am)
{
	unsigned int i;

	for (i = 0; i < INC_REACH_SEEN; i++)
		am->connecting.fd[i] = -1;
}

/*
 * Make another stream, to a manager that has not been tried since all were. One
 * that does not answer costs no more time than is needed to begin with the others.
 */
static bool open_next(struct inc_am *am, int64_t patience_ms)
{
	int64_t limit = CONNECT_MS + inc_reach_count(am->others) * EACH_MS;
	char err[INC_RDV_TEXT_MAX];
	bool opened;
	int tcp;

	if (!inc_reach_left(am->others))
		inc_reach_again(am->others);
	tcp = inc_reach_next(am->others, (int)(limit < patience_ms ? limit :
						       patience_ms),
			     &am->connecting);
	if (tcp < 0)
		return false;
	pthread_mutex_lock(&am->lock);
	snprintf(am->manager, sizeof(am->manager), "%s",
		 inc_reach_addr(am->others, inc_reach_which(am->others)));
	am->usable = false;
	am_stream_close(&am->stream);
	forget_sockets(am);
	opened = !start_stream(am, tcp, err, sizeof(err));
	if (am->closing)
		am_stream_cancel(&am->stream);
	pthread_mutex_unlock(&am->lock);
	return opened;
}

/* Messages that are said again, in this order: 1 << enum inc_rdv_type. */
static void say_owed(struct inc_am *am, uint32_t owed)
{
	static const enum inc_rdv_type types[] = {
		INC_RDV_REJOIN, INC_RDV_RTS, INC_RDV_LOST, INC_RDV_LEAVE,
	};
	struct am_message msg;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!(owed & 1U << types[i]))
			continue;
		msg = (struct am_message){ .rdv.type = types[i] };
		pthread_mutex_lock(&am->lock);
		if (types[i] == INC_RDV_REJOIN)
			msg.rdv.join = am->rejoin;
		pthread_mutex_unlock(&am->lock);
		am_stream_send(&am->stream, &msg);
	}
}

static void say_join(struct inc_am *am)
{
	struct am_message msg = {
		.resume = am->tree_id,
		.tree_id = am->tree_id,
		.rdv.type = INC_RDV_JOIN,
	};

	pthread_mutex_lock(&am->lock);
	msg.rdv.join = am->asked;
	pthread_mutex_unlock(&am->lock);
	memcpy(msg.reservation, am->reservation, sizeof(msg.reservation));
	am_stream_send(&am->stream, &msg);
}

/*
 * What the rank has said, and may not have been heard. What it says meanwhile "up"
 * leaves to us, until it may use the stream.
 */
static void say_again(struct inc_am *am)
{
	uint32_t owed = atomic_load(&am->owed), said = 0;

	if (am->tree_id)
		say_join(am);
	do {
		said |= owed;
		if (owed & 1U << INC_RDV_JOIN)
			say_join(am);
		say_owed(am, owed);
		pthread_mutex_lock(&am->lock);
		owed = atomic_load(&am->owed) & ~said;
		am->usable = !owed;
		pthread_mutex_unlock(&am->lock);
	} while (owed);
}

/*
 * The stream is lost: for how long to look for another manager? If there is one
 * only, and it did not take the stream, nobody else will, unless it says so. But
 * on a host with no CPU to spare, the first connection may have waited for longer
 * than the manager waits for its first words.
 */
static int64_t get_patience(const struct inc_am *am)
{
	if (am->tree_id)
		return am->resume_ms;
	if (am->worked)
		return REJOIN_MS;
	return am->several || am->opened < 2 ? JOIN_MS : 0;
}

/* Does a manager say that it, or another one, will soon take the stream? */
static bool is_begun(const char *text)
{
	return !strncmp(text, AM_STARTING, strlen(AM_STARTING)) ||
	       !strncmp(text, AM_NO_LEADER, strlen(AM_NO_LEADER));
}

/* Why the stream has ended, and what may help. Returns gRPC's status. */
static int end_stream(struct inc_am *am, char *text, size_t len)
{
	enum fault fault;
	const char *why;
	int status = am_stream_status(&am->stream, &why, &fault);

	snprintf(text, len, "%s%s", *why ? why : "it gives no reason",
		 am_hint(&am->auth, fault));
	text_clean(text);
	return status;
}

/* Why a stream has ended, and what was wrong with the managers that were tried. */
static void tell_end(struct inc_am *am, int status, const char *text)
{
	char why[INC_RDV_TEXT_MAX / 2], all[2 * INC_RDV_TEXT_MAX];

	inc_reach_why(am->others, "inc-amd", why, sizeof(why));
	snprintf(all, sizeof(all), "%s%s%s", text, *why ? "; manager " : "",
		 why);
	tell_error(am, am_errno_of(status), all);
}

/* Find the manager again, or another one. Else tell libinc why not. */
static bool find_again(struct inc_am *am)
{
	const struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000L };
	bool found = false, fails;
	char text[INC_RDV_TEXT_MAX];
	int64_t left;
	int status;

	status = end_stream(am, text, sizeof(text));
	fails = manager_fails(status, text);
	am->worked |= now_ms() - am->opened_at >= WORKED_MS || is_begun(text);
	if (fails && !am->lost_at)
		am->lost_at = now_ms();
	while (fails && !found && !is_closing(am)) {
		left = am->lost_at + get_patience(am) - now_ms();
		if (left <= 0)
			break;
		nanosleep(&pause, NULL);
		found = open_next(am, left);
	}
	if (found)
		say_again(am);
	else if (status != WIRE_OK && status != WIRE_CANCELLED)
		tell_end(am, status, text);
	return found;
}

static void *copy_down(void *arg)
{
	struct inc_am *am = arg;

	do {
		while (take_message(am))
			;
	} while (find_again(am));
	/* libinc may still write, and reads the reason when it has. */
	shutdown(am->fd, SHUT_WR);
	return NULL;
}

/* --- Start and stop ------------------------------------------------------ */

static int make_threads(struct inc_am *am)
{
	int ret;

	am->usable = true;
	ret = -thread_create(&am->up, copy_up, am);
	if (ret)
		return ret;
	ret = -thread_create(&am->down, copy_down, am);
	if (ret) {
		shutdown(am->fd, SHUT_RDWR);
		pthread_join(am->up, NULL);
	}
	return ret;
}

static int read_reservation(char reservation[AM_ID_MAX + 1], char *err,
			    size_t err_len)
{
	const char *name = secure_getenv("INC_AM_RESERVATION");

	if (!name)
		return 0;
	if (strlen(name) <= AM_ID_MAX) {
		memcpy(reservation, name, strlen(name) + 1);
		return 0;
	}
	snprintf(err, err_len, "INC_AM_RESERVATION: a name has %d characters at most",
		 AM_ID_MAX);
	return -EINVAL;
}

/* What the environment tells: certificates, token and reservation, if any. */
static int read_env(struct auth_client *auth, char reservation[AM_ID_MAX + 1],
		char *err, size_t err_len)
{
	int ret = inc_auth_read(auth, "INC_AM", err, err_len);

	return ret ? ret : read_reservation(reservation, err, err_len);
}

static int note_others(struct inc_am *am)
{
	if (!am->others)
		return -ENOMEM;
	am->several = inc_reach_count(am->others) > 1;
	inc_reach_skip(am->others, 0);
	return 0;
}

/**
 * inc_am_start() - open a rank's stream to a manager
 * @am: result, for inc_am_stop()
 * @tcp: connection to it; is closed on failure, too
 * @manager: its address, and other managers', with commas between
 * @fd: result: socket with lines of the rendezvous; to be closed by the caller
 *
 * If the certificates or the token cannot be used, the socket has an error line.
 *
 * Return: 0 or a negative errno value.
 */
int inc_am_start(struct inc_am **am, int tcp, const char *manager, int *fd)
{
	struct inc_am *a = calloc(1, sizeof(*a));
	char err[INC_RDV_TEXT_MAX] = "no memory";
	int pair[2], ret;

	if (!a || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		ret = a ? -errno : -ENOMEM;
		free(a);
		close(tcp);
		return ret;
	}
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	a->pid = getpid();
	a->fd = pair[1];
	forget_sockets(a);
	a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&a->say, NULL);
	pthread_mutex_init(&a->lock, NULL);
	inc_reach_nth(manager, 0, a->manager, sizeof(a->manager));
	a->others = inc_reach_new(manager, atoi(AM_PORT), true);
	*am = a;
	*fd = pair[0];
	ret = note_others(a);
	if (!ret)
		ret = read_env(&a->auth, a->reservation, err, sizeof(err));
	if (ret)
		close(tcp);
	else
		ret = start_stream(a, tcp, err, sizeof(err)) ?: make_threads(a);
	if (!ret)
		return 0;
	am_stream_close(&a->stream);
	/* The text would be lost if this failed. */
	a->failed = true;
	tell_error(a, -ret, err);
	shutdown(a->fd, SHUT_WR);
	return 0;
}

/**
 * inc_am_stop() - end a rank's stream
 * @am: stream; the other end of its socket is closed already
 *
 * In a child of fork() the stream is the parent's: only the child's copies of
 * its sockets are closed, so that the manager notices the parent's death.
 */
void inc_am_stop(struct inc_am *am)
{
	unsigned int i;

	if (am->pid != getpid()) {
		am_stream_forked(&am->stream);
		for (i = 0; i < INC_REACH_SEEN; i++)
			if (am->connecting.fd[i] >= 0)
				close(am->connecting.fd[i]);
		am_cm_forked(am->cm);
		close(am->fd);
		close(am->wake);
		return;
	}
	if (am->failed) {
		inc_auth_free(&am->auth);
		inc_reach_free(am->others);
		close(am->fd);
		close(am->wake);
		free(am);
		return;
	}
	/* The caller may have closed a duplicate only. */
	shutdown(am->fd, SHUT_RDWR);
	pthread_join(am->up, NULL);
	pthread_join(am->down, NULL);
	am_cm_stop(am->cm);
	am_stream_close(&am->stream);
	inc_auth_free(&am->auth);
	inc_reach_free(am->others);
	close(am->fd);
	close(am->wake);
	free(am);
}
