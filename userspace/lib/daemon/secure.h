/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What is sent to the rendezvous daemon, over TCP, or over TLS and with a token
 * if the environment says so.
 */
#ifndef INC_LIB_SECURE_H
#define INC_LIB_SECURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inc_tls;
struct inc_tls_ops;

/**
 * struct inc_secure - TLS on a socket
 * @tls: connection; NULL: without TLS
 * @ops: functions for it
 */
struct inc_secure {
	struct inc_tls			*tls;
	const struct inc_tls_ops	*ops;
};

int64_t inc_now_ms(void);

int inc_secure_open(struct inc_secure *s, int fd, const char *server,
		    int64_t deadline_ms, char *err, size_t err_len);
int inc_secure_wait(int fd, short events, int64_t deadline_ms);
ssize_t inc_secure_recv(struct inc_secure *s, int fd, void *buf, size_t len);
int inc_secure_write(struct inc_secure *s, int fd, const char *text, size_t len,
		     int64_t deadline_ms);
void inc_secure_close(struct inc_secure *s);

#endif /* INC_LIB_SECURE_H */
