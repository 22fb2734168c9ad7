// SPDX-License-Identifier: GPL-2.0
/*
 * The slot protocol, for spin: hosts, the switch's responder, slot machine,
 * requester and end of a tree, and a network that loses, duplicates and
 * reorders.
 *
 * Names are those of the code. A step here is what the code does under one
 * lock; the work for each member is a process of its own, as if each had a CPU.
 *
 * RC is abstracted. A packet once sent may arrive at any time, in any order:
 * "lost, and retransmitted after a timeout" is the same as "late". Duplicates,
 * and packets beyond a gap, change nothing and are thus bounded by FAULTS, so
 * that runs end; a host does not resend what it was told has arrived. On the
 * way down, a result is read when it arrives, the last time that it could have
 * been retransmitted; hosts accept results in PSN order, each once.
 *
 * Each live host must have got a result or a status for each message that it
 * began, and begun all, unless it was told that the tree is gone. This is
 * judged when no step is possible any more. See model.sh for the variants.
 */

#ifndef MSGS
#define MSGS	3		/* messages of each host */
#endif
#ifndef CHUNKS
#define CHUNKS	1		/* packets of a message */
#endif
#ifndef WINDOW
#define WINDOW	1		/* results in flight to a member */
#endif
#ifndef HOLD
#define HOLD	SLOTS		/* messages held of a member */
#endif
#ifndef FAULTS
#define FAULTS	1		/* duplicates and packets beyond a gap */
#endif
#ifndef BAD
#define BAD	0		/* requests that disagree with the others' */
#endif
#ifndef DEATHS
#define DEATHS	0		/* hosts that vanish */
#endif
#ifndef DIES
#define DIES	(HOSTS - 1)		/* one stands for all ranks */
#endif
#ifndef REPEATS
#define REPEATS	0		/* messages resent whole, under new PSNs */
#endif

#define SLOTS	2
#define IDS	8		/* message IDs wrap ... */
#define FIRST	6		/* ... and begin shortly before */
#ifndef HOSTS
#define HOSTS	3
#endif
#define NOBODY	255

#ifdef LEVELS2
/* Hosts 0 and 1 are at a leaf, member 3 of the root; host 2 is at the root. */
#define NODES	2
#define MEMBERS	4
#define LEAF	3
#define RANKS	2
#define NODE(r)	((r) < 2 -> 1 : 0)
#else
#define NODES	1
#define MEMBERS	HOSTS
#define LEAF	NOBODY
#define RANKS	HOSTS
#define NODE(r)	0
#endif

#define ID(o)		(((o) + FIRST) % IDS)
#define ORDINAL(id)	(((id) + IDS - FIRST) % IDS)
#define SLOT(n, id)	slot[(n) * SLOTS + (id) % SLOTS]
#define OUT(r, id)	qp[r].out[(id) % SLOTS]

mtype = { IDLE, BUSY, DONE, FAILED };
mtype = { V_TAKE, V_FAIL, V_FAILED, V_REPEAT, V_WAIT, V_REFUSE };
mtype = { OK, MISMATCH, MSG_ID, PEER_DEAD };

/* struct inc_slot. got: chunks + 1; up: a leaf's request to its parent. */
typedef slot_t {
	mtype state = IDLE;
	mtype status = OK;
	byte msg_id;
	byte begun;
	byte ready;
	byte got[MEMBERS];
	byte added[MEMBERS * CHUNKS];	/* how often, to check */
	byte chunk[CHUNKS];		/* message whose data it has */
	byte up;			/* 0 not begun, 1 sent, 2 answered */
};

/* struct inc_out */
typedef out_t {
	bit open;
	bit queued;
	bit begun;
	byte msg_id;
	mtype status = OK;
	byte ready;
	byte sent;
};

/* struct inc_qp: a member on its switch. */
typedef qp_t {
	byte epsn;
	byte acked;			/* first PSN that no ACK has named */
	bit error;
	byte held;
	out_t out[SLOTS];
	byte next_msg_id;
	byte nstray;
	byte stray_id[2];
	mtype stray_status[2];
};

/* A member's own view. q: message and bad * 16, of each request. */
typedef host_t {
	byte next;			/* ordinal of the next message */
	byte nreq;
	byte q[MSGS + REPEATS];
	byte answered;			/* mask, by ordinal */
	bit dead;
	bit gone;			/* was told that the tree is gone */
};

