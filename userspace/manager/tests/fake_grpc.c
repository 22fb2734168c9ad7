// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * gRPC's core as api/grpc.c sees it, and the clients. Batches complete in any
 * order that gRPC allows. Byte buffers and slices are gRPC's own.
 */
#include <errno.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_security.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/creds.h"
#include "api/gate.h"
#include "api/listen.h"
#include "api/message.h"
#include "tests/fake.h"

#define REQUESTS	256

/**
 * struct request - the server waits for a call
 * @tag: tag of the batch; NULL: this is none
 * @call: where the call goes
 * @details: where its method goes
 */
struct request {
	void			*tag;
	grpc_call		**call;
	grpc_call_details	*details;
};

static struct request requests[REQUESTS];
static struct grpc_call *calls, *arriving;
static grpc_event next_event;
static void *(*poller)(void *arg);
static void *poller_arg;
static void *stop_tag;

/* --- The clients --------------------------------------------------------- */

/**
 * fake_call() - have a client call
 * @path: method
 * @who: who it is
 * @from: its address
 *
 * Return: the call, which may be freed when a batch completes.
 */
struct grpc_call *fake_call(const char *path, const struct identity *who,
			    const struct inc_rdv_addr *from)
{
	struct grpc_call *call = calloc(1, sizeof(*call)), **link = &arriving;
	char text[64];

	if (!call)
		abort();
	call->path = path;
	call->who = *who;
	snprintf(call->peer, sizeof(call->peer), "ipv4:%s:%u",
		 inc_rdv_addr_str(from, text, sizeof(text)),
		 1024 + fuzz_any(60000));
	while (*link)
		link = &(*link)->next;
	*link = call;
	return call;
}

/**
 * fake_calls() - get the calls that the server has
 *
 * Return: the first one, or NULL.
 */
struct grpc_call *fake_calls(void)
{
	return calls;
}

/**
 * fake_send() - have a client send a message
 * @call: call
 * @data: bytes
 * @len: their number
 *
 * Return: false if it cannot.
 */
bool fake_send(struct grpc_call *call, const void *data, size_t len)
{
	grpc_slice slice;

	if (call->half || call->n == sizeof(call->inbox) /
				     sizeof(call->inbox[0]))
		return false;
	slice = grpc_slice_from_copied_buffer(data, len);
	call->inbox[call->n++] = grpc_raw_byte_buffer_create(&slice, 1);
	grpc_slice_unref(slice);
	return true;
}

/* What a rank learns. */
static void hear(struct grpc_call *call, grpc_byte_buffer *buf)
{
	grpc_byte_buffer_reader reader;
	struct am_message msg = { 0 };
	grpc_slice slice;

	if (strcmp(call->path, AM_JOIN) ||
	    !grpc_byte_buffer_reader_init(&reader, buf))
		return;
	slice = grpc_byte_buffer_reader_readall(&reader);
	if (!am_manager_unpack(GRPC_SLICE_START_PTR(slice),
			       GRPC_SLICE_LENGTH(slice), &msg)) {
		if (msg.rdv.type == INC_RDV_JOINED)
			call->tree_id = msg.rdv.joined.tree_id;
		else if (msg.rdv.type == INC_RDV_REBUILD)
			call->round = msg.rdv.msg_id;
	}
	grpc_slice_unref(slice);
	grpc_byte_buffer_reader_destroy(&reader);
}

/* --- Completions --------------------------------------------------------- */

/* Hand one over, as the server's thread would. */
static void deliver(void *tag, bool success)
{
	next_event = (grpc_event) {
		.type = GRPC_OP_COMPLETE, .tag = tag, .success = success,
	};
	poller(poller_arg);
}

static bool may_read(const struct grpc_call *call)
{
	return call->read.tag && (call->n || call->half || call->cancelled ||
				  call->over);
}

static void complete_read(struct grpc_call *call)
{
	void *tag = call->read.tag;
	bool gone = call->cancelled || call->over;
	bool success = !gone || (!call->n && fuzz_any(2));

	*call->read.buf = NULL;
	if (call->n && (!gone || fuzz_any(2))) {
		success = true;
		*call->read.buf = call->inbox[0];
		memmove(call->inbox, call->inbox + 1,
			--call->n * sizeof(call->inbox[0]));
	}
	call->read.tag = NULL;
	deliver(tag, success);
}

