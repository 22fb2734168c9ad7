// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Statistics in Prometheus' text format. A name of a group, switch or client
 * becomes a label; histograms and sums include objects that are gone.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "http2/h2.h"
#include "group/group.h"
#include "stats/stats.h"

static void put_head(FILE *f, const char *name, const char *type,
		     const char *help)
{
	fprintf(f, "# HELP inc_am_%s %s\n# TYPE inc_am_%s %s\n", name, help,
		name, type);
}

/* Write the value of a label. */
void metrics_put_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc(*text == '\n' ? ' ' : *text, f);
	}
}

static void put_label(FILE *f, const char *name, const char *value)
{
	fprintf(f, "{%s=\"", name);
	metrics_put_text(f, value);
	fputs("\"}", f);
}

static void put_labels(FILE *f, const struct series *s)
{
	if (s->kind != SERIES_TASK) {
		put_label(f, series_kind_name(s->kind), s->name);
		return;
	}
	fputs("{tenant=\"", f);
	metrics_put_text(f, s->tenant);
	fputs("\",task=\"", f);
	metrics_put_text(f, s->name);
	fputs("\"}", f);
}

static void put_histogram(FILE *f, const char *name, const char *help,
			  const struct stats_histogram *h)
{
	uint64_t sum = 0;
	unsigned int i;

	put_head(f, name, "histogram", help);
	for (i = 0; i < h->n; i++) {
		sum += h->count[i];
		fprintf(f, "inc_am_%s_bucket{le=\"%g\"} %" PRIu64 "\n", name,
			h->bound[i], sum);
	}
	sum += h->count[h->n];
	fprintf(f, "inc_am_%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, sum);
	fprintf(f, "inc_am_%s_sum %g\ninc_am_%s_count %" PRIu64 "\n", name,
		h->sum, name, sum);
}

static void put_one(FILE *f, const char *name, const char *type,
		    const char *help, uint64_t value)
{
	put_head(f, name, type, help);
	fprintf(f, "inc_am_%s %" PRIu64 "\n", name, value);
}

static uint64_t pick_count(const struct counts *c, unsigned int which)
{
	const uint64_t list[] = { c->rx, c->tx, c->messages, c->trouble };

	return list[which];
}

static void put_series(const struct stats *st, FILE *f, enum series_kind kind)
{
	static const char *const what[][2] = {
		{ "received_bytes_total", "Payload that hosts sent." },
		{ "sent_bytes_total", "Payload that hosts were sent." },
		{ "messages_total", "Requests of hosts." },
		{ "trouble_total", "Retransmissions, NAKs and errors." },
	};
	const char *label = series_kind_name(kind);
	const struct series *s;
	unsigned int k;
	char name[64];
	bool first;

	for (k = 0; k < 4; k++) {
		snprintf(name, sizeof(name), "%s_%s", label, what[k][0]);
		first = true;
		LIST_FOREACH(s, &st->history.all, next) {
			if (s->kind != kind)
				continue;
			if (first)
				put_head(f, name, "counter", what[k][1]);
			first = false;
			fprintf(f, "inc_am_%s", name);
			put_labels(f, s);
			fprintf(f, " %" PRIu64 "\n", pick_count(&s->total, k));
		}
	}
}

static void put_switches(const struct stats *st, FILE *f)
{
	static const char *const what[][2] = {
		{ "switch_up", "Whether the switch's agent answers." },
		{ "switch_drained", "Whether the switch gets no more trees." },
		{ "switch_trees", "Trees of the manager there." },
	};
	const struct sw *sw;
	unsigned int k;

	for (k = 0; k < 3; k++) {
		put_head(f, what[k][0], "gauge", what[k][1]);
		for_each_switch(&st->m->fabric, sw) {
			const unsigned int values[] = {
				sw->up, sw_closed(sw), sw->subtrees,
			};

			fprintf(f, "inc_am_%s", what[k][0]);
			put_label(f, "switch", sw_name(sw));
			fprintf(f, " %u\n", values[k]);
		}
	}
}

static void put_groups(const struct stats *st, FILE *f)
{
	uint64_t forming = 0, ready = 0, again = 0, ending = 0;
	const struct group *g;

	for (g = st->m->groups; g; g = g->next) {
		if (group_is_hidden(g))
			continue;
		ending += g->state >= GROUP_ENDING;
		ready += g->state == GROUP_READY;
		again += g->state < GROUP_ENDING && group_is_rebuilding(g);
		forming += g->state < GROUP_READY;
	}
	put_head(f, "groups", "gauge", "Groups by state.");
	fprintf(f, "inc_am_groups{state=\"forming\"} %" PRIu64 "\n", forming);
	fprintf(f, "inc_am_groups{state=\"ready\"} %" PRIu64 "\n", ready);
	fprintf(f, "inc_am_groups{state=\"rebuilding\"} %" PRIu64 "\n", again);
	fprintf(f, "inc_am_groups{state=\"ending\"} %" PRIu64 "\n", ending);
}

static uint64_t get_used(const struct use *u, enum policy_limit limit)
{
	return limit == LIMIT_GROUPS ? u->groups : u->ranks;
}

static uint64_t get_held(const struct use *u, enum policy_limit limit)
{
	return limit == LIMIT_GROUPS ? u->held_groups : u->held_ranks;
}

static void put_tenant(FILE *f, const char *name, const struct tenant *tn,
		       uint64_t value)
{
	fprintf(f, "inc_am_%s", name);
	put_label(f, "tenant", tn->name);
	fprintf(f, " %" PRIu64 "\n", value);
}

static bool is_limited(const struct tenant *tn, enum policy_limit limit)
{
	return tn->limits->max[limit] != POLICY_NO_LIMIT;
}

static void put_limits(const struct manager *m, FILE *f, const char *name,
		       enum policy_limit limit)
{
	const struct tenant *tn = m->tenants.list;

	while (tn && !is_limited(tn, limit))
		tn = tn->next;
	if (tn)
		put_head(f, name, "gauge",
			 "What the tenant may have at a time.");
	for (; tn; tn = tn->next)
		if (is_limited(tn, limit))
			put_tenant(f, name, tn, tn->limits->max[limit]);
}

static void put_quota(const struct manager *m, FILE *f, enum policy_limit limit)
{
	const char *what = limit_name(limit);
	const struct tenant *tn;
	char name[64];

	if (!m->tenants.list)
		return;
	snprintf(name, sizeof(name), "tenant_%s", what);
	put_head(f, name, "gauge", "What groups of the tenant take.");
	for (tn = m->tenants.list; tn; tn = tn->next)
		put_tenant(f, name, tn, get_used(&tn->use, limit));
	snprintf(name, sizeof(name), "tenant_%s_reserved", what);
	put_head(f, name, "gauge", "What is reserved for the tenant besides.");
	for (tn = m->tenants.list; tn; tn = tn->next)
		put_tenant(f, name, tn, get_held(&tn->use, limit));
	snprintf(name, sizeof(name), "tenant_%s_limit", what);
	put_limits(m, f, name, limit);
}

static void put_refused(const struct manager *m, FILE *f)
{
	const struct tenant *tn = m->tenants.list;

	if (tn)
		put_head(f, "tenant_refused_total", "counter",
			 "Ranks refused because of the tenant's limits.");
	for (; tn; tn = tn->next)
		put_tenant(f, "tenant_refused_total", tn, tn->refused);
}

static void put_expiry(const struct expiry *e, FILE *f)
{
	const struct certificate *c, *before = NULL;

	if (e->list)
		put_head(f, "certificate_expires_timestamp_seconds", "gauge",
			 "When a certificate, or the list of revoked ones, expires.");
	for (c = e->list; c; before = c, c = c->next) {
		/* Of a client's certificates, report only the first to expire. */
		if (before && before->holder == c->holder &&
		    !strcmp(before->name, c->name))
			continue;
		fprintf(f, "inc_am_certificate_expires_timestamp_seconds{of=\"%s\",name=\"",
			c->holder);
		metrics_put_text(f, c->name);
		fprintf(f, "\"} %" PRId64 "\n", c->expires);
	}
}

static void put_stale(const struct stats *st, FILE *f)
{
	bool first = true;
	const char *path;
	int i;

	for (i = 0; i < CREDS_FILES; i++) {
		path = stale_path(st->m, i);
		if (!path)
			continue;
		if (first)
			put_head(f, "credentials_stale", "gauge",
				 "Whether the file has changed and cannot be used.");
		first = false;
		fputs("inc_am_credentials_stale", f);
		put_label(f, "file", path);
		fprintf(f, " %d\n", st->stale.why[i][0] != '\0');
	}
}

static void put_manager(const struct manager *m, FILE *f)
{
	put_head(f, "build_info", "gauge", "Version of the manager; always 1.");
	fputs("inc_am_build_info{version=\"" AM_VERSION "\"} 1\n", f);
	put_one(f, "leader", "gauge",
		"Whether this manager leads: of several only one does.",
		m->state.phase == PHASE_ACTIVE);
}

/* --- The process ---------------------------------------------------------- */

/**
 * struct process - values of /proc/self/stat
 * @ticks: CPU time
 * @start: time of its start, in ticks since boot
 * @size: bytes of virtual memory
 * @rss: resident pages
 */
struct process {
	unsigned long long	ticks;
	unsigned long long	start;
	unsigned long long	size;
	unsigned long long	rss;
};

/* Read the numbers that follow the name, which may have any character. */
static bool read_stat(struct process *p)
{
	unsigned long long user, sys;
	char line[1024];
	const char *rest = NULL;
	FILE *f = fopen("/proc/self/stat", "re");

	if (f && fgets(line, sizeof(line), f))
		rest = strrchr(line, ')');
	if (f)
		fclose(f);
	if (!rest ||
	    sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu %llu %llu",
		   &user, &sys, &p->start, &p->size, &p->rss) != 5)
		return false;
	p->ticks = user + sys;
	return true;
}

