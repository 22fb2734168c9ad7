// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * http2/: framing, split at every byte; limits; and whole dialogues of random
 * frames with the server.
 *
 *   test_h2 [DIALOGUES [SEED]]
 */
#include <errno.h>
#include <openssl/x509.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http2/conn.h"
#include "tests/fuzz.h"

#define DIALOGUES	2000
#define BYTES		8192	/* of a dialogue */

#define QUEUES_N	9
#define UPDATES		2000	/* new keys that a client sends at once */

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
static unsigned int known, messages, tokens;
static char cut_why[256];
static char refused_why[256];
static struct loop loop;

/* --- Framing ------------------------------------------------------------- */

/* Two messages, and the head of a third, in two pieces. */
static void split_at(const uint8_t *data, size_t len, size_t at)
{
	struct wire_message m = { .have = 0 };
	const uint8_t *p = data;
	size_t part, n = 0, i;
	int ret;

	for (i = 0; i < 2; i++) {
		part = i ? len - at : at;
		while (part) {
			ret = wire_take(&m, MESSAGE_MAX, &p, &part);
			if (ret < 0)
				check(false, "a message in pieces");
			if (ret != 1)
				continue;
			check(m.len == 300 * n && (!n || m.data[299] == 7),
			      "a message is as it was");
			n++;
			wire_reset(&m);
		}
	}
	check(n == 2 && m.have == 3, "as many as there were");
	wire_reset(&m);
}

static void test_messages(void)
{
	uint8_t data[WIRE_HEAD + WIRE_HEAD + 300 + 3] = { 0 }, head[WIRE_HEAD];
	struct wire_message m = { .have = 0 };
	const uint8_t *p = head;
	size_t i, len = sizeof(head);

	wire_put_head(data, 0);
	wire_put_head(data + WIRE_HEAD, 300);
	memset(data + 2 * WIRE_HEAD, 7, 300);
	for (i = 0; i <= sizeof(data); i++)
		split_at(data, sizeof(data), i);
	wire_put_head(head, MESSAGE_MAX + 1);
	check(wire_take(&m, MESSAGE_MAX, &p, &len) == -EMSGSIZE, "one that is too long");
	wire_reset(&m);
	wire_put_head(head, MESSAGE_MAX);
	p = head;
	len = sizeof(head);
	check(!wire_take(&m, MESSAGE_MAX, &p, &len) && m.room < 1024,
	      "room only for what has come");
	wire_reset(&m);
	head[0] = 1;
	p = head;
	len = sizeof(head);
	check(wire_take(&m, MESSAGE_MAX, &p, &len) == -EOPNOTSUPP, "one that is compressed");
	wire_reset(&m);
}

static void test_texts(void)
{
	char out[16];

	check(wire_timeout("99999999H", 9) == 99999999LL * 3600000,
	      "the longest time");
	check(wire_timeout("1S", 2) == 1000 && wire_timeout("20m", 3) == 20 &&
	      wire_timeout("5u", 2) == 0, "times");
	check(wire_timeout("100000000S", 10) < 0 && wire_timeout("S", 1) < 0 &&
	      wire_timeout("1x", 2) < 0 && wire_timeout("-1S", 3) < 0 &&
	      wire_timeout("", 0) < 0, "what is no time");
	check(wire_is_grpc("application/grpc") &&
	      wire_is_grpc("application/grpc+proto") &&
	      wire_is_grpc("application/grpc;x") &&
	      !wire_is_grpc("application/grpcx") && !wire_is_grpc("text"),
	      "content-type");
	check(wire_encode(out, sizeof(out), "a%\xc3\xbc\n") == 13 &&
	      !strcmp(out, "a%25%C3%BC%0A"), "a text");
	check(wire_encode(out, sizeof(out), "\n\n\n\n\n\n") == 15,
	      "one that does not fit");
}

/* --- Limits -------------------------------------------------------------- */

