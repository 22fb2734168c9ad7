// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The thread that talks with the database, one operation after another, and
 * keeps this manager's claim to the lead. A write that fails, since the disk is
 * full or etcd out of reach, is repeated until it succeeds, or until this
 * manager has lost the lead. While the main loop hangs, the lead is not
 * renewed, so that another manager can take over.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/thread.h"
#include "store/store.h"

#define AGAIN_MS	1000	/* between attempts to write */
#define HUNG_MS		2000	/* normal turns of the main loop are shorter */

enum kind {
	OP_PUT,
	OP_DEL,
	OP_LIST,
	OP_LEAD,
};

/**
 * struct store_op - an operation
 * @work: brings it back to the main loop
 * @next: next in the queue
 * @store: store
 * @kind: kind
 * @key: key, or prefix
 * @data: if OP_PUT: bytes
 * @len: number of @data
 * @list: if OP_LIST: result
 * @lead: if OP_LEAD: result
 * @ret: 0 or a negative errno value
 * @err: error message
 * @done: called by the main loop; may be NULL
 * @ctx: for @done
 */
struct store_op {
	struct loop_work	work;
	struct store_op		*next;
	struct store		*store;
	enum kind		kind;
	char			key[STORE_KEY_MAX + 1];
	uint8_t			*data;
	size_t			len;
	struct store_record	*list;
	struct store_lead	lead;
	int			ret;
	char			err[STORE_ERROR_LEN];
	store_done		*done;
	void			*ctx;
};

/**
 * struct store - the store
 * @loop: main loop
 * @db: database
 * @lead: leadership, as known to the main loop
 * @last_error: the last error that was logged
 * @lead_until: @lead.valid_until for other threads; 0: this manager does not
 *	lead
 * @thread: thread
 * @retry: of the thread: failed writes, the oldest first; at most one for each
 *	key
 * @again_at: milliseconds; when to repeat @retry
 * @lock: guards the following
 * @wake: signals an operation, or @stop
 * @head: first operation
 * @tail: where the next one is appended
 * @stop: end the thread when the queue is empty
 */
struct store {
	struct loop		*loop;
	struct store_db		*db;
	struct store_lead	lead;
	char			last_error[STORE_ERROR_LEN];
	_Atomic int64_t		lead_until;
	pthread_t		thread;
	struct store_op		*retry;
	int64_t			again_at;
	pthread_mutex_t		lock;
	pthread_cond_t		wake;
	struct store_op		*head;
	struct store_op		**tail;
	bool			stop;
};

/* --- The thread ---------------------------------------------------------- */

static struct store_op *op_new(struct store *s, enum kind kind,
			       const char *key);

static void op_free(struct store_op *op)
{
	free(op->data);
	free(op);
}

static bool is_write(const struct store_op *op)
{
	return op->kind == OP_PUT || op->kind == OP_DEL;
}

/* Drop failed writes. @key: only of this key; NULL: all. */
static void give_up(struct store *s, const char *key)
{
	struct store_op **link = &s->retry, *op;

	while ((op = *link)) {
		if (key && strcmp(op->key, key)) {
			link = &op->next;
			continue;
		}
		*link = op->next;
		op_free(op);
	}
}

/* Queue a copy: the caller gets the error at once, and does not wait. */
static void try_later(struct store *s, const struct store_op *op)
{
	struct store_op *copy = op_new(s, op->kind, op->key), **link;

	if (copy && op->data) {
		copy->len = op->len;
		copy->data = malloc(op->len + 1);
		if (copy->data)
			memcpy(copy->data, op->data, op->len);
	}
	if (!copy || (op->data && !copy->data)) {
		free(copy);
		return;
	}
	if (!s->retry)
		s->again_at = now_ms() + AGAIN_MS;
	for (link = &s->retry; *link; link = &(*link)->next)
		;
	*link = copy;
}

