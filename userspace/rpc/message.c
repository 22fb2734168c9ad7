// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See message.h.
 */
#include <errno.h>
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

static ProtobufCBinaryData bytes_of(const struct inc_rdv_addr *addr)
{
	return (ProtobufCBinaryData) {
		.len = addr->len,
		.data = (uint8_t *)addr->bytes,
	};
}

static bool take_addr(const ProtobufCBinaryData *data,
		      struct inc_rdv_addr *addr)
{
	if (data->len != 4 && data->len != 16)
		return false;
	inc_rdv_addr_set(addr, data->data, (unsigned int)data->len);
	return true;
}

static int pack_message(const ProtobufCMessage *msg, uint8_t **data,
			size_t *len)
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

/* Wrap a rank's request: all kinds are members of one union. */
static void set_join(rank_message *out, const struct am_message *msg,
		     RdmaInc__V1__JoinRequest *req,
		     RdmaInc__V1__ResumeRequest *resume)
{
	out->join = req;
	if (msg->resume) {
		resume->join = req;
		resume->tree_id = msg->tree_id;
		out->kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_RESUME;
		out->resume = resume;
	} else if (msg->rdv.type == INC_RDV_GATHER) {
		out->kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_GATHER;
	} else if (msg->rdv.type == INC_RDV_RETRACT) {
		out->kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_RETRACT;
	} else {
		out->kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_JOIN;
	}
}

static void put_tree(RdmaInc__V1__TreeWishes *to, const struct inc_rdv_tree *tree)
{
	to->slots = tree->slots;
	to->msg_size = tree->msg_size;
	to->pmtu = tree->pmtu;
	if (tree->has_first_msg_id)
		to->first_case =
			RDMA_INC__V1__TREE_WISHES__FIRST_FIRST_MSG_ID;
	to->first_msg_id = tree->first_msg_id;
}

static int pack_join(const struct am_message *msg, uint8_t **data, size_t *len)
{
	RdmaInc__V1__ResumeRequest resume = RDMA_INC__V1__RESUME_REQUEST__INIT;
	RdmaInc__V1__JoinRequest req = RDMA_INC__V1__JOIN_REQUEST__INIT;
	RdmaInc__V1__TreeWishes tree = RDMA_INC__V1__TREE_WISHES__INIT;
	rank_message out = RDMA_INC__V1__RANK_MESSAGE__INIT;
	const struct inc_rdv_join *join = &msg->rdv.join;

	req.group = (char *)join->job;
	req.ranks = join->ranks;
	req.rank = join->rank;
	req.addr = bytes_of(&join->addr);
	req.qpn = join->qpn;
	req.psn = join->psn;
	req.mtu = join->mtu;
	req.transport = join->uc ? RDMA_INC__V1__TRANSPORT__UC :
				   RDMA_INC__V1__TRANSPORT__RC;
	req.mapping = INC_RDV_MAPPING;
	req.rebuild = join->rebuild;
	req.cm = join->cm;
	req.change = join->change;
	req.rails = join->rails;
	req.reservation = (char *)msg->reservation;
	put_tree(&tree, &join->tree);
	req.tree = &tree;
	set_join(&out, msg, &req, &resume);
	return pack_message(&out.base, data, len);
}

static int pack_link(const struct inc_rdv_join *qp, uint8_t **data, size_t *len)
{
	RdmaInc__V1__ChildQueuePair link = RDMA_INC__V1__CHILD_QUEUE_PAIR__INIT;
	rank_message out = RDMA_INC__V1__RANK_MESSAGE__INIT;

	link.addr = bytes_of(&qp->addr);
	link.qpn = qp->qpn;
	link.psn = qp->psn;
	out.kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_LINK;
	out.link = &link;
	return pack_message(&out.base, data, len);
}

static int pack_rejoin(const struct inc_rdv_join *join, uint8_t **data,
		       size_t *len)
{
	RdmaInc__V1__RejoinRequest req = RDMA_INC__V1__REJOIN_REQUEST__INIT;
	rank_message out = RDMA_INC__V1__RANK_MESSAGE__INIT;

	req.qpn = join->qpn;
	req.psn = join->psn;
	req.round = join->round;
	req.done = join->done;
	out.kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_REJOIN;
	out.rejoin = &req;
	return pack_message(&out.base, data, len);
}

