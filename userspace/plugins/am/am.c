// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A rank's stream to the manager, see libinc-am.h. Two threads translate between it
 * and lines of the rendezvous: "up" those of the rank, "down" those to it. The
 * stream ends with the socket to libinc, and the socket with the stream: unless
 * the manager can be found again, or another one that knows the group. "down"
 * looks for it, and makes another stream; what the last one may have lost is
 * sent again.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/daemon/libinc-am.h"
#include "manager/api/message.h"
#include "reach.h"
#include "tls.h"

#define CONNECT_MS	1000
#define AGAIN_MS	100	/* between attempts to find a manager */
#define JOIN_MS		10000	/* to find one that leads, without a tree yet */
#define WORKED_MS	500	/* a stream that lasts so long has worked */

/**
 * struct inc_am - a rank's stream
 * @pid: process that it belongs to, not its children
 * @tcp: socket of the connection, which gRPC or @tls owns
 * @tls: TLS on it, or NULL
 * @auth: what proves who the rank is
 * @fd: our end of the socket to libinc
 * @list: addresses of all managers, the first one's first
 * @next: of these, the one to try next
 * @manager: address of this one
 * @wake: event for "up": @beat_ms has changed
 * @lock: guards @call, @sending, @usable and @closing
 * @idle: @sending has been cleared
 * @sending: "up" uses @call
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
 * @channel: connection
 * @cq: completion queue of the call
 * @call: the stream
 * @up: thread that reads lines
 * @down: thread that receives messages
 * @failed: there are no threads: it could not start
 * @beat_ms: interval of heartbeats, 0: none
 */
struct inc_am {
	pid_t			pid;
	int			tcp;
	struct am_tls		*tls;
	struct auth_client	auth;
	int			fd;
	char			list[1024];
	unsigned int		next;
	char			manager[256];
	int			wake;
	pthread_mutex_t		lock;
	pthread_cond_t		idle;
	bool			sending;
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
	grpc_channel		*channel;
	grpc_completion_queue	*cq;
	grpc_call		*call;
	pthread_t		up;
	pthread_t		down;
	bool			failed;
	_Atomic uint32_t	beat_ms;
};

/* The addresses of these are the tags of what the threads wait for. */
static const char tag_up, tag_down, tag_status;

/* Returns whether it was done; false: the stream has ended. */
static bool batch(struct inc_am *am, const grpc_op *ops, size_t n,
		  const char *tag)
{
	grpc_event ev;

	if (grpc_call_start_batch(am->call, ops, n, (void *)tag, NULL) !=
	    GRPC_CALL_OK)
		return false;
	ev = grpc_completion_queue_pluck(am->cq, (void *)tag,
					 gpr_inf_future(GPR_CLOCK_REALTIME),
					 NULL);
	return ev.type == GRPC_OP_COMPLETE && ev.success;
}

/* --- Up ------------------------------------------------------------------ */

static bool send_up(struct inc_am *am, const struct am_message *msg)
{
	grpc_op op = { .op = GRPC_OP_SEND_MESSAGE };
	grpc_byte_buffer *buf;
	grpc_slice slice;
	uint8_t *data;
	size_t len;
	bool done;

	if (am_rank_pack(msg, &data, &len))
		return false;
	slice = grpc_slice_from_copied_buffer((char *)data, len);
	free(data);
	buf = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_slice_unref(slice);
	op.data.send_message.send_message = buf;
	done = batch(am, &op, 1, &tag_up);
	grpc_byte_buffer_destroy(buf);
	return done;
}

/* If there is no stream now, or it is lost, "down" sends it over the next. */
static void try_send(struct inc_am *am, const struct am_message *msg)
{
	bool usable;

	pthread_mutex_lock(&am->lock);
	usable = am->usable;
	am->sending = usable;
	pthread_mutex_unlock(&am->lock);
	if (!usable)
		return;
	send_up(am, msg);
	pthread_mutex_lock(&am->lock);
	am->sending = false;
	pthread_cond_signal(&am->idle);
	pthread_mutex_unlock(&am->lock);
}

