// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the attributes of the family "inc" are, in the words of its YNL spec.
 * Do not edit: made from Documentation/netlink/specs/inc.yaml by
 * selftests/style/ynl-regen.sh
 */
#include "common.h"
#include "nl.h"

static const char *const switch_docs[] = {
	[INC_A_SWITCH_VERSION] =
		"Version of the module.",
	[INC_A_SWITCH_REDUCE_IMPL] =
		"Reduction code chosen when the module was loaded (generic, sse2, avx2 ...).",
	[INC_A_SWITCH_COLLECTIVES] =
		"Bit mask of offered collectives (1 << enum inc_collective).",
	[INC_A_SWITCH_DTYPES] =
		"Bit mask of offered data types (1 << enum inc_dtype).",
	[INC_A_SWITCH_OPS] =
		"Bit mask of offered operations (1 << enum inc_op).",
	[INC_A_SWITCH_TREES] =
		"Number of trees.",
	[INC_A_SWITCH_MEMORY_LIMIT] =
		"Most bytes that all trees of this namespace may take.",
	[INC_A_SWITCH_MEMORY_USED] =
		"Bytes that the trees of this namespace take, those included that are being dismantled.",
	[INC_A_SWITCH_STATS] =
		"Packets that belong to no member, or were refused before.",
	[INC_A_SWITCH_HOOKED] =
		"1 if the switch takes packets, that is from its first tree on; 0 before.",
	[INC_A_SWITCH_MAX_TREES] =
		"Most trees that there may be; 0 is no limit.",
	[INC_A_SWITCH_MAX_RANKS] =
		"Most ranks that a new tree may have; 0 is no limit.",
	[INC_A_SWITCH_MAX_SLOTS] =
		"Most slots that a new tree may have; 0 is no limit.",
	[INC_A_SWITCH_MAX_TREE_MEMORY] =
		"Most bytes that a new tree may take with all its members; 0 is no limit.",
	[INC_A_SWITCH_MEMORY_CEILING] =
		"Most bytes that the trees of all namespaces may take together, as the module's parameter memory_ceiling says.",
	[INC_A_SWITCH_LEAVING] =
		"Number of trees that were deleted and are being dismantled; each ends by tree-del-ntf.",
};

static const char *const switch_stats_docs[] = {
	[INC_A_SWITCH_STATS_RX_SHORT] =
		"IP, UDP or RoCE headers, pad or ICRC do not fit into the packet.",
	[INC_A_SWITCH_STATS_RX_UDP_CHECKSUM] =
		"UDP checksum present and wrong.",
	[INC_A_SWITCH_STATS_RX_IP_OPTIONS] =
		"IPv4 options or IPv6 extension headers before UDP, or an IPv6 fragment.",
	[INC_A_SWITCH_STATS_RX_ICRC] =
		"Invariant CRC wrong (IBTA annex A17.3).",
	[INC_A_SWITCH_STATS_RX_OPCODE] =
		"Opcode that no QP of the switch takes, or of another transport than the QP's.",
	[INC_A_SWITCH_STATS_RX_BTH] =
		"Transport header version is not 0.",
	[INC_A_SWITCH_STATS_RX_NO_QP] =
		"No QP of that number; passed on to other sockets of the UDP port.",
	[INC_A_SWITCH_STATS_RX_SOURCE] =
		"The source address is not the member's.",
	[INC_A_SWITCH_STATS_RX_PKEY] =
		"The P_Key is not the member's.",
	[INC_A_SWITCH_STATS_RX_NO_MEMORY] =
		"No memory to linearize or copy the packet.",
	[INC_A_SWITCH_STATS_TX_NO_MEMORY] =
		"No memory for a packet to send; it is repeated after a time-out.",
	[INC_A_SWITCH_STATS_TX_ROUTE] =
		"No route to the member, or the route's MTU is too small.",
	[INC_A_SWITCH_STATS_TX_ERROR] =
		"The IP output path refused the packet (queue full, filter).",
	[INC_A_SWITCH_STATS_RX_INGRESS] =
		"It came by another device than the one that leads to the member.",
	[INC_A_SWITCH_STATS_RX_POLICY] =
		"The namespace's IPsec policy does not let it in as it came.",
};

