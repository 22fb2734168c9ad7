/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Connections that have something in common: of each host a line, the oldest
 * first, or the newest, and the lines by how many they have. All takes the same time, however
 * many there are.
 */
#ifndef INC_MANAGER_H2_LINE_H
#define INC_MANAGER_H2_LINE_H

#include <stddef.h>
#include <sys/queue.h>

/**
 * enum line_kind - what they have in common
 * @LINE_IDLE: they have no call
 * @LINE_SHAKES: they shake hands
 * @LINE_WAITS: they wait to begin with it, the newest first
 * @LINE_READY: they shake hands, and it is our turn
 * @LINES: their number
 */
enum line_kind {
	LINE_IDLE,
	LINE_SHAKES,
	LINE_WAITS,
	LINE_READY,
	LINES
};

/**
 * struct spot - a connection's place in a line
 * @entry: in it
 * @line: line, NULL: none
 */
struct spot {
	TAILQ_ENTRY(spot)	entry;
	struct line		*line;
};

/**
 * struct line - connections of a host
 * @entry: among the lines that have as many
 * @spots: all of them
 * @n: their number
 */
struct line {
	TAILQ_ENTRY(line)		entry;
	TAILQ_HEAD(spots, spot)	spots;
	size_t				n;
};

TAILQ_HEAD(lines, line);

/**
 * struct crowd - lines
 * @by_n: those with that many, from 1
 * @top: the last of @by_n has those with more, too
 * @most: the last of @by_n that has any, 0: none
 * @lines: number of lines that have any
 */
struct crowd {
	struct lines	*by_n;
	size_t		top;
	size_t		most;
	size_t		lines;
};

int crowd_init(struct crowd *c, size_t top);
void crowd_free(struct crowd *c);
void line_init(struct line *l);
void line_join(struct crowd *c, struct line *l, struct spot *p);
void line_push(struct crowd *c, struct line *l, struct spot *p);
void line_leave(struct crowd *c, struct spot *p);
struct spot *crowd_turn(struct crowd *c);

#endif /* INC_MANAGER_H2_LINE_H */
