// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Commands from a file, one per line. Blanks separate words, quotation marks
 * enclose a word with blanks, # begins a comment, and \ at the end of a line
 * continues it.
 */
#include "common.h"

#include "conf/output.h"
#include "tool.h"

#define MAX_WORDS	4096
#define MAX_LINE	(1U << 16)	/* bytes, with the lines that continue it */
#define MAX_DEPTH	8	/* of files that run other files */

static char *grow_line(char *line, size_t *room)
{
	*room = *room ? *room * 2 : 256;
	line = realloc(line, *room);
	if (!line) {
		fputs("inc-tool: out of memory\n", stderr);
		exit(TOOL_FAILED);
	}
	return line;
}

/*
 * Read one logical line, counting physical ones. Returns false at the end.
 * @length shows whether a NUL byte cuts the line; MAX_LINE: it is too long.
 */
static bool read_line(FILE *f, char **line, size_t *room, size_t *length,
		      unsigned int *lineno)
{
	size_t len = 0;
	int c;

	for (;;) {
		if (len + 2 > *room)
			*line = grow_line(*line, room);
		c = fgetc(f);
		if (c == EOF || len == MAX_LINE)
			break;
		if (c == '\n') {
			++*lineno;
			/* line ends of other systems */
			if (len && (*line)[len - 1] == '\r')
				len--;
			if (!len || (*line)[len - 1] != '\\')
				break;
			(*line)[len - 1] = ' ';
			continue;
		}
		(*line)[len++] = (char)c;
	}
	(*line)[len] = '\0';
	*length = len;
	if (c == EOF && len)
		++*lineno;
	return c != EOF || len;
}

/* Split a line in place. Returns the number of words, or -1 after a message. */
static int split_line(char *p, char **words)
{
	int n = 0;

	for (;;) {
		char quote = 0, *out;

		p += strspn(p, " \t\r");
		if (!*p || *p == '#')
			return n;
		if (n == MAX_WORDS - 1) {
			tool_fail("more than %d words", MAX_WORDS - 1);
			return -1;
		}
		words[n++] = out = p;
		for (; *p && (quote || !strchr(" \t\r", *p)); p++) {
			if (*p == quote)
				quote = 0;
			else if (!quote && (*p == '"' || *p == '\''))
				quote = *p;
			else
				*out++ = *p;
		}
		if (quote) {
			tool_fail("a quotation mark %c is not closed", quote);
			return -1;
		}
		if (*p)
			p++;
		*out = '\0';
	}
}

static int run_lines(FILE *f, const char *name)
{
	char *words[MAX_WORDS], *line = NULL;
	unsigned int lineno = 0;
	int rc = TOOL_OK;
	size_t room = 0, len;

	while (read_line(f, &line, &room, &len, &lineno)) {
		int n = -1, err = TOOL_USAGE;

		if (len == MAX_LINE) {
			rc = tool_fail("%s:%u: a line has more than %u bytes: is this a file of commands?",
				       name, lineno + 1, MAX_LINE);
			break;
		}
		if (strlen(line) < len)
			tool_fail("a NUL byte is in the line");
		else
			n = split_line(line, words);
		if (!n)
			continue;
		if (n > 0) {
			words[n] = NULL;
			err = conf.run(n, words);
		}
		inc_output_flush();
		if (!err)
			continue;
		fprintf(stderr, "Command failed %s:%u\n", name, lineno);
		if (!rc)
			rc = err;
		if (!conf.force)
			break;
	}
	free(line);
	return rc;
}

/*
 * Run the commands of a file. Returns the exit status of the first command
 * that failed, or TOOL_OK.
 */
int batch_run(const char *path)
{
	static unsigned int depth;
	FILE *f = stdin;
	int rc;

	if (depth == MAX_DEPTH)
		return tool_fail("\"%s\": files restore each other, %u deep: does one restore itself?",
				 path, depth);
	if (strcmp(path, "-")) {
		f = fopen(path, "r");
		if (!f)
			return tool_fail("\"%s\": %s", path, strerror(errno));
	}
	depth++;
	rc = run_lines(f, path);
	depth--;
	if (ferror(f))
		rc = tool_fail("\"%s\": %s", path, strerror(errno));
	if (f != stdin)
		fclose(f);
	return rc;
}
