/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * First header of every file of inc-tool.
 */
#ifndef INC_TOOL_COMMON_H
#define INC_TOOL_COMMON_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/array.h"

/* Kernel types; user code has those of <stdint.h>. */
#pragma GCC poison u8 u16 u32 u64

#endif /* INC_TOOL_COMMON_H */
