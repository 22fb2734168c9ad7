/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Answers to operators, for the files of answer/ that have them.
 */
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
struct group *answer_group(const struct manager *m, const char *name,
			   const char *tenant, struct rpc_answer *a);

/* events.c */
void answer_fill_event(RdmaInc__V1__Event *out, const struct event *ev);
void answer_events(struct manager *m, const uint8_t *data, size_t len,
		   struct rpc_answer *a);
void answer_watch_events(struct manager *m, const uint8_t *data, size_t len,
			 struct rpc_stream *stream, struct rpc_answer *a);

/* task.c */
void answer_tasks(const struct manager *m, const uint8_t *data, size_t len,
		  struct rpc_answer *a);
void answer_history(const struct manager *m, const uint8_t *data, size_t len,
		    struct rpc_answer *a);
void answer_watch_tasks(struct manager *m, const uint8_t *data, size_t len,
			struct rpc_stream *stream, struct rpc_answer *a);

/* quota.c */
void answer_quotas(const struct manager *m, const uint8_t *data, size_t len,
		   struct rpc_answer *a);

/* reserve.c */
void answer_reserve(struct manager *m, const uint8_t *data, size_t len,
		    struct rpc_answer *a);
void answer_reservations(struct manager *m, enum rpc_method method,
			 const uint8_t *data, size_t len, struct rpc_answer *a);

/* drain.c */
void answer_switch(struct manager *m, enum rpc_method method,
		   const uint8_t *data, size_t len, struct rpc_answer *a);

/* health.c */
void answer_health(const struct manager *m, const uint8_t *data, size_t len,
		   struct rpc_answer *a);
void answer_watch_health(struct manager *m, const uint8_t *data, size_t len,
			 struct rpc_stream *stream, struct rpc_answer *a);
void answer_health_turn(struct manager *m);

/* stored.c */
void answer_stored(struct manager *m, struct rpc_stream *stream,
		   struct rpc_answer *a, uint64_t since);

/* why.c */
void answer_why(const struct manager *m, const char *name,
		const char *tenant, struct rpc_answer *a);

#endif /* INC_MANAGER_ANSWER_H */