static void complete_write(struct grpc_call *call)
{
	void *tag = call->write.tag;

	call->write.tag = NULL;
	if (call->write.status)
		call->over = true;
	deliver(tag, !call->cancelled);
}

static void complete_close(struct grpc_call *call)
{
	void *tag = call->close.tag;

	*call->close.cancelled = call->cancelled;
	call->close.tag = NULL;
	deliver(tag, true);
}

static void complete_arrival(struct request *r)
{
	struct grpc_call *call = arriving;
	void *tag = r->tag;

	arriving = call->next;
	call->next = calls;
	calls = call;
	*r->call = call;
	r->details->method = grpc_slice_from_copied_string(call->path);
	r->details->host = grpc_empty_slice();
	r->tag = NULL;
	deliver(tag, true);
}

static void fail_requests(void)
{
	void *tag;
	int i;

	for (i = 0; i < REQUESTS; i++) {
		tag = requests[i].tag;
		requests[i].tag = NULL;
		if (tag)
			deliver(tag, false);
	}
	tag = stop_tag;
	stop_tag = NULL;
	deliver(tag, true);
}

/* Call @fn for each that may be next, until it returns true. */
static bool each_ready(bool (*fn)(void (*complete)(struct grpc_call *call),
				  struct grpc_call *call))
{
	struct grpc_call *call;

	for (call = calls; call; call = call->next) {
		if (may_read(call) && fn(complete_read, call))
			return true;
		if (call->write.tag && (!call->deaf || call->cancelled) &&
		    fn(complete_write, call))
			return true;
		if (call->close.tag && (call->cancelled || call->over) &&
		    fn(complete_close, call))
			return true;
	}
	return false;
}

static uint32_t left;

static bool count(void (*complete)(struct grpc_call *call),
		  struct grpc_call *call)
{
	(void)complete;
	(void)call;
	left++;
	return false;
}

static bool pick(void (*complete)(struct grpc_call *call),
		 struct grpc_call *call)
{
	if (left--)
		return false;
	complete(call);
	return true;
}

/**
 * fake_complete() - complete any batch that can be
 *
 * Return: false if none can.
 */
bool fake_complete(void)
{
	int i;

	if (stop_tag) {
		fail_requests();
		return true;
	}
	left = 0;
	each_ready(count);
	if (arriving && !fuzz_any(left + 1))
		for (i = 0; i < REQUESTS; i++)
			if (requests[i].tag) {
				complete_arrival(&requests[i]);
				return true;
			}
	if (!left)
		return false;
	left = fuzz_any(left);
	return each_ready(pick);
}

/* --- What api/grpc.c calls ----------------------------------------------- */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*fn)(void *arg), void *arg);
int __wrap_pthread_join(pthread_t thread, void **ret);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*fn)(void *arg), void *arg)
{
	(void)attr;
	*thread = pthread_self();
	poller = fn;
	poller_arg = arg;
	return 0;
}

int __wrap_pthread_join(pthread_t thread, void **ret)
{
	(void)thread;
	(void)ret;
	return 0;
}

void grpc_init(void)
{
}

void grpc_shutdown(void)
{
}

grpc_completion_queue *grpc_completion_queue_create_for_next(void *reserved)
{
	return reserved;
}

grpc_event grpc_completion_queue_next(grpc_completion_queue *cq,
				      gpr_timespec deadline, void *reserved)
{
	grpc_event ev = next_event;

	(void)cq;
	(void)deadline;
	(void)reserved;
	next_event = (grpc_event){ .type = GRPC_QUEUE_SHUTDOWN };
	return ev;
}

void grpc_completion_queue_shutdown(grpc_completion_queue *cq)
{
	(void)cq;
}

void grpc_completion_queue_destroy(grpc_completion_queue *cq)
{
	(void)cq;
}

void grpc_server_start(grpc_server *server)
{
	(void)server;
}

void grpc_server_destroy(grpc_server *server)
{
	struct grpc_call *call;

	(void)server;
	while ((call = arriving)) {
		arriving = call->next;
		while (call->n)
			grpc_byte_buffer_destroy(call->inbox[--call->n]);
		free(call);
	}
	if (calls)
		fuzz_wrong("calls are left");
}

