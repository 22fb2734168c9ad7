/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Notifications of inc-amd and inc-agentd to systemd (Type=notify,
 * WatchdogSec=).
 */
#ifndef INC_NOTIFY_H
#define INC_NOTIFY_H

void inc_notify(const char *state);

#endif /* INC_NOTIFY_H */
