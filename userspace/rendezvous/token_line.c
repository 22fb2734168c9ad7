// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The line by which a client shows its token, before all others. The daemon
 * takes it apart without a parser: nothing else of a stranger's is read.
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
