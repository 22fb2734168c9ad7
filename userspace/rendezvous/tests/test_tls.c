// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * libinc-tls, both ends of a pair of sockets in one thread: certificates, names,
 * tokens, and bytes that change on their way.
 */
#include <errno.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/tests/test.h"
#include "proto.h"
#include "tls/tls.h"

#define NAME	"192.0.2.7"
#define ROUNDS	2000

static const struct inc_tls_ops *const ops = &inc_tls_ops_1;
static char dir[] = "/tmp/test_tls.XXXXXX";

/* --- Certificates -------------------------------------------------------- */

static bool make_files(void)
{
	char cmd[1024];

	if (!mkdtemp(dir))
		return false;
	/* system()'s shell may be a small one. */
	snprintf(cmd, sizeof(cmd), "cd %s && "
		 CA_PROGRAM " -d a init && "
		 CA_PROGRAM " -d a manager server " NAME " name.example && "
		 CA_PROGRAM " -d a client rank && "
		 CA_PROGRAM " -d a --from 20200101000000Z "
			"--until 20210101000000Z client old && "
		 CA_PROGRAM " -d a token bob - client tokens >token && "
		 CA_PROGRAM " -d b init && " CA_PROGRAM " -d b client rank && "
		 "mkdir a/junk a/swapped a/locked && echo x >a/junk/cert.pem && "
		 "cp a/rank/key.pem a/junk/key.pem && "
		 "cp a/rank/cert.pem a/swapped/cert.pem && "
		 "cp a/rank/cert.pem a/swapped/key.pem && "
		 "cp a/rank/cert.pem a/locked/cert.pem && "
		 "openssl pkey -in a/rank/key.pem -aes128 -passout pass:x "
			"-out a/locked/key.pem && "
		 "chmod 600 tokens a/*/key.pem", dir);
	return !system(cmd);
}

static struct inc_tls_ctx *ctx(const char *ca, const char *who, bool server,
			       enum inc_tls_ask ask, char *err)
{
	char a[128], c[128], k[128];
	struct inc_tls_how how = {
		.ca = a, .cert = who ? c : NULL, .key = who ? k : NULL,
		.server = server, .ask = ask,
	};

	snprintf(a, sizeof(a), "%s/%s/ca.pem", dir, ca);
	snprintf(c, sizeof(c), "%s/%s/cert.pem", dir, who ? who : "");
	snprintf(k, sizeof(k), "%s/%s/key.pem", dir, who ? who : "");
	return ops->ctx_new(&how, err, 256);
}

/* --- Two ends ------------------------------------------------------------ */

struct ends {
	int		fd[2];
	struct inc_tls	*tls[2];	/* client, server */
	int		ret[2];
};

static struct ends dial(struct inc_tls_ctx *client, struct inc_tls_ctx *server,
			const char *name)
{
	struct ends e = { .ret = { -EAGAIN, -EAGAIN } };

	EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, e.fd), 0);
	e.tls[0] = ops->open(client, e.fd[0], name);
	e.tls[1] = ops->open(server, e.fd[1], NULL);
	OK(e.tls[0] && e.tls[1]);
	return e;
}

static void shake(struct ends *e)
{
	short events;
	int i;

	for (i = 0; i < 20; i++)
		if (e->ret[i & 1] == -EAGAIN)
			e->ret[i & 1] = ops->shake(e->tls[i & 1], &events);
}

static void hang_up(struct ends *e)
{
	ops->close(e->tls[0]);
	ops->close(e->tls[1]);
	close(e->fd[0]);
	close(e->fd[1]);
}

static void says(struct inc_tls *tls, const char *text)
{
	if (strstr(ops->why(tls), text))
		return;
	printf("# \"%s\" does not say \"%s\"\n", ops->why(tls), text);
	test_errors++;
}

/* --- Cases --------------------------------------------------------------- */

static void talk(void)
{
	char err[256] = "", name[64] = "", buf[64];
	struct inc_tls_ctx *s = ctx("a", "a/server", true, INC_TLS_DEMAND, err);
	struct inc_tls_ctx *c = ctx("a", "a/rank", false, 0, err);
	struct ends e = dial(c, s, NAME);

	shake(&e);
	EQ(e.ret[0], 0);
	EQ(e.ret[1], 0);
	OK(ops->client(e.tls[1], name, sizeof(name)));
	OK(!strcmp(name, "rank"));
	EQ(ops->recv(e.tls[1], buf, sizeof(buf)), -EAGAIN);
	EQ(ops->send(e.tls[0], "hello world", 11), 11);
	EQ(ops->recv(e.tls[1], buf, 5), 5);
	OK(ops->pending(e.tls[1]));
	EQ(ops->recv(e.tls[1], buf, sizeof(buf)), 6);
	OK(!ops->pending(e.tls[1]));
	ops->close(e.tls[0]);
	EQ(ops->recv(e.tls[1], buf, sizeof(buf)), 0);
	ops->close(e.tls[1]);
	close(e.fd[0]);
	close(e.fd[1]);
	ops->ctx_free(c);
	ops->ctx_free(s);
}

