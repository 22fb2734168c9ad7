/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What the environment tells a rank of its manager.
 */
#ifndef INC_AM_ENV_H
#define INC_AM_ENV_H

#include <stddef.h>

#include "auth/client.h"
#include "manager/api/message.h"

int am_env_read(struct auth_client *auth, char reservation[AM_ID_MAX + 1],
		char *err, size_t err_len);

#endif /* INC_AM_ENV_H */
