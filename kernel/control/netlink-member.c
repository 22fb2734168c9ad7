// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "rdma-inc": commands on members.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/nospec.h>
#include <net/addrconf.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include <net/route.h>
#include <uapi/linux/rdma_inc.h>

#include "control/member.h"
#include "control/netlink-gen.h"
#include "control/netlink.h"
#include "core/wire.h"
#include "object/qp.h"
#include "object/switch.h"
#include "object/tree.h"
#include "report/notify.h"

static const char *addr_fault(const struct in6_addr *addr, bool v4)
{
	__be32 ip = addr->s6_addr32[3];

	if (v4 ? ipv4_is_zeronet(ip) : ipv6_addr_any(addr))
		return "unspecified";
	if (v4 ? ipv4_is_multicast(ip) : ipv6_addr_is_multicast(addr))
		return "multicast";
	if (v4 && ipv4_is_lbcast(ip))
		return "broadcast";
	if (!v4 && ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
		return "link-local (use another GID of the host)";
	return NULL;
}

/*
 * An address has the format of a GID: 4 bytes, or 16, where a mapped IPv4
 * address stands for IPv4.
 */
static int parse_addr(const struct genl_info *info, int attr,
		      struct in6_addr *addr, u8 *family)
{
	const struct nlattr *nla = info->attrs[attr];
	const char *fault;
	bool v4;

	if (nla_len(nla) == sizeof(struct in_addr)) {
		ipv6_addr_set_v4mapped(nla_get_in_addr(nla), addr);
	} else if (nla_len(nla) == sizeof(*addr)) {
		*addr = nla_get_in6_addr(nla);
	} else {
		NL_SET_BAD_ATTR(info->extack, nla);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "an address has 4 or 16 bytes, not %d",
				       nla_len(nla));
		return -EINVAL;
	}

	v4 = ipv6_addr_v4mapped(addr);
	*family = v4 ? AF_INET : AF_INET6;
	fault = addr_fault(addr, v4);
	if (fault) {
		NL_SET_BAD_ATTR(info->extack, nla);
		NL_SET_ERR_MSG_FMT_MOD(info->extack, "address is %s", fault);
		return -EINVAL;
	}
	return 0;
}

static bool is_ours(const struct genl_info *info, const struct in6_addr *addr,
		    const struct inc_member_cfg *cfg)
{
	struct net *net = genl_info_net(info);

	/* The address may be of the interface's VRF: the route decides. */
	if (cfg->ifindex)
		return true;
	if (cfg->family == AF_INET)
		return inet_addr_type(net, addr->s6_addr32[3]) == RTN_LOCAL;
	return IS_ENABLED(CONFIG_IPV6) && ipv6_chk_addr(net, addr, NULL, 0);
}

static int parse_addrs(const struct genl_info *info, struct inc_member_cfg *cfg)
{
	const struct nlattr *local = info->attrs[RDMA_INC_A_MEMBER_LOCAL_ADDR];
	u8 family;
	int err;

	err = parse_addr(info, RDMA_INC_A_MEMBER_PEER_ADDR, &cfg->peer,
			 &cfg->family);
	if (err || !local)
		return err;

	err = parse_addr(info, RDMA_INC_A_MEMBER_LOCAL_ADDR, &cfg->local,
			 &family);
	if (err)
		return err;
	if (family != cfg->family) {
		NL_SET_BAD_ATTR(info->extack, local);
		NL_SET_ERR_MSG_MOD(info->extack,
				   "local-addr and peer-addr are not of one family");
		return -EINVAL;
	}
	if (!is_ours(info, &cfg->local, cfg)) {
		NL_SET_BAD_ATTR(info->extack, local);
		NL_SET_ERR_MSG_MOD(info->extack,
				   "local-addr is no address of this host");
		return -EADDRNOTAVAIL;
	}
	cfg->has_local = true;
	return 0;
}

