/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Which host has been seen where: MAC addresses by the switches' interfaces
 * that lead to them or have them, and IP addresses by the MAC addresses that
 * have them. Everything is found by hashing; what a switch tells anew replaces
 * what it has told, in time proportional to both.
 */
#ifndef INC_MANAGER_SEEN_H
#define INC_MANAGER_SEEN_H

#include "base/index.h"
#include "fabric/switch.h"

/*
 * As an interface: the switch itself has the MAC address. A switch sends with
 * its bridge's MAC address, usually the lowest of its ports'. The other ports'
 * addresses appear only in frames to direct neighbours. So a distant switch
 * that sees a port's address has an old entry.
 */
#define SEEN_OWN	UINT32_MAX
#define SEEN_OWN_PORT	(UINT32_MAX - 1)

struct mac;

/**
 * struct sighting - a switch has told of a MAC address
 * @of_mac: next sighting of the same MAC address
 * @by_mac: what points to it there
 * @of_sw: next sighting of the same switch
 * @mac: MAC address
 * @sw: switch
 * @itf: its interface; SEEN_OWN; SEEN_OWN_PORT
 */
struct sighting {
	struct sighting	*of_mac;
	struct sighting	**by_mac;
	struct sighting	*of_sw;
	struct mac	*mac;
	uint32_t	sw;
	uint32_t	itf;
};

/**
 * struct mac - a MAC address
 * @node: in the index
 * @text: as text
 * @seen: sightings
 * @users: of IP addresses, besides
 * @found_in: generation in which @sw and @itf were found, see locate.c
 * @sw: switch of the host that has it
 * @itf: interface there
 * @evidence: of what weight that is, see locate.c
 * @rival: another one that claims to have it, or PLACE_NONE
 */
struct mac {
	struct index_node	node;
	char			text[MAC_LEN];
	struct sighting		*seen;
	uint32_t		users;
	uint64_t		found_in;
	uint32_t		sw;
	uint32_t		itf;
	uint32_t		evidence;
	uint32_t		rival;
};

/**
 * struct saying - a switch has told who has an IP address
 * @of_addr: next of the same IP address
 * @by_addr: what points to it there
 * @of_sw: next of the same switch
 * @addr: IP address
 * @mac: MAC address
 * @sw: switch
 */
struct saying {
	struct saying	*of_addr;
	struct saying	**by_addr;
	struct saying	*of_sw;
	struct addr	*addr;
	struct mac	*mac;
	uint32_t	sw;
};

/**
 * struct addr - an IP address
 * @node: in the index
 * @addr: address
 * @said: sayings
 * @was: MAC address that was believed last
 */
struct addr {
	struct index_node	node;
	struct inc_rdv_addr	addr;
	struct saying		*said;
	char			was[MAC_LEN];
};

/**
 * struct seen - all of it
 * @macs: MAC addresses
 * @addrs: IP addresses
 * @sightings: for each switch its own
 * @sayings: for each switch its own
 */
struct seen {
	struct index	macs;
	struct index	addrs;
	struct sighting	**sightings;
	struct saying	**sayings;
};

/**
 * seen_own() - does the switch have the MAC address itself?
 * @s: sighting
 *
 * Return: it does.
 */
static inline bool seen_own(const struct sighting *s)
{
	return s->itf >= SEEN_OWN_PORT;
}

bool seen_init(struct seen *s, uint32_t nswitches);
void seen_free(struct seen *s, uint32_t nswitches);
void seen_forget(struct seen *s, uint32_t sw);
bool seen_learn(struct seen *s, uint32_t sw, const struct sw_info *info);
struct mac *seen_by_mac(const struct seen *s, const char *text);
struct addr *seen_by_addr(const struct seen *s,
			  const struct inc_rdv_addr *addr);
uint32_t seen_sayers(const struct addr *a, const struct mac *mac);

#endif /* INC_MANAGER_SEEN_H */
