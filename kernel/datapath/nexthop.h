/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The next hop on the way to a member.
 */
#ifndef _INC_NEXTHOP_H
#define _INC_NEXTHOP_H

#include <linux/types.h>

struct dst_entry;
struct inc_qp;

bool inc_nexthop_addr(const struct inc_qp *qp, struct dst_entry *dst, u8 *addr);

#endif /* _INC_NEXTHOP_H */
