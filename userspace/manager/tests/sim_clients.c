// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Ranks of many groups, for inc-amd to serve: streams of the method Join over
 * HTTP/2 without TLS, of as little work as possible, so that a few processes
 * stand for thousands of clients.
 *
 *   sim_clients PORT FIRST GROUPS RANKS SPREAD EACH SECONDS [churn|once]
 *
 * The manager is at 127.0.0.1:PORT. Groups number FIRST and following, of RANKS
 * ranks each; rank r of the group number g is host (g * RANKS + r) * SPREAD of
 * the fabric of sim_agents. A connection has EACH streams. With "churn", a rank
 * leaves when its group is ready, and joins again when it has left, over a new
 * connection. With "once", it ends as soon as all are ready. Prints a line of
 * JSON after SECONDS.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/message.h"
#include "loop/loop.h"
#include "tests/fat_tree.h"

#define EVENTS		256
#define FRAME		9	/* bytes of a frame's head */
#define BUF		16384
#define WINDOW		30000	/* bytes after which it is opened again */
#define TICK_MS		10
#define OPEN_AT_ONCE	4
#define PORTS		4096	/* connections of a source address */

/* Of frames, RFC 9113. */
enum { DATA, HEADERS, RST = 3, SETTINGS, PING = 6, GOAWAY, WINDOW_UPDATE };

enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };

enum rank_is {
	IS_JOINING,
	IS_JOINED,
	IS_READY,
	IS_LEAVING,
	IS_GONE,
};

/**
 * struct conn - a connection
 * @fd: descriptor
 * @times: how often it was opened or closed
 * @buf: bytes of frames that are not complete
 * @used: their number
 * @taken: bytes that came since the window was opened last
 * @open: streams that have not ended
 * @first: its first rank's number
 */
struct conn {
	int		fd;
	uint32_t	times;
	uint8_t		*buf;
	uint32_t	used;
	uint32_t	taken;
	uint32_t	open;
	uint32_t	first;
};

/**
 * struct rank - a rank
 * @is: its state
 * @beat_ms: interval of heartbeats
 * @brief: they are empty messages
 * @beat_at: milliseconds; when the next one is due
 */
struct rank {
	enum rank_is	is;
	uint32_t	beat_ms;
	bool		brief;
	int64_t		beat_at;
};

static struct {
	uint16_t	port;
	uint32_t	first;
	uint32_t	groups;
	uint32_t	ranks;
	uint32_t	spread;
	uint32_t	each;
	bool		churn;
	bool		once;
} o;

static struct rank *ranks;
static struct conn *conns;
static int epoll;
static unsigned long long beats, readies, failures, lost;
static int64_t asked_at, ready_at;	/* ms: the last Join, the last READY */

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* --- Output -------------------------------------------------------------- */

/**
 * struct out - bytes to send at once
 * @len: their number
 * @bytes: bytes
 */
struct out {
	size_t	len;
	uint8_t	bytes[4096];
};

static void put(struct out *out, const void *data, size_t len)
{
	if (out->len + len > sizeof(out->bytes))
		abort();
	memcpy(out->bytes + out->len, data, len);
	out->len += len;
}

static void put_head(struct out *out, size_t len, int type, int flags,
		     uint32_t stream)
{
	const uint8_t head[FRAME] = {
		(uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len,
		(uint8_t)type, (uint8_t)flags, (uint8_t)(stream >> 24),
		(uint8_t)(stream >> 16), (uint8_t)(stream >> 8),
		(uint8_t)stream };

	put(out, head, sizeof(head));
}

/* A header that is not in HPACK's table: as it is, and not to be kept. */
static void put_header(struct out *out, const char *name, const char *value)
{
	const uint8_t n = (uint8_t)strlen(name), v = (uint8_t)strlen(value);

	put(out, "\0", 1);
	put(out, &n, 1);
	put(out, name, n);
	put(out, &v, 1);
	put(out, value, v);
}

static void put_headers(struct out *out, uint32_t stream)
{
	struct out list = { .len = 0 };

	put(&list, "\x83\x86", 2);	/* POST, http */
	put_header(&list, ":path", AM_JOIN);
	put_header(&list, ":authority", "localhost");
	put_header(&list, "te", "trailers");
	put_header(&list, "content-type", "application/grpc");
	put_head(out, list.len, HEADERS, END_HEADERS, stream);
	put(out, list.bytes, list.len);
}

static void put_message(struct out *out, uint32_t stream,
			const struct am_message *msg)
{
	uint8_t *data, head[5] = { 0 };
	uint32_t be;
	size_t len;

	if (am_rank_pack(msg, &data, &len))
		abort();
	put_head(out, sizeof(head) + len, DATA, 0, stream);
	be = htonl((uint32_t)len);
	memcpy(head + 1, &be, 4);
	put(out, head, sizeof(head));
	put(out, data, len);
	free(data);
}

static void flush(const struct conn *c, struct out *out)
{
	if (send(c->fd, out->bytes, out->len, MSG_NOSIGNAL) !=
	    (ssize_t)out->len)
		failures++;
	out->len = 0;
}

static uint32_t stream_of(uint32_t rank)
{
	return rank % o.each * 2 + 1;
}

static struct conn *conn_of(uint32_t rank)
{
	return &conns[rank / o.each];
}

static void say(uint32_t rank, const struct am_message *msg)
{
	struct out out = { .len = 0 };

	put_message(&out, stream_of(rank), msg);
	flush(conn_of(rank), &out);
}

static void say_type(uint32_t rank, enum inc_rdv_type type)
{
	say(rank, &(struct am_message){ .rdv = { .type = type } });
}

/* --- Connections --------------------------------------------------------- */

static void put_join(struct out *out, uint32_t rank)
{
	struct am_message msg = { .rdv = { .type = INC_RDV_JOIN } };
	struct inc_rdv_join *join = &msg.rdv.join;
	uint32_t group = o.first + rank / o.ranks;

	snprintf(join->job, sizeof(join->job), "sim%u.%u", group,
		 conns[rank / o.each].times);
	join->ranks = o.ranks;
	join->rank = rank % o.ranks;
	fat_tree_addr(&join->addr, (group * o.ranks + join->rank) * o.spread);
	join->qpn = 17 + rank;
	join->psn = 1;
	join->mtu = 4096;
	put_headers(out, stream_of(rank));
	put_message(out, stream_of(rank), &msg);
}

static int connect_from(uint32_t n)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + n / PORTS) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on,
				 sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -1;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	addr.sin_port = htons(o.port);
	return connect(fd, (struct sockaddr *)&addr, sizeof(addr)) ? -1 : fd;
}

