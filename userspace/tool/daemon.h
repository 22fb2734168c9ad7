/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* inc-tool check: daemons that make trees. */
#ifndef INC_TOOL_DAEMON_H
#define INC_TOOL_DAEMON_H

#include "collect.h"

void check_daemon(const struct snapshot *snap);

#endif /* INC_TOOL_DAEMON_H */
