/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Functions of answer/, which answer operators. */
#ifndef INC_MANAGER_ANSWER_H
#define INC_MANAGER_ANSWER_H

#include <protobuf-c/protobuf-c.h>

#include "manager.h"
#include "rdma_inc.pb-c.h"

struct group;

/* reply.c */
void answer_refuse(struct rpc_answer *a, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void answer_reply(struct rpc_answer *a, const ProtobufCMessage *msg);
const char *answer_state(const struct group *g);
void answer_fill_switch(RdmaInc__V1__Switch *out, const struct sw *sw);
bool answer_hides(const struct rpc_answer *a);
bool answer_sees(const struct rpc_answer *a, const struct group *g);
const char *answer_drain(const struct sw *sw);
const char *answer_by(const struct rpc_answer *a);
bool answer_is_of(const char *owner, const char *tenant);
struct group *answer_group(const struct manager *m,
			   const RdmaInc__V1__GetGroupRequest *req,
			   struct rpc_answer *a);

/* drain.c */
struct sw *answer_switch(struct manager *m, const char *name, struct rpc_answer *a);

/* events.c */
void answer_fill_event(RdmaInc__V1__Event *out, const struct event *ev);

/* health.c */
void answer_health_turn(struct manager *m);

/* stored.c */
bool answer_may_store(const struct manager *m, struct rpc_answer *a);
void answer_stored(struct manager *m, struct rpc_stream *stream,
		   struct rpc_answer *a, uint64_t since);

/**
 * typedef answer_fn - answers a request
 * @m: manager
 * @msg: request, of the method's type
 * @stream: stream for the answer, if the method has one
 * @a: answer
 */
typedef void answer_fn(struct manager *m, const void *msg,
		       struct rpc_stream *stream, struct rpc_answer *a);

answer_fn answer_events, answer_watch_events;
answer_fn answer_tasks, answer_history, answer_watch_tasks;
answer_fn answer_quotas;
answer_fn answer_reserve, answer_unreserve, answer_reservations;
answer_fn answer_move, answer_drain_switch, answer_resume_switch;
answer_fn answer_rename_switch;
answer_fn answer_health, answer_watch_health;
answer_fn answer_why;

#endif /* INC_MANAGER_ANSWER_H */
