// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See gate.h. The listening sockets get a filter that drops all packets, so the
 * kernel makes no more connections; who wants one tries again by itself, as the
 * rules of TCP say, and nobody has to be sent away.
 */
#include "api/gate.h"

#include <errno.h>
#include <linux/filter.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loop.h"

/* No machine accepts more in a millisecond. */
#define ACCEPTS_MS	20
#define LOOK_MIN_MS	5
#define LOOK_MAX_MS	1000
#define RESERVE_MAX	1024

static struct {
	int		fds[GATE_SOCKETS];
	unsigned int	n;
	uint64_t	limit;		/* descriptors */
	uint64_t	reserve;	/* left for all but connections */
	bool		shut;
	int		stop;
	pthread_t	thread;
} gate = { .stop = -1 };

/* How many descriptors are open. */
static uint64_t used(void)
{
	struct stat st;
	int fd;

	/* Since Linux 6.2. */
	if (!stat("/proc/self/fd", &st) && st.st_size)
		return (uint64_t)st.st_size;
	/* The least that is free: too few, if others below were closed. */
	fd = dup(gate.stop);
	if (fd < 0)
		return errno == EMFILE ? gate.limit : 0;
	close(fd);
	return (uint64_t)fd;
}

static void set(bool shut)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog prog = { .len = 1, .filter = &drop };
	const int none = 0;
	unsigned int i;

	for (i = 0; i < gate.n; i++)
		if (shut)
			setsockopt(gate.fds[i], SOL_SOCKET, SO_ATTACH_FILTER,
				   &prog, sizeof(prog));
		else
			setsockopt(gate.fds[i], SOL_SOCKET, SO_DETACH_FILTER,
				   &none, sizeof(none));
	gate.shut = shut;
}

/* Returns when to look again, in milliseconds. */
static int look(void)
{
	uint64_t n = used(), most = gate.limit - gate.reserve, ms;

	if (!gate.shut && n >= most) {
		set(true);
		log_say("%llu of %llu descriptors are open: new connections have to wait",
			(unsigned long long)n, (unsigned long long)gate.limit);
	} else if (gate.shut && n < most - gate.reserve / 2) {
		set(false);
		log_say("new connections are accepted again");
	}
	if (gate.shut || n >= most)
		return LOOK_MIN_MS;
	ms = (most - n) / ACCEPTS_MS;
	return ms < LOOK_MIN_MS ? LOOK_MIN_MS :
	       ms > LOOK_MAX_MS ? LOOK_MAX_MS : (int)ms;
}

static void *watch(void *arg)
{
	struct pollfd p = { .fd = gate.stop, .events = POLLIN };

	(void)arg;
	while (!poll(&p, 1, look()))
		;
	return NULL;
}

/**
 * gate_start() - keep some descriptors free from now on
 * @fds: listening sockets
 * @n: their number; GATE_SOCKETS of them count
 *
 * Return: 0 or a negative errno value.
 */
int gate_start(const int *fds, unsigned int n)
{
	struct rlimit limit;
	unsigned int i;
	int ret;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return 0;
	gate.limit = limit.rlim_cur;
	gate.reserve = gate.limit / 8 < RESERVE_MAX ? gate.limit / 8 :
						      RESERVE_MAX;
	gate.n = n < GATE_SOCKETS ? n : GATE_SOCKETS;
	memcpy(gate.fds, fds, gate.n * sizeof(*fds));
	/* What waits to be accepted when the gate is shut still is. */
	for (i = 0; i < gate.n; i++)
		listen(gate.fds[i], (int)(gate.reserve / 2));
	gate.stop = eventfd(0, EFD_CLOEXEC);
	ret = gate.stop < 0 ? errno :
			      pthread_create(&gate.thread, NULL, watch, NULL);
	if (ret && gate.stop >= 0)
		close(gate.stop);
	if (ret)
		gate.stop = -1;
	return -ret;
}

/**
 * gate_stop() - end what gate_start() began, before the sockets are closed
 */
void gate_stop(void)
{
	const uint64_t one = 1;

	if (gate.stop < 0)
		return;
	(void)!write(gate.stop, &one, sizeof(one));
	pthread_join(gate.thread, NULL);
	close(gate.stop);
	gate.stop = -1;
}
