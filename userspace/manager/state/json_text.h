/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Texts of the store's records, which are JSON. */
#ifndef INC_MANAGER_STATE_JSON_TEXT_H
#define INC_MANAGER_STATE_JSON_TEXT_H

#include <string.h>

#include <json-c/json.h>

static inline void put_text(struct json_object *o, const char *name,
			    const char *text)
{
	json_object_object_add(o, name, json_object_new_string(text));
}

/* Missing members are empty: an older manager may have written the record. */
static inline const char *text_of(struct json_object *o, const char *name)
{
	const char *text = json_object_get_string(json_object_object_get(o,
									 name));

	return text ? text : "";
}

/* Get the text of a record, to be freed; NULL without memory. Frees @o. */
static inline char *end_text(struct json_object *o)
{
	char *text = strdup(json_object_to_json_string_ext(o,
			JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));

	json_object_put(o);
	return text;
}

#endif
