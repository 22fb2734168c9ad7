// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The database of one manager: a file. A lock on a second file, FILE.lock,
 * marks the manager that uses it; the kernel drops the lock with the process.
 * It is not SQLite's own lock, which would prevent backups. FILE.lock also has
 * the inode of the database: a copy has another one, or no lock file. Symbolic
 * links are followed, and the file itself is locked, too, since it may have
 * several names. SQLite's own locks on it are of another kind (fcntl), but the
 * process would lose them if it closed the file while SQLite uses it.
 *
 * A start that is refused removes its own new files: directory, file, lock
 * file, and SQLite's FILE-wal and -shm. Existing files stay unchanged: nothing
 * is written before the file is known to be a manager's, and intact.
 *
 * SQLite goes on with a file that was removed or replaced, and all writes are
 * lost. So compare the file and SQLite's log with the opened ones: before each
 * write, and regularly.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loop/loop.h"
#include "store/db.h"

#define BUSY_MS	2000	/* time for a backup to release the file */
#define LOOK_MS	1000	/* between looks at the file */
#define NAME_LEN (4096 + 8)	/* of files beside the database */
#define APP_ID	0x494e4341	/* "INCA", for file(1) */
#define NO_DB	"it is no database of inc-amd, or damaged: move it away, or give another file"

/*
 * Each step upgrades the schema from its index to the next version. Existing
 * steps never change.
 */
static const char *const steps[] = {
	"CREATE TABLE record (key TEXT PRIMARY KEY, version INTEGER NOT NULL,"
	" data BLOB NOT NULL) WITHOUT ROWID",
};

#define SCHEMA	((int)(sizeof(steps) / sizeof(steps[0])))

enum {
	MADE_DIR	= 1 << 0,
	MADE_FILE	= 1 << 1,
	MADE_LOCK	= 1 << 2,
	MADE_WAL	= 1 << 3,
	MADE_SHM	= 1 << 4,
};

/**
 * struct sqlite - the database
 * @db: base
 * @sql: SQLite's handle
 * @lock: descriptor of the lock file
 * @file: descriptor of the database
 * @path: its name
 * @real_path: @path without symbolic links
 * @identity: file of this name when it was opened
 * @log_identity: SQLite's log, FILE-wal, when it was opened; @st_ino is 0: none,
 *	as in some file systems
 * @created: MADE_... of files that this start has made
 * @new_name: no manager has used this file under this name
 * @used_before: a manager has used this file before
 * @same_address: the last manager had this manager's address
 * @put: statement
 * @del: statement
 * @list: statement
 */
struct sqlite {
	struct store_db	db;
	sqlite3		*sql;
	int		lock;
	int		file;
	char		path[4096];
	char		real_path[4096];
	struct stat	identity;
	struct stat	log_identity;
	unsigned int	created;
	bool		new_name;
	bool		used_before;
	bool		same_address;
	sqlite3_stmt	*put;
	sqlite3_stmt	*del;
	sqlite3_stmt	*list;
};

static struct sqlite *from_db(struct store_db *db)
{
	return container_of(db, struct sqlite, db);
}

/* No room: also if the log's index cannot grow, or by the system's error. */
static bool is_full(const struct sqlite *s)
{
	int code = sqlite3_extended_errcode(s->sql);
	int why = sqlite3_system_errno(s->sql);

	return code == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE ||
	       ((code & 0xff) == SQLITE_IOERR &&
		(why == ENOSPC || why == EDQUOT));
}

