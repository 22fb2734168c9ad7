// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See handshake.h.
 *
 * gRPC writes into its log that a handshake has failed, and does not say whose. It
 * gives OpenSSL what it has just read from the client's socket, in the same thread,
 * so the program's recvmsg() and SSL_do_handshake(), which come before those of the
 * libraries for libraries, too, know both. secure.sh fails without this.
 */
#include "api/handshake.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More at a time only count: an event a second is enough. */
#define PENDING_MAX	16

static struct {
	struct loop	*loop;
	void		(*failed)(void *ctx, const char *peer, const char *why);
	void		*ctx;
	atomic_uint	pending;
} watch;

/**
 * struct failure - a handshake that has failed
 * @work: for the main loop
 * @peer: the client's address, as gRPC writes it
 * @why: what is wrong
 */
struct failure {
	struct work	work;
	char		peer[INET6_ADDRSTRLEN + 16];
	char		why[160];
};

static _Thread_local int last_fd = -1;

/**
 * handshake_watch() - be told of handshakes that fail
 * @loop: main loop, which calls @failed
 * @failed: is told the client's address, as gRPC writes it, and what is wrong; NULL:
 *	nobody is told any more
 * @ctx: its first argument
 */
void handshake_watch(struct loop *loop,
		     void (*failed)(void *ctx, const char *peer,
				    const char *why),
		     void *ctx)
{
	watch.loop = loop;
	watch.ctx = ctx;
	watch.failed = failed;
}

static void tell(struct work *work)
{
	struct failure *f = container_of(work, struct failure, work);

	watch.pending--;
	if (watch.failed)
		watch.failed(watch.ctx, f->peer, f->why);
	free(f);
}

static void put_peer(int fd, char *text, size_t len)
{
	union {
		struct sockaddr		any;
		struct sockaddr_in	in;
		struct sockaddr_in6	in6;
	} a = { .any.sa_family = AF_UNSPEC };
	socklen_t size = sizeof(a);
	char addr[INET6_ADDRSTRLEN] = "?";

	if (fd < 0 || getpeername(fd, &a.any, &size))
		a.any.sa_family = AF_UNSPEC;
	if (a.any.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_V4MAPPED(&a.in6.sin6_addr)) {
		inet_ntop(AF_INET, &a.in6.sin6_addr.s6_addr[12], addr,
			  sizeof(addr));
		snprintf(text, len, "ipv4:%s:%u", addr,
			 ntohs(a.in6.sin6_port));
	} else if (a.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a.in6.sin6_addr, addr, sizeof(addr));
		snprintf(text, len, "ipv6:[%s]:%u", addr,
			 ntohs(a.in6.sin6_port));
	} else {
		if (a.any.sa_family == AF_INET)
			inet_ntop(AF_INET, &a.in.sin_addr, addr, sizeof(addr));
		snprintf(text, len, "ipv4:%s:%u", addr, ntohs(a.in.sin_port));
	}
}

static void put_why(const SSL *ssl, char *text, size_t len)
{
	unsigned long err = ERR_peek_last_error();
	const char *reason = ERR_reason_error_string(err);
	long verify = SSL_get_verify_result(ssl);

	if (verify != X509_V_OK)
		snprintf(text, len, "TLS: its certificate is not accepted: %s",
			 X509_verify_cert_error_string(verify));
	else if (ERR_GET_REASON(err) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
		snprintf(text, len, "TLS: it has no certificate");
	else if (ERR_GET_REASON(err) == SSL_R_WRONG_VERSION_NUMBER ||
		 ERR_GET_REASON(err) == SSL_R_HTTP_REQUEST)
		snprintf(text, len, "it does not speak TLS");
	else
		snprintf(text, len, "TLS: %s", reason ? reason : "it failed");
}

static void report(const SSL *ssl)
{
	struct failure *f;

	if (!watch.failed || watch.pending >= PENDING_MAX)
		return;
	f = calloc(1, sizeof(*f));
	if (!f)
		return;
	f->work.fn = tell;
	put_peer(last_fd, f->peer, sizeof(f->peer));
	put_why(ssl, f->why, sizeof(f->why));
	watch.pending++;
	loop_post(watch.loop, &f->work);
}

/**
 * recvmsg() - the C library's, which takes down the socket
 * @fd: socket
 * @msg: what is received
 * @flags: flags
 *
 * Return: number of bytes, or -1 with errno.
 */
ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	last_fd = fd;
	return syscall(SYS_recvmsg, fd, msg, flags);
}

/**
 * SSL_do_handshake() - OpenSSL's; a server's failures are reported
 * @ssl: connection
 *
 * Return: as OpenSSL's.
 */
int SSL_do_handshake(SSL *ssl)
{
	int (*original)(SSL *ssl) = NULL;
	int ret;

	*(void **)&original = dlsym(RTLD_NEXT, "SSL_do_handshake");
	ret = original(ssl);
	if (ret <= 0 && SSL_is_server(ssl) &&
	    SSL_get_error(ssl, ret) == SSL_ERROR_SSL)
		report(ssl);
	return ret;
}
