/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Keywords common to all requests that are a struct inc_nl_member. */
#ifndef INC_TOOL_MEMBER_H
#define INC_TOOL_MEMBER_H

#include "nl.h"
#include "parse.h"

#define MEMBER_KW(_name, _alias, _takes, _parse, _ATTR, _member)	\
	KEYWORD(struct inc_nl_member, _name, _alias, _takes, _parse,	\
		NULL, RDMA_INC_A_MEMBER_##_ATTR, _member)

#define MEMBER_KW_TREE							\
	MEMBER_KW("tree", "tree-id", "a tree ID, from 1", parse_uint,	\
		  TREE_ID, tree_id)
#define MEMBER_KW_RANK							\
	MEMBER_KW("rank", NULL, "a rank, from 0", parse_uint, RANK, rank)
#define MEMBER_KW_ADDR							\
	MEMBER_KW("addr", "peer-addr", "an IPv4 or IPv6 address",	\
		  parse_addr, PEER_ADDR, peer_addr)
#define MEMBER_KW_QPN(_takes)						\
	MEMBER_KW("qpn", "peer-qpn", _takes, parse_uint, PEER_QPN, peer_qpn)
#define MEMBER_KW_PSN(_takes)						\
	MEMBER_KW("psn", "peer-psn", _takes, parse_uint, PEER_PSN, peer_psn)
#define MEMBER_KW_LOCAL							\
	MEMBER_KW("local", "local-addr", "an IPv4 or IPv6 address",	\
		  parse_addr, LOCAL_ADDR, local_addr)
#define MEMBER_KW_IFINDEX						\
	MEMBER_KW("ifindex", NULL, "the index of an interface", parse_uint, \
		  IFINDEX, ifindex)
#define MEMBER_KW_PKEY							\
	MEMBER_KW("pkey", NULL, "a P_Key, as 0xffff", parse_uint, PKEY, pkey)

#endif /* INC_TOOL_MEMBER_H */
