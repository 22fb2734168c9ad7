/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What fuzz_manager puts in place of the world: the gRPC server with its clients, the
 * agents, the database and the clock. All of it is in one thread, and what is
 * done next is the fuzzer's choice.
 */
#ifndef INC_MANAGER_TESTS_FAKE_H
#define INC_MANAGER_TESTS_FAKE_H

#include "manager.h"

#define FAKE_SWITCHES	3	/* at the start; the last is above the others */
#define FAKE_AGENTS	5	/* of them the last three */
#define FAKE_HOSTS	4	/* at each leaf */

uint32_t fuzz_any(uint32_t n);
_Noreturn void fuzz_wrong(const char *what);

/* --- fake_manager.c ------------------------------------------------------ */

extern struct manager fake_manager;
extern int64_t fake_ms;

void fake_start(const char *limits, bool store, uint32_t beat_ms);
void fake_settle(void);
void fake_stop(void);
bool fake_work(void);
struct group *fake_any_group(void);

/* --- fake_rpc.c ---------------------------------------------------------- */

#define FAKE_INBOX	8

struct fake_message {
	uint8_t	*data;
	size_t	len;
};

/**
 * struct rpc_stream - a call, with the client's side of it
 * @next: next call
 * @path: method
 * @method: likewise; RPC_METHODS: a rank's stream; -1: unknown
 * @who: who calls
 * @peer: from where
 * @join: of a rank: what it asked for; the job is empty: nothing yet
 * @tree_id: tree that it was told
 * @round: round that it was told
 * @inbox: messages on their way to the server, the oldest first
 * @n: their number
 * @half_closed: the client says no more
 * @cancelled: the client has cancelled it
 * @not_reading: the client does not read
 * @known: the manager knows it
 * @asked: it has had its request
 * @half_known: the manager knows of @half_closed
 * @finished: the manager has ended it, or knows that it has ended
 * @ending: it has ended it
 * @refused: it was refused
 * @fresh: its headers are on their way
 * @sent: messages that are
 * @beat_at: rpc_stream_beat_at()
 * @user: rpc_stream_set()
 * @watch: rpc_stream_watch()
 */
struct rpc_stream {
	struct rpc_stream	*next;
	const char		*path;
	int			method;
	struct identity		who;
	char			peer[48];
	struct inc_rdv_join	join;
	uint32_t		tree_id;
	uint32_t		round;
	struct fake_message	inbox[FAKE_INBOX];
	unsigned int		n;
	bool			half_closed;
	bool			cancelled;
	bool			not_reading;
	bool			known;
	bool			asked;
	bool			half_known;
	bool			finished;
	bool			ending;
	bool			refused;
	bool			fresh;
	unsigned int		sent;
	int64_t			beat_at;
	void			*user;
	struct rpc_watch	*watch;
};

struct rpc_stream *fake_call(const char *path, const struct identity *who,
			     const struct inc_rdv_addr *from);
struct rpc_stream *fake_calls(void);
bool fake_send(struct rpc_stream *call, const void *data, size_t len);
bool fake_complete(void);

/* --- fake_fabric.c ------------------------------------------------------- */

void fake_host(struct inc_rdv_addr *addr, uint32_t host);
bool fake_run(void);
const char *fake_address(unsigned int sw);
void fake_break(unsigned int sw, bool broken);
void fake_refuse(int err);
void fake_unroute(bool none);
void fake_forget(unsigned int sw, uint32_t id);
void fake_news(struct manager *m);
void fake_fabric_free(void);

/* --- fake_store.c -------------------------------------------------------- */

bool fake_store_run(void);
void fake_store_lead(bool leads);
void fake_store_free(void);

#endif /* INC_MANAGER_TESTS_FAKE_H */
