// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A rank's stream to its coordinator, see libinc-am.h. It has no thread of its own:
 * calls to send or receive also do the background work, heartbeats included. libinc
 * waits on one descriptor: inc-tool serve's connection, or an epoll instance with a
 * manager's connection, a timer and an event.
 *
 * If a manager is lost, a thread looks for it, or for another one that knows the
 * group, as the search may take long. Messages that the lost stream did not deliver
 * are sent again over the new one (again.c).
 *
 * With RDMA CM, the rank connects between the manager's "joined" and the one passed
 * to libinc, which has the PSNs.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "client.h"
#include "conf/clock.h"
#include "conf/keepalive.h"
#include "conf/text.h"
#include "rpc/hint.h"

#define RETRY_MS	1000
#define BIT(type)	(1U << (type))

/* --- Descriptors to wait on ---------------------------------------------- */

static int watch_fd(const struct inc_am *am, int op, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.fd = fd };

	if (!am->is_manager)
		return 0;
	return fd < 0 || epoll_ctl(am->ep, op, fd, &e) ? -errno : 0;
}

/* Set what wakes the rank: connection events, the next heartbeat or ping. */
static void arm_waits(struct inc_am *am)
{
	struct itimerspec t = { .it_value = { 0 } };
	struct channel *c = am->stream.channel;
	int64_t at = am->beat_at;
	short events;

	if (!am->is_manager)
		return;
	if (c) {
		events = channel_events(c);
		if (events != am->events)
			watch_fd(am, EPOLL_CTL_MOD, channel_fd(c),
				 (events & POLLIN ? EPOLLIN : 0) |
				 (events & POLLOUT ? EPOLLOUT : 0));
		am->events = events;
		at = channel_alarm(c) < at ? channel_alarm(c) : at;
	}
	if (at == am->armed)
		return;
	am->armed = at;
	if (at != AM_NEVER) {
		t.it_value.tv_sec = at / 1000;
		t.it_value.tv_nsec = at % 1000 * 1000000 + 1;
	}
	timerfd_settime(am->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

/* Drain the timer and the eventfd: until read, they stay readable. */
static void take_wakes(struct inc_am *am)
{
	uint64_t n;

	if (!am->is_manager)
		return;
	if (read(am->timer, &n, sizeof(n)) > 0)
		am->armed = AM_NEVER;
	if (read(am->wake, &n, sizeof(n)) < 0)
		return;
}

/* Context: lock held, or @am not published yet. */
static int open_stream(struct inc_am *am, int tcp, char *err, size_t err_len)
{
	int ret;

	am->opened_at = now_ms();
	am->opened++;
	ret = am_stream_open(&am->stream, tcp, am->server,
			     am->is_manager ? "inc-amd" : "inc-tool serve",
			     &am->auth, am->is_manager, err, err_len);
	if (ret)
		return ret;
	am->events = POLLIN;
	return watch_fd(am, EPOLL_CTL_ADD, channel_fd(am->stream.channel),
			EPOLLIN);
}

/* epoll goes on watching while a forked child has a copy. */
static void close_stream(struct inc_am *am)
{
	if (am->stream.channel)
		watch_fd(am, EPOLL_CTL_DEL, channel_fd(am->stream.channel), 0);
	am_stream_close(&am->stream);
}

/* --- Errors -------------------------------------------------------------- */

/* Make a message of an error. Returns 0. */
static int tell_error(const struct inc_am *am, int err, const char *text,
		      struct inc_rdv_msg *msg)
{
	int n;

	*msg = (struct inc_rdv_msg){ .type = INC_RDV_ERROR, .err = err };
	n = snprintf(msg->text, sizeof(msg->text), "%s %s: ", am->is_manager ?
		     "aggregation manager" : "rendezvous daemon", am->server);
	snprintf(msg->text + n, sizeof(msg->text) - (size_t)n, "%s", text);
	return 0;
}

/*
 * Report the end of the stream as an error, unless it ended normally. The text
 * names the managers that were tried afterwards.
 */
static int tell_end(struct inc_am *am, struct inc_rdv_msg *msg)
{
	const struct am_end *end = &am->end;
	char why[INC_RDV_TEXT_MAX / 2] = "", all[2 * INC_RDV_TEXT_MAX];

	am->ended = true;
	am->beat_at = AM_NEVER;
	/* @ep would report the closed connection forever. */
	if (am->is_manager)
		close_stream(am);
	if (end->status == WIRE_OK || end->status == WIRE_CANCELLED)
		return -ENOTCONN;
	if (am->is_manager)
		inc_reach_why(am->others, "inc-amd", why, sizeof(why));
	snprintf(all, sizeof(all), "%s%s%s", end->text,
		 *why ? "; manager " : "", why);
	tell_error(am, am_errno_of(end->status), all, msg);
	if (am->is_manager)
		return 0;
	/* The daemon ran out of room; ENOBUFS would mean local memory. */
	if (msg->err == ENOBUFS)
		msg->err = ENOSPC;
	if (end->fault == FAULT_NONE)
		snprintf(msg->text, sizeof(msg->text), "%s", end->text);
	return 0;
}

/* Record why the stream has ended, with a hint for the user. */
static void note_end(struct inc_am *am)
{
	struct am_end *end = &am->end;
	const char *why;

	end->status = am_stream_status(&am->stream, &why, &end->fault);
	snprintf(end->text, sizeof(end->text), "%s%s",
		 *why ? why : "it gives no reason",
		 am_hint(&am->auth, end->fault));
	text_clean(end->text);
}

/* --- Messages ------------------------------------------------------------ */

static void send_message(struct inc_am *am, const struct am_message *msg)
{
	if (!am->stream.channel)
		return;
	am_stream_send(&am->stream, msg);
	channel_flush(am->stream.channel);
	/* Sending may have ended the stream: @fd would not report its end. */
	am->more = true;
}

static void drop_cm(struct inc_am *am)
{
	am_cm_stop(am->cm);
	am->cm = NULL;
}

/*
 * No connection by RDMA CM: if the tree has failed, the manager makes another one.
 * Returns 0 and a message for the rank, else -EAGAIN.
 */
static int cannot_connect(struct inc_am *am, const struct am_cm_result *result,
			  struct inc_rdv_msg *msg)
{
	bool rebuild = am->joined.joined.rebuild;
	struct am_message out = {
		.failure = !rebuild,
		.rdv.type = INC_RDV_LOST,
	};

	snprintf(out.rdv.text, sizeof(out.rdv.text), "%s", result->text);
	if (rebuild)
		am->owed |= BIT(INC_RDV_LOST);
	send_message(am, &out);
	return rebuild ? -EAGAIN :
			 tell_error(am, result->err, result->text, msg);
}

/* Has RDMA CM connected? Returns 0 and a message, or -EAGAIN. */
static int take_cm(struct inc_am *am, struct inc_rdv_msg *msg)
{
	struct am_cm_result result = { .err = 0 };

	if (!am->cm || !am_cm_done(am->cm, &result))
		return -EAGAIN;
	if (result.err)
		return cannot_connect(am, &result, msg);
	*msg = am->joined;
	msg->joined.psn = result.psn;
	msg->joined.has_own_psn = true;
	msg->joined.own_psn = result.own_psn;
	return 0;
}

/* take_cm() delivers "joined". Returns -EAGAIN, or 0 and an error message. */
static int connect_by_cm(struct inc_am *am, const struct am_message *in,
			 struct inc_rdv_msg *msg)
{
	const struct am_cm_peers peers = {
		.own	= am->asked.addr,
		.own_qpn = am->asked.qpn,
		.uc	= am->asked.uc,
		.tree	= in->rdv.joined,
		.port	= in->cm_port,
		.member	= in->cm_member,
	};

	drop_cm(am);
	am->joined = in->rdv;
	am->cm = am_cm_start(&peers, am->wake);
	return am->cm ? -EAGAIN :
			tell_error(am, ENOMEM, "no memory for RDMA CM", msg);
}

/* Record the manager's heartbeat interval and limit for a search. */
static void note_terms(struct inc_am *am, const struct am_message *in)
{
	am->resume_ms = in->resume_ms;
	am_stream_patience(&am->stream, am->resume_ms ? AM_ANSWER_MS :
							AM_ALONE_MS);
	am->beat_ms = in->heartbeat_ms;
	am->beat_at = am->beat_ms ? now_ms() + am->beat_ms : AM_NEVER;
}

static void note_joined(struct inc_am *am, const struct am_message *in)
{
	am->tree_id = in->rdv.joined.tree_id;
	if (am->owed & BIT(INC_RDV_REJOIN)) {
		am->asked.qpn = am->rejoin.qpn;
		am->asked.psn = am->rejoin.psn;
	}
	am->owed &= ~(BIT(INC_RDV_JOIN) | BIT(INC_RDV_REJOIN));
	if (am->is_manager)
		note_terms(am, in);
	/* Both ends use the daemon's dead time. */
	else if (in->rdv.joined.dead_time)
		inc_set_outage(channel_fd(am->stream.channel),
			       in->rdv.joined.dead_time);
}

/* Process a message. Returns 0 if the rank is to get it, too, else -EAGAIN. */
static int note_message(struct inc_am *am, const struct am_message *in,
			struct inc_rdv_msg *msg)
{
	am->lost_at = 0;
	*msg = in->rdv;
	if (in->resumed) {
		note_terms(am, in);
		if (in->rdv.type != INC_RDV_READY ||
		    !(am->owed & BIT(INC_RDV_RTS)))
			return -EAGAIN;
	}
	switch (in->rdv.type) {
	case INC_RDV_JOINED:
		note_joined(am, in);
		return in->cm_port ? connect_by_cm(am, in, msg) : 0;
	case INC_RDV_READY:
		am->owed &= ~BIT(INC_RDV_RTS);
		break;
	case INC_RDV_REBUILD:
		drop_cm(am);
		am->owed &= ~(BIT(INC_RDV_RTS) | BIT(INC_RDV_LOST));
		break;
	default:
		break;
	}
	return 0;
}

/* Handle the end of the stream. Returns as am_recv(). */
static int end_stream(struct inc_am *am, struct inc_rdv_msg *msg)
{
	char err[INC_RDV_TEXT_MAX];
	int tcp = -1;

	note_end(am);
	if (am->is_manager && am_search_begin(am)) {
		close_stream(am);
		return -EAGAIN;
	}
	/*
	 * On a busy host, the first message may have come too late: retry once.
	 */
	if (!am->is_manager && am->end.fault == FAULT_CUT && am->opened < 2)
		tcp = inc_reach_connect(am->server, atoi(INC_RDV_PORT),
					RETRY_MS);
	if (tcp < 0)
		return tell_end(am, msg);
	close_stream(am);
	if (open_stream(am, tcp, err, sizeof(err)))
		return tell_end(am, msg);
	am_say_again(am);
	return -EAGAIN;
}

/* Handle the end of a search. Returns -EAGAIN, or 0 and an error. */
static int resume_stream(struct inc_am *am, struct inc_rdv_msg *msg)
{
	char err[INC_RDV_TEXT_MAX];
	int tcp = am_search_end(am);

	if (tcp >= 0 && !open_stream(am, tcp, err, sizeof(err))) {
		am_say_again(am);
		return -EAGAIN;
	}
	close_stream(am);
	return tcp >= 0 && am_search_begin(am) ? -EAGAIN : tell_end(am, msg);
}

static int take_message(struct inc_am *am, struct inc_rdv_msg *msg)
{
	struct am_message in;
	int ret;

	do
		ret = am_stream_try(&am->stream, &in);
	while (ret == -ENOMSG || (!ret && note_message(am, &in, msg)));
	if (ret == -EPROTO) {
		am->ended = true;
		return tell_error(am, EPROTO, "what it sends is not understood",
				  msg);
	}
	return ret == -ENOTCONN ? end_stream(am, msg) : ret;
}

static void send_beat(struct inc_am *am)
{
	const struct am_message beat = { .heartbeat = true };
	int64_t now = am->beat_at == AM_NEVER ? 0 : now_ms();

	if (now < am->beat_at)
		return;
	am->beat_at = now + am->beat_ms;
	send_message(am, &beat);
}

static int am_recv(struct inc_am *am, struct inc_rdv_msg *msg, short *events)
{
	int ret = -ENOTCONN;

	pthread_mutex_lock(&am->lock);
	take_wakes(am);
	if (!am->ended) {
		send_beat(am);
		ret = take_cm(am, msg);
	}
	if (ret == -EAGAIN && am_search_is_over(am))
		ret = resume_stream(am, msg);
	if (ret == -EAGAIN && am->stream.channel)
		ret = take_message(am, msg);
	am->more = !ret;
	if (!am->ended)
		arm_waits(am);
	*events = am->is_manager || !am->stream.channel ? POLLIN :
		  channel_events(am->stream.channel);
	pthread_mutex_unlock(&am->lock);
	return ret;
}

/* Messages sent while there is no stream go over the next one. */
static int am_send(struct inc_am *am, const struct inc_rdv_msg *said)
{
	struct am_message msg = { .rdv = *said };
	int ret = -ENOTCONN;

	pthread_mutex_lock(&am->lock);
	if (!am->ended) {
		msg.rdv.join.has_key = said->type == INC_RDV_JOIN &&
				       am->auth.job_key;
		if (msg.rdv.join.has_key)
			memcpy(msg.rdv.join.key, am->key, sizeof(am->key));
		am_note_said(am, &msg.rdv);
		if (said->type == INC_RDV_RTS && am->cm)
			am_cm_established(am->cm);
		memcpy(msg.reservation, am->reservation,
		       sizeof(msg.reservation));
		send_message(am, &msg);
		arm_waits(am);
		ret = 0;
	}
	pthread_mutex_unlock(&am->lock);
	return ret;
}

static bool am_more(struct inc_am *am)
{
	bool more;

	pthread_mutex_lock(&am->lock);
	more = am->more;
	pthread_mutex_unlock(&am->lock);
	return more;
}

/* The coordinator sees the rank as lost, after any messages sent before. */
static void am_hang_up(struct inc_am *am)
{
	pthread_mutex_lock(&am->lock);
	am->ended = true;
	if (am->stream.channel) {
		note_end(am);
		shutdown(channel_fd(am->stream.channel), SHUT_RDWR);
	}
	pthread_mutex_unlock(&am->lock);
}

/* --- Open and close ------------------------------------------------------ */

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

static int read_key(struct inc_am *am, char *err, size_t err_len)
{
	const char *key = secure_getenv("INC_JOB_KEY");

	if (!key || !*key)
		return 0;
	am->auth.job_key = text_hex_take(key, am->key, sizeof(am->key));
	if (am->auth.job_key)
		return 0;
	snprintf(err, err_len, "INC_JOB_KEY: must be 64 digits, 0-9 and a-f (\"openssl rand -hex 32\" makes such a key)");
	return -EINVAL;
}

/* @list: the manager that was reached, and others; or an inc-tool serve */
static int know_others(struct inc_am *am, const char *list)
{
	snprintf(am->server, sizeof(am->server), "%s", list);
	if (!am->is_manager)
		return 0;
	inc_reach_nth(list, 0, am->server, sizeof(am->server));
	am->others = inc_reach_new(list, atoi(AM_PORT), true);
	if (!am->others)
		return -ENOMEM;
	am->several = inc_reach_count(am->others) > 1;
	inc_reach_skip(am->others, 0);
	return 0;
}

static int read_env(struct inc_am *am, char *err, size_t err_len)
{
	int ret = inc_auth_read(&am->auth, am->is_manager ? "INC_AM" :
				"INC_SERVER", err, err_len);

	ret = ret ?: read_key(am, err, err_len);
	return ret || !am->is_manager ? ret :
	       read_reservation(am->reservation, err, err_len);
}

static int make_waits(struct inc_am *am)
{
	am->ep = am->timer = am->wake = -1;
	if (!am->is_manager)
		return 0;
	am->ep = epoll_create1(EPOLL_CLOEXEC);
	am->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	am->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return am->ep < 0 || watch_fd(am, EPOLL_CTL_ADD, am->timer, EPOLLIN) ||
	       watch_fd(am, EPOLL_CTL_ADD, am->wake, EPOLLIN) ? -errno : 0;
}

static void close_waits(struct inc_am *am)
{
	const int fds[] = { am->ep, am->timer, am->wake };
	int i;

	for (i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void am_free(struct inc_am *am)
{
	am_stream_close(&am->stream);
	inc_auth_free(&am->auth);
	explicit_bzero(am->key, sizeof(am->key));
	explicit_bzero(&am->asked, sizeof(am->asked));
	inc_reach_free(am->others);
	close_waits(am);
	pthread_mutex_destroy(&am->lock);
	free(am);
}

static struct inc_am *am_open(int tcp, const char *list, bool is_manager,
			      char *err, size_t err_len)
{
	struct inc_am *am = calloc(1, sizeof(*am));
	int ret;

	snprintf(err, err_len, "%s", strerror(ENOMEM));
	if (!am) {
		close(tcp);
		return NULL;
	}
	am->pid = getpid();
	am->is_manager = is_manager;
	am->beat_at = am->armed = AM_NEVER;
	am->search.fd = -1;
	am_forget_sockets(am);
	pthread_mutex_init(&am->lock, NULL);
	ret = make_waits(am) ?: know_others(am, list);
	if (ret)
		snprintf(err, err_len, "%s", strerror(-ret));
	else
		ret = read_env(am, err, err_len);
	if (ret)
		close(tcp);
	else if (!open_stream(am, tcp, err, err_len))
		return am;
	am_free(am);
	return NULL;
}

static int am_fd(const struct inc_am *am)
{
	return am->is_manager ? am->ep :
	       am->stream.channel ? channel_fd(am->stream.channel) : -1;
}

/* A child's copies would keep connections open after the parent's death. */
static void close_copies(struct inc_am *am)
{
	unsigned int i;

	am_stream_forked(&am->stream);
	for (i = 0; i < INC_REACH_SEEN; i++)
		if (am->search.connecting.fd[i] >= 0)
			close(am->search.connecting.fd[i]);
	am_cm_forked(am->cm);
	close_waits(am);
}

static void am_close(struct inc_am *am)
{
	if (am->pid != getpid()) {
		close_copies(am);
		return;
	}
	am_search_stop(am);
	am_cm_stop(am->cm);
	/* Cancel the stream: the manager need not wait for this rank. */
	if (am->stream.channel)
		note_end(am);
	am_free(am);
}

const struct inc_am_ops INC_AM_OPS = {
	.open		= am_open,
	.fd		= am_fd,
	.send		= am_send,
	.recv		= am_recv,
	.more		= am_more,
	.hang_up	= am_hang_up,
	.close		= am_close,
};
