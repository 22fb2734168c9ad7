// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See hostq.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "http2/hostq.h"

/*
 * Make a set. Returns 0 or -ENOMEM.
 * @top: queues of this length and longer ones are alike
 */
int hostq_set_init(struct hostq_set *c, size_t top)
{
	size_t i;

	*c = (struct hostq_set) {
		.by_n = calloc(top + 1, sizeof(*c->by_n)), .top = top,
	};
	if (!c->by_n)
		return -ENOMEM;
	for (i = 0; i <= top; i++)
		TAILQ_INIT(&c->by_n[i]);
	return 0;
}

void hostq_set_free(struct hostq_set *c)
{
	free(c->by_n);
}

/* Make an empty queue. */
void hostq_init(struct hostq *q)
{
	TAILQ_INIT(&q->nodes);
	q->n = 0;
}

static struct hostq_list *list_of(struct hostq_set *c, size_t n)
{
	return &c->by_n[n < c->top ? n : c->top];
}

/* A queue has @n now: it goes behind the others that have as many. */
static void set_count(struct hostq_set *c, struct hostq *q, size_t n)
{
	if (q->n)
		TAILQ_REMOVE(list_of(c, q->n), q, entry);
	c->used -= q->n != 0;
	c->used += n != 0;
	q->n = n;
	if (n)
		TAILQ_INSERT_TAIL(list_of(c, n), q, entry);
	/* It is by one more or less. */
	if (c->most < c->top && !TAILQ_EMPTY(&c->by_n[c->most + 1]))
		c->most++;
	if (c->most && TAILQ_EMPTY(&c->by_n[c->most]))
		c->most--;
}

/* Add a connection at the end. */
void hostq_append(struct hostq_set *c, struct hostq *q, struct hostq_node *p)
{
	p->queue = q;
	TAILQ_INSERT_TAIL(&q->nodes, p, entry);
	set_count(c, q, q->n + 1);
}

/* Add a connection in front. */
void hostq_push(struct hostq_set *c, struct hostq *q, struct hostq_node *p)
{
	p->queue = q;
	TAILQ_INSERT_HEAD(&q->nodes, p, entry);
	set_count(c, q, q->n + 1);
}

/* Remove a connection from its queue. */
void hostq_remove(struct hostq_set *c, struct hostq_node *p)
{
	struct hostq *q = p->queue;

	if (!q)
		return;
	p->queue = NULL;
	TAILQ_REMOVE(&q->nodes, p, entry);
	set_count(c, q, q->n - 1);
}

/*
 * Find whose turn it is, one queue after the other. Returns the first of the
 * first queue, which is the last one then, or NULL.
 * @c: set, all queues of which are alike
 */
struct hostq_node *hostq_set_turn(struct hostq_set *c)
{
	struct hostq *q = TAILQ_FIRST(&c->by_n[c->most]);

	if (!q)
		return NULL;
	set_count(c, q, q->n);
	return TAILQ_FIRST(&q->nodes);
}
