/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints of the data path: /sys/kernel/tracing/events/rdma_inc.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdma_inc

#if !defined(_INC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _INC_TRACE_H

#include <linux/tracepoint.h>

#include "object/switch.h"
#include "object/qp.h"
#include "object/tree.h"
#include "core/wire.h"
#include "report/names-gen.h"

TRACE_EVENT(inc_request,
	TP_PROTO(const struct inc_qp *qp, const struct inc_msg *msg),
	TP_ARGS(qp, msg),
	TP_STRUCT__entry(
		__field(u32, tree)
		__field(u16, rank)
		__field(u32, qpn)
		__field(u32, msg_id)
		__field(u8, collective)
		__field(u8, dtype)
		__field(u8, op)
		__field(u32, nelem)
	),
	TP_fast_assign(
		__entry->tree = qp->tree->cfg.id;
		__entry->rank = qp->cfg.index;
		__entry->qpn = qp->qpn;
		__entry->msg_id = msg->msg_id;
		__entry->collective = msg->collective;
		__entry->dtype = msg->dtype;
		__entry->op = msg->op;
		__entry->nelem = msg->nelem;
	),
	TP_printk("tree=%u rank=%u qpn=0x%06x msg_id=%u collective=%u dtype=%u op=%u nelem=%u",
		  __entry->tree, __entry->rank, __entry->qpn, __entry->msg_id,
		  __entry->collective, __entry->dtype, __entry->op,
		  __entry->nelem)
);

TRACE_EVENT(inc_complete,
	TP_PROTO(const struct inc_tree *tree, u16 slot,
		 const struct inc_msg *msg, u16 ready),
	TP_ARGS(tree, slot, msg, ready),
	TP_STRUCT__entry(
		__field(u32, tree)
		__field(u16, slot)
		__field(u32, msg_id)
		__field(u16, ready)
		__field(u16, nchunks)
	),
	TP_fast_assign(
		__entry->tree = tree->cfg.id;
		__entry->slot = slot;
		__entry->msg_id = msg->msg_id;
		__entry->ready = ready;
		__entry->nchunks = msg->nchunks;
	),
	TP_printk("tree=%u slot=%u msg_id=%u chunks=%u/%u", __entry->tree,
		  __entry->slot, __entry->msg_id, __entry->ready,
		  __entry->nchunks)
);

TRACE_EVENT(inc_tx_result,
	TP_PROTO(const struct inc_qp *qp, u32 psn, const struct inc_wqe *wqe),
	TP_ARGS(qp, psn, wqe),
	TP_STRUCT__entry(
		__field(u32, tree)
		__field(u16, rank)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, imm)
		__field(u32, off)
		__field(u16, len)
	),
	TP_fast_assign(
		__entry->tree = qp->tree->cfg.id;
		__entry->rank = qp->cfg.index;
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->imm = wqe->imm;
		__entry->off = wqe->off;
		__entry->len = wqe->len;
	),
	TP_printk("tree=%u rank=%u qpn=0x%06x psn=0x%06x imm=0x%08x off=%u len=%u",
		  __entry->tree, __entry->rank, __entry->qpn, __entry->psn,
		  __entry->imm, __entry->off, __entry->len)
);

TRACE_EVENT(inc_retransmit,
	TP_PROTO(const struct inc_qp *qp, u32 psn),
	TP_ARGS(qp, psn),
	TP_STRUCT__entry(
		__field(u32, tree)
		__field(u16, rank)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, backoff)
	),
	TP_fast_assign(
		__entry->tree = qp->tree->cfg.id;
		__entry->rank = qp->cfg.index;
		__entry->qpn = qp->qpn;
		__entry->psn = psn;
		__entry->backoff = qp->tx.requester.backoff;
	),
	TP_printk("tree=%u rank=%u qpn=0x%06x psn=0x%06x backoff=%u",
		  __entry->tree, __entry->rank, __entry->qpn, __entry->psn,
		  __entry->backoff)
);

TRACE_EVENT(inc_drop,
	TP_PROTO(const struct inc_switch *sw, const struct inc_pkt *pkt,
		 unsigned int reason),
	TP_ARGS(sw, pkt, reason),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, opcode)
		__field(unsigned int, reason)
	),
	TP_fast_assign(
		__entry->netns = sw->net->ns.inum;
		__entry->qpn = pkt->qpn;
		__entry->psn = pkt->psn;
		__entry->opcode = pkt->opcode;
		__entry->reason = reason;
	),
	TP_printk("netns=%u qpn=0x%06x psn=0x%06x opcode=0x%02x reason=%s",
		  __entry->netns, __entry->qpn, __entry->psn, __entry->opcode,
		  __print_symbolic(__entry->reason,
				   INC_SWITCH_STATS_SYMBOLS))
);

#endif /* _INC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
