// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See hostq.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "http2/hostq.h"

/*
 * Make a set. Returns 0 or -ENOMEM.
 * @top: queues of this length and longer ones are in one list
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

/* A queue now has @n nodes: it goes behind others of that length. */
static void set_count(struct hostq_set *c, struct hostq *q, size_t n)
{
	if (q->n)
		TAILQ_REMOVE(list_of(c, q->n), q, entry);
	c->used -= q->n != 0;
	c->used += n != 0;
	q->n = n;
	if (n)
		TAILQ_INSERT_TAIL(list_of(c, n), q, entry);
	/* @n changes by one at most, and so does @c->most. */
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
 * Choose the next queue by round robin. Returns the first node of the first
 * queue, which becomes the last one, or NULL.
 * @c: set with one list for queues of all lengths
 */
struct hostq_node *hostq_set_turn(struct hostq_set *c)
{
	struct hostq *q = TAILQ_FIRST(&c->by_n[c->most]);

	if (!q)
		return NULL;
	set_count(c, q, q->n);
	return TAILQ_FIRST(&q->nodes);
}
