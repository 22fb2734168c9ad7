// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See client.h. PREFIX is INC_AM or INC_SERVER: PREFIX_CERTS names a directory
 * with ca.pem, cert.pem, key.pem; PREFIX_CA, PREFIX_CERT, PREFIX_KEY name the
 * files one by one; PREFIX_TOKEN is a token, PREFIX_TOKEN_FILE a file with one.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/client.h"
#include "conf/open.h"

#define FILE_MAX	(1U << 20)
#define TOKEN_MAX	4096

/* A set-user-ID program must not take files from its caller. */
static const char *get_env(const char *prefix, const char *name)
{
	const char *value;
	char both[64];

	snprintf(both, sizeof(both), "%s_%s", prefix, name);
	value = secure_getenv(both);
	return value && *value ? value : NULL;
}

/* Returns the file that a variable names, else the one in the directory. */
static char *file_of(const char *prefix, const char *name, const char *file,
		     bool must)
{
	const char *value = get_env(prefix, name),
	*dir = get_env(prefix, "CERTS");
	char *path;

	if (value)
		return strdup(value);
	if (!dir || asprintf(&path, "%s/%s", dir, file) < 0)
		return NULL;
	if (must || !access(path, F_OK))
		return path;
	free(path);
	return NULL;
}

/*
 * Read a small file. Returns its text, to be freed, or NULL.
 * @err_len: size of @err in bytes
 */
char *inc_auth_file(const char *path, char *err, size_t err_len)
{
	const char *why = "no memory";
	FILE *f = inc_open(path, &why);
	char *text = f ? calloc(1, FILE_MAX + 1) : NULL;
	size_t n = text ? fread(text, 1, FILE_MAX, f) : 0;

	/* Part of a file would be another file. */
	if (!n || n == FILE_MAX || ferror(f)) {
		if (text)
			why = ferror(f) ? strerror(errno) : n ? "is too long" :
			      "is empty";
		snprintf(err, err_len, "%s: %s", path, why);
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

static int read_token(struct auth_client *a, const char *prefix, char *err,
		      size_t err_len)
{
	const char *token = get_env(prefix, "TOKEN");
	const char *path = get_env(prefix, "TOKEN_FILE");
	size_t i;

	if (token)
		a->token = strdup(token);
	else if (path)
		a->token = inc_auth_file(path, err, err_len);
	else
		return 0;
	if (!a->token)
		return -ENOENT;
	a->token[strcspn(a->token, "\r\n")] = '\0';
	for (i = 0; a->token[i] > ' ' && a->token[i] <= '~'; i++)
		;
	if (i && !a->token[i] && i <= TOKEN_MAX)
		return 0;
	snprintf(err, err_len, "%s%s: a token has 1 to %d printable ASCII characters, without spaces",
		 token ? prefix : path, token ? "_TOKEN" : "", TOKEN_MAX);
	return -EINVAL;
}

/*
 * Read a client's credentials.
 * @err_len: size of @err in bytes
 */
int inc_auth_read(struct auth_client *a, const char *prefix, char *err,
		  size_t err_len)
{
	*a = (struct auth_client) {
		.prefix	= prefix,
		.ca	= file_of(prefix, "CA", "ca.pem", true),
		.cert	= file_of(prefix, "CERT", "cert.pem", false),
		.key	= file_of(prefix, "KEY", "key.pem", false),
	};
	if (!a->cert != !a->key || (a->cert && !a->ca)) {
		snprintf(err, err_len, "a client's certificate (%s_CERT) needs its private key (%s_KEY) and the authority's certificate (%s_CA)",
			 prefix, prefix, prefix);
		return -EINVAL;
	}
	return read_token(a, prefix, err, err_len);
}

/* Free a client's credentials. */
void inc_auth_free(struct auth_client *a)
{
	free(a->ca);
	free(a->cert);
	free(a->key);
	if (a->token)
		explicit_bzero(a->token, strlen(a->token));
	free(a->token);
	*a = (struct auth_client) { NULL };
}
