/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Interface between top.c (timing) and top-show.c (contents). */
#ifndef INC_TOOL_TOP_SHOW_H
#define INC_TOOL_TOP_SHOW_H

#include "common.h"

struct snapshot;

/**
 * struct screen - destination of a picture
 * @rows: number of lines, or 0 for no limit
 * @columns: characters per line, or 0 for no limit
 * @live: a terminal, on which a picture overwrites the last one
 */
struct screen {
	unsigned int	rows;
	unsigned int	columns;
	bool		live;
};

void top_show(const struct screen *screen, const struct snapshot *before,
	      const struct snapshot *now);
void top_json(const struct snapshot *before, const struct snapshot *now);

#endif /* INC_TOOL_TOP_SHOW_H */
