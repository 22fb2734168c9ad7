// SPDX-License-Identifier: GPL-2.0
/*
 * RoCEv2 transport headers: all lengths are checked here, and trusted beyond.
 */
#include <linux/bits.h>
#include <linux/string.h>

#include "core/psn.h"
#include "core/wire.h"

#define OP_WRITE	(INC_PKT_REQUEST | INC_PKT_PAYLOAD | INC_PKT_SUPPORTED)

/* The opcode's upper three bits: the transport (IBTA 9.2.1). */
#define OP_MASK		0x1f

/* Indexed by the opcode's low five bits. */
static const u8 opcode_flags[32] = {
	[IB_OPCODE_SEND_FIRST] = INC_PKT_REQUEST | INC_PKT_FIRST,
	[IB_OPCODE_SEND_MIDDLE] = INC_PKT_REQUEST,
	[IB_OPCODE_SEND_LAST] = INC_PKT_REQUEST | INC_PKT_LAST,
	[IB_OPCODE_SEND_LAST_WITH_IMMEDIATE] = INC_PKT_REQUEST | INC_PKT_LAST |
		INC_PKT_IMM,
	[IB_OPCODE_SEND_ONLY] = INC_PKT_REQUEST | INC_PKT_FIRST | INC_PKT_LAST,
	[IB_OPCODE_SEND_ONLY_WITH_IMMEDIATE] = INC_PKT_REQUEST | INC_PKT_FIRST |
		INC_PKT_LAST | INC_PKT_IMM,
	[IB_OPCODE_RDMA_WRITE_FIRST] = OP_WRITE | INC_PKT_FIRST | INC_PKT_RETH,
	[IB_OPCODE_RDMA_WRITE_MIDDLE] = OP_WRITE,
	[IB_OPCODE_RDMA_WRITE_LAST] = OP_WRITE | INC_PKT_LAST,
	[IB_OPCODE_RDMA_WRITE_LAST_WITH_IMMEDIATE] = OP_WRITE | INC_PKT_LAST |
		INC_PKT_IMM,
	[IB_OPCODE_RDMA_WRITE_ONLY] = OP_WRITE | INC_PKT_FIRST | INC_PKT_LAST |
		INC_PKT_RETH,
	[IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE] = OP_WRITE | INC_PKT_FIRST |
		INC_PKT_LAST | INC_PKT_RETH | INC_PKT_IMM,
	[IB_OPCODE_RDMA_READ_REQUEST] = INC_PKT_REQUEST | INC_PKT_FIRST |
		INC_PKT_LAST | INC_PKT_RETH,
	[IB_OPCODE_ACKNOWLEDGE] = INC_PKT_AETH,
	[IB_OPCODE_COMPARE_SWAP] = INC_PKT_REQUEST | INC_PKT_FIRST |
		INC_PKT_LAST,
	[IB_OPCODE_FETCH_ADD] = INC_PKT_REQUEST | INC_PKT_FIRST | INC_PKT_LAST,
	[IB_OPCODE_SEND_LAST_WITH_INVALIDATE] = INC_PKT_REQUEST | INC_PKT_LAST,
	[IB_OPCODE_SEND_ONLY_WITH_INVALIDATE] = INC_PKT_REQUEST |
		INC_PKT_FIRST | INC_PKT_LAST,
};

static unsigned int ext_hdr_len(u16 flags)
{
	unsigned int len = 0;

	if (flags & INC_PKT_RETH)
		len += sizeof(struct ib_reth);
	if (flags & INC_PKT_IMM)
		len += sizeof(__be32);
	if (flags & INC_PKT_AETH)
		len += sizeof(__be32);
	if (flags & INC_PKT_CNP)
		len += INC_CNP_RESERVED;
	return len;
}

static void parse_ext(struct ib_other_headers *oh, struct inc_pkt *pkt)
{
	if (pkt->flags & INC_PKT_AETH) {
		u32 aeth = be32_to_cpu(oh->u.aeth);

		pkt->syndrome = aeth >> IB_AETH_CREDIT_SHIFT;
		pkt->msn = aeth & IB_MSN_MASK;
		return;
	}
	if (pkt->flags & INC_PKT_RETH) {
		pkt->va = get_ib_reth_vaddr(&oh->u.rc.reth);
		pkt->rkey = be32_to_cpu(oh->u.rc.reth.rkey);
		pkt->dmalen = be32_to_cpu(oh->u.rc.reth.length);
	}
	if (pkt->flags & INC_PKT_IMM)
		pkt->imm = be32_to_cpu(pkt->flags & INC_PKT_RETH ?
				       oh->u.rc.imm_data : oh->u.imm_data);
}

/* Flags of an opcode; 0 if it is neither RC nor UC nor a CNP. */
static u16 flags_of(u8 opcode)
{
	u8 op = opcode & OP_MASK;

	if (opcode == INC_OPCODE_CNP)
		return INC_PKT_CNP;
	switch (opcode & ~OP_MASK) {
	case IB_OPCODE_RC:
		return opcode_flags[op];
	case IB_OPCODE_UC:
		/* UC has only SEND and RDMA WRITE. */
		return op <= IB_OPCODE_RDMA_WRITE_ONLY_WITH_IMMEDIATE ?
		       opcode_flags[op] : 0;
	}
	return 0;
}

