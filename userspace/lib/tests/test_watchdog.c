// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Time limits: a process that could not run is not late. The connection is a
 * socket pair; there is no device.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/watchdog.h"
#include "inc.h"
#include "test.h"

#define LIMIT	1600	/* a tick is 100 */

static struct inc_watchdog w;
static int daemon_fd, to_err;

void inc_qp_to_err(struct ibv_qp *qp)
{
	(void)qp;
	to_err++;
}

int inc_status_errno(unsigned int status)
{
	return status ? -ECONNRESET : 0;
}

static uint64_t lost;

unsigned int inc_hw_counters_read(struct inc_hw_counters *l)
{
	l->new_lost = lost;
	l->new_packets = 1000;
	return 0;
}

/* libinc-am's part: the stream is one end of the socket pair. */
static int fake_send(struct inc_am *am, const struct inc_rdv_msg *msg)
{
	return send(*(int *)am, msg, sizeof(*msg), MSG_NOSIGNAL) < 0 ? -ENOTCONN : 0;
}

static int fake_fd(const struct inc_am *am)
{
	return *(const int *)am;
}

static int fake_recv(struct inc_am *am, struct inc_rdv_msg *msg, short *events)
{
	ssize_t n;

	*events = POLLIN;
	n = recv(*(int *)am, msg, sizeof(*msg), MSG_DONTWAIT);

	return n == sizeof(*msg) ? 0 : n >= 0 ? -ENOTCONN : -errno;
}

static bool fake_more(struct inc_am *am)
{
	return !am;
}

static void fake_hang_up(struct inc_am *am)
{
	shutdown(*(int *)am, SHUT_RDWR);
}

static void fake_close(struct inc_am *am)
{
	close(*(int *)am);
}

static const struct inc_am_ops fake_ops = {
	.fd = fake_fd, .send = fake_send, .recv = fake_recv, .more = fake_more,
	.hang_up = fake_hang_up, .close = fake_close,
};

static void begin(void)
{
	static struct ibv_qp qp;
	int fds[2];

	memset(&w, 0, sizeof(w));
	to_err = 0;
	OK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds));
	pthread_mutex_init(&w.lock, NULL);
	w.conn.fd = fds[0];
	w.conn.ops = &fake_ops;
	w.conn.am = (struct inc_am *)&w.conn.fd;
	daemon_fd = fds[1];
	w.qp = &qp;
	atomic_store(&w.timeout_ms, LIMIT);
}

static void end(void)
{
	inc_conn_close(&w.conn);
	close(daemon_fd);
}

/* Run turns when they are due, for @ms. */
static void run(int ms)
{
	int tick;

	for (; ms > 0 && !inc_watchdog_error(&w); ms -= tick) {
		tick = inc_watchdog_patience(&w);
		OK(tick > 0 && tick <= 100);
		inc_watchdog_turn(&w, tick, false, true);
	}
}

static void call_is_late(void)
{
	begin();
	run(5000);
	inc_watchdog_count(&w.calls);
	run(LIMIT - 200);
	EQ(inc_watchdog_error(&w), 0);
	run(300);
	EQ(inc_watchdog_error(&w), -ETIMEDOUT);
	EQ(to_err, 1);
	EQ(inc_watchdog_patience(&w), -1);
	end();
}

/*
 * The process is stopped just before the limit: it first handles what has
 * arrived.
 */
static void stood_still(void)
{
	begin();
	inc_watchdog_count(&w.calls);
	run(LIMIT - 200);
	inc_watchdog_turn(&w, 100, true, true);
	run(400);
	EQ(inc_watchdog_error(&w), 0);
	inc_watchdog_count(&w.calls);	/* and finds it */
	run(5000);
	EQ(inc_watchdog_error(&w), 0);

	inc_watchdog_count(&w.calls);
	run(LIMIT - 200);
	inc_watchdog_turn(&w, 100, true, true);
	run(800);
	EQ(inc_watchdog_error(&w), -ETIMEDOUT);
	end();
}

/* The machine is so busy that no turn is on time. */
static void always_late(void)
{
	int ms;

	begin();
	inc_watchdog_count(&w.calls);
	for (ms = 0; ms < 10000 && !inc_watchdog_error(&w); ms += 100)
		inc_watchdog_turn(&w, 100, true, true);
	EQ(inc_watchdog_error(&w), -ETIMEDOUT);
	OK(ms > LIMIT + 500 && ms < LIMIT + 3000);
	end();
}

static void what_counts(void)
{
	EQ(inc_watchdog_counts(-1, 5000, 10), 0);
	EQ(inc_watchdog_counts(100, 20, 20), 20);
	EQ(inc_watchdog_counts(100, 103, 0), 103);
	/* It was stopped, */
	EQ(inc_watchdog_counts(100, 5000, 0), 100);
	EQ(inc_watchdog_counts(100, 5000, 99), 100);
	/* or its caller spins and shares a CPU with others, or not, */
	EQ(inc_watchdog_counts(100, 5000, 2500), 2500);
	EQ(inc_watchdog_counts(100, 5000, 4950), 5000);
	/* and never more than there was. */
	EQ(inc_watchdog_counts(100, 500, 4000), 500);
}

/* Turns of another communicator do not change this one's time limit. */
static void turns_of_others(void)
{
	int ms;

	begin();
	for (ms = 0; ms < LIMIT + 200; ms += 2) {
		if (ms % 10 == 0)
			inc_watchdog_count(&w.tests);
		if (ms == LIMIT - 200)
			EQ(inc_watchdog_error(&w), 0);
		inc_watchdog_turn(&w, 2, false, false);
	}
	EQ(inc_watchdog_error(&w), -ETIMEDOUT);
	end();
}

