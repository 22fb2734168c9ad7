// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer: the bytes are a sequence of requests to a responder, RC and UC.
 * What the responder accepts goes into a slot's memory of exact size. Also
 * checks which UC messages are reported missing.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>
#include <uapi/linux/rdma_inc_proto.h>

#include "core/lost_place.h"
#include "core/msg_loss.h"
#include "core/psn.h"
#include "core/responder.h"
#include "core/wire.h"
#include "fuzz.h"

#define STRIDE	2048
#define SLOTS	4

#define UC_OPCODE	0x20

/* One request of the input, packed: the fields that a peer chooses. */
struct request {
	uint8_t		opcode;
	uint8_t		ackreq_pad;	/* 0x80 AckReq, 0x40 UC, 0x20 late */
	int8_t		psn;		/* relative to the expected one */
	uint8_t		rkey;
	uint16_t	payload_len, dmalen, va;
} __attribute__((__packed__));

/* Through the codec, so that the flags match the opcode. */
static bool make(const struct inc_responder *r, const struct request *q,
		 struct inc_pkt *pkt)
{
	static uint8_t bytes[65536 + 64];
	struct inc_pkt p = {
		.opcode = (q->opcode & 31) |
			  (q->ackreq_pad & 0x40 ? UC_OPCODE : 0),
		.pad = q->ackreq_pad & 3,
		.ackreq = q->ackreq_pad >> 7,
		.pkey = 0xffff,
		.psn = inc_psn_add(r->epsn, q->psn),
		.rkey = q->rkey,
		.dmalen = q->dmalen,
		.va = (q->va & 0x8000 ? (uint64_t)(q->va & 7) * STRIDE :
					q->va) |
		      (uint64_t)(q->rkey == 255) << 40,
	};
	unsigned int len = inc_wire_build(bytes, &p);

	return !inc_wire_parse(bytes, len + q->payload_len + p.pad + 4, pkt);
}

static void take(const struct inc_responder *r, const struct inc_pkt *pkt,
		 uint8_t *mem)
{
	bool opens = pkt->flags & INC_PKT_FIRST && !r->tail_due;
	static uint64_t va;

	if (r->tail_due)
		require(pkt->rkey == r->rkey && pkt->va == va + r->done);
	if (opens) {
		va = pkt->va;
		require(pkt->rkey == r->rkey);
		require(pkt->payload_len >= INC_HDR_LEN);
	}
	require(pkt->psn == r->epsn && pkt->payload_len <= r->pmtu);
	require(va % STRIDE == 0 && va < (uint64_t)STRIDE * SLOTS);
	memset(mem + va + (opens ? 0 : r->done), 0x55, pkt->payload_len);
}

/* A packet may be queued if it has a key, or its message does. */
static void keep(const struct inc_responder *r, const struct inc_pkt *pkt,
		 struct inc_responder_run *run)
{
	struct inc_responder_run before = *run;

	if (inc_responder_ooo(r, pkt, run) != INC_RESP_OOO_GOOD)
		return;
	require(pkt->payload_len <= r->pmtu);
	require(inc_psn_diff(pkt->psn, run->end) < 0 && run->tail <= r->pmtu);
	if (inc_responder_is_empty(pkt))
		return;
	if (pkt->flags & INC_PKT_FIRST)
		require(pkt->rkey == r->rkey &&
			inc_psn_diff(pkt->psn, before.end) >= 0);
	else
		require(run->end == before.end);
}

/* UC accepts whole requests only; the rest of the responder does not matter. */
static void take_uc(const struct inc_responder *r, const struct inc_pkt *pkt,
		    uint8_t *mem)
{
	if (!inc_responder_check_uc(r, pkt))
		return;
	require(pkt->opcode == (UC_OPCODE | 0x0b) && pkt->rkey == r->rkey);
	require(pkt->payload_len == pkt->dmalen && pkt->payload_len <= r->pmtu);
	require(pkt->payload_len >= INC_HDR_LEN);
	require(pkt->va % STRIDE == 0 && pkt->va < (uint64_t)STRIDE * SLOTS);
	memset(mem + pkt->va, 0x55, pkt->payload_len);
}