static void test_shares(void)
{
	struct share_set a = { { NULL } }, b = { { NULL } }, c;
	char why[160];
	size_t n = 0, host;

	share_join(&a, SHARE_CONNECTION, "");
	share_join(&a, SHARE_HOST, "h");
	share_join(&b, SHARE_CONNECTION, "");
	share_join(&b, SHARE_HOST, "h");
	check(a.by_kind[SHARE_HOST] == b.by_kind[SHARE_HOST] &&
	      a.by_kind[SHARE_CONNECTION] != b.by_kind[SHARE_CONNECTION],
	      "connections of a host");
	while (share_take(&a, SHARE_CALLS, 1, why, sizeof(why)) < 0)
		n++;
	host = a.by_kind[SHARE_HOST]->used[SHARE_CALLS];
	check(n == 1024 && host == 1024, "calls of a connection");
	check(share_take(&b, SHARE_CALLS, 1, why, sizeof(why)) < 0,
	      "another one has its own");
	share_copy(&c, &a);
	share_leave(&a);
	check(c.by_kind[SHARE_HOST]->used[SHARE_CALLS] == 1025,
	      "a copy has the same");
	share_give(&c, SHARE_CALLS, 1024);
	share_give(&b, SHARE_CALLS, 1);
	check(share_take(&b, SHARE_QUEUED, 100 << 20, why, sizeof(why)) < 0 &&
	      share_take(&b, SHARE_QUEUED, 1, why, sizeof(why)) ==
	      SHARE_CONNECTION, "one answer may be large");
	share_give(&b, SHARE_QUEUED, 100 << 20);
	share_leave(&b);
	share_leave(&c);
}

static void test_allowance(void)
{
	struct allowance a = { .counted_at = 0 };
	unsigned int n = 0, granted = 0, i;

	while (allowance_take(&a, 1000, 1, 10, 2))
		n++;
	check(n == 10, "so often at once");
	check(allowance_take(&a, 2000, 1, 10, 2) &&
	      !allowance_take(&a, 2000, 1, 10, 2), "and again after a second");
	a.counted_at = 0;
	for (i = 0; i < 100; i++)
		granted += allowance_take(&a, 1000 + 150 * i, 1 + i % 2, 3, 10);
	check(granted == 100, "1.5 in 150 ms are 10 in a second");
}

/* --- Dialogues ----------------------------------------------------------- */

static SSL_CTX *no_tls(void *ctx)
{
	(void)ctx;
	return NULL;
}

static void send_back(struct h2_call *call, size_t len)
{
	struct h2_chunk *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->data = calloc(1, len + 1);
	c->len = len;
	h2_send(call, c);
}

static void arrived(void *ctx, struct h2_call *call)
{
	char why[160];

	(void)ctx;
	tokens += call->in.token && !strcmp(call->in.token, "Bearer x");
	if (!any(8)) {
		h2_finish(call, 16, "nobody");
	} else if (!h2_admit(call, any(2) ? "t" : "", why, sizeof(why))) {
		h2_finish(call, WIRE_EXHAUSTED, why);
	} else {
		call->user = malloc(1);
		known++;
		if (any(2))
			h2_begin(call);
	}
}

static void message(struct h2_call *call, const uint8_t *data, size_t len)
{
	(void)data;
	messages++;
	check(!call->in.token, "a token is known no longer than it has to be");
	h2_count(call, 1, len, "too many");
	if (any(2))
		send_back(call, any(4) ? any(100) : any(200000));
	if (!any(4))
		h2_finish(call, (int)any(17), any(2) ? "" : "t\xc3\xbc%");
	if (!any(20))
		h2_cancel(call);
}

static void half(struct h2_call *call)
{
	if (any(4))
		h2_finish(call, 0, "");
}

static void drained(struct h2_call *call)
{
	(void)call;
}

static void gone(struct h2_call *call)
{
	free(call->user);
	call->user = NULL;
	known--;
}

static void refused(void *ctx, const char *peer, const char *why)
{
	(void)ctx;
	(void)peer;
	snprintf(refused_why, sizeof(refused_why), "%s", why);
}

