/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Between top.c (when) and top-show.c (what).
 */
#ifndef INC_TOOL_TOP_H
#define INC_TOOL_TOP_H

#include "common.h"

struct snapshot;

/**
 * struct screen - where a picture goes
 * @rows: lines that fit, or 0 for as many as there are
 * @columns: characters that fit in one, or 0
 * @live: a terminal, whose last picture is overwritten
 */
struct screen {
	unsigned int	rows;
	unsigned int	columns;
	bool		live;
};

void top_show(const struct screen *screen, const struct snapshot *before,
	      const struct snapshot *now);
void top_json(const struct snapshot *before, const struct snapshot *now);

#endif /* INC_TOOL_TOP_H */