/* An ACK names what has arrived, and never the end of a first write. */
static void acknowledge(struct inc_lost_place *p, const struct inc_responder *r,
			const struct inc_pkt *pkt)
{
	uint32_t psn = inc_place_ack_psn(p, r, pkt->psn);
	int32_t off = inc_psn_diff(psn, pkt->psn);

	require(off >= -1 && off <= 1);
	require(inc_psn_diff(psn, r->epsn) < 0);
	require(!r->tail_due || pkt->opcode == 0x0a || psn != pkt->psn);
}

/* Each missing message is reported once, in order, and not too soon. */
static void come(struct inc_msg_loss *g, int8_t ahead, bool overtaken)
{
	uint32_t judged = g->judged, id;

	inc_msg_loss_arrived(g, g->next + ahead, overtaken);
	require(g->reorder_window >= INC_MSG_LOSS_MIN_WINDOW &&
		g->reorder_window <= INC_MSG_LOSS_MAX_WINDOW);
	while (inc_msg_loss_judge(g, &id)) {
		require(id == judged++);
		require((int32_t)(g->next - id) > g->reorder_window);
	}
	require(g->next - g->judged <= g->reorder_window);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inc_responder_run run = { .end = 0xfffff8 };
	struct inc_msg_loss gap;
	struct inc_responder r = {
		.epsn = 0xfffff8, .rkey = 7, .stride = STRIDE, .slots = SLOTS,
		.pmtu = 256,
	};
	u16 said[INC_PLACE_PSNS] = { 0 };
	struct inc_lost_place place = { .said = said };
	uint8_t *mem = malloc(STRIDE * SLOTS);
	bool ok = true;

	inc_msg_loss_init(&gap, ~0U - 20, 4096);
	for (; ok && size >= sizeof(struct request);
	     data += sizeof(struct request), size -= sizeof(struct request)) {
		enum inc_responder_verdict verdict;
		struct request q;
		struct inc_pkt pkt;

		memcpy(&q, data, sizeof(q));
		if (!make(&r, &q, &pkt) || !(pkt.flags & INC_PKT_REQUEST))
			continue;
		if (pkt.uc) {
			take_uc(&r, &pkt, mem);
			come(&gap, q.psn, q.ackreq_pad & 0x20);
			continue;
		}
		verdict = inc_responder_check(&r, &pkt);
		if (verdict == INC_RESP_STRANGE)
			continue;
		if (inc_place_contradicts(&place, &r, &pkt, verdict)) {
			require(pkt.rkey == r.rkey ||
				place.proof >= INC_PLACE_DOUBT);
			break;
		}
		switch (verdict) {
		case INC_RESP_NEW:
			if (inc_place_asks_again(&place, &pkt))
				break;
			if (!inc_responder_is_empty(&pkt))
				take(&r, &pkt, mem);
			inc_place_note(&place, &r, &pkt);
			inc_responder_accept(&r, &pkt);
			require(r.done <= r.dmalen + r.pmtu && r.done <= STRIDE);
			require(r.dmalen <= STRIDE);
			require(r.in_msg || r.done >= r.dmalen);
			if (inc_responder_ack_due(&r, pkt.ackreq))
				acknowledge(&place, &r, &pkt);
			inc_responder_run(&r, &run);
			break;
		case INC_RESP_INVALID:
		case INC_RESP_ACCESS:
			/* The QP goes to error. */
			ok = false;
			break;
		case INC_RESP_OOO:
			keep(&r, &pkt, &run);
			break;
		case INC_RESP_DUP:
		case INC_RESP_STRANGE:
			break;
		}
	}
	free(mem);
	return 0;
}
