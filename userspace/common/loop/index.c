// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See index.h.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "loop/index.h"
#include "conf/list.h"

/* Zero until index_key(): tests get the same hashes each time. */
static uint64_t keys[2];

/*
 * Draw the key of all hashes. Context: before the first hash, and before there
 * are threads. Returns 0, or -1 with errno.
 */
int index_key(void)
{
	return getrandom(keys, sizeof(keys), 0) == sizeof(keys) ? 0 : -1;
}

static uint64_t rotate_left(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate_left(v[1], 13) ^ v[0];
	v[3] = rotate_left(v[3], 16) ^ v[2];
	v[0] = rotate_left(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate_left(v[1], 17) ^ v[2];
	v[3] = rotate_left(v[3], 21) ^ v[0];
	v[2] = rotate_left(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

/*
 * Compute a hash, or extend one, by SipHash-1-3: without the key nobody can
 * choose names or addresses that make a chain long. Returns the hash.
 * @seed: the hash so far, or any number
 */
uint64_t index_hash(uint64_t seed, const void *data, size_t len)
{
	const uint64_t k0 = keys[0] ^ seed, k1 = keys[1];
	uint64_t v[4] = { k0 ^ 0x736f6d6570736575ULL,
			  k1 ^ 0x646f72616e646f6dULL,
			  k0 ^ 0x6c7967656e657261ULL,
			  k1 ^ 0x7465646279746573ULL };
	const uint8_t *p = data;
	uint64_t word, last = (uint64_t)len << 56;
	size_t i;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&word, p, 8);
		sip_word(v, le64toh(word));
	}
	for (i = 0; i < len; i++)
		last |= (uint64_t)p[i] << 8 * i;
	sip_word(v, last);
	v[2] ^= 0xff;
	for (i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/*
 * Compute a text's hash, or extend a hash by it. Returns the hash.
 * @seed: the hash so far, or any number
 */
uint64_t index_hash_text(uint64_t seed, const char *text)
{
	return index_hash(seed, text, strlen(text) + 1);
}

static size_t size_of(const struct index *ix)
{
	return ix->chains ? ix->size : INDEX_FEW;
}

static struct index_node **chain_of(const struct index *ix, uint64_t hash)
{
	struct index_node *const *chains = ix->chains ? ix->chains :
							ix->first_chains;

	return (struct index_node **)&chains[hash & (size_of(ix) - 1)];
}

static void link_node(struct index *ix, struct index_node *node)
{
	struct index_node **head = chain_of(ix, node->hash);

	node->next = *head;
	*head = node;
}

static void grow_index(struct index *ix)
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
		for (node = old.chains ? old.chains[i] : old.first_chains[i];
		     node; node = next) {
			next = node->next;
			link_node(ix, node);
		}
	free(old.chains);
}

/*
 * Add a node to an index.
 * @hash: hash of its key; other nodes may have the same hash
 */
void index_add(struct index *ix, struct index_node *node, uint64_t hash)
{
	if (ix->n >= size_of(ix))
		grow_index(ix);
	node->hash = hash;
	node->index = ix;
	link_node(ix, node);
	ix->n++;
}

/*
 * Remove a node from its index.
 * @node: node, which may be in no index
 */
void index_remove(struct index_node *node)
{
	if (!node->index)
		return;
	list_remove(*chain_of(node->index, node->hash), node);
	node->index->n--;
	node->index = NULL;
}

static struct index_node *find_hash(struct index_node *node, uint64_t hash)
{
	while (node && node->hash != hash)
		node = node->next;
	return node;
}

/* Find the first node with a hash. Returns the node, or NULL. */
struct index_node *index_first(const struct index *ix, uint64_t hash)
{
	return find_hash(*chain_of(ix, hash), hash);
}

/* Find the next node with the same hash. Returns the node, or NULL. */
struct index_node *index_next(const struct index_node *node)
{
	return find_hash(node->next, node->hash);
}

/* Free an index's memory. */
void index_free(struct index *ix)
{
	free(ix->chains);
	memset(ix, 0, sizeof(*ix));
}
