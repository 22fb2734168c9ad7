// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See announce.h. Anybody may have sent the bytes that are parsed.
 */
#include "announce.h"

#include <stdbool.h>
#include <string.h>

#define VERSION	1

/*
 * Make the content of a switch's TLV. Returns its length in bytes, or 0 if a
 * name is too long.
 */
size_t announce_make(uint8_t *buf, const char *id, const char *port)
{
	size_t idlen = strlen(id), portlen = strlen(port);

	if (idlen >= ANNOUNCE_ID_LEN || portlen >= ANNOUNCE_PORT_LEN)
		return 0;
	buf[0] = VERSION;
	buf[1] = (uint8_t)idlen;
	memcpy(buf + 2, id, idlen);
	buf[2 + idlen] = (uint8_t)portlen;
	memcpy(buf + 3 + idlen, port, portlen);
	return 3 + idlen + portlen;
}

/* Printable ASCII only: names go into XML, and into messages. */
static bool take_string(const uint8_t **info, size_t *len, char *to,
			size_t room)
{
	size_t n, i;

	if (!*len)
		return false;
	n = **info;
	if (!n || n >= room || n > *len - 1)
		return false;
	for (i = 0; i < n; i++) {
		to[i] = (char)(*info)[1 + i];
		if (to[i] <= ' ' || to[i] > '~')
			return false;
	}
	to[n] = '\0';
	*info += 1 + n;
	*len -= 1 + n;
	return true;
}

/*
 * Parse the TLV. Returns 0, or -1 if it is not valid.
 * @info: content, or NULL
 */
int announce_parse(long subtype, const uint8_t *info, size_t len,
		   struct announce *a)
{
	memset(a, 0, sizeof(*a));
	if (subtype == ANNOUNCE_HOST)
		return 0;
	if (subtype != ANNOUNCE_SWITCH || !info || !len || info[0] != VERSION)
		return -1;
	info++;
	len--;
	if (take_string(&info, &len, a->id, sizeof(a->id)) &&
	    take_string(&info, &len, a->port, sizeof(a->port)))
		return 0;
	memset(a, 0, sizeof(*a));
	return -1;
}

/*
 * Take a MAC address out of a chassis or port ID. Returns 0, or -1 if no device
 * can have it.
 * @id: ID of the subtype for MAC addresses, or NULL
 */
int announce_mac(const uint8_t *id, size_t len, uint8_t *mac)
{
	static const uint8_t none[6];

	if (!id || len != sizeof(none) || (id[0] & 1) ||
	    !memcmp(id, none, sizeof(none)))
		return -1;
	memcpy(mac, id, sizeof(none));
	return 0;
}
