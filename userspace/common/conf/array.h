/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Arrays.
 */
#ifndef INC_CONF_ARRAY_H
#define INC_CONF_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* For ARRAY_ROOM(). @array: the pointer's address. */
static inline bool array_room(void *array, size_t n, size_t size)
{
	void *p;

	/* At a power of two the room is used up. */
	if (n & (n - 1))
		return true;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	return true;
}

/**
 * ARRAY_ROOM() - make room for one more member of an array
 * @array: variable with the array, NULL at first; it gets room by this alone
 * @n: number of its members
 *
 * Evaluates to false, and changes nothing, if there is no memory.
 */
#define ARRAY_ROOM(array, n)	array_room(&(array), n, sizeof(*(array)))

#endif /* INC_CONF_ARRAY_H */
