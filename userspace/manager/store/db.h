/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Small records with a key each, and the databases that keep them: sqlite.c,
 * etcd.c. A database may wait for a disk or a network.
 */
#ifndef INC_MANAGER_DB_H
#define INC_MANAGER_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_ERROR_LEN	512
#define STORE_KEY_MAX	191	/* characters */
#define STORE_NAME_MAX	127	/* characters of a manager's address */

/**
 * struct store_record - a record
 * @next: next record in a list
 * @version: grows with each change of the record
 * @data: bytes
 * @len: number of @data
 * @key: key, as in "group/NAME/ID"
 */
struct store_record {
	struct store_record	*next;
	uint64_t		version;
	uint8_t			*data;
	size_t			len;
	char			key[STORE_KEY_MAX + 1];
};

/**
 * struct store_lead - leadership
 * @leads: this manager is the leader
 * @valid_until: if @leads: milliseconds of CLOCK_MONOTONIC; when it must stop
 *	relying on @leads. INT64_MAX: never
 * @prev_ended: if @leads: the previous leader has ended, and no rank takes it for
 *	alive; else it may hang, or its state is unknown
 * @leader: if not @leads: the leader's address; empty: none, or unknown
 */
struct store_lead {
	bool	leads;
	int64_t	valid_until;
	bool	prev_ended;
	char	leader[STORE_NAME_MAX + 1];
};

struct store_db;

/**
 * struct store_security - security of the connection to etcd
 * @ca: file: certificate of its servers' authority; NULL: no TLS
 * @cert: file: this manager's certificate, or NULL
 * @key: file: its private key
 * @plaintext: allow other hosts without TLS, too
 */
struct store_security {
	const char	*ca;
	const char	*cert;
	const char	*key;
	bool		plaintext;
};

/**
 * struct store_ops - operations of a database
 * @put: write a record; -ESTALE: this manager has lost the lead
 * @del: delete a record, if it exists
 * @list: read the records whose keys have this prefix, in the order of keys
 * @lead: become the leader, or stay it
 * @close: resign, and close the database
 *
 * All return 0 or a negative errno value with a message. One thread calls them.
 */
struct store_ops {
	int (*put)(struct store_db *db, const char *key, const uint8_t *data,
		   size_t len, char *err);
	int (*del)(struct store_db *db, const char *key, char *err);
	int (*list)(struct store_db *db, const char *prefix,
		    struct store_record **list, char *err);
	int (*lead)(struct store_db *db, struct store_lead *lead, char *err);
	void (*close)(struct store_db *db);
};

/**
 * struct store_db - a database
 * @ops: its operations
 * @lead_ms: interval of calls of lead(); 0: call it once
 */
struct store_db {
	const struct store_ops	*ops;
	int64_t			lead_ms;
};

int etcd_open(struct store_db **db, const char *servers, const char *self,
	      const struct store_security *how, char *err);
int sqlite_open(struct store_db **db, const char *path, const char *self,
		char *err);

struct store_record *store_record_new(const char *key, const void *data,
				      size_t len);
void store_list_free(struct store_record *list);
int store_failed(char *err, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* INC_MANAGER_DB_H */
