// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See meter.h. gRPC does not tell its sockets; so a thread goes through all
 * descriptors, and asks the kernel how many bytes have come. It sleeps so long
 * that this takes no more than SHARE of the time.
 */
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "api/meter.h"
#include "base/index.h"
#include "base/loop.h"
#include "manager.h"
#include "rendezvous/network.h"

#define LOOK_MIN_MS	50
#define LOOK_MAX_MS	2000
#define SHARE		150	/* one part of so many */
/* Bytes ahead of what is accounted for: before it is known who it is, and later. */
#define FIRST		(64 << 10)
#define MOST		(256 << 10)
/* A call's headers, and the frames around a message. */
#define CALL_BYTES	9216
#define FRAME_BYTES	512
/* A second, for the connection and each call: heartbeats, PINGs, window updates. */
#define BYTES_S		512
/* Calls and messages but for heartbeats, at once, and a second. */
#define WORDS		4096
#define WORDS_S		64
#define REFUSED		16	/* for so many of them counts a call that is refused */

/**
 * struct meter - a connection
 * @next: next one
 * @node: found by address and port
 * @addr: address of the client
 * @port: and its port
 * @calls: calls that hold it
 * @known: it has had a call of somebody who may call
 * @cut: why it is to be cut, or NULL
 * @bytes: that had come at the last look
 * @credit: bytes that may come
 * @paid: bytes accounted for since the last look
 * @words: calls and messages that may come
 * @words_at: milliseconds; when that was counted
 * @at: milliseconds; the last look
 * @look: its number
 */
struct meter {
	struct meter		*next;
	struct index_node	node;
	struct inc_rdv_addr	addr;
	uint16_t		port;
	unsigned int		calls;
	bool			known;
	const char		*cut;
	uint64_t		bytes;
	int64_t			credit;
	int64_t			paid;
	int64_t			words;
	int64_t			words_at;
	int64_t			at;
	unsigned int		look;
};

static struct {
	pthread_mutex_t		lock;	/* of all but @cuts */
	struct index		index;
	struct meter		*list;
	unsigned int		look;
	void			(*wake)(void);
	_Atomic uint64_t	cuts;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t hash_of(const struct inc_rdv_addr *addr, uint16_t port)
{
	return index_hash(index_hash(1, addr->bytes, addr->len), &port,
			  sizeof(port));
}

/* The lock is held. NULL: no memory. */
static struct meter *find(const struct inc_rdv_addr *addr, uint16_t port)
{
	uint64_t hash = hash_of(addr, port);
	struct index_node *node;
	struct meter *m;

	for (node = index_first(&all.index, hash); node;
	     node = index_next(node)) {
		m = container_of(node, struct meter, node);
		if (m->port == port && inc_rdv_addr_same(&m->addr, addr))
			return m;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->addr = *addr;
	m->port = port;
	m->credit = FIRST;
	m->words = WORDS;
	m->at = now_ms();
	m->words_at = m->at;
	m->look = all.look;
	m->next = all.list;
	all.list = m;
	index_add(&all.index, &m->node, hash);
	return m;
}

/* The lock is held. NULL: none that is watched. */
static struct meter *find_peer(const char *peer)
{
	const char *colon = strrchr(peer, ':');
	struct inc_rdv_addr addr;

	if (!all.wake || !colon || !addr_of_peer(peer, &addr))
		return NULL;
	return find(&addr, (uint16_t)atoi(colon + 1));
}

/* --- Calls --------------------------------------------------------------- */

/**
 * meter_get() - take note of a call of somebody who may call
 * @peer: "ipv4:ADDRESS:PORT" or "ipv6:[ADDRESS]:PORT"
 *
 * Return: its connection, for meter_put(); NULL: none that is watched.
 */
struct meter *meter_get(const char *peer)
{
	struct meter *m;

	pthread_mutex_lock(&all.lock);
	m = find_peer(peer);
	if (m) {
		if (!m->known)
			m->credit += MOST - FIRST;
		m->known = true;
		m->calls++;
	}
	pthread_mutex_unlock(&all.lock);
	return m;
}

/**
 * meter_put() - a call is over
 * @m: its connection, or NULL
 */
void meter_put(struct meter *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&all.lock);
	m->calls--;
	pthread_mutex_unlock(&all.lock);
}

/* The lock is held. Returns false if there were too many. */
static bool count_words(struct meter *m, int64_t words)
{
	int64_t now = now_ms();

	/* What is left of a second counts the next time. */
	if ((now - m->words_at) * WORDS_S >= 1000) {
		m->words += (now - m->words_at) * WORDS_S / 1000;
		m->words_at = now;
	}
	if (m->words > WORDS)
		m->words = WORDS;
	m->words -= words;
	return m->words >= 0;
}

/**
 * meter_refuse() - take note of a call of somebody who may not call
 * @peer: as for meter_get()
 */
void meter_refuse(const char *peer)
{
	struct meter *m;
	bool cut;

	pthread_mutex_lock(&all.lock);
	m = find_peer(peer);
	cut = m && !count_words(m, REFUSED) && !m->cut;
	if (cut)
		m->cut = "its calls are refused, again and again";
	pthread_mutex_unlock(&all.lock);
	if (cut)
		all.wake();
}

/**
 * meter_take() - account for a call or a message
 * @m: its connection, or NULL
 * @bytes: that the message had; 0: it is a call
 *
 * Return: false if the connection is being cut.
 */
bool meter_take(struct meter *m, size_t bytes)
{
	bool good;

	if (!m)
		return true;
	pthread_mutex_lock(&all.lock);
	m->paid += bytes ? (int64_t)bytes + FRAME_BYTES : CALL_BYTES;
	good = count_words(m, 1) && !m->cut;
	pthread_mutex_unlock(&all.lock);
	if (!good)
		meter_cut(m, "calls and messages come faster than one client needs");
	return good;
}

/**
 * meter_cut() - have a connection cut
 * @m: connection, or NULL
 * @why: a constant
 */
void meter_cut(struct meter *m, const char *why)
{
	bool first;

	if (!m)
		return;
	pthread_mutex_lock(&all.lock);
	first = !m->cut;
	if (first)
		m->cut = why;
	pthread_mutex_unlock(&all.lock);
	if (first)
		all.wake();
}

/* --- Connections --------------------------------------------------------- */

static int port_of(const struct sockaddr_storage *sa)
{
	/* Both families have the port at the same place. */
	return ntohs(((const struct sockaddr_in *)sa)->sin_port);
}

static bool peer_of(int fd, struct inc_rdv_addr *addr, uint16_t *port)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	if (getpeername(fd, (struct sockaddr *)&sa, &len) ||
	    inc_rdv_addr_from_sockaddr((struct sockaddr *)&sa, addr))
		return false;
	*port = (uint16_t)port_of(&sa);
	return true;
}

