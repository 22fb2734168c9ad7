/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Fat-trees of three tiers, made up: what each switch's agent would tell. A pod
 * has 16 leaves and 8 switches above them, each of which has 8 of the 64 cores.
 */
#ifndef INC_MANAGER_FAT_TREE_H
#define INC_MANAGER_FAT_TREE_H

#include "fabric/switch.h"

#define FAT_LEAVES	16
#define FAT_MIDS	8
#define FAT_CORES	64

/**
 * struct fat_tree - a fabric
 * @pods: number of pods
 * @hosts: hosts at each leaf
 * @n: number of switches
 * @infos: what each of them tells, those of pods first, then the cores
 */
struct fat_tree {
	uint32_t		pods;
	uint32_t		hosts;
	uint32_t		n;
	struct sw_snapshot	**infos;
};

void fat_tree_make(struct fat_tree *t, uint32_t pods, uint32_t hosts);
void fat_tree_free(struct fat_tree *t);
void fat_tree_addr(struct inc_rdv_addr *addr, uint32_t host);
uint32_t fat_tree_leaf(const struct fat_tree *t, uint32_t host);

#endif /* INC_MANAGER_FAT_TREE_H */
