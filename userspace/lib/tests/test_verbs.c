// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Failing transitions of a queue pair: how often they are retried. Selection of
 * GIDs.
 */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "device/rails.h"
#include "device/verbs.h"
#include "test.h"

static struct ibv_device device = { .name = "fake0" };
static struct ibv_context context = { .device = &device, .async_fd = -1 };

/* Results of the attempts to move to RTR; the last one is repeated. */
static int answers[64], later;
static int rtr, rts;
static unsigned int class;
/* Peers that were sent an empty packet before the first attempt. */
static int asked;
/* A firewall does that. */
static bool refuses;
static char why[256];

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	struct sockaddr_in peer;
	socklen_t peer_len = sizeof(peer);

	(void)data;
	/* After a failure: does a packet leave this host? */
	if (rtr) {
		errno = EPERM;
		return len && refuses ? -1 : (ssize_t)len;
	}
	EQ(len, 0);
	OK(flags & MSG_DONTWAIT);
	EQ(getpeername(fd, (struct sockaddr *)&peer, &peer_len), 0);
	EQ(ntohl(peer.sin_addr.s_addr), 0x7f000005);
	EQ(ntohs(peer.sin_port), 9);
	asked++;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	OK(mask & IBV_QP_STATE);
	if (attr->qp_state == IBV_QPS_RTS) {
		rts++;
		return 0;
	}
	class = attr->ah_attr.grh.traffic_class;
	rtr++;
	if (rtr > 1000) {
		printf("# it tries for ever\n");
		exit(1);
	}
	return rtr <= 64 && answers[rtr - 1] ? answers[rtr - 1] : later;
}

static int connect_qp(void)
{
	const struct inc_dev dev = { .ctx = &context, .port = 1, .mtu = 1024 };
	const struct inc_rc rc = { .addr = { .len = 4, .bytes = { 127, 0, 0, 5 } },
				   .pmtu = 1024, .traffic_class = 0xb8 };
	struct ibv_qp qp = { .qp_type = IBV_QPT_RC };

	rtr = 0;
	rts = 0;
	asked = 0;
	return inc_qp_to_rts(&qp, &dev, &rc, why, sizeof(why));
}

/* The first five attempts fail, as the address is unresolved. */
static int connect_late(void)
{
	int i, ret;

	for (i = 0; i < 5; i++)
		answers[i] = EINVAL;
	ret = connect_qp();
	memset(answers, 0, sizeof(answers));
	return ret;
}

static void at_once(void)
{
	later = 0;
	EQ(connect_qp(), 0);
	EQ(rtr, 1);
	EQ(rts, 1);
	EQ(class, 0xb8);
	EQ(asked, 1);
}

/* The address is resolved in the end. */
static void after_a_while(void)
{
	EQ(connect_late(), 0);
	EQ(rtr, 6);
}

static void never(void)
{
	later = EINVAL;
	EQ(connect_qp(), -EINVAL);
	EQ(rtr, 20);
	later = ETIMEDOUT;
	EQ(connect_qp(), -ETIMEDOUT);
	EQ(rtr, 3);
	EQ(rts, 0);
}

/* Another error, after so many attempts, is not retried. */
static void for_another_reason(void)
{
	later = ETIMEDOUT;
	EQ(connect_late(), -ETIMEDOUT);
	EQ(rtr, 6);
	OK(strstr(why, "queue pair to 127.0.0.5"));
	refuses = true;
	EQ(connect_late(), -ETIMEDOUT);
	OK(strstr(why, "firewall"));
	refuses = false;
	later = 0;
}

static void path_mtu(void)
{
	const struct inc_dev dev = { .mtu = 1024 };
	const struct inc_rc rc = { .addr = { .len = 4 }, .pmtu = 4096 };
	struct ibv_qp qp = { .qp_type = IBV_QPT_RC };
	char err[128] = "";

	rtr = 0;
	EQ(inc_qp_to_rts(&qp, &dev, &rc, err, sizeof(err)), -EMSGSIZE);
	EQ(rtr, 0);
	OK(strstr(err, "path MTU 4096"));
}

/* --- Which GID --------------------------------------------------------- */

static struct ibv_gid_entry gids[8];
static unsigned int ngids;
static int opened, closed, lists, ndevices = 1;

