// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See gate.h. The listening sockets get a filter that drops all packets, or those
 * of some hosts, so the kernel makes no more connections; who wants one tries
 * again by itself, as the rules of TCP say, and nobody has to be sent away.
 */
#include "api/gate.h"

#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/meter.h"
#include "base/loop.h"
#include "rendezvous/network.h"

/* No machine accepts more in a millisecond. */
#define ACCEPTS_MS	20
#define LOOK_MIN_MS	5
#define LOOK_MAX_MS	1000
#define RESERVE_MAX	1024
/* Hosts whose connections were cut, and for how long they get no new one. */
#define BARRED		32
#define BARRED_MS	10000
#define BARRED_TEXT	"; its host gets no new connection for 10 s"
#define FILTER_LEN	(16 * BARRED)

/**
 * struct barred - a host that gets no new connection
 * @addr: its address
 * @until: milliseconds of now_ms(); 0: this is none
 */
struct barred {
	struct inc_rdv_addr	addr;
	int64_t			until;
};

static struct {
	int		fds[GATE_SOCKETS];
	unsigned int	n;
	int		port;
	uint64_t	limit;		/* descriptors */
	uint64_t	reserve;	/* left for all but connections */
	bool		shut;
	struct barred	barred[BARRED];
	gate_cut_fn	*cut;
	void		*ctx;
	int		wake;
	_Atomic bool	stop;
	pthread_t	thread;
} gate = { .wake = -1 };

/* How many descriptors are open. */
static uint64_t used(void)
{
	struct stat st;
	int fd;

	/* Since Linux 6.2. */
	if (!stat("/proc/self/fd", &st) && st.st_size)
		return (uint64_t)st.st_size;
	/* The least that is free: too few, if others below were closed. */
	fd = dup(gate.wake);
	if (fd < 0)
		return errno == EMFILE ? gate.limit : 0;
	close(fd);
	return (uint64_t)fd;
}

static void put(struct sock_fprog *prog, uint16_t code, uint32_t k,
		uint8_t if_not)
{
	prog->filter[prog->len++] =
		(struct sock_filter){ code, 0, if_not, k };
}

/* Drop what comes from an address. */
static void put_host(struct sock_fprog *prog, const struct inc_rdv_addr *addr)
{
	const uint8_t words = (uint8_t)(addr->len / 4);
	const uint32_t from = addr->len == 4 ? 12 : 8;
	uint32_t word;
	uint8_t i;

	put(prog, BPF_LD | BPF_B | BPF_ABS, (uint32_t)SKF_NET_OFF, 0);
	put(prog, BPF_ALU | BPF_RSH | BPF_K, 4, 0);
	put(prog, BPF_JMP | BPF_JEQ | BPF_K, addr->len == 4 ? 4 : 6,
	    (uint8_t)(2 * words + 1));
	for (i = 0; i < words; i++) {
		memcpy(&word, addr->bytes + 4 * i, 4);
		put(prog, BPF_LD | BPF_W | BPF_ABS,
		    (uint32_t)SKF_NET_OFF + from + 4U * i, 0);
		put(prog, BPF_JMP | BPF_JEQ | BPF_K, ntohl(word),
		    (uint8_t)(2 * (words - i) - 1));
	}
	put(prog, BPF_RET | BPF_K, 0, 0);
}

static void set_filter(void)
{
	struct sock_filter list[FILTER_LEN];
	struct sock_fprog prog = { .filter = list };
	const int none = 0;
	unsigned int i;

	if (gate.shut)
		put(&prog, BPF_RET | BPF_K, 0, 0);
	for (i = 0; !gate.shut && i < BARRED; i++)
		if (gate.barred[i].until)
			put_host(&prog, &gate.barred[i].addr);
	if (!gate.shut && prog.len)
		put(&prog, BPF_RET | BPF_K, UINT32_MAX, 0);
	for (i = 0; i < gate.n; i++)
		if (prog.len)
			setsockopt(gate.fds[i], SOL_SOCKET, SO_ATTACH_FILTER,
				   &prog, sizeof(prog));
		else
			setsockopt(gate.fds[i], SOL_SOCKET, SO_DETACH_FILTER,
				   &none, sizeof(none));
}

static void set_shut(bool shut)
{
	gate.shut = shut;
	set_filter();
}