static const char *const tree_docs[] = {
	[INC_A_TREE_ID] =
		"Tree ID, as in the INC header. Absent in tree-new to have one chosen.",
	[INC_A_TREE_ROLE] =
		"Role of this switch in the tree.",
	[INC_A_TREE_STATE] =
		"State of the tree.",
	[INC_A_TREE_ERROR] =
		"enum inc_status that a failed tree answers with.",
	[INC_A_TREE_RANKS] =
		"Number of ranks; members take ranks 0 ... ranks - 1.",
	[INC_A_TREE_MEMBERS] =
		"Number of ranks that have a member now.",
	[INC_A_TREE_SLOTS] =
		"Number of slots, a power of two. Default 256.",
	[INC_A_TREE_MSG_SIZE] =
		"Longest request message in bytes, INC header included, and stride of the slots in the members' view; a multiple of 64. Default 65536.",
	[INC_A_TREE_PMTU] =
		"Path MTU of all QPs of the tree, bytes of payload per packet, 256, 512, 1024, 2048 or 4096. Default 1024.",
	[INC_A_TREE_FIRST_MSG_ID] =
		"Message ID of the first message. Default 0.",
	[INC_A_TREE_COLLECTIVES] =
		"Bit mask of collectives that the tree takes. Default all offered.",
	[INC_A_TREE_DTYPES] =
		"Bit mask of data types that the tree takes. Default all offered.",
	[INC_A_TREE_OPS] =
		"Bit mask of operations that the tree takes. Default all offered.",
	[INC_A_TREE_WINDOW] =
		"Result packets in flight to a member. Default such that the sum over the members stays below 768, at most 128.",
	[INC_A_TREE_HOLD] =
		"Bytes of packets, buffers included, that are held of one member while other ranks are missing; what exceeds it gets an RNR NAK. Default 4194304, with a pmtu above 1024 as many times that as it is larger.",
	[INC_A_TREE_MIN_RTO] =
		"Smallest retransmission time-out, milliseconds. Default 4.",
	[INC_A_TREE_DEAD_TIME] =
		"Milliseconds without any acknowledgment, while one is due, after which a member is dead. Default 350.",
	[INC_A_TREE_MEMORY] =
		"Bytes that this tree takes, members included.",
	[INC_A_TREE_EPOCH] =
		"Counts the trees made in this namespace; tells a reused ID from its predecessor.",
	[INC_A_TREE_STATS] =
		"Counters of the tree.",
	[INC_A_TREE_MEMBER_STATS] =
		"Sum of the counters of all members that the tree has or had.",
	[INC_A_TREE_ORDER] =
		"Order of reduction. Default ranks.",
	[INC_A_TREE_ALL_RANKS] =
		"Ranks of the job, below other switches too. Given in tree-new it makes this switch a leaf, which needs parent-set.",
	[INC_A_TREE_FIRST_RANK] =
		"First rank below a leaf. Default 0.",
	[INC_A_TREE_BELOW] =
		"For each member, in their order, how many ranks are below it if it is a switch; 0 if it is a host. Absent if all members are hosts. Ranks are numbered in the order of the members, and a member's rank is its place among them.",
	[INC_A_TREE_OWNED] =
		"1: the tree is deleted when the netlink socket that made it is closed, be it since its process was killed. Default 0.",
	[INC_A_TREE_TRAFFIC_CLASS] =
		"IPv4 TOS and IPv6 traffic class of all that the switch sends to the tree's members, and to its parent: a DSCP times 4. The two bits of ECN have to be 0, for the switch does not obey marks. Default 0.",
};

static const char *const tree_stats_docs[] = {
	[INC_A_TREE_STATS_MESSAGES] =
		"Messages completed with a result, counted once for all ranks.",
	[INC_A_TREE_STATS_FAILED] =
		"Messages ended with an error status, counted once for all ranks.",
	[INC_A_TREE_STATS_CHUNKS] =
		"Packets' worth of payload reduced to a result.",
	[INC_A_TREE_STATS_REDUCED_BYTES] =
		"Bytes of request payload (INC header excluded) that were reduced.",
	[INC_A_TREE_STATS_PASSED_BYTES] =
		"Bytes of request payload that went into results unreduced.",
};

