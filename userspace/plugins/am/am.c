// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A rank's stream to the manager, see libinc-am.h. Two threads translate between it
 * and lines of the rendezvous: "up" those of the rank, "down" those to it. The
 * stream ends with the socket to libinc, and the socket with the stream.
 */
#include <errno.h>
#include <fcntl.h>
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
#include <sys/socket.h>
#include <unistd.h>

#include "lib/daemon/libinc-am.h"
#include "manager/message.h"

/**
 * struct inc_am - a rank's stream
 * @pid: process that it belongs to, not its children
 * @tcp: socket of the connection, which gRPC owns
 * @fd: our end of the socket to libinc
 * @manager: its address
 * @channel: connection
 * @cq: completion queue of the call
 * @call: the stream
 * @up: thread that reads lines
 * @down: thread that receives messages
 * @beat_ms: interval of heartbeats, 0: none
 */
struct inc_am {
	pid_t			pid;
	int			tcp;
	int			fd;
	char			manager[256];
	grpc_channel		*channel;
	grpc_completion_queue	*cq;
	grpc_call		*call;
	pthread_t		up;
	pthread_t		down;
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

static bool send_line(struct inc_am *am, const char *line)
{
	struct am_message msg = { .heartbeat = false };
	char err[INC_RDV_TEXT_MAX];

	return !inc_rdv_parse(line, &msg.rdv, err, sizeof(err)) &&
	       send_up(am, &msg);
}

/* Wait for input. Returns 0 when it is time for a heartbeat. */
static int wait_input(struct inc_am *am)
{
	struct pollfd pfd = { .fd = am->fd, .events = POLLIN };
	uint32_t ms = atomic_load(&am->beat_ms);
	int ret;

	/* The interval is not known yet: look again soon. */
	do {
		ret = poll(&pfd, 1, ms ? (int)ms : 100);
	} while (ret < 0 && errno == EINTR);
	return ret;
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
			if (atomic_load(&am->beat_ms))
				good = send_up(am, &beat);
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
	/* libinc has closed its end, or the stream has ended. */
	grpc_call_cancel(am->call, NULL);
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
	if (msg.rdv.type == INC_RDV_JOINED)
		atomic_store(&am->beat_ms, msg.heartbeat_ms);
	return write_line(am, &msg.rdv);
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

/* The stream has ended: tell libinc why, as a daemon would. */
static void tell_status(struct inc_am *am)
{
	grpc_op op = { .op = GRPC_OP_RECV_STATUS_ON_CLIENT };
	struct inc_rdv_msg msg = { .type = INC_RDV_ERROR };
	grpc_metadata_array trailing;
	grpc_slice details = grpc_empty_slice();
	grpc_status_code status = GRPC_STATUS_UNKNOWN;
	char *text;

	grpc_metadata_array_init(&trailing);
	op.data.recv_status_on_client.trailing_metadata = &trailing;
	op.data.recv_status_on_client.status = &status;
	op.data.recv_status_on_client.status_details = &details;
	if (batch(am, &op, 1, &tag_status) && status != GRPC_STATUS_OK &&
	    status != GRPC_STATUS_CANCELLED) {
		text = grpc_slice_to_c_string(details);
		msg.err = am_errno_of((int)status);
		snprintf(msg.text, sizeof(msg.text),
			 "aggregation manager %s: %s", am->manager, text);
		gpr_free(text);
		write_line(am, &msg);
	}
	grpc_slice_unref(details);
	grpc_metadata_array_destroy(&trailing);
}

static void *down(void *arg)
{
	struct inc_am *am = arg;
	grpc_metadata_array initial;
	bool first = true;

	grpc_metadata_array_init(&initial);
	while (receive(am, first, &initial))
		first = false;
	grpc_metadata_array_destroy(&initial);
	tell_status(am);
	shutdown(am->fd, SHUT_RDWR);
	return NULL;
}

/* --- Start and stop ------------------------------------------------------ */

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
}

static int make_call(struct inc_am *am)
{
	grpc_channel_credentials *creds = grpc_insecure_credentials_create();
	grpc_op op = { .op = GRPC_OP_SEND_INITIAL_METADATA };
	grpc_slice method;

	am->channel = grpc_channel_create_from_fd(am->manager, am->tcp, creds,
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
	/* If the stream cannot begin, its status says why. */
	batch(am, &op, 1, &tag_up);
	return 0;
}

/* gRPC's threads and ours leave signals to the program's. */
static int make_threads(struct inc_am *am)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	grpc_init();
	ret = make_call(am);
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

/**
 * inc_am_start() - open a rank's stream to a manager
 * @am: result, for inc_am_stop()
 * @tcp: connection to it; is closed on failure, too
 * @manager: its address, for messages
 * @fd: result: socket with lines of the rendezvous; to be closed by the caller
 *
 * Return: 0 or a negative errno value.
 */
int inc_am_start(struct inc_am **am, int tcp, const char *manager, int *fd)
{
	struct inc_am *a = calloc(1, sizeof(*a));
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
	snprintf(a->manager, sizeof(a->manager), "%s", manager);
	ret = make_threads(a);
	if (ret) {
		free_call(a);
		grpc_shutdown();
		close(pair[0]);
		close(pair[1]);
		free(a);
		return ret;
	}
	*am = a;
	*fd = pair[0];
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
		close(am->tcp);
		close(am->fd);
		return;
	}
	/* The caller may have closed a duplicate only. */
	shutdown(am->fd, SHUT_RDWR);
	pthread_join(am->up, NULL);
	pthread_join(am->down, NULL);
	free_call(am);
	grpc_shutdown();
	close(am->fd);
	free(am);
}
