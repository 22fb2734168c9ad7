// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The databases: each has to pass the same cases, which compare it with a list
 * in memory. For SQLite also: the lock, and files that are not its own.
 *
 *   test_store [SEED]
 */
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/store.h"

#define KEYS	12
#define STEPS	400
#define BIG	120000
#define PATIENCE_MS	60000	/* more than any machine takes */

static unsigned int failures;

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("not ok: line %d: %s (%s)\n", __LINE__, #cond, \
			       err);					\
			failures++;					\
		}							\
	} while (0)

static const struct store_security plain;
static char err[STORE_ERROR_LEN];
static char dir[] = "/tmp/test_store.XXXXXX";

/**
 * struct model - what a database should have
 * @data: bytes of each record, NULL: there is none
 * @len: their number
 * @version: version that was seen last
 */
static struct model {
	uint8_t		*data[KEYS];
	size_t		len[KEYS];
	uint64_t	version[KEYS];
} model;

/* Keys that are easily mixed up; their order is that of bytes. */
static const char *const keys[KEYS] = {
	"a", "a/", "a/%", "a/1", "a/10", "a/2", "a/_", "b/x", "b/x/1",
	"group/job\"2/8", "group/job'1/7", "quota/user:x",
};

static void compare(struct store_db *db, const char *prefix)
{
	struct store_record *list = NULL, *r;
	unsigned int i;

	CHECK(!db->ops->list(db, prefix, &list, err));
	r = list;
	for (i = 0; i < KEYS; i++) {
		if (!model.data[i] || strncmp(keys[i], prefix, strlen(prefix)))
			continue;
		CHECK(r);
		if (!r)
			break;
		CHECK(!strcmp(r->key, keys[i]) && r->len == model.len[i] &&
		      !memcmp(r->data, model.data[i], r->len));
		CHECK(r->version >= model.version[i]);
		model.version[i] = r->version;
		r = r->next;
	}
	CHECK(!r);
	store_list_free(list);
}

static void put(struct store_db *db, unsigned int i, size_t len)
{
	uint8_t *data = malloc(len + 1);
	size_t k;

	for (k = 0; k < len; k++)
		data[k] = (uint8_t)random();
	CHECK(!db->ops->put(db, keys[i], data, len, err));
	free(model.data[i]);
	model.data[i] = data;
	model.len[i] = len;
}

static void del(struct store_db *db, unsigned int i)
{
	CHECK(!db->ops->del(db, keys[i], err));
	free(model.data[i]);
	model.data[i] = NULL;
	model.version[i] = 0;
}

static void compare_all(struct store_db *db)
{
	compare(db, "");
	compare(db, "a/");
	compare(db, "a/1");
	compare(db, "group/");
	compare(db, "none");
}

static void random_steps(struct store_db *db)
{
	unsigned int n, i;

	for (n = 0; n < STEPS; n++) {
		i = (unsigned int)random() % KEYS;
		if (random() % 3)
			put(db, i, (size_t)random() % 300);
		else
			del(db, i);
		if (n % 20 == 0)
			compare_all(db);
	}
	put(db, 3, BIG);
	put(db, 4, 0);
	compare_all(db);
}

static void same_cases(const char *where)
{
	struct store_lead lead = { .leads = false };
	struct store_db *db = NULL;
	unsigned int i;

	CHECK(!store_db_open(&db, where, "here:1", &plain, err));
	if (!db)
		return;
	CHECK(!db->ops->lead(db, &lead, err) && lead.leads);
	for (i = 0; i < KEYS; i++)
		del(db, i);
	random_steps(db);
	db->ops->close(db);
	/* And it is there the next time. */
	db = NULL;
	CHECK(!store_db_open(&db, where, "here:1", &plain, err));
	if (!db)
		return;
	CHECK(!db->ops->lead(db, &lead, err) && lead.leads);
	compare_all(db);
	for (i = 0; i < KEYS; i++)
		del(db, i);
	compare_all(db);
	db->ops->close(db);
	printf("ok - %.60s: %d random steps\n", where, STEPS);
}

/* --- SQLite -------------------------------------------------------------- */

static int try_open(const char *where)
{
	struct store_db *db = NULL;
	int ret = store_db_open(&db, where, "other:2", &plain, err);

	if (!ret)
		db->ops->close(db);
	return ret;
}

