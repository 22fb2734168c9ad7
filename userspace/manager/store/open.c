// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The databases that a manager may be told to use. */
#include <errno.h>
#include <string.h>

#include "store/store.h"

/* Open a database. */
int store_db_open(struct store_db **db, const char *where, const char *self,
		  const struct store_security *how, char *err)
{
	if (!strncmp(where, "sqlite:/", 8))
		return sqlite_open(db, where + 7, self, err);
	if (!strncmp(where, "etcd:", 5))
		return etcd_open(db, where + 5, self, how, err);
	return store_failed(err, -EINVAL, "must be sqlite:/FILE, etcd:HOST:PORT or none");
}
