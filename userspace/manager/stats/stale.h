/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Certificates, tokens and the list of revoked ones that have changed and cannot be
 * used, or of tokens, not all of them.
 */
#ifndef INC_MANAGER_STALE_H
#define INC_MANAGER_STALE_H

#include "rpc/creds.h"
#include "manager.h"

/**
 * struct stale - of all files
 * @why: of each one why it cannot be used; empty: it was read
 */
struct stale {
	char	why[CREDS_FILES][256];
};

const char *stale_path(const struct manager *m, enum creds_file file);
const char *stale_name(enum creds_file file);
void stale_note(struct stale *s, struct manager *m, enum creds_file file,
		const char *why);

#endif /* INC_MANAGER_STALE_H */
