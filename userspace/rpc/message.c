// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See message.h.
 */
#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/message.h"
#include "conf/array.h"
#include "conf/text.h"
#include "rdma_inc.h"
#include "rdma_inc.pb-c.h"

typedef RdmaInc__V1__RankMessage rank_message;
typedef RdmaInc__V1__ManagerMessage manager_message;

/* gRPC's status codes are part of its protocol. */
static const struct {
	int	err;
	int	status;
} statuses[] = {
	{ EINVAL, 3 },		/* INVALID_ARGUMENT */
	{ ETIMEDOUT, 4 },	/* DEADLINE_EXCEEDED */
	{ ENOENT, 5 },		/* NOT_FOUND */
	{ EEXIST, 6 },		/* ALREADY_EXISTS */
	{ EACCES, 7 },		/* PERMISSION_DENIED */
	{ EKEYREJECTED, 16 },	/* UNAUTHENTICATED */
	{ ENOBUFS, 8 },		/* RESOURCE_EXHAUSTED */
	{ EPROTO, 9 },		/* FAILED_PRECONDITION */
	{ ECONNRESET, 10 },	/* ABORTED */
	{ EMSGSIZE, 11 },	/* OUT_OF_RANGE */
	{ EPROTONOSUPPORT, 12 }, /* UNIMPLEMENTED */
	{ EIO, 13 },		/* INTERNAL */
	{ EHOSTUNREACH, 14 },	/* UNAVAILABLE */
	/* The first error above with a status is that status's errno. */
	{ ENOSPC, 8 },
	{ EDQUOT, 8 },
	{ ENOMEM, 8 },
	{ EBUSY, 9 },
	{ EOPNOTSUPP, 12 },
	{ EADDRNOTAVAIL, 3 },
	{ ENETUNREACH, 14 },
};

/*
 * Get the gRPC status for an error. Returns the status; UNKNOWN (2) if none
 * fits.
 * @err: positive errno value, 0: none
 */
int am_status_of(int err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].err == err)
			return statuses[i].status;
	return err ? 2 : 0;
}

/*
 * Get the error for a gRPC status. Returns a positive errno value; 0 if
 * @status is OK.
 */
int am_errno_of(int status)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].status == status)
			return statuses[i].err;
	return status ? EREMOTEIO : 0;
}

#define RANK(kind)	RDMA_INC__V1__RANK_MESSAGE__KIND_##kind
#define MANAGER(kind)	RDMA_INC__V1__MANAGER_MESSAGE__KIND_##kind
#define TYPES		(INC_RDV_CHANGE + 1)

/* The kind_case of each type; 0 if the sender does not send it. */
static const int rank_kinds[TYPES] = {
	[INC_RDV_JOIN]		= RANK(JOIN),
	[INC_RDV_RTS]		= RANK(RTS),
	[INC_RDV_LEAVE]		= RANK(LEAVE),
	[INC_RDV_LOST]		= RANK(LOST),
	[INC_RDV_GATHER]	= RANK(GATHER),
	[INC_RDV_RETRACT]	= RANK(RETRACT),
	[INC_RDV_LINK]		= RANK(LINK),
	[INC_RDV_REJOIN]	= RANK(REJOIN),
	[INC_RDV_LOSSY]		= RANK(LOSSY),
};

static const int manager_kinds[TYPES] = {
	[INC_RDV_JOINED]	= MANAGER(JOINED),
	[INC_RDV_READY]		= MANAGER(READY),
	[INC_RDV_LEFT]		= MANAGER(LEFT),
	[INC_RDV_FAILED]	= MANAGER(FAILED),
	[INC_RDV_BYE]		= MANAGER(BYE),
	[INC_RDV_ALIVE]		= MANAGER(ALIVE),
	[INC_RDV_WRONG]		= MANAGER(WRONG),
	[INC_RDV_PLACED]	= MANAGER(PLACED),
	[INC_RDV_LINKED]	= MANAGER(LINKED),
	[INC_RDV_REBUILD]	= MANAGER(REBUILD),
	[INC_RDV_CHANGE]	= MANAGER(CHANGE),
};

