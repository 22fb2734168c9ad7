/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What one connection, one host and one tenant may have of the server at a time:
 * calls, streams whose client has said nothing yet, and answers that wait to be
 * read. All of it is the main loop's.
 */
#ifndef INC_MANAGER_SHARE_H
#define INC_MANAGER_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/meter.h"
#include "auth/identity.h"

enum share_kind {
	SHARE_CONNECTION,
	SHARE_HOST,
	SHARE_TENANT,
	SHARE_KINDS
};

struct share;

/**
 * struct share_use - what a call has
 * @of: of which shares; NULL: of none
 * @meter: its connection, or NULL
 * @silent: its client has said nothing yet
 */
struct share_use {
	struct share	*of[SHARE_KINDS];
	struct meter	*meter;
	bool		silent;
};

int share_enter(struct share_use *u, const char *peer,
		const struct identity *who, char *why, size_t len);
void share_leave(struct share_use *u);
void share_speak(struct share_use *u);
bool share_queue(struct share_use *u, size_t bytes);
void share_unqueue(struct share_use *u, size_t bytes);

#endif /* INC_MANAGER_SHARE_H */
