/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Activity of tasks, switches and clients: the agents are asked each second for
 * the counters of the kernel's members. metrics.c writes them for Prometheus.
 */
#ifndef INC_MANAGER_STATS_H
#define INC_MANAGER_STATS_H

#include <stdio.h>

#include "rpc/creds.h"
#include "base/event.h"
#include "stats/member_counts.h"
#include "stats/expiry.h"
#include "stats/history.h"
#include "stats/stale.h"

#define STATS_BOUNDS	10

struct group;
struct manager;

/**
 * struct stats_histogram - distribution of values
 * @n: number of bounds
 * @bound: upper bounds
 * @count: values up to the bound of the same index, and above the one before;
 *	the last: above all bounds
 * @sum: sum of all values
 */
struct stats_histogram {
	unsigned int	n;
	double		bound[STATS_BOUNDS];
	uint64_t	count[STATS_BOUNDS + 1];
	double		sum;
};

/**
 * struct stats_switch - last answer of a switch's agent
 * @asks: pending requests
 * @previous: counters of the last round
 */
struct stats_switch {
	unsigned int	asks;
	struct member_counts	previous;
};

/**
 * struct stats_watch - registration for a call each second
 * @entry: node among all registrations
 * @tick: called when there are new samples
 */
struct stats_watch {
	LIST_ENTRY(stats_watch)	entry;
	void			(*tick)(struct stats_watch *w);
};

LIST_HEAD(stats_watches, stats_watch);

/**
 * struct stats - all statistics
 * @m: manager
 * @history: objects
 * @expiry: certificates
 * @stale: files of credentials that are not in force
 * @switches: last answers, for each switch of the manager
 * @sample_at: milliseconds; when samples are taken next
 * @sampled_at: milliseconds; when samples were taken last
 * @listener: hears of groups
 * @watches: called each second
 * @size: ranks of the groups that became ready
 * @levels: levels of their trees
 * @ready: seconds until they were ready
 * @refused: groups that were refused
 * @lost: ranks that were lost
 */
struct stats {
	struct manager		*m;
	struct history		history;
	struct expiry		expiry;
	struct stale		stale;
	struct stats_switch	*switches;
	int64_t			sample_at;
	int64_t			sampled_at;
	struct event_listener	listener;
	struct stats_watches	watches;
	struct stats_histogram	size;
	struct stats_histogram	levels;
	struct stats_histogram	ready;
	uint64_t		refused;
	uint64_t		lost;
};

struct stats *stats_start(struct manager *m);
void stats_stop(struct stats *st);
void stats_group_ends(struct group *g);
void stats_forget_switch(struct stats *st, const struct sw *sw);
void stats_expire(struct stats *st);
void stats_caller(void *ctx, const struct identity *who);
void stats_creds(void *ctx, enum creds_file file, const char *why);
void stats_watch(struct stats *st, struct stats_watch *w);
void stats_ignore(struct stats *st, struct stats_watch *w);

/* metrics.c */
void metrics_put_text(FILE *f, const char *text);
void stats_metrics(const struct stats *st, FILE *f);

#endif /* INC_MANAGER_STATS_H */
