// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * gRPC's own question, whether the manager serves: the leader does.
 */
#include <errno.h>
#include <string.h>

#include "answer/answer.h"
#include "health.pb-c.h"

/**
 * answer_health() - answer Check of grpc.health.v1.Health
 * @m: manager
 * @data: the request's bytes
 * @len: their number
 * @a: answer
 */
void answer_health(const struct manager *m, const uint8_t *data, size_t len,
		   struct rpc_answer *a)
{
	Grpc__Health__V1__HealthCheckRequest *req =
		grpc__health__v1__health_check_request__unpack(NULL, len, data);
	Grpc__Health__V1__HealthCheckResponse out =
		GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
	char why[256];

	if (!req) {
		answer_refuse(a, EINVAL, "the request is no HealthCheckRequest");
		return;
	}
	out.status = state_refuses(m, why, sizeof(why)) ?
		GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING :
		GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
	if (*req->service && strcmp(req->service, "rdma_inc.v1.Manager"))
		answer_refuse(a, ENOENT, "there is no service \"%.63s\" but rdma_inc.v1.Manager",
			      req->service);
	else
		answer_reply(a, &out.base);
	grpc__health__v1__health_check_request__free_unpacked(req, NULL);
}
