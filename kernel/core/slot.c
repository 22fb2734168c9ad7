// SPDX-License-Identifier: GPL-2.0
/*
 * The slot machine.
 *
 * A message goes idle -> busy -> done, or to failed from idle or busy. The
 * slot's next message begins when the last one is done, or has failed for every
 * rank.
 *
 * Chunks that are reduced pass through reduce_tree.c; the others are put into
 * their places here.
 */
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "core/collective.h"
#include "core/icrc.h"
#include "core/layout.h"
#include "core/prefetch.h"
#include "core/rank_range.h"
#include "core/reduce/reduce.h"
#include "core/reduce_tree.h"
#include "core/slot.h"

static size_t pending_size(const struct inc_slot_geom *g)
{
	return (size_t)g->max_chunks * inc_geom_parts(g) *
	       sizeof(struct inc_part *);
}

static size_t chunk_size(const struct inc_slot_geom *g)
{
	return g->max_chunks * sizeof(struct inc_chunk);
}

/* Memory behind the buffers. */
static size_t state_size(const struct inc_slot_geom *g)
{
	return pending_size(g) + g->members * sizeof(struct inc_part *) +
	       chunk_size(g) + 2 * g->members * sizeof(u16);
}

/**
 * inc_slot_buffers() - compute the memory of a slot's buffers, which comes first
 * @g: geometry of the tree
 *
 * Return: bytes, a multiple of the path MTU.
 */
size_t inc_slot_buffers(const struct inc_slot_geom *g)
{
	u16 planes = g->child ? inc_msg_max_planes(g, inc_geom_own(g)) : 0;

	return (size_t)inc_geom_buffer(g) * (1 + planes);
}

/**
 * inc_slot_size() - compute the memory that a slot needs
 * @g: geometry of the tree
 *
 * Return: bytes, a multiple of the path MTU.
 */
size_t inc_slot_size(const struct inc_slot_geom *g)
{
	return inc_slot_buffers(g) + ALIGN(state_size(g), g->pmtu);
}

/**
 * inc_slot_init() - initialize a slot
 * @s: slot
 * @g: geometry of the tree; has to outlive the slot
 * @msg_id: first message that it expects
 *
 * A slot needs inc_slot_place() before a message begins there.
 */
void inc_slot_init(struct inc_slot *s, const struct inc_slot_geom *g, u32 msg_id)
{
	memset(s, 0, sizeof(*s));
	s->geom = g;
	s->state = RDMA_INC_SLOT_STATE_IDLE;
	s->cpu = INC_SLOT_NO_CPU;
	s->msg.msg_id = msg_id;
	s->owner = msg_id - g->slots;
	s->uplink_msg_id = msg_id - g->slots;
}

/**
 * inc_slot_place() - give a slot memory, before a message begins there
 * @s: slot
 * @mem: inc_slot_size() bytes, aligned to the path MTU: from inc_slot_give_back(), or
 *	cleared; the buffers may have any contents
 *
 * Each chunk's result lies within one multiple of the path MTU, and so within
 * a page. The buffers are not touched before their message comes, and packets
 * to the parent may hold bytes that no message has written.
 *
 * Context: the slot's lock is held.
 */
void inc_slot_place(struct inc_slot *s, void *mem)
{
	const struct inc_slot_geom *g = s->geom;
	u8 *result = mem + INC_HDR_LEN;

	s->partial = result;
	if (g->child)
		s->partial += inc_geom_buffer(g);
	mem += inc_slot_buffers(g);
	s->pending = mem;
	mem += pending_size(g);
	s->half = mem;
	mem += g->members * sizeof(*s->half);
	s->chunk = mem;
	mem += chunk_size(g);
	s->got = mem;
	s->done = s->got + g->members;
	/* Last: inc_slot_placed(). */
	WRITE_ONCE(s->result, result);
}

/* Where a part of a rank's chunk waits. */
static struct inc_part **part_at(const struct inc_slot *s, u16 member,
				 u16 chunk)
{
	return &s->pending[(size_t)chunk * inc_geom_parts(s->geom) + member];
}