/* Members that have one name here and in protobuf-c's structures. */
#define COPY_TREE(to, from) do { \
	(to)->slots = (from)->slots; \
	(to)->msg_size = (from)->msg_size; \
	(to)->pmtu = (from)->pmtu; \
	(to)->first_msg_id = (from)->first_msg_id; \
} while (0)

#define COPY_JOIN(to, from) do { \
	(to)->ranks = (from)->ranks; \
	(to)->rank = (from)->rank; \
	(to)->mtu = (from)->mtu; \
	(to)->rebuild = (from)->rebuild; \
	(to)->cm = (from)->cm; \
	(to)->change = (from)->change; \
	(to)->move = (from)->move; \
	(to)->rails = (from)->rails; \
} while (0)

#define COPY_REJOIN(to, from) do { \
	(to)->qpn = (from)->qpn; \
	(to)->psn = (from)->psn; \
	(to)->round = (from)->round; \
	(to)->done = (from)->done; \
} while (0)

#define COPY_RESUMED(to, from) do { \
	(to)->heartbeat_ms = (from)->heartbeat_ms; \
	(to)->resume_ms = (from)->resume_ms; \
} while (0)

#define COPY_JOINED(to, from) do { \
	COPY_TREE(to, from); \
	(to)->tree_id = (from)->tree_id; \
	(to)->qpn = (from)->qpn; \
	(to)->psn = (from)->psn; \
	(to)->rkey = (from)->rkey; \
	(to)->collectives = (from)->collectives; \
	(to)->dtypes = (from)->dtypes; \
	(to)->ops = (from)->ops; \
	(to)->traffic_class = (from)->traffic_class; \
	(to)->rebuild = (from)->rebuild; \
	(to)->change = (from)->change; \
	(to)->resume = (from)->resume; \
} while (0)

/* Set a message's type from its kind_case, if that has one. */
static void take_type(const int *kinds, int kind, struct am_message *msg)
{
	enum inc_rdv_type type;

	for (type = 0; type < TYPES; type++)
		if (kinds[type] == kind)
			msg->rdv.type = type;
}

static void put_addr(const struct inc_rdv_addr *addr, ProtobufCBinaryData *data)
{
	data->len = addr->len;
	data->data = (uint8_t *)addr->bytes;
}

static bool take_addr(const ProtobufCBinaryData *data,
		      struct inc_rdv_addr *addr)
{
	if (data->len != 4 && data->len != 16)
		return false;
	inc_rdv_addr_set(addr, data->data, (unsigned int)data->len);
	return true;
}

/*
 * Pack any message. Returns 0 or -ENOMEM.
 * @data: result: bytes, to be freed; NULL without memory
 */
int am_pack(const ProtobufCMessage *msg, uint8_t **data, size_t *len)
{
	*len = protobuf_c_message_get_packed_size(msg);
	/* An empty message has 0 bytes, and malloc(0) may return NULL. */
	*data = malloc(*len + 1);
	if (!*data)
		return -ENOMEM;
	protobuf_c_message_pack(msg, *data);
	return 0;
}

/* --- From ranks ---------------------------------------------------------- */

static void put_tree(const struct inc_rdv_tree *tree,
		     RdmaInc__V1__TreeWishes *to)
{
	COPY_TREE(to, tree);
	if (tree->has_first_msg_id)
		to->first_case =
			RDMA_INC__V1__TREE_WISHES__FIRST_FIRST_MSG_ID;
}

static void put_join(const struct am_message *msg,
		     RdmaInc__V1__JoinRequest *req)
{
	const struct inc_rdv_join *join = &msg->rdv.join;

	COPY_JOIN(req, join);
	req->group = (char *)join->job;
	put_addr(&join->addr, &req->addr);
	req->qpn = join->qpn;
	req->psn = join->psn;
	req->transport = join->uc ? RDMA_INC__V1__TRANSPORT__UC :
				    RDMA_INC__V1__TRANSPORT__RC;
	req->mapping = INC_RDV_MAPPING;
	req->reservation = (char *)msg->reservation;
	if (join->has_key)
		req->key = (ProtobufCBinaryData){
			.len = sizeof(join->key), .data = (uint8_t *)join->key,
		};
	put_tree(&join->tree, req->tree);
}