static bool send_line(struct inc_am *am, const char *line)
{
	struct am_message msg = { .heartbeat = false };
	char err[INC_RDV_TEXT_MAX];

	if (inc_rdv_parse(line, &msg.rdv, err, sizeof(err)) ||
	    msg.rdv.type > INC_RDV_REJOIN)
		return false;
	pthread_mutex_lock(&am->lock);
	if (msg.rdv.type == INC_RDV_JOIN)
		am->asked = msg.rdv.join;
	if (msg.rdv.type == INC_RDV_REJOIN)
		am->rejoin = msg.rdv.join;
	pthread_mutex_unlock(&am->lock);
	memcpy(msg.reservation, am->reservation, sizeof(msg.reservation));
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
	uint64_t count;
	uint32_t ms;

	for (;;) {
		ms = atomic_load(&am->beat_ms);
		if (!poll(pfd, 2, ms ? (int)ms : -1))
			return false;
		if (pfd[0].revents)
			return true;
		if (pfd[1].revents &&
		    read(am->wake, &count, sizeof(count)) < 0)
			return true;
	}
}

static void *up(void *arg)
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
	if (am->call)
		grpc_call_cancel(am->call, NULL);
	pthread_mutex_unlock(&am->lock);
	return NULL;
}

/* --- Down ---------------------------------------------------------------- */

static bool write_line(struct inc_am *am, const struct inc_rdv_msg *msg)
{
	char line[INC_RDV_LINE_MAX + 1];
	int len = inc_rdv_format(msg, line, sizeof(line));

	return len > 0 &&
	       send(am->fd, line, (size_t)len, MSG_NOSIGNAL) == len;
}

static void set_beat(struct inc_am *am, const struct am_message *msg)
{
	const uint64_t one = 1;

	am->resume_ms = msg->resume_ms;
	atomic_store(&am->beat_ms, msg->heartbeat_ms);
	if (write(am->wake, &one, sizeof(one)) < 0)
		return;	/* it has been woken already */
}

/* Returns whether libinc is to know of it. */
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
		done = 1U << INC_RDV_RTS | 1U << INC_RDV_LOST;
		break;
	default:
		break;
	}
	atomic_fetch_and(&am->owed, ~done);
	return true;
}

static bool take_message(struct inc_am *am, grpc_byte_buffer *buf)
{
	struct am_message msg = { .heartbeat = false };
	grpc_byte_buffer_reader reader;
	grpc_slice slice;
	int ret = -EPROTO;

	if (grpc_byte_buffer_reader_init(&reader, buf)) {
		slice = grpc_byte_buffer_reader_readall(&reader);
		ret = am_manager_unpack(GRPC_SLICE_START_PTR(slice),
					GRPC_SLICE_LENGTH(slice), &msg);
		grpc_slice_unref(slice);
		grpc_byte_buffer_reader_destroy(&reader);
	}
	if (ret)
		return ret == -ENOMSG;
	am->lost_at = 0;
	return !note_message(am, &msg) || write_line(am, &msg.rdv);
}

/* Returns false when there are no more. */
static bool receive(struct inc_am *am, bool first,
		    grpc_metadata_array *initial)
{
	grpc_byte_buffer *buf = NULL;
	grpc_op ops[2] = { { .op = GRPC_OP_RECV_MESSAGE } };
	size_t n = 1;
	bool good;

	ops[0].data.recv_message.recv_message = &buf;
	if (first) {
		ops[n].op = GRPC_OP_RECV_INITIAL_METADATA;
		ops[n++].data.recv_initial_metadata.recv_initial_metadata =
			initial;
	}
	good = batch(am, ops, n, &tag_down) && buf && take_message(am, buf);
	if (buf)
		grpc_byte_buffer_destroy(buf);
	return good;
}

/* Tell libinc as a daemon would. */
static void tell_error(struct inc_am *am, int err, const char *text)
{
	struct inc_rdv_msg msg = { .type = INC_RDV_ERROR, .err = err };

	snprintf(msg.text, sizeof(msg.text), "aggregation manager %s: %s",
		 am->manager, text);
	write_line(am, &msg);
}