/* Parse the other end of a QP. */
static int parse_peer(const struct genl_info *info, struct inc_member_cfg *cfg)
{
	struct nlattr **attrs = info->attrs;

	if (GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_PEER_ADDR) ||
	    GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_PEER_QPN) ||
	    GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_PEER_PSN))
		return -EINVAL;

	cfg->peer_qpn = nla_get_u32(attrs[RDMA_INC_A_MEMBER_PEER_QPN]);
	cfg->peer_psn = nla_get_u32(attrs[RDMA_INC_A_MEMBER_PEER_PSN]);
	cfg->pkey = INC_PKEY_DEFAULT;
	if (attrs[RDMA_INC_A_MEMBER_PKEY]) {
		cfg->pkey = nla_get_u16(attrs[RDMA_INC_A_MEMBER_PKEY]);
		/* IBTA section 10.9.1.1: the low 15 bits are not all zero. */
		if (!(cfg->pkey & 0x7fff)) {
			NL_SET_BAD_ATTR(info->extack,
					attrs[RDMA_INC_A_MEMBER_PKEY]);
			NL_SET_ERR_MSG_MOD(info->extack,
					   "pkey is invalid: its low 15 bits are 0");
			return -EINVAL;
		}
	}
	return parse_addrs(info, cfg);
}

/* Is anything of the other end given? Then all that it needs has to be. */
static bool names_peer(const struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;

	return attrs[RDMA_INC_A_MEMBER_PEER_ADDR] ||
	       attrs[RDMA_INC_A_MEMBER_PEER_QPN] ||
	       attrs[RDMA_INC_A_MEMBER_PEER_PSN] ||
	       attrs[RDMA_INC_A_MEMBER_LOCAL_ADDR] ||
	       attrs[RDMA_INC_A_MEMBER_PKEY];
}

static void parse_psn(const struct genl_info *info, struct inc_member_cfg *cfg)
{
	const struct nlattr *psn = info->attrs[RDMA_INC_A_MEMBER_PSN];

	if (!psn)
		return;
	cfg->psn = nla_get_u32(psn);
	cfg->has_psn = true;
}

/* The interface may go later: then there is no route to the member. */
static int parse_ifindex(const struct genl_info *info,
			 struct inc_member_cfg *cfg)
{
	const struct nlattr *nla = info->attrs[RDMA_INC_A_MEMBER_IFINDEX];
	struct net_device *dev;

	if (!nla)
		return 0;
	cfg->ifindex = nla_get_u32(nla);
	dev = dev_get_by_index(genl_info_net(info), cfg->ifindex);
	if (!dev) {
		NL_SET_BAD_ATTR(info->extack, nla);
		NL_SET_ERR_MSG_MOD(info->extack, "no interface has this index");
		return -ENODEV;
	}
	dev_put(dev);
	return 0;
}

static int parse_member(const struct genl_info *info,
			struct inc_member_cfg *cfg)
{
	struct nlattr **attrs = info->attrs;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_TREE_ID) ||
	    GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_RANK))
		return -EINVAL;
	cfg->index = nla_get_u16(attrs[RDMA_INC_A_MEMBER_RANK]);
	if (attrs[RDMA_INC_A_MEMBER_TRANSPORT])
		cfg->transport = nla_get_u8(attrs[RDMA_INC_A_MEMBER_TRANSPORT]);
	if (attrs[RDMA_INC_A_MEMBER_QPN])
		cfg->qpn = nla_get_u32(attrs[RDMA_INC_A_MEMBER_QPN]);
	parse_psn(info, cfg);
	err = parse_ifindex(info, cfg);
	if (err)
		return err;
	return names_peer(info) ? parse_peer(info, cfg) : 0;
}

/* Under inc_switch.lock. */
static struct inc_tree *find_ranked(struct inc_switch *sw,
				    const struct genl_info *info, u16 *rank)
{
	struct inc_tree *tree;

	if (GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_TREE_ID) ||
	    GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_RANK))
		return ERR_PTR(-EINVAL);

	tree = inc_nl_find_tree(sw, info, RDMA_INC_A_MEMBER_TREE_ID);
	if (IS_ERR(tree))
		return tree;
	*rank = nla_get_u16(info->attrs[RDMA_INC_A_MEMBER_RANK]);
	if (*rank >= tree->cfg.members) {
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[RDMA_INC_A_MEMBER_RANK]);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "rank %u: tree %u has ranks 0 to %u",
				       *rank, tree->cfg.id,
				       tree->cfg.members - 1);
		return ERR_PTR(-EINVAL);
	}
	*rank = array_index_nospec(*rank, tree->cfg.members);
	return tree;
}

