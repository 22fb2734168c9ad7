/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Statistics of tasks, switches and clients, and their last hour, with a sample for
 * each second. No I/O, no clock. An object with its history takes HISTORY_BYTES of
 * memory; at most HISTORY_MAX objects have one: the last ones that were counted. Of
 * the tasks that have ended, the last ENDED_MAX are kept. At these limits, the
 * owner with most loses one: a tenant's tasks do not displace a smaller tenant's.
 */
#ifndef INC_MANAGER_HISTORY_H
#define INC_MANAGER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "loop/index.h"

#define HISTORY_SECONDS	3600
#define HISTORY_MAX	1024
#define HISTORY_BYTES	(HISTORY_SECONDS * sizeof(struct sample) + \
			 sizeof(struct series))
#define ENDED_MAX	1024

enum series_kind {
	SERIES_TASK,
	SERIES_SWITCH,
	SERIES_CLIENT,
	SERIES_KINDS
};

/**
 * struct counts - counters of trees' members
 * @rx: payload from hosts, bytes
 * @tx: payload to hosts, bytes
 * @messages: requests
 * @trouble: retransmissions, NAKs, errors
 */
struct counts {
	uint64_t	rx;
	uint64_t	tx;
	uint64_t	messages;
	uint64_t	trouble;
};

/**
 * struct sample - rates
 * @rx: bytes per second
 * @tx: bytes per second
 * @messages: requests per second
 * @trouble: retransmissions, NAKs, errors per second
 */
struct sample {
	float	rx;
	float	tx;
	float	messages;
	float	trouble;
};

TAILQ_HEAD(series_list, series);
LIST_HEAD(series_owners, series_owner);

/**
 * struct series_owner - owner of objects, which share its part of the limits
 * @next: next owner
 * @kind: kind of the objects
 * @tenant: tenant, of tasks; else empty
 * @n: number of objects
 * @rings: objects with a history
 * @n_ended: tasks that have ended
 * @by_use: objects with a history, the last counted one at the end
 * @by_end: tasks that have ended, the last one at the end
 */
struct series_owner {
	LIST_ENTRY(series_owner) next;
	enum series_kind	kind;
	char			tenant[64];
	unsigned int		n;
	unsigned int		rings;
	unsigned int		n_ended;
	struct series_list	by_use;
	struct series_list	by_end;
};

/**
 * struct series - an object
 * @next: node among all objects
 * @node: node of their index
 * @owner: owner
 * @by_use: if it has a @ring: node of the owner's list
 * @by_end: if it has @ended: node of the owner's list
 * @kind: kind
 * @tenant: tenant of a task; else empty
 * @name: its name; another tenant's may have the same one
 * @total: counters since the manager first saw it
 * @sampled: part of @total that is in samples
 * @last: the last sample
 * @ring: the last hour, NULL: none; the sample of second n is at
 *	n % HISTORY_SECONDS
 * @first: second of the first sample
 * @seconds: second after the last one
 * @ended: a task that has ended
 * @used_at: second when it was last counted
 */
struct series {
	LIST_ENTRY(series) next;
	struct index_node node;
	struct series_owner *owner;
	TAILQ_ENTRY(series) by_use;
	TAILQ_ENTRY(series) by_end;
	enum series_kind kind;
	char		tenant[64];
	char		name[64];
	struct counts	total;
	struct counts	sampled;
	struct sample	last;
	struct sample	*ring;
	int64_t		first;
	int64_t		seconds;
	bool		ended;
	int64_t		used_at;
};

LIST_HEAD(series_all, series);

/**
 * struct history - all objects
 * @index: objects by kind, tenant and name
 * @all: objects
 * @n: number of objects
 * @rings: objects with a history
 * @n_ended: tasks that have ended
 * @owners: owners of the objects
 */
struct history {
	struct index	index;
	struct series_all all;
	unsigned int	n;
	unsigned int	rings;
	unsigned int	n_ended;
	struct series_owners owners;
};

void history_init(struct history *h);

struct series *history_find(const struct history *h, enum series_kind kind,
			    const char *tenant, const char *name);
struct series *history_get(struct history *h, enum series_kind kind,
			   const char *tenant, const char *name,
			   int64_t second);
void history_add(struct series *s, const struct counts *delta, int64_t second);
void history_end(struct history *h, struct series *s, bool ended);
void history_tick(struct history *h, int64_t second, double seconds);
const struct sample *series_at(const struct series *s, int64_t second);
void history_free(struct history *h);
const char *series_kind_name(enum series_kind kind);

#endif /* INC_MANAGER_HISTORY_H */
