/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Options of all programs: one table describes the command line, --help and the
 * configuration file.
 */
#ifndef INC_CONF_OPTS_H
#define INC_CONF_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum opt_type - type of an option
 * @OPT_FLAG: sets a bool
 * @OPT_TEXT: sets a const char *
 * @OPT_NUM: sets an integer; K, M and G are powers of 1024
 * @OPT_MS: sets a duration in milliseconds, which is the default unit
 * @OPT_SEC: likewise, but the default unit is seconds
 * @OPT_MIB: sets a number of bytes; the default unit is MiB
 * @OPT_WORD: sets an integer: @least for the first word of @value, one more for
 *	the next ...; the words have | between them
 * @OPT_CALL: calls a function only
 * @OPT_CONFIG: sets a const char *, and reads that file
 * @OPT_VERSION: prints the version
 * @OPT_HELP: prints the help
 */
enum opt_type {
	OPT_FLAG, OPT_TEXT, OPT_NUM, OPT_MS, OPT_SEC, OPT_MIB, OPT_WORD,
	OPT_CALL, OPT_CONFIG, OPT_VERSION, OPT_HELP,
};

/* Step of an option that takes powers of two only. */
#define OPT_POWER	UINT32_MAX

/**
 * struct opt - an option
 * @name: name; NULL ends the table
 * @letter: letter, or 0
 * @type: type
 * @value: name of its value in --help; NULL: it takes none; a value that may be
 *	missing begins with a bracket
 * @help: description in --help; empty: not shown; NULL: another name of the
 *	option before
 * @off: offset of its value in the program's structure
 * @size: size of the value in bytes; 0: not stored
 * @least: minimum of a number, in bytes or milliseconds
 * @most: maximum of a number
 * @step: values are multiples of it, or OPT_POWER
 * @call: called after the value was stored, with it; returns 0, 1 to end with
 *	success, or -1 after a message
 * @tag: for use by @call
 */
struct opt {
	const char	*name;
	char		letter;
	enum opt_type	type;
	const char	*value;
	const char	*help;
	size_t		off;
	size_t		size;
	uint64_t	least;
	uint64_t	most;
	uint32_t	step;
	int		(*call)(void *ctx, const struct opt *opt, char *text);
	unsigned int	tag;
};

#define OPT_AT(type, field)	\
	.off = offsetof(type, field), .size = sizeof(((type *)NULL)->field)

#define OPT_HELP_ROW \
	{ "help", 'h', OPT_HELP, NULL, "show this text", .off = 0 }
#define OPT_VERSION_ROW \
	{ "version", 'V', OPT_VERSION, NULL, "print the version", .off = 0 }

/**
 * struct opts - a program's options
 * @prog: program's name, for messages
 * @version: program's version, or NULL
 * @head: text of --help before the options
 * @tail: text of --help after the options, or NULL
 * @config: configuration file, read if it exists, or NULL
 * @list: the options
 * @args: number of arguments that may follow the options
 * @first: options end at the first other argument, and have one dash or two
 */
struct opts {
	const char	*prog;
	const char	*version;
	const char	*head;
	const char	*tail;
	const char	*config;
	const struct opt *list;
	int		args;
	bool		first;
};

int opts_read(const struct opts *opts, void *ctx, int argc, char **argv);
int opts_command(const struct opts *opts, void *ctx, int argc, char **argv);
int opts_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int opts_wrong_value(const struct opt *opt, const char *text, const char *want);

#endif /* INC_CONF_OPTS_H */
