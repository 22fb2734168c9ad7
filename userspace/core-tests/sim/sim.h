/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whole switches in one process: the responder, the slot machine, the queues
 * and the requester, combined as kernel/datapath does it (sim_switch.c); one
 * switch, or a root with children, which have an uplink (sim_up.c); and
 * members over RC (sim_member.c), some with all that stock rxe does (sim_rxe.c),
 * or over UC (sim_member.c). Links lose, duplicate and reorder packets, in simulated
 * time (sim_main.c).
 */
#ifndef _SIM_H
#define _SIM_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "core/ends.h"
#include "core/icrc.h"
#include "core/lost_place.h"
#include "core/msg_loss.h"
#include "core/payload.h"
#include "core/psn.h"
#include "core/reduce/reduce.h"
#include "core/requester.h"
#include "core/responder.h"
#include "core/result_queue.h"
#include "core/slot.h"
#include "core/tests/pkt.h"
#include "core/uplink_queue.h"

#define WINDOW_MAX	64	/* packets in flight to a member */
#define MAX_RANKS	9
#define SLOTS		8
#define FEW		3
#define PMTU		256
#define MAX_CHUNKS	16
#define MAX_LEAVES	4
#define MSG_SIZE	(MAX_CHUNKS * PMTU)
#define NMSG		48
#define MAX_KEPT	128
#define MAX_PKTS	(NMSG * MAX_CHUNKS)
#define MAX_WQES	(2 * NMSG)
#define MEMBER_WINDOW	48
#define MEMBER_TIMEOUT	8000
#define RXE_TIMEOUT	200000
#define SOLICIT		2000ull
#define LATER		30000	/* microseconds, at most */
#define MUCH_LATER	100000
#define ACK_DELAY	2000
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

/*
 * A packet's payload, with the CRC that its ICRC was made of, and the part made of
 * it. @from: the slot's memory, if it is read when the packet arrives, and not when
 * it was sent.
 */
struct buf {
	struct inc_part	part;
	struct buf	*next, **at;
	const void	*from;
	u32		crc;
	u16		len;
	u8		data[];
};

enum dest {
	TO_SWITCH, TO_MEMBER, TO_LEAF, SWITCH_TIMER, SOLICIT_TIMER, ACK_TIMER,
	MEMBER_TIMER, UP_TIMER, COMPUTED,
};

/* @sw: switch; @rank: its member; for a host, the rank */
struct event {
	u64		at, no;
	enum dest	dest;
	struct sw	*sw;
	int		rank;
	struct inc_pkt	pkt;
	struct buf	*buf;
};

struct kept {
	struct inc_pkt	pkt;
	struct buf	*buf;
	struct inc_responder_run run;
};

struct qp {
	struct inc_responder	resp;
	struct inc_lost_place	place;
	u16			said[INC_PLACE_PSNS];
	struct inc_requester	req;
	struct inc_wqe		first[4];
	struct inc_wqe		ring[WINDOW_MAX];
	enum inc_requester_end end;
	struct inc_ends	ends;
	u32		rx_msg_id;
	u32		rx_msg_len;
	bool		rx_take;
	u32		ack_psn;
	unsigned int	acks_delayed;
	bool		ack_timer;
	struct inc_result_queue	results;
	u64		queue_mem[2][SLOTS * 6];	/* for FEW, and all */
	struct kept	kept[MAX_KEPT];
	unsigned int	nkept;
	u64		timer;
	u64		heard;		/* time of the last request */
	bool		watched;
	unsigned int	solicits;
	bool		uc;
	u32		psn;
	struct inc_msg_loss	gap;
};

/* A child's QP to the root. */
struct up {
	struct qp	qp;
	struct inc_uplink_queue	requests;
	struct inc_uplink_out	out[SLOTS];
	u16		fifo[SLOTS];
	int		at;		/* its place at the root */
};

/* A switch: the only one, the root, or a child with a block of the ranks. */
struct sw {
	struct inc_slot_geom geom;
	struct inc_slot	slots[SLOTS];
	void		*free_mem[SLOTS];	/* memory of slots that none has */
	int		nfree_mem;
	/* By slot: a message, and how many members have not acknowledged its result. */
	u32		unread_msg[SLOTS];
	int		unread[SLOTS];
	struct qp	qps[MAX_RANKS];		/* by member */
	struct sw *child[MAX_RANKS]; /* that is the member, or NULL */
	int		first;			/* rank of the first member, a host */
	struct up	*up;
	/* Messages that ended here; all messages before the mark have ended. */
	bool		ended[NMSG];
	u32		mark;
};

/* A write: part of message @msg, from @off on. */
struct rxe_wqe {
	u8		state;
	bool		imm;
	unsigned int	msg;
	u32		off, len;
	u32		left, first_psn, last_psn;
};

