/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a tree has failed, for requests after it is gone.
 */
#ifndef _INC_FAILURE_H
#define _INC_FAILURE_H

#include <linux/in6.h>
#include <linux/types.h>

/**
 * struct inc_failure - how a tree has failed
 * @tree: its ID; 0: it has not
 * @status: enum inc_status
 * @pmtu: path MTU, bytes
 * @at: milliseconds, boot time
 * @family: of @peer; 0: no member was lost
 * @uplink: it is the parent that was lost
 * @rank: else the member's
 * @error: enum rdma_inc_member_error
 * @peer: its address
 */
struct inc_failure {
	u32			tree;
	u8			status;
	u16			pmtu;
	u64			at;
	u16			family;
	bool			uplink;
	u16			rank;
	u8			error;
	struct in6_addr		peer;
};

#endif /* _INC_FAILURE_H */
