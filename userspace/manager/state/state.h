/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * State that survives the manager: groups with a tree. persist.c writes them to the
 * store, restore.c makes them from the records of another manager, record.c has the
 * format, leader.c decides when this manager may act. All else is in records whose
 * writers do not wait (put.c), such as the links that the page shows (links.c).
 */
#ifndef INC_MANAGER_STATE_H
#define INC_MANAGER_STATE_H

#include <json-c/json_types.h>
#include <stdbool.h>
#include <stdint.h>

#include "rpc/rpc.h"
#include "store/store.h"

struct group;
struct manager;
struct reservation;
struct subtree;
struct rank;
struct sw;

enum phase {
	PHASE_STANDBY,	/* another manager leads, or the leader is unknown */
	PHASE_READING,	/* the store is being read */
	PHASE_LOOKING,	/* the switches are being asked for the first time */
	PHASE_ACTIVE,
};

/**
 * struct state - state of the manager
 * @store: store; NULL: none
 * @writes: writes and deletions by put.c
 * @waits: waits for some of @writes
 * @phase: phase, on which the right to act depends
 * @started_at: milliseconds; when this manager began, or began to lead
 * @look_until: if PHASE_LOOKING: milliseconds; end of that phase
 * @list: if PHASE_LOOKING: all records
 * @read_error: why the store cannot be read; empty: no error
 * @error_reported: an event has reported the store's error
 * @named_leader: if PHASE_STANDBY: the leader that an event has named; empty:
 *	none
 */
struct state {
	struct store		*store;
	uint64_t		writes;
	struct state_wait	*waits;
	enum phase		phase;
	int64_t			started_at;
	int64_t			look_until;
	struct store_record	*list;
	char			read_error[STORE_ERROR_LEN];
	bool			error_reported;
	char			named_leader[STORE_NAME_MAX + 1];
};

/**
 * struct persisted - a group's record in the store
 * @key: its key; empty: no record
 * @raise_stored: raise GROUP_EV_STORED when it is written
 * @writing: a write is in progress
 * @dirty: the group has changed since
 * @foreign: the group belongs to another manager now
 */
struct persisted {
	char	key[STORE_KEY_MAX + 1];
	bool	raise_stored;
	bool	writing;
	bool	dirty;
	bool	foreign;
};

/* leader.c */
int state_start(struct manager *m, struct store_db *db, char *err);
void state_stop(struct manager *m);
void state_turn(struct manager *m);
void state_forget(struct manager *m, const char *why);
int64_t state_deadline(const struct manager *m);
bool state_refuses(const struct manager *m, char *text, size_t len);

/* ids.c */

void ids_start(struct manager *m);
void ids_restore(struct manager *m, const struct store_record *list);
void ids_used(struct manager *m, uint32_t id);

/* persist.c */
#define GROUP_PREFIX	"group/"	/* of keys; NAME/ID of the root's tree follow */

void persist_store(struct group *g);
void persist_changed(struct group *g);
void persist_delete(struct group *g);

/* put.c */

/**
 * struct state_wait - a wait until records are stored
 * @next: next wait
 * @first: first write that it waits for
 * @last: last write that it waits for
 * @err: why a write has failed; empty: none has
 * @done: called after the last write
 */
struct state_wait {
	struct state_wait	*next;
	uint64_t		first;
	uint64_t		last;
	char			err[STORE_ERROR_LEN];
	void			(*done)(struct state_wait *w, const char *err);
};

uint64_t state_writes(const struct manager *m);
void state_wait(struct manager *m, struct state_wait *w, uint64_t since);
void state_wait_end(struct manager *m);
struct json_object *state_get(struct manager *m, const struct store_record *rec,
			      enum json_type type);
void state_put(struct manager *m, const char *key, struct json_object *o);
void state_del(struct manager *m, const char *key);

/* record.c */
char *record_of(const struct group *g);
struct group *record_group(struct manager *m, const char *text, char *err);

/* drain.c */

/**
 * struct drain - a switch that gets no more trees
 * @next: next drained switch
 * @id: the switch's identity; empty: not known yet
 * @address: address of its agent, perhaps cut off
 * @requester: who has drained it
 * @since: seconds since 1970
 * @reported_empty: an event has reported that it has no trees left
 */
struct drain {
	struct drain	*next;
	char		id[64];
	char		address[128];
	char		requester[IDENTITY_LEN];
	int64_t		since;
	bool		reported_empty;
};

int drain_add(struct manager *m, struct sw *sw, const char *by);
void drain_end(struct manager *m, struct sw *sw, const char *by);
void drain_seen(struct manager *m, struct sw *sw);
void drain_restore(struct manager *m, const struct store_record *list);
void drain_forget(struct manager *m);

/* names.c */
void names_seen(struct manager *m, struct sw *sw);
struct sw *names_find(struct manager *m, const struct sw *but, const char *id);
void names_restore(struct manager *m, const struct store_record *list);

/* links.c */
struct json_object *links_update(struct manager *m, int64_t now);
void links_restore(struct manager *m, const struct store_record *list);
void links_free(struct manager *m);

/* reserve.c */
#define RESERVE_PREFIX	"reserve/"	/* of keys; LENGTH/TENANT/NAME follow */

int reserve_add(struct manager *m, const struct reservation *wish,
		struct reservation **made, char *why, size_t len);
void reserve_end(struct manager *m, struct reservation *r, const char *why);
void reserve_restore(struct manager *m, const struct store_record *list);
void reserve_forget(struct manager *m);
int64_t reserve_deadline(const struct manager *m);
void reserve_expire(struct manager *m);

/* restore.c */
void restore_all(struct manager *m, const struct store_record *list);
void restore_check(struct manager *m, struct sw *sw);

#endif /* INC_MANAGER_STATE_H */
