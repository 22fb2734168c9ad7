// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See address.h.
 */
#include "auth/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Accept decimal ports only: getaddrinfo() would cut off high bits. */
static int read_port(const char *text, int *port)
{
	size_t n = strspn(text, "0123456789");
	int value = n && n <= 5 && !text[n] ? atoi(text) : -1;

	if (value < 0 || value > UINT16_MAX)
		return -EINVAL;
	*port = value;
	return 0;
}

/*
 * Parse a server's address. Returns 0, or -EINVAL if it is malformed or does
 * not fit.
 * @len: size of @host in bytes
 * @port: result, 0 to 65535; unchanged if @server has none
 */
int inc_auth_address(const char *server, char *host, size_t len, int *port)
{
	const char *rest = strchr(server, ':');
	size_t n = strlen(server);

	if (*server == '[') {
		n = strcspn(++server, "]");
		if (!server[n])
			return -EINVAL;
		rest = server + n + 1;
	} else if (rest && rest == strrchr(server, ':')) {
		n = (size_t)(rest - server);
	} else {
		rest = "";
	}
	if (!n || n >= len || (*rest && *rest != ':'))
		return -EINVAL;
	memcpy(host, server, n);
	host[n] = '\0';
	return *rest ? read_port(rest + 1, port) : 0;
}

/*
 * Find the path in the address of a UNIX socket. Returns the path, which may be
 * empty, or NULL for another kind of address.
 */
const char *inc_auth_path(const char *server)
{
	static const char prefix[] = "unix:";
	size_t n = sizeof(prefix) - 1;

	return strncmp(server, prefix, n) ? NULL : server + n;
}

/*
 * Take the host out of a server's address. Returns false if the address is
 * malformed, or the host does not fit.
 * @len: size of @host in bytes
 */
bool inc_auth_host(const char *server, char *host, size_t len)
{
	int port;

	return !inc_auth_address(server, host, len, &port);
}

/*
 * Is a server on this host for sure? Other names than localhost are not looked
 * up: they may change their meaning. Returns true if so.
 */
bool inc_auth_is_loopback(const char *server)
{
	struct in6_addr in6;
	struct in_addr in;
	char host[256];

	if (!inc_auth_host(server, host, sizeof(host)))
		return false;
	if (inet_pton(AF_INET, host, &in) == 1)
		return ntohl(in.s_addr) >> 24 == IN_LOOPBACKNET;
	if (inet_pton(AF_INET6, host, &in6) == 1)
		return IN6_IS_ADDR_LOOPBACK(&in6);
	return !strcmp(host, "localhost");
}

/* Is the other end of a connection on this host? Returns true if so. */
bool inc_auth_peer_is_loopback(int fd)
{
	struct sockaddr_storage peer;
	const struct sockaddr_in *in = (struct sockaddr_in *)&peer;
	const struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&peer;
	socklen_t len = sizeof(peer);

	if (getpeername(fd, (struct sockaddr *)&peer, &len))
		return false;
	if (peer.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return peer.ss_family == AF_INET &&
	       ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/*
 * Make a key that tells hosts apart, for limits per host.
 * @addr: IPv4 or IPv6 address, in network byte order
 * @len: its length in bytes
 * @key: result, the same for all addresses that one host can choose from: an
 *	IPv4 address mapped to IPv6, or an IPv6 /64; zeros for anything else
 */
void inc_auth_host_key(const void *addr, size_t len, struct in6_addr *key)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	memset(key, 0, sizeof(*key));
	if (len == 4) {
		memcpy(key, mapped, sizeof(mapped));
		memcpy(&key->s6_addr[12], addr, 4);
	} else if (len == sizeof(*key)) {
		memcpy(key, addr, memcmp(addr, mapped, sizeof(mapped)) ? 8 :
							      sizeof(*key));
	}
}

/* As inc_auth_host_key(), for the other end of a connection. */
void inc_auth_peer_key(const struct sockaddr *peer, struct in6_addr *key)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)peer;
	const struct sockaddr_in *in = (const struct sockaddr_in *)peer;

	if (peer->sa_family == AF_INET)
		inc_auth_host_key(&in->sin_addr, sizeof(in->sin_addr), key);
	else if (peer->sa_family == AF_INET6)
		inc_auth_host_key(&in6->sin6_addr, sizeof(in6->sin6_addr), key);
	else
		inc_auth_host_key(NULL, 0, key);
}
