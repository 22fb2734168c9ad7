/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A daemon's PID file.
 */
#ifndef INC_CONF_PIDFILE_H
#define INC_CONF_PIDFILE_H

int inc_pidfile_write(const char *program, const char *path);
void inc_pidfile_remove(const char *path);

#endif /* INC_CONF_PIDFILE_H */
