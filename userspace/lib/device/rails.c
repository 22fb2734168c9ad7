// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Finds the switch's addresses that this host reaches over a second device. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rails.h"
#include "rdma_inc_proto.h"
#include "verbs.h"

/* Ask the kernel from which address packets to @peer are sent. */
static bool find_source(const struct inc_rdv_addr *peer,
			struct inc_rdv_addr *source)
{
	struct sockaddr_storage ss;
	socklen_t len = inc_rdv_addr_to_sockaddr(peer, INC_UDP_PORT, &ss);
	bool found;
	int fd;

	fd = socket(ss.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	found = !connect(fd, (struct sockaddr *)&ss, len);
	len = sizeof(ss);
	found = found && !getsockname(fd, (struct sockaddr *)&ss, &len) &&
		!inc_rdv_addr_from_sockaddr((struct sockaddr *)&ss, source);
	close(fd);
	return found;
}

/* Do ports have the same speed? A slow rail would delay the whole operation. */
static bool is_as_fast(const struct inc_dev *a, const struct inc_dev *b)
{
	struct ibv_port_attr p, q;

	return !ibv_query_port(a->ctx, a->port, &p) &&
	       !ibv_query_port(b->ctx, b->port, &q) &&
	       p.active_speed == q.active_speed &&
	       p.active_width == q.active_width;
}

static bool has_second(const struct inc_dev *first,
		       const struct inc_rdv_addr *peer)
{
	struct inc_dev_sel sel = { .gid_index = -1 };
	char err[INC_RDV_TEXT_MAX];
	struct inc_dev dev;
	bool second;

	if (!find_source(peer, &sel.addr) ||
	    inc_dev_open(&dev, &sel, err, sizeof(err)))
		return false;
	second = dev.hca != first->hca && dev.addr.len == sel.addr.len &&
		 !memcmp(dev.addr.bytes, sel.addr.bytes, sel.addr.len) &&
		 is_as_fast(&dev, first);
	inc_dev_close(&dev);
	return second;
}

/* Are there several devices? Most hosts have only one. */
static bool has_several(void)
{
	struct ibv_device **list;
	int n = 0;

	list = ibv_get_device_list(&n);
	if (list)
		ibv_free_device_list(list);
	return n > 1;
}

/* Get an address of a list. Returns false if there are no more. */
bool inc_rails_at(const char *list, unsigned int i, struct inc_rdv_addr *addr)
{
	char text[64];

	for (; i && list; i--) {
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	if (!list || !*list)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(list, ","), list);
	return !inc_rdv_addr_parse(text, addr);
}

/*
 * Find the addresses of a switch that a second device reaches. Returns their
 * mask: the kernel must send to them from a GID of another device of the same
 * speed.
 */
uint32_t inc_rails_reach(const struct inc_dev *first, const char *list)
{
	struct inc_rdv_addr addr;
	uint32_t mask = 0;
	unsigned int i;

	if (!*list || !has_several())
		return 0;
	for (i = 0; i < INC_RDV_RAILS_MAX && inc_rails_at(list, i, &addr); i++)
		if (has_second(first, &addr))
			mask |= 1U << i;
	return mask;
}
