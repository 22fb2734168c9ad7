// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See env.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env.h"

static int read_reservation(char reservation[AM_ID_MAX + 1], char *err,
			    size_t err_len)
{
	const char *name = secure_getenv("INC_AM_RESERVATION");

	if (!name)
		return 0;
	if (strlen(name) <= AM_ID_MAX) {
		memcpy(reservation, name, strlen(name) + 1);
		return 0;
	}
	snprintf(err, err_len, "INC_AM_RESERVATION: a name has %d characters at most",
		 AM_ID_MAX);
	return -EINVAL;
}

/**
 * am_env_read() - read certificates, token and reservation
 * @auth: result: what proves who the rank is
 * @reservation: result: which one it names; left alone if none
 * @err: error message
 * @err_len: size of @err in bytes
 *
 * Return: 0 or a negative errno value.
 */
int am_env_read(struct auth_client *auth, char reservation[AM_ID_MAX + 1],
		char *err, size_t err_len)
{
	int ret = inc_auth_read(auth, "INC_AM", err, err_len);

	return ret ? ret : read_reservation(reservation, err, err_len);
}
