// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Names of counters, states and numbers on the wire: those of the YNL spec and
 * of <linux/rdma_inc_proto.h>.
 */
#include "common.h"
#include "nl.h"
#include "lib/base/proto-names.h"

static const char *const switch_stats[] = {
	[RDMA_INC_A_SWITCH_STATS_RX_SHORT] = "rx-short",
	[RDMA_INC_A_SWITCH_STATS_RX_UDP_CHECKSUM] = "rx-udp-checksum",
	[RDMA_INC_A_SWITCH_STATS_RX_IP_OPTIONS] = "rx-ip-options",
	[RDMA_INC_A_SWITCH_STATS_RX_ICRC] = "rx-icrc",
	[RDMA_INC_A_SWITCH_STATS_RX_OPCODE] = "rx-opcode",
	[RDMA_INC_A_SWITCH_STATS_RX_BTH] = "rx-bth",
	[RDMA_INC_A_SWITCH_STATS_RX_NO_QP] = "rx-no-qp",
	[RDMA_INC_A_SWITCH_STATS_RX_SOURCE] = "rx-source",
	[RDMA_INC_A_SWITCH_STATS_RX_PKEY] = "rx-pkey",
	[RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY] = "rx-no-memory",
	[RDMA_INC_A_SWITCH_STATS_TX_NO_MEMORY] = "tx-no-memory",
	[RDMA_INC_A_SWITCH_STATS_TX_ROUTE] = "tx-route",
	[RDMA_INC_A_SWITCH_STATS_TX_ERROR] = "tx-error",
	[RDMA_INC_A_SWITCH_STATS_RX_INGRESS] = "rx-ingress",
	[RDMA_INC_A_SWITCH_STATS_RX_POLICY] = "rx-policy",
};

static const char *const tree_stats[] = {
	[RDMA_INC_A_TREE_STATS_MESSAGES] = "messages",
	[RDMA_INC_A_TREE_STATS_FAILED] = "failed",
	[RDMA_INC_A_TREE_STATS_CHUNKS] = "chunks",
	[RDMA_INC_A_TREE_STATS_REDUCED_BYTES] = "reduced-bytes",
	[RDMA_INC_A_TREE_STATS_PASSED_BYTES] = "passed-bytes",
};

static const char *const member_stats[] = {
	[RDMA_INC_A_MEMBER_STATS_RX_PACKETS] = "rx-packets",
	[RDMA_INC_A_MEMBER_STATS_RX_BYTES] = "rx-bytes",
	[RDMA_INC_A_MEMBER_STATS_RX_MESSAGES] = "rx-messages",
	[RDMA_INC_A_MEMBER_STATS_RX_WIRE_BYTES] = "rx-wire-bytes",
	[RDMA_INC_A_MEMBER_STATS_RX_DUPLICATES] = "rx-duplicates",
	[RDMA_INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE] = "rx-out-of-sequence",
	[RDMA_INC_A_MEMBER_STATS_RX_OOO_QUEUED] = "rx-ooo-queued",
	[RDMA_INC_A_MEMBER_STATS_RX_DISCARDED] = "rx-discarded",
	[RDMA_INC_A_MEMBER_STATS_RX_ACKS] = "rx-acks",
	[RDMA_INC_A_MEMBER_STATS_RX_NAKS] = "rx-naks",
	[RDMA_INC_A_MEMBER_STATS_RX_RNR_NAKS] = "rx-rnr-naks",
	[RDMA_INC_A_MEMBER_STATS_RX_BAD_REQUEST] = "rx-bad-request",
	[RDMA_INC_A_MEMBER_STATS_RX_BAD_RESPONSE] = "rx-bad-response",
	[RDMA_INC_A_MEMBER_STATS_RX_IN_ERROR] = "rx-in-error",
	[RDMA_INC_A_MEMBER_STATS_RX_COPIED] = "rx-copied",
	[RDMA_INC_A_MEMBER_STATS_TX_PACKETS] = "tx-packets",
	[RDMA_INC_A_MEMBER_STATS_TX_BYTES] = "tx-bytes",
	[RDMA_INC_A_MEMBER_STATS_TX_MESSAGES] = "tx-messages",
	[RDMA_INC_A_MEMBER_STATS_TX_WIRE_BYTES] = "tx-wire-bytes",
	[RDMA_INC_A_MEMBER_STATS_TX_RETRANSMITS] = "tx-retransmits",
	[RDMA_INC_A_MEMBER_STATS_TX_TIMEOUTS] = "tx-timeouts",
	[RDMA_INC_A_MEMBER_STATS_TX_ACKS] = "tx-acks",
	[RDMA_INC_A_MEMBER_STATS_TX_NAKS] = "tx-naks",
	[RDMA_INC_A_MEMBER_STATS_TX_RNR_NAKS] = "tx-rnr-naks",
	[RDMA_INC_A_MEMBER_STATS_TX_PROBES] = "tx-probes",
	[RDMA_INC_A_MEMBER_STATS_TX_ERRORS] = "tx-errors",
	[RDMA_INC_A_MEMBER_STATS_RX_REDUNDANT] = "rx-redundant",
	[RDMA_INC_A_MEMBER_STATS_RX_GAPS] = "rx-gaps",
	[RDMA_INC_A_MEMBER_STATS_RX_QUERIES] = "rx-queries",
	[RDMA_INC_A_MEMBER_STATS_TX_RESEND_REPLIES] = "tx-resend-replies",
	[RDMA_INC_A_MEMBER_STATS_TX_PENDING_REPLIES] = "tx-pending-replies",
	[RDMA_INC_A_MEMBER_STATS_RX_DEFERRED] = "rx-deferred",
	[RDMA_INC_A_MEMBER_STATS_RX_UNTRUSTED] = "rx-untrusted",
};

