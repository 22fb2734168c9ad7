// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The library's log.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "log.h"

#define LINE_MAX_LEN	2560	/* a line of the daemon, and its prefix */
#define TIME_LEN	40

_Atomic int inc_log_threshold = INC_LOG_NONE;

static pthread_mutex_t hook_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static inc_log_fn hook_fn;		/* guarded by hook_lock */
static void *hook_arg;			/* guarded by hook_lock */
static enum inc_log_format format;	/* guarded by hook_lock */

static const char * const level_names[] = { "error", "warn", "info", "debug" };

static void read_environment(void)
{
	const char *level = getenv("INC_LOG"), *form = getenv("INC_LOG_FORMAT");
	int i;

	if (form && !strcmp(form, "json"))
		format = INC_LOG_JSON;
	for (i = INC_LOG_ERROR; level && i <= INC_LOG_DEBUG; i++)
		if (!strcmp(level, level_names[i])) {
			atomic_store(&inc_log_threshold, i);
			return;
		}
	if (level && *level)
		fprintf(stderr, "libinc: INC_LOG=%s: must be error, warn, info or debug\n",
			level);
}

/* Read the environment, once. */
void inc_log_init(void)
{
	pthread_once(&once, read_environment);
}

/**
 * inc_log_set() - set the destination and the level of the log
 * @fn: called with each line, one at a time; NULL: back to stderr
 * @arg: passed to @fn
 * @level: most detailed level that is logged; INC_LOG_NONE: nothing
 *
 * Without this call, the environment variable INC_LOG ("error", "warn", "info"
 * or "debug") sets the level, and lines go to stderr; without INC_LOG, nothing
 * is logged. @fn must call neither libinc nor fork(). Any thread may call this
 * at any time.
 */
void inc_log_set(inc_log_fn fn, void *arg, enum inc_log_level level)
{
	inc_log_init();
	inc_log_lock();
	hook_fn = fn;
	hook_arg = arg;
	inc_log_unlock();
	atomic_store(&inc_log_threshold, (int)level);
}

/**
 * inc_log_set_format() - set the format of log lines
 * @form: INC_LOG_TEXT or INC_LOG_JSON
 *
 * Without this call, the environment variable INC_LOG_FORMAT ("text" or "json")
 * sets it; the default is text. Any thread may call this at any time.
 */
void inc_log_set_format(enum inc_log_format form)
{
	inc_log_init();
	inc_log_lock();
	format = form;
	inc_log_unlock();
}

/* Keep other threads from logging. */
void inc_log_lock(void)
{
	pthread_mutex_lock(&hook_lock);
}

/* Undo inc_log_lock(). */
void inc_log_unlock(void)
{
	pthread_mutex_unlock(&hook_lock);
}

/* --- JSON -------------------------------------------------------------- */

/* Length of the UTF-8 sequence at @s; 0: invalid. */
static size_t utf8_len(const unsigned char *s)
{
	size_t i, n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 :
		      s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, code points beyond U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* Replace invalid bytes: texts come from elsewhere, and JSON must be UTF-8. */
static void make_utf8(char *text)
{
	unsigned char *s = (unsigned char *)text;
	size_t n;

	for (; *s; s += n) {
		n = utf8_len(s);
		if (!n) {
			*s = '?';
			n = 1;
		}
	}
}

/* Format the current time as of RFC 3339, in UTC. */
static void time_now(char text[TIME_LEN])
{
	struct timespec now;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(text, TIME_LEN, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, TIME_LEN - n, ".%06ldZ", now.tv_nsec / 1000);
}

static void add_member(struct json_object *obj, const char *key,
		       struct json_object *val)
{
	json_object_object_add(obj, key, val);
}

static struct json_object *line_object(const struct inc_who *who,
				       enum inc_log_level level, char *text)
{
	struct json_object *obj = json_object_new_object();
	char time_text[TIME_LEN];

	if (!obj)
		return NULL;
	time_now(time_text);
	make_utf8(text);
	add_member(obj, "time", json_object_new_string(time_text));
	add_member(obj, "level", json_object_new_string(level_names[level]));
	add_member(obj, "pid", json_object_new_int(getpid()));
	if (who) {
		add_member(obj, "job", json_object_new_string(who->job));
		add_member(obj, "rank", json_object_new_int(who->rank));
		add_member(obj, "ranks", json_object_new_int(who->nranks));
	}
	if (who && who->has_tree)
		add_member(obj, "tree", json_object_new_int64(who->tree_id));
	add_member(obj, "message", json_object_new_string(text));
	return obj;
}

/* --- Lines ------------------------------------------------------------- */

static void put_line(enum inc_log_level level, const char *line, bool named)
{
	if (hook_fn)
		hook_fn(level, line, hook_arg);
	else if (named)
		fprintf(stderr, "libinc: %s: %s\n", level_names[level], line);
	else
		fprintf(stderr, "%s\n", line);
}

static void put_json(const struct inc_who *who, enum inc_log_level level,
		     char *text)
{
	const int flags = JSON_C_TO_STRING_PLAIN |
			  JSON_C_TO_STRING_NOSLASHESCAPE;
	struct json_object *obj = line_object(who, level, text);

	if (obj)
		put_line(level, json_object_to_json_string_ext(obj, flags),
			 false);
	json_object_put(obj);
}

static void put_text(const struct inc_who *who, enum inc_log_level level,
		     const char *text)
{
	char line[LINE_MAX_LEN + INC_JOB_MAX + 64], tree[24] = "";

	if (!who) {
		put_line(level, text, true);
		return;
	}
	if (who->has_tree)
		snprintf(tree, sizeof(tree), ", tree %u", who->tree_id);
	snprintf(line, sizeof(line), "job \"%s\", rank %d of %d%s: %s",
		 who->job, who->rank, who->nranks, tree, text);
	put_line(level, line, true);
}

void inc_log_line(const struct inc_who *who, enum inc_log_level level,
		  const char *fmt, ...)
{
	char text[LINE_MAX_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);

	inc_log_lock();
	if (format == INC_LOG_JSON)
		put_json(who, level, text);
	else
		put_text(who, level, text);
	inc_log_unlock();
}
