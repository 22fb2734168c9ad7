// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Names of the messages between ranks and coordinators, for logs, and addresses
 * in messages.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "proto.h"

/* Get the protocol's name of a kind of message. */
const char *inc_rdv_name(enum inc_rdv_type type)
{
	static const char *const names[] = {
		[INC_RDV_JOIN]		= "join",
		[INC_RDV_RTS]		= "rts",
		[INC_RDV_LEAVE]		= "leave",
		[INC_RDV_LOST]		= "lost",
		[INC_RDV_JOINED]	= "joined",
		[INC_RDV_READY]		= "ready",
		[INC_RDV_LEFT]		= "left",
		[INC_RDV_FAILED]	= "failed",
		[INC_RDV_BYE]		= "bye",
		[INC_RDV_ERROR]		= "error",
		[INC_RDV_ALIVE]		= "alive",
		[INC_RDV_WRONG]		= "wrong",
		[INC_RDV_GATHER]	= "gather",
		[INC_RDV_RETRACT]	= "retract",
		[INC_RDV_LINK]		= "link",
		[INC_RDV_PLACED]	= "placed",
		[INC_RDV_LINKED]	= "linked",
		[INC_RDV_REBUILD]	= "rebuild",
		[INC_RDV_REJOIN]	= "rejoin",
		[INC_RDV_LOSSY]		= "lossy",
		[INC_RDV_CHANGE]	= "change",
	};

	return names[type];
}

/*
 * Check whether an IPv6 address is valid on one link only. Returns true if so.
 */
bool inc_rdv_addr_is_link_local(const struct inc_rdv_addr *addr)
{
	return addr->len == 16 && addr->bytes[0] == 0xfe &&
	       (addr->bytes[1] & 0xc0) == 0x80;
}

/*
 * Format an address. Returns @buf.
 * @len: size of @buf, at least INET6_ADDRSTRLEN
 */
const char *inc_rdv_addr_str(const struct inc_rdv_addr *addr, char *buf,
			     size_t len)
{
	if (!addr->len || !inet_ntop(addr->len == 4 ? AF_INET : AF_INET6,
				     addr->bytes, buf, (socklen_t)len))
		snprintf(buf, len, "none");
	return buf;
}

/*
 * Set an address. An IPv4 address in IPv6 form is an IPv4 address.
 * @len: 4 or 16
 */
void inc_rdv_addr_set(struct inc_rdv_addr *addr, const uint8_t *bytes,
		      unsigned int len)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (len == 16 && !memcmp(bytes, mapped, sizeof(mapped))) {
		bytes += sizeof(mapped);
		len = 4;
	}
	memset(addr, 0, sizeof(*addr));
	addr->len = len;
	memcpy(addr->bytes, bytes, len);
}

/* Parse an address. Returns 0 or -EINVAL. */
int inc_rdv_addr_parse(const char *text, struct inc_rdv_addr *addr)
{
	struct in6_addr in6;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, addr->bytes) == 1) {
		addr->len = 4;
		return 0;
	}
	if (inet_pton(AF_INET6, text, &in6) != 1)
		return -EINVAL;
	inc_rdv_addr_set(addr, in6.s6_addr, 16);
	return 0;
}

/* Get the address of a socket address. Returns 0 or -EAFNOSUPPORT. */
int inc_rdv_addr_from_sockaddr(const struct sockaddr *sa,
			       struct inc_rdv_addr *addr)
{
	const struct sockaddr_in6 *sin6 = (const void *)sa;
	const struct sockaddr_in *sin = (const void *)sa;

	memset(addr, 0, sizeof(*addr));
	if (sa->sa_family == AF_INET) {
		addr->len = 4;
		memcpy(addr->bytes, &sin->sin_addr, 4);
		return 0;
	}
	if (sa->sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	inc_rdv_addr_set(addr, sin6->sin6_addr.s6_addr, 16);
	return 0;
}

/* Make a socket address. */
socklen_t inc_rdv_addr_to_sockaddr(const struct inc_rdv_addr *addr,
				   uint16_t port, struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	if (addr->len == 4) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, addr->bytes, 4);
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	memcpy(&in6->sin6_addr, addr->bytes, 16);
	return sizeof(*in6);
}