/* A connection was cut: keep its host out for a while. */
static void bar(const struct inc_rdv_addr *addr, const char *peer,
		const char *why)
{
	struct barred *b = NULL, *slot;
	char text[128];
	unsigned int i;

	for (i = 0; i < BARRED; i++) {
		slot = &gate.barred[i];
		if (slot->until && inc_rdv_addr_same(&slot->addr, addr)) {
			b = slot;
			break;
		}
		/* The one that is free, or would be first. */
		if (!b || slot->until < b->until)
			b = slot;
	}
	b->addr = *addr;
	b->until = now_ms() + BARRED_MS;
	set_filter();
	snprintf(text, sizeof(text), "%s%s", why, BARRED_TEXT);
	gate.cut(gate.ctx, peer, text);
}

static void unbar(int64_t now)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < BARRED; i++) {
		if (!gate.barred[i].until || gate.barred[i].until > now)
			continue;
		gate.barred[i].until = 0;
		any = true;
	}
	if (any)
		set_filter();
}

/* Returns when to look again, in milliseconds. */
static int look(uint64_t n)
{
	uint64_t most = gate.limit - gate.reserve, ms;

	if (!gate.shut && n >= most) {
		set_shut(true);
		log_say("%llu of %llu descriptors are open: new connections have to wait",
			(unsigned long long)n, (unsigned long long)gate.limit);
	} else if (gate.shut && n < most - gate.reserve / 2) {
		set_shut(false);
		log_say("new connections are accepted again");
	}
	if (gate.shut || n >= most)
		return LOOK_MIN_MS;
	ms = (most - n) / ACCEPTS_MS;
	return ms < LOOK_MIN_MS ? LOOK_MIN_MS :
	       ms > LOOK_MAX_MS ? LOOK_MAX_MS : (int)ms;
}

static void wake(void)
{
	const uint64_t one = 1;

	(void)!write(gate.wake, &one, sizeof(one));
}

static void *watch(void *arg)
{
	struct pollfd p = { .fd = gate.wake, .events = POLLIN };
	int64_t at = now_ms(), now;
	uint64_t n;
	int ms;

	(void)arg;
	while (!gate.stop) {
		n = used();
		ms = look(n);
		now = now_ms();
		unbar(now);
		if (now >= at)
			at = meter_look(gate.port, n, gate.limit, bar);
		if (at - now_ms() < ms)
			ms = at > now_ms() ? (int)(at - now_ms()) : 0;
		if (poll(&p, 1, ms) == 1) {
			(void)!read(gate.wake, &n, sizeof(n));
			at = now_ms();
		}
	}
	return NULL;
}

/**
 * gate_start() - keep some descriptors free, and watch connections, from now on
 * @fds: listening sockets
 * @n: their number; GATE_SOCKETS of them count
 * @port: their port
 * @cut: called for each connection that was cut, by another thread
 * @ctx: its first argument
 *
 * Return: 0 or a negative errno value.
 */
int gate_start(const int *fds, unsigned int n, int port, gate_cut_fn *cut,
	       void *ctx)
{
	struct rlimit limit;
	unsigned int i;
	int ret;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	gate.limit = limit.rlim_cur > INT_MAX ? INT_MAX : limit.rlim_cur;
	gate.reserve = gate.limit / 8 < RESERVE_MAX ? gate.limit / 8 :
						      RESERVE_MAX;
	gate.n = n < GATE_SOCKETS ? n : GATE_SOCKETS;
	gate.port = port;
	gate.cut = cut;
	gate.ctx = ctx;
	memcpy(gate.fds, fds, gate.n * sizeof(*fds));
	/* What waits to be accepted when the gate is shut still is. */
	for (i = 0; i < gate.n; i++)
		listen(gate.fds[i], (int)(gate.reserve / 2));
	gate.wake = eventfd(0, EFD_CLOEXEC);
	ret = gate.wake < 0 ? errno :
			      pthread_create(&gate.thread, NULL, watch, NULL);
	if (ret && gate.wake >= 0)
		close(gate.wake);
	if (ret)
		gate.wake = -1;
	else
		meter_start(wake);
	return -ret;
}

/**
 * gate_stop() - end what gate_start() began, before the sockets are closed
 */
void gate_stop(void)
{
	if (gate.wake < 0)
		return;
	meter_start(NULL);
	gate.stop = true;
	wake();
	pthread_join(gate.thread, NULL);
	close(gate.wake);
	gate.wake = -1;
}
