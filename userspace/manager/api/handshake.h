/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Clients that fail before they have called: which ones, and why.
 */
#ifndef INC_MANAGER_HANDSHAKE_H
#define INC_MANAGER_HANDSHAKE_H

#include "base/loop.h"

void handshake_watch(struct loop *loop,
		     void (*failed)(void *ctx, const char *peer,
				    const char *why),
		     void *ctx);

#endif /* INC_MANAGER_HANDSHAKE_H */
