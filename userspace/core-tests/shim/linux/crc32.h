/* SPDX-License-Identifier: GPL-2.0 */
/* CRC-32 as the kernel's crc32_le(): nothing is inverted. */
#ifndef _SHIM_LINUX_CRC32_H
#define _SHIM_LINUX_CRC32_H

#include <linux/types.h>

u32 crc32_le(u32 crc, const void *data, size_t len);

#endif