static const char *const member_docs[] = {
	[INC_A_MEMBER_TREE_ID] =
		"Tree.",
	[INC_A_MEMBER_RANK] =
		"Rank in the tree, from 0, less than the tree's ranks.",
	[INC_A_MEMBER_STATE] =
		"State of the QP.",
	[INC_A_MEMBER_ERROR] =
		"Why the QP is in error.",
	[INC_A_MEMBER_QPN] =
		"QPN of the switch's QP (the host's dest_qp_num). Drawn at random if absent in member-new.",
	[INC_A_MEMBER_PSN] =
		"First PSN that the switch sends (the host's rq_psn). Random if absent in member-new.",
	[INC_A_MEMBER_RKEY] =
		"R_Key that the member's requests have to carry. Only in replies to whoever has CAP_NET_ADMIN, as are psn and peer-psn; in no event.",
	[INC_A_MEMBER_PKEY] =
		"P_Key of both directions. Default 0xffff.",
	[INC_A_MEMBER_PEER_ADDR] =
		"Address of the host's GID, 4 (IPv4) or 16 (IPv6) bytes, network byte order.",
	[INC_A_MEMBER_PEER_QPN] =
		"QPN of the host's QP; 0, 1 and 0xffffff are none of an RC QP.",
	[INC_A_MEMBER_PEER_PSN] =
		"First PSN that the host sends (its sq_psn).",
	[INC_A_MEMBER_LOCAL_ADDR] =
		"Address of the switch towards this member, 4 or 16 bytes; its GID is what the host needs. Chosen by the route if absent in member-new.",
	[INC_A_MEMBER_SLOTS] =
		"Slots of the tree.",
	[INC_A_MEMBER_MSG_SIZE] =
		"Slot stride and longest message of the tree, bytes.",
	[INC_A_MEMBER_PMTU] =
		"Path MTU of the tree, bytes.",
	[INC_A_MEMBER_NEXT_MSG_ID] =
		"Message ID that this member's next request should have.",
	[INC_A_MEMBER_TX_PENDING] =
		"Result packets sent and not acknowledged.",
	[INC_A_MEMBER_HELD] =
		"Bytes of packets held of this member because other ranks are missing.",
	[INC_A_MEMBER_SRTT] =
		"Smoothed round-trip time from a result packet to its acknowledgment, microseconds.",
	[INC_A_MEMBER_STATS] =
		"Counters of the member's QP.",
	[INC_A_MEMBER_LAST_RX] =
		"Milliseconds since the last packet of the member came in that passed all checks, or since the member was added if rx-wire-bytes is 0.",
	[INC_A_MEMBER_PEER_TREE_ID] =
		"Tree at the parent, of a leaf's QP to it.",
	[INC_A_MEMBER_PEER_RKEY] =
		"R_Key of the parent's slots; shown as rkey is.",
	[INC_A_MEMBER_TRANSPORT] =
		"Transport of the member's QP, rc by default. With uc, the tree's msg-size must be at most its pmtu. A switch below needs rc.",
	[INC_A_MEMBER_TX_PSN] =
		"PSN that the switch sends next; shown as rkey is.",
	[INC_A_MEMBER_RX_PSN] =
		"PSN that the switch expects next; shown as rkey is.",
};