/* Get the time of the boot, seconds since 1970; 0: unknown. */
static double boot_time(void)
{
	FILE *f = fopen("/proc/stat", "re");
	unsigned long long at = 0;
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "btime %llu", &at) == 1)
			break;
	if (f)
		fclose(f);
	return (double)at;
}

static unsigned int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	/* Without ".", "..", and the directory's own descriptor. */
	return n > 3 ? n - 3 : 0;
}

static void put_metric(FILE *f, const char *name, const char *type,
		       const char *help, double value)
{
	fprintf(f, "# HELP process_%s %s\n# TYPE process_%s %s\nprocess_%s %.15g\n",
		name, help, name, type, name, value);
}

/* Write the process's resources, by Prometheus' standard names. */
static void put_process(FILE *f)
{
	double hz = (double)sysconf(_SC_CLK_TCK);
	static double booted_at;
	struct rlimit limit;
	struct process p;

	put_metric(f, "open_fds", "gauge", "Open file descriptors.",
		   open_fds());
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		put_metric(f, "max_fds", "gauge", "How many there may be.",
			   (double)limit.rlim_cur);
	if (!read_stat(&p))
		return;
	if (booted_at <= 0)
		booted_at = boot_time();
	put_metric(f, "cpu_seconds_total", "counter",
		   "CPU time, of user and system.", (double)p.ticks / hz);
	put_metric(f, "start_time_seconds", "gauge",
		   "When the process was started, since 1970.",
		   booted_at + (double)p.start / hz);
	put_metric(f, "virtual_memory_bytes", "gauge", "Virtual memory.",
		   (double)p.size);
	put_metric(f, "resident_memory_bytes", "gauge", "Resident memory.",
		   (double)p.rss * (double)sysconf(_SC_PAGESIZE));
}

