// SPDX-License-Identifier: GPL-2.0
/* Make the trees to be fuzzed, by valid netlink messages. */
#include <arpa/inet.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>

#include <linux/rdma_inc.h>

#include "fuzz.h"

#define MAX_ATTR                                                 \
	((int)RDMA_INC_A_MEMBER_MAX > (int)RDMA_INC_A_TREE_MAX ? \
		 (int)RDMA_INC_A_MEMBER_MAX :                    \
		 (int)RDMA_INC_A_TREE_MAX)

static struct nl_sock *sk;
static int family;

/**
 * control_open() - open a netlink socket to the switch
 *
 * The caller is in the switch's namespace.
 *
 * Return: 0, or -1.
 */
int control_open(void)
{
	sk = nl_socket_alloc();
	if (!sk || genl_connect(sk))
		return -1;
	nl_socket_disable_seq_check(sk);
	family = genl_ctrl_resolve(sk, RDMA_INC_FAMILY_NAME);
	return family < 0 ? -1 : 0;
}

/**
 * control_family() - get the family's number
 *
 * Return: message type of the family.
 */
int control_family(void)
{
	return family;
}

static struct nl_msg *request(uint8_t cmd)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg)
		genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0,
			    NLM_F_REQUEST | NLM_F_ACK, cmd,
			    RDMA_INC_FAMILY_VERSION);
	return msg;
}

static int answer(struct nl_msg *msg, void *arg)
{
	struct nlattr **attrs = arg;
	static char copy[8192];
	struct nlmsghdr *hdr = (struct nlmsghdr *)copy;

	if (nlmsg_hdr(msg)->nlmsg_len > sizeof(copy))
		return NL_STOP;
	memcpy(copy, nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	genlmsg_parse(hdr, 0, attrs, MAX_ATTR, NULL);
	return NL_OK;
}

static bool ended;

static int acknowledged(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	ended = true;
	return NL_STOP;
}

static int refused(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	(void)from;
	*(int *)arg = err->error;
	ended = true;
	return NL_STOP;
}

/* Send and free; attrs points into the reply until the next call. */
static int ask(struct nl_msg *msg, struct nlattr **attrs)
{
	int error = 0;

	memset(attrs, 0, (MAX_ATTR + 1) * sizeof(*attrs));
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, answer, attrs);
	nl_socket_modify_cb(sk, NL_CB_ACK, NL_CB_CUSTOM, acknowledged, NULL);
	nl_socket_modify_err_cb(sk, NL_CB_CUSTOM, refused, &error);
	ended = nl_send_auto(sk, msg) < 0;
	if (ended)
		error = -1;
	nlmsg_free(msg);
	/* The reply and its acknowledgment are two datagrams. */
	while (!ended && nl_recvmsgs_default(sk) >= 0)
		;
	return error;
}

static int add_member(const struct options *o, struct tree *t,
		      unsigned int rank)
{
	struct nlattr *a[MAX_ATTR + 1];
	struct member *m = &t->m[rank];
	struct nl_msg *msg = request(RDMA_INC_CMD_MEMBER_NEW);

	*m = (struct member) {
		.psn = rnd(4) ? rnd(1 << 24) : 0xfffffd,
		.peer_psn = rnd(1 << 24), .uc = m->uc,
	};
	nla_put_u32(msg, RDMA_INC_A_MEMBER_TREE_ID, t->id);
	nla_put_u16(msg, RDMA_INC_A_MEMBER_RANK, rank);
	nla_put_u32(msg, RDMA_INC_A_MEMBER_PSN, m->psn);
	nla_put(msg, RDMA_INC_A_MEMBER_PEER_ADDR, 4, &o->host_addr);
	nla_put(msg, RDMA_INC_A_MEMBER_LOCAL_ADDR, 4, &o->switch_addr);
	nla_put_u32(msg, RDMA_INC_A_MEMBER_PEER_QPN, OUR_QPN + rank);
	if (m->uc)
		nla_put_u8(msg, RDMA_INC_A_MEMBER_TRANSPORT,
			   RDMA_INC_TRANSPORT_UC);
	nla_put_u32(msg, RDMA_INC_A_MEMBER_PEER_PSN, m->peer_psn);
	if (ask(msg, a) || !a[RDMA_INC_A_MEMBER_QPN] ||
	    !a[RDMA_INC_A_MEMBER_RKEY])
		return -1;
	m->qpn = nla_get_u32(a[RDMA_INC_A_MEMBER_QPN]);
	m->rkey = nla_get_u32(a[RDMA_INC_A_MEMBER_RKEY]);
	return 0;
}

