// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See stale.h.
 */
#include <stdio.h>

#include "stats/stale.h"

/* Get the name of a file. Returns the name, or NULL: not configured. */
const char *stale_path(const struct manager *m, enum creds_file file)
{
	const char *const paths[] = {
		[CREDS_CERT]	= m->o.security.cert,
		[CREDS_CRL]	= m->o.security.crl,
		[CREDS_TOKENS]	= m->o.security.tokens,
	};

	return paths[file];
}

/* Name the content of a file, like @holder of struct certificate. */
const char *stale_name(enum creds_file file)
{
	static const char *const names[] = {
		[CREDS_CERT]	= "manager",
		[CREDS_CRL]	= "crl",
		[CREDS_TOKENS]	= "tokens",
	};

	return names[file];
}

/*
 * Note and report that a file has changed.
 * @why: as of creds_read_fn
 */
void stale_note(struct stale *s, struct manager *m, enum creds_file file,
		const char *why)
{
	snprintf(s->why[file], sizeof(s->why[file]), "%s", why);
	if (*why)
		event_log(&m->events, EVENT_CREDS_WRONG, stale_path(m, file),
			  "%s: %s",
			  stale_name(file), why);
	else
		event_log(&m->events, EVENT_CREDS_READ, stale_path(m, file),
			  "%s: read again", stale_name(file));
}