static int rank_kind(const struct am_message *msg)
{
	if (msg->heartbeat)
		return RANK(HEARTBEAT);
	if (msg->failure)
		return RANK(FAILURE);
	if (msg->resume)
		return RANK(RESUME);
	return rank_kinds[msg->rdv.type];
}

/*
 * Pack a rank's message. Returns 0, -EINVAL if ranks do not send such a
 * message, or -ENOMEM.
 * @data: result: bytes, to be freed
 */
int am_rank_pack(const struct am_message *msg, uint8_t **data, size_t *len)
{
	RdmaInc__V1__ResumeRequest resume = RDMA_INC__V1__RESUME_REQUEST__INIT;
	RdmaInc__V1__RejoinRequest rejoin = RDMA_INC__V1__REJOIN_REQUEST__INIT;
	RdmaInc__V1__ChildQueuePair link = RDMA_INC__V1__CHILD_QUEUE_PAIR__INIT;
	RdmaInc__V1__JoinRequest req = RDMA_INC__V1__JOIN_REQUEST__INIT;
	RdmaInc__V1__TreeWishes tree = RDMA_INC__V1__TREE_WISHES__INIT;
	RdmaInc__V1__Failure failure = RDMA_INC__V1__FAILURE__INIT;
	RdmaInc__V1__Empty empty = RDMA_INC__V1__EMPTY__INIT;
	rank_message out = RDMA_INC__V1__RANK_MESSAGE__INIT;
	const struct inc_rdv_join *join = &msg->rdv.join;

	out.kind_case = rank_kind(msg);
	/* All kinds are members of one union. */
	out.rts = &empty;
	switch ((int)out.kind_case) {
	case 0:
		return -EINVAL;
	case RANK(JOIN):
	case RANK(GATHER):
	case RANK(RETRACT):
	case RANK(RESUME):
		req.tree = &tree;
		put_join(msg, &req);
		resume.join = &req;
		resume.tree_id = msg->tree_id;
		out.join = &req;
		if (msg->resume)
			out.resume = &resume;
		break;
	case RANK(LINK):
		put_addr(&join->addr, &link.addr);
		link.qpn = join->qpn;
		link.psn = join->psn;
		out.link = &link;
		break;
	case RANK(REJOIN):
		COPY_REJOIN(&rejoin, join);
		out.rejoin = &rejoin;
		break;
	case RANK(LOST):
	case RANK(FAILURE):
		failure.reason = (char *)msg->rdv.text;
		out.failure = &failure;
		break;
	case RANK(RTS):
		out.rails = msg->rdv.rails;
		break;
	case RANK(HEARTBEAT):
		if (msg->brief)
			out.kind_case = RANK(_NOT_SET);
	}
	return am_pack(&out.base, data, len);
}

static bool name_is_valid(const char *name)
{
	size_t n;

	for (n = 0; name[n]; n++)
		if (name[n] <= ' ' || name[n] > '~')
			return false;
	return n >= 1 && n <= INC_RDV_JOB_MAX;
}

static int set_error(char *err, size_t len, int ret, const char *text)
{
	snprintf(err, len, "%s", text);
	return ret;
}

/* 0 is no wish. Each switch would refuse a wrong wish in its own words. */
static int take_tree(const RdmaInc__V1__TreeWishes *wish,
		     struct inc_rdv_tree *tree, char *err, size_t len)
{
	if (wish->slots & (wish->slots - 1) || wish->slots > RDMA_INC_MAX_SLOTS)
		return set_error(err, len, -EINVAL, "join: slots must be a power of two, up to 4096");
	if (wish->msg_size % 64 || wish->msg_size > RDMA_INC_MAX_MSG_SIZE)
		return set_error(err, len, -EINVAL, "join: msg_size must be a multiple of 64, up to 65536");
	if (wish->pmtu & (wish->pmtu - 1) || wish->pmtu > 4096 ||
	    (wish->pmtu && wish->pmtu < 256))
		return set_error(err, len, -EINVAL, "join: pmtu must be 256, 512, 1024, 2048 or 4096");
	COPY_TREE(tree, wish);
	tree->has_first_msg_id = wish->first_case ==
		RDMA_INC__V1__TREE_WISHES__FIRST_FIRST_MSG_ID;
	return 0;
}