/* --- All ------------------------------------------------------------------ */

/* Write all statistics. */
void stats_metrics(const struct stats *st, FILE *f)
{
	enum series_kind kind;

	put_process(f);
	put_manager(st->m, f);
	put_expiry(&st->expiry, f);
	put_stale(st, f);
	put_quota(st->m, f, LIMIT_GROUPS);
	put_quota(st->m, f, LIMIT_RANKS);
	put_refused(st->m, f);
	put_groups(st, f);
	put_switches(st, f);
	put_one(f, "groups_refused_total", "counter", "Groups refused.",
		st->refused);
	put_one(f, "ranks_lost_total", "counter", "Ranks lost.", st->lost);
	put_one(f, "connections_cut_total", "counter",
		"Connections that were cut since they took too much.",
		h2_cuts());
	put_one(f, "handshakes_dropped_total", "counter",
		"TLS handshakes that were dropped for others', or waited in vain.",
		h2_drops());
	put_one(f, "events_total", "counter", "Events.", st->m->events.last);
	put_histogram(f, "group_ranks", "Ranks of the groups made.", &st->size);
	put_histogram(f, "tree_levels", "Levels of the trees made.",
		      &st->levels);
	put_histogram(f, "group_ready_seconds",
		      "From the last rank's request until all may begin.",
		      &st->ready);
	for (kind = 0; kind < SERIES_KINDS; kind++)
		put_series(st, f, kind);
}
