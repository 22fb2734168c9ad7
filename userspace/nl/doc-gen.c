// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the attributes of the family "rdma-inc" are, as its YNL spec says.
 * Do not edit: made from Documentation/netlink/specs/rdma-inc.yaml by
 * selftests/style/ynl-regen.sh
 */
#include "common.h"
#include "nl.h"

static const char *const switch_docs[] = {
	[RDMA_INC_A_SWITCH_VERSION] =
		"Version of the module.",
	[RDMA_INC_A_SWITCH_REDUCE_IMPL] =
		"Reduction code chosen when the module was loaded (generic, sse2, avx2 ...).",
	[RDMA_INC_A_SWITCH_COLLECTIVES] =
		"Bit mask of offered collectives (1 << enum inc_collective).",
	[RDMA_INC_A_SWITCH_DTYPES] =
		"Bit mask of offered data types (1 << enum inc_dtype).",
	[RDMA_INC_A_SWITCH_OPS] =
		"Bit mask of offered operations (1 << enum inc_op).",
	[RDMA_INC_A_SWITCH_HOOKED] =
		"1 if the switch receives packets, which it does from its first tree on; 0 before.",
	[RDMA_INC_A_SWITCH_TREES] =
		"Number of trees, without those in leaving.",
	[RDMA_INC_A_SWITCH_LEAVING] =
		"Number of trees that were deleted and are being dismantled; tree-del-ntf reports the end of each.",
	[RDMA_INC_A_SWITCH_MAX_TREES] =
		"Maximum number of trees; 0 means no limit.",
	[RDMA_INC_A_SWITCH_MAX_RANKS] =
		"Maximum number of ranks of a new tree; 0 means no limit.",
	[RDMA_INC_A_SWITCH_MAX_SLOTS] =
		"Maximum number of slots of a new tree; 0 means no limit.",
	[RDMA_INC_A_SWITCH_MAX_TREE_MEMORY] =
		"Maximum number of bytes that a new tree may take with all its members; 0 means no limit.",
	[RDMA_INC_A_SWITCH_MEMORY_LIMIT] =
		"Maximum number of bytes that all trees of this namespace may take.",
	[RDMA_INC_A_SWITCH_MEMORY_CEILING] =
		"Maximum number of bytes that the trees of all namespaces may take together: the module's parameter memory_ceiling.",
	[RDMA_INC_A_SWITCH_MEMORY_USED] =
		"Bytes that the trees of this namespace take, including those that are being dismantled.",
	[RDMA_INC_A_SWITCH_STATS] =
		"Counters of packets that belong to no member, or were refused before one was found.",
};

static const char *const switch_stats_docs[] = {
	[RDMA_INC_A_SWITCH_STATS_RX_SHORT] =
		"IP, UDP or RoCE headers, pad or ICRC do not fit into the packet.",
	[RDMA_INC_A_SWITCH_STATS_RX_IP_OPTIONS] =
		"IPv4 options or IPv6 extension headers before UDP, or an IPv6 fragment.",
	[RDMA_INC_A_SWITCH_STATS_RX_UDP_CHECKSUM] =
		"A UDP checksum is present and wrong.",
	[RDMA_INC_A_SWITCH_STATS_RX_BTH] =
		"The transport header version is not 0.",
	[RDMA_INC_A_SWITCH_STATS_RX_OPCODE] =
		"No QP of the switch accepts this opcode, or it is one of another transport than the QP's.",
	[RDMA_INC_A_SWITCH_STATS_RX_NO_QP] =
		"There is no QP with this number; the packet was passed on to other sockets of the UDP port.",
	[RDMA_INC_A_SWITCH_STATS_RX_SOURCE] =
		"The source address is not the member's.",
	[RDMA_INC_A_SWITCH_STATS_RX_INGRESS] =
		"The packet arrived on another device than the one that leads to the member.",
	[RDMA_INC_A_SWITCH_STATS_RX_POLICY] =
		"The namespace's IPsec policy does not admit the packet in the form in which it arrived.",
	[RDMA_INC_A_SWITCH_STATS_RX_PKEY] =
		"The P_Key is not the member's.",
	[RDMA_INC_A_SWITCH_STATS_RX_ICRC] =
		"The invariant CRC is wrong (IBTA annex A17.3).",
	[RDMA_INC_A_SWITCH_STATS_RX_NO_MEMORY] =
		"No memory to linearize or copy the packet.",
	[RDMA_INC_A_SWITCH_STATS_TX_NO_MEMORY] =
		"No memory for a packet to send; it is retransmitted after a timeout.",
	[RDMA_INC_A_SWITCH_STATS_TX_ROUTE] =
		"No route to the member, or the route's MTU is too small.",
	[RDMA_INC_A_SWITCH_STATS_TX_ERROR] =
		"The IP output path refused the packet (queue full, filter).",
};

