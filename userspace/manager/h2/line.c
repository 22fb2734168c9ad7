// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See line.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "h2/line.h"

/**
 * crowd_init() - have lines
 * @c: result, for crowd_free()
 * @top: those with as many, or more, are alike
 *
 * Return: 0 or -ENOMEM.
 */
int crowd_init(struct crowd *c, size_t top)
{
	size_t i;

	*c = (struct crowd) { .by_n = calloc(top + 1, sizeof(*c->by_n)),
			      .top = top };
	if (!c->by_n)
		return -ENOMEM;
	for (i = 0; i <= top; i++)
		TAILQ_INIT(&c->by_n[i]);
	return 0;
}

/**
 * crowd_free() - have lines no more
 * @c: lines, which have nobody
 */
void crowd_free(struct crowd *c)
{
	free(c->by_n);
}

/**
 * line_init() - have a line with nobody
 * @l: line
 */
void line_init(struct line *l)
{
	TAILQ_INIT(&l->spots);
	l->n = 0;
}

static struct lines *lines_of(struct crowd *c, size_t n)
{
	return &c->by_n[n < c->top ? n : c->top];
}

/* A line has as many as @n now: it goes behind the others that have. */
static void set_count(struct crowd *c, struct line *l, size_t n)
{
	if (l->n)
		TAILQ_REMOVE(lines_of(c, l->n), l, entry);
	c->lines -= l->n != 0;
	c->lines += n != 0;
	l->n = n;
	if (n)
		TAILQ_INSERT_TAIL(lines_of(c, n), l, entry);
	/* It is by one more or less. */
	if (c->most < c->top && !TAILQ_EMPTY(&c->by_n[c->most + 1]))
		c->most++;
	if (c->most && TAILQ_EMPTY(&c->by_n[c->most]))
		c->most--;
}

/**
 * line_join() - join a line as the newest
 * @c: of these
 * @l: line
 * @p: spot, which is in none
 */
void line_join(struct crowd *c, struct line *l, struct spot *p)
{
	p->line = l;
	TAILQ_INSERT_TAIL(&l->spots, p, entry);
	set_count(c, l, l->n + 1);
}

/**
 * line_push() - join a line as the first
 * @c: of these
 * @l: line
 * @p: spot, which is in none
 */
void line_push(struct crowd *c, struct line *l, struct spot *p)
{
	p->line = l;
	TAILQ_INSERT_HEAD(&l->spots, p, entry);
	set_count(c, l, l->n + 1);
}

/**
 * line_leave() - leave a line
 * @c: of these
 * @p: spot
 */
void line_leave(struct crowd *c, struct spot *p)
{
	struct line *l = p->line;

	if (!l)
		return;
	p->line = NULL;
	TAILQ_REMOVE(&l->spots, p, entry);
	set_count(c, l, l->n - 1);
}

/**
 * crowd_turn() - find whose turn it is, one line after the other
 * @c: lines, all of which are alike
 *
 * Return: the first of the first line, which is the last one then, or NULL.
 */
struct spot *crowd_turn(struct crowd *c)
{
	struct line *l = TAILQ_FIRST(&c->by_n[c->most]);

	if (!l)
		return NULL;
	set_count(c, l, l->n);
	return TAILQ_FIRST(&l->spots);
}
