/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks on the device and the policy by which a member's packet arrives.
 */
#ifndef _INC_INGRESS_H
#define _INC_INGRESS_H

#include <linux/types.h>

struct inc_qp;
struct net_device;
struct sk_buff;

bool inc_ingress_early(const struct inc_qp *qp, struct sk_buff *skb,
		       const struct net_device *dev);
unsigned int inc_ingress_check(const struct inc_qp *qp, struct sk_buff *skb);

#endif /* _INC_INGRESS_H */
