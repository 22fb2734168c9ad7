/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Sockets at which daemons listen. A UNIX socket that another process listens at
 * stays; a stale one is replaced.
 */
#ifndef INC_CONF_SOCKET_H
#define INC_CONF_SOCKET_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#define SOCKET_PATH_LEN	sizeof(((struct sockaddr_un *)NULL)->sun_path)

/**
 * struct inc_socket - a UNIX socket of this process
 * @path: path; empty: none
 * @dev: file system
 * @ino: inode
 */
struct inc_socket {
	char	path[SOCKET_PATH_LEN];
	dev_t	dev;
	ino_t	ino;
};

int inc_socket_listen(struct inc_socket *s, const char *path, int mode,
		      int backlog, const char **why);
void inc_socket_remove(struct inc_socket *s);
int inc_socket_listen_at(const char *addr, uint16_t port, int backlog);

#endif /* INC_CONF_SOCKET_H */
