/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_MINMAX_H
#define _SHIM_LINUX_MINMAX_H

#define min(x, y) ({							\
	__typeof__(x) _x = (x);						\
	__typeof__(y) _y = (y);						\
	_x < _y ? _x : _y; })
#define max(x, y) ({							\
	__typeof__(x) _x = (x);						\
	__typeof__(y) _y = (y);						\
	_x > _y ? _x : _y; })
#define min_t(type, x, y)	min((type)(x), (type)(y))
#define max_t(type, x, y)	max((type)(x), (type)(y))
#define min3(x, y, z)		min((__typeof__(x))min(x, y), z)
#define max3(x, y, z)		max((__typeof__(x))max(x, y), z)
#define swap(a, b) do {							\
	__typeof__(a) _t = (a);						\
	(a) = (b);							\
	(b) = _t;							\
} while (0)
#define clamp(v, lo, hi)	min(max(v, lo), hi)

#endif
