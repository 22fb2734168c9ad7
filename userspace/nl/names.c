// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Names of counters, states and numbers on the wire: those of the YNL spec and
 * of <linux/inc_proto.h>.
 */
#include "common.h"
#include "nl.h"
#include "lib/base/proto-names.h"

static const char *const switch_stats[] = {
	[INC_A_SWITCH_STATS_RX_SHORT] = "rx-short",
	[INC_A_SWITCH_STATS_RX_UDP_CHECKSUM] = "rx-udp-checksum",
	[INC_A_SWITCH_STATS_RX_IP_OPTIONS] = "rx-ip-options",
	[INC_A_SWITCH_STATS_RX_ICRC] = "rx-icrc",
	[INC_A_SWITCH_STATS_RX_OPCODE] = "rx-opcode",
	[INC_A_SWITCH_STATS_RX_BTH] = "rx-bth",
	[INC_A_SWITCH_STATS_RX_NO_QP] = "rx-no-qp",
	[INC_A_SWITCH_STATS_RX_SOURCE] = "rx-source",
	[INC_A_SWITCH_STATS_RX_PKEY] = "rx-pkey",
	[INC_A_SWITCH_STATS_RX_NO_MEMORY] = "rx-no-memory",
	[INC_A_SWITCH_STATS_TX_NO_MEMORY] = "tx-no-memory",
	[INC_A_SWITCH_STATS_TX_ROUTE] = "tx-route",
	[INC_A_SWITCH_STATS_TX_ERROR] = "tx-error",
	[INC_A_SWITCH_STATS_RX_INGRESS] = "rx-ingress",
	[INC_A_SWITCH_STATS_RX_POLICY] = "rx-policy",
};

static const char *const tree_stats[] = {
	[INC_A_TREE_STATS_MESSAGES] = "messages",
	[INC_A_TREE_STATS_FAILED] = "failed",
	[INC_A_TREE_STATS_CHUNKS] = "chunks",
	[INC_A_TREE_STATS_REDUCED_BYTES] = "reduced-bytes",
	[INC_A_TREE_STATS_PASSED_BYTES] = "passed-bytes",
};

static const char *const member_stats[] = {
	[INC_A_MEMBER_STATS_RX_PACKETS] = "rx-packets",
	[INC_A_MEMBER_STATS_RX_BYTES] = "rx-bytes",
	[INC_A_MEMBER_STATS_RX_MESSAGES] = "rx-messages",
	[INC_A_MEMBER_STATS_RX_WIRE_BYTES] = "rx-wire-bytes",
	[INC_A_MEMBER_STATS_RX_DUPLICATES] = "rx-duplicates",
	[INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE] = "rx-out-of-sequence",
	[INC_A_MEMBER_STATS_RX_KEPT] = "rx-kept",
	[INC_A_MEMBER_STATS_RX_DISCARDED] = "rx-discarded",
	[INC_A_MEMBER_STATS_RX_ACKS] = "rx-acks",
	[INC_A_MEMBER_STATS_RX_NAKS] = "rx-naks",
	[INC_A_MEMBER_STATS_RX_RNR_NAKS] = "rx-rnr-naks",
	[INC_A_MEMBER_STATS_RX_BAD_REQUEST] = "rx-bad-request",
	[INC_A_MEMBER_STATS_RX_BAD_RESPONSE] = "rx-bad-response",
	[INC_A_MEMBER_STATS_RX_IN_ERROR] = "rx-in-error",
	[INC_A_MEMBER_STATS_RX_COPIED] = "rx-copied",
	[INC_A_MEMBER_STATS_TX_PACKETS] = "tx-packets",
	[INC_A_MEMBER_STATS_TX_BYTES] = "tx-bytes",
	[INC_A_MEMBER_STATS_TX_MESSAGES] = "tx-messages",
	[INC_A_MEMBER_STATS_TX_WIRE_BYTES] = "tx-wire-bytes",
	[INC_A_MEMBER_STATS_TX_RETRANSMITS] = "tx-retransmits",
	[INC_A_MEMBER_STATS_TX_TIMEOUTS] = "tx-timeouts",
	[INC_A_MEMBER_STATS_TX_ACKS] = "tx-acks",
	[INC_A_MEMBER_STATS_TX_NAKS] = "tx-naks",
	[INC_A_MEMBER_STATS_TX_RNR_NAKS] = "tx-rnr-naks",
	[INC_A_MEMBER_STATS_TX_PROBES] = "tx-probes",
	[INC_A_MEMBER_STATS_TX_ERRORS] = "tx-errors",
	[INC_A_MEMBER_STATS_RX_REPEATED] = "rx-repeated",
	[INC_A_MEMBER_STATS_RX_GAPS] = "rx-gaps",
	[INC_A_MEMBER_STATS_RX_ASKED] = "rx-asked",
	[INC_A_MEMBER_STATS_TX_SEND_AGAIN] = "tx-send-again",
	[INC_A_MEMBER_STATS_TX_WAIT] = "tx-wait",
	[INC_A_MEMBER_STATS_RX_DEFERRED] = "rx-deferred",
	[INC_A_MEMBER_STATS_RX_UNTRUSTED] = "rx-untrusted",
};