static const char *const tree_docs[] = {
	[RDMA_INC_A_TREE_ID] =
		"Tree ID, as in the INC header. If absent in tree-new, the switch chooses one.",
	[RDMA_INC_A_TREE_EPOCH] =
		"Serial number of the tree in this namespace; tells a tree from an earlier one with the same ID.",
	[RDMA_INC_A_TREE_ROLE] =
		"Role of this switch in the tree.",
	[RDMA_INC_A_TREE_STATE] =
		"State of the tree.",
	[RDMA_INC_A_TREE_ERROR] =
		"Status that a failed tree answers with (enum inc_status).",
	[RDMA_INC_A_TREE_OWNED] =
		"1: the tree is deleted when the netlink socket that made it is closed, also by the death of its process. Default 0.",
	[RDMA_INC_A_TREE_RANKS] =
		"Number of members, hosts or switches. They take ranks 0 ... ranks - 1.",
	[RDMA_INC_A_TREE_MEMBERS] =
		"Number of ranks that have a member now.",
	[RDMA_INC_A_TREE_JOB_RANKS] =
		"Number of ranks of the whole job, including those below other switches. In tree-new it makes this switch a child, which needs parent-set.",
	[RDMA_INC_A_TREE_FIRST_RANK] =
		"First rank of the job below this switch, if it is a child. Default 0.",
	[RDMA_INC_A_TREE_BELOW] =
		"One value per member, in order: the number of ranks below it if it is a switch, 0 if it is a host. Absent if all members are hosts. The job's ranks are numbered in the order of the members; a member's own rank is its place among the members.",
	[RDMA_INC_A_TREE_SLOTS] =
		"Number of slots, a power of two. Default 256.",
	[RDMA_INC_A_TREE_MSG_SIZE] =
		"Longest request message in bytes, INC header included, which is also the stride of the slots as members address them; a multiple of 64. Default 65536.",
	[RDMA_INC_A_TREE_PMTU] =
		"Path MTU of all QPs of the tree, bytes of payload per packet, 256, 512, 1024, 2048 or 4096. Default 1024.",
	[RDMA_INC_A_TREE_FIRST_MSG_ID] =
		"Message ID of the first message. Default 0.",
	[RDMA_INC_A_TREE_COLLECTIVES] =
		"Bit mask of collectives that the tree accepts (1 << enum inc_collective). Default: all that the switch offers.",
	[RDMA_INC_A_TREE_DTYPES] =
		"Bit mask of data types that the tree accepts (1 << enum inc_dtype). Default: all that the switch offers.",
	[RDMA_INC_A_TREE_OPS] =
		"Bit mask of operations that the tree accepts (1 << enum inc_op). Default: all that the switch offers.",
	[RDMA_INC_A_TREE_ORDER] =
		"Order in which elements are reduced. Default ranks.",
	[RDMA_INC_A_TREE_TRAFFIC_CLASS] =
		"IPv4 TOS and IPv6 traffic class of all packets that the switch sends to the tree's members and to its parent: a DSCP times 4. The two ECN bits must be 0, since the switch does not react to marks. Default 0.",
	[RDMA_INC_A_TREE_WINDOW] =
		"Maximum number of result packets in flight to a member. Default: 128, or less if the sum over all members would exceed 768.",
	[RDMA_INC_A_TREE_HOLD] =
		"Maximum number of bytes of packets, buffers included, that are held of one member while other ranks are missing; a request beyond it gets an RNR NAK. Default 4194304; with a pmtu above 1024, larger in the same proportion.",
	[RDMA_INC_A_TREE_MIN_RTO] =
		"Minimum retransmission timeout in milliseconds. Default 4.",
	[RDMA_INC_A_TREE_DEAD_TIME] =
		"A member that owes an acknowledgment and sends none for this many milliseconds is dead. Default 350.",
	[RDMA_INC_A_TREE_MEMORY] =
		"Bytes that this tree takes, members included.",
	[RDMA_INC_A_TREE_STATS] =
		"Counters of the tree.",
	[RDMA_INC_A_TREE_MEMBER_STATS] =
		"Sum of the counters of all members that the tree has or had.",
};