static bool is_at(int fd, int port)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	return !getsockname(fd, (struct sockaddr *)&sa, &len) &&
	       (sa.ss_family == AF_INET || sa.ss_family == AF_INET6) &&
	       port_of(&sa) == port;
}

/*
 * Resets it: what has come already must not be read any more. The descriptor may
 * have become another connection's.
 */
static bool reset(int fd, const struct inc_rdv_addr *addr, uint16_t port)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct inc_rdv_addr is;
	uint16_t is_port;
	bool done;

	done = peer_of(copy, &is, &is_port) && is_port == port &&
	       inc_rdv_addr_same(&is, addr) &&
	       !connect(copy, &none, sizeof(none));
	if (copy >= 0)
		close(copy);
	return done;
}

/* The lock is held. Returns why it is to be cut, or NULL. */
static const char *count(struct meter *m, uint64_t bytes, int64_t now)
{
	int64_t most = m->known ? MOST : FIRST;

	m->look = all.look;
	if (bytes < m->bytes && !m->calls) {
		/* Another one has that port now. */
		m->known = false;
		m->cut = NULL;
		m->bytes = 0;
		m->credit = most = FIRST;
		m->words = WORDS;
	}
	m->credit += (now - m->at) * BYTES_S * (1 + m->calls) / 1000 +
		     m->paid - (int64_t)(bytes - m->bytes);
	if (m->credit > most)
		m->credit = most;
	m->paid = 0;
	m->bytes = bytes;
	m->at = now;
	if (m->credit < 0 && !m->cut)
		m->cut = m->known ?
			 "it sends more than its calls and messages have" :
			 "it sends much, and has not said who it is";
	return m->cut;
}

static const char *look_at(int fd, struct inc_rdv_addr *addr, uint16_t *port)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);
	const char *why = NULL;
	struct meter *m;

	if (!peer_of(fd, addr, port) ||
	    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return NULL;
	pthread_mutex_lock(&all.lock);
	m = find(addr, *port);
	if (m)
		why = count(m, info.tcpi_bytes_received, now_ms());
	pthread_mutex_unlock(&all.lock);
	return why;
}

/* Connections that this look has not seen are over. */
static void forget(void)
{
	struct meter **link = &all.list, *m;

	pthread_mutex_lock(&all.lock);
	while ((m = *link)) {
		if (m->look == all.look || m->calls) {
			link = &m->next;
			continue;
		}
		*link = m->next;
		index_remove(&m->node);
		free(m);
	}
	all.look++;
	pthread_mutex_unlock(&all.lock);
}

static void cut(int fd, const struct inc_rdv_addr *addr, uint16_t port,
		const char *why, meter_cut_fn *tell)
{
	char text[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN + 16];

	if (!reset(fd, addr, port))
		return;
	all.cuts++;
	inc_rdv_addr_str(addr, text, sizeof(text));
	snprintf(peer, sizeof(peer), addr->len == 4 ? "ipv4:%s:%u" :
						      "ipv6:[%s]:%u",
		 text, port);
	tell(addr, peer, why);
}

/* What this thread has used: it may have had to wait for those that it watches. */
static int64_t cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/**
 * meter_look() - look what has come, and cut connections
 * @port: of the server
 * @open: number of descriptors that are open
 * @most: and that there may be
 * @tell: called for each connection that was cut
 *
 * Context: One thread, the same each time.
 * Return: when to look again, milliseconds of now_ms().
 */
int64_t meter_look(int port, uint64_t open, uint64_t most, meter_cut_fn *tell)
{
	int64_t begin = cpu_us(), rest;
	struct inc_rdv_addr addr;
	const char *why;
	uint16_t from;
	int fd;

	for (fd = 0; open && (uint64_t)fd < most; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		open--;
		if (!is_at(fd, port))
			continue;
		why = look_at(fd, &addr, &from);
		if (why)
			cut(fd, &addr, from, why, tell);
	}
	forget();
	rest = (cpu_us() - begin) * SHARE / 1000;
	return now_ms() + (rest < LOOK_MIN_MS ? LOOK_MIN_MS :
			   rest > LOOK_MAX_MS ? LOOK_MAX_MS : rest);
}

/**
 * meter_start() - begin to watch connections
 * @wake: has meter_look() called soon; by any thread
 */
void meter_start(void (*wake)(void))
{
	all.wake = wake;
}

/**
 * meter_cuts() - tell how many connections were cut
 *
 * Return: number.
 */
uint64_t meter_cuts(void)
{
	return all.cuts;
}
