// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Tests whether a process has all it needs to use the switch, without a tree.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_inc.h"

/*
 * Over RC, libinc has no more messages in flight, whichever operations they
 * belong to. The daemon's own number of slots would cost eight times as much of
 * the switch's memory.
 */
#define SLOTS		32

/*
 * Returns the number of slots for a tree; 0: libinc chooses. Over UC, a message
 * is one packet, and many are in flight.
 */
unsigned int coll_inc_slots(void)
{
	const char *transport = getenv("INC_TRANSPORT");

	return transport && !strcmp(transport, "uc") ? 0 : SLOTS;
}

/*
 * Find the reason that goes with an error of libinc.
 * @err: 0 or a negative errno value, of a rank that wanted a tree
 */
enum coll_inc_why coll_inc_why_of(int err)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
	case -ENOBUFS:
		return COLL_INC_FULL;
	case -ETIMEDOUT:
	case -ECONNRESET:
		return COLL_INC_LATE;
	case -ENODEV:
		return COLL_INC_NO_DEVICE;
	case -ECONNREFUSED:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return COLL_INC_NO_DAEMON;
	default:
		return COLL_INC_NO_TREE;
	}
}

/*
 * Test whether this process can use the switch. Context: any thread. May take
 * as long as a meeting. Returns COLL_INC_GOES, or why not.
 * @said: set to libinc's message if it cannot
 */
enum coll_inc_why coll_inc_check(const char *server, char said[COLL_INC_SAID])
{
	struct inc_comm_opts opts = INC_COMM_OPTS_INIT;
	int ret;

	*said = '\0';
	opts.server = *server ? server : NULL;
	opts.job = "check";
	opts.rank = 0;
	opts.nranks = 1;
	opts.tree.slots = coll_inc_slots();
	opts.reg = INC_REG_EACH;
	opts.join_timeout_ms = (unsigned int)coll_inc_params.join_timeout_ms;
	opts.errbuf = said;
	opts.errbuf_len = COLL_INC_SAID;
	ret = inc_comm_check(&opts);
	if (!ret)
		return COLL_INC_GOES;
	if (!*said)
		snprintf(said, COLL_INC_SAID, "%s", inc_strerror(ret));
	/* A timeout here can only be the daemon's. */
	return ret == -ETIMEDOUT ? COLL_INC_NO_DAEMON : coll_inc_why_of(ret);
}
