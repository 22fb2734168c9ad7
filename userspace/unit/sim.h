/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole switch in one process: the responder, the slot machine and the
 * requester, put together as engine.c and send.c do it (sim_switch.c), and
 * members that behave as stock rxe does (sim_member.c), over links that lose,
 * double and reorder, in simulated time (sim_main.c).
 */
#ifndef _SIM_H
#define _SIM_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "psn.h"
#include "reduce/reduce.h"
#include "req.h"
#include "resp.h"
#include "slot.h"
#include "tests/pkt.h"

#define MAX_RANKS	9
#define SLOTS		8
#define PMTU		256
#define MAX_CHUNKS	5
#define MSG_SIZE	(MAX_CHUNKS * PMTU)
#define NMSG		48
#define MAX_KEPT	64
#define MAX_PKTS	(NMSG * MAX_CHUNKS)
#define MEMBER_WINDOW	48
#define MEMBER_TIMEOUT	4000
#define FNS		1000000ull	/* a second, in microseconds */

#define die(...) do {							\
	printf("# seed %" PRIu64 ", rank %d, time %" PRIu64 ": ", seed, at_rank, \
	       now);							\
	printf(__VA_ARGS__);						\
	printf("\n");							\
	exit(1);							\
} while (0)
#define require(cond) do {						\
	if (!(cond))							\
		die("%s:%d: %s", __FILE__, __LINE__, #cond);		\
} while (0)

/* A packet's payload, and the part that it becomes. */
struct buf {
	struct inc_part	part;
	u16		len;
	u8		data[];
};

enum dest { TO_SWITCH, TO_MEMBER, SWITCH_TIMER, MEMBER_TIMER };

struct event {
	u64		at, no;
	enum dest	dest;
	int		rank;
	struct inc_pkt	pkt;
	struct buf	*buf;
};

/* As in qp.h. */
struct out {
	u64	va;
	u32	msg_id, data_len;
	u16	nchunks, ready, sent;
	u8	status;
	bool	open, queued;
};

struct kept {
	struct inc_pkt	pkt;
	struct buf	*buf;
};

struct qp {
	struct inc_resp	resp;
	struct inc_req	req;
	enum inc_req_end end;
	u32		rx_msg_id;
	bool		rx_take;
	struct out	out[SLOTS];
	u16		fifo[SLOTS];
	unsigned int	head, tail;
	struct kept	kept[MAX_KEPT];
	unsigned int	nkept;
	u64		timer;
};

struct member {
	/* Requester. */
	struct inc_pkt	pkt[MAX_PKTS];
	u16		pkt_msg[MAX_PKTS];
	u32		pkt_off[MAX_PKTS];
	unsigned int	npkts, una, next, npushed;
	u32		first_psn;
	u64		timer, resume;
	/* Responder. */
	u32		epsn;
	bool		nak_sent;
	u8		result[NMSG][MSG_SIZE];
	u8		status[NMSG];
	bool		done[NMSG];
	unsigned int	low;		/* all messages before that are done */
	/* What this one says differently from the others, or NMSG. */
	unsigned int	odd;
};


/* sim_main.c: the run, the clock and the links. */
extern uint64_t seed, now;
extern int at_rank, ranks;
extern unsigned int rnr, held_back;	/* permille */
extern u32 first_msg;
extern struct inc_slot_geom geom;
extern struct inc_msg msgs[NMSG];
extern u8 *data[NMSG][MAX_RANKS];
extern bool fails[NMSG];
u32 below(u32 n);
void put_event(struct event e);
struct buf *new_buf(const void *hdr, u32 hdr_len, const void *p, u32 len);
void free_buf(struct buf *b);
void transmit(enum dest dest, const struct inc_pkt *pkt, struct buf *buf);
void respond(enum dest dest, u8 syndrome, u32 psn);

/* sim_switch.c */
extern struct qp *qps;
extern struct inc_slot slots[SLOTS];
extern uint64_t n_sent, n_again, n_timeouts;
void sw_rx(int rank, const struct inc_pkt *pkt, struct buf *b);
void sw_timer(int rank, u64 deadline);

/* sim_member.c */
extern struct member *members;
void mb_rx(int rank, const struct inc_pkt *pkt, struct buf *b);
void mb_timer(int rank, u64 at);
void mb_kick(int rank);

#endif
