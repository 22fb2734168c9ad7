/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Options: one table is the command line, --help and the configuration file, in
 * all programs.
 */
#ifndef INC_CONF_OPTS_H
#define INC_CONF_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * enum opt_type - what an option does
 * @OPT_FLAG: sets a bool
 * @OPT_TEXT: sets a const char *
 * @OPT_NUM: sets an integer; K, M and G are powers of 1024
 * @OPT_MS: sets a duration in milliseconds, which is the unit of a number alone
 * @OPT_SEC: likewise, with a number alone in seconds
 * @OPT_MIB: sets a number of bytes; a number alone is one of MiB
 * @OPT_WORD: sets an integer: @least for the first word of @value, which has |
 *	between them, one more for the next ...
 * @OPT_CALL: only calls
 * @OPT_CONFIG: sets a const char *, and reads the file
 * @OPT_VERSION: prints the version
 * @OPT_HELP: prints the help
 */
enum opt_type {
	OPT_FLAG, OPT_TEXT, OPT_NUM, OPT_MS, OPT_SEC, OPT_MIB, OPT_WORD,
	OPT_CALL, OPT_CONFIG, OPT_VERSION, OPT_HELP,
};

/* As a step: powers of two only. */
#define OPT_POWER	UINT32_MAX

/**
 * struct opt - an option
 * @name: its name; NULL ends the table
 * @letter: its letter, or 0
 * @type: what it does
 * @value: how --help calls its value, NULL: it has none; one that can be missing
 *	begins with a bracket
 * @help: what --help says of it, empty: nothing; NULL: it is another name of the
 *	option before
 * @off: where its value goes, from the beginning of the program's structure
 * @size: size of that in bytes; 0: nowhere
 * @least: minimum of a number, in bytes or milliseconds
 * @most: maximum
 * @step: what it has to be a multiple of, or OPT_POWER
 * @call: called with the value, after it was stored; returns 0, 1 to end with
 *	success, or -1 after a message
 * @tag: for @call
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
 * @prog: its name, for messages
 * @version: its version, or NULL
 * @head: what --help prints before the options
 * @tail: and after them, or NULL
 * @config: configuration file that is read if it is there, or NULL
 * @list: the options
 * @args: how many arguments may follow them
 * @first: options end at the first argument that is none, and have one dash or two
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
