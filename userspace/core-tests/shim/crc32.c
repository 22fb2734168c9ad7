// SPDX-License-Identifier: GPL-2.0
/* CRC-32 by a table of 256 entries, built at the first call. */
#include <linux/crc32.h>

u32 crc32_le(u32 crc, const void *data, size_t len)
{
	static u32 tab[256];
	const u8 *p = data;

	if (!tab[1]) {
		for (u32 i = 0; i < 256; i++) {
			u32 c = i;

			for (int k = 0; k < 8; k++)
				c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
			tab[i] = c;
		}
	}
	while (len--)
		crc = crc >> 8 ^ tab[(crc ^ *p++) & 0xff];
	return crc;
}