/* Under inc_switch.lock. */
static struct inc_qp *find_member(struct inc_switch *sw,
				  const struct genl_info *info)
{
	struct inc_tree *tree;
	struct inc_qp *qp;
	u16 rank;

	tree = find_ranked(sw, info, &rank);
	if (IS_ERR(tree))
		return ERR_CAST(tree);
	qp = inc_qp_find(tree, rank);
	if (!qp) {
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[RDMA_INC_A_MEMBER_RANK]);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "rank %u of tree %u has no member",
				       rank, tree->cfg.id);
		return ERR_PTR(-ENOENT);
	}
	return qp;
}

/* inc_member_new() has set the message; name the attribute, too. */
static void set_bad_attr(const struct genl_info *info, int err)
{
	struct nlattr **attrs = info->attrs;

	if (err == -EEXIST)
		NL_SET_BAD_ATTR(info->extack, attrs[RDMA_INC_A_MEMBER_RANK]);
	else if (err == -EADDRINUSE)
		NL_SET_BAD_ATTR(info->extack, attrs[RDMA_INC_A_MEMBER_QPN]);
	else if (err == -EPIPE)
		NL_SET_BAD_ATTR(info->extack, attrs[RDMA_INC_A_MEMBER_TREE_ID]);
	else if (err == -EMSGSIZE || err == -EOPNOTSUPP)
		NL_SET_BAD_ATTR(info->extack,
				attrs[RDMA_INC_A_MEMBER_TRANSPORT]);
	else if (err == -ENETUNREACH)
		NL_SET_BAD_ATTR(info->extack,
				attrs[RDMA_INC_A_MEMBER_PEER_ADDR]);
}

static struct inc_qp *new_locked(struct inc_switch *sw,
				 struct inc_member_cfg *cfg,
				 const struct genl_info *info,
				 struct sk_buff *msg)
{
	struct inc_tree *tree;
	struct inc_qp *qp;

	tree = find_ranked(sw, info, &cfg->index);
	if (IS_ERR(tree))
		return ERR_CAST(tree);
	qp = inc_member_new(tree, cfg, info->extack);
	/* Cannot fail: the message is large enough for any member. */
	if (IS_ERR(qp))
		set_bad_attr(info, PTR_ERR(qp));
	else
		WARN_ON_ONCE(inc_nl_fill_member(msg, info, 0, qp));
	return qp;
}

/**
 * rdma_inc_nl_member_new_doit() - RDMA_INC_CMD_MEMBER_NEW
 * @skb: request
 * @info: parsed
 *
 * Return: 0 after the reply; -EINVAL: an attribute is missing or wrong;
 * -ENOENT: no such tree; -EEXIST: the rank is taken; -EADDRINUSE: the QPN is
 * taken; -ENOBUFS: over the memory limit; -EADDRNOTAVAIL: the local address is
 * not ours; -ENETUNREACH: no route to the host; -ENODEV: no such interface;
 * -EPIPE: the tree has failed;
 * -EMSGSIZE: its messages are too long for UC; -EOPNOTSUPP: UC for a switch;
 * -EAGAIN: no room for the reply; -ENOMEM.
 */
int rdma_inc_nl_member_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct inc_member_cfg cfg = {};
	struct sk_buff *msg;
	struct inc_qp *qp;
	int err;

	err = parse_member(info, &cfg);
	if (err)
		return err;

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;

	mutex_lock(&sw->lock);
	qp = new_locked(sw, &cfg, info, msg);
	err = PTR_ERR_OR_ZERO(qp);
	if (!err) {
		err = genlmsg_reply(msg, info);
		msg = NULL;
		/*
		 * Without room for the reply, QPN and R_Key would be unknown.
		 */
		if (err)
			inc_member_del(qp);
		else
			inc_member_begin(qp->tree);
	}
	mutex_unlock(&sw->lock);
	nlmsg_free(msg);
	return err;
}

/* Members that one message may add, so that a reply of moderate size has them. */
#define MAX_MEMBERS	128
/* Bytes that a member takes in the reply. */
#define MADE_SIZE	256

