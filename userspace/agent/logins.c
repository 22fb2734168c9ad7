// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See logins.h. libnetconf2 does not tell which sockets it has accepted, so
 * they are looked for among this process's descriptors: TCP connections to the
 * ports of SSH and TLS that are not known as sessions.
 */
#include "logins.h"

#include <dirent.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libnetconf2/session.h>

#include "auth/address.h"
#include "common.h"
#include "conf/log.h"
#include "conf/pace.h"

#define FDS_MAX		65536
/* Greatest number of logins per address, and in all: leave room for others. */
#define ADDRESS_MAX	4
#define BUSY_MAX	(LOGINS_MAX * 3 / 4)
/* libnetconf2's own backlog is 5. */
#define BACKLOG		512

/**
 * struct login - a connection, by its descriptor
 * @ino: inode of its socket, as descriptors are used again
 * @since: milliseconds; when it was first seen
 * @done: it is a session, or was shut down
 * @order: higher than any earlier connection's
 * @peer: key of its host
 */
struct login {
	ino_t		ino;
	uint64_t	since;
	bool		done;
	uint64_t	order;
	struct in6_addr	peer;
};

static struct {
	uint16_t	ports[2];
	unsigned int	limit_ms;
	pthread_mutex_t	lock;
	struct login	*list;
	int		n;
	uint64_t	order;
	/* Connections that log in now. */
	int		busy[LOGINS_MAX];
	unsigned int	nbusy;
	/* Limits the log: one message a second. */
	struct pace	pace;
} logins = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

static bool is_ours(const struct sockaddr_storage *addr, socklen_t len)
{
	int port = port_of(addr, len);

	return port > 0 && (port == logins.ports[0] || port == logins.ports[1]);
}

/* Lengthen the backlogs of libnetconf2's listening sockets. */
static void lengthen_backlog(void)
{
	struct sockaddr_storage addr;
	socklen_t len;
	int fd;

	for (fd = 3; fd < 64; fd++) {
		len = sizeof(addr);
		if (!getsockname(fd, (struct sockaddr *)&addr, &len) &&
		    is_ours(&addr, len))
			listen(fd, BACKLOG);
	}
}

/*
 * Set the ports to watch.
 * @limit_ms: time limit for a session to begin
 */
void logins_init(uint16_t ssh, uint16_t tls, unsigned int limit_ms)
{
	logins.ports[0] = ssh;
	logins.ports[1] = tls;
	logins.limit_ms = limit_ms;
	lengthen_backlog();
}

/* Strangers must not fill the log: one message a second is enough. */
static void end_login(int fd, const char *why)
{
	unsigned int n = pace_take(&logins.pace);

	if (n)
		log_warn("a client %s: its connection ends (%u have ended since the last message)",
			 why, n);
	logins.list[fd].done = true;
	shutdown(fd, SHUT_RDWR);
}

/* Note a connection of a client that has not logged in. */
static void note_login(int fd, uint64_t now)
{
	struct sockaddr_storage addr, peer;
	struct login *l = login_of(fd);
	socklen_t len = sizeof(addr);
	struct stat st;

	if (!l || fstat(fd, &st) || !S_ISSOCK(st.st_mode))
		return;
	if (l->ino == st.st_ino && l->done)
		return;
	if (getsockname(fd, (struct sockaddr *)&addr, &len) ||
	    !is_ours(&addr, len))
		return;
	len = sizeof(peer);
	if (getpeername(fd, (struct sockaddr *)&peer, &len))
		return;
	if (l->ino != st.st_ino) {
		*l = (struct login){ .ino = st.st_ino, .since = now,
				     .order = ++logins.order };
		inc_auth_peer_key((const struct sockaddr *)&peer, &l->peer);
	}
	if (logins.nbusy < LOGINS_MAX)
		logins.busy[logins.nbusy++] = fd;
}

/* Count logins of the same address: all, or later ones only. */
static unsigned int count_same(const struct login *l, bool later)
{
	const struct login *other;
	unsigned int i, n = 0;

	for (i = 0; i < logins.nbusy; i++) {
		other = &logins.list[logins.busy[i]];
		n += !other->done && (!later || other->order > l->order) &&
		     !memcmp(&other->peer, &l->peer, sizeof(l->peer));
	}
	return n;
}

static void check_login(int fd, uint64_t now)
{
	struct login *l = &logins.list[fd];

	if (now - l->since >= logins.limit_ms)
		end_login(fd, "has not logged in in time");
	else if (count_same(l, true) >= ADDRESS_MAX)
		end_login(fd, "gives way to later ones from its address");
}

/* Returns the oldest login of the address that has most; -1: there is room. */
static int find_surplus(void)
{
	unsigned int i, same, most = 0, n = 0;
	const struct login *l, *oldest = NULL;
	int found = -1;

	for (i = 0; i < logins.nbusy; i++) {
		l = &logins.list[logins.busy[i]];
		if (l->done)
			continue;
		n++;
		same = count_same(l, false);
		if (same < most || (same == most && l->order > oldest->order))
			continue;
		most = same;
		oldest = l;
		found = logins.busy[i];
	}
	return n > BUSY_MAX ? found : -1;
}

/* End connections whose time is over. Call it many times a second. */
void logins_check(uint64_t now)
{
	const struct dirent *e;
	unsigned int i;
	DIR *dir;
	int fd;

	if (!logins.ports[0] && !logins.ports[1])
		return;
	dir = opendir("/proc/self/fd");
	if (!dir)
		return;
	pthread_mutex_lock(&logins.lock);
	logins.nbusy = 0;
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			note_login(atoi(e->d_name), now);
	for (i = 0; i < logins.nbusy; i++)
		check_login(logins.busy[i], now);
	/* Clients with keys log in within milliseconds: the oldest give way. */
	while ((fd = find_surplus()) >= 0)
		end_login(fd, "gives way to others");
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

/*
 * Note that a session has begun. Returns its socket, which libnetconf2 does not
 * tell, or -1.
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