slot_t slot[NODES * SLOTS];
qp_t qp[MEMBERS];
host_t h[MEMBERS];
bit tree_error[NODES];
bit any_bad[MSGS];
byte bad_left = BAD;
byte deaths_left = DEATHS;
byte repeats_left = REPEATS;
byte faults_left = FAULTS;

chan down[MEMBERS] = [WINDOW] of { byte, byte, mtype, bit };

#define MEMBER_OF(r, n)	(NODE(r) == (n))
#define NEXT_OF(id)	(((id) + SLOTS) % IDS)

/* may_advance(); a leaf also needs its parent's answer. */
#ifdef BUG_ADVANCE
#define ALL_BEGUN(n, id)	true
#else
#define ALL_BEGUN(n, id)	(SLOT(n, id).begun == RANKS)
#endif
#ifdef BUG_LEAF_ADVANCE
#define ANSWERED(n, id)		true
#else
#define ANSWERED(n, id)		((n) == 0 || SLOT(n, id).up == 2)
#endif
#define MAY_ADVANCE(n, id)	(SLOT(n, id).state == DONE || \
				 (SLOT(n, id).state == FAILED && \
				  ALL_BEGUN(n, id) && ANSWERED(n, id)))
#define WOULD_WAIT(n, id)	(!tree_error[n] && \
				 (id) == NEXT_OF(SLOT(n, id).msg_id) && \
				 SLOT(n, id).state == FAILED && !MAY_ADVANCE(n, id))
#define PAST(r, id)	(OUT(r, id).begun && \
			 ORDINAL(OUT(r, id).msg_id) >= ORDINAL(id))
#define WOULD_HOLD(r, id)	(!OUT(r, id).open && !PAST(r, id) && \
				 qp[r].held >= HOLD)

#define ARRIVING(r)	(h[r].q[qp[r].epsn / CHUNKS] % 16)

/* The expected packet, or one that is sent until it is acknowledged. */
#ifdef BUG_ACK
#define NOT_NOW(r, id)	false
#else
#define NOT_NOW(r, id)	(WOULD_WAIT(NODE(r), id) || WOULD_HOLD(r, id))
#endif
#define NEW_ARRIVES(r)	(!qp[r].error && qp[r].epsn < h[r].nreq * CHUNKS && \
			 qp[r].epsn >= qp[r].acked && \
			 (qp[r].epsn % CHUNKS != 0 || !NOT_NOW(r, ARRIVING(r))))

/* inc_txq_open(); opens, or sets discard. */
inline send_open(r, id)
{
	if
	:: OUT(r, id).begun && OUT(r, id).msg_id == id ->
		discard = 1			/* INC_OPEN_REPEAT */
	:: !(OUT(r, id).begun && OUT(r, id).msg_id == id) &&
	   (OUT(r, id).open || PAST(r, id)) ->
		add_stray(r, id, MSG_ID);	/* INC_OPEN_BUSY */
		discard = 1
	:: else ->
		OUT(r, id).open = 1;
		OUT(r, id).begun = 1;
		OUT(r, id).msg_id = id;
		OUT(r, id).status = OK;
		OUT(r, id).ready = 0;
		OUT(r, id).sent = 0;
		qp[r].held++
	fi
}

/* inc_txq_close() */
inline send_close(r, id)
{
	OUT(r, id).begun = 0;
	if
	:: OUT(r, id).open && !OUT(r, id).queued ->
		OUT(r, id).open = 0;
		assert(qp[r].held > 0);
		qp[r].held--
	:: else
	fi
}

/* inc_txq_result() */
inline send_result(r, id, upto)
{
	if
	:: OUT(r, id).open && OUT(r, id).msg_id == id && upto > OUT(r, id).ready ->
		OUT(r, id).ready = upto;
		if
		:: upto == CHUNKS ->
			assert(qp[r].held > 0);
			qp[r].held--
		:: else
		fi;
		OUT(r, id).queued = 1
	:: else
	fi
}

/* inc_txq_status() */
inline send_status(r, id, what)
{
	if
	:: OUT(r, id).open && OUT(r, id).msg_id == id && OUT(r, id).status == OK ->
		OUT(r, id).status = what;
		if
		:: OUT(r, id).ready < CHUNKS ->
			assert(qp[r].held > 0);
			qp[r].held--
		:: else
		fi;
		OUT(r, id).queued = 1
	:: else
	fi
}

