// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Common to all commands: the options before them, reports of errors, and the
 * selection of a command by its name or an unambiguous prefix.
 */
#include "common.h"

#include <stdarg.h>

#include "conf/output.h"
#include "tool.h"

struct conf conf;

static void complain_of(const char *fmt, va_list ap)
{
	char text[1024];

	inc_output_flush();
	/* A quoted word may be of any length. */
	if (vsnprintf(text, sizeof(text), fmt, ap) >= (int)sizeof(text))
		memcpy(text + sizeof(text) - 4, "...", 4);
	fprintf(stderr, "inc-tool: %s\n", text);
}

/* Report an error in the command line. Returns TOOL_USAGE. */
int tool_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain_of(fmt, ap);
	va_end(ap);
	return TOOL_USAGE;
}

/* Report that a valid request cannot be fulfilled. Returns TOOL_FAILED. */
int tool_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain_of(fmt, ap);
	va_end(ap);
	return TOOL_FAILED;
}

static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "-h") ||
	       !strcmp(word, "-help") || !strcmp(word, "--help");
}

bool wants_help(int argc, char **argv)
{
	return argc > 0 && is_help(argv[0]);
}

static const struct cmd *find_cmd(const struct cmd *cmds, const char *word,
				  bool *ambiguous)
{
	const struct cmd *found = NULL;
	const struct cmd *c;

	*ambiguous = false;
	for (c = cmds; c->name; c++) {
		if (!strcmp(c->name, word))
			return c;
	}
	for (c = cmds; c->name; c++) {
		if (strncmp(c->name, word, strlen(word)))
			continue;
		/* Two names of the same command are not ambiguous. */
		if (found && found->fn != c->fn)
			*ambiguous = true;
		found = c;
	}
	return *ambiguous ? NULL : found;
}

static int print_choices(const struct cmd *cmds, const char *what,
			 const char *word, bool ambiguous)
{
	const struct cmd *c;
	char list[256] = "";

	for (c = cmds; c->name; c++) {
		size_t len = strlen(list);

		if (ambiguous && strncmp(c->name, word, strlen(word)))
			continue;
		snprintf(list + len, sizeof(list) - len, "%s%s",
			 len ? ", " : "", c->name);
	}
	return tool_fail("%s: \"%s\" %s: %s", what, word,
			 ambiguous ? "could be any of" : "is none of", list);
}

/* Find the command that a word names; NULL after an error message. */
static const struct cmd *choose_cmd(const struct cmd *cmds, const char *what,
				    const char *word)
{
	bool ambiguous = false;
	const struct cmd *c;

	c = word[0] ? find_cmd(cmds, word, &ambiguous) : NULL;
	if (!c)
		print_choices(cmds, what, word, ambiguous);
	return c;
}

/*
 * Run the command that the first argument names. Returns the exit status.
 * @cmds: commands, ended by one without a name
 * @what: object of the commands, for messages
 */
int cmd_select(const struct cmd *cmds, const char *what, const char *usage,
	       int argc, char **argv)
{
	const struct cmd *c;

	if (!argc) {
		fputs(usage, stderr);
		return TOOL_USAGE;
	}
	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return TOOL_OK;
	}
	c = choose_cmd(cmds, what, argv[0]);
	return c ? c->fn(argc - 1, argv + 1) : TOOL_USAGE;
}

/*
 * Run a command of an object, or print the object's help. Returns the exit
 * status.
 * @cmds: commands, ended by one without a name
 * @usage: text of the help, for the object and for each of its commands
 */
int cmd_object(const struct cmd *cmds, const char *what, const char *usage,
	       int (*dflt)(int argc, char **argv), int argc, char **argv)
{
	const struct cmd *c;

	if (!argc)
		return dflt(argc, argv);
	if (!wants_help(argc, argv)) {
		c = choose_cmd(cmds, what, argv[0]);
		if (!c)
			return TOOL_USAGE;
		if (!wants_help(argc - 1, argv + 1))
			return c->fn(argc - 1, argv + 1);
	}
	fputs(usage, stdout);
	return TOOL_OK;
}
