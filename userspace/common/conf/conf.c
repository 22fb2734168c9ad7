// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See conf.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "conf/open.h"
#include "conf/text.h"

#define LINE_LEN	1024
#define SPACE		" \t\r\n"
#define BOM		"\xef\xbb\xbf"

char conf_where[4200];
char conf_why[512];

/* The first reason is the best one. */
static void keep_why(const char *why)
{
	if (!conf_why[0])
		snprintf(conf_why, sizeof(conf_why), "%s", why);
}

static int report_error(const struct conf *conf, const char *path,
			unsigned int n, const char *what)
{
	if (conf->err) {
		snprintf(conf->err, conf->err_len, "%s:%u: %s", path, n, what);
		return -1;
	}
	snprintf(conf_where, sizeof(conf_where), "%s:%u: ", path, n);
	fprintf(stderr, "%s: %s%s\n", conf->prog, conf_where, what);
	keep_why(what);
	return -1;
}

/*
 * Keep a value for as long as the program runs, but only once: the same file
 * may be read again and again.
 */
static char *keep_text(const char *text)
{
	static struct kept {
		struct kept	*next;
		char		text[];
	} *all;
	struct kept *k;

	for (k = all; k; k = k->next)
		if (!strcmp(k->text, text))
			return k->text;
	k = malloc(sizeof(*k) + strlen(text) + 1);
	if (!k)
		abort();
	memcpy(k->text, text, strlen(text) + 1);
	k->next = all;
	all = k;
	return k->text;
}

/* Cut off trailing white space. */
static void trim_end(char *text)
{
	size_t n = strlen(text);

	while (n && strchr(SPACE, text[n - 1]))
		text[--n] = '\0';
}

/* A # begins a comment at the beginning of a line, or after a space. */
static void cut_comment(char *text)
{
	char *at = text;

	while ((at = strchr(at, '#'))) {
		if (at == text || strchr(SPACE, at[-1])) {
			*at = '\0';
			return;
		}
		at++;
	}
}

/* Files that are read again must not leave values behind. */
static int take_brief(const struct conf *conf, int opt, char *value,
		      const char *path, unsigned int n)
{
	char why[256];

	if (!conf->take(conf->ctx, opt, value))
		return 0;
	snprintf(why, sizeof(why), "%s", conf->err);
	return report_error(conf, path, n, why);
}

/* Show the name: a line that looks right in an editor may be wrong. */
static int report_unknown(const struct conf *conf, char *name, const char *path,
			  unsigned int n)
{
	char what[200];

	text_clean(name);
	if (*name == '[')
		snprintf(what, sizeof(what), "\"%.60s\": there are no sections: each line is NAME = VALUE",
			 name);
	else
		snprintf(what, sizeof(what), "\"%.60s\": there is no such %s",
			 name, conf->err ? "setting" :
			 "option; --help lists them");
	return report_error(conf, path, n, what);
}

static int take_line(const struct conf *conf, char *line, const char *path,
		     unsigned int n)
{
	const struct option *opt;
	char *name, *value;

	if (n == 1 && !strncmp(line, BOM, strlen(BOM)))
		return report_error(conf, path, n, "it begins with a byte order mark, bytes EF BB BF, which an editor has put there: save it without one");
	cut_comment(line);
	name = line + strspn(line, SPACE);
	trim_end(name);
	if (!*name)
		return 0;
	value = name + strcspn(name, "=" SPACE);
	if (*value) {
		bool equals = *value == '=';

		*value++ = '\0';
		value += strspn(value, SPACE);
		if (!equals && *value == '=')
			value++;
		value += strspn(value, SPACE);
	}
	for (opt = conf->options; opt->name; opt++)
		if (!strcmp(opt->name, name))
			break;
	if (!opt->name)
		return report_unknown(conf, name, path, n);
	if (!*value != !opt->has_arg)
		return report_error(conf, path, n, *value ?
				    "this option has no value" :
				    "this option needs a value: NAME = VALUE");
	if (conf->err)
		return take_brief(conf, opt->val, *value ? value : NULL, path,
				  n);
	snprintf(conf_where, sizeof(conf_where), "%s:%u: ", path, n);
	if (conf->take(conf->ctx, opt->val, *value ? keep_text(value) : NULL))
		return -1;
	conf_where[0] = '\0';
	return 0;
}

/*
 * Read an open configuration file. Returns 0, or -1 after a message with the
 * line's number.
 */
int conf_stream(const struct conf *conf, FILE *f, const char *path)
{
	char line[LINE_LEN];
	unsigned int n = 0;
	size_t len;
	int c, ret = 0;

	do {
		for (len = 0; (c = getc(f)) != EOF && c && c != '\n' &&
		     len < sizeof(line) - 1; len++)
			line[len] = (char)c;
		line[len] = '\0';
		n++;
		/* A directory can be opened but not read: not an empty file. */
		if (c == EOF && ferror(f))
			return report_error(conf, path, n, strerror(errno));
		if (c != EOF && c != '\n')
			return report_error(conf, path, n, c ?
					    "this line is too long" :
					    "this is no text: it has a zero byte");
		ret = take_line(conf, line, path, n);
	} while (!ret && c != EOF);
	return ret;
}

/* /dev/null stands for no file: it is the only device that may be read. */
static FILE *open_conf(const char *path, const char **why)
{
	FILE *f;

	if (strcmp(path, "/dev/null"))
		return inc_open(path, why);
	f = fopen(path, "re");
	if (!f)
		*why = strerror(errno);
	return f;
}

/* Read a configuration file. Returns 0, or -1 after a message. */
int conf_read(const struct conf *conf, const char *path)
{
	const char *why;
	FILE *f = open_conf(path, &why);
	int ret;

	if (!conf->err)
		snprintf(conf_where, sizeof(conf_where), f ? "" : "%s: ", path);
	if (!f && conf->err)
		snprintf(conf->err, conf->err_len, "%s: %s", path, why);
	if (!f && !conf->err) {
		fprintf(stderr, "%s: %s: %s\n", conf->prog, path, why);
		keep_why(why);
	}
	if (!f)
		return -1;
	ret = conf_stream(conf, f, path);
	fclose(f);
	return ret;
}
