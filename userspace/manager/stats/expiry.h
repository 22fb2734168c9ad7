/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * When certificates expire: the manager's own, its authority's and etcd's, the
 * list of revoked ones, the ones that agents name, and the ones by which
 * clients have called. Events tell of it EXPIRY_SOON_S and EXPIRY_NOW_S before,
 * and when it has happened.
 */
#ifndef INC_MANAGER_EXPIRY_H
#define INC_MANAGER_EXPIRY_H

#include <stdint.h>

#include "auth/identity.h"

#define EXPIRY_SOON_S	(30 * 86400)
#define EXPIRY_NOW_S	(7 * 86400)

struct manager;

/**
 * struct certificate - one that expires
 * @next: next one
 * @holder: "manager", "authority", "crl", "etcd", "agent", "client"
 * @name: whose it is: a file, a switch, or a client and its tenant
 * @expires: seconds since 1970. Clients with several certificates are there
 *	several times, the first to expire before the others
 * @seen_at: milliseconds; when a client has called with it last
 * @reported: what events have reported: 0: nothing, 1: soon, 2: now, 3: it has
 */
struct certificate {
	struct certificate	*next;
	const char		*holder;
	char			name[160];
	int64_t			expires;
	int64_t			seen_at;
	unsigned int		reported;
};

/**
 * struct expiry - all of them
 * @m: manager
 * @list: certificates
 * @nclients: how many of them are clients'
 * @check_at: milliseconds; when to look next
 */
struct expiry {
	struct manager		*m;
	struct certificate	*list;
	unsigned int		nclients;
	int64_t			check_at;
};

void expiry_client(struct expiry *e, const struct identity *who);
void expiry_turn(struct expiry *e);
void expiry_free(struct expiry *e);
unsigned int expiry_level(const struct certificate *c, int64_t now);
void expiry_text(const struct certificate *c, int64_t now, char *text,
		 size_t len);

#endif /* INC_MANAGER_EXPIRY_H */