/* A handshake that fails at the client if @at is 0, else at the server. */
static void fails(const char *ca, const char *who, const char *name, int at,
		  const char *text)
{
	char err[256] = "", buf[8];
	struct inc_tls_ctx *s = ctx("a", "a/server", true, INC_TLS_DEMAND, err);
	struct inc_tls_ctx *c = ctx(ca, who, false, 0, err);
	struct ends e = dial(c, s, name);

	shake(&e);
	OK(e.ret[at] < 0 && e.ret[at] != -EAGAIN);
	says(e.tls[at], text);
	/* TLS 1.3: the client hears of it later. */
	if (at) {
		EQ(e.ret[0], 0);
		OK(ops->recv(e.tls[0], buf, sizeof(buf)) == -EPROTO);
		says(e.tls[0], who ? "the rendezvous daemon refuses the certificate /tmp/" :
				     "the rendezvous daemon refuses this client, which shows no certificate");
		says(e.tls[0], who ? "(INC_SERVER_CERTS): it is of another authority" :
				     "(INC_SERVER_CERTS)");
		OK(ops->send(e.tls[0], "x", 1) == -EPROTO);
	}
	hang_up(&e);
	ops->ctx_free(c);
	ops->ctx_free(s);
}

static void refused(void)
{
	char err[256] = "";

	fails("b", "b/rank", NAME, 0, "certificate of the rendezvous daemon is not of the authority in /tmp/");
	fails("a", "a/rank", "192.0.2.8", 0, "does not name 192.0.2.8: ask by");
	fails("a", "a/rank", "another.example", 0, "does not name another.example: ask by");
	fails("a", NULL, "name.example", 1, "it has no certificate");
	fails("a", "b/rank", NAME, 1, "certificate of the client is not of the authority in /tmp/");
	OK(!ctx("a", "a/old", false, 0, err));
	OK(strstr(err, "expired"));
	OK(!ctx("a", "a/junk", false, 0, err));
	OK(strstr(err, "a/junk/cert.pem: there is no certificate in it"));
	OK(!ctx("a", "a/swapped", false, 0, err));
	OK(strstr(err, "a/swapped/key.pem: there is no private key in it"));
	OK(!ctx("a", "a/locked", false, 0, err));
	OK(strstr(err, "a/locked/key.pem: it has a password"));
	OK(!ctx("a", "a/absent", false, 0, err));
	OK(!ctx("absent", NULL, false, 0, err));
}

static void plaintext(void)
{
	static const char line[] = "{\"event\":\"error\"}\n";
	char err[256] = "";
	struct inc_tls_ctx *c = ctx("a", NULL, false, 0, err);
	short events;
	int fd[2], ret;
	struct inc_tls *t;

	EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	t = ops->open(c, fd[0], NAME);
	EQ(ops->shake(t, &events), -EAGAIN);
	EQ(events, POLLIN);
	EQ(write(fd[1], line, sizeof(line) - 1), sizeof(line) - 1);
	ret = ops->shake(t, &events);
	OK(ret < 0 && ret != -EAGAIN);
	says(t, "the rendezvous daemon does not speak it: start it with");
	ops->close(t);
	close(fd[0]);
	close(fd[1]);
	ops->ctx_free(c);
}

/* Carry bytes from one socket to another; sometimes another byte. */
static bool carry(int from, int to, unsigned int *seed)
{
	unsigned char buf[4096];
	ssize_t n = recv(from, buf, sizeof(buf), MSG_DONTWAIT);

	if (n <= 0)
		return false;
	if (rand_r(seed) % 3 == 0)
		buf[(size_t)rand_r(seed) % (size_t)n] ^=
			(unsigned char)(1 << rand_r(seed) % 8);
	if (rand_r(seed) % 8 == 0)
		n = rand_r(seed) % n + 1;
	send(to, buf, (size_t)n, MSG_NOSIGNAL);
	return true;
}

