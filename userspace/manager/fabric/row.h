/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Internals of a topology, for the files learn, locate, links, graph, hosts. */
#ifndef INC_MANAGER_ROW_H
#define INC_MANAGER_ROW_H

#include "fabric/fdb.h"
#include "fabric/topo.h"

/**
 * enum adjacency_how - how a switch sees another one
 * @ADJ_PORT: the MAC address of one of its ports is behind an interface: it
 *	counts as ADJ_FDB, unless its bridge's is seen, too
 * @ADJ_FDB: its MAC address is behind an interface
 * @ADJ_LLDP: it announces itself there, so no switch is in between
 * @ADJ_CONFIGURED: the link is configured
 */
enum adjacency_how {
	ADJ_PORT,
	ADJ_FDB,
	ADJ_LLDP,
	ADJ_CONFIGURED,
};

/**
 * struct adjacency - another switch that a switch sees
 * @sw: the other switch
 * @itf: interface that leads to it
 * @how: enum adjacency_how
 * @is_void: does not count: the other switch does not agree, another link is
 *	configured there, or a spanning tree blocks it
 */
struct adjacency {
	uint32_t	sw;
	uint32_t	itf;
	uint16_t	how;
	uint16_t	is_void;
};

/**
 * struct row - other switches that a switch sees
 * @has_data: the switch has reported something
 * @stale: the row must be computed again
 * @self: fingerprint of its report on itself
 * @neighbours: fingerprint of its neighbours
 * @n: number of @list
 * @list: switches that it sees, by number; the surest first
 * @sees_direct: @list has one by LLDP or configuration
 * @leads: for each interface: mask of enum adjacency_how, by switches behind it
 * @behind: for each interface: mask of the switches behind it
 * @nifs: number of its interfaces
 */
struct row {
	bool		has_data;
	bool		stale;
	uint64_t	self;
	uint64_t	neighbours;
	uint32_t	n;
	struct adjacency	*list;
	bool		sees_direct;
	uint8_t		*leads;
	uint64_t	**behind;
	uint32_t	nifs;
};

#define LEADS(how)	((uint8_t)(1U << (how)))

/**
 * struct meet - routed interfaces where no switch is seen, see meet.c
 * @at: milliseconds; when to look again
 * @due: milliseconds; when to ask again if the interfaces are the same
 * @not_before: milliseconds; earliest time to ask if they have changed
 * @gap: milliseconds; between the last attempt and the next
 * @sum: fingerprint of the interfaces that were asked for; 0: none
 */
struct meet {
	int64_t		at;
	int64_t		due;
	int64_t		not_before;
	int64_t		gap;
	uint64_t	sum;
};

/**
 * struct topo - the fabric
 * @fab: fabric
 * @n: number of switches
 * @fdb: forwarding and neighbour tables of all switches
 * @generation: grows with every change
 * @rows: for each switch the others that it sees
 * @rows_generation: generation of @rows
 * @rows_old: all rows must be computed again
 * @by_id: switches by identity
 * @nids: number of @by_id
 * @links: links
 * @nlinks: number of @links
 * @links_old: @links must be found again
 * @fabric: input of place_compute()
 * @switches: for @fabric
 * @first: for @fabric
 * @places: for @fabric
 * @charges: loads
 * @hosts: last places of hosts
 * @meet: routed interfaces where no switch is seen
 */
struct topo {
	struct fabric		*fab;
	uint32_t		n;
	struct fdb		fdb;
	uint64_t		generation;
	struct row		*rows;
	uint64_t		rows_generation;
	bool			rows_old;
	const struct sw		**by_id;
	uint32_t		nids;
	struct topo_link	*links;
	uint32_t		nlinks;
	bool			links_old;
	struct place_fabric	fabric;
	struct place_switch	*switches;
	uint32_t		*first;
	struct place_link	*places;
	struct topo_charge	*charges;
	struct hosts		*hosts;
	struct meet		meet;
};

/* links.c */
const struct adjacency *row_towards(const struct row *row, uint32_t to);
void row_free(struct row *row);
void graph_rows(struct topo *t);
bool graph_links(struct topo *t);

/* graph.c */
void graph_free(struct topo *t);

#endif /* INC_MANAGER_ROW_H */