/* Returns how many members a request adds, or -errno. */
static int count_members(const struct genl_info *info)
{
	const struct nlattr *nla;
	int rem, n = 0;

	if (GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBERS_TREE_ID) ||
	    GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBERS_MEMBER))
		return -EINVAL;
	nlmsg_for_each_attr_type(nla, RDMA_INC_A_MEMBERS_MEMBER, info->nlhdr,
				 GENL_HDRLEN, rem) {
		if (n++ < MAX_MEMBERS)
			continue;
		NL_SET_BAD_ATTR(info->extack, nla);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "at most %d members in one request",
				       MAX_MEMBERS);
		return -E2BIG;
	}
	return n;
}

/* Add a member as if its attributes were a request of its own. */
static struct inc_qp *new_nested(struct inc_switch *sw,
				 const struct genl_info *info,
				 const struct nlattr *nest,
				 struct nlattr **attrs)
{
	struct inc_member_cfg cfg = {};
	struct genl_info one = *info;
	struct inc_tree *tree;
	struct inc_qp *qp;
	int err;

	err = nla_parse_nested(attrs, RDMA_INC_A_MEMBER_PEER_PSN, nest,
			       rdma_inc_new_member_nl_policy, info->extack);
	if (err)
		return ERR_PTR(err);
	attrs[RDMA_INC_A_MEMBER_TREE_ID] =
		info->attrs[RDMA_INC_A_MEMBERS_TREE_ID];
	one.attrs = attrs;
	err = parse_member(&one, &cfg);
	if (err)
		return ERR_PTR(err);
	tree = find_ranked(sw, &one, &cfg.index);
	if (IS_ERR(tree))
		return ERR_CAST(tree);
	qp = inc_member_new(tree, &cfg, info->extack);
	if (IS_ERR(qp))
		set_bad_attr(&one, PTR_ERR(qp));
	return qp;
}

/* Add a member of several; an error says which one it is. */
static struct inc_qp *new_ranked(struct inc_switch *sw,
				 const struct genl_info *info,
				 const struct nlattr *nest)
{
	struct nlattr *attrs[RDMA_INC_A_MEMBER_MAX + 1] = {};
	struct inc_qp *qp = new_nested(sw, info, nest, attrs);
	const struct nlattr *rank = attrs[RDMA_INC_A_MEMBER_RANK];
	char who[sizeof("rank 65535: ")];
	char text[NETLINK_MAX_FMTMSG_LEN - sizeof(who)];
	const char *msg = info->extack->_msg;

	if (!IS_ERR(qp) || !rank || !msg)
		return qp;
	snprintf(who, sizeof(who), "rank %u: ", nla_get_u16(rank));
	strscpy(text, msg + str_has_prefix(msg, KBUILD_MODNAME ": "));
	if (!str_has_prefix(text, who))
		NL_SET_ERR_MSG_FMT_MOD(info->extack, "%s%s", who, text);
	return qp;
}

/* Under inc_switch.lock. Consumes @msg. */
static int new_many(struct inc_switch *sw, struct genl_info *info,
		    struct sk_buff *msg)
{
	void *hdr = genlmsg_iput(msg, info);
	u16 made[MAX_MEMBERS];
	const struct nlattr *nla;
	struct inc_tree *tree;
	int rem, err = 0;
	int n = 0;

	tree = inc_nl_find_tree(sw, info, RDMA_INC_A_MEMBERS_TREE_ID);
	if (IS_ERR(tree)) {
		nlmsg_free(msg);
		return PTR_ERR(tree);
	}
	/* There is room for all: see MADE_SIZE. */
	WARN_ON_ONCE(!hdr || nla_put_u32(msg, RDMA_INC_A_MEMBERS_TREE_ID,
					 tree->cfg.id));
	nlmsg_for_each_attr_type(nla, RDMA_INC_A_MEMBERS_MEMBER, info->nlhdr,
				 GENL_HDRLEN, rem) {
		struct inc_qp *qp = new_ranked(sw, info, nla);

		err = PTR_ERR_OR_ZERO(qp);
		if (err)
			break;
		made[n++] = qp->cfg.index;
		WARN_ON_ONCE(inc_nl_put_made(msg, RDMA_INC_A_MEMBERS_MADE, qp));
	}
	if (err) {
		nlmsg_free(msg);
	} else {
		genlmsg_end(msg, hdr);
		err = genlmsg_reply(msg, info);
	}
	if (!err)
		inc_member_begin(tree);
	/* Without room for the reply, QPNs and R_Keys would be unknown. */
	while (err && n)
		inc_member_del(inc_qp_find(tree, made[--n]));
	return err;
}

