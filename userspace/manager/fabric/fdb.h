/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The forwarding and neighbour tables of all switches: MAC addresses by the
 * interfaces that lead to them or have them, and IP addresses by the MAC
 * addresses that have them. All are found by hashing; a switch's new tables
 * replace its old ones, in time proportional to both.
 */
#ifndef INC_MANAGER_FDB_H
#define INC_MANAGER_FDB_H

#include "loop/index.h"
#include "fabric/switch.h"

/*
 * Stand for an interface if the switch itself has the MAC address. A switch
 * sends with its bridge's MAC address, usually the lowest of its ports'.
 * Addresses of its other ports appear only in frames to direct neighbours, so a
 * distant switch that sees a port's address has an old entry.
 */
#define FDB_OWN		UINT32_MAX
#define FDB_OWN_PORT	(UINT32_MAX - 1)

struct fdb_mac;
struct fdb_addr;

/**
 * struct fdb_entry - a switch's entry for a MAC address
 * @of_mac: next entry of the same MAC address
 * @by_mac: pointer to this entry in that list
 * @of_sw: next entry of the same switch
 * @mac: MAC address
 * @sw: switch
 * @itf: its interface; FDB_OWN; FDB_OWN_PORT
 */
struct fdb_entry {
	struct fdb_entry	*of_mac;
	struct fdb_entry	**by_mac;
	struct fdb_entry	*of_sw;
	struct fdb_mac		*mac;
	uint32_t		sw;
	uint32_t		itf;
};

/**
 * struct fdb_mac - a MAC address
 * @node: node of the index
 * @text: address as text
 * @entries: switches' entries for it
 * @users: struct fdb_neigh that refer to it
 * @found_in: generation in which @sw and @itf were found, see locate.c
 * @sw: switch of the host that has it
 * @itf: interface there
 * @evidence: weight of this finding, see locate.c
 * @rival: another switch that claims to have it, or PLACE_NONE
 */
struct fdb_mac {
	struct index_node	node;
	char			text[MAC_LEN];
	struct fdb_entry	*entries;
	uint32_t		users;
	uint64_t		found_in;
	uint32_t		sw;
	uint32_t		itf;
	uint32_t		evidence;
	uint32_t		rival;
};

/**
 * struct fdb_neigh - a switch's neighbour entry for an IP address
 * @of_addr: next entry of the same IP address
 * @by_addr: pointer to this entry in that list
 * @of_sw: next entry of the same switch
 * @addr: IP address
 * @mac: MAC address
 * @sw: switch
 */
struct fdb_neigh {
	struct fdb_neigh	*of_addr;
	struct fdb_neigh	**by_addr;
	struct fdb_neigh	*of_sw;
	struct fdb_addr		*addr;
	struct fdb_mac		*mac;
	uint32_t		sw;
};

/**
 * struct fdb_addr - an IP address
 * @node: node of the index
 * @addr: address, in its VLAN
 * @neighs: neighbour entries for it
 * @last_mac: MAC address that was believed last
 */
struct fdb_addr {
	struct index_node	node;
	struct inc_rdv_addr	addr;
	struct fdb_neigh	*neighs;
	char			last_mac[MAC_LEN];
};

/**
 * struct fdb - tables of all switches
 * @macs: MAC addresses
 * @addrs: IP addresses
 * @entries: for each switch its entries for MAC addresses
 * @neighs: for each switch its neighbour entries
 */
struct fdb {
	struct index		macs;
	struct index		addrs;
	struct fdb_entry	**entries;
	struct fdb_neigh	**neighs;
};

/**
 * fdb_is_own() - check whether the switch has the MAC address itself
 * @e: entry
 *
 * Return: true if so.
 */
static inline bool fdb_is_own(const struct fdb_entry *e)
{
	return e->itf >= FDB_OWN_PORT;
}

bool fdb_init(struct fdb *s, uint32_t nswitches);
void fdb_free(struct fdb *s, uint32_t nswitches);
void fdb_forget(struct fdb *s, uint32_t sw);
bool fdb_learn(struct fdb *s, uint32_t sw, const struct sw_snapshot *info);
struct fdb_mac *fdb_find_mac(const struct fdb *s, const char *text);
struct fdb_addr *fdb_find_addr(const struct fdb *s,
			  const struct inc_rdv_addr *addr);
uint32_t fdb_count_neighs(const struct fdb_addr *a, const struct fdb_mac *mac);

#endif /* INC_MANAGER_FDB_H */