static void was_cut(void *ctx, const char *peer, const char *why)
{
	(void)ctx;
	(void)peer;
	snprintf(cut_why, sizeof(cut_why), "%s", why);
}

static size_t put_frame(uint8_t *to, size_t len, uint8_t type, uint8_t flags,
			uint32_t id)
{
	const uint8_t head[9] = {
		(uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len, type,
		flags, (uint8_t)(id >> 24), (uint8_t)(id >> 16),
		(uint8_t)(id >> 8), (uint8_t)id,
	};

	memcpy(to, head, sizeof(head));
	return sizeof(head);
}

static size_t put_header(uint8_t *to, const char *name, const char *value)
{
	size_t n = 0, k;

	to[n++] = any(20) ? 0 : 0x40;
	to[n++] = (uint8_t)strlen(name);
	for (k = 0; name[k]; k++)
		to[n++] = (uint8_t)name[k];
	to[n++] = (uint8_t)strlen(value);
	for (k = 0; value[k]; k++)
		to[n++] = (uint8_t)value[k];
	return n;
}

static size_t put_call(uint8_t *to, uint32_t id)
{
	uint8_t block[512];
	size_t n = 0, head;

	n += put_header(block + n, ":method", any(20) ? "POST" : "GET");
	n += put_header(block + n, ":scheme", "http");
	n += put_header(block + n, ":path", "/s/M");
	n += put_header(block + n, ":authority", "x");
	n += put_header(block + n, "authorization", "Bearer x");
	n += put_header(block + n, "content-type",
			any(20) ? "application/grpc" : "text/html");
	if (!any(10))
		n += put_header(block + n, "grpc-timeout",
				any(2) ? "1m" : "99x");
	if (!any(10))
		n += put_header(block + n, "grpc-encoding", "gzip");
	head = put_frame(to, n, 1, any(8) ? 4 : (uint8_t)any(256), id);
	memcpy(to + head, block, n);
	return head + n;
}

static size_t put_any(uint8_t *to, uint32_t id)
{
	size_t len = any(40), head, i;

	switch (any(30)) {
	case 0 ... 9:
		return put_call(to, id | 1);
	case 10 ... 26:
		/* A message, perhaps with its end. */
		head = put_frame(to, WIRE_HEAD + len, 0, !any(3), id | 1);
		wire_put_head(to + head, any(10) ? len : any(100000));
		memset(to + head + WIRE_HEAD, 1, len);
		return head + WIRE_HEAD + len;
	case 27 ... 28:
		head = put_frame(to, 4, any(2) ? 3 : 8, 0, any(2) ? id | 1 : 0);
		memset(to + head, 0, 4);
		to[head + 3] = (uint8_t)any(100);
		return head + 4;
	default:
		head = put_frame(to, len, (uint8_t)any(11), (uint8_t)any(256),
				 any(4) ? id | 1 : 0);
		for (i = 0; i < len; i++)
			to[head + i] = (uint8_t)any(256);
		return head + len;
	}
}

static size_t make_dialogue(uint8_t *data)
{
	uint32_t id = 1;
	size_t n = sizeof(preface) - 1;

	memcpy(data, preface, n);
	n += put_frame(data + n, 0, 4, 0, 0);
	while (n < BYTES - 1024 && any(200)) {
		n += put_any(data + n, id);
		if (any(2))
			id += 2;
	}
	if (!any(3))
		data[any((uint32_t)n)] ^= (uint8_t)(1 + any(255));
	return n;
}

static void turn(int ms)
{
	loop_turn(&loop, now_ms() + ms);
}

static struct h2_server *new_server(const struct h2_handler *handler)
{
	struct h2_server *s = NULL;

	if (!loop_init(&loop))
		s = h2_new(&loop, "manager", handler, NULL);
	if (!s)
		abort();
	cut_why[0] = '\0';
	return s;
}

static void end_server(struct h2_server *s)
{
	while (!h2_stop(s))
		turn(10);
	h2_close(s);
	h2_free(s);
	loop_free(&loop);
}

static void hold_dialogue(struct h2_server *s)
{
	static uint8_t data[BYTES], back[65536];
	size_t len = make_dialogue(data), at = 0, part;
	bool reads = any(4);
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds))
		abort();
	h2_attach(s, fds[0], "", 0);
	while (at < len) {
		part = any(3) ? len - at : 1 + any((uint32_t)(len - at));
		if (send(fds[1], data + at, part, MSG_NOSIGNAL) < 0)
			break;
		at += part;
		turn(0);
		if (reads)
			(void)!read(fds[1], back, sizeof(back));
	}
	turn(0);
	close(fds[1]);
	turn(0);
	turn(0);
}

