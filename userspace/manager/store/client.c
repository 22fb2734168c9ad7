// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Calls to etcd that wait for their answer. A stream of one request and one
 * answer is done in the same way.
 */
#include <errno.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/reason.h"
#include "base/call.h"
#include "store/client.h"
#include "store/store.h"

#define BACKOFF_MS	100	/* between attempts to connect */

/**
 * struct client - a server
 * @channel: connection
 * @cq: completion queue
 * @tls: it is reached with TLS
 * @cert: and with a certificate of this manager
 * @address: "host:port"
 * @idle: one that nothing comes to
 * @thread: waits for it
 */
struct client {
	grpc_channel		*channel;
	grpc_completion_queue	*cq;
	bool			tls;
	bool			cert;
	char			address[256];
	grpc_completion_queue	*idle;
	pthread_t		thread;
};

static grpc_arg int_arg(const char *key, int value)
{
	return (grpc_arg) {
		.type = GRPC_ARG_INTEGER,
		.key = (char *)key,
		.value.integer = value,
	};
}

/*
 * gRPC reads and writes only while a thread waits for a queue, whichever it is.
 * Without a server that does, a connection would be made during calls alone: but
 * after one that has failed they return at once until there is another.
 */
static void *wait_idle(void *arg)
{
	struct client *s = arg;
	grpc_event ev;

	do {
		ev = grpc_completion_queue_next(s->idle,
				gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
	} while (ev.type != GRPC_QUEUE_SHUTDOWN);
	return NULL;
}

static bool start_idle(struct client *s)
{
	s->idle = grpc_completion_queue_create_for_next(NULL);
	if (!pthread_create(&s->thread, NULL, wait_idle, s))
		return true;
	grpc_completion_queue_shutdown(s->idle);
	grpc_completion_queue_destroy(s->idle);
	return false;
}

/**
 * client_open() - prepare calls to a server
 * @address: "host:port"
 * @how: with TLS or without
 * @err: error message
 *
 * Return: the server, or NULL. It is connected when it is called.
 */
struct client *client_open(const char *address,
			   const struct store_security *how, char *err)
{
	grpc_channel_credentials *creds;
	grpc_arg list[] = {
		int_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1),
		int_arg(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, BACKOFF_MS),
		int_arg(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, BACKOFF_MS),
		int_arg(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2 * BACKOFF_MS),
	};
	const grpc_channel_args args = {
		.num_args = sizeof(list) / sizeof(list[0]),
		.args = list,
	};
	struct client *s = calloc(1, sizeof(*s));

	if (!s) {
		store_failed(err, 0, "no memory");
		return NULL;
	}
	grpc_init();
	creds = how->ca ? call_creds(how->ca, how->cert, how->key, err,
				     STORE_ERROR_LEN) :
			  grpc_insecure_credentials_create();
	if (creds && !start_idle(s)) {
		store_failed(err, 0, "no thread");
		grpc_channel_credentials_release(creds);
		creds = NULL;
	}
	if (!creds) {
		grpc_shutdown();
		free(s);
		return NULL;
	}
	snprintf(s->address, sizeof(s->address), "%s", address);
	s->tls = how->ca;
	s->cert = how->cert;
	s->channel = grpc_channel_create(address, creds, &args);
	grpc_channel_credentials_release(creds);
	s->cq = grpc_completion_queue_create_for_pluck(NULL);
	return s;
}

/**
 * client_close() - end the connection
 * @s: server, or NULL
 */
void client_close(struct client *s)
{
	if (!s)
		return;
	grpc_channel_destroy(s->channel);
	grpc_completion_queue_shutdown(s->cq);
	grpc_completion_queue_destroy(s->cq);
	grpc_completion_queue_shutdown(s->idle);
	pthread_join(s->thread, NULL);
	grpc_completion_queue_destroy(s->idle);
	grpc_shutdown();
	free(s);
}

/* What may help; empty: nothing is known. Which side said no, gRPC hides. */
static const char *hint(const struct client *s, const char *why)
{
	if (!inc_auth_unverified(why) && !inc_auth_was_cut(why))
		return "";
	if (!s->tls)
		return "; does it want TLS (--etcd-ca)?";
	return s->cert ? "; is its certificate of --etcd-ca, has it this name, and does it accept --etcd-cert?" :
			 "; is its certificate of --etcd-ca, has it this name, and does it want a certificate (--etcd-cert)?";
}

/* A status with etcd's own text is said as it is. */
static void explain(const struct client *s, const struct call *c, char *err)
{
	char *said = grpc_slice_to_c_string(c->details), why[400];
	const char *more = "";

	snprintf(why, sizeof(why), "%s", said);
	gpr_free(said);
	if (c->status == GRPC_STATUS_UNAVAILABLE ||
	    c->status == GRPC_STATUS_DEADLINE_EXCEEDED ||
	    inc_auth_is_stranger(why)) {
		more = hint(s, why);
		inc_auth_words(why, sizeof(why), "etcd");
	}
	store_failed(err, 0, "etcd: %s: %s%s", s->address, why, more);
}

/**
 * client_call() - send a request and wait for its answer
 * @s: server
 * @path: method
 * @timeout_ms: time limit
 * @in: the request's bytes
 * @in_len: their number
 * @out: the answer's bytes, to be freed
 * @out_len: their number
 * @err: error message
 *
 * Return: 0 or a negative errno value.
 */
int client_call(struct client *s, const char *path, int timeout_ms,
		const uint8_t *in, size_t in_len, uint8_t **out,
		size_t *out_len, char *err)
{
	struct call c;
	int ret = 0;

	*out = NULL;
	call_init(&c, s->channel, s->cq, path, timeout_ms, in, in_len);
	call_run(&c);
	if (c.status != GRPC_STATUS_OK) {
		explain(s, &c, err);
		ret = c.status == GRPC_STATUS_NOT_FOUND ? -ENOENT :
							  -EHOSTUNREACH;
	} else if (!call_take(&c, out, out_len)) {
		ret = store_failed(err, -EPROTO, "etcd: %s: it sends no answer: is it etcd 3?",
				   s->address);
	}
	call_fini(&c);
	return ret;
}
