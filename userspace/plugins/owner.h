/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The owner in the name of a job, which daemons and managers list. Not
 * authenticated, and not unique.
 */
#ifndef INC_PLUGIN_OWNER_H
#define INC_PLUGIN_OWNER_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define INC_PLUGIN_OWNER	16	/* bytes, with the final NUL */

/**
 * inc_plugin_owner() - name the user, and the job if Slurm has started it
 * @owner: result, as "alice.4711"
 *
 * Only one rank calls it: other hosts may name the user differently.
 */
static inline void inc_plugin_owner(char owner[INC_PLUGIN_OWNER])
{
	const char *user = getenv("USER"), *job = getenv("SLURM_JOB_ID");
	char uid[16];
	size_t i;

	snprintf(uid, sizeof(uid), "%u", (unsigned int)geteuid());
	if (!user || !*user)
		user = uid;
	if (job && *job)
		snprintf(owner, INC_PLUGIN_OWNER, "%.6s.%.8s", user, job);
	else
		snprintf(owner, INC_PLUGIN_OWNER, "%.15s", user);
	for (i = 0; owner[i]; i++)
		if (!isalnum((unsigned char)owner[i]) && owner[i] != '.' &&
		    owner[i] != '_')
			owner[i] = '_';
}

#endif /* INC_PLUGIN_OWNER_H */
