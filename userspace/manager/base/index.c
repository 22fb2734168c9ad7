// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See index.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"

/**
 * index_hash() - compute a hash, or add to one
 * @seed: the hash so far, or any number
 * @data: bytes
 * @len: their number
 *
 * It is FNV-1a: who chooses keys can make chains long, and the search as slow
 * as without an index, no more.
 *
 * Return: hash.
 */
uint64_t index_hash(uint64_t seed, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t h = seed ^ 14695981039346656037ULL;

	while (len--)
		h = (h ^ *p++) * 1099511628211ULL;
	/* The chain is chosen by the low bits. */
	return h ^ h >> 32;
}

/**
 * index_hash_text() - compute a text's hash, or add it to one
 * @seed: the hash so far, or any number
 * @text: text
 *
 * Return: hash.
 */
uint64_t index_hash_text(uint64_t seed, const char *text)
{
	return index_hash(seed, text, strlen(text) + 1);
}

static size_t size_of(const struct index *ix)
{
	return ix->chains ? ix->size : INDEX_FEW;
}

static struct index_node **chain(const struct index *ix, uint64_t hash)
{
	struct index_node *const *chains = ix->chains ? ix->chains : ix->few;

	return (struct index_node **)&chains[hash & (size_of(ix) - 1)];
}

static void link_node(struct index *ix, struct index_node *node)
{
	struct index_node **head = chain(ix, node->hash);

	node->next = *head;
	*head = node;
}

static void grow(struct index *ix)
{
	struct index old = *ix;
	struct index_node **chains, *node, *next;
	size_t i;

	chains = calloc(2 * size_of(ix), sizeof(*chains));
	if (!chains)
		return;
	ix->size = 2 * size_of(ix);
	ix->chains = chains;
	for (i = 0; i < size_of(&old); i++)
		for (node = old.chains ? old.chains[i] : old.few[i]; node;
		     node = next) {
			next = node->next;
			link_node(ix, node);
		}
	free(old.chains);
}

/**
 * index_add() - let something be found
 * @ix: index
 * @node: it, in no index
 * @hash: hash of its key; others may have the same
 */
void index_add(struct index *ix, struct index_node *node, uint64_t hash)
{
	if (ix->n >= size_of(ix))
		grow(ix);
	node->hash = hash;
	node->in = ix;
	link_node(ix, node);
	ix->n++;
}

/**
 * index_remove() - let something not be found any more
 * @node: it; may be in no index
 */
void index_remove(struct index_node *node)
{
	struct index_node **link;

	if (!node->in)
		return;
	link = chain(node->in, node->hash);
	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	node->in->n--;
	node->in = NULL;
}

static struct index_node *find(struct index_node *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

/**
 * index_first() - find what has a hash
 * @ix: index
 * @hash: hash
 *
 * Return: the first one with it, NULL if there is none.
 */
struct index_node *index_first(const struct index *ix, uint64_t hash)
{
	return find(*chain(ix, hash), hash);
}

/**
 * index_next() - find the next one that has the same hash
 * @node: the last one
 *
 * Return: the next one, NULL if there is none.
 */
struct index_node *index_next(const struct index_node *node)
{
	return find(node->next, node->hash);
}

/**
 * index_free() - free an index' room
 * @ix: index, which is empty after that
 */
void index_free(struct index *ix)
{
	free(ix->chains);
	memset(ix, 0, sizeof(*ix));
}
