// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Blocking calls to etcd. A stream of one request and one answer is handled in
 * the same way.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "conf/text.h"
#include "http2/channel.h"
#include "store/client.h"
#include "store/db.h"

#define PORT	2379	/* for etcd's clients */

/**
 * struct client - client of one server
 * @channel: connection
 * @tls: uses TLS
 * @cert: uses a certificate of this manager
 * @address: "host:port"
 */
struct client {
	struct channel	*channel;
	bool		tls;
	bool		cert;
	char		address[256];
};

/*
 * Prepare calls to a server. Returns the client, or NULL. The first call
 * connects.
 */
struct client *client_open(const char *address,
			   const struct store_security *how, char *err)
{
	static const struct inc_tls_words words = {
		.peer	= "etcd",
		.cert	= "--etcd-cert",
		.plain	= "is this its port for clients? If it is without TLS, leave out --etcd-ca",
	};
	const struct channel_how reached = {
		.address	= address,
		.port		= PORT,
		.program	= "etcd",
		.tls		= {
			.ca	= how->ca,
			.cert	= how->cert,
			.key	= how->key,
			.alpn	= "h2",
			.words	= &words,
		},
	};
	struct client *s = calloc(1, sizeof(*s));

	if (!s) {
		store_failed(err, 0, "no memory");
		return NULL;
	}
	s->channel = channel_new(&reached, err, STORE_ERROR_LEN);
	if (!s->channel) {
		free(s);
		return NULL;
	}
	snprintf(s->address, sizeof(s->address), "%s", address);
	s->tls = how->ca;
	s->cert = how->cert;
	return s;
}

/* End the connection. */
void client_close(struct client *s)
{
	if (!s)
		return;
	channel_free(s->channel);
	free(s);
}

/* Advice for a server that ends the connection without a status. */
static const char *get_hint(const struct client *s)
{
	if (!s->tls)
		return "; does it want TLS (--etcd-ca)?";
	return s->cert ? "; does it accept --etcd-cert?" :
			 "; does it want a certificate (--etcd-cert)?";
}

/*
 * Send a request, and wait for its answer.
 * @out: the answer's bytes, to be freed
 */
int client_call(struct client *s, const char *path, int timeout_ms,
		const uint8_t *in, size_t in_len, uint8_t **out,
		size_t *out_len, char *err)
{
	bool got = channel_call(s->channel, path, timeout_ms, in, in_len, out,
				out_len);
	enum fault fault;
	const char *text;
	int status = channel_status(s->channel, &text, &fault);

	if (!status && got)
		return 0;
	free(*out);
	*out = NULL;
	if (!status)
		return store_failed(err, -EPROTO, "etcd: %s: it sends no answer: is it etcd 3?",
				    s->address);
	/* etcd's own text of a status is used unchanged. */
	store_failed(err, 0, "etcd: %s: %s%s", s->address, text,
		     fault == FAULT_CUT ? get_hint(s) : "");
	text_clean(err);
	return status == WIRE_NOT_FOUND ? -ENOENT : -EHOSTUNREACH;
}
