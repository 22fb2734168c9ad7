// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The maximum in flight, from counters in netlink replies that the test makes.
 */
#include <string.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "device/hw_counters.h"
#include "test.h"

static _Alignas(4) char msg[1024];
static size_t msg_len;

static size_t put(int type, const void *data, size_t len)
{
	struct nlattr *a = (struct nlattr *)(msg + msg_len);
	size_t at = msg_len;

	a->nla_type = (uint16_t)type;
	a->nla_len = (uint16_t)(NLA_HDRLEN + len);
	memcpy(a + 1, data, len);
	msg_len += NLA_ALIGN(a->nla_len);
	return at;
}

static void end(size_t at)
{
	((struct nlattr *)(msg + at))->nla_len = (uint16_t)(msg_len - at);
}

static void put_counter(const char *name, uint64_t value)
{
	size_t at = put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY | NLA_F_NESTED,
			"", 0);

	put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name, strlen(name) + 1);
	put(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, &value, sizeof(value));
	end(at);
}

static void make_answer(void)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)msg;
	uint32_t dev = 3;
	size_t at;

	memset(msg, 0, sizeof(msg));
	msg_len = NLMSG_HDRLEN;
	put(RDMA_NLDEV_ATTR_DEV_INDEX, &dev, sizeof(dev));
	at = put(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, "", 0);
	put_counter("sent_pkts", 1ULL << 40);
	put_counter("rcvd_pkts", 7);
	put_counter("duplicate_request", 1000);
	put_counter("out_of_seq_request", 5);
	put_counter("rcvd_seq_err", 6);
	put_counter("send_err", 3);
	end(at);
	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
					   RDMA_NLDEV_CMD_STAT_GET);
	nlh->nlmsg_len = (uint32_t)msg_len;
}

static void steady(unsigned int one_in, unsigned int least, unsigned int most)
{
	struct inc_hw_counters l = { 0 };
	unsigned int flight = 0, i;

	for (i = 0; i < 100; i++)
		flight = inc_hw_counters_add(&l, 1, one_in);
	OK(flight >= least && flight <= most);
	/* The same if several losses are found at once, */
	for (i = 0; i < 20; i++)
		flight = inc_hw_counters_add(&l, 8, 8 * one_in);
	OK(flight >= least && flight <= most);
	/* or none for some time. */
	EQ(inc_hw_counters_add(&l, 0, one_in), flight);
	/* Losses are forgotten when there are no more. */
	for (i = 0; i < 100 && flight; i++)
		flight = inc_hw_counters_add(&l, 0, 1000);
	OK(i > 10 && i < 20);
}

static void law(void)
{
	struct inc_hw_counters l = { 0 };
	unsigned int i, flight;

	for (i = 0; i < 1000; i++)
		EQ(inc_hw_counters_add(&l, 0, 1000000), 0);
	/*
	 * The first loss counts, however late; rare losses do not count for
	 * long.
	 */
	EQ(inc_hw_counters_add(&l, 1, 1000000), 16);
	for (i = 0; i < 10; i++)
		flight = inc_hw_counters_add(&l, 1, 1000000);
	EQ(flight, 0);
	steady(100, 4, 5);
	steady(1000, 15, 15);
	steady(20, 2, 2);
	/* All packets are lost: still one in flight. */
	l = (struct inc_hw_counters) { 0 };
	EQ(inc_hw_counters_add(&l, 1000, 10), 1);
	EQ(inc_hw_counters_add(&l, UINT64_MAX, 10), 1);
	/* The largest numbers of a device. */
	l = (struct inc_hw_counters) { 0 };
	EQ(inc_hw_counters_add(&l, 1, 1ULL << 40), 16);
	for (i = 0; i < 100; i++)
		EQ(inc_hw_counters_add(&l, 0, 1ULL << 40), 0);
}

static void counters(void)
{
	struct inc_hw_counts c;
	struct inc_hw_counters l;
	size_t i;
	int fd;

	make_answer();
	OK(inc_hw_counters_parse(msg, msg_len, &c));
	EQ(c.naks, 6);
	EQ(c.holes, 5);
	EQ(c.duplicates, 1000);
	EQ(c.packets, (1ULL << 40) + 7);
	EQ(c.unsent, 3);
	/* A truncated reply is refused, and nothing beyond it is read. */
	for (i = 0; i < msg_len; i++) {
		char *cut = malloc(i);

		memcpy(cut, msg, i);
		OK(!inc_hw_counters_parse(cut, i, &c));
		free(cut);
	}
	/* Any byte may be wrong. */
	for (i = 0; i < msg_len; i++) {
		make_answer();
		msg[i] = (char)~msg[i];
		inc_hw_counters_parse(msg, msg_len, &c);
	}
	/* Without such a device: no limit. */
	fd = inc_hw_counters_socket();
	inc_hw_counters_open(&l, fd, -1, 1);
	EQ(inc_hw_counters_read(&l), 0);
	inc_hw_counters_open(&l, fd, 0x7fffffff, 1);
	EQ(inc_hw_counters_read(&l), 0);
	if (fd >= 0)
		close(fd);
}

/* A packet that was late is a duplicate later. */
static void late_is_not_lost(void)
{
	const struct inc_hw_counts last = { 6, 5, 1000, 0, 0 };
	struct inc_hw_counts now = last;

	EQ(inc_hw_counts_lost(&now, &last), 0);
	now.naks += 2;
	EQ(inc_hw_counts_lost(&now, &last), 2);
	now.holes += 7;
	EQ(inc_hw_counts_lost(&now, &last), 9);
	now.duplicates += 3;
	EQ(inc_hw_counts_lost(&now, &last), 6);
	now.duplicates += 30;
	EQ(inc_hw_counts_lost(&now, &last), 2);
	/* Unless many are. */
	now.holes += 57;
	now.duplicates += 100;
	EQ(inc_hw_counts_lost(&now, &last), 6);
}

static const struct test_case cases[] = {
	{ "loss: the root of packets per loss", law },
	{ "loss: from a device's counters", counters },
	{ "loss: what comes late is not lost", late_is_not_lost },
};

TEST_MAIN(cases)
