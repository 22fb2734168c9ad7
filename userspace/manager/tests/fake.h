/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What fuzz_manager puts in place of the world: gRPC's core with its clients, the
 * agents, the database and the clock. All of it is in one thread, and what is
 * done next is the fuzzer's choice.
 */
#ifndef INC_MANAGER_TESTS_FAKE_H
#define INC_MANAGER_TESTS_FAKE_H

#include <grpc/grpc.h>

#include "manager.h"

#define FAKE_SWITCHES	3	/* at the start; the last is above the others */
#define FAKE_AGENTS	5	/* of them the last three */
#define FAKE_HOSTS	4	/* at each leaf */

uint32_t fuzz_any(uint32_t n);
_Noreturn void fuzz_wrong(const char *what);

/* --- fake_grpc.c --------------------------------------------------------- */

/**
 * struct pending - a batch that the server has started
 * @tag: its tag, NULL: none
 * @buf: if it receives a message: where that goes
 * @cancelled: if it waits for the end: where the result goes
 * @status: it sends the status
 */
struct pending {
	void			*tag;
	grpc_byte_buffer	**buf;
	int			*cancelled;
	bool			status;
};

/**
 * struct grpc_call - a call, with the client's side of it
 * @next: next call
 * @path: method
 * @who: who calls
 * @peer: from where
 * @join: of a rank: what it asked for; the job is empty: nothing yet
 * @tree_id: tree that it was told
 * @round: round that it was told
 * @inbox: messages on their way to the server, the oldest first
 * @n: their number
 * @half: the client says no more
 * @cancelled: the client, or the server, has cancelled it
 * @deaf: the client does not read
 * @over: the status was sent
 * @read: batch
 * @write: batch
 * @close: batch
 */
struct grpc_call {
	struct grpc_call	*next;
	const char		*path;
	struct identity		who;
	char			peer[48];
	struct inc_rdv_join	join;
	uint32_t		tree_id;
	uint32_t		round;
	grpc_byte_buffer	*inbox[8];
	unsigned int		n;
	bool			half;
	bool			cancelled;
	bool			deaf;
	bool			over;
	struct pending		read;
	struct pending		write;
	struct pending		close;
};

struct grpc_call *fake_call(const char *path, const struct identity *who,
			    const struct inc_rdv_addr *from);
struct grpc_call *fake_calls(void);
bool fake_send(struct grpc_call *call, const void *data, size_t len);
bool fake_complete(void);

/* --- fake_fabric.c ------------------------------------------------------- */

void fake_host(struct inc_rdv_addr *addr, uint32_t host);
bool fake_run(void);
const char *fake_address(unsigned int sw);
void fake_break(unsigned int sw, bool broken);
void fake_news(struct manager *m);
void fake_fabric_free(void);

/* --- fake_store.c -------------------------------------------------------- */

bool fake_store_run(void);
void fake_store_lead(bool leads);
void fake_store_free(void);

#endif /* INC_MANAGER_TESTS_FAKE_H */
