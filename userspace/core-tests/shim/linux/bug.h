/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SHIM_LINUX_BUG_H
#define _SHIM_LINUX_BUG_H

#include <stdio.h>
#include <stdlib.h>

/* A warning is a bug of ours: fail loudly. */
#define WARN_ON_ONCE(cond) ({						\
	int _c = !!(cond);						\
	if (_c) {							\
		fprintf(stderr, "%s:%d: WARN_ON(%s)\n", __FILE__,	\
			__LINE__, #cond);				\
		abort();						\
	}								\
	_c; })
#define WARN_ON(cond)	WARN_ON_ONCE(cond)
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)

#endif
