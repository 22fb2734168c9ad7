/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffers of requests that become those of results.
 */
#ifndef _INC_RECYCLE_H
#define _INC_RECYCLE_H

#include <linux/types.h>

struct sk_buff;

int inc_recycle_init(void);
void inc_recycle_exit(void);
void inc_recycle_drain(void);

bool inc_recycle_put(struct sk_buff *skb);
struct sk_buff *inc_recycle_get(unsigned int least, unsigned int most);

#endif /* _INC_RECYCLE_H */
