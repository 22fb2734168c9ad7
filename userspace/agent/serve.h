/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Sessions that have logged in: their greatest number, a thread for each, and
 * their turns.
 */
#ifndef INC_AGENT_SERVE_H
#define INC_AGENT_SERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct ly_ctx;
struct nc_server_reply;
struct nc_session;
struct lyd_node;

/**
 * struct netconf_ops - callbacks of the layer above
 * @rpc: answer a request
 * @closed: a session is about to end
 * @ended: all sessions have ended, and the YANG modules are about to be freed
 *
 * Calls do not overlap.
 */
struct netconf_ops {
	struct nc_server_reply	*(*rpc)(struct lyd_node *rpc,
					struct nc_session *session);
	void			(*closed)(struct nc_session *session);
	void			(*ended)(void);
};

/**
 * struct serve_guest - owner of a session
 * @fd: socket, or -1 if libnetconf2 does not tell
 * @ours: libnetconf2 does not close @fd
 * @may_change: the owner may make changes
 * @remote: the session came by SSH or TLS
 * @name: user name
 * @host: address, if @remote
 */
struct serve_guest {
	int		fd;
	bool		ours;
	bool		may_change;
	bool		remote;
	const char	*name;
	const char	*host;
};

/**
 * struct serve_count - the counters of RFC 6022
 * @rpcs: requests
 * @bad_rpcs: messages that were no requests
 * @errors: replies with an error
 * @notifications: notifications sent
 */
struct serve_count {
	_Atomic uint32_t	rpcs;
	_Atomic uint32_t	bad_rpcs;
	_Atomic uint32_t	errors;
	_Atomic uint32_t	notifications;
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

void serve_init(const struct ly_ctx *ctx, const struct netconf_ops *ops,
		unsigned int max);
void serve_keep_places(void);
bool serve_admit(const struct serve_guest *g);
void serve_dismiss(void);
void serve_begin(struct nc_session *s, const struct serve_guest *g);
void serve_check(uint64_t now);
void serve_notified(const struct nc_session *s);
void serve_each(void (*each)(const struct nc_session *s, const char *host,
			     const struct serve_count *count, void *arg),
		void *arg, struct serve_totals *totals);
void serve_stop(void);

/* For the layers above. */
bool netconf_may_change(const struct nc_session *s);
int netconf_kill(uint32_t id, uint32_t by);
void netconf_wake(const struct nc_session *s);
void netconf_lock(void);
void netconf_unlock(void);

#endif /* INC_AGENT_SERVE_H */