static const char *const member_stats_docs[] = {
	[INC_A_MEMBER_STATS_RX_PACKETS] =
		"Request packets taken in, each PSN once.",
	[INC_A_MEMBER_STATS_RX_BYTES] =
		"Payload bytes of the request packets taken in, each PSN once, from the first byte behind the extended headers (that of the INC header, in a first packet) to the last one before pad and ICRC.",
	[INC_A_MEMBER_STATS_RX_MESSAGES] =
		"Request messages taken in whole.",
	[INC_A_MEMBER_STATS_RX_WIRE_BYTES] =
		"Bytes of all packets of this QP that came in, from the IP header to the ICRC, duplicates and responses included.",
	[INC_A_MEMBER_STATS_RX_DUPLICATES] =
		"Request packets with a PSN, or of a UC member a message ID, already taken in.",
	[INC_A_MEMBER_STATS_RX_OUT_OF_SEQUENCE] =
		"Request packets beyond a hole.",
	[INC_A_MEMBER_STATS_RX_KEPT] =
		"Packets beyond a hole that were kept.",
	[INC_A_MEMBER_STATS_RX_DISCARDED] =
		"Payload packets of messages that ended with an error status.",
	[INC_A_MEMBER_STATS_RX_ACKS] =
		"Acknowledgments from the member.",
	[INC_A_MEMBER_STATS_RX_NAKS] =
		"NAKs (PSN sequence error) from the member.",
	[INC_A_MEMBER_STATS_RX_RNR_NAKS] =
		"RNR NAKs from the member.",
	[INC_A_MEMBER_STATS_RX_BAD_REQUEST] =
		"Requests answered with NAK - invalid request or remote access error; those of a UC member that were dropped because they are malformed.",
	[INC_A_MEMBER_STATS_RX_BAD_RESPONSE] =
		"Responses malformed, or for a PSN that was never sent.",
	[INC_A_MEMBER_STATS_RX_IN_ERROR] =
		"Packets dropped because the QP is in error; requests get a NAK.",
	[INC_A_MEMBER_STATS_RX_COPIED] =
		"Packets that had to be copied because somebody else held their data too, or because their buffer was much larger than they.",
	[INC_A_MEMBER_STATS_TX_PACKETS] =
		"Result packets sent, each PSN once.",
	[INC_A_MEMBER_STATS_TX_BYTES] =
		"Payload bytes of the result packets sent, each PSN once, from the first byte behind the extended headers to the last one before pad and ICRC.",
	[INC_A_MEMBER_STATS_TX_MESSAGES] =
		"Results completed by an Immediate, error statuses included.",
	[INC_A_MEMBER_STATS_TX_WIRE_BYTES] =
		"Bytes of all packets sent by this QP, from the IP header to the ICRC, repetitions and acknowledgments included.",
	[INC_A_MEMBER_STATS_TX_RETRANSMITS] =
		"Result packets sent again.",
	[INC_A_MEMBER_STATS_TX_TIMEOUTS] =
		"Times that the retransmission time-out expired.",
	[INC_A_MEMBER_STATS_TX_ACKS] =
		"Acknowledgments sent.",
	[INC_A_MEMBER_STATS_TX_NAKS] =
		"NAKs sent, of any kind but RNR.",
	[INC_A_MEMBER_STATS_TX_RNR_NAKS] =
		"RNR NAKs sent.",
	[INC_A_MEMBER_STATS_TX_PROBES] =
		"Packets sent only to be acknowledged: zero-length writes, to see whether a silent member lives, and repeated short results.",
	[INC_A_MEMBER_STATS_TX_ERRORS] =
		"Error statuses sent.",
	[INC_A_MEMBER_STATS_RX_REPEATED] =
		"Request messages that came again under new PSNs, as an rxe sends them that lost its place while it repeated, and writes of no bytes at all; acknowledged and ignored.",
	[INC_A_MEMBER_STATS_RX_GAPS] =
		"UC: PSNs skipped, that is packets that were lost or came late.",
	[INC_A_MEMBER_STATS_RX_ASKED] =
		"UC: times that the member asked what became of a message.",
	[INC_A_MEMBER_STATS_TX_SEND_AGAIN] =
		"UC: times that the member was told to send a request again.",
	[INC_A_MEMBER_STATS_TX_WAIT] =
		"UC: times that the member was told that other ranks are waited for.",
	[INC_A_MEMBER_STATS_RX_DEFERRED] =
		"UC: requests dropped because they can not be taken yet: hold is exceeded, or other ranks were not told yet that the slot's last message failed. The member is told to send them again when it asks.",
	[INC_A_MEMBER_STATS_RX_UNTRUSTED] =
		"Packets that were not believed: from another UDP source port than the member's, or beyond a hole with a wrong key, length or place, or unlike another one with the same PSN.",
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
