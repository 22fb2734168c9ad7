/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A hash table of nodes in other structs. It grows as it fills up; without
 * memory to grow, it gets slower.
 */
#ifndef INC_LOOP_INDEX_H
#define INC_LOOP_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define INDEX_FEW	16

/**
 * struct index_node - a node in a struct to be found
 * @next: next one of the chain
 * @hash: hash of its key
 * @index: index, NULL: none
 */
struct index_node {
	struct index_node	*next;
	uint64_t		hash;
	struct index		*index;
};

/**
 * struct index - a hash table; zeroed it is empty
 * @chains: @size chains; NULL: @first_chains
 * @first_chains: chains to begin with
 * @size: a power of two; 0: INDEX_FEW
 * @n: number of nodes
 */
struct index {
	struct index_node	**chains;
	struct index_node	*first_chains[INDEX_FEW];
	size_t			size;
	size_t			n;
};

int index_key(void);
uint64_t index_hash(uint64_t seed, const void *data, size_t len);
uint64_t index_hash_text(uint64_t seed, const char *text);
void index_add(struct index *ix, struct index_node *node, uint64_t hash);
void index_remove(struct index_node *node);
struct index_node *index_first(const struct index *ix, uint64_t hash);
struct index_node *index_next(const struct index_node *node);
void index_free(struct index *ix);

#endif /* INC_LOOP_INDEX_H */
