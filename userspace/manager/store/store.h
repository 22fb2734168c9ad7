/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Storage of state that must survive the manager: small records with a key each,
 * and the right to write them, which one manager has at a time: the leader.
 *
 * The store is a thread that runs a database's operations (db.h) for the main loop.
 */
#ifndef INC_MANAGER_STORE_H
#define INC_MANAGER_STORE_H

#include "loop/loop.h"
#include "store/db.h"

struct store;

int store_db_open(struct store_db **db, const char *where, const char *self,
		  const struct store_security *how, char *err);

/**
 * typedef store_done - called at the end of an operation, in the main loop
 * @ctx: the caller's
 * @key: the caller's
 * @list: of store_list(): the records, to be freed by store_list_free()
 * @err: error message; NULL: success
 */
typedef void store_done(void *ctx, const char *key, struct store_record *list,
			const char *err);

struct store *store_start(struct loop *loop, struct store_db *db);
void store_stop(struct store *s);
void store_put(struct store *s, const char *key, const uint8_t *data,
	       size_t len, store_done *done, void *ctx);
void store_del(struct store *s, const char *key, store_done *done, void *ctx);
void store_list(struct store *s, const char *prefix, store_done *done,
		void *ctx);
bool store_leads(const struct store *s);
int64_t store_until(const struct store *s);
bool store_last_ended(const struct store *s);
const char *store_why(const struct store *s);
const char *store_leader(const struct store *s);

#endif /* INC_MANAGER_STORE_H */