/**
 * rdma_inc_nl_members_new_doit() - RDMA_INC_CMD_MEMBERS_NEW
 * @skb: request
 * @info: parsed
 *
 * Return: 0 after the reply; -E2BIG: too many at a time; otherwise as
 * RDMA_INC_CMD_MEMBER_NEW, for the first member that fails: then none is added.
 */
int rdma_inc_nl_members_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	int n = count_members(info), err;
	struct sk_buff *msg;

	if (n < 0)
		return n;
	msg = genlmsg_new(MADE_SIZE * (n + 1), GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	mutex_lock(&sw->lock);
	err = new_many(sw, info, msg);
	mutex_unlock(&sw->lock);
	return err;
}

static int set_locked(struct inc_switch *sw, const struct inc_member_cfg *cfg,
		      const struct genl_info *info, struct sk_buff *msg)
{
	struct inc_qp *qp = find_member(sw, info);
	int err;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	err = inc_member_set(qp, cfg, info->extack);
	if (err == -EISCONN)
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[RDMA_INC_A_MEMBER_RANK]);
	else if (err)
		set_bad_attr(info, err);
	return err ?: inc_nl_fill_member(msg, info, 0, qp);
}

/* A request that connects something, and is answered by its QP. */
static int connect_doit(struct genl_info *info,
			const struct inc_member_cfg *cfg,
			int (*connect)(struct inc_switch *sw,
				       const struct inc_member_cfg *cfg,
				       const struct genl_info *info,
				       struct sk_buff *msg))
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct sk_buff *msg;
	int err;

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;

	mutex_lock(&sw->lock);
	err = connect(sw, cfg, info, msg);
	mutex_unlock(&sw->lock);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return genlmsg_reply(msg, info);
}

/**
 * rdma_inc_nl_member_set_doit() - RDMA_INC_CMD_MEMBER_SET
 * @skb: request
 * @info: parsed
 *
 * Return: 0 after the reply; -EINVAL: an attribute is missing or wrong;
 * -ENOENT: no such tree or member; -EISCONN: it has its peer; -EPIPE: the tree
 * has failed; -EADDRNOTAVAIL: the local address is not ours; -ENETUNREACH: no
 * route to the host; -ENOMEM.
 */
int rdma_inc_nl_member_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_member_cfg cfg = {};
	int err;

	parse_psn(info, &cfg);
	err = parse_peer(info, &cfg);
	return err ?: connect_doit(info, &cfg, set_locked);
}

/**
 * rdma_inc_nl_member_del_doit() - RDMA_INC_CMD_MEMBER_DEL
 * @skb: request
 * @info: parsed
 *
 * Return: 0; -EINVAL: an attribute is missing or wrong; -ENOENT: no such tree
 * or member.
 */
int rdma_inc_nl_member_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct inc_qp *qp;

	mutex_lock(&sw->lock);
	qp = find_member(sw, info);
	if (!IS_ERR(qp))
		inc_member_del(qp);
	mutex_unlock(&sw->lock);
	return PTR_ERR_OR_ZERO(qp);
}

static int reply_qp(struct sk_buff *skb, struct genl_info *info,
		    struct inc_qp *(*find)(struct inc_switch *sw,
					   const struct genl_info *info))
{
	struct inc_switch *sw = inc_switch_get(genl_info_net(info));
	struct sk_buff *msg;
	struct inc_qp *qp;
	int err;

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;

	mutex_lock(&sw->lock);
	qp = find(sw, info);
	err = IS_ERR(qp) ? PTR_ERR(qp) :
	      inc_nl_fill_member(msg, info, 0, qp);
	mutex_unlock(&sw->lock);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return genlmsg_reply(msg, info);
}

