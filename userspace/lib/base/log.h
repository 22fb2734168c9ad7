/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The library's log: one line per call, to the hook or, if INC_LOG is set, to
 * stderr; as text, or as a JSON object. A level that is off costs one load.
 */
#ifndef INC_LIB_LOG_H
#define INC_LIB_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "inc.h"

/**
 * struct inc_who - the communicator that a line is about
 * @job: name of the job
 * @rank: rank of the caller
 * @nranks: number of ranks
 * @tree_id: tree on the switch, if @has_tree
 * @has_tree: the daemon has named the tree
 */
struct inc_who {
	char		job[INC_JOB_MAX + 1];
	int		rank;
	int		nranks;
	uint32_t	tree_id;
	bool		has_tree;
};

extern _Atomic int inc_log_threshold;

void inc_log_line(const struct inc_who *who, enum inc_log_level level,
		  const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void inc_log_init(void);
void inc_log_lock(void);
void inc_log_unlock(void);

/* @who: communicator; NULL: none yet, or unknown to the caller. */
#define inc_log(who, level, ...)					\
	do {								\
		if ((int)(level) <=					\
		    atomic_load_explicit(&inc_log_threshold,		\
					 memory_order_relaxed))		\
			inc_log_line((who), (level), __VA_ARGS__);	\
	} while (0)

#define inc_err(who, ...)	inc_log(who, INC_LOG_ERROR, __VA_ARGS__)
#define inc_warn(who, ...)	inc_log(who, INC_LOG_WARN, __VA_ARGS__)
#define inc_info(who, ...)	inc_log(who, INC_LOG_INFO, __VA_ARGS__)
#define inc_dbg(who, ...)	inc_log(who, INC_LOG_DEBUG, __VA_ARGS__)

#endif /* INC_LIB_LOG_H */