static int take_qp(const ProtobufCBinaryData *addr, uint32_t qpn, uint32_t psn,
		   struct inc_rdv_join *join, char *err, size_t len)
{
	if (!take_addr(addr, &join->addr))
		return set_error(err, len, -EINVAL,
				 "addr must have 4 or 16 bytes");
	if (qpn < 2 || qpn > 0xfffffe || psn > 0xffffff)
		return set_error(err, len, -EINVAL, "qpn must be 2 to 0xfffffe, psn 24 bits");
	join->qpn = qpn;
	join->psn = psn;
	return 0;
}

/* A child switch's coordinator has nothing but the digest. */
static int take_key(const ProtobufCBinaryData *key, bool digest,
		    struct inc_rdv_join *join, char *err, size_t len)
{
	if (key->len && key->len != sizeof(join->key))
		return set_error(err, len, -EINVAL, "join: key must have 32 bytes");
	join->has_key = key->len;
	if (join->has_key && digest)
		memcpy(join->key, key->data, key->len);
	else if (join->has_key)
		SHA256(key->data, key->len, join->key);
	return 0;
}

/* @msg->rdv.type is set: only INC_RDV_JOIN comes with a queue pair. */
static int take_join(const RdmaInc__V1__JoinRequest *req,
		     struct am_message *msg, char *err, size_t len)
{
	struct inc_rdv_join *join = &msg->rdv.join;
	int ret;

	if (*req->reservation && !name_is_valid(req->reservation))
		return set_error(err, len, -EINVAL, "join: reservation must be 1 to 63 printable ASCII characters, without spaces");
	snprintf(msg->reservation, sizeof(msg->reservation), "%s",
		 req->reservation);
	if (!name_is_valid(req->group))
		return set_error(err, len, -EINVAL, "join: group must be 1 to 63 printable ASCII characters, without spaces");
	if (req->ranks < 1 || req->ranks > AM_RANKS_MAX)
		return set_error(err, len, -EINVAL,
				 "join: ranks must be 1 to 1024");
	if (req->rank >= req->ranks)
		return set_error(err, len, -EINVAL,
				 "join: rank must be less than ranks");
	ret = msg->rdv.type != INC_RDV_JOIN ? 0 :
	      take_qp(&req->addr, req->qpn, req->psn, join, err, len);
	if (ret)
		return ret;
	if (req->mapping > INC_RDV_MAPPING) {
		snprintf(err, len, "join: group \"%s\": this manager knows mapping 1 only, not %u",
			 req->group, req->mapping);
		return -EPROTONOSUPPORT;
	}
	if (req->mtu && req->mtu < 256)
		return set_error(err, len, -EINVAL,
				 "join: mtu must be 0, or at least 256");
	if (req->transport != RDMA_INC__V1__TRANSPORT__RC &&
	    req->transport != RDMA_INC__V1__TRANSPORT__UC)
		return set_error(err, len, -EINVAL,
				 "join: transport must be 0 (RC) or 1 (UC)");
	COPY_JOIN(join, req);
	snprintf(join->job, sizeof(join->job), "%s", req->group);
	join->uc = req->transport == RDMA_INC__V1__TRANSPORT__UC;
	ret = take_key(&req->key, msg->rdv.type != INC_RDV_JOIN, join, err, len);
	return ret || !req->tree ? ret :
	       take_tree(req->tree, &join->tree, err, len);
}

static int take_rejoin(const RdmaInc__V1__RejoinRequest *req,
		       struct inc_rdv_join *join, char *err, size_t len)
{
	if (req->qpn < 2 || req->qpn > 0xfffffe || req->psn > 0xffffff)
		return set_error(err, len, -EINVAL, "rejoin: qpn must be 2 to 0xfffffe, psn 24 bits");
	COPY_REJOIN(join, req);
	return 0;
}