static void expect_message(struct inc_slot *s, u32 msg_id)
{
	s->last = s->msg;
	s->last_status = s->status;
	s->last_wanted = s->result_wanted;
	memset(&s->msg, 0, sizeof(s->msg));
	s->msg.msg_id = msg_id;
	s->state = RDMA_INC_SLOT_STATE_IDLE;
	s->status = INC_STATUS_OK;
	s->result_wanted = false;
	s->parent_answered = false;
	s->begun = 0;
	s->gathered = 0;
	s->ready = 0;
	s->rx_bytes = 0;
	s->arrived = 0;
	memset(s->got, 0, s->geom->members * sizeof(*s->got));
	memset(s->done, 0, s->geom->members * sizeof(*s->done));
}

/* A child's parent has to know of a failure, and to have told the others. */
static bool may_advance(const struct inc_slot *s)
{
	return s->state == RDMA_INC_SLOT_STATE_DONE ||
	       (s->state == RDMA_INC_SLOT_STATE_FAILED && !s->unswept &&
		s->begun == s->geom->members &&
		(!s->geom->child ||
		 (s->parent_answered && !READ_ONCE(s->uplink_busy))));
}

/**
 * inc_slot_is_over() - check whether a slot needs no memory
 * @s: slot that has memory
 * @read: if its message is done, all members have had their results
 *
 * Nothing of the next message has arrived in an idle slot, and nobody needs the last
 * one's result if it got its memory after that. Members are sent a failed message's
 * status alone. A parent that has answered needs none of the request any more.
 *
 * Context: the slot's lock is held.
 * Return: true if so: inc_slot_give_back() may follow.
 */
bool inc_slot_is_over(const struct inc_slot *s, bool read)
{
	switch (s->state) {
	case RDMA_INC_SLOT_STATE_IDLE:
		return true;
	case RDMA_INC_SLOT_STATE_DONE:
		return read && !READ_ONCE(s->uplink_busy) &&
		       (!s->geom->child || s->parent_answered);
	default:
		return may_advance(s);
	}
}

/**
 * inc_slot_give_back() - take the memory of a slot that is over
 * @s: slot
 *
 * The slot goes on to its next message. It needs inc_slot_place() before that begins.
 * No part is pending, as each was used up.
 *
 * Context: the slot's lock is held.
 * Return: the memory.
 */
void *inc_slot_give_back(struct inc_slot *s)
{
	void *mem = s->result - INC_HDR_LEN;

	if (s->state != RDMA_INC_SLOT_STATE_IDLE)
		expect_message(s, s->msg.msg_id + s->geom->slots);
	/* A retransmission would have other bytes: inc_slot_has() sees that. */
	WRITE_ONCE(s->owner, s->msg.msg_id);
	WRITE_ONCE(s->result, NULL);
	s->got = NULL;
	return mem;
}

static bool same_terms(const struct inc_msg *a, const struct inc_msg *b)
{
	return a->collective == b->collective && a->dtype == b->dtype &&
	       a->op == b->op && a->root == b->root && a->nelem == b->nelem;
}

static void adopt_terms(struct inc_slot *s, const struct inc_msg *msg)
{
	const struct inc_coll *coll = inc_coll_lookup(msg->collective);
	u16 i;

	s->msg = *msg;
	s->state = RDMA_INC_SLOT_STATE_BUSY;
	s->ops = coll && coll->reduce && msg->gather_len ?
		 inc_reduce_lookup(msg->dtype, msg->op) : NULL;
	for (i = 0; i < msg->gather_chunks && (!s->ops || s->geom->child); i++)
		s->chunk[i].filled = 0;
	s->by_blocks = s->ops && inc_reduce_by_blocks(s);
	s->cpu = INC_SLOT_NO_CPU;
}

