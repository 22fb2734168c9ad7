/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Text from the command line to the fields of a request, by tables of keywords.
 */
#ifndef INC_TOOL_PARSE_H
#define INC_TOOL_PARSE_H

#include "common.h"

/**
 * struct keyword - a keyword and its value
 * @name: the word
 * @alias: another one for it, the attribute's name where that differs, or NULL
 * @takes: what its value is, for messages
 * @parse: reads the value; returns an exit status, after a message
 * @name_of: names of the bits of a mask
 * @attr: attribute whose bit is set in the request's has
 * @off: where the value goes in the request
 * @size: bytes of it
 */
struct keyword {
	const char	*name;
	const char	*alias;
	const char	*takes;
	int		(*parse)(const struct keyword *k, const char *text,
				 void *dst);
	const char	*(*name_of)(unsigned int n);
	unsigned int	attr;
	size_t		off;
	size_t		size;
};

int parse_keywords(const struct keyword *table, const char *what, void *req,
		   int argc, char **argv);

bool text_to_uint(const char *text, uint64_t max, uint64_t *value);

/* For struct keyword. */
int parse_uint(const struct keyword *k, const char *text, void *dst);
int parse_msec(const struct keyword *k, const char *text, void *dst);
int parse_mask(const struct keyword *k, const char *text, void *dst);
int parse_enum(const struct keyword *k, const char *text, void *dst);
int parse_list(const struct keyword *k, const char *text, void *dst);
int parse_addr(const struct keyword *k, const char *text, void *dst);

#endif /* INC_TOOL_PARSE_H */
