/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The library's log: one line per call, to the hook or, if INC_LOG asks for
 * it, to stderr. Costs one load where the level is off.
 */
#ifndef INC_LIB_LOG_H
#define INC_LIB_LOG_H

#include <stdatomic.h>

#include "inc.h"

extern _Atomic int inc_log_threshold;

void inc_log_line(enum inc_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void inc_log_init(void);

#define inc_log(level, ...)						\
	do {								\
		if ((int)(level) <= atomic_load_explicit(&inc_log_threshold, \
							 memory_order_relaxed)) \
			inc_log_line((level), __VA_ARGS__);		\
	} while (0)

#define inc_err(...)	inc_log(INC_LOG_ERROR, __VA_ARGS__)
#define inc_warn(...)	inc_log(INC_LOG_WARN, __VA_ARGS__)
#define inc_info(...)	inc_log(INC_LOG_INFO, __VA_ARGS__)
#define inc_dbg(...)	inc_log(INC_LOG_DEBUG, __VA_ARGS__)

#endif /* INC_LIB_LOG_H */