/* We are the parent, too. */
static int connect_parent(const struct options *o, struct tree *t)
{
	struct nlattr *a[MAX_ATTR + 1];
	struct member *m = &t->up;
	struct nl_msg *msg = request(RDMA_INC_CMD_PARENT_SET);

	*m = (struct member){ .peer_psn = rnd(1 << 24) };
	nla_put_u32(msg, RDMA_INC_A_MEMBER_TREE_ID, t->id);
	nla_put_u32(msg, RDMA_INC_A_MEMBER_PEER_TREE_ID, 1 + rnd(9));
	nla_put(msg, RDMA_INC_A_MEMBER_PEER_ADDR, 4, &o->host_addr);
	nla_put(msg, RDMA_INC_A_MEMBER_LOCAL_ADDR, 4, &o->switch_addr);
	nla_put_u32(msg, RDMA_INC_A_MEMBER_PEER_QPN, OUR_QPN + t->ranks);
	nla_put_u32(msg, RDMA_INC_A_MEMBER_PEER_PSN, m->peer_psn);
	nla_put_u32(msg, RDMA_INC_A_MEMBER_PEER_RKEY, rnd(1 << 30));
	if (ask(msg, a) || !a[RDMA_INC_A_MEMBER_QPN] ||
	    !a[RDMA_INC_A_MEMBER_RKEY] || !a[RDMA_INC_A_MEMBER_PSN])
		return -1;
	m->qpn = nla_get_u32(a[RDMA_INC_A_MEMBER_QPN]);
	m->rkey = nla_get_u32(a[RDMA_INC_A_MEMBER_RKEY]);
	m->psn = nla_get_u32(a[RDMA_INC_A_MEMBER_PSN]);
	return 0;
}

/* Sometimes a member is a switch: switches may send wide elements. */
static void put_levels(struct nl_msg *msg, struct tree *t)
{
	unsigned int all = t->ranks;
	bool below = t->ranks > 1 && !rnd(4);

	for (unsigned int i = 0; below && i < t->ranks; i++) {
		unsigned int n = t->m[i].uc ? 0 : rnd(4);

		nla_put_u16(msg, RDMA_INC_A_TREE_BELOW, n);
		all += n ? n - 1 : 0;
	}
	t->leaf = !rnd(3);
	if (!t->leaf)
		return;
	nla_put_u16(msg, RDMA_INC_A_TREE_FIRST_RANK, 2);
	nla_put_u16(msg, RDMA_INC_A_TREE_JOB_RANKS, 2 + all + rnd(3));
}

/**
 * control_tree() - make a tree with all its members
 * @o: options
 * @t: filled in
 * Return: 0, or -1 if the switch refused.
 * Return: 0, or -1 if the switch would not.
 */
