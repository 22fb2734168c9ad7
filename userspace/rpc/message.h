/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Messages of a Join stream as bytes of proto/rdma_inc.proto, converted from
 * and to the rendezvous's messages of the same meaning. No I/O. Used by both
 * coordinators, inc-tool serve and inc-amd, and by libinc-am.
 */
#ifndef INC_MANAGER_MESSAGE_H
#define INC_MANAGER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rendezvous/proto.h"

#define AM_PORT		"18790"		/* port of the manager's gRPC server */
#define AM_JOIN		"/rdma_inc.v1.Manager/Join"
/* Errors that begin so make a rank try another manager, or try later. */
#define AM_NOT_LEADER	"not the leader"
#define AM_NO_LEADER	AM_NOT_LEADER ", and it is not known who is"
#define AM_STARTING	"the manager has just started"
/* Errors of a group begin so. They are final, whatever their status. */
#define AM_GROUP	"group \""
/* A rank asks a silent manager for a sign of life, and waits for it. */
#define AM_ASK_MS	5000
#define AM_ANSWER_MS	4000
/* Without resumption: by then TCP has recovered from an outage. */
#define AM_ALONE_MS	10000
/* By then a rank has noticed, and has reached another manager. */
#define AM_NOTICE_MS	(AM_ASK_MS + AM_ANSWER_MS + 2000)
#define AM_RANKS_MAX	1024U		/* ranks per group */
#define AM_RESERVE_MAX_S (366U * 86400)	/* longest reservation */
#define AM_ID_MAX	63		/* characters of a switch's identity */

/**
 * struct am_message - a message of a stream
 * @heartbeat: the message is a heartbeat, and @rdv is not set
 * @rdv: equivalent message of the rendezvous; never INC_RDV_ERROR, which is the
 *	stream's status
 * @resume: from a rank: it resumes; @rdv is the INC_RDV_JOIN that it sent
 * @resumed: to a rank: it has resumed, and @rdv is INC_RDV_READY if all ranks
 *	are ready, else INC_RDV_ALIVE
 * @reservation: if INC_RDV_JOIN: reservation that the rank names; empty: none
 * @tree_id: if @resume: tree ID from "joined"
 * @failure: from a rank: it cannot connect, and is gone; @rdv is INC_RDV_LOST,
 *	with the reason as text
 * @switch_id: if INC_RDV_JOINED: switch that serves the rank
 * @cm_port: if INC_RDV_JOINED: port for RDMA CM; 0: the queue pair is connected
 *	already
 * @cm_member: if INC_RDV_JOINED: index among the tree's members
 * @heartbeat_ms: if INC_RDV_JOINED or @resumed: interval of heartbeats; 0: none
 * @resume_ms: likewise: how long the rank may try to resume; 0: not at all
 * @brief: likewise: heartbeats may be empty messages; if @heartbeat: it is
 *	empty. gRPC acknowledges half of those only, so they cost the manager
 *	less
 */
struct am_message {
	bool			heartbeat;
	bool			resume;
	bool			resumed;
	bool			failure;
	uint32_t		tree_id;
	char			reservation[AM_ID_MAX + 1];
	struct inc_rdv_msg	rdv;
	char			switch_id[AM_ID_MAX + 1];
	uint16_t		cm_port;
	uint16_t		cm_member;
	uint32_t		heartbeat_ms;
	uint32_t		resume_ms;
	bool			brief;
};

struct ProtobufCMessage;

int am_pack(const struct ProtobufCMessage *msg, uint8_t **data, size_t *len);
int am_rank_pack(const struct am_message *msg, uint8_t **data, size_t *len);
int am_rank_unpack(const uint8_t *data, size_t len, struct am_message *msg,
		   char *err, size_t err_len);
bool am_rank_is_beat(const uint8_t *data, size_t len);
int am_manager_pack(const struct am_message *msg, uint8_t **data, size_t *len);
int am_manager_unpack(const uint8_t *data, size_t len, struct am_message *msg);

int am_status_of(int err);
int am_errno_of(int status);

#endif /* INC_MANAGER_MESSAGE_H */
