/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A rank's stream to its coordinator: am.c takes messages, again.c finds a manager
 * again that was lost.
 */
#ifndef INC_AM_CLIENT_H
#define INC_AM_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "auth/client.h"
#include "cm.h"
#include "http2/reach.h"
#include "lib/daemon/libinc-am.h"
#include "rpc/message.h"
#include "stream.h"

#define AM_NEVER	INT64_MAX

/**
 * struct am_end - how a stream has ended
 * @status: gRPC's status
 * @fault: what went wrong on the way, or FAULT_NONE
 * @text: why, printable
 */
struct am_end {
	int		status;
	enum fault	fault;
	char		text[INC_RDV_TEXT_MAX];
};

/**
 * struct am_search - search for a manager
 * @thread: does it
 * @runs: there is that thread
 * @over: it has ended
 * @stop: it is to end
 * @until: milliseconds; when it is in vain
 * @fd: connection that was made; -1: none
 * @connecting: sockets that are not connected yet
 */
struct am_search {
	pthread_t		thread;
	bool			runs;
	_Atomic bool		over;
	_Atomic bool		stop;
	int64_t			until;
	int			fd;
	struct inc_reach_sockets connecting;
};

/**
 * struct inc_am - a rank's stream
 * @pid: process that it belongs to, not its children
 * @is_manager: the coordinator is inc-amd, else inc-tool serve
 * @server: its address
 * @auth: what proves who the rank is
 * @reservation: that the rank names; empty: none
 * @others: all managers, the first one's first, or NULL; @search's while that runs
 * @several: they are
 * @ep: of a manager: tells that something of the following, or of @stream, has to be
 *	done
 * @timer: at @armed
 * @wake: @cm or @search is done
 * @lock: guards what follows
 * @stream: the stream
 * @events: of its connection, for which @ep looks: of poll()
 * @armed: milliseconds; when @timer wakes
 * @more: messages may be there of which @ep says nothing
 * @ended: there is no stream any more, and no other one will be looked for
 * @beat_ms: milliseconds between heartbeats; 0: none
 * @beat_at: when the next one is due
 * @cm: connection by RDMA CM; NULL: none
 * @joined: "joined" of the tree that it is for
 * @asked: what the rank asked for first
 * @rejoin: its last "rejoin"
 * @owed: messages that have not been answered: 1 << enum inc_rdv_type
 * @tree_id: its tree, 0: not joined yet
 * @resume_ms: for how long to look for a manager
 * @opened_at: milliseconds; when this stream was opened
 * @opened: number of streams that were opened
 * @worked: one of them was not refused
 * @lost_at: milliseconds; when the stream was lost; 0: it was not
 * @end: why it was
 * @search: for another one
 */
struct inc_am {
	pid_t			pid;
	bool			is_manager;
	char			server[INC_REACH_ADDR];
	struct auth_client	auth;
	char			reservation[AM_ID_MAX + 1];
	struct inc_reach	*others;
	bool			several;
	int			ep;
	int			timer;
	int			wake;
	pthread_mutex_t		lock;
	struct am_stream	stream;
	short			events;
	int64_t			armed;
	bool			more;
	bool			ended;
	uint32_t		beat_ms;
	int64_t			beat_at;
	struct am_cm		*cm;
	struct inc_rdv_msg	joined;
	struct inc_rdv_join	asked;
	struct inc_rdv_join	rejoin;
	uint32_t		owed;
	uint32_t		tree_id;
	uint32_t		resume_ms;
	int64_t			opened_at;
	unsigned int		opened;
	bool			worked;
	int64_t			lost_at;
	struct am_end		end;
	struct am_search	search;
};

/* again.c */
void am_note_said(struct inc_am *am, const struct inc_rdv_msg *msg);
void am_say_again(struct inc_am *am);
void am_forget_sockets(struct inc_am *am);
bool am_search_begin(struct inc_am *am);
bool am_search_is_over(const struct inc_am *am);
int am_search_end(struct inc_am *am);
void am_search_stop(struct inc_am *am);

#endif /* INC_AM_CLIENT_H */
