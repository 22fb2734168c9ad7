/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A switch in the test's process: fake verbs functions take what is posted and
 * deliver what the test wants. The tree has one rank, so the result of a
 * message is its data.
 */
#ifndef INC_LIB_FAKE_H
#define INC_LIB_FAKE_H

#include "comm/comm.h"
#include "test.h"

#define WINDOW		4
#define SLOTS		8
#define MSG_SIZE	256
#define DATA		(MSG_SIZE - INC_HDR_LEN)
#define MAX_FLIGHT	64
#define MAX_MRS		2048
#define RKEY		0x1234

/* A message: what it says, and where its data is. */
struct sent {
	struct inc_hdr	hdr;
	uint32_t	imm;
	const char	*data;
	size_t		len;
};

/* The switch, and the host's queues. */
struct fake {
	struct sent	flight[MAX_FLIGHT];	/* sent and not answered */
	unsigned int	n;
	unsigned int	most;			/* most at once */
	unsigned int	sent;
	unsigned int	header_only;
	uint32_t	imms[MAX_FLIGHT];	/* in the receive queue */
	unsigned int	nimms;
	enum ibv_wc_status wc_status;
	enum ibv_wc_status cause;		/* sending ends with ... */
	unsigned int	cause_after;		/* ... after so many polls */
	uint64_t	signaled[MAX_FLIGHT];	/* completions of sends */
	unsigned int	nsignaled;
	bool		hold_sends;		/* no completions of sends */
	bool		reverse;		/* answer the latest first */
	unsigned int	status_for;		/* message that gets ... */
	unsigned int	status;			/* ... this status */
	int		post_error;
	unsigned int	sleeps;
	unsigned int	armed, send_armed;
	unsigned int	recvs;
	int		mrs;
	struct ibv_mr	*mr[MAX_MRS];		/* by R_Key, lowest first */
	uint64_t	iova[MAX_MRS];
	int		refuse;			/* registrations: errno ... */
	int		refuse_from;		/* ... if so many are there */
	unsigned int	asked;
	unsigned int	empty;			/* writes of nothing */
	void		(*came)(const struct sent *s);	/* at each result */
	void		(*looks)(const struct sent *s);	/* at each message */
	_Atomic bool	stuck;			/* the device holds packets */
	bool		qp_gone;
	bool		hung_up;
	int		watch_fires_at;		/* sleep number */
	int64_t		now_ms;
	int		answer_after_ms;	/* delay of a poll ... */
	int		answers_every_ms;	/* ... and of the next one */
	unsigned int	polls;
	int		interrupted;		/* polls that a signal ends */
	int		rings;			/* sleeps that the bell ends */
};

extern struct fake sw;
extern struct inc_comm *comm;
extern unsigned char in[65536], out[65536];

void result(uint32_t imm);
void answer(unsigned int i);
void begin_tree(uint32_t first_msg_id, uint32_t msg_size, uint32_t pmtu);
void begin_at(uint32_t first_msg_id);
void begin(void);
void begin_window(uint32_t window);
void begin_uc(void);
char *place(uint32_t key, uint64_t va, size_t len);
void end(void);
void fill(void);
int reduce(size_t count);
bool same(size_t count);

#endif /* INC_LIB_FAKE_H */
