// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Text is printed at once. JSON is collected and printed as one document when
 * its outermost object or array is closed.
 */
#include "common.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>

#include <json-c/json.h>

#include "conf/unit.h"
#include "print.h"
#include "tool.h"

#define MAX_DEPTH	8

static struct json_object *stack[MAX_DEPTH];
static unsigned int depth;

/* Text: the line is empty so far. */
static bool line_begins = true;

/* Add a value to the innermost object or array. */
static void json_add(const char *key, struct json_object *value)
{
	struct json_object *top = depth ? stack[depth - 1] : NULL;

	if (!value) {
		fputs("inc-tool: out of memory\n", stderr);
		exit(TOOL_FAILED);
	}
	if (!top)
		return;
	if (json_object_is_type(top, json_type_array))
		json_object_array_add(top, value);
	else
		json_object_object_add(top, key, value);
}

static void json_open(const char *key, struct json_object *value)
{
	json_add(key, value);
	if (depth == MAX_DEPTH)
		abort();
	stack[depth++] = value;
}

static void json_close(void)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE;

	if (--depth)
		return;
	if (conf.pretty)
		flags |= JSON_C_TO_STRING_PRETTY;
	puts(json_object_to_json_string_ext(stack[0], flags));
	json_object_put(stack[0]);
}

/* Discard collected JSON: an error message is printed instead. */
void pr_drop(void)
{
	if (depth)
		json_object_put(stack[0]);
	depth = 0;
}

void pr_open_array(const char *key)
{
	if (conf.json)
		json_open(key, json_object_new_array());
}

void pr_close_array(void)
{
	if (conf.json)
		json_close();
}

void pr_open_object(const char *key)
{
	if (conf.json)
		json_open(key, json_object_new_object());
}

void pr_close_object(void)
{
	if (conf.json)
		json_close();
}

static void text_item(const char *label)
{
	if (!line_begins)
		putchar(' ');
	line_begins = false;
	if (*label)
		printf("%s ", label);
}

void pr_uint(const char *key, const char *label, uint64_t value)
{
	if (conf.json) {
		json_add(key, json_object_new_uint64(value));
	} else if (label) {
		text_item(label);
		printf("%" PRIu64, value);
	}
}

void pr_hex(const char *key, const char *label, uint64_t value, int digits)
{
	if (conf.json) {
		json_add(key, json_object_new_uint64(value));
	} else if (label) {
		text_item(label);
		printf("0x%0*" PRIx64, digits, value);
	}
}

/* Print a value with its unit in text, as a plain number in JSON. */
static void pr_unit(const char *key, const char *label, uint64_t value,
		    const char *(*unit)(uint64_t value, char text[UNIT_LEN]))
{
	char text[UNIT_LEN];

	if (conf.json)
		pr_uint(key, label, value);
	else
		pr_string(key, label, unit(value, text));
}

void pr_size(const char *key, const char *label, uint64_t bytes)
{
	pr_unit(key, label, bytes, unit_size);
}

void pr_msec(const char *key, const char *label, uint64_t ms)
{
	pr_unit(key, label, ms, unit_time);
}

void pr_bool(const char *key, const char *label, bool value)
{
	if (conf.json)
		json_add(key, json_object_new_boolean(value));
	else
		pr_string(key, label, value ? "yes" : "no");
}

void pr_string(const char *key, const char *label, const char *value)
{
	if (conf.json) {
		json_add(key, json_object_new_string(value));
	} else if (label) {
		text_item(label);
		fputs(value, stdout);
	}
}

void pr_addr(const char *key, const char *label, const struct inc_nl_addr *addr)
{
	char text[INET6_ADDRSTRLEN] = "none";

	if (addr->len)
		inet_ntop(addr->len == 4 ? AF_INET : AF_INET6, addr->bytes,
			  text, sizeof(text));
	pr_string(key, label, text);
}

/* The GID of an address; for IPv4 the mapped address (annex A17). */
void pr_gid(const char *key, const char *label, const struct inc_nl_addr *addr)
{
	struct inc_nl_addr gid = { .len = 16 };

	if (addr->len == 4) {
		gid.bytes[10] = 0xff;
		gid.bytes[11] = 0xff;
		memcpy(gid.bytes + 12, addr->bytes, 4);
		addr = &gid;
	}
	pr_addr(key, label, addr);
}

void pr_enum(const char *key, const char *label, unsigned int value,
	     const char *(*name)(unsigned int n))
{
	const char *text = name(value);

	if (text)
		pr_string(key, label, text);
	else
		pr_uint(key, label, value);
}

void pr_mask(const char *key, const char *label, uint32_t mask,
	     const char *(*name)(unsigned int n))
{
	const char *sep = "";
	unsigned int i;

	pr_open_array(key);
	if (!conf.json && label)
		text_item(label);
	for (i = 0; i < 32; i++) {
		char number[16];
		const char *text = name(i);

		if (!((mask >> i) & 1))
			continue;
		if (!text) {
			snprintf(number, sizeof(number), "bit%u", i);
			text = number;
		}
		if (conf.json)
			json_add(NULL, json_object_new_string(text));
		else if (label)
			printf("%s%s", sep, text);
		sep = ",";
	}
	if (!conf.json && label && !mask)
		fputs("none", stdout);
	pr_close_array();
}

void pr_text(const char *fmt, ...)
{
	va_list ap;

	if (conf.json)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	line_begins = false;
}

void pr_indent(void)
{
	if (conf.json)
		return;
	fputs("\n    ", stdout);
	line_begins = true;
}

void pr_endl(void)
{
	if (conf.json)
		return;
	putchar('\n');
	line_begins = true;
}
