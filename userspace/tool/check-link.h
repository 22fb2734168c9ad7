/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Devices in a run of inc-tool check: check.c checks the switch, its trees and the paths
 * to their members, and notes the devices on these paths.
 */
#ifndef INC_TOOL_CHECK_LINK_H
#define INC_TOOL_CHECK_LINK_H

#include "collect.h"
#include "rt.h"

#define LINKS_MAX	128

/**
 * struct check_link - a device
 * @ifindex: its index
 * @need: MTU that packets through it need
 * @extra: on no known path: reported only if something is wrong
 * @link: the device
 * @later: the device, a second later
 */
struct check_link {
	int		ifindex;
	uint32_t	need;
	bool		extra;
	struct rt_link	link;
	struct rt_link	later;
};

/**
 * struct check - a run of the command
 * @snap: the switch
 * @later: its counters, a second later
 * @rt: rtnetlink, or NULL
 * @trouble: a tree has failed lately, or something does not work: old drops may be
 *	the cause
 * @links: devices through which packets to members are sent, and ports beside them
 * @nlinks: number of devices
 */
struct check {
	struct snapshot		snap;
	struct inc_nl_switch	later;
	struct nl_sock		*rt;
	bool			trouble;
	struct check_link	links[LINKS_MAX];
	unsigned int		nlinks;
};

void check_note_link(struct check *c, int ifindex, uint32_t need);
void check_look_again(struct check *c, struct inc_nl *nl);
void check_links(struct check *c);

#endif /* INC_TOOL_CHECK_LINK_H */
