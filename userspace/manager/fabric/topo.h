/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The fabric, as the agents see it: which switches are linked, and which one a
 * host is at. An interface leads to another switch if the link is configured;
 * or if both switches announce themselves to each other by LLDP; or else if a
 * neighbour has a switch's MAC address. A host is at the switch that sees it on
 * an interface that leads to no other switch.
 */
#ifndef INC_MANAGER_TOPO_H
#define INC_MANAGER_TOPO_H

#include "base/event.h"
#include "fabric/switch.h"
#include "place/place.h"

/* Limit of --switch; as many others may still be leaving. */
#define SWITCHES_MAX	4096
#define SWITCHES_PLACES	(2 * SWITCHES_MAX)

struct hosts;
struct topo;

/**
 * struct topo_cable - a link that is configured
 * @sw: identities of the switches at its ends
 * @itf: their interfaces
 */
struct topo_cable {
	char	sw[2][SWITCH_ID_MAX + 1];
	char	itf[2][32];
};

/**
 * struct topo_link - a link between two switches
 * @a: one switch
 * @a_if: its interface; FDB_OWN: unknown
 * @b: the other one, with a higher number
 * @b_if: its interface
 * @speed: bits per second; 0: unknown
 * @how: how it was learnt: "configured", "lldp", "fdb"
 * @load: queue pairs of groups' trees across it
 */
struct topo_link {
	uint32_t	a;
	uint32_t	a_if;
	uint32_t	b;
	uint32_t	b_if;
	uint64_t	speed;
	const char	*how;
	uint32_t	load;
};

/**
 * struct topo_charge - a tree's load on links
 * @next: next load
 * @link: pointer to this one in that list
 * @n: number of links
 * @pairs: switches at both ends of each link, repeated for each queue pair across
 *	it
 * @nnodes: number of @nodes
 * @nodes: switches of the tree's nodes
 */
struct topo_charge {
	struct topo_charge	*next;
	struct topo_charge	**link;
	uint32_t		n;
	uint32_t		(*pairs)[2];
	uint32_t		nnodes;
	uint32_t		*nodes;
};

/**
 * struct topo_port - an interface of a switch
 * @sw: switch; NULL: none
 * @itf: its interface
 */
struct topo_port {
	const struct sw		*sw;
	const struct sw_if	*itf;
};

/**
 * struct ids - IDs of trees
 * @first: first ID of the manager
 * @last: last ID of the manager
 * @next: ID to try next
 */
struct ids {
	uint32_t	first;
	uint32_t	last;
	uint32_t	next;
};

/**
 * struct fabric - the switches, and what connects them
 * @loop: main loop
 * @events: what has happened
 * @switches: switches, @n of them; gone ones stay until others need their places
 * @n: their number
 * @most: how many places there are
 * @cables: links that are configured
 * @ncables: their number
 * @ids: IDs of trees
 * @topo: how switches are linked, and where hosts are
 */
struct fabric {
	struct loop		*loop;
	struct events		*events;
	struct sw		*switches;
	unsigned int		n;
	unsigned int		most;
	struct topo_cable	*cables;
	unsigned int		ncables;
	struct ids		ids;
	struct topo		*topo;
};

/**
 * for_each_switch() - go through the switches that are not gone
 * @fab: fabric
 * @sw: variable for each
 */
#define for_each_switch(fab, sw)					\
	for ((sw) = (fab)->switches; (sw) < (fab)->switches + (fab)->n; (sw)++) \
		if ((sw)->gone) {} else

/* hosts.c */
struct hosts *hosts_new(void);
void hosts_free(struct hosts *h);
void hosts_changed(struct hosts *h, int64_t now);
int64_t hosts_deadline(const struct fabric *fab);
bool hosts_turn(struct fabric *fab);
bool hosts_all_asked(const struct fabric *fab);

/* meet.c */
int64_t meet_deadline(const struct fabric *fab);
void meet_turn(struct fabric *fab, bool changed);

int topo_cable_parse(struct topo_cable *c, const char *text);
struct topo *topo_new(struct fabric *fab);
void topo_grow(struct topo *t);
void topo_leave(struct topo *t, const struct sw *sw);
void topo_free(struct topo *t);
void topo_changed(struct topo *t, struct sw *sw);
uint64_t topo_generation(const struct fabric *fab);
struct sw *topo_find(const struct fabric *fab, const struct inc_rdv_addr *addr,
		     const struct sw_if **itf);
const struct sw *topo_rival(const struct fabric *fab,
			    const struct inc_rdv_addr *addr,
			    const struct sw **other);
struct sw *topo_near(const struct fabric *fab, const struct inc_rdv_addr *addr);
void topo_hosts(const struct fabric *fab,
		void (*host)(void *ctx, const struct inc_rdv_addr *addr,
			     const struct sw *sw, const struct sw_if *itf),
		void *ctx);
const struct sw_if *topo_way(const struct fabric *fab, const struct sw *from,
			     const struct sw *to);
bool topo_is_host(const struct fabric *fab, const struct inc_rdv_addr *addr);
void topo_log_taken(const struct fabric *fab, const struct sw *sw, char *text,
		    size_t len);
bool topo_addr(const struct fabric *fab, const struct sw *sw,
	       const struct sw *to, struct inc_rdv_addr *addr);
bool topo_cm_addr(const struct sw *sw, const struct inc_rdv_addr *to,
		  struct inc_rdv_addr *addr);
void topo_narrow(struct topo_port *port, const struct topo_charge *c,
		 const struct sw *sw, const struct sw_if *itf);
void topo_narrowest(const struct fabric *fab, const struct topo_charge *c,
		    struct topo_port *port);
bool topo_is_whole(const struct fabric *fab);
bool topo_unseen(const struct fabric *fab, const struct topo_charge *c,
		 const struct sw *ends[2]);
const struct topo_link *topo_links(const struct fabric *fab, uint32_t *n);
struct place_fabric *topo_fabric(const struct fabric *fab);
uint32_t topo_trees(const struct fabric *fab, const struct sw *sw);
void topo_avoid(const struct fabric *fab, const struct sw *sw);
void topo_limit(const struct fabric *fab, const struct sw *sw, uint32_t trees);
void topo_take(const struct fabric *fab, const struct sw *sw);
void topo_gone(const struct fabric *fab, const struct sw *sw, uint32_t trees);
struct place_fabric *topo_without(const struct fabric *fab,
				  const struct topo_charge *c);
void topo_with(const struct fabric *fab, const struct topo_charge *c);
struct topo_charge *topo_charge(const struct fabric *fab, const struct place *p,
				const uint32_t *at);
void topo_discharge(const struct fabric *fab, struct topo_charge *c);

#endif /* INC_MANAGER_TOPO_H */