/*
 * People must be able to tell a rank's words from the manager's findings: they
 * are quoted, contain no quotation marks, and are short enough for an event to
 * hold the closing one.
 */
static void take_failure(const RdmaInc__V1__Failure *failure, const char *none,
			 struct am_message *msg)
{
	char words[201], *mark;

	snprintf(words, sizeof(words), "%s", failure->reason);
	text_clean(words);
	while ((mark = strchr(words, '"')))
		*mark = '\'';
	snprintf(msg->rdv.text, sizeof(msg->rdv.text),
		 *words ? "it says \"%s\"" : "%s", *words ? words : none);
}

static int take_rank(const rank_message *in, struct am_message *msg, char *err,
		     size_t err_len)
{
	take_type(rank_kinds, in->kind_case, msg);
	switch (in->kind_case) {
	case RANK(RESUME):
		if (!in->resume->join)
			return set_error(err, err_len, -EINVAL,
					 "resume: join is missing");
		msg->resume = true;
		msg->tree_id = in->resume->tree_id;
		msg->rdv.type = INC_RDV_JOIN;
		return take_join(in->resume->join, msg, err, err_len);
	case RANK(JOIN):
	case RANK(GATHER):
	case RANK(RETRACT):
		return take_join(in->join, msg, err, err_len);
	case RANK(REJOIN):
		return take_rejoin(in->rejoin, &msg->rdv.join, err, err_len);
	case RANK(LINK):
		return take_qp(&in->link->addr, in->link->qpn, in->link->psn,
			       &msg->rdv.join, err, err_len);
	case RANK(RTS):
		msg->rdv.rails = in->rails;
		return 0;
	case RANK(LOST):
		take_failure(in->lost, "it gets no answer from its switch", msg);
		return 0;
	case RANK(FAILURE):
		msg->failure = true;
		msg->rdv.type = INC_RDV_LOST;
		take_failure(in->failure, "it cannot connect", msg);
		return 0;
	case RANK(HEARTBEAT):
		msg->heartbeat = true;
		return 0;
	case RANK(LEAVE):
	case RANK(LOSSY):
		return 0;
	default:
		return set_error(err, err_len, -EINVAL, "a rank sends join, resume, rejoin, rts, leave, lost, lossy, failure or heartbeat; a child switch's daemon gather, retract or link");
	}
}

/*
 * Check quickly whether a rank's message is a heartbeat. Other encodings of
 * heartbeats, as with unknown members, are left to am_rank_unpack(). Returns
 * true if so.
 */
bool am_rank_is_beat(const uint8_t *data, size_t len)
{
	/* Member "heartbeat", number 5, of length 0. */
	static const uint8_t beat[] = { 5 << 3 | 2, 0 };

	return !len || (len == sizeof(beat) && !memcmp(data, beat, sizeof(beat)));
}

/*
 * Unpack a rank's message.
 * @err_len: size of @err in bytes
 */
int am_rank_unpack(const uint8_t *data, size_t len, struct am_message *msg,
		   char *err, size_t err_len)
{
	rank_message *in;
	int ret;

	*msg = (struct am_message){
		.heartbeat = am_rank_is_beat(data, len), .brief = !len,
	};
	if (msg->heartbeat)
		return 0;
	in = rdma_inc__v1__rank_message__unpack(NULL, len, data);
	if (!in)
		return set_error(err, err_len, -EINVAL, "not a RankMessage");
	ret = take_rank(in, msg, err, err_len);
	rdma_inc__v1__rank_message__free_unpacked(in, NULL);
	return ret;
}

/* --- From the manager ---------------------------------------------------- */