/* Whatever happens on the way: the right bytes arrive, or none. */
static void changed(void)
{
	char err[256] = "", buf[64];
	struct inc_tls_ctx *s = ctx("a", "a/server", true, INC_TLS_ASK, err);
	struct inc_tls_ctx *c = ctx("a", "a/rank", false, 0, err);
	unsigned int seed = 1;
	int round, i, far[2], near[2];
	struct inc_tls *a, *b;
	short events;
	ssize_t n;

	for (round = 0; round < ROUNDS / 10; round++) {
		EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, near), 0);
		EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, far), 0);
		a = ops->open(c, near[0], NAME);
		b = ops->open(s, far[0], NULL);
		for (i = 0; i < 6; i++) {
			if (!ops->shake(a, &events))
				ops->send(a, "right", 5);
			carry(near[1], far[1], &seed);
			if (!ops->shake(b, &events)) {
				n = ops->recv(b, buf, sizeof(buf));
				OK(n <= 0 || !memcmp(buf, "right", 5));
			}
			carry(far[1], near[1], &seed);
		}
		ops->close(a);
		ops->close(b);
		for (i = 0; i < 2; i++) {
			close(near[i]);
			close(far[i]);
		}
	}
	ops->ctx_free(c);
	ops->ctx_free(s);
}

/* Who sends nothing but new keys does not keep the server from others. */
static void new_keys(void)
{
	char err[256] = "", buf[8];
	struct inc_tls_ctx *s = ctx("a", "a/server", true, INC_TLS_ASK_NOTHING,
				    err);
	SSL_CTX *c = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(c);
	struct inc_tls *tls;
	int fd[2], i, ret = -EAGAIN;
	short events;

	EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	tls = ops->open(s, fd[1], NULL);
	SSL_set_fd(ssl, fd[0]);
	for (i = 0; i < 20 && (ret || !SSL_is_init_finished(ssl)); i++) {
		SSL_connect(ssl);
		if (ret)
			ret = ops->shake(tls, &events);
	}
	EQ(ret, 0);
	for (i = 0; i < 3; i++) {
		EQ(SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
		EQ(SSL_do_handshake(ssl), 1);
	}
	EQ(SSL_write(ssl, "x", 1), 1);
	for (i = 0; i < 3; i++)
		EQ(ops->recv(tls, buf, sizeof(buf)), -EAGAIN);
	EQ(ops->recv(tls, buf, sizeof(buf)), 1);
	ops->close(tls);
	SSL_free(ssl);
	SSL_CTX_free(c);
	close(fd[0]);
	close(fd[1]);
	ops->ctx_free(s);
}

static void tokens(void)
{
	char path[128], secret[256] = "", name[64], err[256];
	struct tokens *t;
	FILE *f;

	snprintf(path, sizeof(path), "%s/token", dir);
	f = fopen(path, "r");
	OK(f && fgets(secret, sizeof(secret), f));
	if (f)
		fclose(f);
	secret[strcspn(secret, "\n")] = '\0';
	snprintf(path, sizeof(path), "%s/tokens", dir);
	EQ(ops->tokens_read(&t, path, err, sizeof(err)), 0);
	OK(ops->tokens_name(t, secret, name, sizeof(name)));
	OK(!strcmp(name, "bob"));
	OK(!ops->tokens_name(t, "guess", name, sizeof(name)));
	ops->tokens_free(t);
}

/* The line of a token: what is made is understood, and nothing else. */
static void auth_line(void)
{
	char line[INC_RDV_LINE_MAX], token[INC_RDV_TOKEN_MAX + 1];
	char big[INC_RDV_TOKEN_MAX + 2];
	unsigned int seed = 7;
	int n, i;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	EQ(inc_rdv_token_format("", line, sizeof(line)), -EINVAL);
	EQ(inc_rdv_token_format("a b", line, sizeof(line)), -EINVAL);
	EQ(inc_rdv_token_format("a\"", line, sizeof(line)), -EINVAL);
	EQ(inc_rdv_token_format(big, line, sizeof(line)), -EINVAL);
	big[sizeof(big) - 2] = '\0';
	n = inc_rdv_token_format(big, line, sizeof(line));
	OK(n > 0 && n <= INC_RDV_LINE_MAX && line[n - 1] == '\n');
	line[n - 1] = '\0';
	OK(inc_rdv_token_parse(line, token));
	OK(!strcmp(token, big));
	OK(!inc_rdv_token_parse("{\"cmd\":\"leave\"}", token));
	OK(!inc_rdv_token_parse("", token));
	for (i = 0; i < ROUNDS; i++) {
		n = inc_rdv_token_format("secret", line, sizeof(line));
		line[n - 1] = '\0';
		line[rand_r(&seed) % n] = (char)rand_r(&seed);
		if (inc_rdv_token_parse(line, token))
			EQ(strlen(token), 6);
	}
}

static const struct test_case cases[] = {
	{ "talk", talk },
	{ "refused", refused },
	{ "plaintext", plaintext },
	{ "changed", changed },
	{ "new keys", new_keys },
	{ "tokens", tokens },
	{ "auth line", auth_line },
};

int main(void)
{
	char cmd[64];
	int ret;

	if (!make_files()) {
		printf("# no certificates: is openssl(1) missing?\n");
		return 1;
	}
	ret = test_run(cases, sizeof(cases) / sizeof(*cases));
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd) || ret;
}
