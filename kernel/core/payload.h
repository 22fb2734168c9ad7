/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the payload of a request packet lies.
 */
#ifndef _INC_PAYLOAD_H
#define _INC_PAYLOAD_H

#include "core/requester.h"
#include "core/slot.h"

/*
 * The payload of a packet of this slot, or NULL for zeros. It is the slot's own
 * memory, which stays as it is until all ranks have begun the slot's next
 * message or acknowledged this one, or the next request to the parent is opened. By
 * then the receiver has had this packet and only an acknowledgment was lost, so the
 * bytes of the retransmission do not matter and zeros do. Nor do the bytes matter that
 * follow a short chunk in a packet that has to be full.
 */
static inline const void *inc_wqe_payload(const struct inc_slot *s,
					  const struct inc_wqe *w)
{
	const u8 *result = READ_ONCE(s->result);

	if (!w->len || !result || !inc_slot_has(s, w->msg_id))
		return NULL;
	if (w->source != INC_WQE_REQUEST)
		return result + w->off;
	if (s->uplink_msg_id != w->msg_id)
		return NULL;
	return s->partial - INC_HDR_LEN + w->off;
}

#endif /* _INC_PAYLOAD_H */