static const struct h2_handler plain = {
	.tls = no_tls,
	.arrived = arrived,
	.message = message,
	.half_closed = half,
	.drained = drained,
	.gone = gone,
	.refused = refused,
	.cut = was_cut,
};

static void test_dialogues(unsigned long n)
{
	struct h2_server *s = new_server(&plain);

	while (n--)
		hold_dialogue(s);
	end_server(s);
	check(!known, "all calls end");
	check(messages, "and messages come");
	check(tokens, "and tokens");
}

/* --- Queues -------------------------------------------------------------- */

static void check_queues(const struct hostq_set *c, const struct hostq *queues)
{
	size_t most = 0, used = 0, n, i;
	const struct hostq_node *p;

	for (i = 0; i < QUEUES_N; i++) {
		n = 0;
		TAILQ_FOREACH(p, &queues[i].nodes, entry)
			n++;
		check(n == queues[i].n, "those of a queue are counted");
		most = n > most ? n : most;
		used += n != 0;
	}
	check(c->most == (most < c->top ? most : c->top) && c->used == used,
	      "it is known who has most");
}

static void test_queues(size_t top)
{
	static struct hostq_node nodes[200];
	struct hostq queues[QUEUES_N];
	struct hostq_node *p, *next;
	struct hostq_set c;
	int i;

	if (hostq_set_init(&c, top))
		abort();
	for (i = 0; i < QUEUES_N; i++)
		hostq_init(&queues[i]);
	for (i = 0; i < 5000; i++) {
		p = &nodes[any(200)];
		if (p->queue)
			hostq_remove(&c, p);
		else if (i < 3000)
			hostq_append(&c, &queues[any(any(2) ? QUEUES_N : 2)], p);
		check_queues(&c, queues);
	}
	p = hostq_set_turn(&c);
	next = hostq_set_turn(&c);
	check(!p || c.used < 2 || top > 1 || p->queue != next->queue,
	      "one after the other");
	for (i = 0; i < 200; i++)
		hostq_remove(&c, &nodes[i]);
	check(!c.most && !c.used && !hostq_set_turn(&c), "nobody is left");
	hostq_set_free(&c);
}

/* --- Connections without a call ------------------------------------------ */

/* Headers that have no end are no call. */
static void test_half_headers(void)
{
	struct h2_server *s = new_server(&plain);
	uint8_t data[1024], back[1024];
	size_t n = sizeof(preface) - 1;
	int fds[2], i;
	ssize_t got;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds))
		abort();
	h2_attach(s, fds[0], "192.0.2.1", 1);
	memcpy(data, preface, n);
	n += put_frame(data + n, 0, 4, 0, 0);
	n += put_frame(data + n, 3, 1, 0, 1);
	memcpy(data + n, "\x83\x86\x84", 3);
	check(send(fds[1], data, n + 3, 0) > 0, "half a call");
	for (i = 0; i < 3; i++)
		turn(0);
	check(s->conns && s->conns->idle, "its connection has no call");
	check(timers_next(&loop.timers) <= loop.now + 10000,
	      "it has 10 s to become whole");
	timers_run(&loop.timers, loop.now + 10000);
	turn(0);
	while ((got = recv(fds[1], back, sizeof(back), 0)) > 0)
		;
	check(!got, "or its connection ends");
	close(fds[1]);
	end_server(s);
}