/* The manager could not be asked: say what is known of it. */
static void tell_unreached(struct inc_am *am, const char *details)
{
	char text[INC_RDV_TEXT_MAX];

	snprintf(text, sizeof(text), "%s; %s", details, AUTH_HINT);
	if (am->tls) {
		snprintf(text, sizeof(text), "%s", details);
		am_tls_why(am->tls, text, sizeof(text));
	}
	tell_error(am, EHOSTUNREACH, text);
}

/* --- The stream ---------------------------------------------------------- */

static void free_call(struct inc_am *am)
{
	if (am->call) {
		grpc_call_cancel(am->call, NULL);
		grpc_call_unref(am->call);
	}
	if (am->cq) {
		grpc_completion_queue_shutdown(am->cq);
		grpc_completion_queue_destroy(am->cq);
	}
	if (am->channel)
		grpc_channel_destroy(am->channel);
	if (am->tls)
		am_tls_stop(am->tls);
	am->call = NULL;
	am->cq = NULL;
	am->channel = NULL;
	am->tls = NULL;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Open the stream. If it cannot begin, its status says why. */
static void send_headers(struct inc_am *am)
{
	grpc_op op = { .op = GRPC_OP_SEND_INITIAL_METADATA };
	grpc_metadata token;
	char *text = NULL;

	if (am->auth.token && asprintf(&text, "Bearer %s", am->auth.token) > 0) {
		token = (grpc_metadata) {
			.key = grpc_slice_from_static_string("authorization"),
			.value = grpc_slice_from_copied_string(text),
		};
		op.data.send_initial_metadata.metadata = &token;
		op.data.send_initial_metadata.count = 1;
	}
	batch(am, &op, 1, &tag_up);
	if (text)
		grpc_slice_unref(token.value);
	free(text);
}

static int make_call(struct inc_am *am, int sock)
{
	grpc_channel_credentials *creds = grpc_insecure_credentials_create();
	grpc_slice method;

	am->channel = grpc_channel_create_from_fd(am->manager, sock, creds,
						  NULL);
	grpc_channel_credentials_release(creds);
	if (!am->channel)
		return -EIO;
	am->cq = grpc_completion_queue_create_for_pluck(NULL);
	method = grpc_slice_from_static_string(AM_JOIN);
	am->call = grpc_channel_create_call(am->channel, NULL, 0, am->cq,
					    method, NULL,
					    gpr_inf_future(GPR_CLOCK_REALTIME),
					    NULL);
	if (!am->call)
		return -EIO;
	am->opened_at = now_ms();
	am->opened++;
	send_headers(am);
	return 0;
}

/* Over the connection @am->tcp, which then belongs to the channel or TLS. */
static int start_call(struct inc_am *am, char *err, size_t err_len)
{
	int sock = am->tcp, ret = 0;

	if (am->auth.ca)
		ret = am_tls_start(&am->tls, am->tcp, am->manager, &am->auth,
				   &sock, err, err_len);
	return ret ? ret : make_call(am, sock);
}

/* --- Another manager ----------------------------------------------------- */

/* Why has the stream ended? Returns gRPC's status; @text is to be freed. */
static grpc_status_code get_status(struct inc_am *am, char **text)
{
	grpc_op op = { .op = GRPC_OP_RECV_STATUS_ON_CLIENT };
	grpc_metadata_array trailing;
	grpc_slice details = grpc_empty_slice();
	grpc_status_code status = GRPC_STATUS_UNKNOWN;

	grpc_metadata_array_init(&trailing);
	op.data.recv_status_on_client.trailing_metadata = &trailing;
	op.data.recv_status_on_client.status = &status;
	op.data.recv_status_on_client.status_details = &details;
	if (!batch(am, &op, 1, &tag_status))
		status = GRPC_STATUS_CANCELLED;
	*text = grpc_slice_to_c_string(details);
	grpc_slice_unref(details);
	grpc_metadata_array_destroy(&trailing);
	return status;
}

static bool is_closing(struct inc_am *am)
{
	bool closing;

	pthread_mutex_lock(&am->lock);
	closing = am->closing;
	pthread_mutex_unlock(&am->lock);
	return closing;
}

/* Make another stream to the next manager. */
static bool open_next(struct inc_am *am)
{
	char err[INC_RDV_TEXT_MAX];
	int tcp;

	reach_nth(am->list, am->next++, am->manager, sizeof(am->manager));
	tcp = reach_connect(am->manager, CONNECT_MS);
	if (tcp < 0)
		return false;
	pthread_mutex_lock(&am->lock);
	am->usable = false;
	while (am->sending)
		pthread_cond_wait(&am->idle, &am->lock);
	free_call(am);
	am->tcp = tcp;
	if (am->closing || start_call(am, err, sizeof(err))) {
		if (!am->channel && !am->tls)
			close(tcp);
		free_call(am);
		am->tcp = -1;
		pthread_mutex_unlock(&am->lock);
		return false;
	}
	pthread_mutex_unlock(&am->lock);
	return true;
}

/* What the rank has said, and may not have been heard. */
static void say_again(struct inc_am *am)
{
	static const enum inc_rdv_type types[] = {
		INC_RDV_REJOIN, INC_RDV_RTS, INC_RDV_LOST, INC_RDV_LEAVE,
	};
	struct am_message msg = {
		.resume = am->tree_id,
		.tree_id = am->tree_id,
		.rdv.type = INC_RDV_JOIN,
	};
	size_t i;

	pthread_mutex_lock(&am->lock);
	msg.rdv.join = am->asked;
	pthread_mutex_unlock(&am->lock);
	memcpy(msg.reservation, am->reservation, sizeof(msg.reservation));
	if (msg.rdv.join.job[0])
		send_up(am, &msg);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!(atomic_load(&am->owed) & 1U << types[i]))
			continue;
		msg = (struct am_message){ .rdv.type = types[i] };
		pthread_mutex_lock(&am->lock);
		if (types[i] == INC_RDV_REJOIN)
			msg.rdv.join = am->rejoin;
		pthread_mutex_unlock(&am->lock);
		send_up(am, &msg);
	}
	pthread_mutex_lock(&am->lock);
	am->usable = true;
	pthread_mutex_unlock(&am->lock);
}