void grpc_server_shutdown_and_notify(grpc_server *server,
				     grpc_completion_queue *cq, void *tag)
{
	(void)server;
	(void)cq;
	stop_tag = tag;
}

void grpc_server_cancel_all_calls(grpc_server *server)
{
	struct grpc_call *call;

	(void)server;
	for (call = calls; call; call = call->next)
		call->cancelled = true;
}

void grpc_server_credentials_release(grpc_server_credentials *creds)
{
	(void)creds;
}

grpc_call_error grpc_server_request_call(grpc_server *server, grpc_call **call,
					 grpc_call_details *details,
					 grpc_metadata_array *metadata,
					 grpc_completion_queue *cq,
					 grpc_completion_queue *cq_new,
					 void *tag)
{
	int i;

	(void)server;
	(void)metadata;
	(void)cq;
	(void)cq_new;
	for (i = 0; i < REQUESTS; i++)
		if (!requests[i].tag) {
			requests[i] = (struct request){ tag, call, details };
			return GRPC_CALL_OK;
		}
	fuzz_wrong("too many calls are awaited");
}

static void start(struct pending *p, void *tag)
{
	if (p->tag)
		fuzz_wrong("two batches with one operation");
	*p = (struct pending){ .tag = tag };
}

grpc_call_error grpc_call_start_batch(grpc_call *call, const grpc_op *ops,
				      size_t n, void *tag, void *reserved)
{
	size_t i;

	(void)reserved;
	for (i = 0; i < n; i++) {
		switch (ops[i].op) {
		case GRPC_OP_RECV_MESSAGE:
			start(&call->read, tag);
			call->read.buf =
				ops[i].data.recv_message.recv_message;
			break;
		case GRPC_OP_RECV_CLOSE_ON_SERVER:
			start(&call->close, tag);
			call->close.cancelled =
				ops[i].data.recv_close_on_server.cancelled;
			break;
		default:
			if (!i)
				start(&call->write, tag);
			call->write.status |=
				ops[i].op == GRPC_OP_SEND_STATUS_FROM_SERVER;
			if (ops[i].op == GRPC_OP_SEND_MESSAGE)
				hear(call, ops[i].data.send_message.send_message);
		}
	}
	return GRPC_CALL_OK;
}

grpc_call_error grpc_call_cancel(grpc_call *call, void *reserved)
{
	(void)reserved;
	call->cancelled = true;
	return GRPC_CALL_OK;
}

char *grpc_call_get_peer(grpc_call *call)
{
	return strdup(call->peer);
}

void grpc_call_unref(grpc_call *call)
{
	struct grpc_call **link = &calls;

	if (call->read.tag || call->write.tag || call->close.tag)
		fuzz_wrong("a call is freed with batches under way");
	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	while (call->n)
		grpc_byte_buffer_destroy(call->inbox[--call->n]);
	free(call);
}

/* --- In place of api/creds.c, gate.c and listen.c ------------------------ */

struct creds *creds_new(const struct rpc_security *how, const char *address,
			char *err, size_t err_len)
{
	static char some;

	(void)how;
	(void)address;
	(void)err;
	(void)err_len;
	return (struct creds *)&some;
}

void creds_free(struct creds *creds)
{
	(void)creds;
}

grpc_server_credentials *creds_server(struct creds *creds)
{
	(void)creds;
	return NULL;
}

bool creds_revoked(struct creds *creds, grpc_call *call)
{
	(void)creds;
	(void)call;
	return !fuzz_any(4);
}

int creds_identify(struct creds *creds, grpc_call *call,
		   const grpc_metadata_array *metadata, struct identity *id,
		   char *err, size_t err_len)
{
	(void)creds;
	(void)metadata;
	*id = call->who;
	if (id->role != ROLE_NONE)
		return 0;
	snprintf(err, err_len, "nobody");
	return -EKEYREJECTED;
}

void gate_stop(void)
{
}

grpc_server *listen_new(grpc_completion_queue *cq)
{
	(void)cq;
	return NULL;
}

int listen_at(grpc_server *server, const char *address,
	      grpc_server_credentials *creds, gate_cut_fn *cut, void *ctx)
{
	(void)server;
	(void)address;
	(void)creds;
	(void)cut;
	(void)ctx;
	return 1;
}

const char *listen_why(const char *address)
{
	(void)address;
	return NULL;
}
