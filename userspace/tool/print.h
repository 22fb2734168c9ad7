/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Output as text and as JSON from one code path: each value has a key for JSON,
 * the attribute's name in the YNL spec, and a label for text.
 *
 * The label precedes the value; "" prints the value alone, and NULL omits it
 * from the text. In text, blanks separate the values on a line.
 */
#ifndef INC_TOOL_PRINT_H
#define INC_TOOL_PRINT_H

#include "common.h"
#include "nl.h"

/* Keys are NULL at the top and in arrays. The last close prints the JSON. */
void pr_drop(void);
void pr_open_array(const char *key);
void pr_close_array(void);
void pr_open_object(const char *key);
void pr_close_object(void);

void pr_uint(const char *key, const char *label, uint64_t value);
void pr_hex(const char *key, const char *label, uint64_t value, int digits);
/* In text with a unit: bytes, and milliseconds. */
void pr_size(const char *key, const char *label, uint64_t bytes);
void pr_msec(const char *key, const char *label, uint64_t ms);
/* "yes" or "no" in text. */
void pr_bool(const char *key, const char *label, bool value);
void pr_string(const char *key, const char *label, const char *value);
void pr_addr(const char *key, const char *label,
	     const struct inc_nl_addr *addr);
void pr_gid(const char *key, const char *label,
	    const struct inc_nl_addr *addr);
/* Name of a number, or the number if it has none. */
void pr_enum(const char *key, const char *label, unsigned int value,
	     const char *(*name)(unsigned int n));
void pr_mask(const char *key, const char *label, uint32_t mask,
	     const char *(*name)(unsigned int n));

/* Text only. */
void pr_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void pr_indent(void);
void pr_endl(void);

#endif /* INC_TOOL_PRINT_H */
