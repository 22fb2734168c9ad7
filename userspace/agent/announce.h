/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How INC switches and hosts announce themselves by LLDP (IEEE 802.1AB): an
 * organizationally specific TLV. The OUI, 52-44-49, has the bit of locally
 * administered addresses, so IEEE assigns it to nobody; "RDI" in ASCII. Subtypes:
 *
 *	1	a switch: version (1), length and bytes of its identity, length
 *		and bytes of the name of the interface. The rest is ignored.
 *	2	a host, without content
 */
#ifndef INC_AGENT_ANNOUNCE_H
#define INC_AGENT_ANNOUNCE_H

#include <stddef.h>
#include <stdint.h>

#define ANNOUNCE_OUI		"\x52\x44\x49"
#define ANNOUNCE_OUI_LEN	3
#define ANNOUNCE_SWITCH		1
#define ANNOUNCE_HOST		2
#define ANNOUNCE_MAX		128
#define ANNOUNCE_ID_LEN		64
#define ANNOUNCE_PORT_LEN	32

/**
 * struct announce - sender of an announcement
 * @id: identity of a switch; empty: a host
 * @port: the switch's interface
 */
struct announce {
	char	id[ANNOUNCE_ID_LEN];
	char	port[ANNOUNCE_PORT_LEN];
};

size_t announce_make(uint8_t *buf, const char *id, const char *port);
int announce_parse(long subtype, const uint8_t *info, size_t len,
		   struct announce *a);
int announce_mac(const uint8_t *id, size_t len, uint8_t *mac);

#endif /* INC_AGENT_ANNOUNCE_H */