int control_tree(const struct options *o, struct tree *t)
{
	struct nlattr *a[MAX_ATTR + 1];
	struct nl_msg *msg = request(RDMA_INC_CMD_TREE_NEW);

	*t = (struct tree) {
		.ranks = 1 + rnd(MAX_RANKS), .slots = 1 << rnd(4),
		.pmtu = 256 << rnd(3),
	};
	t->msg_size = t->pmtu * (1 + rnd(4));
	if (t->msg_size == t->pmtu)
		for (unsigned int rank = 0; rank < t->ranks; rank++)
			t->m[rank].uc = rnd(3);
	nla_put_u16(msg, RDMA_INC_A_TREE_RANKS, t->ranks);
	nla_put_u16(msg, RDMA_INC_A_TREE_SLOTS, t->slots);
	nla_put_u16(msg, RDMA_INC_A_TREE_PMTU, t->pmtu);
	nla_put_u32(msg, RDMA_INC_A_TREE_MSG_SIZE, t->msg_size);
	nla_put_u32(msg, RDMA_INC_A_TREE_HOLD, 65536);
	nla_put_u32(msg, RDMA_INC_A_TREE_DEAD_TIME, 20000);
	nla_put_u32(msg, RDMA_INC_A_TREE_MIN_RTO, rnd(2) ? 1 : 1000);
	put_levels(msg, t);
	if (ask(msg, a) || !a[RDMA_INC_A_TREE_ID])
		return -1;
	t->id = nla_get_u32(a[RDMA_INC_A_TREE_ID]);
	for (unsigned int rank = 0; rank < t->ranks; rank++) {
		if (add_member(o, t, rank)) {
			control_tree_end(t);
			return -1;
		}
	}
	if (t->leaf && connect_parent(o, t)) {
		control_tree_end(t);
		return -1;
	}
	return 0;
}

/**
 * control_tree_end() - delete a tree, without waiting for its members
 * @t: tree; may not exist any more
 */
void control_tree_end(const struct tree *t)
{
	struct nlattr *a[MAX_ATTR + 1];
	struct nl_msg *msg = request(RDMA_INC_CMD_TREE_SET);

	nla_put_u32(msg, RDMA_INC_A_TREE_ID, t->id);
	nla_put_u32(msg, RDMA_INC_A_TREE_DEAD_TIME, 10);
	nla_put_u32(msg, RDMA_INC_A_TREE_MIN_RTO, 1);
	ask(msg, a);
	msg = request(RDMA_INC_CMD_TREE_DEL);
	nla_put_u32(msg, RDMA_INC_A_TREE_ID, t->id);
	ask(msg, a);
}

/**
 * control_limit() - bound the memory of all trees
 * @bytes: limit
 *
 * Return: 0, or an error of libnl.
 */
int control_limit(uint64_t bytes)
{
	struct nlattr *a[MAX_ATTR + 1];
	struct nl_msg *msg = request(RDMA_INC_CMD_SWITCH_SET);

	nla_put_u64(msg, RDMA_INC_A_SWITCH_MEMORY_LIMIT, bytes);
	nla_put_u32(msg, RDMA_INC_A_SWITCH_MAX_TREES, 0);
	nla_put_u16(msg, RDMA_INC_A_SWITCH_MAX_RANKS, 0);
	nla_put_u16(msg, RDMA_INC_A_SWITCH_MAX_SLOTS, 0);
	nla_put_u64(msg, RDMA_INC_A_SWITCH_MAX_TREE_MEMORY, 0);
	nla_put_u64(msg, RDMA_INC_A_SWITCH_MAX_TREE_HOLD, 0);
	return ask(msg, a);
}

static struct tree found[256];
static unsigned int nfound;

static int collect(struct nl_msg *msg, void *arg)
{
	struct nlattr *id = nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN,
					    RDMA_INC_A_TREE_ID);

	(void)arg;
	if (id && nfound < sizeof(found) / sizeof(*found))
		found[nfound++].id = nla_get_u32(id);
	return NL_OK;
}

/**
 * control_purge() - make room when there is none for another tree
 */
void control_purge(void)
{
	struct nl_msg *msg = request(RDMA_INC_CMD_TREE_GET);

	nlmsg_hdr(msg)->nlmsg_flags |= NLM_F_DUMP;
	nfound = 0;
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, collect, NULL);
	if (nl_send_auto(sk, msg) >= 0)
		nl_recvmsgs_default(sk);
	nlmsg_free(msg);
	for (unsigned int i = 0; i < nfound; i++)
		control_tree_end(&found[i]);
	control_limit(FUZZ_MEMORY);
}