/* Pack "joined", "linked" or "resumed". */
static int pack_answer(const struct am_message *msg, int kind, uint8_t **data,
		       size_t *len)
{
	RdmaInc__V1__ConnectionManager cm = RDMA_INC__V1__CONNECTION_MANAGER__INIT;
	manager_message out = RDMA_INC__V1__MANAGER_MESSAGE__INIT;
	RdmaInc__V1__Resumed resumed = RDMA_INC__V1__RESUMED__INIT;
	const struct inc_rdv_joined *joined = &msg->rdv.joined;
	RdmaInc__V1__Joined ans = RDMA_INC__V1__JOINED__INIT;

	out.kind_case = kind;
	if (msg->resumed) {
		COPY_RESUMED(&resumed, msg);
		resumed.short_heartbeats = msg->brief;
		resumed.ready = msg->rdv.type == INC_RDV_READY;
		out.resumed = &resumed;
		return am_pack(&out.base, data, len);
	}
	COPY_JOINED(&ans, joined);
	COPY_RESUMED(&ans, msg);
	ans.short_heartbeats = msg->brief;
	ans.switch_id = (char *)msg->switch_id;
	put_addr(&joined->addr, &ans.addr);
	ans.dead_time_ms = joined->dead_time;
	ans.rails = (char *)joined->rails;
	cm.port = msg->cm_port;
	cm.member = msg->cm_member;
	if (cm.port)
		ans.cm = &cm;
	/* Or linked: both are members of one union. */
	out.joined = &ans;
	return am_pack(&out.base, data, len);
}

static void put_event(const struct inc_rdv_msg *msg,
		      RdmaInc__V1__RankEvent *event)
{
	if (msg->rank >= 0) {
		event->which_case = RDMA_INC__V1__RANK_EVENT__WHICH_RANK;
		event->rank = (uint32_t)msg->rank;
	}
	if (msg->type == INC_RDV_LEFT)
		return;
	event->status = msg->status;
	event->msg_id = msg->msg_id;
	event->reason = (char *)msg->text;
}

/*
 * Pack a message to a rank. Returns 0, -EINVAL if managers do not send such a
 * message, or -ENOMEM.
 * @data: result: bytes, to be freed
 */
int am_manager_pack(const struct am_message *msg, uint8_t **data, size_t *len)
{
	manager_message out = RDMA_INC__V1__MANAGER_MESSAGE__INIT;
	RdmaInc__V1__TreeWishes tree = RDMA_INC__V1__TREE_WISHES__INIT;
	RdmaInc__V1__RankEvent event = RDMA_INC__V1__RANK_EVENT__INIT;
	RdmaInc__V1__Placed placed = RDMA_INC__V1__PLACED__INIT;
	RdmaInc__V1__Change change = RDMA_INC__V1__CHANGE__INIT;
	RdmaInc__V1__Empty empty = RDMA_INC__V1__EMPTY__INIT;
	RdmaInc__V1__Rail rail = RDMA_INC__V1__RAIL__INIT;
	RdmaInc__V1__Bye bye = RDMA_INC__V1__BYE__INIT;

	out.kind_case = msg->resumed ? MANAGER(RESUMED) :
				       manager_kinds[msg->rdv.type];
	/* All kinds are members of one union. */
	out.ready = &empty;
	switch ((int)out.kind_case) {
	case 0:
		return -EINVAL;
	case MANAGER(JOINED):
	case MANAGER(LINKED):
	case MANAGER(RESUMED):
		return pack_answer(msg, out.kind_case, data, len);
	case MANAGER(PLACED):
		put_tree(&msg->rdv.placed.tree, &tree);
		placed.first = msg->rdv.placed.first;
		placed.count = msg->rdv.placed.count;
		placed.tree = &tree;
		out.placed = &placed;
		break;
	case MANAGER(LEFT):
	case MANAGER(FAILED):
	case MANAGER(WRONG):
	case MANAGER(REBUILD):
		put_event(&msg->rdv, &event);
		out.left = &event;
		break;
	case MANAGER(READY):
		rail.rails = msg->rdv.rails;
		rail.group = (char *)msg->rdv.text;
		if (rail.rails)
			out.rail = &rail;
		break;
	case MANAGER(CHANGE):
		change.group = (char *)msg->rdv.text;
		change.keep = msg->rdv.keep;
		out.change = &change;
		break;
	case MANAGER(BYE):
		bye.missing = (char *)msg->rdv.text;
		out.bye = &bye;
	}
	return am_pack(&out.base, data, len);
}