static void sql(const char *path, const char *text)
{
	sqlite3 *s;

	CHECK(sqlite3_open(path, &s) == SQLITE_OK &&
	      sqlite3_exec(s, text, NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(s);
}

/* The file is in use. */
static void test_names(const char *path)
{
	char link_to[96], where[128];

	snprintf(link_to, sizeof(link_to), "%s/link.db", dir);
	snprintf(where, sizeof(where), "sqlite:%s", link_to);
	CHECK(!symlink(path, link_to));
	CHECK(try_open(where) == -EBUSY && strstr(err, "here:1"));
	unlink(link_to);
	CHECK(!link(path, link_to));
	CHECK(try_open(where) == -EBUSY && strstr(err, "hard link"));
	unlink(link_to);
	snprintf(where, sizeof(where), "sqlite:%s/./amd.db", dir);
	CHECK(try_open(where) == -EBUSY && strstr(err, "here:1"));
	/* One that leads to nothing yet. */
	snprintf(where, sizeof(where), "%s/new.db", dir);
	CHECK(!symlink(where, link_to));
	snprintf(where, sizeof(where), "sqlite:%s", link_to);
	CHECK(!try_open(where));
	unlink(link_to);
}

static void test_lock(const char *where)
{
	struct store_db *db = NULL;
	int status = 0;
	pid_t pid;

	CHECK(!store_db_open(&db, where, "here:1", &plain, err));
	CHECK(try_open(where) == -EBUSY && strstr(err, "here:1"));
	test_names(strchr(where, '/'));
	db->ops->close(db);
	CHECK(!try_open(where));
	/* A killed process does not keep it. */
	pid = fork();
	if (!pid) {
		if (!store_db_open(&db, where, "child:1", &plain, err))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status));
	CHECK(!try_open(where));
	puts("ok - sqlite: one manager at a time");
}

static bool tells_gone(struct store_db *db)
{
	struct store_lead lead;

	return db->ops->put(db, "a", (const uint8_t *)"1", 1, err) == -ENOENT &&
	       strstr(err, "removed or replaced") &&
	       db->ops->del(db, "a", err) == -ENOENT &&
	       db->ops->lead(db, &lead, err) == -ENOENT;
}

static bool tells_nothing(struct store_db *db)
{
	struct store_lead lead;

	return !db->ops->put(db, "a", (const uint8_t *)"1", 1, err) &&
	       !db->ops->del(db, "a", err) && !db->ops->lead(db, &lead, err);
}

/* The manager's file, or SQLite's log, has its name no more. */
static void test_gone(const char *where)
{
	const char *path = strchr(where, '/');
	struct store_db *db = NULL;
	char aside[96], log[96];

	snprintf(aside, sizeof(aside), "%s/aside.db", dir);
	snprintf(log, sizeof(log), "%s-wal", path);
	CHECK(!store_db_open(&db, where, "here:1", &plain, err));
	CHECK(db->lead_ms && tells_nothing(db));
	CHECK(!rename(path, aside) && tells_gone(db));
	CHECK(!link(log, path) && tells_gone(db));
	CHECK(!rename(aside, path) && tells_nothing(db));
	CHECK(!rename(log, aside) && tells_gone(db));
	CHECK(!rename(aside, log) && tells_nothing(db));
	CHECK(!unlink(path) && tells_gone(db));
	db->ops->close(db);
	CHECK(!try_open(where));
	puts("ok - sqlite: a file that is removed or replaced is noticed");
}

static void test_files(void)
{
	char path[64], where[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/other.db", dir);
	snprintf(where, sizeof(where), "sqlite:%s", path);
	sql(path, "CREATE TABLE t (x)");
	CHECK(try_open(where) == -EINVAL && strstr(err, "another program"));
	unlink(path);
	CHECK(!try_open(where));
	sql(path, "PRAGMA user_version = 99");
	CHECK(try_open(where) == -EPROTONOSUPPORT && strstr(err, "99"));
	unlink(path);
	f = fopen(path, "w");
	for (int i = 0; i < 5000; i++)
		fputs("no database", f);
	fclose(f);
	CHECK(try_open(where) < 0 && strstr(err, "no database of inc-amd") &&
	      strstr(err, "move it away"));
	CHECK(try_open("sqlite:/nonexistent/x/y.db") == -ENOENT &&
	      strstr(err, "the directory /nonexistent/x is missing"));
	CHECK(try_open("sqlite:relative") == -EINVAL);
	CHECK(try_open("postgres:/x") == -EINVAL);
	puts("ok - sqlite: files that are not its own are refused");
}

/* --- Writes that fail ----------------------------------------------------- */

/**
 * struct full - a database whose disk may be full
 * @db: what the store sees
 * @full: it is, so nothing can be written
 * @kept: a record could not be deleted, since it was
 * @value: of keys[0] and keys[1]; 0: there is none
 * @wrong: an older value was written over a newer one
 */
static struct full {
	struct store_db		db;
	_Atomic bool		full;
	_Atomic bool		kept;
	_Atomic uint8_t		value[2];
	_Atomic bool		wrong;
} full;

static int full_put(struct store_db *db, const char *key, const uint8_t *data,
		    size_t len, char *why)
{
	_Atomic uint8_t *value = &full.value[strcmp(key, keys[0]) != 0];

	(void)db;
	if (full.full || len != 1)
		return store_failed(why, -ENOSPC, "full");
	full.wrong |= *value > *data;
	*value = *data;
	return 0;
}

static int full_del(struct store_db *db, const char *key, char *why)
{
	(void)db;
	if (full.full) {
		full.kept = true;
		return store_failed(why, -ENOSPC, "full");
	}
	full.value[strcmp(key, keys[0]) != 0] = 0;
	return 0;
}

static int full_lead(struct store_db *db, struct store_lead *lead, char *why)
{
	(void)db;
	(void)why;
	lead->leads = true;
	lead->valid_until = INT64_MAX;
	return 0;
}

static void full_close(struct store_db *db)
{
	(void)db;
}

static unsigned int told, told_errors;

static void full_done(void *ctx, const char *key, struct store_record *list,
		      const char *why)
{
	(void)ctx;
	(void)key;
	(void)list;
	told++;
	told_errors += why != NULL;
}

static void full_write(struct store *s, unsigned int key, uint8_t value)
{
	uint8_t *data = malloc(1);

	*data = value;
	store_put(s, keys[key], data, 1, full_done, NULL);
}

/* @gone: until keys[1] is deleted, too; @kept: until that has failed. */
static void wait_told(struct loop *loop, unsigned int n, bool gone, bool kept)
{
	int64_t until = now_ms() + PATIENCE_MS;

	while ((told < n || (gone && full.value[1]) ||
		(kept && !full.kept)) && now_ms() < until)
		loop_turn(loop, now_ms() + 10);
}

static void test_full(void)
{
	static const struct store_ops ops = {
		.put = full_put, .del = full_del, .lead = full_lead,
		.close = full_close,
	};
	struct loop loop;
	struct store *s;

	full.db.ops = &ops;
	loop_init(&loop);
	s = store_start(&loop, &full.db);
	full_write(s, 1, 1);
	wait_told(&loop, 1, false, false);
	CHECK(told == 1 && !told_errors && full.value[1] == 1);
	full.full = true;
	full_write(s, 0, 1);
	full_write(s, 0, 2);
	store_del(s, keys[1], NULL, NULL);
	wait_told(&loop, 3, false, true);
	CHECK(told == 3 && told_errors == 2);
	full.full = false;
	/* Neither this one nor the deletion gives way to what came before. */
	full_write(s, 0, 3);
	wait_told(&loop, 4, true, false);
	CHECK(full.value[0] == 3 && !full.value[1] && !full.wrong);
	CHECK(told == 4 && told_errors == 2);
	full.full = true;
	full_write(s, 1, 9);
	wait_told(&loop, 5, false, false);
	full.full = false;
	store_stop(s);
	CHECK(full.value[1] == 9);
	timers_free(&loop.timers);
	puts("ok - what could not be written is tried again");
}

int main(int argc, char **argv)
{
	unsigned int seed = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) :
				       (unsigned int)time(NULL);
	char where[96], command[96];

	printf("# seed %u\n", seed);
	srandom(seed);
	if (!mkdtemp(dir))
		return 1;
	snprintf(where, sizeof(where), "sqlite:%s/amd.db", dir);
	same_cases(where);
	if (getenv("TEST_ETCD")) {
		snprintf(where, sizeof(where), "etcd:%s", getenv("TEST_ETCD"));
		same_cases(where);
		snprintf(where, sizeof(where), "sqlite:%s/amd.db", dir);
	}
	test_lock(where);
	test_gone(where);
	test_files();
	test_full();
	snprintf(command, sizeof(command), "rm -r %s", dir);
	if (system(command))
		failures++;
	printf("%u failures\n", failures);
	return failures > 0;
}