_Static_assert(ARRAY_SIZE(switch_stats) == INC_A_SWITCH_STATS_MAX + 1, "spec");
_Static_assert(ARRAY_SIZE(tree_stats) == INC_A_TREE_STATS_MAX + 1, "spec");
_Static_assert(ARRAY_SIZE(member_stats) == INC_A_MEMBER_STATS_MAX + 1, "spec");

static const char *const transports[] = {
	[INC_TRANSPORT_RC] = "rc",
	[INC_TRANSPORT_UC] = "uc",
};

static const char *const orders[] = {
	[INC_ORDER_RANKS] = "ranks",
	[INC_ORDER_ARRIVAL] = "arrival",
};

static const char *const roles[] = {
	[INC_ROLE_ROOT] = "root",
	[INC_ROLE_LEAF] = "leaf",
};

static const char *const tree_states[] = {
	[INC_TREE_STATE_FORMING] = "forming",
	[INC_TREE_STATE_READY] = "ready",
	[INC_TREE_STATE_FAILED] = "failed",
};

static const char *const member_states[] = {
	[INC_MEMBER_STATE_RTS] = "rts",
	[INC_MEMBER_STATE_ERROR] = "error",
	[INC_MEMBER_STATE_INIT] = "init",
};

static const char *const member_errors[] = {
	[INC_MEMBER_ERROR_NONE] = "none",
	[INC_MEMBER_ERROR_RETRY_EXCEEDED] = "retry-exceeded",
	[INC_MEMBER_ERROR_RNR_RETRY_EXCEEDED] = "rnr-retry-exceeded",
	[INC_MEMBER_ERROR_REMOTE_INVALID_REQUEST] = "remote-invalid-request",
	[INC_MEMBER_ERROR_REMOTE_ACCESS] = "remote-access",
	[INC_MEMBER_ERROR_REMOTE_OPERATIONAL] = "remote-operational",
	[INC_MEMBER_ERROR_LOCAL_INVALID_REQUEST] = "local-invalid-request",
	[INC_MEMBER_ERROR_LOCAL_ACCESS] = "local-access",
};

static const char *const slot_states[] = {
	[INC_SLOT_STATE_IDLE] = "idle",
	[INC_SLOT_STATE_BUSY] = "busy",
	[INC_SLOT_STATE_DONE] = "done",
	[INC_SLOT_STATE_FAILED] = "failed",
};

static const char *const events[] = {
	[INC_CMD_TREE_NEW_NTF] = "tree-new",
	[INC_CMD_TREE_DEL_NTF] = "tree-del",
	[INC_CMD_TREE_READY_NTF] = "tree-ready",
	[INC_CMD_TREE_FAILED_NTF] = "tree-failed",
	[INC_CMD_MEMBER_NEW_NTF] = "member-new",
	[INC_CMD_MEMBER_DEL_NTF] = "member-del",
	[INC_CMD_MEMBER_ERROR_NTF] = "member-error",
	[INC_CMD_SLOT_FAILED_NTF] = "slot-failed",
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
	[INC_STATUS_AGAIN] = "again",
	[INC_STATUS_WAIT] = "wait",
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
