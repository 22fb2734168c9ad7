// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Records of a store, and its messages.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/db.h"

/*
 * Make a record for a list. Returns the record, or NULL.
 * @data: bytes, which are copied
 */
struct store_record *store_record_new(const char *key, const void *data,
				      size_t len)
{
	struct store_record *r = calloc(1, sizeof(*r));

	if (r)
		r->data = malloc(len + 1);
	if (!r || !r->data) {
		free(r);
		return NULL;
	}
	if (len)
		memcpy(r->data, data, len);
	/* The terminator lets text be used as a string. */
	r->data[len] = '\0';
	r->len = len;
	snprintf(r->key, sizeof(r->key), "%s", key);
	return r;
}

/*
 * Free records.
 * @list: the first one, or NULL
 */
void store_list_free(struct store_record *list)
{
	struct store_record *next;

	for (; list; list = next) {
		next = list->next;
		free(list->data);
		free(list);
	}
}

/* Write an error message. Returns @ret. */
int store_failed(char *err, int ret, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, STORE_ERROR_LEN, fmt, ap);
	va_end(ap);
	return ret;
}
