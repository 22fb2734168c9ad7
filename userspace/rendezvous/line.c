// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What a connection has received, as lines; and the line by which a client shows
 * its token, before all others. The daemon takes that apart without a parser:
 * nothing else of a stranger's is read.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proto.h"

#define BEFORE	"{\"cmd\":\"auth\",\"token\":\""
#define AFTER	"\"}"

/* What needs no quoting in JSON. */
static size_t plain_length(const char *token)
{
	size_t n;

	for (n = 0; token[n] > ' ' && token[n] <= '~' && token[n] != '"' &&
		    token[n] != '\\'; n++)
		;
	return n;
}

/**
 * inc_rdv_token_format() - make the line of a token
 * @token: token
 * @line: result, with a newline
 * @len: size of @line in bytes
 *
 * Return: length, or -EINVAL if the token cannot be sent.
 */
int inc_rdv_token_format(const char *token, char *line, size_t len)
{
	size_t n = plain_length(token);
	int ret;

	if (!n || token[n] || n > INC_RDV_TOKEN_MAX)
		return -EINVAL;
	ret = snprintf(line, len, BEFORE "%s" AFTER "\n", token);
	return ret > 0 && (size_t)ret < len ? ret : -EINVAL;
}

/**
 * inc_rdv_token_parse() - take the token out of a line
 * @line: line, without its newline
 * @token: result; INC_RDV_TOKEN_MAX + 1 bytes
 *
 * Return: false if it is another line.
 */
bool inc_rdv_token_parse(const char *line, char *token)
{
	size_t n;

	if (strncmp(line, BEFORE, strlen(BEFORE)))
		return false;
	line += strlen(BEFORE);
	n = plain_length(line);
	if (!n || n > INC_RDV_TOKEN_MAX || strcmp(line + n, AFTER))
		return false;
	memcpy(token, line, n);
	token[n] = '\0';
	return true;
}

/**
 * inc_rdv_space() - get the room for received bytes
 * @lines: received bytes of a connection
 * @len: its size; 0: take a line out first, or the line is too long
 *
 * Return: its address.
 */
char *inc_rdv_space(struct inc_rdv_lines *lines, size_t *len)
{
	*len = sizeof(lines->data) - lines->used;
	return lines->data + lines->used;
}

/**
 * inc_rdv_added() - add bytes that were received to inc_rdv_space()
 * @lines: received bytes of a connection
 * @len: their number
 */
void inc_rdv_added(struct inc_rdv_lines *lines, size_t len)
{
	lines->used += len;
}

/**
 * inc_rdv_line() - take a line out
 * @lines: received bytes of a connection
 * @line: result, without newline, terminated by 0
 * @len: size of @line, at least INC_RDV_LINE_MAX
 *
 * Return: 1 with a line, 0 if none is complete, -EMSGSIZE if it is too long,
 * -EINVAL if it has a 0 in it.
 */
int inc_rdv_line(struct inc_rdv_lines *lines, char *line, size_t len)
{
	char *end = memchr(lines->data, '\n', lines->used);
	size_t n;

	if (!end)
		return lines->used == sizeof(lines->data) ? -EMSGSIZE : 0;
	n = (size_t)(end - lines->data);
	if (n >= len)
		return -EMSGSIZE;
	memcpy(line, lines->data, n);
	line[n] = '\0';
	lines->used -= n + 1;
	memmove(lines->data, end + 1, lines->used);
	return memchr(line, '\0', n) ? -EINVAL : 1;
}
