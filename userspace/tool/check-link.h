/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A run of inc-tool check, as far as devices are concerned: check.c looks at the switch,
 * its trees and the ways to their members, and notes the devices on these.
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
 * @extra: no way is known to lead through it: it is reported if something is wrong
 * @link: the device
 * @later: a second later
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
 * @trouble: a tree has failed lately, or something does not work: what was counted
 *	before may be why
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
