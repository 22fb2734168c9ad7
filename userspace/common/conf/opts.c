// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See opts.h.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "conf/opts.h"
#include "conf/unit.h"

#define MAX_OPTIONS	64
#define HELP_COLUMN	26
#define HELP_WIDTH	79

/* getopt_long() returns this and the index for an option without a letter. */
#define NO_LETTER	256

static const struct opts *now;

/*
 * Report wrong options. The message begins with the program's name and, within
 * a configuration file, the file and the line. Returns -1.
 */
int opts_wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(conf_why, sizeof(conf_why), fmt, ap);
	va_end(ap);
	fflush(stdout);
	fprintf(stderr, "%s: %s%s\n", now->prog, conf_where, conf_why);
	return -1;
}

/* Report which values an option takes. Returns -1. */
int opts_wrong_value(const struct opt *opt, const char *text, const char *want)
{
	return opts_wrong("--%s \"%s\": must be %s", opt->name, text, want);
}

static void store_number(const struct opt *opt, void *at, uint64_t value)
{
	if (opt->size == sizeof(uint64_t))
		*(uint64_t *)at = value;
	else if (opt->size == sizeof(uint32_t))
		*(uint32_t *)at = (uint32_t)value;
	else if (opt->size == sizeof(uint16_t))
		*(uint16_t *)at = (uint16_t)value;
	else if (opt->size)
		*(uint8_t *)at = (uint8_t)value;
}

static bool read_number(const struct opt *opt, const char *text,
			uint64_t *value)
{
	switch (opt->type) {
	case OPT_MS:
		return unit_msec(text, 1, value);
	case OPT_SEC:
		return unit_msec(text, 1000, value);
	case OPT_MIB:
		if (!unit_number(text, UINT64_MAX >> 20, value))
			return false;
		if (!strchr("kKmMgG", text[strlen(text) - 1]))
			*value <<= 20;
		return true;
	default:
		return unit_number(text, UINT64_MAX, value);
	}
}

static int wrong_number(const struct opt *opt, const char *text)
{
	uint64_t unit = opt->type == OPT_SEC ? 1000 :
			opt->type == OPT_MIB ? 1 << 20 : 1;
	char want[160], what[40] = "";

	if (opt->step == OPT_POWER)
		snprintf(what, sizeof(what), "a power of two ");
	else if (opt->step)
		snprintf(what, sizeof(what), "a multiple of %u ", opt->step);
	else if (opt->type == OPT_NUM)
		snprintf(what, sizeof(what), "a number ");
	snprintf(want, sizeof(want), "%sfrom %" PRIu64 " to %" PRIu64 "%s",
		 what, opt->least / unit, opt->most / unit,
		 opt->type == OPT_MS ? " milliseconds, or as in 500ms or 2s" :
		 opt->type == OPT_SEC ? " seconds, or as in 90s or 5m" :
		 opt->type == OPT_MIB ? " MiB, or as in 512M or 2G" : "");
	return opts_wrong_value(opt, text, want);
}

static int take_number(const struct opt *opt, void *at, const char *text)
{
	uint64_t value;

	if (!read_number(opt, text, &value) || value < opt->least ||
	    value > opt->most ||
	    (opt->step == OPT_POWER ? value & (value - 1) :
	     opt->step && value % opt->step))
		return wrong_number(opt, text);
	store_number(opt, at, value);
	return 0;
}

static int take_word(const struct opt *opt, void *at, const char *text)
{
	const char *word = opt->value;
	size_t len = strcspn(word, "|");
	uint64_t i = 0;

	while (word[len] && (strlen(text) != len || strncmp(word, text, len))) {
		word += len + 1;
		len = strcspn(word, "|");
		i++;
	}
	if (strlen(text) != len || strncmp(word, text, len))
		return opts_wrong("--%s \"%s\": must be one of %s", opt->name,
				  text, opt->value);
	store_number(opt, at, opt->least + i);
	return 0;
}

/* --- Help ------------------------------------------------------------------ */

static void print_words(const char *text, int column)
{
	int len;

	while (*text) {
		len = (int)strcspn(text, " ");
		if (column + 1 + len > HELP_WIDTH && column > HELP_COLUMN) {
			printf("\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		}
		printf("%s%.*s", column > HELP_COLUMN ? " " : "", len, text);
		column += len + (column > HELP_COLUMN);
		text += len + (text[len] == ' ');
	}
	putchar('\n');
}

static void print_option(const struct opt *opt)
{
	char letter[] = { '-', opt->letter, ',', ' ', '\0' };
	int n;

	n = printf("  %s--%s%s%s", opt->letter ? letter : "    ", opt->name,
		   opt->value && *opt->value != '[' ? " " : "",
		   opt->value ? opt->value : "");
	if (n + 2 > HELP_COLUMN)
		n = printf("\n") - 1;
	printf("%*s", HELP_COLUMN - n, "");
	print_words(opt->help, HELP_COLUMN);
}

static int print_help(void)
{
	const struct opt *opt;

	fputs(now->head, stdout);
	for (opt = now->list; opt->name; opt++)
		if (opt->help && *opt->help)
			print_option(opt);
	if (now->tail)
		fputs(now->tail, stdout);
	return 1;
}

/* --- Values ---------------------------------------------------------------- */

static int read_file(void *ctx, const char *path);

static int take_option(const struct opt *opt, void *ctx, char *text)
{
	void *at = (char *)ctx + opt->off;
	int ret = 0;

	if (((opt->type == OPT_TEXT && !opt->call) ||
	     opt->type == OPT_CONFIG) && !*text)
		return opts_wrong("--%s needs a value that is not empty: %s",
				  opt->name, opt->value);
	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)at = true;
		break;
	case OPT_TEXT:
	case OPT_CONFIG:
		memcpy(at, &text, sizeof(text));
		break;
	case OPT_NUM:
	case OPT_MS:
	case OPT_SEC:
	case OPT_MIB:
		if (text)
			ret = take_number(opt, at, text);
		break;
	case OPT_WORD:
		ret = take_word(opt, at, text);
		break;
	case OPT_VERSION:
		printf("%s %s\n", now->prog, now->version);
		return 1;
	case OPT_HELP:
		return print_help();
	case OPT_CALL:
		break;
	}
	if (!ret && opt->call)
		ret = opt->call(ctx, opt, text);
	return !ret && opt->type == OPT_CONFIG ? read_file(ctx, text) : ret;
}