static void do_op(struct store *s, struct store_op *op)
{
	const struct store_ops *ops = s->db->ops;

	switch (op->kind) {
	case OP_PUT:
		op->ret = ops->put(s->db, op->key, op->data, op->len, op->err);
		break;
	case OP_DEL:
		op->ret = ops->del(s->db, op->key, op->err);
		break;
	case OP_LIST:
		op->ret = ops->list(s->db, op->key, &op->list, op->err);
		break;
	case OP_LEAD:
		op->ret = ops->lead(s->db, &op->lead, op->err);
		break;
	}
}

static void run_op(struct store *s, struct store_op *op)
{
	/* An older write must not overwrite this one. */
	if (is_write(op))
		give_up(s, op->key);
	do_op(s, op);
	if (is_write(op) && op->ret && op->ret != -ESTALE)
		try_later(s, op);
	/* After the next leader has read the store, older writes are wrong. */
	if (op->ret == -ESTALE || (op->kind == OP_LEAD && !op->ret &&
				   !op->lead.leads))
		give_up(s, NULL);
	loop_post(s->loop, &op->work);
}

static void run_again(struct store *s)
{
	struct store_op *op;

	while ((op = s->retry)) {
		do_op(s, op);
		if (op->ret == -ESTALE) {
			give_up(s, NULL);
			return;
		}
		if (op->ret) {
			s->again_at = now_ms() + AGAIN_MS;
			return;
		}
		s->retry = op->next;
		op_free(op);
	}
	log_info("store: all that could not be written before is written now");
}

static struct store_op *take_op(struct store *s, int64_t until)
{
	struct store_op *op;
	int ret = 0;

	pthread_mutex_lock(&s->lock);
	while (!s->head && !s->stop && !ret)
		ret = cond_wait(&s->wake, &s->lock, until);
	op = s->head;
	if (op) {
		s->head = op->next;
		if (!s->head)
			s->tail = &s->head;
	}
	pthread_mutex_unlock(&s->lock);
	return op;
}

static bool is_stopping(struct store *s)
{
	bool stop;

	pthread_mutex_lock(&s->lock);
	stop = s->stop && !s->head;
	pthread_mutex_unlock(&s->lock);
	return stop;
}

/* Does the main loop hang, for example on a blocked log, and serve nobody? */
static bool loop_hangs(const struct store *s)
{
	int64_t since = loop_busy_since(s->loop);

	return s->db->lead_ms && since && now_ms() - since > HUNG_MS;
}

static void *run_thread(void *arg)
{
	struct store *s = arg;
	struct store_op *op;
	int64_t next = 0;

	while (!is_stopping(s)) {
		/* The lead has a time limit: renew it before other operations. */
		if (now_ms() >= next) {
			op = loop_hangs(s) ? NULL : op_new(s, OP_LEAD, "");
			if (op)
				run_op(s, op);
			next = s->db->lead_ms ? now_ms() + s->db->lead_ms :
			       INT64_MAX;
		}
		if (s->retry && now_ms() >= s->again_at)
			run_again(s);
		op = take_op(s, s->retry && s->again_at < next ? s->again_at :
							      next);
		if (op)
			run_op(s, op);
	}
	if (s->retry)
		run_again(s);
	give_up(s, NULL);
	s->db->ops->close(s->db);
	return NULL;
}

/* --- The main loop ------------------------------------------------------- */

static void report_error(struct store *s, const char *err)
{
	if (!strcmp(s->last_error, err))
		return;
	snprintf(s->last_error, sizeof(s->last_error), "%s", err);
	if (*err)
		log_info("store: %s", err);
}

static void lead_done(struct store *s, struct store_op *op)
{
	report_error(s, op->err);
	/* After an error this manager leads until its time is up. */
	if (op->ret && s->lead.leads)
		return;
	/* Only the first answer as the leader has it. */
	if (s->lead.leads)
		op->lead.prev_ended = s->lead.prev_ended;
	s->lead = op->lead;
	atomic_store(&s->lead_until, s->lead.leads ? s->lead.valid_until : 0);
}

