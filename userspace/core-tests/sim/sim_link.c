// SPDX-License-Identifier: GPL-2.0
/*
 * The clock, and the links between hosts and switches: what is sent arrives later,
 * twice, out of order, or not at all.
 */
#include "sim.h"

uint64_t seed, now;
int at_rank, ranks;
struct sw *at_sw;
bool broken;
struct sw sws[1 + MAX_LEAVES];
int nsw;
struct sim_links links;
struct buf *live;
unsigned int rnr, held_back, stall, busy, rxe_timeout;
u32 first_msg;
struct inc_msg msgs[NMSG];
u8 *data[NMSG][MAX_RANKS];
bool fails[NMSG];

static uint64_t state, ev_no;
static struct {
	unsigned int	left;
	u64		until;
} to_lose[TO_LEAF + 1][1 + MAX_LEAVES][MAX_RANKS];
static struct event *heap[65536];
static unsigned int nheap;

/* Begin a run of @seed. */
void begin_links(void)
{
	state = seed * 0x9e3779b97f4a7c15 + 1;
	now = 1000000;
	nheap = 0;
	broken = false;
	memset(to_lose, 0, sizeof(to_lose));
}

bool have_events(void)
{
	return nheap;
}

uint64_t rnd(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

u32 below(u32 n)
{
	return (rnd() >> 32) % n;
}

static bool before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->no < b->no);
}

void put_event(struct event e)
{
	struct event *n = malloc(sizeof(*n));
	unsigned int i = nheap++;

	require(nheap < ARRAY_SIZE(heap));
	e.no = ev_no++;
	*n = e;
	for (; i && before(n, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = n;
}

struct event get_event(void)
{
	struct event e = *heap[0], *last = heap[--nheap];
	unsigned int i = 0, k;

	free(heap[0]);
	while ((k = 2 * i + 1) < nheap) {
		if (k + 1 < nheap && before(heap[k + 1], heap[k]))
			k++;
		if (!before(heap[k], last))
			break;
		heap[i] = heap[k];
		i = k;
	}
	if (nheap)
		heap[i] = last;
	return e;
}

struct buf *new_buf(const void *hdr, u32 hdr_len, const void *p, u32 len)
{
	struct buf *b = malloc(sizeof(*b) + hdr_len + len);

	b->len = hdr_len + len;
	b->from = NULL;
	if (hdr_len)
		memcpy(b->data, hdr, hdr_len);
	if (len)
		memcpy(b->data + hdr_len, p, len);
	b->crc = inc_crc_payload(b->data, b->len);
	b->next = live;
	b->at = &live;
	if (live)
		live->at = &b->next;
	live = b;
	return b;
}

void free_buf(struct buf *b)
{
	if (!b)
		return;
	*b->at = b->next;
	if (b->next)
		b->next->at = b->at;
	free(b);
}

void inc_part_free(struct inc_part *part)
{
	free_buf(container_of(part, struct buf, part));
}

/* The switch of a rank. */
struct sw *place_of(int rank)
{
	for (int i = 1; i < nsw; i++)
		if (rank >= sws[i].first &&
		    rank < sws[i].first + sws[i].geom.members)
			return &sws[i];
	return &sws[0];
}

/*
 * Set the other end: a rank sends to its switch, a switch to a rank or a child,
 * a child's uplink (TO_LEAF here) to the root.
 */
static void address(struct event *e)
{
	struct sw *child;

	switch (e->dest) {
	case TO_SWITCH:
		e->sw = place_of(at_rank);
		e->rank = at_rank - e->sw->first;
		break;
	case TO_MEMBER:
		child = at_sw->child[at_rank];
		e->dest = child ? TO_LEAF : TO_MEMBER;
		e->sw = child;
		e->rank = child ? 0 : at_sw->first + at_rank;
		break;
	default:
		e->dest = TO_SWITCH;
		e->sw = &sws[0];
		e->rank = at_sw->up->at;
		break;
	}
}

static void put_copy(const struct event *to, u64 at, const struct inc_pkt *pkt,
		     const struct buf *buf)
{
	struct buf *copy = NULL;

	if (buf) {
		copy = new_buf(NULL, 0, buf->data, buf->len);
		copy->from = buf->from;
		copy->crc = buf->crc;
	}
	put_event((struct event) {
		.at = at, .dest = to->dest, .sw = to->sw, .rank = to->rank,
		.pkt = *pkt, .buf = copy,
	});
}

/*
 * Is a packet's ICRC right? Bytes that were read when it was sent have their CRC. Of
 * those that are read only now, a receiver that has had them drops other ones: one
 * that needs them gets zeros next.
 */
bool is_right(struct buf *b)
{
	if (b->from)
		memcpy(b->data, b->from, b->len);
	if (inc_crc_payload(b->data, b->len) == b->crc)
		return true;
	require(b->from);
	links.n_torn++;
	return false;
}

/*
 * Is the next packet of this link lost? Losses come in runs, but a run has an
 * end in time: retransmissions are 12 s apart at last, and two runs, one in each
 * direction, would take more than the dead time.
 */
static bool is_lost(const struct event *to)
{
	typeof(&to_lose[0][0][0]) run =
		&to_lose[to->dest][to->sw ? to->sw - sws : 0][to->rank];

	if (now > run->until)
		run->left = 0;
	if (!run->left && below(1000) < links.loss) {
		run->left = 1 + below(links.run_len);
		run->until = now + FNS;
	}
	if (!run->left)
		return false;
	run->left--;
	links.n_lost++;
	return true;
}

/*
 * Put a packet on the link; each copy has its own payload. Some copies are late:
 * others overtake them. The end of a message that comes late may fit by chance.
 */
void transmit(enum dest dest, const struct inc_pkt *pkt, struct buf *buf)
{
	const u8 ends = INC_PKT_FIRST | INC_PKT_LAST;
	struct event to = { .dest = dest };
	unsigned int later = links.late;

	if (dest == TO_SWITCH && (pkt->flags & ends) == INC_PKT_LAST)
		later += links.late_last;
	address(&to);
	if (!broken && !is_lost(&to)) {
		put_copy(&to, now + links.delay + below(links.jitter + 1), pkt, buf);
		if (below(1000) < links.dup)
			put_copy(&to, now + links.delay + below(links.jitter + 1), pkt, buf);
		if (later && below(1000) < later)
			put_copy(&to, now + links.delay + below(links.late_by), pkt, buf);
	}
	free_buf(buf);
}

void respond(enum dest dest, u8 syndrome, u32 psn)
{
	struct inc_pkt pkt = {
		.opcode = 0x11, .flags = INC_PKT_AETH, .psn = psn,
		.syndrome = syndrome,
	};

	transmit(dest, &pkt, NULL);
}
