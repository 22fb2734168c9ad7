/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Sessions that have logged in: their greatest number, a thread for each, and
 * their turns.
 */
#ifndef INC_AGENT_SERVE_H
#define INC_AGENT_SERVE_H

#include "session.h"

/**
 * struct netconf_ops - what the layer above does
 * @rpc: answer a request
 * @news: send a session its notifications, if there are any; 0 or -errno
 * @closed: a session is about to end
 * @ended: all sessions have, and the YANG modules are about to go
 *
 * Calls do not overlap, except for calls of @news.
 */
struct netconf_ops {
	void	(*rpc)(struct request *q);
	int	(*news)(struct session *s);
	void	(*closed)(struct session *s);
	void	(*ended)(struct agent *a);
};

/**
 * struct serve_totals - totals of all sessions, ended ones included
 * @since: when the agent started, in seconds since 1970
 * @sessions: number of sessions that have begun
 * @count: counters
 */
struct serve_totals {
	time_t			since;
	uint32_t		sessions;
	struct serve_count	count;
};

int serve_init(struct agent *a, const struct netconf_ops *ops, unsigned int max);
void serve_keep_places(struct agent *a);
bool serve_admit(struct session *s);
void serve_dismiss(struct agent *a);
uint32_t serve_number(struct agent *a);
void serve_run(struct session *s);
void serve_check(struct agent *a, int64_t now);
void serve_notified(struct session *s);
void serve_each(struct agent *a,
		void (*each)(const struct session *s, void *arg), void *arg,
		struct serve_totals *totals);
void serve_stop(struct agent *a);
void serve_free(struct agent *a);

/* For the layers above. */
int netconf_kill(struct agent *a, uint32_t id);
void netconf_wake(struct session *s);
void netconf_lock(struct agent *a);
void netconf_unlock(struct agent *a);

#endif /* INC_AGENT_SERVE_H */