static int pack_failure(const struct am_message *msg, uint8_t **data,
			size_t *len)
{
	RdmaInc__V1__Failure failure = RDMA_INC__V1__FAILURE__INIT;
	rank_message out = RDMA_INC__V1__RANK_MESSAGE__INIT;

	failure.reason = (char *)msg->rdv.text;
	out.kind_case = msg->failure ?
			RDMA_INC__V1__RANK_MESSAGE__KIND_FAILURE :
			RDMA_INC__V1__RANK_MESSAGE__KIND_LOST;
	/* Or lost: both are members of one union. */
	out.failure = &failure;
	return pack_message(&out.base, data, len);
}

/*
 * Pack a rank's message. Returns 0, -EINVAL if ranks do not send such a
 * message, or -ENOMEM.
 * @data: result: bytes, to be freed
 */
int am_rank_pack(const struct am_message *msg, uint8_t **data, size_t *len)
{
	RdmaInc__V1__Empty empty = RDMA_INC__V1__EMPTY__INIT;
	rank_message out = RDMA_INC__V1__RANK_MESSAGE__INIT;

	/* Heartbeat, rts, leave and lossy are members of one union. */
	out.rts = &empty;
	if (msg->heartbeat && !msg->brief)
		out.kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_HEARTBEAT;
	else if (msg->heartbeat)
		out.kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND__NOT_SET;
	else if (msg->failure || msg->rdv.type == INC_RDV_LOST)
		return pack_failure(msg, data, len);
	else if (msg->rdv.type == INC_RDV_JOIN ||
		 msg->rdv.type == INC_RDV_GATHER ||
		 msg->rdv.type == INC_RDV_RETRACT)
		return pack_join(msg, data, len);
	else if (msg->rdv.type == INC_RDV_REJOIN)
		return pack_rejoin(&msg->rdv.join, data, len);
	else if (msg->rdv.type == INC_RDV_LINK)
		return pack_link(&msg->rdv.join, data, len);
	else if (msg->rdv.type == INC_RDV_RTS)
		out.kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_RTS;
	else if (msg->rdv.type == INC_RDV_LEAVE)
		out.kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_LEAVE;
	else if (msg->rdv.type == INC_RDV_LOSSY)
		out.kind_case = RDMA_INC__V1__RANK_MESSAGE__KIND_LOSSY;
	else
		return -EINVAL;
	if (msg->rdv.type == INC_RDV_RTS)
		out.rails = msg->rdv.rails;
	return pack_message(&out.base, data, len);
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
	tree->slots = wish->slots;
	tree->msg_size = wish->msg_size;
	tree->pmtu = wish->pmtu;
	tree->has_first_msg_id = wish->first_case ==
		RDMA_INC__V1__TREE_WISHES__FIRST_FIRST_MSG_ID;
	if (tree->has_first_msg_id)
		tree->first_msg_id = wish->first_msg_id;
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

/* @msg->rdv.type is set: only INC_RDV_JOIN comes with a queue pair. */
static int take_join(const RdmaInc__V1__JoinRequest *req,
		     struct am_message *msg, char *err, size_t len)
{
	struct inc_rdv_join *join = &msg->rdv.join;
	int ret;

	memset(join, 0, sizeof(*join));
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
	snprintf(join->job, sizeof(join->job), "%s", req->group);
	join->ranks = req->ranks;
	join->rank = req->rank;
	join->mtu = req->mtu;
	join->uc = req->transport == RDMA_INC__V1__TRANSPORT__UC;
	join->rebuild = req->rebuild;
	join->cm = req->cm;
	join->change = req->change;
	join->rails = req->rails;
	return req->tree ? take_tree(req->tree, &join->tree, err, len) : 0;
}

static int take_rejoin(const RdmaInc__V1__RejoinRequest *req,
		       struct inc_rdv_join *join, char *err, size_t len)
{
	if (req->qpn < 2 || req->qpn > 0xfffffe || req->psn > 0xffffff)
		return set_error(err, len, -EINVAL, "rejoin: qpn must be 2 to 0xfffffe, psn 24 bits");
	memset(join, 0, sizeof(*join));
	join->qpn = req->qpn;
	join->psn = req->psn;
	join->round = req->round;
	join->done = req->done;
	return 0;
}

/*
 * People must be able to tell a rank's words from the manager's findings: they
 * are quoted, contain no quotation marks, and are short enough for an event to
 * hold the closing one.
 */
static int take_failure(const RdmaInc__V1__Failure *failure, const char *none,
			struct am_message *msg)
{
	char words[201], *mark;

	snprintf(words, sizeof(words), "%s", failure->reason);
	text_clean(words);
	while ((mark = strchr(words, '"')))
		*mark = '\'';
	snprintf(msg->rdv.text, sizeof(msg->rdv.text),
		 *words ? "it says \"%s\"" : "%s", *words ? words : none);
	msg->rdv.type = INC_RDV_LOST;
	return 0;
}

static int take_rank(const rank_message *in, struct am_message *msg, char *err,
		     size_t err_len)
{
	switch (in->kind_case) {
	case RDMA_INC__V1__RANK_MESSAGE__KIND_JOIN:
		msg->rdv.type = INC_RDV_JOIN;
		return take_join(in->join, msg, err, err_len);
	case RDMA_INC__V1__RANK_MESSAGE__KIND_RESUME:
		if (!in->resume->join)
			return set_error(err, err_len, -EINVAL,
					 "resume: join is missing");
		msg->resume = true;
		msg->tree_id = in->resume->tree_id;
		msg->rdv.type = INC_RDV_JOIN;
		return take_join(in->resume->join, msg, err, err_len);
	case RDMA_INC__V1__RANK_MESSAGE__KIND_REJOIN:
		msg->rdv.type = INC_RDV_REJOIN;
		return take_rejoin(in->rejoin, &msg->rdv.join, err, err_len);
	case RDMA_INC__V1__RANK_MESSAGE__KIND_RTS:
		msg->rdv.type = INC_RDV_RTS;
		msg->rdv.rails = in->rails;
		return 0;
	case RDMA_INC__V1__RANK_MESSAGE__KIND_GATHER:
		msg->rdv.type = INC_RDV_GATHER;
		return take_join(in->gather, msg, err, err_len);
	case RDMA_INC__V1__RANK_MESSAGE__KIND_RETRACT:
		msg->rdv.type = INC_RDV_RETRACT;
		return take_join(in->retract, msg, err, err_len);
	case RDMA_INC__V1__RANK_MESSAGE__KIND_LINK:
		msg->rdv.type = INC_RDV_LINK;
		memset(&msg->rdv.join, 0, sizeof(msg->rdv.join));
		return take_qp(&in->link->addr, in->link->qpn, in->link->psn,
			       &msg->rdv.join, err, err_len);
	case RDMA_INC__V1__RANK_MESSAGE__KIND_LEAVE:
		msg->rdv.type = INC_RDV_LEAVE;
		return 0;
	case RDMA_INC__V1__RANK_MESSAGE__KIND_LOST:
		return take_failure(in->lost, "it gets no answer from its switch",
				    msg);
	case RDMA_INC__V1__RANK_MESSAGE__KIND_LOSSY:
		msg->rdv.type = INC_RDV_LOSSY;
		return 0;
	case RDMA_INC__V1__RANK_MESSAGE__KIND_HEARTBEAT:
		msg->heartbeat = true;
		return 0;
	case RDMA_INC__V1__RANK_MESSAGE__KIND_FAILURE:
		msg->failure = true;
		return take_failure(in->failure, "it cannot connect", msg);
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

	msg->heartbeat = am_rank_is_beat(data, len);
	msg->resume = false;
	msg->failure = false;
	msg->brief = !len;
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

static int pack_joined(const struct am_message *msg, uint8_t **data,
		       size_t *len)
{
	const struct inc_rdv_joined *joined = &msg->rdv.joined;
	RdmaInc__V1__ConnectionManager cm = RDMA_INC__V1__CONNECTION_MANAGER__INIT;
	manager_message out = RDMA_INC__V1__MANAGER_MESSAGE__INIT;
	RdmaInc__V1__Joined ans = RDMA_INC__V1__JOINED__INIT;
	bool linked = msg->rdv.type == INC_RDV_LINKED;

	ans.switch_id = (char *)msg->switch_id;
	ans.tree_id = joined->tree_id;
	ans.addr = bytes_of(&joined->addr);
	ans.qpn = joined->qpn;
	ans.psn = joined->psn;
	ans.rkey = joined->rkey;
	ans.slots = joined->slots;
	ans.msg_size = joined->msg_size;
	ans.pmtu = joined->pmtu;
	ans.first_msg_id = joined->first_msg_id;
	ans.dead_time_ms = joined->dead_time;
	ans.collectives = joined->collectives;
	ans.dtypes = joined->dtypes;
	ans.ops = joined->ops;
	ans.traffic_class = joined->traffic_class;
	ans.heartbeat_ms = msg->heartbeat_ms;
	ans.resume_ms = msg->resume_ms;
	ans.short_heartbeats = msg->brief;
	ans.rebuild = joined->rebuild;
	ans.change = joined->change;
	ans.resume = joined->resume;
	ans.rails = (char *)joined->rails;
	cm.port = msg->cm_port;
	cm.member = msg->cm_member;
	if (cm.port)
		ans.cm = &cm;
	out.kind_case = linked ? RDMA_INC__V1__MANAGER_MESSAGE__KIND_LINKED :
				 RDMA_INC__V1__MANAGER_MESSAGE__KIND_JOINED;
	/* Or linked: both are members of one union. */
	out.joined = &ans;
	return pack_message(&out.base, data, len);
}

static int pack_resumed(const struct am_message *msg, uint8_t **data,
			size_t *len)
{
	manager_message out = RDMA_INC__V1__MANAGER_MESSAGE__INIT;
	RdmaInc__V1__Resumed ans = RDMA_INC__V1__RESUMED__INIT;

	ans.heartbeat_ms = msg->heartbeat_ms;
	ans.resume_ms = msg->resume_ms;
	ans.short_heartbeats = msg->brief;
	ans.ready = msg->rdv.type == INC_RDV_READY;
	out.kind_case = RDMA_INC__V1__MANAGER_MESSAGE__KIND_RESUMED;
	out.resumed = &ans;
	return pack_message(&out.base, data, len);
}

static int pack_event(const struct inc_rdv_msg *msg, uint8_t **data,
		      size_t *len)
{
	manager_message out = RDMA_INC__V1__MANAGER_MESSAGE__INIT;
	RdmaInc__V1__RankEvent event = RDMA_INC__V1__RANK_EVENT__INIT;

	if (msg->rank >= 0) {
		event.which_case = RDMA_INC__V1__RANK_EVENT__WHICH_RANK;
		event.rank = (uint32_t)msg->rank;
	}
	event.reason = (char *)"";
	if (msg->type == INC_RDV_LEFT) {
		out.kind_case = RDMA_INC__V1__MANAGER_MESSAGE__KIND_LEFT;
	} else if (msg->type == INC_RDV_REBUILD) {
		out.kind_case = RDMA_INC__V1__MANAGER_MESSAGE__KIND_REBUILD;
		event.msg_id = msg->msg_id;
		event.reason = (char *)msg->text;
	} else {
		out.kind_case = msg->type == INC_RDV_FAILED ?
				RDMA_INC__V1__MANAGER_MESSAGE__KIND_FAILED :
				RDMA_INC__V1__MANAGER_MESSAGE__KIND_WRONG;
		event.status = msg->status;
		event.msg_id = msg->type == INC_RDV_WRONG ? msg->msg_id : 0;
		event.reason = (char *)msg->text;
	}
	/* Left, failed, wrong and rebuild are members of one union. */
	out.left = &event;
	return pack_message(&out.base, data, len);
}

static int pack_placed(const struct inc_rdv_placed *p, uint8_t **data,
		       size_t *len)
{
	RdmaInc__V1__TreeWishes tree = RDMA_INC__V1__TREE_WISHES__INIT;
	manager_message out = RDMA_INC__V1__MANAGER_MESSAGE__INIT;
	RdmaInc__V1__Placed placed = RDMA_INC__V1__PLACED__INIT;

	put_tree(&tree, &p->tree);
	placed.first = p->first;
	placed.count = p->count;
	placed.tree = &tree;
	out.kind_case = RDMA_INC__V1__MANAGER_MESSAGE__KIND_PLACED;
	out.placed = &placed;
	return pack_message(&out.base, data, len);
}

/*
 * Pack a message to a rank. Returns 0, -EINVAL if managers do not send such a
 * message, or -ENOMEM.
 * @data: result: bytes, to be freed
 */
int am_manager_pack(const struct am_message *msg, uint8_t **data, size_t *len)
{
	manager_message out = RDMA_INC__V1__MANAGER_MESSAGE__INIT;
	RdmaInc__V1__Empty empty = RDMA_INC__V1__EMPTY__INIT;
	RdmaInc__V1__Bye bye = RDMA_INC__V1__BYE__INIT;
	RdmaInc__V1__Change change = RDMA_INC__V1__CHANGE__INIT;
	RdmaInc__V1__Rail rail = RDMA_INC__V1__RAIL__INIT;

	if (msg->resumed)
		return pack_resumed(msg, data, len);
	out.ready = &empty;
	switch (msg->rdv.type) {
	case INC_RDV_JOINED:
	case INC_RDV_LINKED:
		return pack_joined(msg, data, len);
	case INC_RDV_PLACED:
		return pack_placed(&msg->rdv.placed, data, len);
	case INC_RDV_LEFT:
	case INC_RDV_FAILED:
	case INC_RDV_WRONG:
	case INC_RDV_REBUILD:
		return pack_event(&msg->rdv, data, len);
	case INC_RDV_READY:
		out.kind_case = RDMA_INC__V1__MANAGER_MESSAGE__KIND_READY;
		rail.rails = msg->rdv.rails;
		rail.group = (char *)msg->rdv.text;
		if (rail.rails)
			out.rail = &rail;
		break;
	case INC_RDV_CHANGE:
		out.kind_case = RDMA_INC__V1__MANAGER_MESSAGE__KIND_CHANGE;
		change.group = (char *)msg->rdv.text;
		out.change = &change;
		break;
	case INC_RDV_BYE:
		out.kind_case = RDMA_INC__V1__MANAGER_MESSAGE__KIND_BYE;
		bye.missing = (char *)msg->rdv.text;
		out.bye = &bye;
		break;
	case INC_RDV_ALIVE:
		out.kind_case = RDMA_INC__V1__MANAGER_MESSAGE__KIND_ALIVE;
		break;
	default:
		return -EINVAL;
	}
	return pack_message(&out.base, data, len);
}

static int take_joined(const RdmaInc__V1__Joined *ans, enum inc_rdv_type type,
		       struct am_message *msg)
{
	struct inc_rdv_joined *joined = &msg->rdv.joined;

	*joined = (struct inc_rdv_joined) {
		.tree_id	= ans->tree_id,
		.qpn		= ans->qpn,
		.psn		= ans->psn,
		.rkey		= ans->rkey,
		.slots		= ans->slots,
		.msg_size	= ans->msg_size,
		.pmtu		= ans->pmtu,
		.first_msg_id	= ans->first_msg_id,
		.dead_time	= ans->dead_time_ms,
		.collectives	= ans->collectives,
		.dtypes		= ans->dtypes,
		.ops		= ans->ops,
		.traffic_class	= ans->traffic_class,
		.rebuild	= ans->rebuild,
		.change		= ans->change,
		.resume		= ans->resume,
	};
	if (ans->cm && (!ans->cm->port || ans->cm->port > UINT16_MAX ||
			ans->cm->member > UINT16_MAX))
		return -EPROTO;
	snprintf(joined->rails, sizeof(joined->rails), "%s", ans->rails);
	msg->rdv.type = type;
	msg->heartbeat_ms = ans->heartbeat_ms;
	msg->resume_ms = ans->resume_ms;
	msg->brief = ans->short_heartbeats;
	snprintf(msg->switch_id, sizeof(msg->switch_id), "%s", ans->switch_id);
	msg->cm_port = ans->cm ? (uint16_t)ans->cm->port : 0;
	msg->cm_member = ans->cm ? (uint16_t)ans->cm->member : 0;
	return take_addr(&ans->addr, &joined->addr) ? 0 : -EPROTO;
}

static int take_event(enum inc_rdv_type type,
		      const RdmaInc__V1__RankEvent *event,
		      struct inc_rdv_msg *msg)
{
	msg->type = type;
	msg->rank = event->which_case == RDMA_INC__V1__RANK_EVENT__WHICH_RANK ?
		    (int)event->rank : -1;
	msg->status = event->status;
	msg->msg_id = event->msg_id;
	msg->err = 0;
	snprintf(msg->text, sizeof(msg->text), "%s", event->reason);
	return 0;
}

static int take_placed(const RdmaInc__V1__Placed *placed,
		       struct inc_rdv_msg *msg)
{
	char err[8];

	msg->type = INC_RDV_PLACED;
	msg->placed = (struct inc_rdv_placed) {
		.first = placed->first,
		.count = placed->count,
	};
	if (!placed->count || placed->count > INC_RDV_RANKS_MAX ||
	    placed->first >= INC_RDV_RANKS_MAX)
		return -EPROTO;
	return placed->tree && take_tree(placed->tree, &msg->placed.tree, err,
					 sizeof(err)) ? -EPROTO : 0;
}

static int take_manager(const manager_message *in, struct am_message *msg)
{
	switch (in->kind_case) {
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_JOINED:
		return take_joined(in->joined, INC_RDV_JOINED, msg);
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_LINKED:
		return take_joined(in->linked, INC_RDV_LINKED, msg);
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_PLACED:
		return take_placed(in->placed, &msg->rdv);
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_LEFT:
		return take_event(INC_RDV_LEFT, in->left, &msg->rdv);
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_FAILED:
		return take_event(INC_RDV_FAILED, in->failed, &msg->rdv);
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_WRONG:
		return take_event(INC_RDV_WRONG, in->wrong, &msg->rdv);
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_REBUILD:
		return take_event(INC_RDV_REBUILD, in->rebuild, &msg->rdv);
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_READY:
		msg->rdv.type = INC_RDV_READY;
		msg->rdv.rails = in->rail ? in->rail->rails : 0;
		snprintf(msg->rdv.text, INC_RDV_JOB_MAX + 1, "%s",
			 in->rail ? in->rail->group : "");
		return 0;
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_CHANGE:
		msg->rdv.type = INC_RDV_CHANGE;
		snprintf(msg->rdv.text, INC_RDV_JOB_MAX + 1, "%s",
			 in->change->group);
		return 0;
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_BYE:
		msg->rdv.type = INC_RDV_BYE;
		snprintf(msg->rdv.text, sizeof(msg->rdv.text), "%s",
			 in->bye->missing);
		return 0;
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_ALIVE:
		msg->rdv.type = INC_RDV_ALIVE;
		return 0;
	case RDMA_INC__V1__MANAGER_MESSAGE__KIND_RESUMED:
		msg->resumed = true;
		msg->rdv.type = in->resumed->ready ? INC_RDV_READY :
						     INC_RDV_ALIVE;
		msg->heartbeat_ms = in->resumed->heartbeat_ms;
		msg->resume_ms = in->resumed->resume_ms;
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

	msg->heartbeat = false;
	msg->resumed = false;
	msg->brief = false;
	msg->cm_port = 0;
	if (!in)
		return -EPROTO;
	ret = take_manager(in, msg);
	rdma_inc__v1__manager_message__free_unpacked(in, NULL);
	/* Escaped control characters would not fit into a line to libinc. */
	if (!ret && (msg->rdv.type == INC_RDV_FAILED ||
		     msg->rdv.type == INC_RDV_WRONG ||
		     msg->rdv.type == INC_RDV_REBUILD))
		text_clean(msg->rdv.text);
	return ret;
}
