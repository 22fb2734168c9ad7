/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the payload of a request packet lies, and its CRC.
 */
#ifndef _INC_PAYLOAD_H
#define _INC_PAYLOAD_H

#include "core/icrc.h"
#include "core/requester.h"
#include "core/slot.h"

/*
 * The payload of a packet of this slot, or NULL for zeros. It is the slot's own
 * memory. A result stays as it is until all ranks have begun the slot's next message
 * or acknowledged this one; a request, until the first one has begun the next one,
 * which it does when the parent has answered. By then the receiver has had this packet
 * and only an acknowledgment was lost, so the bytes of the retransmission do not matter
 * and zeros do. Nor do the bytes matter that follow a short chunk in a packet that has
 * to be full.
 */
static inline const void *inc_wqe_payload(const struct inc_slot *s,
					  const struct inc_wqe *w)
{
	const u8 *result = READ_ONCE(s->result);

	if (!w->len || !result)
		return NULL;
	if (w->source != INC_WQE_REQUEST)
		return inc_slot_has(s, w->msg_id) ? result + w->off : NULL;
	/* Without the slot's lock: if it changes now, see above. */
	if (data_race(s->msg.msg_id) != w->msg_id)
		return NULL;
	return s->partial - INC_HDR_LEN + w->off;
}

/*
 * The CRC of a payload from 0. Whatever the bytes, the ICRC has to be right, or the
 * packet is retransmitted until the receiver is declared dead. So it is computed each
 * time, or kept where the bytes are.
 */
static inline u32 inc_wqe_crc(const struct inc_slot *s, const struct inc_wqe *w,
			      const void *payload)
{
	if (!payload)
		return 0;
	if (w->source == INC_WQE_CHUNK)
		return s->chunk[inc_chunk_at(s->geom, w->off)].crc;
	return inc_crc_payload(payload, w->len);
}

#endif /* _INC_PAYLOAD_H */
