// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See stale.h.
 */
#include <stdio.h>

#include "stats/stale.h"

/**
 * stale_path() - get the name of a file
 * @m: manager
 * @file: which one; of several the certificate
 *
 * Return: its name, or NULL: there is none.
 */
const char *stale_path(const struct manager *m, enum creds_file file)
{
	const char *const paths[] = {
		[CREDS_CERT]	= m->o.security.cert,
		[CREDS_CRL]	= m->o.security.crl,
		[CREDS_TOKENS]	= m->o.security.tokens,
	};

	return paths[file];
}

/**
 * stale_name() - say what a file has
 * @file: which one
 *
 * Return: as "of" of struct certificate.
 */
const char *stale_name(enum creds_file file)
{
	static const char *const names[] = {
		[CREDS_CERT]	= "manager",
		[CREDS_CRL]	= "crl",
		[CREDS_TOKENS]	= "tokens",
	};

	return names[file];
}

/**
 * stale_note() - note, and tell, that a file has changed
 * @s: of all files
 * @m: manager
 * @file: which one
 * @why: why it cannot be used; empty: it was read
 */
void stale_note(struct stale *s, struct manager *m, enum creds_file file,
		const char *why)
{
	snprintf(s->why[file], sizeof(s->why[file]), "%s", why);
	if (*why)
		event_log(&m->events, EVENT_CREDS_WRONG, stale_path(m, file),
			  "%s: what was read before still counts: %s",
			  stale_name(file), why);
	else
		event_log(&m->events, EVENT_CREDS_READ, stale_path(m, file),
			  "%s: read again", stale_name(file));
}
