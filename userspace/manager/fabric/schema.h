/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The YANG modules that all sessions with agents share. */
#ifndef INC_MANAGER_SCHEMA_H
#define INC_MANAGER_SCHEMA_H

#include <libyang/libyang.h>

struct ly_ctx *schema_get(void);

#endif /* INC_MANAGER_SCHEMA_H */