static void hangs_up(void)
{
	struct inc_rdv_msg msg;

	begin();
	inc_watchdog_lost(&w);
	inc_watchdog_hang_up(&w, "no carrier");
	EQ(recv(daemon_fd, &msg, sizeof(msg), 0), sizeof(msg));
	EQ(msg.type, INC_RDV_LOST);
	OK(!strcmp(msg.text, "no carrier"));
	EQ(recv(daemon_fd, &msg, sizeof(msg), 0), 0);
	/* After that, the other end's actions are ignored. */
	run(2000);
	EQ(inc_watchdog_error(&w), 0);
	end();
}

static void daemon_says(void)
{
	const struct inc_rdv_msg msg = { .type = INC_RDV_LEFT, .rank = 2 };

	begin();
	OK(write(daemon_fd, &msg, sizeof(msg)) > 0);
	run(300);
	EQ(inc_watchdog_error(&w), 0);
	run(300);
	EQ(inc_watchdog_error(&w), -ECONNRESET);
	end();
}

/* A failed message does not end the communicator. */
static void daemon_says_who(void)
{
	const struct inc_rdv_msg msg = {
		.type = INC_RDV_WRONG, .rank = 2, .status = 7, .msg_id = 5,
		.text = "rank 2 it is",
	};

	begin();
	OK(write(daemon_fd, &msg, sizeof(msg)) > 0);
	run(1000);
	EQ(inc_watchdog_error(&w), 0);
	EQ(w.wrong_id, 5);
	OK(!strcmp(w.wrong, "rank 2 it is"));
	end();
}

/* Faster than it is heard. */
static void *talk(void *unused)
{
	const struct inc_rdv_msg alive = { .type = INC_RDV_ALIVE };

	(void)unused;
	while (send(daemon_fd, &alive, sizeof(alive), MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

/* There is always another message: that stops no time limit. */
static void never_stops_talking(void)
{
	pthread_t thread;
	int queued = 0;

	begin();
	OK(!pthread_create(&thread, NULL, talk, NULL));
	while (queued < 20000)
		OK(!ioctl(w.conn.fd, FIONREAD, &queued));
	inc_watchdog_count(&w.calls);
	run(LIMIT + 200);
	EQ(inc_watchdog_error(&w), -ETIMEDOUT);
	inc_conn_close(&w.conn);
	OK(!pthread_join(thread, NULL));
	end();
}

/* How often it was told that packets are lost. */
static unsigned int lossy_said(void)
{
	struct inc_rdv_msg msg;
	unsigned int n = 0;

	while (recv(daemon_fd, &msg, sizeof(msg), MSG_DONTWAIT) > 0)
		n += msg.type == INC_RDV_LOSSY;
	return n;
}

/* With results in each turn. */
static void lose(uint64_t each, int ms)
{
	lost = each;
	for (; ms > 0; ms -= 100) {
		inc_watchdog_count(&w.progress);
		run(100);
	}
	lost = 0;
}

/* The daemon is told of losses, again if nothing comes of it, and not for ever. */
static void says_that_packets_are_lost(void)
{
	const struct inc_rdv_msg msg = {
		.type = INC_RDV_CHANGE, .text = "x~uc-1",
	};

	begin();
	lose(20, 2000);
	EQ(lossy_said(), 0);		/* RC was chosen */
	atomic_store(&w.may_change, true);
	lose(20, 2000);
	EQ(lossy_said(), 1);
	OK(!atomic_load(&w.change));
	lose(20, 61000);
	EQ(lossy_said(), 1);
	lose(20, 300000);
	EQ(lossy_said(), 1);
	OK(write(daemon_fd, &msg, sizeof(msg)) > 0);
	run(100);
	OK(atomic_load(&w.change));
	EQ(inc_watchdog_error(&w), 0);
	end();
}

/* A port that is down matters only if there is another device, and it stays down. */
static void port_down(void)
{
	begin();
	inc_watchdog_port(&w, false);
	inc_watchdog_turn(&w, 200, false, false);
	EQ(inc_watchdog_error(&w), 0);
	atomic_store(&w.spare, true);
	inc_watchdog_port(&w, false);
	OK(inc_watchdog_patience(&w) <= 50);
	inc_watchdog_turn(&w, 50, false, false);
	inc_watchdog_port(&w, true);
	inc_watchdog_turn(&w, 200, false, false);
	EQ(inc_watchdog_error(&w), 0);
	inc_watchdog_port(&w, false);
	inc_watchdog_turn(&w, 50, false, false);
	EQ(to_err, 0);
	inc_watchdog_turn(&w, 60, false, false);
	EQ(inc_watchdog_error(&w), -ENETDOWN);
	EQ(to_err, 1);
	end();
}

static const struct test_case cases[] = {
	{ "watch: a call is late", call_is_late },
	{ "watch: a process stood still", stood_still },
	{ "watch: all turns are late", always_late },
	{ "watch: which time counts", what_counts },
	{ "watch: turns of others", turns_of_others },
	{ "watch: hangs up", hangs_up },
	{ "watch: what the daemon says", daemon_says },
	{ "watch: the daemon never stops talking", never_stops_talking },
	{ "watch: whose fault it was", daemon_says_who },
	{ "watch: a port is down", port_down },
	{ "watch: packets are lost", says_that_packets_are_lost },
};

TEST_MAIN(cases)
