// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Which links are up, and which are gone, for Prometheus. */
#include <stdio.h>

#include "manager.h"
#include "state/json_text.h"
#include "stats/stats.h"
#include "web/web.h"

static void put_label(FILE *f, struct json_object *link, const char *label,
		      const char *key)
{
	fprintf(f, "%s=\"", label);
	metrics_put_text(f, text_of(link, key));
	fputc('"', f);
}

/**
 * cuts_metrics() - write which links are there, for Prometheus
 * @m: manager, after known_look()
 * @f: where to
 */
void cuts_metrics(const struct manager *m, FILE *f)
{
	struct json_object *cut;

	if (json_object_object_length(m->links))
		fputs("# HELP inc_am_link_up Whether a link between switches that was there is there.\n# TYPE inc_am_link_up gauge\n",
		      f);
	json_object_object_foreach(m->links, name, link) {
		(void)name;
		fputs("inc_am_link_up{", f);
		put_label(f, link, "switch", "from-switch");
		put_label(f, link, ",interface", "from-interface");
		put_label(f, link, ",peer_switch", "to-switch");
		put_label(f, link, ",peer_interface", "to-interface");
		cut = json_object_object_get(link, "cut");
		fprintf(f, "} %d\n", !json_object_get_boolean(cut));
	}
}