/*
 * The stream is lost: for how long to look for another manager? If there is one
 * only, and it did not take the stream, nobody else will. But on a host with no
 * CPU to spare, the first connection may have waited for gRPC to be loaded for
 * longer than the manager waits for its first words.
 */
static int64_t patience(const struct inc_am *am)
{
	if (am->tree_id)
		return am->resume_ms;
	return strchr(am->list, ',') || am->worked || am->opened < 2 ?
	       JOIN_MS : 0;
}

/* Find the manager again, or another one. Else tell libinc why not. */
static bool find_again(struct inc_am *am, bool reached)
{
	const struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000L };
	grpc_status_code status;
	bool found = false;
	char *text;

	status = get_status(am, &text);
	am->worked |= now_ms() - am->opened_at >= WORKED_MS;
	if (status == GRPC_STATUS_UNAVAILABLE && !am->lost_at)
		am->lost_at = now_ms();
	while (status == GRPC_STATUS_UNAVAILABLE && !found &&
	       !is_closing(am) && now_ms() - am->lost_at < patience(am)) {
		nanosleep(&pause, NULL);
		/* Nobody can tell, so nobody says that the switch is dead. */
		if (am->tree_id && am->asked.uc)
			write_line(am, &(struct inc_rdv_msg){
				.type = INC_RDV_ALIVE });
		found = open_next(am);
	}
	if (found)
		say_again(am);
	else if (status == GRPC_STATUS_UNAVAILABLE && !reached)
		tell_unreached(am, text);
	else if (status != GRPC_STATUS_OK && status != GRPC_STATUS_CANCELLED)
		tell_error(am, am_errno_of((int)status), text);
	gpr_free(text);
	return found;
}