/**
 * inc_wire_parse() - parse and check a transport packet
 * @bth: its BTH, any alignment
 * @len: bytes from there to the end of the UDP datagram, ICRC included
 * @pkt: filled in when the packet is valid
 *
 * Does not check whether the packet suits the QP's state.
 *
 * Context: any.
 * Return: enum inc_wire_error.
 * Spec: IBTA 1.x section 9.2 (BTH), 9.3 (extended headers), table 38.
 */
enum inc_wire_error inc_wire_parse(const void *bth, unsigned int len,
				   struct inc_pkt *pkt)
{
	struct ib_other_headers *oh = (struct ib_other_headers *)bth;
	unsigned int rest;

	if (len < IB_BTH_BYTES + IB_ICRC_BYTES)
		return INC_WIRE_SHORT;

	pkt->opcode = ib_bth_get_opcode(oh);
	if (ib_bth_get_tver(oh))
		return INC_WIRE_TVER;
	pkt->flags = flags_of(pkt->opcode);
	if (!pkt->flags)
		return INC_WIRE_OPCODE;

	pkt->uc = (pkt->opcode & ~OP_MASK) == IB_OPCODE_UC;
	pkt->ackreq = ib_bth_get_ackreq(oh);
	pkt->becn = ib_bth_get_becn(oh);
	pkt->pad = ib_bth_get_pad(oh);
	pkt->pkey = ib_bth_get_pkey(oh);
	pkt->qpn = ib_bth_get_qpn(oh);
	pkt->psn = ib_bth_get_psn(oh) & INC_PSN_MASK;
	pkt->hdr_len = IB_BTH_BYTES + ext_hdr_len(pkt->flags);

	if (len < pkt->hdr_len + pkt->pad + IB_ICRC_BYTES)
		return INC_WIRE_SHORT;
	rest = len - pkt->hdr_len - pkt->pad - IB_ICRC_BYTES;
	if (rest > U16_MAX)
		return INC_WIRE_SHORT;
	pkt->payload_len = rest;

	/* Clear only the headers that this opcode may lack. */
	pkt->va = 0;
	pkt->rkey = 0;
	pkt->dmalen = 0;
	pkt->imm = 0;
	parse_ext(oh, pkt);
	return INC_WIRE_OK;
}

/**
 * inc_wire_ext_len() - get how much follows a BTH before the payload
 * @bth: BTH, any alignment
 *
 * Context: any.
 * Return: bytes of the opcode's extended headers; 0 if it is unknown.
 */
unsigned int inc_wire_ext_len(const void *bth)
{
	return ext_hdr_len(flags_of(ib_bth_get_opcode((void *)bth)));
}

/**
 * inc_wire_build() - write BTH and extended headers
 * @bth: destination with room for INC_MAX_TRANSPORT_HDR bytes
 * @pkt: opcode, pkey, pad, ackreq, becn, qpn, psn and the opcode's other fields
 *
 * A packet with Immediate has the solicited event bit set, so that hosts can
 * arm their completion queue for results alone.
 *
 * Context: any.
 * Return: bytes written.
 */
unsigned int inc_wire_build(void *bth, const struct inc_pkt *pkt)
{
	struct ib_other_headers *oh = bth;
	u16 flags = flags_of(pkt->opcode);

	oh->bth[0] = cpu_to_be32((u32)pkt->opcode << IB_BTH_OPCODE_SHIFT |
				 (flags & INC_PKT_IMM ? IB_BTH_SOLICITED : 0) |
				 (flags & INC_PKT_CNP ? 0 : IB_BTH_MIG_REQ) |
				 (u32)pkt->pad << IB_BTH_PAD_SHIFT |
				 pkt->pkey);
	oh->bth[1] = cpu_to_be32((pkt->becn ? IB_BECN_SMASK : 0) | pkt->qpn);
	oh->bth[2] = cpu_to_be32((pkt->ackreq ? IB_BTH_REQ_ACK : 0) | pkt->psn);

	if (flags & INC_PKT_AETH) {
		oh->u.aeth = cpu_to_be32((u32)pkt->syndrome <<
					 IB_AETH_CREDIT_SHIFT | pkt->msn);
	} else if (flags & INC_PKT_RETH) {
		put_ib_reth_vaddr(pkt->va, &oh->u.rc.reth);
		oh->u.rc.reth.rkey = cpu_to_be32(pkt->rkey);
		oh->u.rc.reth.length = cpu_to_be32(pkt->dmalen);
		if (flags & INC_PKT_IMM)
			oh->u.rc.imm_data = cpu_to_be32(pkt->imm);
	} else if (flags & INC_PKT_CNP) {
		memset(&oh->u, 0, INC_CNP_RESERVED);
	} else if (flags & INC_PKT_IMM) {
		oh->u.imm_data = cpu_to_be32(pkt->imm);
	}
	return IB_BTH_BYTES + ext_hdr_len(flags);
}
