// SPDX-License-Identifier: GPL-2.0
/* libFuzzer: the bytes are a packet, from its BTH on. */
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "core/icrc.h"
#include "core/wire.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t hdr[INC_MAX_TRANSPORT_HDR], ip[40 + 8 + 64] = { 0x45 };
	/* Compared byte by byte, gaps included. */
	struct inc_pkt pkt = {}, again = {};
	/* The exact size, so that AddressSanitizer guards the end. */
	uint8_t *copy = calloc(1, size);
	unsigned int ip_len = size & 1 ? 20 : 40;

	if (size)
		memcpy(copy, data, size);
	if (!inc_wire_parse(copy, size, &pkt)) {
		require(pkt.hdr_len + pkt.payload_len + pkt.pad + 4u == size);
		require(pkt.hdr_len <= INC_MAX_TRANSPORT_HDR);
		require(pkt.pad < 4 && pkt.qpn <= 0xffffff &&
			pkt.psn <= 0xffffff);
		memcpy(ip + ip_len + 8, copy, pkt.hdr_len);
		inc_icrc_hdr(ip, ip_len, ip_len + 8 + pkt.hdr_len);
		inc_crc_payload(copy + pkt.hdr_len, pkt.payload_len);
	}
	/* Packets that this side sends. */
	if (!inc_wire_parse(copy, size, &pkt) &&
	    (pkt.opcode == 0x0a || pkt.opcode == 0x0b || pkt.opcode == 0x11)) {
		require(inc_wire_build(hdr, &pkt) == pkt.hdr_len);
		memcpy(copy, hdr, pkt.hdr_len);
		require(!inc_wire_parse(copy, size, &again));
		require(!memcmp(&pkt, &again, sizeof(pkt)));
	}
	free(copy);
	return 0;
}