/* The newest message of the slot that a rank has begun; false if there is none. */
static bool find_newest(const struct inc_slot *s, u16 member, u32 *msg_id)
{
	bool begun = inc_slot_placed(s) && inc_slot_begun(s, member);

	/* The slot has gone on, so the rank has begun the one before. */
	*msg_id = begun ? s->msg.msg_id : s->msg.msg_id - s->geom->slots;
	return begun || s->last.nchunks;
}

/* A rank that has begun and that no other rank has disagreed with. */
static u16 find_other(const struct inc_slot *s, u16 member)
{
	u16 r;

	for (r = 0; r < s->geom->members; r++)
		if (r != member && s->got[r])
			return r;
	return INC_SLOT_NOBODY;
}

/* The next chunk of the result is complete in its buffer. */
static void result_done(struct inc_slot *s)
{
	u16 chunk = s->ready++;
	u32 off = inc_chunk_off(s->geom, chunk);
	u32 len = inc_chunk_len(s->geom, chunk, s->msg.data_len);

	s->chunk[chunk].crc = inc_crc_payload(s->result + off, len);
	if (s->ready == s->msg.nchunks)
		s->state = RDMA_INC_SLOT_STATE_DONE;
}

static void chunk_done(struct inc_slot *s, u16 chunk)
{
	WARN_ON_ONCE(s->gathered != chunk);
	s->gathered = chunk + 1;
	if (!s->geom->child)
		result_done(s);
}

/* Do the elements pass through, unreduced? */
static bool is_gather(const struct inc_slot *s)
{
	return !s->ops && s->msg.gather_len;
}

/* Bytes from @off on have been gathered. */
static void count_filled(struct inc_slot *s, u32 off, u32 len)
{
	const struct inc_slot_geom *g = s->geom;
	u16 chunk = inc_chunk_at(g, off);

	while (len) {
		u32 part = min(len, inc_chunk_off(g, chunk + 1) - off);

		s->chunk[chunk++].filled += part;
		off += part;
		len -= part;
	}
}

/* Copy a part to its place: the one copy of its bytes. */
static void place_part(struct inc_slot *s, u16 member, u16 chunk,
		       struct inc_part *part)
{
	u32 off = inc_chunk_off(s->geom, chunk), done = 0;
	struct inc_layout l;

	inc_msg_layout(s->geom, &s->msg, &l);
	while (done < part->len) {
		u32 to, run;

		run = inc_layout_run(&l, inc_geom_ranks(s->geom, member),
				     off + done, part->len - done, &to);
		inc_part_copy(part, done, s->partial + to, run);
		count_filled(s, to, run);
		done += run;
	}
	inc_part_free(part);
}

/* Chunks complete in order: find out how far. */
static void advance_gathered(struct inc_slot *s)
{
	while (s->gathered < s->msg.gather_chunks &&
	       s->chunk[s->gathered].filled ==
	       inc_chunk_len(s->geom, s->gathered, s->msg.gather_len))
		chunk_done(s, s->gathered);
}

/*
 * The last rank has begun: place pending parts. Until then parts are kept
 * unreduced: a rank that has not begun may still need the slot's previous result.
 */
static void place_pending(struct inc_slot *s)
{
	u16 member, chunk;

	for (member = 0; member < s->geom->members; member++) {
		for (chunk = 0; chunk + 1 < s->got[member]; chunk++) {
			struct inc_part **part = part_at(s, member, chunk);

			if (*part)
				place_part(s, member, chunk, *part);
			*part = NULL;
		}
	}
	advance_gathered(s);
}

/**
 * inc_slot_begin() - begin a rank's request
 * @s: slot of the message ID
 * @member: index of the member
 * @msg: its parsed header
 * @status: from inc_msg_parse()
 *
 * Context: the slot's lock is held.
 * Return: enum inc_slot_verdict; the status to send is @s->status, or
 * INC_STATUS_MSG_ID for INC_SLOT_REFUSE.
 */
