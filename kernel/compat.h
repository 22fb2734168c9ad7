/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of 7.2 for kernels back to 6.12. No other file may check the version.
 */
#ifndef _INC_COMPAT_H
#define _INC_COMPAT_H

#include <linux/slab.h>
#include <linux/timer.h>
#include <net/flow.h>

/*
 * Packet sockets of one protocol that see all devices of a namespace. Kernels
 * before 6.15 have no list of them for modules: only sockets bound to a device
 * are found there. The macro is of 6.16.
 */
#ifdef timer_container_of
#define inc_packet_sockets(dev) (&dev_net(dev)->ptype_specific)
#else
#define inc_packet_sockets(dev) (&(dev)->ptype_specific)
#endif

#ifndef timer_container_of
#define timer_container_of(var, callback_timer, timer_fieldname) \
	from_timer(var, callback_timer, timer_fieldname)
#endif

#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp) kzalloc(sizeof(obj), gfp)
#endif

/* A DSCP is a TOS without ECN bits. The field was called flowi4_tos. */
#ifndef flowi4_dscp
#define flowi4_dscp flowi4_tos
#endif

#endif /* _INC_COMPAT_H */