/* SQLite reports all errors of the system as I/O errors: add the real one. */
static int set_error(const struct sqlite *s, char *err, const char *what)
{
	int code = sqlite3_errcode(s->sql) & 0xff;
	int why = code == SQLITE_IOERR ? sqlite3_system_errno(s->sql) : 0;

	store_failed(err, 0, "%s: %s%s%s", what, sqlite3_errmsg(s->sql),
		     why ? ": " : "", why ? strerror(why) : "");
	if (is_full(s))
		return -ENOSPC;
	switch (code) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_NOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

/* Only an error that proves the file's absence counts. */
static bool is_it(const char *path, const struct stat *was)
{
	struct stat now;

	if (stat(path, &now))
		return errno != ENOENT && errno != ENOTDIR;
	return now.st_ino == was->st_ino && now.st_dev == was->st_dev;
}

static const char *log_of(const struct sqlite *s)
{
	return sqlite3_filename_wal(sqlite3_db_filename(s->sql, "main"));
}

static int check_there(const struct sqlite *s, char *err)
{
	if (is_it(s->path, &s->identity) &&
	    (!s->log_identity.st_ino || is_it(log_of(s), &s->log_identity)))
		return 0;
	return store_failed(err, -ENOENT, "%s was removed or replaced, so nothing is stored: move it back, with its -wal, or restart inc-amd when no jobs run",
			    s->path);
}

/* Run a statement without results, and reset it for the next time. */
static int run_statement(struct sqlite *s, sqlite3_stmt *stmt, char *err)
{
	int ret = check_there(s, err);

	if (!ret && sqlite3_step(stmt) != SQLITE_DONE)
		ret = set_error(s, err, "cannot be written");
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return ret;
}

static int put_key(struct store_db *db, const char *key, const uint8_t *data,
		   size_t len, char *err)
{
	struct sqlite *s = from_db(db);

	sqlite3_bind_text(s->put, 1, key, -1, SQLITE_STATIC);
	sqlite3_bind_blob64(s->put, 2, len ? (const void *)data : "", len,
			    SQLITE_STATIC);
	return run_statement(s, s->put, err);
}

static int del_key(struct store_db *db, const char *key, char *err)
{
	struct sqlite *s = from_db(db);

	sqlite3_bind_text(s->del, 1, key, -1, SQLITE_STATIC);
	return run_statement(s, s->del, err);
}

static int list_keys(struct store_db *db, const char *prefix,
		     struct store_record **result, char *err)
{
	struct store_record **tail = result, *r;
	struct sqlite *s = from_db(db);
	int ret;

	*result = NULL;
	sqlite3_bind_text(s->list, 1, prefix, -1, SQLITE_STATIC);
	while ((ret = sqlite3_step(s->list)) == SQLITE_ROW) {
		r = store_record_new((const char *)
				     sqlite3_column_text(s->list, 0),
				     sqlite3_column_blob(s->list, 2),
				     (size_t)sqlite3_column_bytes(s->list, 2));
		if (!r)
			break;
		r->version = (uint64_t)sqlite3_column_int64(s->list, 1);
		*tail = r;
		tail = &r->next;
	}
	ret = ret == SQLITE_DONE ? 0 : ret == SQLITE_ROW ?
	      store_failed(err, -ENOMEM, "no memory") :
	      set_error(s, err, "cannot be read");
	sqlite3_reset(s->list);
	sqlite3_clear_bindings(s->list);
	if (!ret)
		return 0;
	store_list_free(*result);
	*result = NULL;
	return ret;
}

/*
 * The lock file has decided at the start: the previous manager has ended. But
 * on another host, it may only have lost the file, and its connections are
 * still open.
 */
static int take_lead(struct store_db *db, struct store_lead *l, char *err)
{
	l->leads = true;
	l->valid_until = INT64_MAX;
	l->prev_ended = from_db(db)->same_address;
	return check_there(from_db(db), err);
}

static void close_sql(struct sqlite *s)
{
	sqlite3_finalize(s->put);
	sqlite3_finalize(s->del);
	sqlite3_finalize(s->list);
	sqlite3_close(s->sql);
	s->put = s->del = s->list = NULL;
	s->sql = NULL;
}

static void close_db(struct store_db *db)
{
	struct sqlite *s = from_db(db);

	close_sql(s);
	if (s->file >= 0)
		close(s->file);
	if (s->lock >= 0)
		close(s->lock);
	free(s);
}

/* --- Opening ------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len >= n && !strcmp(text + len - n, end);
}

/* Length of a manager's address in the lock file, with its host. */
#define SELF_LEN	240

static void name_self(const char *self, char *where)
{
	char host[65] = "?";

	gethostname(host, sizeof(host) - 1);
	snprintf(where, SELF_LEN, "on %s, which listens at %s", host, self);
}

static void name_file(const struct sqlite *s, char *text, size_t len)
{
	snprintf(text, len, "\nfile %ju\n", (uintmax_t)s->identity.st_ino);
}

static int open_or_make(struct sqlite *s, const char *path, unsigned int made)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		s->created |= made;
	/* The path is a dangling link, or another process was faster. */
	return fd >= 0 || errno != EEXIST ? fd :
	       open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/* SQLite's files are beside the target of a symbolic link. */
static void note_beside(struct sqlite *s)
{
	char name[NAME_LEN];

	snprintf(name, sizeof(name), "%s-wal", s->real_path);
	if (access(name, F_OK))
		s->created |= MADE_WAL;
	snprintf(name, sizeof(name), "%s-shm", s->real_path);
	if (access(name, F_OK))
		s->created |= MADE_SHM;
}

static int take_lock(struct sqlite *s, const char *self, char *err)
{
	char name[NAME_LEN], who[512] = "", where[SELF_LEN], file[32];
	ssize_t n;
	int ret;

	snprintf(name, sizeof(name), "%s.lock", s->real_path);
	s->lock = open_or_make(s, name, MADE_LOCK);
	if (s->lock < 0)
		return store_failed(err, -errno, "%s: %s: give another file, or --store none",
				    name, strerror(errno));
	ret = flock(s->lock, LOCK_EX | LOCK_NB);
	n = pread(s->lock, who, sizeof(who) - 1, 0);
	who[n < 0 ? 0 : n] = '\0';
	name_file(s, file, sizeof(file));
	s->new_name = !who[0] || (strstr(who, "\nfile ") && !strstr(who, file));
	who[strcspn(who, "\n")] = '\0';
	if (ret)
		return store_failed(err, -EBUSY, "another manager uses it: %s. Stop that one, give another file, or use etcd for several managers",
				    who[0] ? who : "one that has just started");
	name_self(self, where);
	s->same_address = ends_with(who, where);
	return 0;
}

/* Write this manager's name, for the next one, and for others that try now. */
static int write_lock(struct sqlite *s, const char *self, char *err)
{
	char where[SELF_LEN], file[32];

	name_self(self, where);
	name_file(s, file, sizeof(file));
	if (ftruncate(s->lock, 0) ||
	    dprintf(s->lock, "process %d %s%s", (int)getpid(), where, file) < 0)
		return store_failed(
			err, -errno, "%s.lock: %s: %s", s->real_path,
			strerror(errno),
			errno == ENOSPC || errno == EDQUOT ?
				"no room: make some, or give another file" :
				"give another file, or --store none");
	return 0;
}

/* Check early: nothing must be made beside a file of another kind. */
static int check_kind(const struct sqlite *s, char *err)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof(magic)] = "";

	if (S_ISREG(s->identity.st_mode) &&
	    (!s->identity.st_size ||
	     (pread(s->file, head, sizeof(head), 0) == sizeof(head) &&
	      !memcmp(head, magic, sizeof(magic)))))
		return 0;
	return store_failed(err, -EINVAL, NO_DB);
}

