/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The generic netlink family "rdma-inc" for user space: the only place of inc-tool
 * and its daemon that knows netlink. It prints nothing and ends nothing.
 *
 * Every function returns 0 or -errno. After an error, inc_nl.error describes it
 * in one line: the kernel's message (extended ACK) if there is one, with the
 * name of the attribute that it is about.
 *
 * One struct inc_nl serves one thread at a time. It belongs to the network
 * namespace that the thread was in when it was opened.
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
 * @family: number of the family
 * @version: version of the family
 * @error: after an error, what was wrong; no newline
 * @from_kernel: the error came from the module, not from this side
 */
struct inc_nl {
	struct nl_sock	*sock;
	int		family;
	int		version;
	bool		from_kernel;
	char		error[INC_NL_ERROR_LEN];
};

/*
 * In each struct of objects-gen.h, has has the bit RDMA_INC_A_... set if that
 * attribute was given: in a request by the caller, in a reply by the kernel. An
 * attribute that was not given is left to the kernel in a request, and zero in a
 * reply.
 */
#define INC_NL_HAS(obj, attr)	(((obj)->has >> RDMA_INC_A_##attr) & 1)

/* Give an attribute: INC_NL_SET(&tree, TREE_RANKS, ranks, 4); */
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
 * @cmd: RDMA_INC_CMD_TREE_*_NTF, RDMA_INC_CMD_MEMBER_*_NTF or RDMA_INC_CMD_SLOT_*_NTF
 * @tree: if it is one of the first
 * @member: if it is one of the second
 * @slot: if it is one of the third
 */
struct inc_nl_event {
	uint8_t			cmd;
	struct inc_nl_tree	tree;
	struct inc_nl_member	member;
	struct inc_nl_slot	slot;
};

/* If -ENOENT: the module is not loaded; the error text says so. */
int inc_nl_open(struct inc_nl *nl);
/* Also after a failed inc_nl_open(), and twice. */
void inc_nl_close(struct inc_nl *nl);

int inc_nl_switch_get(struct inc_nl *nl, struct inc_nl_switch *reply);
int inc_nl_switch_set(struct inc_nl *nl, const struct inc_nl_switch *req);

/*
 * Requests: what is in req->has is sent. Replies may be NULL. The reply to
 * tree_new has the ID chosen and all defaults; that to member_new all that the
 * host needs: qpn, psn, rkey, slots, msg_size (the slots' stride), pmtu,
 * local_addr (its GID), next_msg_id.
 */
int inc_nl_tree_new(struct inc_nl *nl, const struct inc_nl_tree *req,
		    struct inc_nl_tree *reply);
int inc_nl_tree_set(struct inc_nl *nl, const struct inc_nl_tree *req);
int inc_nl_tree_get(struct inc_nl *nl, uint32_t id, struct inc_nl_tree *reply);
/*
 * Does not wait: the tree can no longer be found, and its members are being
 * told. RDMA_INC_CMD_TREE_DEL_NTF follows once they have acknowledged it, or after
 * the dead time.
 */
int inc_nl_tree_del(struct inc_nl *nl, uint32_t id);

int inc_nl_member_new(struct inc_nl *nl, const struct inc_nl_member *req,
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
 * Dumps: @fn is called for each object after the whole dump has come, so it may
 * use @nl; what it returns other than 0 ends the dump and is returned.
 * @tree_id 0 stands for all trees.
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
 * Events: after inc_nl_subscribe(), @nl is good for events only. Poll the file
 * descriptor for input, then call inc_nl_events(), which calls @fn for each
 * event that is there and does not wait. -ENOBUFS: events were lost, go on.
 */
int inc_nl_subscribe(struct inc_nl *nl);
int inc_nl_fd(const struct inc_nl *nl);
int inc_nl_events(struct inc_nl *nl,
		  int (*fn)(const struct inc_nl_event *ev, void *arg),
		  void *arg);

/*
 * The names that the YNL spec gives to things, NULL for numbers beyond it.
 * Counters are by attribute, from 1 to RDMA_INC_A_..._STATS_MAX.
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
/* What attributes and counters are, in the words of the YNL spec. */
const char *inc_nl_switch_doc(unsigned int attr);
const char *inc_nl_switch_stat_doc(unsigned int attr);
const char *inc_nl_tree_doc(unsigned int attr);
const char *inc_nl_tree_stat_doc(unsigned int attr);
const char *inc_nl_member_doc(unsigned int attr);
const char *inc_nl_member_stat_doc(unsigned int attr);
/* Those of <linux/rdma_inc_proto.h>, in lower case. */
const char *inc_nl_collective_name(unsigned int collective);
const char *inc_nl_dtype_name(unsigned int dtype);
const char *inc_nl_op_name(unsigned int op);
const char *inc_nl_status_name(unsigned int status);

#endif /* INC_TOOL_NL_H */