/* DATA of no stream: what any user of a host can send, and no ranks' end. */
static void test_malformed(void)
{
	struct h2_server *s = new_server(&plain);
	size_t n = sizeof(preface) - 1;
	uint8_t data[64];
	int fds[2], i, k;

	memcpy(data, preface, n);
	n += put_frame(data + n, 0, 4, 0, 0);
	n += put_frame(data + n, 0, 0, 0, 0);
	for (i = 1; i <= 8; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds))
			abort();
		h2_attach(s, fds[0], "192.0.2.7", i);
		cut_why[0] = '\0';
		check(send(fds[1], data, n, 0) > 0, "a wrong frame");
		for (k = 0; k < 3; k++)
			turn(0);
		check(*cut_why && (i < 8) == !strstr(cut_why, "10 s"),
		      "the eighth one in 10 s bars its host");
		close(fds[1]);
	}
	end_server(s);
}

/* A client that does not read, and closes, resets the connection. */
static void test_reset(void)
{
	struct h2_server *s = new_server(&plain);
	int fds[2], i;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds))
		abort();
	h2_attach(s, fds[0], "192.0.2.1", 1);
	check(send(fds[1], "\x16\x03\x01", 3, 0) == 3, "a ClientHello");
	for (i = 0; i < 3 && recv(fds[1], &byte, 1, MSG_PEEK) != 1; i++)
		turn(0);
	close(fds[1]);
	for (i = 0; i < 3; i++)
		turn(0);
	check(strstr(refused_why, "it speaks TLS"),
	      "what came before a reset is read");
	end_server(s);
}

/* However many descriptors there are, a host has at most half of them. */
static void test_one_host(void)
{
	const struct rlimit few = { 400, 400 };
	struct h2_server *s;
	int fds[2], ends[180], i;
	char byte;

	if (setrlimit(RLIMIT_NOFILE, &few))
		abort();
	s = new_server(&plain);
	for (i = 0; i < 180; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds))
			abort();
		h2_attach(s, fds[0], "192.0.2.1", i);
		ends[i] = fds[1];
		turn(0);
	}
	check(s->conns->share.by_kind[SHARE_HOST]->used[SHARE_CONNECTIONS] ==
		      175,
	      "a host leaves half of the descriptors to others");
	check(!recv(ends[4], &byte, 1, 0) && recv(ends[5], &byte, 1, 0) < 0,
	      "and its oldest connections without a call give way");
	for (i = 0; i < 180; i++)
		close(ends[i]);
	end_server(s);
}

/* --- TLS ----------------------------------------------------------------- */

static SSL_CTX *server_tls;
/* As plain, with TLS. */
static struct h2_handler secret;
static unsigned int asked;

/**
 * struct end - a client's end
 * @s: server
 * @fds: its socket, and the server's
 * @ctx: how it speaks TLS
 * @ssl: and that it does
 */
struct end {
	struct h2_server	*s;
	int			fds[2];
	SSL_CTX			*ctx;
	SSL			*ssl;
};

static SSL_CTX *speak_tls(void *ctx)
{
	(void)ctx;
	asked++;
	return server_tls;
}

static int select_h2(SSL *ssl, const unsigned char **out, unsigned char *len,
		     const unsigned char *in, unsigned int in_len, void *ctx)
{
	(void)ssl;
	(void)in_len;
	(void)ctx;
	*out = in + 1;
	*len = in[0];
	return SSL_TLSEXT_ERR_OK;
}