static void *down(void *arg)
{
	struct inc_am *am = arg;
	grpc_metadata_array initial;
	bool first;

	do {
		first = true;
		grpc_metadata_array_init(&initial);
		while (receive(am, first, &initial))
			first = false;
		grpc_metadata_array_destroy(&initial);
	} while (find_again(am, !first));
	/* libinc may still write, and reads the reason when it has. */
	shutdown(am->fd, SHUT_WR);
	return NULL;
}

/* --- Start and stop ------------------------------------------------------ */

/* gRPC's threads and ours leave signals to the program's. */
static int make_threads(struct inc_am *am, char *err, size_t err_len)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	grpc_init();
	ret = start_call(am, err, err_len);
	am->usable = !ret;
	if (!ret)
		ret = -pthread_create(&am->up, NULL, up, am);
	if (!ret) {
		ret = -pthread_create(&am->down, NULL, down, am);
		if (ret) {
			shutdown(am->fd, SHUT_RDWR);
			pthread_join(am->up, NULL);
		}
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ret;
}

static bool is_loopback(int tcp)
{
	struct sockaddr_storage peer;
	const struct sockaddr_in *in = (struct sockaddr_in *)&peer;
	const struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&peer;
	socklen_t len = sizeof(peer);

	if (getpeername(tcp, (struct sockaddr *)&peer, &len))
		return false;
	if (peer.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return peer.ss_family == AF_INET &&
	       ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static int read_reservation(struct inc_am *am, char *err, size_t err_len)
{
	const char *name = secure_getenv("INC_AM_RESERVATION");

	if (!name)
		return 0;
	if (strlen(name) < sizeof(am->reservation)) {
		memcpy(am->reservation, name, strlen(name) + 1);
		return 0;
	}
	snprintf(err, err_len, "INC_AM_RESERVATION: a name has %d characters at most",
		 AM_ID_MAX);
	return -EINVAL;
}

/* What the environment says; text in @err if it is wrong. */
static int read_env(struct inc_am *am, char *err, size_t err_len)
{
	int ret = inc_auth_read(&am->auth, "INC_AM", err, err_len);

	if (!ret)
		ret = read_reservation(am, err, err_len);
	if (ret || !am->auth.token || am->auth.ca || is_loopback(am->tcp))
		return ret;
	snprintf(err, err_len, "a token is sent over TLS only: set INC_AM_CA or INC_AM_CERTS");
	return -EINVAL;
}

/**
 * inc_am_start() - open a rank's stream to a manager
 * @am: result, for inc_am_stop()
 * @tcp: connection to it; is closed on failure, too
 * @manager: its address, and those of others, with commas between
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
	a->tcp = tcp;
	a->fd = pair[1];
	a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->idle, NULL);
	snprintf(a->list, sizeof(a->list), "%s", manager);
	reach_nth(a->list, a->next++, a->manager, sizeof(a->manager));
	*am = a;
	*fd = pair[0];
	ret = read_env(a, err, sizeof(err));
	if (!ret) {
		ret = make_threads(a, err, sizeof(err));
		if (!ret)
			return 0;
		if (a->channel || a->tls)
			a->tcp = -1;	/* it is theirs, and ends with them */
		free_call(a);
		inc_auth_free(&a->auth);
		grpc_shutdown();
	}
	if (a->tcp >= 0)
		close(a->tcp);
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
	if (am->pid != getpid()) {
		if (am->tls)
			am_tls_forked(am->tls);
		else if (!am->failed && am->tcp >= 0)
			close(am->tcp);
		close(am->fd);
		close(am->wake);
		return;
	}
	if (am->failed) {
		inc_auth_free(&am->auth);
		close(am->fd);
		close(am->wake);
		free(am);
		return;
	}
	/* The caller may have closed a duplicate only. */
	shutdown(am->fd, SHUT_RDWR);
	pthread_join(am->up, NULL);
	pthread_join(am->down, NULL);
	free_call(am);
	inc_auth_free(&am->auth);
	grpc_shutdown();
	close(am->fd);
	close(am->wake);
	free(am);
}
