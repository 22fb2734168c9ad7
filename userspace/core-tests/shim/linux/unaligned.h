/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_UNALIGNED_H
#define _SHIM_LINUX_UNALIGNED_H

#define get_unaligned(p) ({						\
	const struct {							\
		__typeof__(*(p)) x;					\
	} __attribute__((__packed__, __may_alias__)) *_p = (const void *)(p); \
	_p->x; })

#define put_unaligned(v, p) do {					\
	struct {							\
		__typeof__(*(p)) x;					\
	} __attribute__((__packed__, __may_alias__)) *_p = (void *)(p);	\
	_p->x = (v);							\
} while (0)

#endif