/* Make the file if necessary, and lock it whatever its name is. */
static int take_file(struct sqlite *s, const char *path, const char *self,
		     char *err)
{
	char *real = NULL;
	int ret;

	s->file = open_or_make(s, path, MADE_FILE);
	if (s->file >= 0 && !fstat(s->file, &s->identity))
		real = realpath(path, NULL);
	if (!real)
		return store_failed(err, -errno, "%s: %s: give another file, or --store none",
				    path, strerror(errno));
	snprintf(s->real_path, sizeof(s->real_path), "%s", real);
	free(real);
	ret = check_kind(s, err);
	if (!ret)
		ret = take_lock(s, self, err);
	if (!ret && flock(s->file, LOCK_EX | LOCK_NB))
		ret = store_failed(err, -EBUSY, "another manager uses it by another name (a hard link)");
	if (!ret)
		note_beside(s);
	return ret;
}

static void remove_made(const struct sqlite *s)
{
	static const struct {
		unsigned int	made;
		const char	*end;
	} files[] = {
		{ MADE_SHM, "-shm" }, { MADE_WAL, "-wal" },
		{ MADE_LOCK, ".lock" }, { MADE_FILE, "" },
	};
	char name[NAME_LEN];
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", s->real_path,
			 files[i].end);
		if (s->created & files[i].made)
			unlink(name);
	}
	snprintf(name, sizeof(name), "%s", s->path);
	*strrchr(name, '/') = '\0';
	if (s->created & MADE_DIR)
		rmdir(name);
}

