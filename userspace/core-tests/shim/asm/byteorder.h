/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's short names on top of the system's <asm/byteorder.h>. */
#ifndef _SHIM_ASM_BYTEORDER_H
#define _SHIM_ASM_BYTEORDER_H

#include <linux/compiler.h>
#include_next <asm/byteorder.h>

#define cpu_to_be16	__cpu_to_be16
#define cpu_to_be32	__cpu_to_be32
#define cpu_to_be64	__cpu_to_be64
#define cpu_to_le32	__cpu_to_le32
#define be16_to_cpu	__be16_to_cpu
#define be32_to_cpu	__be32_to_cpu
#define be64_to_cpu	__be64_to_cpu
#define le32_to_cpu	__le32_to_cpu

#endif
