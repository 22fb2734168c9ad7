/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What inc-amd and inc-agentd tell systemd (Type=notify, WatchdogSec=).
 */
#ifndef INC_NOTIFY_H
#define INC_NOTIFY_H

void inc_notify(const char *state);

#endif /* INC_NOTIFY_H */
