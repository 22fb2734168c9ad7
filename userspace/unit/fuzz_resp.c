// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer: any bytes as a sequence of requests to a responder, which take
 * what the responder lets through into a slot's memory of exact size.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>
#include <uapi/linux/inc_proto.h>

#include "psn.h"
#include "resp.h"
#include "wire.h"

#define STRIDE	2048
#define SLOTS	4

#define require(cond) do {						\
	if (!(cond))							\
		abort();						\
} while (0)

/* One request of the input, packed: what a peer chooses. */
struct request {
	uint8_t		opcode, ackreq_pad;
	int8_t		psn;		/* relative to the expected one */
	uint8_t		rkey;
	uint16_t	payload_len, dmalen, va;
} __attribute__((__packed__));

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Through the codec, so that flags are those of the opcode. */
static bool make(const struct inc_resp *r, const struct request *q,
		 struct inc_pkt *pkt)
{
	static uint8_t bytes[65536 + 64];
	struct inc_pkt p = {
		.opcode = q->opcode & 31, .pad = q->ackreq_pad & 3,
		.ackreq = q->ackreq_pad >> 7, .pkey = 0xffff,
		.psn = inc_psn_add(r->epsn, q->psn), .rkey = q->rkey,
		.dmalen = q->dmalen,
		.va = (q->va & 0x8000 ? (uint64_t)(q->va & 7) * STRIDE : q->va) |
		      (uint64_t)(q->rkey == 255) << 40,
	};
	unsigned int len = inc_wire_build(bytes, &p);

	return !inc_wire_parse(bytes, len + q->payload_len + p.pad + 4, pkt);
}

static void take(const struct inc_resp *r, const struct inc_pkt *pkt, uint8_t *mem)
{
	static uint64_t va;

	if (pkt->flags & INC_PKT_FIRST) {
		va = pkt->va;
		require(pkt->rkey == r->rkey);
		require(pkt->payload_len >= INC_HDR_LEN);
	}
	require(pkt->psn == r->epsn && pkt->payload_len <= r->pmtu);
	require(va % STRIDE == 0 && va < (uint64_t)STRIDE * SLOTS);
	memset(mem + va + (pkt->flags & INC_PKT_FIRST ? 0 : r->done), 0x55,
	       pkt->payload_len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inc_resp r = {
		.epsn = 0xfffff8, .rkey = 7, .stride = STRIDE, .slots = SLOTS,
		.pmtu = 256,
	};
	uint8_t *mem = malloc(STRIDE * SLOTS);
	bool ok = true;

	for (; ok && size >= sizeof(struct request);
	     data += sizeof(struct request), size -= sizeof(struct request)) {
		struct request q;
		struct inc_pkt pkt;

		memcpy(&q, data, sizeof(q));
		if (!make(&r, &q, &pkt) || !(pkt.flags & INC_PKT_REQUEST))
			continue;
		switch (inc_resp_check(&r, &pkt)) {
		case INC_RESP_NEW:
			if (!inc_resp_is_empty(&pkt))
				take(&r, &pkt, mem);
			inc_resp_accept(&r, &pkt);
			require(r.done <= r.dmalen && r.dmalen <= STRIDE);
			require(r.in_msg || r.done == r.dmalen);
			inc_resp_ack_due(&r, pkt.ackreq);
			break;
		case INC_RESP_INVALID:
		case INC_RESP_ACCESS:
			/* The QP goes to error. */
			ok = false;
			break;
		case INC_RESP_DUP:
		case INC_RESP_AHEAD:
		case INC_RESP_AHEAD_NAK:
			break;
		}
	}
	free(mem);
	return 0;
}