enum inc_slot_verdict inc_slot_begin(struct inc_slot *s, u16 member,
				     const struct inc_msg *msg, u8 status)
{
	u16 unlike = INC_SLOT_NOBODY;
	u32 newest;

	if (msg->msg_id == s->msg.msg_id + s->geom->slots) {
		if (may_advance(s))
			expect_message(s, msg->msg_id);
		else if (s->state == RDMA_INC_SLOT_STATE_FAILED)
			return INC_SLOT_WAIT;
	}
	if (find_newest(s, member, &newest) && msg->msg_id == newest)
		return INC_SLOT_REPEAT;
	if (msg->msg_id != s->msg.msg_id)
		return INC_SLOT_REFUSE;

	s->got[member] = 1;
	s->begun++;
	if (s->state == RDMA_INC_SLOT_STATE_FAILED)
		return INC_SLOT_FAILED;

	if (s->state == RDMA_INC_SLOT_STATE_IDLE) {
		adopt_terms(s, msg);
	} else if (!status && !same_terms(&s->msg, msg)) {
		status = INC_STATUS_MISMATCH;
		unlike = find_other(s, member);
	}
	if (status) {
		inc_slot_fail(s, status);
		s->wrong = member;
		s->unlike = unlike;
		return INC_SLOT_FAIL;
	}
	if (msg->out_len)
		s->result_wanted = true;
	if (s->begun == s->geom->members) {
		/* No rank needs the content of the buffers any more. */
		WRITE_ONCE(s->owner, s->msg.msg_id);
		if (is_gather(s))
			place_pending(s);
	}
	return INC_SLOT_TAKE;
}

/**
 * inc_slot_lookup() - look up the outcome of a rank's message
 * @s: slot of the message ID
 * @member: index of the member
 * @msg_id: message
 * @msg: if INC_SLOT_ENDED, set to the message; without an error, with the rank's part
 *	of the result
 * @status: if INC_SLOT_ENDED, set to the enum inc_status that it has ended with
 *
 * The result stays in the slot until this rank begins the slot's next message, or all
 * have acknowledged it.
 *
 * Context: the slot's lock is held.
 * Return: enum inc_slot_past.
 */
enum inc_slot_past inc_slot_lookup(const struct inc_slot *s, u16 member,
				   u32 msg_id, struct inc_msg *msg, u8 *status)
{
	u32 newest;
	bool last;

	if (!find_newest(s, member, &newest) || (s32)(msg_id - newest) > 0)
		return INC_SLOT_UNKNOWN;
	if (msg_id != newest)
		return INC_SLOT_OLD;
	last = newest != s->msg.msg_id;
	if (!last && s->state == RDMA_INC_SLOT_STATE_BUSY)
		return INC_SLOT_OPEN;
	*msg = last ? s->last : s->msg;
	*status = last ? s->last_status : s->status;
	if (!*status)
		inc_msg_share(s->geom, member, msg);
	/* The parent has sent none: other bytes are there, of other ranks. */
	if (s->geom->child && !(last ? s->last_wanted : s->result_wanted))
		msg->out_len = 0;
	return INC_SLOT_ENDED;
}

/* Returns whether chunks have completed. */
static bool gather_part(struct inc_slot *s, u16 member, u16 chunk,
			struct inc_part *part)
{
	u16 gathered = s->gathered;

	if (!part->len) {
		inc_part_free(part);
	} else if (s->begun < s->geom->members) {
		*part_at(s, member, chunk) = part;
	} else {
		place_part(s, member, chunk, part);
		advance_gathered(s);
	}
	return s->gathered > gathered;
}

/*
 * Wide elements arrive in pairs of packets, upper halves first. Returns the pair
 * as one part, or NULL if half is missing.
 */
static struct inc_part *join_halves(struct inc_slot *s, u16 member,
				    struct inc_part *part)
{
	struct inc_part *hi = s->half[member];

	s->half[member] = hi ? NULL : part;
	if (hi)
		hi->lo = part;
	return hi;
}

