// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The log: levels, both formats, special characters. Python's parser reads the
 * JSON.
 */
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "test.h"

static char last[4096];
static unsigned int lines;
static enum inc_log_level last_level;
static FILE *to;

static void hook(enum inc_log_level level, const char *line, void *arg)
{
	EQ(arg == &lines, 1);
	OK(!strchr(line, '\n'));
	snprintf(last, sizeof(last), "%s", line);
	last_level = level;
	lines++;
	if (to)
		fprintf(to, "%s\n", line);
}

static const struct inc_who who = {
	.job = "a \"job\"", .rank = 3, .nranks = 5, .tree_id = 4000000000,
	.has_tree = true,
};
static const struct inc_who joining = { .job = "new", .rank = 0, .nranks = 2 };

static void levels(void)
{
	lines = 0;
	inc_log_set(hook, &lines, INC_LOG_WARN);
	inc_err(NULL, "one");
	inc_warn(NULL, "two %d", 2);
	EQ(last_level, INC_LOG_WARN);
	OK(!strcmp(last, "two 2"));
	inc_info(NULL, "no");
	inc_dbg(NULL, "no");
	EQ(lines, 2);
	inc_log_set(hook, &lines, INC_LOG_NONE);
	inc_err(NULL, "no");
	EQ(lines, 2);
	inc_log_set(hook, &lines, INC_LOG_DEBUG);
	inc_dbg(NULL, "yes");
	EQ(lines, 3);
}

static void text(void)
{
	inc_log_set(hook, &lines, INC_LOG_DEBUG);
	inc_log_set_format(INC_LOG_TEXT);
	inc_err(&who, "bad %s", "thing");
	OK(!strcmp(last, "job \"a \"job\"\", rank 3 of 5, tree 4000000000: bad thing"));
	inc_err(&joining, "late");
	OK(!strcmp(last, "job \"new\", rank 0 of 2: late"));
}

/* What the parser must find, in order. */
static const char script[] =
"import datetime, json, os, sys\n"
"want = [('error', 'plain', 0), ('warn', 'q\" b\\\\ s/ \\t\\x01\\x7f', 1),\n"
"        ('info', 'gr\\u00fc\\u00df \\u20ac \\U0001f600', 2),\n"
"        ('debug', 'a? ??b ??? ? \\u00e4?', 1), ('error', 'x' * 2559, 1)]\n"
"lines = sys.stdin.buffer.read().decode('utf-8').splitlines()\n"
"assert len(lines) == len(want), len(lines)\n"
"for line, (level, message, who) in zip(lines, want):\n"
"    d = json.loads(line)\n"
"    assert d.pop('message') == message, line\n"
"    assert d.pop('level') == level, line\n"
"    assert d.pop('pid') == os.getppid(), (line, os.getppid())\n"
"    t = d.pop('time')\n"
"    assert t.endswith('Z') and len(t) == 27, t\n"
"    t = datetime.datetime.fromisoformat(t)\n"
"    age = datetime.datetime.now(datetime.timezone.utc) - t\n"
"    assert abs(age.total_seconds()) < 60, t\n"
"    assert d == [{}, {'job': 'a \"job\"', 'rank': 3, 'ranks': 5,\n"
"                 'tree': 4000000000}, {'job': 'new', 'rank': 0,\n"
"                 'ranks': 2}][who], line\n";

static void json(void)
{
	char path[] = "/tmp/test_log.XXXXXX", cmd[128], big[4000];
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	OK(f);
	fputs(script, f);
	fclose(f);
	/* exec, so that the parser's parent is this process. */
	snprintf(cmd, sizeof(cmd), "exec python3 %s", path);
	to = popen(cmd, "w");
	OK(to);
	inc_log_set(hook, &lines, INC_LOG_DEBUG);
	inc_log_set_format(INC_LOG_JSON);
	inc_err(NULL, "plain");
	inc_warn(&who, "q\" b\\ s/ \t\x01\x7f");
	inc_info(&joining, "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
	/* Not UTF-8: a stray byte, overlong, a surrogate, truncated. */
	inc_dbg(&who, "a\xff \xc0\x80" "b \xed\xa0\x80 \xf4 \xc3\xa4\xe2");
	memset(big, 'x', sizeof(big));
	inc_err(&who, "%.*s", (int)sizeof(big), big);
	EQ(pclose(to), 0);
	to = NULL;
	unlink(path);
	inc_log_set(NULL, NULL, INC_LOG_NONE);
}

static const struct test_case cases[] = {
	{ "log: levels", levels },
	{ "log: text", text },
	{ "log: JSON", json },
};

TEST_MAIN(cases)
