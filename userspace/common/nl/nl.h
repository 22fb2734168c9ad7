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

#include <stdbool.h>
#include <stdint.h>

#include <linux/rdma_inc.h>
#include <linux/rdma_inc_proto.h>

struct nl_sock;

#define INC_NL_ERROR_LEN	512
#define INC_NL_STRING_LEN	32

/**
 * struct inc_nl - a connection to the switch of one network namespace
 * @sock: libnl's socket
 * @family: ID of the family
 * @version: version of the family
 * @error: description of the last error, without a newline
 * @attr: name of the attribute that the last error concerns, or NULL
 * @missing: that attribute is missing from the request
 * @from_kernel: the module reported the error, not this library
 */
struct inc_nl {
	struct nl_sock	*sock;
	int		family;
	int		version;
	const char	*attr;
	bool		missing;
	bool		from_kernel;
	char		error[INC_NL_ERROR_LEN];
};

/*
 * In each struct of objects-gen.h, bit RDMA_INC_A_... of the member "has" tells
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

/**
 * struct inc_nl_addr - IPv4 or IPv6 address
 * @len: 4 or 16; 0 if there is none
 * @bytes: network byte order
 */
struct inc_nl_addr {
	uint8_t	len;
	uint8_t	bytes[16];
};

/* struct inc_nl_switch, inc_nl_tree, inc_nl_member and inc_nl_slot */
#include "objects-gen.h"

/**
 * struct inc_nl_event - an event
 * @cmd: RDMA_INC_CMD_*_NTF
 * @tree: the tree, after RDMA_INC_CMD_TREE_*_NTF
 * @member: the member, after RDMA_INC_CMD_MEMBER_*_NTF
 * @slot: the slot, after RDMA_INC_CMD_SLOT_*_NTF
 */
struct inc_nl_event {
	uint8_t			cmd;
	struct inc_nl_tree	tree;
	struct inc_nl_member	member;
	struct inc_nl_slot	slot;
};

/* -ENOENT: the module is not loaded, as the error text says. */
int inc_nl_open(struct inc_nl *nl);
/*
 * As inc_nl_open(), of a connection that is zero or was opened before: to look
 * whether the module is still the one that was loaded then takes less.
 */
int inc_nl_renew(struct inc_nl *nl);
/* May be called after a failed inc_nl_open(), and twice. */
void inc_nl_close(struct inc_nl *nl);

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
 * Adds @n members of a tree, at most INC_NL_MAX_NEW, in one request: all or none.
 * @reply has room for as many, and gets them as member_new's, without counters;
 * or it is NULL.
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

/*
 * Events: after inc_nl_subscribe(), use @nl for events only. Poll the file
 * descriptor for input, then call inc_nl_events(), which calls @fn for each
 * pending event and does not block. -ENOBUFS: events were lost; continue.
 */
int inc_nl_subscribe(struct inc_nl *nl);
int inc_nl_fd(const struct inc_nl *nl);
int inc_nl_events(struct inc_nl *nl,
		  int (*fn)(const struct inc_nl_event *ev, void *arg),
		  void *arg);

/*
 * Names in the YNL spec; NULL for numbers that it does not define. Counters are
 * indexed by attribute, from 1 to RDMA_INC_A_..._STATS_MAX.
 */
const char *inc_nl_switch_stat_name(unsigned int attr);
const char *inc_nl_tree_stat_name(unsigned int attr);
const char *inc_nl_member_stat_name(unsigned int attr);
const char *inc_nl_tree_state_name(unsigned int state);
const char *inc_nl_member_state_name(unsigned int state);
const char *inc_nl_member_error_name(unsigned int error);
const char *inc_nl_slot_state_name(unsigned int state);
const char *inc_nl_role_name(unsigned int role);
const char *inc_nl_transport_name(unsigned int transport);
const char *inc_nl_order_name(unsigned int order);
const char *inc_nl_event_name(unsigned int cmd);
/* Descriptions of attributes and counters in the YNL spec. */
const char *inc_nl_switch_doc(unsigned int attr);
const char *inc_nl_switch_stat_doc(unsigned int attr);
const char *inc_nl_tree_doc(unsigned int attr);
const char *inc_nl_tree_stat_doc(unsigned int attr);
const char *inc_nl_member_doc(unsigned int attr);
const char *inc_nl_member_stat_doc(unsigned int attr);
/* Names derived from <linux/rdma_inc_proto.h>. */
const char *inc_nl_collective_name(unsigned int collective);
const char *inc_nl_dtype_name(unsigned int dtype);
const char *inc_nl_op_name(unsigned int op);
const char *inc_nl_status_name(unsigned int status);

#endif /* INC_TOOL_NL_H */