/*
 * Take a packet of a switch's request, which has one or two for each block of
 * its ranks; each has room for the chunk at least. Returns the part that has
 * arrived, and in @from its ranks, or NULL if half is missing.
 */
static struct inc_part *take_plane(struct inc_slot *s, u16 member,
				   struct inc_part *part,
				   struct inc_rank_range *from)
{
	u16 all = from->n, chunk = s->got[member] - 1;

	/* Skip the place of the header, which is in the first packet. */
	if (!chunk && (s->done[member] || s->half[member]))
		inc_part_skip(part, INC_HDR_LEN);
	part->len = inc_chunk_len(s->geom, chunk, s->msg.gather_len);
	if (inc_slot_by_rank(s)) {
		from->first += s->done[member];
		from->n -= s->done[member];
		*from = inc_rank_block(*from, inc_geom_all(s->geom));
	}
	if (s->ops->wide && from->n > 1) {
		part = join_halves(s, member, part);
		if (!part)
			return NULL;
	}
	s->done[member] = (s->done[member] + from->n) % all;
	if (!s->done[member])
		s->got[member]++;
	return part;
}

/**
 * inc_slot_add() - add a rank's next chunk
 * @s: slot
 * @member: index of a member for which inc_slot_begin() returned INC_SLOT_TAKE
 * @msg_id: that message
 * @part: the chunk's elements; the slot owns it from here on
 *
 * Context: the slot's lock is held.
 * Return: true if chunks have completed, and @s->gathered has grown.
 */
bool inc_slot_add(struct inc_slot *s, u16 member, u32 msg_id,
		  struct inc_part *part)
{
	struct inc_rank_range from = inc_geom_ranks(s->geom, member);
	u16 chunk;

	part->lo = NULL;
	/* The message failed after it began, or needs nothing of this rank. */
	if (s->state != RDMA_INC_SLOT_STATE_BUSY || s->msg.msg_id != msg_id) {
		inc_part_free(part);
		return false;
	}

	chunk = s->got[member] - 1;
	if (s->ops && from.n > 1) {
		part = take_plane(s, member, part, &from);
		if (!part)
			return false;
	} else {
		s->got[member]++;
	}
	inc_prefetch_next(s, member, chunk);
	if (is_gather(s))
		return gather_part(s, member, chunk, part);
	if (!s->ops) {
		inc_part_free(part);
		if (++s->arrived < s->geom->members)
			return false;
	} else if (s->geom->by_arrival) {
		if (!inc_reduce_by_arrival(s, chunk, part))
			return false;
	} else if (!inc_reduce_pairwise(s, member, from, chunk, part)) {
		return false;
	}
	chunk_done(s, chunk);
	return true;
}

/**
 * inc_slot_result() - store more of the parent's result
 * @s: slot of a child switch
 * @off: offset in the result buffer
 * @part: the elements, one byte at least; stays the caller's
 *
 * Context: the slot's lock is held.
 * Return: false if the parent must not write there now.
 */
bool inc_slot_result(struct inc_slot *s, u32 off, const struct inc_part *part)
{
	u32 len = part->len;

	/* The message failed here meanwhile, for a reason that ends the tree. */
	if (s->state == RDMA_INC_SLOT_STATE_FAILED)
		return true;
	if (s->state != RDMA_INC_SLOT_STATE_BUSY || !s->gathered ||
	    off != s->rx_bytes || len > s->msg.data_len - off)
		return false;
	/* The result cannot be complete before the request is. */
	if (len == s->msg.data_len - off && s->gathered < s->msg.gather_chunks)
		return false;
	inc_part_copy(part, 0, s->result + off, len);
	s->rx_bytes += len;
	while (s->ready < s->msg.nchunks &&
	       s->rx_bytes >= inc_chunk_off(s->geom, s->ready) +
			  inc_chunk_len(s->geom, s->ready, s->msg.data_len))
		result_done(s);
	return true;
}

