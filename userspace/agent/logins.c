// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See logins.h. libnetconf2 does not tell which sockets it has accepted, so they
 * are looked for among the descriptors of this process: TCP connections to the
 * ports of SSH and TLS. Those of sessions are known.
 */
#include "logins.h"

#include <dirent.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libnetconf2/session.h>

#include "common.h"
#include "log.h"

#define FDS_MAX		65536

/**
 * struct login - a connection, by its descriptor
 * @ino: its socket, as descriptors are used again
 * @since: milliseconds; since when it is seen
 * @done: it is a session
 */
struct login {
	ino_t		ino;
	uint64_t	since;
	bool		done;
};

static struct {
	uint16_t	ports[2];
	unsigned int	limit_ms;
	pthread_mutex_t	lock;
	struct login	*list;
	int		n;
} logins = { .lock = PTHREAD_MUTEX_INITIALIZER };

/**
 * logins_init() - say what to look for
 * @ssh: port, 0: none
 * @tls: port, 0: none
 * @limit_ms: how long it may take until a session begins
 */
void logins_init(uint16_t ssh, uint16_t tls, unsigned int limit_ms)
{
	logins.ports[0] = ssh;
	logins.ports[1] = tls;
	logins.limit_ms = limit_ms;
}

static struct login *login_of(int fd)
{
	struct login *p;
	int n = (fd | 63) + 1;

	if (fd < 0 || fd >= FDS_MAX)
		return NULL;
	if (fd >= logins.n) {
		p = realloc(logins.list, (size_t)n * sizeof(*p));
		if (!p)
			return NULL;
		memset(p + logins.n, 0, (size_t)(n - logins.n) * sizeof(*p));
		logins.list = p;
		logins.n = n;
	}
	return &logins.list[fd];
}

static int port_of(const struct sockaddr_storage *addr, socklen_t len)
{
	char port[NI_MAXSERV];

	if ((addr->ss_family != AF_INET && addr->ss_family != AF_INET6) ||
	    getnameinfo((const struct sockaddr *)addr, len, NULL, 0, port,
			sizeof(port), NI_NUMERICSERV))
		return -1;
	return atoi(port);
}

/* Is it a connection of a client? */
static bool is_client(int fd)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	int port;

	if (getpeername(fd, (struct sockaddr *)&addr, &len))
		return false;
	len = sizeof(addr);
	if (getsockname(fd, (struct sockaddr *)&addr, &len))
		return false;
	port = port_of(&addr, len);
	return port > 0 && (port == logins.ports[0] || port == logins.ports[1]);
}

static void check(int fd, uint64_t now)
{
	struct login *l = login_of(fd);
	struct stat st;

	if (!l || fstat(fd, &st) || !S_ISSOCK(st.st_mode) || !is_client(fd))
		return;
	if (l->ino != st.st_ino) {
		*l = (struct login){ .ino = st.st_ino, .since = now };
		return;
	}
	if (l->done || now - l->since < logins.limit_ms)
		return;
	log_warn("a client has not logged in within %u s: its connection ends",
		 logins.limit_ms / 1000);
	shutdown(fd, SHUT_RDWR);
	l->since = now;
}

/**
 * logins_check() - end connections that have had their time
 * @now: milliseconds
 *
 * To be called about once a second.
 */
void logins_check(uint64_t now)
{
	const struct dirent *e;
	DIR *dir;

	if (!logins.ports[0] && !logins.ports[1])
		return;
	dir = opendir("/proc/self/fd");
	if (!dir)
		return;
	pthread_mutex_lock(&logins.lock);
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			check(atoi(e->d_name), now);
	pthread_mutex_unlock(&logins.lock);
	closedir(dir);
}

static bool is_of(int fd, const struct nc_session *s)
{
	char host[NI_MAXHOST], port[NI_MAXSERV];
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);

	return !getpeername(fd, (struct sockaddr *)&peer, &len) &&
	       !getnameinfo((struct sockaddr *)&peer, len, host, sizeof(host),
			    port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV) &&
	       atoi(port) == nc_session_get_port(s) &&
	       !strcmp(host, nc_session_get_host(s));
}

/**
 * logins_done() - a session has begun
 * @s: session, by SSH or TLS
 *
 * Return: its socket, which libnetconf2 does not tell; or -1.
 */
int logins_done(const struct nc_session *s)
{
	int fd, max = (int)sysconf(_SC_OPEN_MAX);
	struct login *l;
	struct stat st;

	for (fd = 3; fd < max && fd < FDS_MAX; fd++)
		if (is_of(fd, s))
			break;
	if (fd == max || fd == FDS_MAX)
		return -1;
	pthread_mutex_lock(&logins.lock);
	l = login_of(fd);
	if (l && !fstat(fd, &st))
		*l = (struct login){ .ino = st.st_ino, .done = true };
	pthread_mutex_unlock(&logins.lock);
	return fd;
}
