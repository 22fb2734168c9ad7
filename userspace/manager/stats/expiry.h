/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Expiry of certificates: the manager's own, its authority's and etcd's, the list
 * of revoked ones, the ones that agents report, and clients' after their calls.
 * Events report it EXPIRY_SOON_S and EXPIRY_NOW_S before, and when it has happened.
 */
#ifndef INC_MANAGER_EXPIRY_H
#define INC_MANAGER_EXPIRY_H

#include <stdint.h>

#include "auth/identity.h"

#define EXPIRY_SOON_S	(30 * 86400)
#define EXPIRY_NOW_S	(7 * 86400)

struct manager;

/**
 * struct certificate - a certificate, or a list of revoked ones
 * @next: next certificate
 * @holder: "manager", "authority", "crl", "etcd", "agent", "client"
 * @name: name of the file or the switch, or of the client and its tenant
 * @expires: seconds since 1970. Clients with several certificates are listed
 *	several times, the first to expire before the others
 * @seen_at: milliseconds; last call of a client with it
 * @reported: last event: 0: none, 1: soon, 2: now, 3: expired
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
 * struct expiry - all certificates
 * @m: manager
 * @list: certificates
 * @nclients: number of clients' certificates
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