_Static_assert(ARRAY_SIZE(switch_stats) == RDMA_INC_A_SWITCH_STATS_MAX + 1,
	       "spec");
_Static_assert(ARRAY_SIZE(tree_stats) == RDMA_INC_A_TREE_STATS_MAX + 1, "spec");
_Static_assert(ARRAY_SIZE(member_stats) == RDMA_INC_A_MEMBER_STATS_MAX + 1,
	       "spec");

static const char *const transports[] = {
	[RDMA_INC_TRANSPORT_RC] = "rc",
	[RDMA_INC_TRANSPORT_UC] = "uc",
};

static const char *const orders[] = {
	[RDMA_INC_ORDER_RANKS] = "ranks",
	[RDMA_INC_ORDER_ARRIVAL] = "arrival",
};

static const char *const roles[] = {
	[RDMA_INC_ROLE_ROOT] = "root",
	[RDMA_INC_ROLE_CHILD] = "child",
};

static const char *const tree_states[] = {
	[RDMA_INC_TREE_STATE_FORMING] = "forming",
	[RDMA_INC_TREE_STATE_READY] = "ready",
	[RDMA_INC_TREE_STATE_FAILED] = "failed",
};

static const char *const member_states[] = {
	[RDMA_INC_MEMBER_STATE_RTS] = "rts",
	[RDMA_INC_MEMBER_STATE_ERROR] = "error",
	[RDMA_INC_MEMBER_STATE_INIT] = "init",
};

static const char *const member_errors[] = {
	[RDMA_INC_MEMBER_ERROR_NONE] = "none",
	[RDMA_INC_MEMBER_ERROR_RETRY_EXCEEDED] = "retry-exceeded",
	[RDMA_INC_MEMBER_ERROR_RNR_RETRY_EXCEEDED] = "rnr-retry-exceeded",
	[RDMA_INC_MEMBER_ERROR_REMOTE_INVALID_REQUEST] =
		"remote-invalid-request",
	[RDMA_INC_MEMBER_ERROR_REMOTE_ACCESS] = "remote-access",
	[RDMA_INC_MEMBER_ERROR_REMOTE_OPERATIONAL] = "remote-operational",
	[RDMA_INC_MEMBER_ERROR_LOCAL_INVALID_REQUEST] = "local-invalid-request",
	[RDMA_INC_MEMBER_ERROR_LOCAL_ACCESS] = "local-access",
};

static const char *const slot_states[] = {
	[RDMA_INC_SLOT_STATE_IDLE] = "idle",
	[RDMA_INC_SLOT_STATE_BUSY] = "busy",
	[RDMA_INC_SLOT_STATE_DONE] = "done",
	[RDMA_INC_SLOT_STATE_FAILED] = "failed",
};

static const char *const events[] = {
	[RDMA_INC_CMD_TREE_NEW_NTF] = "tree-new",
	[RDMA_INC_CMD_TREE_DEL_NTF] = "tree-del",
	[RDMA_INC_CMD_TREE_READY_NTF] = "tree-ready",
	[RDMA_INC_CMD_TREE_FAILED_NTF] = "tree-failed",
	[RDMA_INC_CMD_MEMBER_NEW_NTF] = "member-new",
	[RDMA_INC_CMD_MEMBER_DEL_NTF] = "member-del",
	[RDMA_INC_CMD_MEMBER_ERROR_NTF] = "member-error",
	[RDMA_INC_CMD_SLOT_FAILED_NTF] = "slot-failed",
};

static const char *const statuses[] = {
	[INC_STATUS_OK] = "ok",
	[INC_STATUS_VERSION] = "version",
	[INC_STATUS_COLLECTIVE] = "collective",
	[INC_STATUS_DTYPE] = "dtype",
	[INC_STATUS_TREE_ID] = "tree-id",
	[INC_STATUS_MSG_ID] = "msg-id",
	[INC_STATUS_LENGTH] = "length",
	[INC_STATUS_MISMATCH] = "mismatch",
	[INC_STATUS_ROOT] = "root",
	[INC_STATUS_PEER_DEAD] = "peer-dead",
	[INC_STATUS_TREE_GONE] = "tree-gone",
	[INC_STATUS_MEMBER_LEFT] = "member-left",
	[INC_STATUS_RESEND] = "resend",
	[INC_STATUS_PENDING] = "pending",
};

#define NAME_OF(fn, table)						\
	const char *fn(unsigned int n)					\
	{								\
		return n < ARRAY_SIZE(table) ? (table)[n] : NULL;	\
	}

NAME_OF(inc_nl_switch_stat_name, switch_stats)
NAME_OF(inc_nl_tree_stat_name, tree_stats)
NAME_OF(inc_nl_member_stat_name, member_stats)
NAME_OF(inc_nl_tree_state_name, tree_states)
NAME_OF(inc_nl_member_state_name, member_states)
NAME_OF(inc_nl_member_error_name, member_errors)
NAME_OF(inc_nl_slot_state_name, slot_states)
NAME_OF(inc_nl_role_name, roles)
NAME_OF(inc_nl_transport_name, transports)
NAME_OF(inc_nl_order_name, orders)
NAME_OF(inc_nl_event_name, events)
NAME_OF(inc_nl_collective_name, inc_collectives)
NAME_OF(inc_nl_op_name, inc_ops)
NAME_OF(inc_nl_status_name, statuses)

const char *inc_nl_dtype_name(unsigned int n)
{
	return n < ARRAY_SIZE(inc_dtypes) ? inc_dtypes[n].name : NULL;
}
