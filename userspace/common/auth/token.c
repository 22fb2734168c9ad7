// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A file of tokens has one token per line: NAME TENANT ROLE DIGEST. TENANT "-"
 * means none; DIGEST is the token's SHA-256 in hexadecimal. A reader of the
 * file cannot log in with it: tokens are random and long.
 */
#include <errno.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/array.h"
#include "conf/open.h"
#include "conf/text.h"
#include "auth/token.h"

#define FILE_MAX	(4U << 20)	/* bytes; some 30,000 tokens */

struct token {
	struct identity	id;
	uint8_t		digest[SHA256_DIGEST_LENGTH];
};

/**
 * struct tokens - tokens of a file
 * @n: number of tokens
 * @list: tokens, sorted by digest
 */
struct tokens {
	size_t		n;
	struct token	*list;
};

/* Returns 0, as for an empty line, -EINVAL or -ENOMEM. */
static int take_line(struct tokens *t, char *line, char *err, size_t err_len)
{
	char *rest, *word[5] = { NULL };
	int n = 0;

	line[strcspn(line, "#")] = '\0';
	for (word[0] = strtok_r(line, " \t\r", &rest); word[n] && n < 4;
	     word[n] = strtok_r(NULL, " \t\r", &rest))
		n++;
	if (!n)
		return 0;
	if (n != 4 || word[4]) {
		snprintf(err, err_len, "must be NAME TENANT ROLE DIGEST");
		return -EINVAL;
	}
	if (!ARRAY_ROOM(t->list, t->n)) {
		snprintf(err, err_len, "no memory");
		return -ENOMEM;
	}
	if (identity_set(&t->list[t->n].id, word[0],
			 strcmp(word[1], "-") ? word[1] : "", word[2], err,
			 err_len))
		return -EINVAL;
	if (!text_hex_take(word[3], t->list[t->n].digest, SHA256_DIGEST_LENGTH)) {
		snprintf(err, err_len, "the digest must have 64 digits, 0-9 and a-f (\"inc-am-ca token\" makes such lines)");
		return -EINVAL;
	}
	memcpy(&t->list[t->n].id.token, t->list[t->n].digest,
	       sizeof(t->list[t->n].id.token));
	t->n++;
	return 0;
}

static int compare_digests(const void *a, const void *b)
{
	const struct token *x = a, *y = b;

	return memcmp(x->digest, y->digest, sizeof(x->digest));
}

/*
 * Parse a file of tokens. Returns 0; -EINVAL: some lines are wrong, and @tokens
 * has all others, as a wrong line must not keep removed tokens valid; -ENOMEM:
 * @tokens is NULL.
 * @err_len: size of @err in bytes
 */
int tokens_parse(struct tokens **tokens, const char *text, size_t len,
		 char *err, size_t err_len)
{
	struct tokens *t = calloc(1, sizeof(*t));
	char *copy = malloc(len + 1), *line, *end, why[160];
	unsigned int n = 0;
	int ret = 0, line_ret;

	*tokens = NULL;
	if (!t || !copy) {
		free(t);
		free(copy);
		snprintf(err, err_len, "no memory");
		return -ENOMEM;
	}
	memcpy(copy, text, len);
	copy[len] = '\0';
	for (line = copy; line < copy + len; line = end + 1) {
		end = memchr(line, '\n', (size_t)(copy + len - line));
		end = end ? end : copy + len;
		*end = '\0';
		n++;
		snprintf(why, sizeof(why), "has a zero byte");
		line_ret = strlen(line) == (size_t)(end - line) ?
			   take_line(t, line, why, sizeof(why)) : -EINVAL;
		if (!ret && line_ret)
			snprintf(err, err_len, "line %u: %s", n, why);
		ret = line_ret == -ENOMEM || !ret ? line_ret : ret;
		if (ret == -ENOMEM)
			break;
	}
	free(copy);
	if (ret == -ENOMEM) {
		tokens_free(t);
		return ret;
	}
	if (t->n)
		qsort(t->list, t->n, sizeof(*t->list), compare_digests);
	*tokens = t;
	return ret;
}

/* A file that cannot be read is not a file without tokens. */
static int read_open(struct tokens **tokens, FILE *f, size_t size, char *err,
		     size_t err_len)
{
	char *text = malloc(size + 1);
	size_t len = text ? fread(text, 1, size, f) : 0;
	int ret;

	if (!text || ferror(f)) {
		ret = -errno;
		snprintf(err, err_len, "%s", strerror(errno));
	} else {
		ret = tokens_parse(tokens, text, len, err, err_len);
	}
	free(text);
	return ret;
}

/*
 * Read a file of tokens. Returns as tokens_parse(), or another error without
 * tokens if the file cannot be read.
 * @err_len: size of @err in bytes
 */
int tokens_read(struct tokens **tokens, const char *path, char *err,
		size_t err_len)
{
	const char *why;
	FILE *f = inc_open(path, &why);
	struct stat st = { .st_size = 0 };
	int ret;

	*tokens = NULL;
	if (!f) {
		snprintf(err, err_len, "%s", why);
		return -EINVAL;
	}
	fstat(fileno(f), &st);
	if (st.st_mode & 022 || st.st_size > FILE_MAX) {
		snprintf(err, err_len, st.st_mode & 022 ?
			 "others may write to it: use chmod go-w" :
			 "it is longer than 4 MiB");
		fclose(f);
		return -EPERM;
	}
	ret = read_open(tokens, f, (size_t)st.st_size, err, err_len);
	fclose(f);
	return ret;
}

/*
 * Find the identity of a token. The time it takes tells something about
 * digests, but tokens cannot be derived from these. Returns whether the token
 * exists.
 */
bool tokens_find(const struct tokens *tokens, const char *secret, size_t len,
		 struct identity *id)
{
	struct token key, *found;

	SHA256((const unsigned char *)secret, len, key.digest);
	found = tokens->n ? bsearch(&key, tokens->list, tokens->n, sizeof(key),
				    compare_digests) : NULL;
	if (found)
		*id = found->id;
	return found;
}

/*
 * Ask whether a token is still valid, with the same tenant. Returns true if so.
 * @id: identity from tokens_find(), of this file or an earlier version
 */
bool tokens_have(const struct tokens *tokens, const struct identity *id)
{
	size_t low = 0, high = tokens->n, mid;
	int order;

	/* identity.token begins the digest, so the order is the same. */
	while (low < high) {
		mid = low + (high - low) / 2;
		order = memcmp(tokens->list[mid].digest, &id->token,
			       sizeof(id->token));
		if (!order)
			return !strcmp(tokens->list[mid].id.tenant, id->tenant);
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

/* Free tokens. */
void tokens_free(struct tokens *tokens)
{
	if (!tokens)
		return;
	free(tokens->list);
	free(tokens);
}
