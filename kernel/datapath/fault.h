/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fault injection, for tests and for administrators who want to see the effects
 * of loss: packets of one QP are dropped, duplicated, reordered or damaged on
 * receive or transmit. Set through debugfs; costs a no-op while unused. Only in
 * a module built with CONFIG_INFINIBAND_INC_FAULT=y.
 */
#ifndef _INC_FAULT_H
#define _INC_FAULT_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct inc_qp;
struct sk_buff;

/* Passes a packet on. BH off, RCU read side, no lock held. */
typedef void (*inc_fault_pass_fn)(struct inc_qp *qp, struct sk_buff *skb);

#if IS_ENABLED(CONFIG_INFINIBAND_INC_FAULT)

DECLARE_STATIC_KEY_FALSE(inc_fault_key);

/* Does any QP of any namespace have faults set? */
static inline bool inc_fault_enabled(void)
{
	return static_branch_unlikely(&inc_fault_key);
}

/* For the data path, if inc_fault_enabled(). */
void inc_fault_rx_damage(struct inc_qp *qp, struct sk_buff *skb,
			 unsigned int bth_off);
bool inc_fault_rx(struct inc_qp *qp, struct sk_buff *skb,
		  inc_fault_pass_fn pass);
bool inc_fault_tx(struct inc_qp *qp, struct sk_buff *skb,
		  inc_fault_pass_fn pass);

/* Is there to be no memory at once? Costs nothing while unused. */
bool inc_fault_no_memory(struct inc_qp *qp, bool tx);

static inline bool inc_fault_memory_rx(struct inc_qp *qp)
{
	return inc_fault_enabled() && inc_fault_no_memory(qp, false);
}

static inline bool inc_fault_memory_tx(struct inc_qp *qp)
{
	return inc_fault_enabled() && inc_fault_no_memory(qp, true);
}

void inc_fault_free(struct inc_qp *qp);
void inc_fault_show(struct inc_qp *qp);
void inc_fault_hide(struct inc_qp *qp);

#else

static inline bool inc_fault_enabled(void)
{
	return false;
}

static inline void inc_fault_rx_damage(struct inc_qp *qp, struct sk_buff *skb,
				       unsigned int bth_off)
{
}

static inline bool inc_fault_rx(struct inc_qp *qp, struct sk_buff *skb,
				inc_fault_pass_fn pass)
{
	return false;
}

static inline bool inc_fault_tx(struct inc_qp *qp, struct sk_buff *skb,
				inc_fault_pass_fn pass)
{
	return false;
}

static inline bool inc_fault_memory_rx(struct inc_qp *qp)
{
	return false;
}

static inline bool inc_fault_memory_tx(struct inc_qp *qp)
{
	return false;
}

static inline void inc_fault_free(struct inc_qp *qp)
{
}

static inline void inc_fault_show(struct inc_qp *qp)
{
}

static inline void inc_fault_hide(struct inc_qp *qp)
{
}

#endif /* CONFIG_INFINIBAND_INC_FAULT */

#endif /* _INC_FAULT_H */