static int take_joined(const RdmaInc__V1__Joined *ans, struct am_message *msg)
{
	struct inc_rdv_joined *joined = &msg->rdv.joined;

	COPY_JOINED(joined, ans);
	joined->dead_time = ans->dead_time_ms;
	snprintf(joined->rails, sizeof(joined->rails), "%s", ans->rails);
	COPY_RESUMED(msg, ans);
	msg->brief = ans->short_heartbeats;
	snprintf(msg->switch_id, sizeof(msg->switch_id), "%s", ans->switch_id);
	if (ans->cm && (!ans->cm->port || ans->cm->port > UINT16_MAX ||
			ans->cm->member > UINT16_MAX))
		return -EPROTO;
	msg->cm_port = ans->cm ? (uint16_t)ans->cm->port : 0;
	msg->cm_member = ans->cm ? (uint16_t)ans->cm->member : 0;
	return take_addr(&ans->addr, &joined->addr) ? 0 : -EPROTO;
}

static void take_event(const RdmaInc__V1__RankEvent *event,
		       struct inc_rdv_msg *msg)
{
	msg->rank = event->which_case == RDMA_INC__V1__RANK_EVENT__WHICH_RANK ?
		    (int)event->rank : -1;
	msg->status = event->status;
	msg->msg_id = event->msg_id;
	snprintf(msg->text, sizeof(msg->text), "%s", event->reason);
	/* Escaped control characters would not fit into a line to libinc. */
	text_clean(msg->text);
}

static int take_placed(const RdmaInc__V1__Placed *placed,
		       struct inc_rdv_msg *msg)
{
	char err[8];

	msg->placed.first = placed->first;
	msg->placed.count = placed->count;
	if (!placed->count || placed->count > INC_RDV_RANKS_MAX ||
	    placed->first >= INC_RDV_RANKS_MAX)
		return -EPROTO;
	return placed->tree && take_tree(placed->tree, &msg->placed.tree, err,
					 sizeof(err)) ? -EPROTO : 0;
}

static int take_manager(const manager_message *in, struct am_message *msg)
{
	take_type(manager_kinds, in->kind_case, msg);
	switch (in->kind_case) {
	case MANAGER(JOINED):
	case MANAGER(LINKED):
		return take_joined(in->joined, msg);
	case MANAGER(PLACED):
		return take_placed(in->placed, &msg->rdv);
	case MANAGER(LEFT):
	case MANAGER(FAILED):
	case MANAGER(WRONG):
	case MANAGER(REBUILD):
		take_event(in->left, &msg->rdv);
		return 0;
	case MANAGER(READY):
		msg->rdv.rails = in->rail ? in->rail->rails : 0;
		snprintf(msg->rdv.text, INC_RDV_JOB_MAX + 1, "%s",
			 in->rail ? in->rail->group : "");
		return 0;
	case MANAGER(CHANGE):
		msg->rdv.keep = in->change->keep;
		snprintf(msg->rdv.text, INC_RDV_JOB_MAX + 1, "%s",
			 in->change->group);
		return 0;
	case MANAGER(BYE):
		snprintf(msg->rdv.text, sizeof(msg->rdv.text), "%s",
			 in->bye->missing);
		return 0;
	case MANAGER(ALIVE):
		return 0;
	case MANAGER(RESUMED):
		msg->resumed = true;
		msg->rdv.type = in->resumed->ready ? INC_RDV_READY :
						     INC_RDV_ALIVE;
		COPY_RESUMED(msg, in->resumed);
		msg->brief = in->resumed->short_heartbeats;
		return 0;
	default:
		return -ENOMSG;
	}
}

/*
 * Unpack a message to a rank. Returns 0, -ENOMSG if a later version has added
 * its kind, else -EPROTO.
 */
int am_manager_unpack(const uint8_t *data, size_t len, struct am_message *msg)
{
	manager_message *in =
		rdma_inc__v1__manager_message__unpack(NULL, len, data);
	int ret;

	*msg = (struct am_message){ .heartbeat = false };
	if (!in)
		return -EPROTO;
	ret = take_manager(in, msg);
	rdma_inc__v1__manager_message__free_unpacked(in, NULL);
	return ret;
}
