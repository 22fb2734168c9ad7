/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The generic netlink family "rdma-inc" for user space: the only part of
 * inc-tool and its daemon that uses it. It neither prints anything nor exits.
 *
 * Every function returns 0 or -errno. After an error, inc_nl.error describes it
 * in one line: the kernel's message (extended ACK) if there is one, with the
 * name of the attribute concerned.
 *
 * A struct inc_nl may be used by one thread at a time. It belongs to the
 * network namespace of the thread that opened it.
 */
#ifndef INC_TOOL_NL_H
#define INC_TOOL_NL_H

#include "nl-conn.h"

/*
 * In each struct of tables-gen.h, bit RDMA_INC_A_... of the member "has" tells
 * that this attribute is present. The caller sets it in a request. The kernel
 * chooses the value of an attribute that is absent from a request; one that is
 * absent from a reply is zero.
 */
#define INC_NL_HAS(obj, attr)	(((obj)->has >> RDMA_INC_A_##attr) & 1)

/* Set an attribute: INC_NL_SET(&tree, TREE_RANKS, ranks, 4); */
#define INC_NL_SET(obj, attr, field, value)			\
	do {							\
		(obj)->field = (value);				\
		(obj)->has |= 1ULL << RDMA_INC_A_##attr;	\
	} while (0)

int inc_nl_switch_get(struct inc_nl *nl, struct inc_nl_switch *reply);
int inc_nl_switch_set(struct inc_nl *nl, const struct inc_nl_switch *req);

/*
 * The attributes in req->has are sent. reply may be NULL. The reply to tree_new
 * contains the tree's ID and all defaults; the reply to member_new contains
 * everything that the host needs: qpn, psn, rkey, slots, msg_size (stride of
 * the slots), pmtu, local_addr (its GID), next_msg_id.
 */
int inc_nl_tree_new(struct inc_nl *nl, const struct inc_nl_tree *req,
		    struct inc_nl_tree *reply);
int inc_nl_tree_set(struct inc_nl *nl, const struct inc_nl_tree *req);
int inc_nl_tree_get(struct inc_nl *nl, uint32_t id, struct inc_nl_tree *reply);
/*
 * Does not wait: the tree can no longer be found, and its members are being
 * notified. RDMA_INC_CMD_TREE_DEL_NTF follows when they have acknowledged that,
 * or after the dead time.
 */
int inc_nl_tree_del(struct inc_nl *nl, uint32_t id);

int inc_nl_member_new(struct inc_nl *nl, const struct inc_nl_member *req,
		      struct inc_nl_member *reply);
/*
 * Adds @n members of a tree, at most INC_NL_MAX_NEW, in one request: all or
 * none. @reply is NULL, or has room for @n objects, and gets them as from
 * member_new, without counters.
 */
#define INC_NL_MAX_NEW	128
int inc_nl_members_new(struct inc_nl *nl, uint32_t tree_id,
		       const struct inc_nl_member *req, unsigned int n,
		       struct inc_nl_member *reply);
/* Connects a member that member_new has added without a peer. */
int inc_nl_member_set(struct inc_nl *nl, const struct inc_nl_member *req,
		      struct inc_nl_member *reply);
int inc_nl_member_get(struct inc_nl *nl, uint32_t tree_id, uint16_t rank,
		      struct inc_nl_member *reply);
int inc_nl_member_del(struct inc_nl *nl, uint32_t tree_id, uint16_t rank);

/* A child's QP to its parent; as a member without rank. */
int inc_nl_parent_get(struct inc_nl *nl, uint32_t tree_id,
		      struct inc_nl_member *reply);
int inc_nl_parent_set(struct inc_nl *nl, const struct inc_nl_member *req,
		      struct inc_nl_member *reply);

int inc_nl_slot_get(struct inc_nl *nl, uint32_t tree_id, uint16_t index,
		    struct inc_nl_slot *reply);

/*
 * Dumps: @fn is called for each object after the whole dump has been received,
 * so it may use @nl. If it returns a value other than 0, the dump ends and
 * returns that value. @tree_id 0 means all trees.
 */
int inc_nl_tree_dump(struct inc_nl *nl,
		     int (*fn)(const struct inc_nl_tree *tree, void *arg),
		     void *arg);
int inc_nl_member_dump(struct inc_nl *nl, uint32_t tree_id,
		       int (*fn)(const struct inc_nl_member *member, void *arg),
		       void *arg);
int inc_nl_slot_dump(struct inc_nl *nl, uint32_t tree_id,
		     int (*fn)(const struct inc_nl_slot *slot, void *arg),
		     void *arg);

#endif /* INC_TOOL_NL_H */