static void make_tls(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();

	ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
	X509_gmtime_adj(X509_getm_notBefore(cert), 0);
	X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
	X509_set_pubkey(cert, key);
	X509_sign(cert, key, EVP_sha256());
	server_tls = SSL_CTX_new(TLS_server_method());
	SSL_CTX_set_options(server_tls, SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_alpn_select_cb(server_tls, select_h2, NULL);
	check(SSL_CTX_use_certificate(server_tls, cert) == 1 &&
	      SSL_CTX_use_PrivateKey(server_tls, key) == 1, "a certificate");
	X509_free(cert);
	EVP_PKEY_free(key);
	secret = plain;
	secret.tls = speak_tls;
}

static void dial(struct end *e, int version, size_t padding)
{
	uint8_t first[64];
	size_t n = sizeof(preface) - 1;
	int i, ret = 0;

	e->s = new_server(&secret);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, e->fds))
		abort();
	h2_attach(e->s, e->fds[1], "", 0);
	e->ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_max_proto_version(e->ctx, version);
	SSL_CTX_set_block_padding(e->ctx, padding);
	SSL_CTX_set_alpn_protos(e->ctx, (const unsigned char *)"\2h2", 3);
	e->ssl = SSL_new(e->ctx);
	SSL_set_fd(e->ssl, e->fds[0]);
	for (i = 0; i < 50 && ret != 1; i++) {
		ret = SSL_connect(e->ssl);
		turn(0);
	}
	memcpy(first, preface, n);
	n += put_frame(first + n, 0, 4, 0, 0);
	check(ret == 1 && SSL_write(e->ssl, first, (int)n) == (int)n,
	      "a handshake");
	turn(0);
}

static void hang_up(struct end *e)
{
	SSL_free(e->ssl);
	SSL_CTX_free(e->ctx);
	close(e->fds[0]);
	end_server(e->s);
}

/* SSL_read() goes on by itself as long as they come. */
static void test_new_keys(void)
{
	BIO *mem = BIO_new(BIO_s_mem());
	int i, len, left = 0;
	struct end e;
	char *data;

	dial(&e, TLS1_3_VERSION, 0);
	SSL_set0_wbio(e.ssl, mem);
	for (i = 0; i < UPDATES; i++) {
		SSL_key_update(e.ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
		SSL_do_handshake(e.ssl);
	}
	len = (int)BIO_get_mem_data(mem, &data);
	check(send(e.fds[0], data, (size_t)len, 0) == len, "they are sent");
	turn(0);
	check(!ioctl(e.fds[1], FIONREAD, &left) && left >= len - 20000,
	      "new keys take no more than a turn");
	for (i = 0; i < UPDATES && !*cut_why; i++)
		turn(0);
	check(strstr(cut_why, "TLS: new keys"), "too many of them are cut");
	hang_up(&e);
}

static void test_padding(void)
{
	uint8_t ping[32] = { 0 };
	size_t n = put_frame(ping, 8, 6, 0, 0) + 8;
	struct end e;
	int i;

	dial(&e, TLS1_3_VERSION, 16384);
	for (i = 0; i < 40 && !*cut_why; i++) {
		SSL_write(e.ssl, ping, (int)n);
		turn(0);
		turn(0);
	}
	check(i > 10 && strstr(cut_why, "it sends more"),
	      "what TLS adds counts, too");
	hang_up(&e);
}

/* Returns a client's end, which has begun with a handshake. */
static int begin_shake(struct h2_server *s, const char *host)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds))
		abort();
	h2_attach(s, fds[0], host, 1);
	check(send(fds[1], "\x16\x03\x01\x02", 4, 0) == 4, "a few bytes");
	turn(0);
	return fds[1];
}

/* Of each host that waits one is asked a turn, not all. */
static void test_waiting(void)
{
	struct h2_server *s = new_server(&secret);
	int ends[200], i;

	for (i = 0; i < 200; i++) {
		ends[i] = begin_shake(s, "192.0.2.2");
		/* None is old enough to give way, on a slow machine neither. */
		s->conns->since += 60000;
	}
	check(s->conns->share.by_kind[SHARE_HOST]->used[SHARE_HANDSHAKES] ==
		      128,
	      "those that shake hands");
	asked = 0;
	turn(0);
	check(asked && asked < 6, "those that wait take no time");
	for (i = 0; i < 200; i++)
		close(ends[i]);
	end_server(s);
}

