/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Messages to stderr, for people or for systemd's journal.
 */
#ifndef INC_CONF_LOG_H
#define INC_CONF_LOG_H

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

void log_start(const char *name, enum log_level level);
void log_msg(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(...)	log_msg(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)	log_msg(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)	log_msg(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	log_msg(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif /* INC_CONF_LOG_H */
