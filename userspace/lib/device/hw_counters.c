// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Losses from a device's counters, see hw_counters.h. The names are rdma_rxe's;
 * NICs retransmit only lost packets. The counters are read by netlink, as sysfs
 * shows them only in the initial network namespace.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "hw_counters.h"

/* A loss has the weight 1/KEEP in the average. */
#define KEEP	4
/* Initial estimate of the distance between losses, after the first one. */
#define FIRST	1024
/* A lost packet counts as this many late ones. */
#define LATE	16
/* A single loss raises the distance by at most this factor. */
#define RARER	4

/*
 * Open a netlink socket to read counters. Returns the file descriptor, or a
 * negative number.
 */
int inc_hw_counters_socket(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
}

/*
 * Prepare to read a device's counters.
 * @fd: socket, used for one query at a time
 * @dev: index of the device, negative if it has none
 */
void inc_hw_counters_open(struct inc_hw_counters *l, int fd, int dev,
			  unsigned int port)
{
	*l = (struct inc_hw_counters) {
		.fd = dev < 0 ? -1 : fd, .dev = (uint32_t)dev, .port = port,
	};
}

/* Integer square root, rounded down. */
static unsigned int int_sqrt(uint64_t n)
{
	unsigned int r = 0, bit;

	for (bit = 1U << 15; bit; bit >>= 1)
		if ((uint64_t)(r + bit) * (r + bit) <= n)
			r += bit;
	return r;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* @lost losses were found, @each packets apart. */
static void note_losses(struct inc_hw_counters *l, uint64_t lost, uint64_t each)
{
	if (!l->apart) {
		l->apart = min_u64(each, FIRST);
		lost--;
	}
	for (; lost && l->apart != each; lost--) {
		uint64_t was = l->apart;

		l->apart =
			(was * (KEEP - 1) + min_u64(each, was * RARER)) / KEEP;
		if (l->apart == was)
			break;
	}
	if (!l->apart)
		l->apart = 1;
}

/*
 * Add the counts since the last reading. If one packet in n is lost, having
 * sqrt(n) packets in flight costs one packet in sqrt(n), as with TCP. Use half
 * of that, since one loss costs everything in flight, in either direction.
 * Recent losses give n, or a longer run of packets without any (as in RFC
 * 5348, section 5). Losses are thus forgotten after some thousand packets, not
 * with time. Returns the maximum packets to have in flight, at least 1; 0:
 * unlimited.
 */
unsigned int inc_hw_counters_add(struct inc_hw_counters *l, uint64_t lost,
				 uint64_t packets)
{
	unsigned int flight;

	l->since += packets;
	if (lost) {
		note_losses(l, lost, l->since / lost);
		l->since = 0;
	}
	if (!l->apart)
		return 0;
	flight = int_sqrt(l->apart > l->since ? l->apart : l->since) / 2;
	if (flight >= INC_HW_COUNTERS_FLIGHT_MAX)
		return 0;
	return flight ? flight : 1;
}

/* Find the next attribute within [p, end), or NULL. */
static const struct nlattr *next_attr(const char *p, const char *end)
{
	const struct nlattr *a = (const struct nlattr *)p;

	if (end - p < NLA_HDRLEN || a->nla_len < NLA_HDRLEN ||
	    a->nla_len > end - p)
		return NULL;
	return a;
}

static const char *attr_payload(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

#define FOR_EACH_ATTR(a, from, end)					\
	for (const char *p_ = (from); ((a) = next_attr(p_, (end)));	\
	     p_ = (const char *)(a) + NLA_ALIGN((a)->nla_len))

/* Parse a counter's name and value. Returns whether it is one of ours. */
static int parse_entry(const struct nlattr *counter, struct inc_hw_counts *c)
{
	const char *end = (const char *)counter + counter->nla_len, *name = "";
	const struct nlattr *a;
	uint64_t value = 0;

	FOR_EACH_ATTR(a, attr_payload(counter), end) {
		int type = a->nla_type & NLA_TYPE_MASK;

		if (type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME &&
		    memchr(attr_payload(a), 0, a->nla_len - NLA_HDRLEN))
			name = attr_payload(a);
		else if (type == RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE &&
			 a->nla_len >= NLA_HDRLEN + sizeof(value))
			memcpy(&value, attr_payload(a), sizeof(value));
	}
	if (!strcmp(name, "rcvd_seq_err"))
		c->naks = value;
	else if (!strcmp(name, "out_of_seq_request"))
		c->holes = value;
	else if (!strcmp(name, "duplicate_request"))
		c->duplicates = value;
	else if (!strcmp(name, "sent_pkts") || !strcmp(name, "rcvd_pkts"))
		c->packets += value;
	else if (!strcmp(name, "send_err"))
		c->unsent = value;
	else
		return 0;
	return 1;
}

static int parse_entries(const struct nlattr *counters, struct inc_hw_counts *c)
{
	const char *end = (const char *)counters + counters->nla_len;
	const struct nlattr *counter;
	int found = 0;

	FOR_EACH_ATTR(counter, attr_payload(counters), end)
		found += parse_entry(counter, c);
	return found;
}

/*
 * Find the counters in a netlink reply. Returns false if any is missing.
 * @len: length of @msg in bytes
 */
bool inc_hw_counters_parse(const void *msg, size_t len, struct inc_hw_counts *c)
{
	const struct nlmsghdr *nlh = msg;
	const struct nlattr *a;
	int found = 0;

	*c = (struct inc_hw_counts) { 0 };
	if (len < NLMSG_HDRLEN || nlh->nlmsg_len > len ||
	    nlh->nlmsg_len < NLMSG_HDRLEN ||
	    nlh->nlmsg_type != RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						RDMA_NLDEV_CMD_STAT_GET))
		return false;
	FOR_EACH_ATTR(a, (const char *)msg + NLMSG_HDRLEN,
		      (const char *)msg + nlh->nlmsg_len)
		if ((a->nla_type & NLA_TYPE_MASK) ==
		    RDMA_NLDEV_ATTR_STAT_HWCOUNTERS)
			found += parse_entries(a, c);
	return found == 6;
}

static bool ask_kernel(const struct inc_hw_counters *l)
{
	struct {
		struct nlmsghdr	nlh;
		struct nlattr	dev_hdr;
		uint32_t	dev;
		struct nlattr	port_hdr;
		uint32_t	port;
	} req = {
		.nlh = {
			.nlmsg_len = sizeof(req),
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						       RDMA_NLDEV_CMD_STAT_GET),
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.dev_hdr = { NLA_HDRLEN + 4, RDMA_NLDEV_ATTR_DEV_INDEX },
		.dev = l->dev,
		.port_hdr = { NLA_HDRLEN + 4, RDMA_NLDEV_ATTR_PORT_INDEX },
		.port = l->port,
	};

	return send(l->fd, &req, sizeof(req), 0) == sizeof(req);
}

static bool read_counts(struct inc_hw_counters *l, struct inc_hw_counts *c)
{
	uint32_t buf[2048];
	ssize_t n;

	if (l->fd < 0 || !ask_kernel(l))
		return false;
	n = recv(l->fd, buf, sizeof(buf), MSG_DONTWAIT);
	if (n >= 0 && inc_hw_counters_parse(buf, (size_t)n, c))
		return true;
	/* No such counters: not an rxe device, or an older kernel. */
	l->fd = -1;
	return false;
}

/*
 * Count packets lost between two readings. An rxe sends a NAK for a late
 * packet, too, as from a switch with several CPUs. A late packet still arrives,
 * so its retransmission is a duplicate; a lost packet's is not. RC retransmits
 * in both cases; but with few late packets and no lost ones, RC is still faster
 * than UC. Returns the number of packets.
 */
uint64_t inc_hw_counts_lost(const struct inc_hw_counts *now,
			    const struct inc_hw_counts *last)
{
	uint64_t holes = now->holes - last->holes;
	uint64_t duplicates = now->duplicates - last->duplicates;

	return now->naks - last->naks +
	       (holes > duplicates ? holes - duplicates : holes / LATE);
}

/*
 * Read the counters. The kernel replies before the send returns. Returns the
 * maximum packets to have in flight; 0: unlimited.
 */
unsigned int inc_hw_counters_read(struct inc_hw_counters *l)
{
	struct inc_hw_counts c;
	uint64_t naks;

	l->new_lost = 0;
	l->new_packets = 0;
	if (!read_counts(l, &c))
		return 0;
	if (!l->begun) {
		l->unsent = c.unsent;
		l->last = c;
	}
	l->begun = true;
	naks = c.naks - l->last.naks + c.holes - l->last.holes;
	l->new_lost = inc_hw_counts_lost(&c, &l->last);
	l->new_packets = c.packets - l->last.packets;
	l->last = c;
	return inc_hw_counters_add(l, naks, l->new_packets);
}

/*
 * Read how many packets a device could not send. Returns their number, 0
 * if unknown.
 * @dev: index of the device, negative if it has none
 */
uint64_t inc_hw_counters_unsent(int dev, unsigned int port)
{
	struct inc_hw_counts c = { 0 };
	int fd = inc_hw_counters_socket();
	struct inc_hw_counters l;

	inc_hw_counters_open(&l, fd, dev, port);
	if (!read_counts(&l, &c))
		c.unsent = 0;
	if (fd >= 0)
		close(fd);
	return c.unsent;
}
