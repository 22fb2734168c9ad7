// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Transitions of a queue pair that fail: how often they are tried.
 */
#include <errno.h>
#include <string.h>

#include "test.h"
#include "verbs.h"

/* What a device says to each try of RTR, and to all after these. */
static int answers[64], later;
static int rtr, rts;

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	OK(mask & IBV_QP_STATE);
	if (attr->qp_state == IBV_QPS_RTS) {
		rts++;
		return 0;
	}
	rtr++;
	if (rtr > 1000) {
		printf("# it tries for ever\n");
		exit(1);
	}
	return rtr <= 64 && answers[rtr - 1] ? answers[rtr - 1] : later;
}

static int connect_qp(void)
{
	const struct inc_dev dev = { .mtu = 1024 };
	const struct inc_rc rc = { .addr = { .len = 4 }, .pmtu = 1024 };
	struct ibv_qp qp = { .qp_type = IBV_QPT_RC };
	char err[128];

	rtr = 0;
	rts = 0;
	return inc_qp_to_rts(&qp, &dev, &rc, err, sizeof(err));
}

/* The first five tries fail for want of an address. */
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

/* What fails slowly was quick to fail before. */
static void for_another_reason(void)
{
	later = ETIMEDOUT;
	EQ(connect_late(), -ETIMEDOUT);
	EQ(rtr, 6);
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

static const struct test_case cases[] = {
	{ "at once", at_once },
	{ "after a while", after_a_while },
	{ "never", never },
	{ "never, for another reason than at first", for_another_reason },
	{ "path MTU", path_mtu },
};

TEST_MAIN(cases)