inline add_stray(r, id, what)
{
	if
	:: qp[r].nstray < 2 ->
		qp[r].stray_id[qp[r].nstray] = id;
		qp[r].stray_status[qp[r].nstray] = what;
		qp[r].nstray++
	:: else
	fi
}

/* fill_one(): send one more packet, if the window has room. */
inline fill_status(r, id, what)
{
	down[r]!id, 0, what, 1
}

inline fill_chunk(r, s)
{
	qp[r].out[s].sent++;
	down[r]!qp[r].out[s].msg_id, (qp[r].out[s].sent - 1), OK,
		(qp[r].out[s].sent == CHUNKS);
	if
	:: qp[r].out[s].sent == CHUNKS -> qp[r].out[s].open = 0
	:: else
	fi
}

inline fill_out(r, s)
{
	if
	:: qp[r].out[s].status != OK ->
		fill_status(r, qp[r].out[s].msg_id, qp[r].out[s].status);
		qp[r].out[s].open = 0
	:: else ->
		fill_chunk(r, s)
	fi;
	if
	:: !qp[r].out[s].open || qp[r].out[s].sent == qp[r].out[s].ready ->
		qp[r].out[s].queued = 0
	:: else
	fi;
	/* Forget a status that nobody needs any more. */
	if
	:: !qp[r].out[s].open ->
		qp[r].out[s].ready = 0;
		qp[r].out[s].sent = 0;
		qp[r].out[s].status = OK
	:: else
	fi
}

/* expect() */
inline expect(n, id)
{
	SLOT(n, id).msg_id = id;
	SLOT(n, id).state = IDLE;
	SLOT(n, id).status = OK;
	SLOT(n, id).begun = 0;
	SLOT(n, id).ready = 0;
	SLOT(n, id).up = 0;
	for (k : 0 .. MEMBERS - 1) {
		SLOT(n, id).got[k] = 0
	}
	for (k : 0 .. MEMBERS * CHUNKS - 1) {
		SLOT(n, id).added[k] = 0
	}
	k = 0
}

/* A leaf's request to its parent; what = 16 if it must fail there. */
inline send_up(id, what)
{
	h[LEAF].q[h[LEAF].nreq] = id + what;
	h[LEAF].nreq++;
	SLOT(1, id).up = 1
}

/* inc_slot_begin(); sets verdict. */
inline slot_begin(n, r, id, bad)
{
	verdict = V_TAKE;
	if
	:: id == NEXT_OF(SLOT(n, id).msg_id) && MAY_ADVANCE(n, id) ->
		expect(n, id)
	:: id == NEXT_OF(SLOT(n, id).msg_id) && !MAY_ADVANCE(n, id) &&
	   SLOT(n, id).state == FAILED ->
		verdict = V_WAIT
	:: else
	fi;
	if
	:: verdict == V_WAIT
	:: verdict != V_WAIT && id != SLOT(n, id).msg_id ->
		verdict = V_REFUSE
	:: verdict != V_WAIT && id == SLOT(n, id).msg_id && SLOT(n, id).got[r] > 0 ->
		verdict = V_REPEAT
	:: else ->
		SLOT(n, id).got[r] = 1;
		SLOT(n, id).begun++;
		if
		:: SLOT(n, id).state == FAILED -> verdict = V_FAILED
		:: SLOT(n, id).state != FAILED && !bad -> SLOT(n, id).state = BUSY
		:: else ->
			SLOT(n, id).state = FAILED;
			SLOT(n, id).status = MISMATCH;
			verdict = V_FAIL;
#ifdef LEVELS2
			if
			:: n == 1 && SLOT(n, id).up == 0 -> send_up(id, 16)
			:: else
			fi
#endif
		fi
	fi
}

/* chunk_done(); in a leaf, the part goes up and the slot stays busy. */
inline chunk_done(n, id, c)
{
	for (k : 0 .. MEMBERS - 1) {
		assert(!MEMBER_OF(k, n) || SLOT(n, id).added[k * CHUNKS + c] == 1)
	}
	k = 0;
#ifdef LEVELS2
	if
	:: n == 1 ->
		send_up(id, 0);
		complete = 0
	:: else ->
#endif
		assert(SLOT(n, id).ready == c);
		SLOT(n, id).chunk[c] = id;
		SLOT(n, id).ready = c + 1;
		if
		:: c + 1 == CHUNKS -> SLOT(n, id).state = DONE
		:: else
		fi
#ifdef LEVELS2
	fi
#endif
}