/**
 * inc_slot_answer() - end a message with the parent's status
 * @s: slot of a child switch
 * @status: enum inc_status
 *
 * Context: the slot's lock is held.
 * Return: false if the answer is invalid, as elements are missing. Otherwise
 * the message has ended; if it is now in RDMA_INC_SLOT_STATE_FAILED and was not
 * before, the ranks have to be told.
 */
bool inc_slot_answer(struct inc_slot *s, u8 status)
{
	s->parent_answered = true;
	if (status) {
		inc_slot_fail(s, status);
		return true;
	}
	if (s->state != RDMA_INC_SLOT_STATE_BUSY)
		return s->state != RDMA_INC_SLOT_STATE_IDLE;
	/* Results without elements, or whose elements no rank wants. */
	if (s->gathered < s->msg.gather_chunks ||
	    (s->result_wanted && s->msg.data_len))
		return false;
	s->ready = s->msg.nchunks;
	s->state = RDMA_INC_SLOT_STATE_DONE;
	return true;
}

/* Drop parts pending in one place. Returns their number. */
static u16 drop_pending(struct inc_slot *s, u16 place, u16 chunks)
{
	u16 chunk, n = 0;

	/* Parts of gathered chunks are used up, or placed if not reduced. */
	for (chunk = s->gathered; chunk < chunks; chunk++) {
		struct inc_part **part = part_at(s, place, chunk);

		if (!*part)
			continue;
		inc_part_drop(*part);
		*part = NULL;
		n++;
	}
	return n;
}

/* Where parts of a member wait: one place, or one for each block. */
static u16 first_place(const struct inc_slot *s, u16 member)
{
	const struct inc_slot_geom *g = s->geom;

	if (!g->at || !inc_slot_by_rank(s))
		return member;
	return member < g->members ?
	       g->at[g->ranges[member].first - g->own.first] : g->blocks;
}

static u16 drop_member(struct inc_slot *s, u16 member)
{
	/* Of the next chunk, some blocks may have arrived. */
	u16 chunks = min(s->got[member], s->msg.gather_chunks), place, n = 0;

	for (place = first_place(s, member);
	     place < first_place(s, member + 1); place++)
		n += drop_pending(s, place, chunks);
	if (s->half[member])
		inc_part_free(s->half[member]);
	s->half[member] = NULL;
	return n;
}

/**
 * inc_slot_sweep() - drop more parts of a message that has failed
 * @s: slot
 *
 * There may be 65,536 of them, which takes tens of milliseconds. The slot's next
 * message does not begin before all are dropped.
 *
 * Looks only where packets can have left a part: a part that covers several
 * ranks waits at the first of them, which has sent its own; in order of
 * arrival the part of a chunk is at rank 0.
 *
 * Context: the slot's lock is held.
 * Return: true if there may be more.
 */
bool inc_slot_sweep(struct inc_slot *s)
{
	u32 n = 0;

	if (!s->unswept)
		return false;
	for (; s->swept < s->geom->members; s->swept++) {
		if (n >= INC_SLOT_SWEEP)
			return true;
		if (s->got[s->swept])
			n += drop_member(s, s->swept);
	}
	if (s->geom->by_arrival)
		drop_pending(s, 0, s->msg.gather_chunks);
	s->unswept = false;
	return false;
}

/**
 * inc_slot_fail() - end a message with an error
 * @s: slot
 * @status: enum inc_status
 *
 * If @s->unswept then, inc_slot_sweep() has to follow, with pauses.
 *
 * Context: the slot's lock is held.
 * Return: true if a message was busy: the ranks that began it have to be told.
 */
bool inc_slot_fail(struct inc_slot *s, u8 status)
{
	if (s->state != RDMA_INC_SLOT_STATE_BUSY)
		return false;
	s->state = RDMA_INC_SLOT_STATE_FAILED;
	s->status = status;
	s->wrong = INC_SLOT_NOBODY;
	s->unlike = INC_SLOT_NOBODY;
	s->unswept = true;
	s->swept = 0;
	inc_slot_sweep(s);
	return true;
}
