// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Reads numbers, addresses and lists. The kernel checks ranges; here a number
 * only has to fit into its field.
 */
#include "common.h"

#include <arpa/inet.h>
#include <ctype.h>

#include "conf/unit.h"
#include "nl/nl-schema.h"
#include "parse.h"
#include "tool.h"

static uint64_t max_of(size_t size)
{
	return size < 8 ? (1ULL << (8 * size)) - 1 : UINT64_MAX;
}

static int bad_value(const struct keyword *k, const char *text)
{
	return tool_fail("%s: \"%s\" is wrong: it takes %s", k->name, text,
			 k->takes);
}

int parse_uint(const struct keyword *k, const char *text, void *dst)
{
	uint64_t v;

	if (!unit_number(text, max_of(k->size), &v))
		return bad_value(k, text);
	nl_store(dst, k->size, v);
	return TOOL_OK;
}

/* Parse milliseconds, or a number with a unit: "4", "4ms", "2s" or "1m". */
int parse_msec(const struct keyword *k, const char *text, void *dst)
{
	uint64_t ms;

	if (!unit_msec(text, 1, &ms) || ms > max_of(k->size))
		return bad_value(k, text);
	nl_store(dst, k->size, ms);
	return TOOL_OK;
}

static bool find_bit(const struct keyword *k, const char *word, size_t len,
		     uint32_t *bit)
{
	const char *name;
	unsigned int i;

	for (i = 0; (name = k->name_of(i)); i++) {
		if (strlen(name) == len && !strncmp(name, word, len)) {
			*bit = 1U << i;
			return true;
		}
	}
	return false;
}

static int unknown_bit(const struct keyword *k, const char *word, size_t len)
{
	char list[256] = "";
	const char *name;
	unsigned int i;

	for (i = 0; (name = k->name_of(i)); i++) {
		size_t n = strlen(list);

		snprintf(list + n, sizeof(list) - n, "%s%s", n ? "," : "",
			 name);
	}
	return tool_fail("%s: \"%.*s\" is unknown: it takes some of %s",
			 k->name, (int)len, word, list);
}

/* Parse names separated by commas, or the mask as a number. */
int parse_mask(const struct keyword *k, const char *text, void *dst)
{
	const char *word = text;
	uint32_t mask = 0, bit;
	uint64_t v;

	if (isdigit((unsigned char)*text)) {
		if (!unit_number(text, UINT32_MAX, &v))
			return bad_value(k, text);
		nl_store(dst, k->size, v);
		return TOOL_OK;
	}
	for (;;) {
		size_t len = strcspn(word, ",");

		if (!find_bit(k, word, len, &bit))
			return unknown_bit(k, word, len);
		mask |= bit;
		if (!word[len])
			break;
		word += len + 1;
	}
	nl_store(dst, k->size, mask);
	return TOOL_OK;
}

/* Parse a name. */
int parse_enum(const struct keyword *k, const char *text, void *dst)
{
	const char *name;
	unsigned int i;

	for (i = 0; (name = k->name_of(i)); i++) {
		if (!strcmp(name, text)) {
			nl_store(dst, k->size, i);
			return TOOL_OK;
		}
	}
	return bad_value(k, text);
}

/* Parse numbers separated by commas; the count precedes the list. */
int parse_list(const struct keyword *k, const char *text, void *dst)
{
	uint16_t *list = dst, n = 0;
	const char *word = text;

	for (;;) {
		size_t len = strcspn(word, ",");
		char number[8];
		uint64_t v;

		snprintf(number, sizeof(number), "%.*s", (int)len, word);
		if (len >= sizeof(number) || n >= k->size / sizeof(*list) ||
		    !unit_number(number, UINT16_MAX, &v))
			return bad_value(k, text);
		list[n++] = (uint16_t)v;
		if (!word[len])
			break;
		word += len + 1;
	}
	list[-1] = n;
	return TOOL_OK;
}

int parse_addr(const struct keyword *k, const char *text, void *dst)
{
	struct inc_nl_addr *addr = dst;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, addr->bytes) == 1)
		addr->len = 4;
	else if (inet_pton(AF_INET6, text, addr->bytes) == 1)
		addr->len = 16;
	else
		return bad_value(k, text);
	return TOOL_OK;
}

static const struct keyword *find_keyword(const struct keyword *table,
					  const char *word)
{
	const struct keyword *k;

	for (k = table; k->name; k++) {
		if (!strcmp(k->name, word) ||
		    (k->alias && !strcmp(k->alias, word)))
			return k;
	}
	return NULL;
}

static int unknown_keyword(const struct keyword *table, const char *what,
			   const char *word)
{
	const struct keyword *k;
	char list[256] = "";

	for (k = table; k->name; k++) {
		size_t len = strlen(list);

		snprintf(list + len, sizeof(list) - len, "%s%s",
			 len ? ", " : "", k->name);
	}
	return tool_fail("%s: \"%s\" is unknown: it takes %s", what, word,
			 list);
}

/*
 * Read keywords and their values. Returns the exit status, after a message if
 * it is not TOOL_OK.
 * @table: the keywords, ended by one without a name
 * @req: the request, which begins with its uint64_t has
 */
int parse_keywords(const struct keyword *table, const char *what, void *req,
		   int argc, char **argv)
{
	uint64_t has;

	for (; argc > 0; argc -= 2, argv += 2) {
		const struct keyword *k = find_keyword(table, argv[0]);
		int rc;

		if (!k)
			return unknown_keyword(table, what, argv[0]);
		if (argc < 2)
			return tool_fail("%s: \"%s\" lacks its value: it takes %s",
					 what, argv[0], k->takes);
		memcpy(&has, req, sizeof(has));
		if ((has >> k->attr) & 1)
			return tool_fail("%s: \"%s\" is there twice", what,
					 argv[0]);
		rc = k->parse(k, argv[1], (char *)req + k->off);
		if (rc)
			return rc;
		has |= 1ULL << k->attr;
		memcpy(req, &has, sizeof(has));
	}
	return TOOL_OK;
}

/*
 * Read a request, and connect to the kernel. Returns the exit status, after a
 * message if it is not TOOL_OK. If it is, tool_nl() has the connection.
 * @req: the request, which begins with its uint64_t has
 * @n: number of required keywords, which come first in the table
 */
int parse_request(const struct keyword *table, const char *what, void *req,
		  unsigned int n, int argc, char **argv)
{
	int rc = parse_keywords(table, what, req, argc, argv);

	if (!rc)
		rc = parse_required(table, what, req, n);
	return rc ? rc : tool_nl() ? TOOL_OK : TOOL_FAILED;
}

/*
 * Check that required keywords are present. Returns the exit status, after a
 * message if it is not TOOL_OK.
 * @req: the request that parse_keywords() has filled in
 * @n: number of required keywords, which come first in the table
 */
int parse_required(const struct keyword *table, const char *what,
		   const void *req, unsigned int n)
{
	unsigned int i;
	uint64_t has;

	memcpy(&has, req, sizeof(has));
	for (i = 0; i < n; i++) {
		if (!((has >> table[i].attr) & 1))
			return tool_fail("%s: %s is missing", what,
					 table[i].name);
	}
	return TOOL_OK;
}