struct ibv_device **ibv_get_device_list(int *n)
{
	static struct ibv_device *list[] = { &device, &device, NULL };

	lists++;
	*n = ndevices;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	(void)list;
}

const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	OK(dev == &device);
	opened++;
	return &context;
}

int ibv_close_device(struct ibv_context *ctx)
{
	OK(ctx == &context);
	closed++;
	return 0;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	(void)ctx;
	memset(attr, 0, sizeof(*attr));
	attr->phys_port_cnt = 1;
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *ctx, uint8_t port,
		   struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (void *)compat;

	(void)ctx;
	(void)port;
	attr->state = IBV_PORT_ACTIVE;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	attr->active_mtu = IBV_MTU_1024;
	attr->gid_tbl_len = 1024;
	attr->active_speed = 1;
	attr->active_width = 1;
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *ctx,
			     struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	(void)ctx;
	(void)flags;
	OK(max >= ngids && size == sizeof(gids[0]));
	memcpy(entries, gids, ngids * sizeof(gids[0]));
	return (ssize_t)ngids;
}

int _ibv_query_gid_ex(struct ibv_context *ctx, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	unsigned int i;

	(void)ctx;
	OK(port == 1 && !flags && size == sizeof(*entry));
	for (i = 0; i < ngids; i++) {
		if (gids[i].gid_index != index)
			continue;
		*entry = gids[i];
		return 0;
	}
	return ENODATA;
}

static void add_gid(uint32_t index, const char *text)
{
	struct ibv_gid_entry *e = &gids[ngids++];
	struct inc_rdv_addr addr;

	EQ(inc_rdv_addr_parse(text, &addr), 0);
	memset(e, 0, sizeof(*e));
	e->gid_index = index;
	e->port_num = 1;
	e->gid_type = IBV_GID_TYPE_ROCE_V2;
	if (addr.len == 16) {
		memcpy(e->gid.raw, addr.bytes, 16);
	} else {
		memset(e->gid.raw + 10, 0xff, 2);
		memcpy(e->gid.raw + 12, addr.bytes, 4);
	}
}

/* The index chosen for a connection from this address. */
static int choose(const char *local, int index)
{
	struct inc_dev_sel sel = { .gid_index = index };
	struct inc_dev dev;
	char err[256] = "";
	int ret;

	if (local)
		EQ(inc_rdv_addr_parse(local, &sel.addr), 0);
	ret = inc_dev_open(&dev, &sel, err, sizeof(err));
	if (ret) {
		OK(*err);
		return ret;
	}
	ret = dev.gid_index;
	inc_dev_close(&dev);
	return ret;
}

static void which_gid(void)
{
	ngids = 0;
	add_gid(0, "fe80::1");
	EQ(choose("fe80::2", -1), 0);
	EQ(choose("10.0.0.1", -1), -ENODEV);
	add_gid(1, "10.0.0.1");
	EQ(choose("10.0.0.1", -1), 1);
	EQ(choose("10.0.0.2", -1), 1);
	/* The daemon was reached from an address that no device has. */
	EQ(choose("::1", -1), 1);
	EQ(choose("2001:db8::1", -1), 1);
	EQ(choose("fe80::1", -1), 0);
	add_gid(2, "2001:db8::2");
	EQ(choose("2001:db8::1", -1), 2);
	EQ(choose("10.0.0.2", -1), 1);
	EQ(choose(NULL, -1), 1);
	EQ(choose("10.0.0.1", 2), 2);
	EQ(choose("10.0.0.1", 3), -ENODEV);
	EQ(opened, closed);
}

/* verbs would take 256 for 0. */
static void large_index(void)
{
	ngids = 0;
	add_gid(0, "10.0.0.9");
	add_gid(256, "10.0.0.1");
	EQ(choose("10.0.0.1", -1), 0);
	EQ(choose("10.0.0.1", 256), -EINVAL);
	EQ(choose("10.0.0.1", 255), -ENODEV);
}

/* All communicators of a process share one open device. */
static void shared(void)
{
	struct inc_dev_sel sel = { .gid_index = -1 };
	struct inc_dev a, b;
	char err[256];

	opened = 0;
	closed = 0;
	EQ(inc_dev_open(&a, &sel, err, sizeof(err)), 0);
	EQ(inc_dev_open(&b, &sel, err, sizeof(err)), 0);
	OK(a.ctx == b.ctx);
	EQ(opened, 1);
	inc_dev_close(&a);
	EQ(closed, 0);
	inc_dev_close(&b);
	EQ(closed, 1);
}

