/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A rank's stream to its coordinator: am.c handles messages, again.c finds a new
 * manager when one is lost.
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
 * @fault: transport fault, or FAULT_NONE
 * @text: why, printable
 */
struct am_end {
	int		status;
	enum fault	fault;
	char		text[INC_RDV_TEXT_MAX];
};

/**
 * struct am_search - search for a manager
 * @thread: runs the search
 * @runs: @thread exists
 * @over: the search has ended
 * @stop: asks @thread to end
 * @until: milliseconds; when to give up
 * @fd: new connection; -1: none
 * @connecting: sockets not connected yet
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
 * @pid: owning process; its children do not own the stream
 * @is_manager: the coordinator is inc-amd, else inc-tool serve
 * @server: the coordinator's address
 * @auth: the rank's credentials
 * @reservation: name of the rank's reservation; empty: none
 * @key: the job's key, if @auth.job_key
 * @others: all managers, the first one first, or NULL; @search's while it runs
 * @several: @others has more than one manager
 * @ep: with a manager: epoll instance with @stream's connection, @timer and @wake
 * @timer: timerfd that expires at @armed
 * @wake: eventfd, written when @cm or @search is done
 * @lock: guards the members below
 * @stream: the stream
 * @events: poll() events of the connection that @ep watches for
 * @armed: milliseconds; when @timer expires
 * @more: there may be messages that @ep does not report
 * @ended: the stream has ended for good, without a search for another one
 * @beat_ms: milliseconds between heartbeats; 0: none
 * @beat_at: when the next one is due
 * @cm: connection by RDMA CM; NULL: none
 * @joined: "joined" of the tree that @cm connects to
 * @asked: the rank's "join"
 * @rejoin: the rank's last "rejoin"
 * @owed: messages without an answer yet: 1 << enum inc_rdv_type
 * @tree_id: the rank's tree, 0: not joined yet
 * @resume_ms: for how long to look for a manager
 * @opened_at: milliseconds; when @stream was opened
 * @opened: number of streams opened so far
 * @worked: a manager has accepted one of them
 * @lost_at: milliseconds; when the stream was lost; 0: not lost
 * @end: why the stream ended
 * @search: search for another manager
 */
struct inc_am {
	pid_t			pid;
	bool			is_manager;
	char			server[INC_REACH_ADDR];
	struct auth_client	auth;
	char			reservation[AM_ID_MAX + 1];
	uint8_t			key[INC_RDV_KEY_LEN];
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
