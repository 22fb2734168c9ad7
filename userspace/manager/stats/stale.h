/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Files of certificates, tokens and revoked certificates that have changed and
 * cannot be used, or of tokens, only in part.
 */
#ifndef INC_MANAGER_STALE_H
#define INC_MANAGER_STALE_H

#include "rpc/creds.h"
#include "manager.h"

/**
 * struct stale - state of all files
 * @why: for each file why it cannot be used; empty: it was read
 */
struct stale {
	char	why[CREDS_FILES][256];
};

const char *stale_path(const struct manager *m, enum creds_file file);
const char *stale_name(enum creds_file file);
void stale_note(struct stale *s, struct manager *m, enum creds_file file,
		const char *why);

#endif /* INC_MANAGER_STALE_H */
