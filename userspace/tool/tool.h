/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Shared by the commands of inc-tool.
 */
#ifndef INC_TOOL_TOOL_H
#define INC_TOOL_TOOL_H

#include "common.h"
#include "nl.h"

/* Exit status, as in the man page. */
enum {
	TOOL_OK		= 0,
	TOOL_USAGE	= 1,	/* the command line or a batch file is wrong */
	TOOL_BAD	= 1,	/* check has found a FAIL */
	TOOL_FAILED	= 2,	/* the kernel refused, or has no module; no output */
};

/**
 * struct conf - options before the command
 * @json: JSON instead of text
 * @pretty: with line breaks and indentation
 * @details: more about each object
 * @force: continue a batch after an error
 * @timestamp: the monitor prints the time of each event
 * @stats: number of -s options
 * @run: runs a command of a batch file; returns an exit status
 * @batch: file with commands, or NULL
 * @netns: network namespace, or NULL
 */
struct conf {
	bool		json;
	bool		pretty;
	bool		details;
	bool		force;
	bool		timestamp;
	unsigned int	stats;
	int		(*run)(int argc, char **argv);
	const char	*batch;
	const char	*netns;
};

extern struct conf conf;

/**
 * struct cmd - a word of the command line
 * @name: the word
 * @fn: called with the arguments after it; returns an exit status
 */
struct cmd {
	const char	*name;
	int		(*fn)(int argc, char **argv);
};

/* cmd.c */
int cmd_select(const struct cmd *cmds, const char *what, const char *usage,
	       int argc, char **argv);
int cmd_object(const struct cmd *cmds, const char *what, const char *usage,
	       int (*dflt)(int argc, char **argv), int argc, char **argv);
bool wants_help(int argc, char **argv);
int tool_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int tool_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* request.c */
struct inc_nl *tool_nl(void);
int tool_nl_fail(const struct inc_nl *nl);
void tool_nl_close(void);

/* Commands, one per file of that name. */
int cmd_tree(int argc, char **argv);
int cmd_member(int argc, char **argv);
int cmd_parent(int argc, char **argv);
int cmd_slot(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_switch(int argc, char **argv);
int cmd_monitor(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_save(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int batch_run(const char *path);

/* show.c */
void show_tree(const struct inc_nl_tree *tree);
void show_member(const struct inc_nl_member *member);
void show_member_host(const struct inc_nl_member *member);
int show_member_stats(const struct inc_nl_member *member, void *unused);
void show_slot(const struct inc_nl_slot *slot);
void show_switch(const struct inc_nl_switch *sw);
void show_stats(const char *key, const uint64_t *stats, unsigned int max,
		const char *(*name)(unsigned int attr));
void show_switch_stats(const struct inc_nl_switch *sw);
int show_ranks(struct inc_nl *nl, const struct inc_nl_tree *tree);

#endif /* INC_TOOL_TOOL_H */