static const char *const tree_stats_docs[] = {
	[RDMA_INC_A_TREE_STATS_MESSAGES] =
		"Messages completed with a result, counted once for all ranks.",
	[RDMA_INC_A_TREE_STATS_FAILED] =
		"Messages that ended with an error status, counted once for all ranks.",
	[RDMA_INC_A_TREE_STATS_CHUNKS] =
		"Chunks of results, one packet's worth of payload each.",
	[RDMA_INC_A_TREE_STATS_REDUCED_BYTES] =
		"Bytes of request payload (INC header excluded) that were reduced.",
	[RDMA_INC_A_TREE_STATS_PASSED_BYTES] =
		"Bytes of request payload that went into results without being reduced.",
};

static const char *const member_docs[] = {
	[RDMA_INC_A_MEMBER_TREE_ID] =
		"Tree.",
	[RDMA_INC_A_MEMBER_RANK] =
		"Place among the tree's members, from 0, less than the tree's ranks.",
	[RDMA_INC_A_MEMBER_STATE] =
		"State of the QP.",
	[RDMA_INC_A_MEMBER_ERROR] =
		"Why the QP is in error.",
	[RDMA_INC_A_MEMBER_TRANSPORT] =
		"Transport service of the member's QP. Default rc. uc requires a msg-size of at most pmtu; a switch below requires rc.",
	[RDMA_INC_A_MEMBER_QPN] =
		"QPN of the switch's QP (the host's dest_qp_num). If absent in member-new, one is drawn at random.",
	[RDMA_INC_A_MEMBER_PSN] =
		"First PSN that the switch sends (the host's rq_psn). If absent in member-new, one is drawn at random.",
	[RDMA_INC_A_MEMBER_RKEY] =
		"R_Key that the member's requests must carry. Only in replies to a caller with CAP_NET_ADMIN, like psn and peer-psn; never in events.",
	[RDMA_INC_A_MEMBER_PKEY] =
		"P_Key of both directions. Default 0xffff.",
	[RDMA_INC_A_MEMBER_LOCAL_ADDR] =
		"Address of the switch towards this member, 4 or 16 bytes; the host needs the GID of this address. If absent in member-new, the route decides.",
	[RDMA_INC_A_MEMBER_PEER_ADDR] =
		"Address of the host's GID, 4 (IPv4) or 16 (IPv6) bytes, network byte order.",
	[RDMA_INC_A_MEMBER_PEER_QPN] =
		"QPN of the host's QP; 0, 1 and 0xffffff cannot be an RC QP's.",
	[RDMA_INC_A_MEMBER_PEER_PSN] =
		"First PSN that the host sends (its sq_psn).",
	[RDMA_INC_A_MEMBER_PEER_TREE_ID] =
		"Of a child's QP to its parent: the tree there.",
	[RDMA_INC_A_MEMBER_PEER_RKEY] =
		"Of a child's QP to its parent: R_Key of the parent's slots; shown as rkey is.",
	[RDMA_INC_A_MEMBER_SLOTS] =
		"Number of slots of the tree.",
	[RDMA_INC_A_MEMBER_MSG_SIZE] =
		"Stride of the slots and longest message of the tree, bytes.",
	[RDMA_INC_A_MEMBER_PMTU] =
		"Path MTU of the tree, bytes.",
	[RDMA_INC_A_MEMBER_NEXT_MSG_ID] =
		"Message ID that this member's next request should have.",
	[RDMA_INC_A_MEMBER_RX_PSN] =
		"PSN that the switch expects next; shown as rkey is.",
	[RDMA_INC_A_MEMBER_TX_PSN] =
		"PSN that the switch sends next; shown as rkey is.",
	[RDMA_INC_A_MEMBER_TX_IN_FLIGHT] =
		"Result packets sent and not yet acknowledged.",
	[RDMA_INC_A_MEMBER_HELD] =
		"Bytes of this member's packets that are held because other ranks are missing.",
	[RDMA_INC_A_MEMBER_SRTT] =
		"Smoothed round-trip time from a result packet to its acknowledgment, microseconds.",
	[RDMA_INC_A_MEMBER_LAST_RX] =
		"Milliseconds since the member's last packet that passed all checks, or since the member was added if rx-wire-bytes is 0.",
	[RDMA_INC_A_MEMBER_STATS] =
		"Counters of the member's QP.",
};

