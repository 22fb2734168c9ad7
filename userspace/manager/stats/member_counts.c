// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See member_counts.h. Takes O(n log n) whatever order an agent uses.
 */
#include <stdlib.h>

#include "conf/array.h"
#include "stats/member_counts.h"

/* Parse "RANK RX TX MESSAGES TROUBLE;". Returns the rest; NULL: wrong syntax. */
static const char *take_member(const char *text, struct stats_member *m)
{
	uint64_t value[5];
	char *end;
	int i;

	for (i = 0; i < 5; i++) {
		value[i] = strtoull(text, &end, 10);
		if (end == text || *end != (i < 4 ? ' ' : ';'))
			return NULL;
		text = end + 1;
	}
	m->rank = (uint32_t)value[0];
	m->counts = (struct counts){
		.rx = value[1],
		.tx = value[2],
		.messages = value[3],
		.trouble = value[4],
	};
	return text;
}

/*
 * Add an agent's counters of a tree.
 * @text: "RANK RX-BYTES TX-BYTES RX-MESSAGES TROUBLE;" for each of its
 *	members; ignored from the first wrong one on
 */
void member_counts_add(struct member_counts *c, uint32_t tree, const char *text)
{
	struct stats_member *m;

	while (*text && c->n < MEMBER_COUNTS_MOST) {
		m = ARRAY_ROOM(c->list, c->n) ? &c->list[c->n] : NULL;
		text = m ? take_member(text, m) : NULL;
		if (!text)
			return;
		m->tree = tree;
		c->n++;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct stats_member *x = a, *y = b;

	if (x->tree != y->tree)
		return x->tree < y->tree ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Make members ready for member_counts_find(). */
void member_counts_sort(struct member_counts *c)
{
	if (c->n)
		qsort(c->list, c->n, sizeof(*c->list), by_place);
}

/* Find a member. Returns the member, or NULL. */
const struct stats_member *member_counts_find(const struct member_counts *c,
					      const struct stats_member *who)
{
	return c->n ? bsearch(who, c->list, c->n, sizeof(*who), by_place) :
		      NULL;
}

/* Free all members. */
void member_counts_free(struct member_counts *c)
{
	free(c->list);
	*c = (struct member_counts){ .list = NULL };
}
