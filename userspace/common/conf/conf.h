/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Configuration files of inc-amd and inc-agentd: long options, one per line,
 * "NAME = VALUE" or "NAME VALUE", or "NAME" alone. A # at the beginning of a
 * line, or after a space, begins a comment.
 */
#ifndef INC_CONF_H
#define INC_CONF_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

/**
 * struct conf - how to read a file
 * @prog: name of the program, for messages
 * @options: its long options
 * @take: called for each line with an option's val, and its value, which stays
 *	allocated, or NULL; returns 0, or another value after a message
 * @ctx: first argument of @take
 * @err: buffer for messages, for files that are read again: values are then
 *	only valid while their line is handled, and @take puts its message here,
 *	too. NULL: messages go to standard error
 * @err_len: size of @err in bytes
 */
struct conf {
	const char		*prog;
	const struct option	*options;
	int			(*take)(void *ctx, int opt, char *value);
	void			*ctx;
	char			*err;
	size_t			err_len;
};

/* FILE:LINE and a colon while a line is handled, or after an error. */
extern char conf_where[4200];
/* Error of the first wrong line, or of the file. */
extern char conf_why[512];

int conf_read(const struct conf *conf, const char *path);
int conf_stream(const struct conf *conf, FILE *f, const char *path);

#endif /* INC_CONF_H */
