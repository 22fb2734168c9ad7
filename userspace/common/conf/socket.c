// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See socket.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/socket.h"

/* A stranger who locks the directory delays us, but does not stop us. */
#define LOCK_TRIES	100
#define LOCK_USEC	10000

/*
 * Of two programs that start at once, neither must take the other's socket for
 * a stale one: it is bound before it listens.
 */
static int lock_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[SOCKET_PATH_LEN];
	unsigned int tries = 0;
	int fd;

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path + 1) : 1,
		 slash ? path : ".");
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) &&
	       errno == EWOULDBLOCK && tries++ < LOCK_TRIES)
		usleep(LOCK_USEC);
	return fd;
}

/*
 * The kernel also returns ECONNREFUSED for files that are no sockets. If the
 * queue of a listener is full, a non-blocking socket gets EAGAIN.
 */
static int remove_stale(const struct sockaddr_un *addr, const char **why)
{
	int fd, err = 0;
	struct stat st;

	if (lstat(addr->sun_path, &st))
		return 0;	/* bind() reports other errors */
	if (!S_ISSOCK(st.st_mode)) {
		*why = "there is something else of this name, which is no socket: remove it, or name another one";
		return -EEXIST;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		err = errno;
	close(fd);
	if (!err || err == EAGAIN || err == EPROTOTYPE) {
		*why = "in use: another process listens there";
		return -EADDRINUSE;
	}
	if (err != ECONNREFUSED)
		return -err;
	unlink(addr->sun_path);
	return 0;
}

static int bind_socket(struct inc_socket *s, int fd,
		       const struct sockaddr_un *addr, int mode, int backlog)
{
	mode_t old = mode < 0 ? 0 : umask(~(mode_t)mode & 0777);
	struct stat st;
	int err = 0;

	if (bind(fd, (const struct sockaddr *)addr, sizeof(*addr)))
		err = errno;
	if (mode >= 0)
		umask(old);
	if (err)
		return -err;
	if (!listen(fd, backlog) && !lstat(addr->sun_path, &st)) {
		memcpy(s->path, addr->sun_path, sizeof(s->path));
		s->dev = st.st_dev;
		s->ino = st.st_ino;
		return 0;
	}
	err = errno;
	unlink(addr->sun_path);
	return -err;
}

/*
 * Listen at a UNIX socket. Context: no other thread creates files. Returns the
 * non-blocking descriptor, or a negative errno value.
 * @mode: permissions of the socket; -1: according to umask()
 */
int inc_socket_listen(struct inc_socket *s, const char *path, int mode,
		      int backlog, const char **why)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, lock, ret;

	*s = (struct inc_socket){ .path = "" };
	*why = NULL;
	if (!*path) {
		*why = "a socket needs a path";
		return -EINVAL;
	}
	if (strlen(path) >= sizeof(addr.sun_path)) {
		*why = "the path of a socket has 107 bytes at most";
		return -ENAMETOOLONG;
	}
	memcpy(addr.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ret = fd < 0 ? -errno : 0;
	lock = lock_directory(path);
	if (!ret)
		ret = remove_stale(&addr, why);
	if (!ret)
		ret = bind_socket(s, fd, &addr, mode, backlog);
	if (lock >= 0)
		close(lock);
	if (!ret)
		return fd;
	if (fd >= 0)
		close(fd);
	if (!*why)
		*why = strerror(-ret);
	return ret;
}

/*
 * Remove a UNIX socket from the file system.
 * @s: socket, whose descriptor is still open: otherwise another file could have
 *	its inode. A file that has replaced it stays.
 */
void inc_socket_remove(struct inc_socket *s)
{
	struct stat st;

	if (s->path[0] && !lstat(s->path, &st) && st.st_dev == s->dev &&
	    st.st_ino == s->ino)
		unlink(s->path);
	s->path[0] = '\0';
}

/*
 * Listen at an IP address. Returns the socket, non-blocking; -EINVAL: @addr is
 * none; or another negative errno value.
 * @port: port; 0: any
 */
int inc_socket_listen_at(const char *addr, uint16_t port, int backlog)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
		.ai_socktype = SOCK_STREAM,
	};
	const int on = 1;
	struct addrinfo *list;
	char service[8];
	int fd, err = 0;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(addr, service, &hints, &list))
		return -EINVAL;
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) ||
	    listen(fd, backlog))
		err = errno;
	freeaddrinfo(list);
	if (err && fd >= 0)
		close(fd);
	return err ? -err : fd;
}
