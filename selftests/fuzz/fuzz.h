/* SPDX-License-Identifier: GPL-2.0 */
/*
 * inc-fuzz: packets and netlink messages, right and wrong, sent to a switch
 * that is in use.
 */
#ifndef _INC_FUZZ_H
#define _INC_FUZZ_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct options - what to do
 * @switch_ns: namespace of the switch, as ip-netns(8) knows it
 * @host_ns: namespace from which packets come
 * @switch_addr: address of the switch, IPv4, network order
 * @host_addr: address of the host, network order
 * @count: how many packets or messages
 * @seed: seed of the random numbers
 */
struct options {
	const char	*switch_ns;
	const char	*host_ns;
	uint32_t	switch_addr;
	uint32_t	host_addr;
	unsigned long	count;
	uint64_t	seed;
};

/* The switch's reply to adding a member. */
struct member {
	uint32_t	qpn;
	uint32_t	rkey;
	uint32_t	psn;		/* the switch's next */
	uint32_t	peer_psn;	/* our next */
	uint32_t	msg_id;		/* of our next request */
	bool		fatal;		/* a fatal NAK arrived */
	bool		uc;
};

#define MAX_RANKS	3
#define OUR_QPN		0x500000	/* rank 0's; the parent's is last */
#define FUZZ_MEMORY	(32 << 20)	/* of all trees */

struct tree {
	uint32_t	id;
	unsigned int	ranks, slots, msg_size, pmtu;
	struct member	m[MAX_RANKS];
	bool		leaf;
	struct member	up;		/* a leaf's QP to its parent: us */
};

void fuzz_seed(uint64_t seed);
uint32_t rnd(uint32_t below);
void enter(const char *ns);

int control_open(void);
int control_tree(const struct options *o, struct tree *t);
void control_tree_end(const struct tree *t);
void control_purge(void);
int control_limit(uint64_t bytes);
int control_family(void);

int fuzz_packets(const struct options *o);
int fuzz_netlink(const struct options *o);

#endif /* _INC_FUZZ_H */