/* The requester of an rxe: its task, messages, PSNs and timers. */
struct rxe {
	struct rxe_wqe	wqe[MAX_WQES];
	unsigned int	nwqe;
	unsigned int	at;		/* write to send */
	unsigned int	done;		/* writes that are complete */
	u32		psn, acked;	/* next to send, first not acknowledged */
	unsigned int	noack;
	bool		awake, inside, need_retry, retrying;
	bool		timeout, timer_set;
	bool		lost;		/* its place */
	u64		timeout_at, rnr_until;
	struct inc_pkt	response[4096];
	unsigned int	nresponses;
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
	unsigned int	low;		/* all messages before it are done */
	/* Message in which it disagrees with the others, or NMSG. */
	unsigned int	odd;
	unsigned int	computed;	/* newest message that it has computed for */
	u64		busy_until;
	bool		in_two;		/* the last packet is a write of its own */
	bool		is_rxe;
	struct rxe	rxe;
	/* With UC, next counts packets, and each message has a timer. */
	bool		uc;
	u64		due[NMSG];
};


/* Of all links; permille, times in microseconds. */
struct sim_links {
	unsigned int	loss, dup, late, late_last;
	unsigned int	run_len;	/* packets lost in a row, at most */
	u32		late_by, delay, jitter;
	uint64_t	n_lost, n_torn;
};

#define UC_OPCODE	0x20

static inline struct inc_pkt uc_pkt(u32 psn, u32 len)
{
	struct inc_pkt pkt = test_pkt(OP_ONLY_IMM, psn & INC_PSN_MASK, len, len);

	pkt.opcode |= UC_OPCODE;
	pkt.uc = true;
	return pkt;
}

/* sim_link.c; at_sw: switch of the current event, at_rank: its member. */
extern uint64_t seed, now;
extern int at_rank, ranks;
extern struct sw *at_sw;
extern struct sw sws[1 + MAX_LEAVES];
extern int nsw;
extern bool broken;				/* a QP is in error */
extern struct sim_links links;
extern struct buf *live;
void begin_links(void);
bool have_events(void);
uint64_t rnd(void);
u32 below(u32 n);
void put_event(struct event e);
struct event get_event(void);
struct buf *new_buf(const void *hdr, u32 hdr_len, const void *p, u32 len);
void free_buf(struct buf *b);
bool is_right(struct buf *b);
void transmit(enum dest dest, const struct inc_pkt *pkt, struct buf *buf);
void respond(enum dest dest, u8 syndrome, u32 psn);
struct sw *place_of(int rank);

/* Of the run. */
extern unsigned int rnr, held_back, stall, busy;	/* permille */
extern unsigned int rxe_timeout;
extern u32 first_msg;
extern struct inc_msg msgs[NMSG];
extern u8 *data[NMSG][MAX_RANKS];
extern bool fails[NMSG];

/* sim_switch.c */
void widen(struct qp *q);
extern uint64_t n_given_back;
extern uint64_t n_sent, n_again, n_timeouts, n_noticed, n_asked;
void sw_rx(int rank, const struct inc_pkt *pkt, struct buf *b);
void sw_timer(int rank, u64 deadline);
void sw_solicit(int rank);
void sw_ack_timer(int rank);
bool sw_room(struct qp *q);
void sw_tell(u32 msg_id, u8 status);
void sw_deliver(u16 slot);
void sw_kick_all(void);
struct buf *wqe_buf(const struct inc_wqe *w);
void arm_timer(struct qp *q, enum dest dest);
void answered(struct inc_requester *req, const struct inc_pkt *pkt);
bool timed_out(struct qp *q, u64 deadline);

/* sim_up.c */
void up_gathered(u16 slot);
void up_fail(u16 slot, u32 msg_id, u8 status);
void up_kick(void);
void up_rx(const struct inc_pkt *pkt, struct buf *b);
void up_timer(u64 deadline);

/* sim_member.c */
extern struct member *members;
void mb_rx(int rank, const struct inc_pkt *pkt, struct buf *b);
void mb_timer(int rank, const struct inc_pkt *timer);
void mb_kick(int rank);
struct inc_hdr mb_header(const struct member *m, unsigned int i);
u32 mb_cut(const struct member *m, unsigned int i);
struct buf *mb_payload(const struct member *m, unsigned int i, u32 off, u32 n);
bool mb_may_push(struct member *m);

/* sim_rxe.c */
extern uint64_t n_lost_place;
void rxe_kick(struct member *m);
void rxe_response(struct member *m, const struct inc_pkt *pkt);
void rxe_timer(struct member *m, u32 what, u64 at);

#endif
