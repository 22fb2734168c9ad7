/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_TOOL_PROMETHEUS_H
#define INC_TOOL_PROMETHEUS_H

#include "common.h"

struct snapshot;

void prometheus_show(const struct snapshot *snap, bool all);

#endif /* INC_TOOL_PROMETHEUS_H */
