/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Fills in requests from the command line, by tables of keywords.
 */
#ifndef INC_TOOL_PARSE_H
#define INC_TOOL_PARSE_H

#include "common.h"

/**
 * struct keyword - a keyword and its value
 * @name: the word
 * @alias: the attribute's name if different, or NULL
 * @takes: description of its value, for messages
 * @parse: reads the value; returns an exit status, after a message
 * @name_of: names of the values, or of the bits of a mask
 * @attr: attribute whose bit is set in the request's has
 * @off: offset of the value in the request
 * @size: its size in bytes
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

/* Entry of a table of struct keyword: member _member of request _req. */
#define KEYWORD(_req, _name, _alias, _takes, _parse, _names, _attr, _member) \
	{								\
		.name = _name, .alias = _alias, .takes = _takes,	\
		.parse = _parse, .name_of = _names, .attr = _attr,	\
		.off = offsetof(_req, _member),				\
		.size = sizeof(((_req *)NULL)->_member),		\
	}

int parse_keywords(const struct keyword *table, const char *what, void *req,
		   int argc, char **argv);

int parse_request(const struct keyword *table, const char *what, void *req,
		  unsigned int n, int argc, char **argv);
int parse_required(const struct keyword *table, const char *what,
		   const void *req, unsigned int n);

/* For struct keyword. */
int parse_uint(const struct keyword *k, const char *text, void *dst);
int parse_msec(const struct keyword *k, const char *text, void *dst);
int parse_mask(const struct keyword *k, const char *text, void *dst);
int parse_enum(const struct keyword *k, const char *text, void *dst);
int parse_list(const struct keyword *k, const char *text, void *dst);
int parse_addr(const struct keyword *k, const char *text, void *dst);

#endif /* INC_TOOL_PARSE_H */
