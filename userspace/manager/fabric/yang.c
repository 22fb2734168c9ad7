// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Read values out of an agent's data. Missing values are 0, NULL or false. */
#include <stdlib.h>
#include <string.h>

#include "fabric/yang.h"

/* Find a node's child. Returns the first child with this name, or NULL. */
const struct lyd_node *yang_child(const struct lyd_node *node,
				  const char *name)
{
	const struct lyd_node *child;

	if (!node)
		return NULL;
	LY_LIST_FOR(lyd_child(node), child)
		if (!strcmp(LYD_NAME(child), name))
			return child;
	return NULL;
}

/* Get the value of a node's child. Returns the value as text, or NULL. */
const char *yang_text(const struct lyd_node *node, const char *name)
{
	const struct lyd_node *child = yang_child(node, name);

	return child ? lyd_get_value(child) : NULL;
}

/*
 * Get the value of a node's child. Returns the value, of an enum its number; 0
 * if it is missing.
 */
uint64_t yang_number(const struct lyd_node *node, const char *name)
{
	const struct lyd_node *child = yang_child(node, name);
	const struct lyd_value *value;

	if (!child)
		return 0;
	value = &((const struct lyd_node_term *)child)->value;
	if (child->schema && value->realtype->basetype == LY_TYPE_ENUM)
		return (uint64_t)value->enum_item->value;
	return strtoull(lyd_get_value(child), NULL, 10);
}

/*
 * Get the value of a node's child of type bits. Returns the mask of its
 * positions.
 */
uint32_t yang_bits(const struct lyd_node *node, const char *name)
{
	const struct lyd_node *child = yang_child(node, name);
	const struct lyd_value_bits *bits;
	uint32_t mask = 0;
	LY_ARRAY_COUNT_TYPE i;

	if (!child || !child->schema)
		return 0;
	LYD_VALUE_GET(&((const struct lyd_node_term *)child)->value, bits);
	LY_ARRAY_FOR(bits->items, i)
		if (bits->items[i]->position < 32)
			mask |= 1U << bits->items[i]->position;
	return mask;
}

/* Count a node's children. Returns their number. */
unsigned int yang_count(const struct lyd_node *node, const char *name)
{
	const struct lyd_node *child;
	unsigned int n = 0;

	if (!node)
		return 0;
	LY_LIST_FOR(lyd_child(node), child)
		n += !strcmp(LYD_NAME(child), name);
	return n;
}