/* Another communicator does not search again, unless the GID has changed. */
static void again(void)
{
	struct inc_dev_sel sel = { .gid_index = -1 };
	struct inc_dev a, b;
	char err[256];

	ngids = 0;
	add_gid(0, "fe80::1");
	add_gid(1, "10.0.0.1");
	EQ(inc_rdv_addr_parse("10.0.0.1", &sel.addr), 0);
	lists = 0;
	EQ(inc_dev_open(&a, &sel, err, sizeof(err)), 0);
	EQ(inc_dev_open(&b, &sel, err, sizeof(err)), 0);
	EQ(lists, 1);
	EQ(b.gid_index, 1);
	EQ(b.mtu, a.mtu);
	OK(b.port == a.port && b.hca == a.hca);
	OK(!memcmp(&b.addr, &a.addr, sizeof(a.addr)));
	inc_dev_close(&b);
	sel.dev = "other";
	EQ(inc_dev_open(&b, &sel, err, sizeof(err)), -ENODEV);
	sel.dev = "fake0";
	sel.port = 2;
	EQ(inc_dev_open(&b, &sel, err, sizeof(err)), -ENODEV);
	sel.port = 0;
	/* Its address has moved to another index, its index to another one. */
	ngids = 0;
	add_gid(1, "10.0.0.7");
	add_gid(4, "10.0.0.1");
	EQ(inc_dev_open(&b, &sel, err, sizeof(err)), 0);
	EQ(b.gid_index, 4);
	inc_dev_close(&b);
	EQ(inc_rdv_addr_parse("10.0.0.7", &sel.addr), 0);
	EQ(inc_dev_open(&b, &sel, err, sizeof(err)), 0);
	EQ(b.gid_index, 1);
	inc_dev_close(&b);
	inc_dev_close(&a);
	lists = 0;
	EQ(choose("10.0.0.1", -1), 4);
	EQ(lists, 1);
}

static bool is_at(const char *list, unsigned int i, const char *text)
{
	struct inc_rdv_addr addr, want;

	EQ(inc_rdv_addr_parse(text, &want), 0);
	return inc_rails_at(list, i, &addr) && addr.len == want.len &&
	       !memcmp(addr.bytes, want.bytes, want.len);
}

/* What is reached from an address of another device, the only one here. */
static void second_device(void)
{
	static const char list[] = "10.0.0.1,2001:db8::1,127.0.0.1";
	struct inc_hca first_hca;
	const struct inc_dev first = {
		.hca = &first_hca, .ctx = &context, .port = 1,
	};
	struct inc_rdv_addr addr;
	struct inc_dev same;
	struct inc_dev_sel sel = { .gid_index = -1 };
	char err[256];

	OK(is_at(list, 0, "10.0.0.1"));
	OK(is_at(list, 1, "2001:db8::1"));
	OK(is_at(list, 2, "127.0.0.1"));
	OK(!inc_rails_at(list, 3, &addr));
	OK(!inc_rails_at("", 0, &addr));
	ngids = 0;
	add_gid(0, "10.9.9.9");
	EQ(inc_rails_reach(&first, list), 0);
	add_gid(1, "127.0.0.1");
	EQ(inc_rails_reach(&first, list), 0);
	ndevices = 2;
	EQ(inc_rails_reach(&first, list), 4);
	EQ(inc_rails_reach(&first, ""), 0);
	EQ(inc_dev_open(&same, &sel, err, sizeof(err)), 0);
	EQ(inc_rails_reach(&same, list), 0);
	ndevices = 1;
	inc_dev_close(&same);
}

static const struct test_case cases[] = {
	{ "which GID", which_gid },
	{ "a GID beyond what verbs takes", large_index },
	{ "one device for all", shared },
	{ "the same device again", again },
	{ "addresses that a second device reaches", second_device },
	{ "at once", at_once },
	{ "after a while", after_a_while },
	{ "never", never },
	{ "never, for another reason than at first", for_another_reason },
	{ "path MTU", path_mtu },
};

TEST_MAIN(cases)
