/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Agents that call (RFC 8071): accepted here, until their certificates are known.
 */
#ifndef INC_MANAGER_CALLED_H
#define INC_MANAGER_CALLED_H

#include <stdbool.h>
#include <stddef.h>

#define CALLED_PORT	4335	/* RFC 8071, for TLS */

struct loop;
struct sw;

/**
 * struct called_how - who is taken, and who hears of others
 * @listen: ADDR[:PORT]
 * @ca: file with the authority of the agents' certificates
 * @cert: file with the manager's certificate
 * @key: and its private key
 * @crl: file with revoked certificates, or NULL
 * @leads: may anybody be taken?
 * @find: find the switch of an agent by what its certificate names; NULL: none
 * @refused: called for each call that is not taken
 * @ctx: argument of all of them
 */
struct called_how {
	const char	*listen;
	const char	*ca;
	const char	*cert;
	const char	*key;
	const char	*crl;
	bool		(*leads)(void *ctx);
	struct sw	*(*find)(void *ctx, const char *id);
	void		(*refused)(void *ctx, const char *peer, const char *why);
	void		*ctx;
};

int called_start(struct loop *loop, const struct called_how *how, char *err,
		 size_t err_len);

#endif /* INC_MANAGER_CALLED_H */