/* Of a host that has too many, those that began long ago give way to new ones. */
static void test_newest(void)
{
	uint64_t drops = h2_drops();
	struct h2_server *s = new_server(&secret);
	struct h2_conn *c;
	int ends[201], i;

	for (i = 0; i < 200; i++)
		ends[i] = begin_shake(s, "192.0.2.6");
	for (c = s->conns; c; c = c->next)
		c->since -= 200;
	ends[200] = begin_shake(s, "192.0.2.6");
	check(s->conns->state == CONN_SHAKES, "the newest begins");
	check(h2_drops() > drops, "for another one, which counts");
	check(s->conns->share.by_kind[SHARE_HOST]->used[SHARE_HANDSHAKES] ==
		      128,
	      "there are as many as before");
	for (i = 0; i <= 200; i++)
		close(ends[i]);
	end_server(s);
}

/* Whoever has much to say in its handshakes does so beside others. */
static void test_pieces(void)
{
	struct h2_server *s = new_server(&secret);
	int ends[101], i, left = 0, turns;

	for (i = 0; i < 100; i++)
		ends[i] = begin_shake(s, "192.0.2.7");
	ends[100] = begin_shake(s, "192.0.2.8");
	for (turns = 0; turns < 20; turns++) {
		for (i = 0; i < 100; i++)
			check(send(ends[i], "\x01", 1, MSG_NOSIGNAL) == 1,
			      "a byte");
		check(send(ends[100], "\x01", 1, MSG_NOSIGNAL) == 1,
		      "one of another");
		turn(0);
		turn(0);
		check(!ioctl(s->conns->fd, FIONREAD, &left) && left < 2,
		      "others have their turn soon");
	}
	for (i = 0; i <= 100; i++)
		close(ends[i]);
	end_server(s);
}

/* There is room for a host that has few, whatever others do. */
static void test_turns(void)
{
	struct h2_server *s = new_server(&secret);
	int ends[61], i;

	share_lower(SHARE_ALL, SHARE_HANDSHAKES, 40);
	for (i = 0; i < 60; i++)
		ends[i] = begin_shake(s, i % 2 ? "192.0.2.3" : "192.0.2.4");
	ends[60] = begin_shake(s, "192.0.2.5");
	turn(0);
	check(s->conns->state == CONN_SHAKES, "a host that has none begins");
	check(s->conns->share.by_kind[SHARE_ALL]->used[SHARE_HANDSHAKES] == 40,
	      "others give way");
	for (i = 0; i <= 60; i++)
		close(ends[i]);
	end_server(s);
}

static void test_renegotiation(void)
{
	struct end e;

	dial(&e, TLS1_2_VERSION, 0);
	turn(0);
	check(!*cut_why, "TLS 1.2 is spoken");
	SSL_renegotiate(e.ssl);
	SSL_do_handshake(e.ssl);
	turn(0);
	check(strstr(cut_why, "another handshake"), "there is one handshake");
	hang_up(&e);
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 0) : DIALOGUES;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) :
				   (uint64_t)time(NULL);

	state = seed;
	signal(SIGPIPE, SIG_IGN);	/* as inc-amd does */
	test_messages();
	test_texts();
	test_shares();
	test_allowance();
	test_dialogues(n);
	test_half_headers();
	test_malformed();
	test_reset();
	test_queues(1);
	test_queues(20);
	test_queues(300);
	make_tls();
	test_new_keys();
	test_padding();
	test_renegotiation();
	test_waiting();
	test_newest();
	test_pieces();
	test_turns();
	SSL_CTX_free(server_tls);
	test_one_host();
	printf("%sok 1 - framing, limits, %lu dialogues, %u messages, seed %llu\n",
	       failures ? "not " : "", n, messages, (unsigned long long)seed);
	puts("1..1");
	return failures != 0;
}
