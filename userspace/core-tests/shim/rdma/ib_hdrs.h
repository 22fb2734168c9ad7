/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names of the kernel's <rdma/ib_hdrs.h> that the core uses, rewritten from
 * the layouts of IBTA 1.x, sections 9.2 and 9.3.
 */
#ifndef _SHIM_RDMA_IB_HDRS_H
#define _SHIM_RDMA_IB_HDRS_H

#include <asm/byteorder.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#define IB_QPN_MASK			0xffffff
#define IB_MSN_MASK			0xffffff

#define IB_RNR_NAK			0x20
#define IB_NAK_PSN_ERROR		0x60
#define IB_NAK_INVALID_REQUEST		0x61
#define IB_NAK_REMOTE_ACCESS_ERROR	0x62
#define IB_NAK_REMOTE_OPERATIONAL_ERROR	0x63

#define IB_BTH_OPCODE_SHIFT		24
#define IB_BTH_SOLICITED		BIT(23)
#define IB_BTH_MIG_REQ			BIT(22)
#define IB_BTH_PAD_SHIFT		20
#define IB_BTH_TVER_SHIFT		16
#define IB_BTH_REQ_ACK			BIT(31)
#define IB_BECN_SMASK			BIT(30)

#define IB_AETH_CREDIT_SHIFT		24
#define IB_AETH_CREDIT_INVAL		0x1f

struct ib_reth {
	__be64 vaddr;
	__be32 rkey;
	__be32 length;
} __packed;

union ib_ehdrs {
	struct {
		struct ib_reth reth;
		__be32 imm_data;
	} __packed rc;
	__be32 imm_data;
	__be32 aeth;
} __packed;

struct ib_other_headers {
	__be32 bth[3];
	union ib_ehdrs u;
} __packed;

static inline u64 get_ib_reth_vaddr(struct ib_reth *reth)
{
	return be64_to_cpu(get_unaligned(&reth->vaddr));
}

static inline void put_ib_reth_vaddr(u64 val, struct ib_reth *reth)
{
	put_unaligned(cpu_to_be64(val), &reth->vaddr);
}

static inline u8 ib_bth_get_opcode(struct ib_other_headers *oh)
{
	return be32_to_cpu(oh->bth[0]) >> IB_BTH_OPCODE_SHIFT;
}

static inline u8 ib_bth_get_pad(struct ib_other_headers *oh)
{
	return be32_to_cpu(oh->bth[0]) >> IB_BTH_PAD_SHIFT & 3;
}

static inline u8 ib_bth_get_tver(struct ib_other_headers *oh)
{
	return be32_to_cpu(oh->bth[0]) >> IB_BTH_TVER_SHIFT & 15;
}

static inline u16 ib_bth_get_pkey(struct ib_other_headers *oh)
{
	return be32_to_cpu(oh->bth[0]) & 0xffff;
}

static inline u32 ib_bth_get_qpn(struct ib_other_headers *oh)
{
	return be32_to_cpu(oh->bth[1]) & IB_QPN_MASK;
}

static inline bool ib_bth_get_becn(struct ib_other_headers *oh)
{
	return be32_to_cpu(oh->bth[1]) & IB_BECN_SMASK;
}

static inline u8 ib_bth_get_ackreq(struct ib_other_headers *oh)
{
	return be32_to_cpu(oh->bth[2]) >> 31;
}

/* All 32 bits, as in the kernel: the caller sets AckReq and reserved bits. */
static inline u32 ib_bth_get_psn(struct ib_other_headers *oh)
{
	return be32_to_cpu(oh->bth[2]);
}

#endif