static void open_conn(struct conn *c)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
	struct out out = { .len = 0 };
	uint32_t i;

	c->fd = connect_from((uint32_t)(c - conns));
	if (c->fd < 0) {
		perror("sim_clients: connect");
		exit(1);
	}
	c->times++;
	c->taken = 0;
	c->open = o.each;
	put(&out, preface, sizeof(preface) - 1);
	put_head(&out, 0, SETTINGS, 0, 0);
	for (i = 0; i < o.each; i++) {
		ranks[c->first + i].is = IS_JOINING;
		put_join(&out, c->first + i);
	}
	flush(c, &out);
	asked_at = now_ms();
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &ev))
		abort();
}

static void close_conn(struct conn *c)
{
	close(c->fd);
	free(c->buf);
	c->buf = NULL;
	c->used = 0;
	c->times++;
}

/* --- Input --------------------------------------------------------------- */

static void stream_ended(uint32_t rank)
{
	struct rank *r = &ranks[rank];
	struct conn *c = conn_of(rank);

	if (r->is == IS_GONE)
		return;
	if (r->is != IS_LEAVING)
		lost++;
	r->is = IS_GONE;
	if (--c->open)
		return;
	close_conn(c);
	if (o.churn)
		open_conn(c);
}

static void told(uint32_t rank, const struct am_message *msg)
{
	struct rank *r = &ranks[rank];

	switch (msg->rdv.type) {
	case INC_RDV_JOINED:
		r->is = IS_JOINED;
		r->beat_ms = msg->heartbeat_ms;
		r->brief = msg->brief;
		r->beat_at = now_ms() + rand() % (r->beat_ms + 1);
		say_type(rank, INC_RDV_RTS);
		break;
	case INC_RDV_READY:
		r->is = IS_READY;
		ready_at = now_ms();
		readies += !(rank % o.ranks);
		if (!o.churn)
			break;
		r->is = IS_LEAVING;
		say_type(rank, INC_RDV_LEAVE);
		break;
	case INC_RDV_FAILED:
	case INC_RDV_LEFT:
		failures++;
		break;
	default:
		break;
	}
}

static void data_came(uint32_t rank, const uint8_t *data, size_t len)
{
	struct am_message msg;
	uint32_t n;

	/* The server sends each message in a frame of its own. */
	while (len >= 5) {
		memcpy(&n, data + 1, 4);
		n = ntohl(n);
		if (n > len - 5)
			break;
		if (!am_manager_unpack(data + 5, n, &msg))
			told(rank, &msg);
		data += 5 + n;
		len -= 5 + n;
	}
}

static void open_window(struct conn *c, size_t len)
{
	struct out out = { .len = 0 };
	uint32_t be;

	c->taken += (uint32_t)len;
	if (c->taken < WINDOW)
		return;
	be = htonl(c->taken);
	put_head(&out, 4, WINDOW_UPDATE, 0, 0);
	put(&out, &be, 4);
	c->taken = 0;
	flush(c, &out);
}

