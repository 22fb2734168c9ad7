// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The streams of a child switch to its parent's daemon, one for each job. Each
 * has a thread, which connects, and passes the parent's messages to the main
 * loop.
 */
#include "nl/common.h"

#include <pthread.h>

#include "conf/keepalive.h"
#include "conf/thread.h"
#include "http2/channel.h"
#include "rpc/message.h"
#include "server.h"

struct early {
	struct early	*next;
	size_t		len;
	uint8_t		data[];
};

/**
 * struct up - a stream to the parent's daemon
 * @client: its client; NULL: closed; used by the main loop only, as @loop
 * @loop: main loop
 * @channel: connection
 * @thread: waits for the parent
 * @lock: guards the members below
 * @begun: the stream exists
 * @closing: the stream is to end
 * @early: messages sent before @begun
 * @early_end: end of that list
 */
struct up {
	struct client		*client;
	struct loop		*loop;
	struct channel		*channel;
	pthread_t		thread;
	pthread_mutex_t		lock;
	bool			begun;
	bool			closing;
	struct early		*early;
	struct early		**early_end;
};

/**
 * struct news - message from a stream's thread to the main loop
 * @work: work item for the main loop
 * @up: stream
 * @end: the stream has ended, and so has the thread
 * @msg: message of the parent; with @end, the reason of the end
 */
struct news {
	struct loop_work	work;
	struct up		*up;
	bool			end;
	struct inc_rdv_msg	msg;
};

/* Number of streams not freed yet. */
static unsigned int n_ups;

/* Check whether all streams and their threads are gone. */
bool up_idle(void)
{
	return !n_ups;
}

static void up_free(struct up *up)
{
	struct early *e;

	while ((e = up->early)) {
		up->early = e->next;
		free(e);
	}
	channel_free(up->channel);
	pthread_mutex_destroy(&up->lock);
	n_ups--;
	free(up);
}

static void take_news(struct loop_work *work)
{
	struct news *news = container_of(work, struct news, work);
	struct up *up = news->up;
	struct client *c = up->client;

	if (c)
		c->server->parent_said(c, &news->msg);
	if (news->end) {
		if (up->client)
			up->client->up = NULL;
		pthread_join(up->thread, NULL);
		up_free(up);
	}
	free(news);
}

/* --- The thread ----------------------------------------------------------- */

/* Retry: without a message of the parent the job would wait for ever. */
static struct news *new_news(void)
{
	struct news *news;

	while (!(news = calloc(1, sizeof(*news))))
		sched_yield();
	return news;
}

static void post_news(struct up *up, struct news *news)
{
	news->work.fn = take_news;
	news->up = up;
	loop_post(up->loop, &news->work);
}

static void begin_stream(struct up *up)
{
	struct early *e;

	channel_begin(up->channel, AM_JOIN, 0);
	inc_set_keepalive(channel_fd(up->channel), RDMA_INC_DEFAULT_DEAD_TIME);
	pthread_mutex_lock(&up->lock);
	up->begun = true;
	/* If closing, the ranks are gone: the parent need not hear of them. */
	for (e = up->early; e && !up->closing; e = e->next)
		channel_send(up->channel, e->data, e->len);
	if (up->closing)
		channel_cancel(up->channel);
	pthread_mutex_unlock(&up->lock);
}

static void *run_stream(void *arg)
{
	struct am_message msg = { .heartbeat = false };
	struct up *up = arg;
	struct news *news;
	enum fault fault;
	const char *text;
	uint8_t *data;
	size_t len;
	int status;

	begin_stream(up);
	while (channel_receive(up->channel, &data, &len)) {
		if (!am_manager_unpack(data, len, &msg)) {
			news = new_news();
			news->msg = msg.rdv;
			post_news(up, news);
		}
		free(data);
	}
	status = channel_status(up->channel, &text, &fault);
	news = new_news();
	news->end = true;
	news->msg.type = INC_RDV_ERROR;
	news->msg.err = am_errno_of(status);
	snprintf(news->msg.text, sizeof(news->msg.text), "%s%s",
		 status ? text : "connection lost",
		 fault == FAULT_CUT || fault == FAULT_BARE ?
		 "; if it speaks TLS, start this one with --tls-cert, --tls-key and --tls-ca" :
		 "");
	post_news(up, news);
	return NULL;
}

/* --- The main loop -------------------------------------------------------- */

/*
 * Begin a stream to the parent's daemon. Returns NULL if there are too many, or no
 * memory. An unreachable parent shows later.
 */
struct up *up_connect(struct server *s, struct client *c)
{
	static const struct inc_tls_words words = {
		.peer	= "the parent's daemon",
		.cert	= "--tls-cert",
		.plain	= "does it speak TLS?",
	};
	const struct channel_how how = {
		.address	= s->parent,
		.port		= atoi(INC_RDV_PORT),
		.program	= "inc-tool serve",
		.tls		= {
			.ca = s->security.cert ? s->security.ca : NULL,
			.cert = s->security.cert, .key = s->security.key,
			.alpn = "h2", .words = &words,
		},
	};
	struct up *up;
	char err[256];

	/* Limit streams: those of ended jobs may still wait for the parent. */
	up = n_ups < s->max.groups ? calloc(1, sizeof(*up)) : NULL;
	if (!up)
		return NULL;
	n_ups++;
	up->client = c;
	up->loop = &s->loop;
	up->early_end = &up->early;
	pthread_mutex_init(&up->lock, NULL);
	up->channel = channel_new(&how, err, sizeof(err));
	if (up->channel && !thread_create(&up->thread, run_stream, up))
		return up;
	up_free(up);
	return NULL;
}

static void keep_early(struct up *up, const uint8_t *data, size_t len)
{
	struct early *e = malloc(sizeof(*e) + len);

	if (!e)
		return;
	e->next = NULL;
	e->len = len;
	memcpy(e->data, data, len);
	*up->early_end = e;
	up->early_end = &e->next;
}

/* Send a message; queued until the parent is reached. */
void up_send(struct up *up, const struct inc_rdv_msg *msg)
{
	const struct am_message out = { .rdv = *msg };
	uint8_t *data;
	size_t len;

	if (am_rank_pack(&out, &data, &len))
		return;
	pthread_mutex_lock(&up->lock);
	if (up->begun)
		channel_send(up->channel, data, len);
	else
		keep_early(up, data, len);
	pthread_mutex_unlock(&up->lock);
	free(data);
}

/*
 * Get our address towards the parent. Returns 0 or -ENOTCONN.
 * @up: stream over which a message has arrived
 */
int up_own_addr(const struct up *up, struct inc_rdv_addr *addr)
{
	struct sockaddr_storage ss;

	return channel_own_addr(up->channel, &ss) ? -ENOTCONN :
	       inc_rdv_addr_from_sockaddr((struct sockaddr *)&ss, addr);
}

/* End a stream. The main loop frees it when its thread has ended. */
void up_close(struct up *up)
{
	up->client = NULL;
	pthread_mutex_lock(&up->lock);
	up->closing = true;
	if (up->begun)
		channel_cancel(up->channel);
	pthread_mutex_unlock(&up->lock);
}