/* inc_slot_add(); sets complete. */
inline slot_add(n, r, id)
{
	complete = 0;
	if
	:: SLOT(n, id).state != BUSY || SLOT(n, id).msg_id != id
	:: else ->
		c = SLOT(n, id).got[r] - 1;
		assert(c < CHUNKS);
		SLOT(n, id).got[r]++;
		SLOT(n, id).added[r * CHUNKS + c]++;
		assert(SLOT(n, id).added[r * CHUNKS + c] == 1);
		complete = 1;
		for (k : 0 .. MEMBERS - 1) {
			complete = complete && (!MEMBER_OF(k, n) ||
						SLOT(n, id).got[k] > c + 1)
		}
		k = 0;
		if
		:: complete -> chunk_done(n, id, c)
		:: else
		fi;
		upto = SLOT(n, id).ready;
		c = 0
	fi
}

/* Per rank, under the rank's lock: inc_fanout_status(), inc_fanout_result(). */
#ifdef BUG_TELL
#define FORGOTTEN(i)	((i) == 1)
#else
#define FORGOTTEN(i)	false
#endif

inline tell(n, id, what)
{
	i = 0;
	do
	:: atomic { i < MEMBERS ->
		if
		:: MEMBER_OF(i, n) && !FORGOTTEN(i) -> send_status(i, id, what)
		:: else
		fi;
		i++ }
	:: atomic { i == MEMBERS -> i = 0; break }
	od
}

inline result(n, id, ready)
{
	i = 0;
	do
	:: atomic { i < MEMBERS ->
		if
		:: MEMBER_OF(i, n) -> send_result(i, id, ready)
		:: else
		fi;
		i++ }
	:: atomic { i == MEMBERS -> i = 0; break }
	od
}

/* inc_responder_accept(), and the acknowledgment of inc_reply_flush(). */
inline accept()
{
	atomic {
		qp[r].epsn++;
		qp[r].acked = qp[r].epsn;
		verdict = V_WAIT;
		status = OK;
		discard = 0;
		complete = 0;
		upto = 0;
		bad = 0;
		if
		:: qp[r].epsn % CHUNKS == 0 ->
			id = 0;
			take = 0
		:: else
		fi
	}
}

/* inc_engine_rx() of a member's requests, under its rx.lock. */
#ifdef ONE_CPU
/* One packet at a time, as with one CPU: fewer states. */
#define PACKET_BEGIN	atomic {
#define PACKET_END	}
#else
#define PACKET_BEGIN
#define PACKET_END
#endif

proctype rx(byte r)
{
	byte id, i, k, c, upto;
	bit bad, take, discard, complete;
	mtype verdict = V_WAIT;
	mtype status = OK;

end:	do
	:: PACKET_BEGIN
		atomic { NEW_ARRIVES(r) ->
		if
		:: qp[r].epsn % CHUNKS == 0 ->
			id = ARRIVING(r);
			bad = h[r].q[qp[r].epsn / CHUNKS] / 16;
			take = 0;
			send_open(r, id)
		:: else
		fi }
		if
		:: atomic { qp[r].epsn % CHUNKS == 0 && !discard -> skip }
			goto begin
		:: atomic { else -> skip }
			goto add
		fi;
begin:		atomic {
			if
			:: tree_error[NODE(r)] ->
				verdict = V_FAILED;
				status = PEER_DEAD;
				qp[r].next_msg_id = (id + 1) % IDS
			:: else ->
				slot_begin(NODE(r), r, id, bad);
				status = SLOT(NODE(r), id).status;
				take = verdict == V_TAKE;
				if
				:: verdict == V_TAKE || verdict == V_FAIL ||
				   verdict == V_FAILED ->
					qp[r].next_msg_id = (id + 1) % IDS
				:: else
				fi
			fi
		}
		if
		:: verdict == V_FAIL -> tell(NODE(r), id, MISMATCH)
		:: atomic { verdict == V_FAILED -> send_status(r, id, status) }
		:: atomic { verdict == V_REPEAT -> send_close(r, id) }
		:: atomic { verdict == V_REFUSE ->
			send_close(r, id);
			add_stray(r, id, MSG_ID) }
		:: atomic { verdict == V_TAKE -> skip }
		:: atomic { verdict == V_WAIT ->
			send_close(r, id);
#ifdef BUG_ACK
			qp[r].acked = qp[r].epsn + 1;
#endif
			id = 0;
			status = OK;
			bad = 0 }
			goto end
		fi;
add:		if
		:: atomic { take -> slot_add(NODE(r), r, id) }
			if
			:: complete -> result(NODE(r), id, upto)
			:: else
			fi
		:: else
		fi;
		accept()
	PACKET_END

	/* INC_RESP_DUP */
	:: atomic { faults_left && !qp[r].error && qp[r].epsn > 0 ->
		faults_left--;
#ifdef BUG_DUP
		id = h[r].q[(qp[r].epsn - 1) / CHUNKS] % 16;
		slot_add(NODE(r), r, id);
		id = 0;
#endif
		}
	/* INC_RESP_OOO */
	:: atomic { faults_left && !qp[r].error && qp[r].epsn + 1 < h[r].nreq * CHUNKS ->
		faults_left--;
#ifdef BUG_HOLE
		qp[r].epsn++;
		qp[r].acked = qp[r].epsn;
#endif
		}
	od
}