static void frame(struct conn *c, const uint8_t *f, size_t len)
{
	uint32_t stream = (uint32_t)(f[5] & 0x7f) << 24 | (uint32_t)f[6] << 16 |
			  (uint32_t)f[7] << 8 | f[8];
	uint32_t rank = c->first + (stream ? stream / 2 : 0);
	struct out out = { .len = 0 };

	if (f[3] == SETTINGS && !(f[4] & ACK)) {
		put_head(&out, 0, SETTINGS, ACK, 0);
		flush(c, &out);
	} else if (f[3] == PING && !(f[4] & ACK)) {
		put_head(&out, len, PING, ACK, 0);
		put(&out, f + FRAME, len);
		flush(c, &out);
	} else if (f[3] == GOAWAY) {
		failures++;
	} else if (f[3] == DATA) {
		data_came(rank, f + FRAME, len);
		open_window(c, len);
	}
	if ((f[3] == HEADERS && (f[4] & END_STREAM)) || f[3] == RST)
		stream_ended(rank);
}

static void conn_lost(struct conn *c)
{
	uint32_t i;

	lost += c->open;
	for (i = 0; i < o.each; i++)
		ranks[c->first + i].is = IS_GONE;
	close_conn(c);
}

static void receive(struct conn *c)
{
	uint8_t data[BUF];
	size_t used = c->used, at = 0, len;
	uint32_t times = c->times;
	ssize_t n;

	if (used)
		memcpy(data, c->buf, used);
	n = recv(c->fd, data + used, sizeof(data) - used, 0);
	if (n <= 0) {
		conn_lost(c);
		return;
	}
	used += (size_t)n;
	while (used - at >= FRAME) {
		len = (size_t)data[at] << 16 | (size_t)data[at + 1] << 8 |
		      data[at + 2];
		if (used - at < FRAME + len)
			break;
		frame(c, data + at, len);
		/* What follows is an old connection's. */
		if (c->times != times)
			return;
		at += FRAME + len;
	}
	c->used = (uint32_t)(used - at);
	free(c->buf);
	c->buf = c->used ? must(malloc(c->used)) : NULL;
	if (c->used)
		memcpy(c->buf, data + at, c->used);
}

/* --- Run ----------------------------------------------------------------- */

static void beat(int64_t now)
{
	struct am_message heartbeat = { .heartbeat = true };
	uint32_t i;

	for (i = 0; i < o.groups * o.ranks; i++) {
		struct rank *r = &ranks[i];

		if ((r->is != IS_JOINED && r->is != IS_READY) || !r->beat_ms ||
		    r->beat_at > now)
			continue;
		r->beat_at += r->beat_ms;
		beats++;
		heartbeat.brief = r->brief;
		say(i, &heartbeat);
	}
}

/* Not all at once: the manager drops who has to wait for too long. */
static void open_some(uint32_t n)
{
	static uint32_t opened;
	uint32_t i;

	for (i = 0; i < OPEN_AT_ONCE && opened < n; i++)
		open_conn(&conns[opened++]);
}

static uint32_t count_ready(void)
{
	uint32_t i, n = 0;

	for (i = 0; i < o.groups * o.ranks; i++)
		n += ranks[i].is == IS_READY;
	return n;
}

static void run(int64_t until)
{
	struct epoll_event evs[EVENTS];
	int64_t next = 0, now;
	int i, n;

	while ((now = now_ms()) < until &&
	       !(o.once && count_ready() == o.groups * o.ranks)) {
		n = epoll_wait(epoll, evs, EVENTS, TICK_MS);
		for (i = 0; i < n; i++)
			receive(evs[i].data.ptr);
		if (now < next)
			continue;
		next = now + TICK_MS;
		open_some(o.groups * o.ranks / o.each);
		beat(now);
	}
}

static void report(double seconds)
{
	printf("{\"groups\": %u, \"ranks\": %u, \"streams\": %u, \"ready\": %u, \"beats_s\": %.0f, \"groups_s\": %.1f, \"failures\": %llu, \"lost\": %llu, \"ready_ms\": %lld}\n",
	       o.groups, o.groups * o.ranks, o.each, count_ready(),
	       (double)beats / seconds, (double)readies / seconds, failures,
	       lost, (long long)(ready_at - asked_at));
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	uint32_t i, n;
	int seconds;

	if (argc < 8) {
		fputs("usage: sim_clients PORT FIRST GROUPS RANKS SPREAD EACH SECONDS [churn|once]\n",
		      stderr);
		return 2;
	}
	o.port = (uint16_t)atoi(argv[1]);
	o.first = (uint32_t)atoi(argv[2]);
	o.groups = (uint32_t)atoi(argv[3]);
	o.ranks = (uint32_t)atoi(argv[4]);
	o.spread = (uint32_t)atoi(argv[5]);
	o.each = (uint32_t)atoi(argv[6]);
	seconds = atoi(argv[7]);
	o.churn = argc > 8 && !strcmp(argv[8], "churn");
	o.once = argc > 8 && !strcmp(argv[8], "once");
	if (!o.each || o.groups * o.ranks % o.each) {
		fputs("sim_clients: EACH must divide the number of ranks\n",
		      stderr);
		return 2;
	}
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	n = o.groups * o.ranks;
	ranks = must(calloc(n, sizeof(*ranks)));
	conns = must(calloc(n / o.each, sizeof(*conns)));
	for (i = 0; i < n / o.each; i++)
		conns[i].first = i * o.each;
	run(now_ms() + seconds * 1000LL);
	report(seconds);
	return 0;
}
