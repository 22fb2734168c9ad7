// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See notify.h. One datagram is not worth a dependency on libsystemd.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf/notify.h"

/* Send the program's state to systemd, if it asked for that. */
void inc_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;

	if (!path || !*path || strlen(path) >= sizeof(addr.sun_path))
		return;
	memcpy(addr.sun_path, path, strlen(path));
	if (*path == '@')
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	(void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL,
		      (struct sockaddr *)&addr,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
				  strlen(path)));
	close(fd);
}
