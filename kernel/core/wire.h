/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RoCEv2 transport headers in a flat buffer: parsing with all length checks,
 * and building (IBTA 1.x, section 9.2; annex A17).
 */
#ifndef _INC_WIRE_H
#define _INC_WIRE_H

#include <linux/types.h>
#include <rdma/ib_hdrs.h>
#include <rdma/ib_pack.h>

/* Longest transport header sent: BTH, RETH, ImmDt. */
#define INC_MAX_TRANSPORT_HDR	(IB_BTH_BYTES + sizeof(struct ib_reth) + 4)

/* Congestion notification packet (IBTA 1.x, annex A17.9.3): for RC and UC alike. */
#define INC_OPCODE_CNP		0x81
#define INC_CNP_RESERVED	16	/* bytes of zeros after the BTH */

/* Default P_Key, as stock rxe uses. */
#define INC_PKEY_DEFAULT	0xffff

/* enum inc_pkt_flags - properties of a packet's opcode, by the table of wire.c */
#define INC_PKT_REQUEST		0x01	/* else a response, or a CNP */
#define INC_PKT_FIRST		0x02	/* begins a message */
#define INC_PKT_LAST		0x04	/* ends it */
#define INC_PKT_RETH		0x08
#define INC_PKT_IMM		0x10
#define INC_PKT_AETH		0x20
#define INC_PKT_PAYLOAD		0x40	/* may carry payload */
#define INC_PKT_SUPPORTED	0x80	/* a request that this switch serves */
#define INC_PKT_CNP		0x100

/**
 * struct inc_pkt - a parsed transport packet, integers in host order
 * @opcode: BTH opcode
 * @flags: INC_PKT_* of the opcode
 * @uc: the opcode is a UC one, else RC, or a CNP
 * @ackreq: AckReq of the BTH
 * @becn: BECN of the BTH: a packet in the other direction met congestion
 * @ce: the IP header has the ECN codepoint CE; the caller of inc_wire_parse() knows
 * @qpn: destination QPN
 * @psn: PSN
 * @pkey: P_Key
 * @pad: pad bytes after the payload
 * @hdr_len: bytes of BTH and extended headers
 * @payload_len: bytes of payload, without pad and ICRC
 * @va: RETH virtual address
 * @rkey: RETH R_Key
 * @dmalen: RETH length of the message
 * @imm: Immediate
 * @syndrome: AETH syndrome
 * @msn: AETH message sequence number
 */
struct inc_pkt {
	u8	opcode;
	u8	pad;
	u16	flags;
	bool	uc;
	bool	ackreq;
	bool	becn;
	bool	ce;
	u16	pkey;
	u16	hdr_len;
	u16	payload_len;
	u32	qpn;
	u32	psn;
	union {
		struct {
			u64	va;
			u32	rkey;
			u32	dmalen;
			u32	imm;
		};
		struct {
			u8	syndrome;
			u32	msn;
		};
	};
};

/**
 * enum inc_wire_error - result of parsing a packet
 * @INC_WIRE_OK: the packet is valid
 * @INC_WIRE_SHORT: headers, pad or ICRC do not fit
 * @INC_WIRE_OPCODE: not an RC or UC opcode nor a CNP, or one that IBTA reserves
 * @INC_WIRE_TVER: the transport header version is not 0
 */
enum inc_wire_error {
	INC_WIRE_OK,
	INC_WIRE_SHORT,
	INC_WIRE_OPCODE,
	INC_WIRE_TVER,
};

enum inc_wire_error inc_wire_parse(const void *bth, unsigned int len,
				   struct inc_pkt *pkt);
unsigned int inc_wire_ext_len(const void *bth);
unsigned int inc_wire_build(void *bth, const struct inc_pkt *pkt);

#endif /* _INC_WIRE_H */