static int explain_unusable(const struct sqlite *s, char *err)
{
	if (is_full(s))
		return set_error(s, err,
				 "no room: make some, or give another file");
	switch (sqlite3_errcode(s->sql) & 0xff) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return set_error(s, err, NO_DB);
	default:
		return set_error(s, err, "it cannot be used: give another file, or --store none");
	}
}

static int run_sql(struct sqlite *s, const char *sql, char *err)
{
	return sqlite3_exec(s->sql, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 :
	       explain_unusable(s, err);
}

static int get_number(struct sqlite *s, const char *pragma, int *value,
		      char *err)
{
	sqlite3_stmt *stmt;
	int ret = -EIO;

	*value = 0;
	if (sqlite3_prepare_v2(s->sql, pragma, -1, &stmt, NULL) == SQLITE_OK) {
		if (sqlite3_step(stmt) == SQLITE_ROW) {
			*value = sqlite3_column_int(stmt, 0);
			ret = 0;
		}
	}
	if (ret)
		explain_unusable(s, err);
	sqlite3_finalize(stmt);
	return ret;
}

/* A truncated file may look like a file with fewer records. */
static int check_whole(struct sqlite *s, char *err)
{
	sqlite3_stmt *stmt;
	const char *text;
	int ret;

	if (sqlite3_prepare_v2(s->sql, "PRAGMA integrity_check(1)", -1, &stmt,
			       NULL) != SQLITE_OK)
		return explain_unusable(s, err);
	text = sqlite3_step(stmt) == SQLITE_ROW ?
	       (const char *)sqlite3_column_text(stmt, 0) : NULL;
	/* A file that cannot be read now may still be intact. */
	if (!text && (sqlite3_errcode(s->sql) & 0xff) != SQLITE_CORRUPT)
		ret = explain_unusable(s, err);
	else if (text && !strcmp(text, "ok"))
		ret = 0;
	else
		ret = store_failed(err, -EIO, "it is damaged (%.100s): take a copy of it back, or move it away: groups that run end then",
				   text ? text : sqlite3_errmsg(s->sql));
	sqlite3_finalize(stmt);
	return ret;
}

static int check_owner(struct sqlite *s, int *version, char *err)
{
	int ret, id, used;

	ret = get_number(s, "PRAGMA user_version", version, err);
	if (!ret)
		ret = get_number(s, "PRAGMA application_id", &id, err);
	if (!ret)
		ret = get_number(s, "SELECT count(*) FROM sqlite_schema",
				 &used, err);
	if (ret)
		return ret;
	s->used_before = used;
	if (used && id != APP_ID)
		return store_failed(err, -EINVAL, "it is a database of another program: give another file");
	if (*version > SCHEMA)
		return store_failed(err, -EPROTONOSUPPORT, "its schema is version %d, and this inc-amd knows %d: a later inc-amd has used it",
				    *version, SCHEMA);
	return 0;
}

/* Upgrade the schema in a single transaction. */
static int migrate_db(struct sqlite *s, int version, char *err)
{
	char sql[64];
	int ret;

	if (version == SCHEMA)
		return 0;
	ret = run_sql(s, "BEGIN IMMEDIATE", err);
	for (; !ret && version < SCHEMA; version++)
		ret = run_sql(s, steps[version], err);
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", SCHEMA);
	if (!ret)
		ret = run_sql(s, sql, err);
	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d", APP_ID);
	if (!ret)
		ret = run_sql(s, sql, err);
	return ret ? ret : run_sql(s, "COMMIT", err);
}

static int prepare_statement(struct sqlite *s, const char *sql,
			     sqlite3_stmt **stmt, char *err)
{
	return sqlite3_prepare_v2(s->sql, sql, -1, stmt, NULL) == SQLITE_OK ?
	       0 : explain_unusable(s, err);
}

/* Keep the log on close, or let SQLite write it into the file. */
static void keep_log(struct sqlite *s, bool keep)
{
	sqlite3_db_config(s->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, (int)keep,
			  NULL);
}

static int open_file(struct sqlite *s, const char *path, char *err)
{
	int version, ret = sqlite3_open_v2(path, &s->sql, SQLITE_OPEN_READWRITE |
					   SQLITE_OPEN_CREATE, NULL);

	if (ret != SQLITE_OK)
		return explain_unusable(s, err);
	sqlite3_busy_timeout(s->sql, BUSY_MS);
	keep_log(s, true);
	ret = check_owner(s, &version, err);
	if (!ret)
		ret = check_whole(s, err);
	/* Records lost in a power failure are rebuilt from the switches. */
	if (!ret)
		ret = run_sql(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
			      err);
	if (!ret)
		ret = migrate_db(s, version, err);
	if (!ret)
		ret = prepare_statement(s, "INSERT INTO record VALUES (?1, 1, ?2) ON CONFLICT (key)"
					" DO UPDATE SET version = version + 1, data = ?2",
					&s->put, err);
	if (!ret)
		ret = prepare_statement(s, "DELETE FROM record WHERE key = ?1",
					&s->del, err);
	if (!ret)
		ret = prepare_statement(s, "SELECT key, version, data FROM record WHERE"
					" substr(key, 1, length(?1)) = ?1 ORDER BY key",
					&s->list, err);
	if (!ret && stat(log_of(s), &s->log_identity))
		s->log_identity.st_ino = 0;
	return ret;
}

/* Make the file's directory, but none above it. */
static int make_directory(struct sqlite *s, const char *path, char *err)
{
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = '\0';
	if (!dir[0])
		return 0;
	if (!mkdir(dir, 0700))
		s->created |= MADE_DIR;
	else if (errno != EEXIST)
		return store_failed(err, -errno, "the directory %s is missing, and cannot be made: %s: give another file, or --store none",
				    dir, strerror(errno));
	return 0;
}

/*
 * Open a file. Returns 0 or a negative errno value; -EBUSY: another manager
 * uses it.
 */
int sqlite_open(struct store_db **db, const char *path, const char *self,
		char *err)
{
	static const struct store_ops ops = {
		.put	= put_key,
		.del	= del_key,
		.list	= list_keys,
		.lead	= take_lead,
		.close	= close_db,
	};
	struct sqlite *s = calloc(1, sizeof(*s));
	mode_t old;
	int ret;

	if (!s)
		return store_failed(err, -ENOMEM, "no memory");
	s->db.ops = &ops;
	s->db.lead_ms = LOOK_MS;
	s->lock = -1;
	s->file = -1;
	snprintf(s->path, sizeof(s->path), "%s", path);
	old = umask(077);
	ret = make_directory(s, path, err);
	if (!ret)
		ret = take_file(s, path, self, err);
	if (!ret)
		ret = open_file(s, path, err);
	if (!ret)
		ret = write_lock(s, self, err);
	umask(old);
	if (ret) {
		close_sql(s);
		remove_made(s);
		close_db(&s->db);
		return ret;
	}
	if (s->new_name && s->used_before)
		log_info("store: %s was used by a manager elsewhere: if this is a copy, and the manager of the original is running, stop this one at once: both have the same groups and tree IDs, and each ends the other's groups",
			path);
	keep_log(s, false);
	*db = &s->db;
	return 0;
}