/* inc_txq_kick() */
proctype tx(byte r)
{
	byte k;

end:	do
	:: atomic { !qp[r].error && nfull(down[r]) && qp[r].nstray > 0 ->
		fill_status(r, qp[r].stray_id[0], qp[r].stray_status[0]);
		qp[r].nstray--;
		qp[r].stray_id[0] = qp[r].stray_id[1];
		qp[r].stray_status[0] = qp[r].stray_status[1];
		qp[r].stray_id[1] = 0;
		qp[r].stray_status[1] = OK }
	:: atomic { !qp[r].error && nfull(down[r]) && qp[r].out[0].queued ->
		fill_out(r, 0) }
	:: atomic { !qp[r].error && nfull(down[r]) && qp[r].out[1].queued ->
		fill_out(r, 1) }
	od
}

#define WAITED_FOR_BUSY(n, s, r) \
	(slot[(n) * SLOTS + (s)].state == BUSY && \
	 slot[(n) * SLOTS + (s)].got[r] <= slot[(n) * SLOTS + (s)].ready + 1)
#ifdef BUG_SCAN
#define WAITED_FOR(n, s, r)	WAITED_FOR_BUSY(n, s, r)
#else
#define WAITED_FOR(n, s, r)	(WAITED_FOR_BUSY(n, s, r) || \
	(slot[(n) * SLOTS + (s)].state == FAILED && \
	 slot[(n) * SLOTS + (s)].got[r] == 0))
#endif

/* inc_qp_error(): silence where something is due, or others wait. */
proctype silence(byte r)
{
end:	atomic {
		h[r].dead && (len(down[r]) > 0 || WAITED_FOR(NODE(r), 0, r) ||
			      WAITED_FOR(NODE(r), 1, r)) ->
		qp[r].error = 1;
		tree_error[NODE(r)] = 1
	}
}

/* inc_tree_fail_work(). In a leaf its QP at the parent ends, too. */
proctype fail_work(byte n)
{
	byte s, i, id;
	bit busy;

end:	tree_error[n];
	do
	:: atomic { s < SLOTS ->
		id = slot[n * SLOTS + s].msg_id;
		busy = slot[n * SLOTS + s].state == BUSY;
		if
		:: busy ->
			slot[n * SLOTS + s].state = FAILED;
			slot[n * SLOTS + s].status = PEER_DEAD
		:: else
		fi }
		if
		:: busy -> tell(n, id, PEER_DEAD)
		:: else
		fi;
		s++
	:: s == SLOTS -> break
	od;
	i = 0;
	do
	:: atomic { i < MEMBERS ->
		if
		:: MEMBER_OF(i, n) && !qp[i].out[0].open && !qp[i].out[1].open ->
			add_stray(i, qp[i].next_msg_id, PEER_DEAD)
		:: else
		fi;
		i++ }
	:: i == MEMBERS -> break
	od;
#if defined(LEVELS2) && !defined(BUG_LEAF_SILENT)
	atomic {
		if
		:: n == 1 ->
			qp[LEAF].error = 1;
			tree_error[0] = 1
		:: else
		fi
	}
#endif
}

#define MAY_BEGIN(o)	((o) < SLOTS || (h[r].answered >> ((o) - SLOTS)) & 1)

