/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets fit the way to a member.
 */
#ifndef _INC_TX_MTU_H
#define _INC_TX_MTU_H

#include <linux/if.h>

struct dst_entry;
struct inc_qp;

/**
 * struct inc_mtu - the narrowest device on the way to a member
 * @bytes: longest packet that it passes, from the IP header on
 * @name: its name
 */
struct inc_mtu {
	unsigned int	bytes;
	char		name[IFNAMSIZ];
};

unsigned int inc_mtu_device(const struct dst_entry *dst);
void inc_mtu_way(const struct inc_qp *qp, struct dst_entry *dst,
		 struct inc_mtu *mtu);

#endif /* _INC_TX_MTU_H */