static const char *const member_stats_docs[] = {
	[RDMA_INC_A_MEMBER_STATS_RX_PACKETS] =
		"Request packets accepted, each PSN once.",
	[RDMA_INC_A_MEMBER_STATS_RX_BYTES] =
		"Payload bytes of the request packets accepted, each PSN once: from the first byte after the extended headers (in a first packet that of the INC header) to the last byte before pad and ICRC.",
	[RDMA_INC_A_MEMBER_STATS_RX_MESSAGES] =
		"Request messages accepted as a whole.",
	[RDMA_INC_A_MEMBER_STATS_RX_WIRE_BYTES] =
		"Bytes of all packets received for this QP, from the IP header to the ICRC, including duplicates and responses.",
	[RDMA_INC_A_MEMBER_STATS_RX_DUPLICATES] =
		"Request packets with a PSN that was already accepted; for a UC member, with a message ID that was.",
	[RDMA_INC_A_MEMBER_STATS_RX_REDUNDANT] =
		"Request messages that arrived again under new PSNs, as rxe sends them after it lost its place in a retransmission, and zero-length writes; both are acknowledged and ignored.",
	[RDMA_INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE] =
		"Request packets beyond a gap in the PSN sequence.",
	[RDMA_INC_A_MEMBER_STATS_RX_OOO_QUEUED] =
		"Packets beyond a gap that were queued until the gap closes.",
	[RDMA_INC_A_MEMBER_STATS_RX_GAPS] =
		"UC: PSNs skipped, which means packets lost or late.",
	[RDMA_INC_A_MEMBER_STATS_RX_DEFERRED] =
		"UC: requests dropped because they cannot be accepted yet: the member exceeds hold, or other ranks have not been told that the slot's last message failed. When the member queries, it is told to resend them.",
	[RDMA_INC_A_MEMBER_STATS_RX_QUERIES] =
		"UC: queries of the member for the state of a message.",
	[RDMA_INC_A_MEMBER_STATS_RX_DISCARDED] =
		"Payload packets of messages that had ended with an error status.",
	[RDMA_INC_A_MEMBER_STATS_RX_COPIED] =
		"Packets that had to be copied, because their data was shared or their buffer was much larger than they.",
	[RDMA_INC_A_MEMBER_STATS_RX_ACKS] =
		"Acknowledgments received from the member.",
	[RDMA_INC_A_MEMBER_STATS_RX_NAKS] =
		"NAKs (PSN sequence error) received from the member.",
	[RDMA_INC_A_MEMBER_STATS_RX_RNR_NAKS] =
		"RNR NAKs received from the member.",
	[RDMA_INC_A_MEMBER_STATS_RX_BAD_REQUEST] =
		"Requests answered with NAK - invalid request or NAK - remote access error; malformed requests of a UC member, which are dropped.",
	[RDMA_INC_A_MEMBER_STATS_RX_BAD_RESPONSE] =
		"Malformed responses, and responses for a PSN that was never sent.",
	[RDMA_INC_A_MEMBER_STATS_RX_UNTRUSTED] =
		"Packets not trusted: from another UDP source port than the member's, or beyond a gap with a wrong key, length or address, or different from an earlier packet with the same PSN.",
	[RDMA_INC_A_MEMBER_STATS_RX_IN_ERROR] =
		"Packets dropped because the QP is in error; requests get a NAK.",
	[RDMA_INC_A_MEMBER_STATS_TX_PACKETS] =
		"Result packets sent, each PSN once.",
	[RDMA_INC_A_MEMBER_STATS_TX_BYTES] =
		"Payload bytes of the result packets sent, each PSN once: from the first byte after the extended headers to the last byte before pad and ICRC.",
	[RDMA_INC_A_MEMBER_STATS_TX_MESSAGES] =
		"Results completed by an Immediate, including error statuses.",
	[RDMA_INC_A_MEMBER_STATS_TX_ERRORS] =
		"Error statuses sent.",
	[RDMA_INC_A_MEMBER_STATS_TX_WIRE_BYTES] =
		"Bytes of all packets sent by this QP, from the IP header to the ICRC, including retransmissions and acknowledgments.",
	[RDMA_INC_A_MEMBER_STATS_TX_RETRANSMITS] =
		"Result packets retransmitted.",
	[RDMA_INC_A_MEMBER_STATS_TX_TIMEOUTS] =
		"Expiries of the retransmission timeout.",
	[RDMA_INC_A_MEMBER_STATS_TX_PROBES] =
		"Packets sent only to elicit an acknowledgment: zero-length writes that test whether a silent member is alive, and retransmitted short results.",
	[RDMA_INC_A_MEMBER_STATS_TX_ACKS] =
		"Acknowledgments sent.",
	[RDMA_INC_A_MEMBER_STATS_TX_NAKS] =
		"NAKs sent, except RNR NAKs.",
	[RDMA_INC_A_MEMBER_STATS_TX_RNR_NAKS] =
		"RNR NAKs sent.",
	[RDMA_INC_A_MEMBER_STATS_TX_RESEND_REPLIES] =
		"UC: statuses sent that tell the member to resend a request.",
	[RDMA_INC_A_MEMBER_STATS_TX_PENDING_REPLIES] =
		"UC: statuses sent that tell the member to wait for other ranks.",
};

const char *inc_nl_switch_doc(unsigned int attr)
{
	return attr < ARRAY_SIZE(switch_docs) ? switch_docs[attr] : NULL;
}

const char *inc_nl_switch_stat_doc(unsigned int attr)
{
	return attr < ARRAY_SIZE(switch_stats_docs) ? switch_stats_docs[attr] : NULL;
}

const char *inc_nl_tree_doc(unsigned int attr)
{
	return attr < ARRAY_SIZE(tree_docs) ? tree_docs[attr] : NULL;
}

const char *inc_nl_tree_stat_doc(unsigned int attr)
{
	return attr < ARRAY_SIZE(tree_stats_docs) ? tree_stats_docs[attr] : NULL;
}

const char *inc_nl_member_doc(unsigned int attr)
{
	return attr < ARRAY_SIZE(member_docs) ? member_docs[attr] : NULL;
}

const char *inc_nl_member_stat_doc(unsigned int attr)
{
	return attr < ARRAY_SIZE(member_stats_docs) ? member_stats_docs[attr] : NULL;
}