/**
 * rdma_inc_nl_member_get_doit() - RDMA_INC_CMD_MEMBER_GET for one member
 * @skb: request
 * @info: parsed
 *
 * Return: 0 after the reply; -EINVAL: an attribute is missing or wrong;
 * -ENOENT: no such tree or member; -ENOMEM.
 */
int rdma_inc_nl_member_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply_qp(skb, info, find_member);
}

static int dump_members(struct sk_buff *skb, struct netlink_callback *cb,
			struct inc_tree *tree, struct inc_nl_dump *d)
{
	for (; d->next < tree->cfg.members; d->next++) {
		struct inc_qp *qp = inc_qp_find(tree, d->next);
		int err;

		if (!qp)
			continue;
		err = inc_nl_fill_member(skb, genl_info_dump(cb), NLM_F_MULTI,
					 qp);
		if (err)
			return err;
	}
	return 0;
}

/**
 * rdma_inc_nl_member_get_dumpit() - RDMA_INC_CMD_MEMBER_GET for all members
 * @skb: message
 * @cb: dump
 *
 * Return: bytes in @skb, 0 at the end, or -errno.
 */
int rdma_inc_nl_member_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb)
{
	return inc_nl_dump_trees(skb, cb, dump_members);
}

/* Under inc_switch.lock. */
static struct inc_qp *find_parent(struct inc_switch *sw,
				  const struct genl_info *info)
{
	struct inc_tree *tree;
	struct inc_qp *qp;

	tree = inc_nl_find_tree(sw, info, RDMA_INC_A_MEMBER_TREE_ID);
	if (IS_ERR(tree))
		return ERR_CAST(tree);
	qp = inc_tree_parent(tree);
	if (!qp) {
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[RDMA_INC_A_MEMBER_TREE_ID]);
		NL_SET_ERR_MSG_FMT_MOD(info->extack,
				       "tree %u has no parent: it was made without job-ranks",
			tree->cfg.id);
		return ERR_PTR(-ENOENT);
	}
	return qp;
}

/**
 * rdma_inc_nl_parent_get_doit() - RDMA_INC_CMD_PARENT_GET
 * @skb: request
 * @info: parsed
 *
 * Return: 0 after the reply; -EINVAL: the tree is not named; -ENOENT: no such
 * tree, or not a child switch; -ENOMEM.
 */
int rdma_inc_nl_parent_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply_qp(skb, info, find_parent);
}

static int connect_locked(struct inc_switch *sw,
			  const struct inc_member_cfg *cfg,
			  const struct genl_info *info, struct sk_buff *msg)
{
	struct inc_qp *qp = find_parent(sw, info);
	int err;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	err = inc_member_connect(qp, cfg, info->extack);
	if (err == -EISCONN)
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[RDMA_INC_A_MEMBER_TREE_ID]);
	else if (err == -ENETUNREACH)
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[RDMA_INC_A_MEMBER_PEER_ADDR]);
	return err ?: inc_nl_fill_member(msg, info, 0, qp);
}

/**
 * rdma_inc_nl_parent_set_doit() - RDMA_INC_CMD_PARENT_SET
 * @skb: request
 * @info: parsed
 *
 * Return: 0 after the reply; -EINVAL: an attribute is missing or wrong;
 * -ENOENT: no such tree, or not a child switch; -EISCONN: it has its parent;
 * -EADDRNOTAVAIL: the local address is not ours; -ENETUNREACH: no route to the
 * parent; -ENOMEM.
 */
int rdma_inc_nl_parent_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct inc_member_cfg cfg = {};
	int err;

	if (GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_TREE_ID) ||
	    GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_PEER_TREE_ID) ||
	    GENL_REQ_ATTR_CHECK(info, RDMA_INC_A_MEMBER_PEER_RKEY))
		return -EINVAL;
	err = parse_peer(info, &cfg);
	if (err)
		return err;
	cfg.peer_tree_id =
		nla_get_u32(info->attrs[RDMA_INC_A_MEMBER_PEER_TREE_ID]);
	cfg.peer_rkey = nla_get_u32(info->attrs[RDMA_INC_A_MEMBER_PEER_RKEY]);
	return connect_doit(info, &cfg, connect_locked);
}