/**
 * struct table - options for getopt_long()
 * @longs: long options
 * @shorts: short ones
 */
struct table {
	struct option	longs[MAX_OPTIONS];
	char		shorts[2 * MAX_OPTIONS];
};

static void make_table(struct table *table)
{
	char *letter = table->shorts;
	const struct opt *opt;
	int val = 0;

	memset(table, 0, sizeof(*table));
	if (now->first)
		*letter++ = '+';
	for (opt = now->list; opt->name; opt++) {
		if (opt->help)
			val = opt->letter ? (unsigned char)opt->letter :
			      NO_LETTER + (int)(opt - now->list);
		table->longs[opt - now->list] = (struct option) {
			opt->name, opt->value ? *opt->value == '[' ?
			optional_argument : required_argument : no_argument,
			NULL, val
		};
		if (!opt->letter)
			continue;
		*letter++ = opt->letter;
		if (opt->value)
			*letter++ = ':';
	}
}

static const struct opt *find_option(int val)
{
	const struct opt *opt = now->list;

	if (val >= NO_LETTER)
		return opt + (val - NO_LETTER);
	while (opt->letter != val)
		opt++;
	while (!opt->help)
		opt--;
	return opt;
}

static int take_line(void *ctx, int val, char *text)
{
	const struct opt *opt = find_option(val);

	if (opt->type == OPT_CONFIG || opt->type == OPT_HELP ||
	    opt->type == OPT_VERSION)
		return opts_wrong("\"%s\" is for the command line only",
				  opt->name);
	return take_option(opt, ctx, text);
}

static int read_file(void *ctx, const char *path)
{
	struct table table;
	const struct conf conf = {
		.prog = now->prog, .options = table.longs, .take = take_line,
		.ctx = ctx,
	};

	make_table(&table);
	return conf_read(&conf, path);
}

static const struct opt *config_option(void)
{
	const struct opt *opt = now->list;

	while (opt->type != OPT_CONFIG)
		opt++;
	return opt;
}

static int next_option(int argc, char **argv, const struct table *table)
{
	return now->first ?
	       getopt_long_only(argc, argv, table->shorts, table->longs, NULL) :
	       getopt_long(argc, argv, table->shorts, table->longs, NULL);
}

/*
 * Returns whether to read the default file, all of which may be wrong; -1:
 * neither the file nor the options, as help or the version was asked for.
 * Errors in options are reported when the options are read.
 */
static int look_ahead(int argc, char **argv, const struct table *table)
{
	const struct opt *opt;
	int val, ret = 1;

	opterr = 0;
	while (ret >= 0 && (val = next_option(argc, argv, table)) != -1 &&
	       val != '?') {
		opt = find_option(val);
		if (opt->type == OPT_CONFIG)
			ret = 0;
		else if (opt->type == OPT_HELP || opt->type == OPT_VERSION)
			ret = -1;
	}
	opterr = 1;
	optind = 0;
	if (ret < 0)
		take_option(opt, NULL, NULL);
	return ret;
}

/*
 * Read the configuration file and the command line. Afterwards optind is the
 * index of the first argument that is no option. Returns 0; 1: end with
 * success; -1 after a message.
 * @ctx: structure that receives the values, with their defaults
 * @argv: arguments; the first is the program's name
 */
int opts_read(const struct opts *opts, void *ctx, int argc, char **argv)
{
	const struct opt *opt;
	struct table table;
	int val, ahead, ret = 0;

	now = opts;
	/* Messages of getopt_long() begin with the program's name. */
	argv[0] = (char *)opts->prog;
	make_table(&table);
	optind = 0;
	ahead = opts->config ? look_ahead(argc, argv, &table) : 0;
	if (ahead < 0)
		return 1;
	if (ahead > 0 && !access(opts->config, F_OK))
		ret = take_option(config_option(), ctx, (char *)opts->config);
	while (!ret && (val = next_option(argc, argv, &table)) != -1) {
		opt = val == '?' ? NULL : find_option(val);
		ret = opt ? take_option(opt, ctx, optarg) :
		      opts_wrong("--help lists the options");
	}
	if (!ret && !opts->first && argc - optind > opts->args)
		return opts_wrong("unexpected argument \"%s\"",
				  argv[optind + opts->args]);
	return ret;
}

/*
 * Read the options of a command. "help" as the first argument means "--help".
 * optind counts from the command's name. Returns as opts_read().
 * @ctx: structure that receives the values, with their defaults
 * @argc: number of arguments after the command's name, which precedes @argv
 */
int opts_command(const struct opts *opts, void *ctx, int argc, char **argv)
{
	static char help[] = "--help";

	if (argc && !strcmp(argv[0], "help"))
		argv[0] = help;
	return opts_read(opts, ctx, argc + 1, argv - 1);
}