static void came_back(struct loop_work *work)
{
	struct store_op *op = container_of(work, struct store_op, work);
	struct store *s = op->store;

	if (op->kind == OP_LEAD)
		lead_done(s, op);
	else if (op->ret)
		log_info("store: %s: %s", op->key, op->err);
	if (op->ret == -ESTALE && s->lead.leads) {
		s->lead.leads = false;
		atomic_store(&s->lead_until, 0);
	}
	if (op->done)
		op->done(op->ctx, op->key, op->list,
			 op->ret ? op->err : NULL);
	else
		store_list_free(op->list);
	op_free(op);
}

static struct store_op *op_new(struct store *s, enum kind kind,
			       const char *key)
{
	struct store_op *op = calloc(1, sizeof(*op));

	if (!op) {
		log_info("store: no memory");
		return NULL;
	}
	op->store = s;
	op->kind = kind;
	op->work.fn = came_back;
	snprintf(op->key, sizeof(op->key), "%s", key);
	return op;
}

static void submit_op(struct store *s, struct store_op *op)
{
	pthread_mutex_lock(&s->lock);
	*s->tail = op;
	s->tail = &op->next;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

/* Returns NULL without memory, after a call of @done. */
static struct store_op *make_op(struct store *s, enum kind kind, const char *key,
				store_done *done, void *ctx)
{
	struct store_op *op = op_new(s, kind, key);

	if (op) {
		op->done = done;
		op->ctx = ctx;
	} else if (done) {
		done(ctx, key, NULL, "no memory");
	}
	return op;
}

/*
 * Start a store's thread. Returns the store, or NULL.
 * @db: database; belongs to the store from now on
 */
struct store *store_start(struct loop *loop, struct store_db *db)
{
	struct store *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->loop = loop;
	s->db = db;
	s->tail = &s->head;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	if (pthread_create(&s->thread, NULL, run_thread, s)) {
		free(s);
		return NULL;
	}
	return s;
}

/*
 * Finish all operations, resign, and end the thread.
 * @s: store, which is freed
 */
void store_stop(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	loop_turn(s->loop, 0);
	free(s);
}

/*
 * Write a record.
 * @data: bytes, to be freed by the store
 * @done: called after the write, or its first failure; or NULL
 */
void store_put(struct store *s, const char *key, const uint8_t *data,
	       size_t len, store_done *done, void *ctx)
{
	struct store_op *op = make_op(s, OP_PUT, key, done, ctx);

	if (!op) {
		free((void *)data);
		return;
	}
	op->data = (uint8_t *)data;
	op->len = len;
	submit_op(s, op);
}

/*
 * Delete a record, if it exists.
 * @done: called after the deletion, or its first failure; or NULL
 */
void store_del(struct store *s, const char *key, store_done *done, void *ctx)
{
	struct store_op *op = make_op(s, OP_DEL, key, done, ctx);

	if (op)
		submit_op(s, op);
}

/* Read records. */
void store_list(struct store *s, const char *prefix, store_done *done,
		void *ctx)
{
	struct store_op *op = make_op(s, OP_LIST, prefix, done, ctx);

	if (op)
		submit_op(s, op);
}

/*
 * Check whether this manager may act. Context: any thread. Returns true if so.
 * @s: store; NULL: without a store there is no other manager
 */
bool store_leads(const struct store *s)
{
	return !s || now_ms() < atomic_load(&s->lead_until);
}

/*
 * Get the time when store_leads() may change. Returns milliseconds; INT64_MAX:
 * not with time alone.
 */
int64_t store_until(const struct store *s)
{
	return s && s->lead.leads ? s->lead.valid_until : INT64_MAX;
}

/*
 * Check whether the previous leader has ended. Returns true if so; false if it
 * may hang.
 */
bool store_last_ended(const struct store *s)
{
	return s->lead.prev_ended;
}

/*
 * Get the database's error. Returns why the leader is unknown; empty: no error.
 */
const char *store_why(const struct store *s)
{
	return s->last_error;
}

/* Get the leader's address. Returns the address; empty: unknown. */
const char *store_leader(const struct store *s)
{
	return s->lead.leader;
}
