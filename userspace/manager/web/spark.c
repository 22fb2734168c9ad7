// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The last hour of tasks, switches and clients, a value for each minute: the mean
 * of what came from hosts.
 */
#include "stats/history.h"
#include "web/web.h"

#define MINUTE	60
#define MINUTES	(HISTORY_SECONDS / MINUTE)

/* NULL if there was nothing in this hour. */
static struct json_object *make_line(const struct series *s)
{
	int64_t first = s->seconds - HISTORY_SECONDS, second;
	struct json_object *line = NULL;
	const struct sample *sample;
	double mean[MINUTES] = { 0 };
	bool any = false;
	int i;

	for (second = first; second < s->seconds; second++) {
		sample = series_at(s, second);
		if (!sample || sample->rx <= 0)
			continue;
		any = true;
		mean[(second - first) / MINUTE] += sample->rx / MINUTE;
	}
	if (!any)
		return NULL;
	line = json_object_new_array();
	for (i = 0; i < MINUTES; i++)
		json_object_array_add(line,
				      json_object_new_int64((int64_t)mean[i]));
	return line;
}

static struct json_object *tenants_list(struct json_object *of,
					const char *tenant)
{
	struct json_object *list;

	if (!json_object_object_get_ex(of, tenant, &list)) {
		list = json_object_new_object();
		json_object_object_add(of, tenant, list);
	}
	return list;
}

/**
 * spark_lines() - sum up the last hour
 * @h: objects; at most HISTORY_MAX of them have a history
 *
 * Return: for each kind an object with a line, an array of bytes per second, the
 *	oldest minute first, for each name that was not idle; for tasks an object
 *	with these for each tenant.
 */
struct json_object *spark_lines(const struct history *h)
{
	struct json_object *out = json_object_new_object(), *of[SERIES_KINDS];
	struct json_object *line, *list;
	const struct series *s;
	unsigned int i;

	for (i = 0; i < SERIES_KINDS; i++) {
		of[i] = json_object_new_object();
		json_object_object_add(out, series_kind_name(i), of[i]);
	}
	for (i = 0; i < SERIES_BUCKETS; i++)
		for (s = h->bucket[i]; s; s = s->next) {
			line = s->ring ? make_line(s) : NULL;
			if (!line)
				continue;
			list = s->kind == SERIES_TASK ?
			       tenants_list(of[s->kind], s->tenant) :
			       of[s->kind];
			json_object_object_add(list, s->name, line);
		}
	return out;
}