/* The host accepts a message's Immediate, or its data. */
inline host_takes()
{
	o = ORDINAL(id);
	if
	:: what == OK ->
		assert(!((h[r].answered >> o) & 1) && o < h[r].next);
		/* Until now it might have been resent: read the slot. */
		assert(SLOT(NODE(r), id).chunk[c] == id);
		if
		:: last -> h[r].answered = h[r].answered | (1 << o)
		:: else
		fi
	:: what == MISMATCH ->
		assert(any_bad[o]);
		/* After a farewell a message may still get its status. */
		assert(h[r].gone || (!((h[r].answered >> o) & 1) && o < h[r].next));
		h[r].answered = h[r].answered | (1 << o)
	:: what == MSG_ID ->
		/* Only for a message that the host retransmitted by mistake. */
		assert((h[r].answered >> o) & 1)
	:: what == PEER_DEAD ->
		assert(deaths_left < DEATHS);
		h[r].gone = 1;
		if
		:: o < h[r].next -> h[r].answered = h[r].answered | (1 << o)
		:: else
		fi
	fi;
	o = 0;
	id = 0;
	c = 0;
	last = 0;
	what = OK
}

proctype host(byte r)
{
	byte id, c, o;
	mtype what = OK;
	bit last;

end:	do
	:: atomic { !h[r].gone && h[r].next < MSGS && MAY_BEGIN(h[r].next) ->
		h[r].q[h[r].nreq] = ID(h[r].next);
		if
		:: true
		:: bad_left > 0 && r == 0 ->
			bad_left--;
			any_bad[h[r].next] = 1;
			h[r].q[h[r].nreq] = h[r].q[h[r].nreq] + 16
		fi;
		h[r].nreq++;
		h[r].next++ }
	:: atomic { repeats_left > 0 && r == HOSTS - 1 && h[r].nreq > 0 ->
		repeats_left--;
		h[r].q[h[r].nreq] = h[r].q[h[r].nreq - 1];
		h[r].nreq++ }
	:: atomic { down[r]?id,c,what,last -> host_takes() }
	:: atomic { deaths_left > 0 && r == DIES -> deaths_left--; h[r].dead = 1; break }
	od
}

#ifdef LEVELS2
/* The leaf as a member of its parent's tree. */
proctype leaf()
{
	byte id, c, i;
	mtype what = OK;
	bit last, told;

end:	do
	:: atomic { down[LEAF]?id,c,what,last ->
		told = 0;
		if
		:: what == PEER_DEAD ->
			tree_error[1] = 1
		:: what == MSG_ID ->
			assert(false)
		:: else ->
			assert(SLOT(1, id).msg_id == id);
			assert(SLOT(1, id).up == 1);
			SLOT(1, id).up = 2;
			if
			:: SLOT(1, id).state != BUSY
			:: SLOT(1, id).state == BUSY && what == OK ->
				assert(SLOT(0, id).chunk[0] == id);
				SLOT(1, id).chunk[0] = id;
				SLOT(1, id).ready = 1;
				SLOT(1, id).state = DONE;
				told = 1
			:: else ->
				SLOT(1, id).state = FAILED;
				SLOT(1, id).status = what;
				told = 1
			fi
		fi }
		if
		:: told && what == OK -> result(1, id, 1)
		:: told && what != OK -> tell(1, id, what)
		:: else
		fi;
		atomic { id = 0; last = 0; what = OK; told = 0 }
	od
}
#endif

#define FINISHED(r)	(h[r].answered == (1 << h[r].next) - 1 && \
			 (h[r].next == MSGS || h[r].gone))

/* No step is possible any more: has each live host been served? */
proctype judge()
{
	byte k;

end:	timeout;
	for (k : 0 .. HOSTS - 1) {
		assert(h[k].dead || FINISHED(k))
	}
}

init
{
	byte k;

	atomic {
		for (k : 0 .. NODES * SLOTS - 1) {
			slot[k].msg_id = FIRST + k % SLOTS;
			slot[k].chunk[0] = NOBODY
		}
		for (k : 0 .. MEMBERS - 1) {
			qp[k].next_msg_id = FIRST;
			qp[k].stray_status[0] = OK;
			qp[k].stray_status[1] = OK;
			run rx(k);
			run tx(k)
		}
		for (k : 0 .. HOSTS - 1) {
			run host(k);
			if
			:: DEATHS > 0 -> run silence(k)
			:: else
			fi
		}
		for (k : 0 .. NODES - 1) {
			if
			:: DEATHS > 0 -> run fail_work(k)
			:: else
			fi
		}
#ifdef LEVELS2
		run leaf();
#endif
		run judge()
	}
}
