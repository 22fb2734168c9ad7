// SPDX-License-Identifier: GPL-2.0
/*
 * The responder at the end of a bad link: a go-back-N sender, and a channel
 * that loses, duplicates and reorders. Everything has to be delivered once and
 * in order, with one NAK per gap.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "common.h"
#include "core/psn.h"
#include "core/responder.h"
#include "pkt.h"

#define PMTU		256
#define MAX_MSG		2048
#define NPKT		600
#define WINDOW		48
#define CHANNEL		256

struct sender {
	struct inc_pkt	pkt[NPKT];
	unsigned int	una;		/* first unacknowledged */
	unsigned int	next;
};

struct response {
	bool	nak;
	u32	psn;
	u32	msn;
};

struct channel {
	unsigned int	npkt, nresp;
	struct inc_pkt	pkt[CHANNEL];
	struct response	resp[CHANNEL];
};

struct model {
	struct inc_rng	rng;
	struct sender	s;
	struct channel	c;
	struct inc_responder	r;
	u32		first_psn;
	unsigned int	delivered, messages, naks;
	unsigned int	loss, dup, reorder;	/* permille */
};

/* Messages of 32 ... MAX_MSG bytes, cut into packets; PSNs from @psn on. */
static void write_messages(struct model *m)
{
	u32 psn = m->first_psn, left = 0, len;
	struct inc_pkt *pkt = m->s.pkt;

	for (unsigned int i = 0; i < NPKT; i++, pkt++) {
		bool first = !left;

		if (first) {
			left = 32 + inc_rnd_below(&m->rng, MAX_MSG - 31);
			/* The last message has to end here. */
			if (i + DIV_ROUND_UP(left, PMTU) >= NPKT)
				left = 32 + inc_rnd_below(&m->rng, PMTU - 31);
		}
		len = left;
		left -= min_t(u32, left, PMTU);
		*pkt = test_pkt(first ? left ? OP_FIRST : OP_ONLY_IMM :
				left ? OP_MIDDLE : OP_LAST_IMM, psn,
				min_t(u32, len, PMTU), len);
		pkt->rkey = 1;
		pkt->va = (u64)inc_rnd_below(&m->rng, 4) * MAX_MSG;
		pkt->ackreq = !left;
		psn = inc_psn_add(psn, 1);
	}
}

static void put_pkt(struct model *m, const struct inc_pkt *pkt)
{
	unsigned int n = 1 + inc_rnd_chance(&m->rng, m->dup);

	if (inc_rnd_chance(&m->rng, m->loss))
		return;
	while (n-- && m->c.npkt < CHANNEL)
		m->c.pkt[m->c.npkt++] = *pkt;
}

static void put_resp(struct model *m, bool nak, u32 psn)
{
	struct response resp = { .nak = nak, .psn = psn, .msn = m->r.msn };

	if (!inc_rnd_chance(&m->rng, m->loss) && m->c.nresp < CHANNEL)
		m->c.resp[m->c.nresp++] = resp;
}

/* Which of @n in the channel is delivered next. */
static unsigned int pick(struct model *m, unsigned int n)
{
	return inc_rnd_chance(&m->rng, m->reorder) ?
	       inc_rnd_below(&m->rng, min_t(unsigned int, n, 10)) : 0;
}

static void respond(struct kunit *test, struct model *m)
{
	unsigned int i = pick(m, m->c.npkt);
	struct inc_pkt pkt = m->c.pkt[i];
	enum inc_responder_verdict v;

	memmove(&m->c.pkt[i], &m->c.pkt[i + 1],
		(--m->c.npkt - i) * sizeof(m->c.pkt[0]));
	v = inc_responder_check(&m->r, &pkt);
	switch (v) {
	case INC_RESP_NEW:
		KUNIT_ASSERT_EQ_MSG(test, pkt.psn, m->s.pkt[m->delivered].psn,
				    "packet %u", m->delivered);
		inc_responder_accept(&m->r, &pkt);
		m->naks = 0;
		m->delivered++;
		m->messages += !!(pkt.flags & INC_PKT_LAST);
		break;
	case INC_RESP_DUP:
		KUNIT_ASSERT_LT(test, inc_psn_diff(pkt.psn, m->r.epsn), 0);
		break;
	case INC_RESP_OOO:
		if (inc_responder_nak_due(&m->r)) {
			m->naks++;
			put_resp(m, true, m->r.epsn);
		}
		KUNIT_ASSERT_EQ_MSG(test, m->naks, 1U, "NAKs for 0x%x", m->r.epsn);
		return;
	case INC_RESP_STRANGE:
	case INC_RESP_INVALID:
	case INC_RESP_ACCESS:
		KUNIT_FAIL_AND_ABORT(test, "packet %u refused: %d", m->delivered, v);
	}
	if (inc_responder_ack_due(&m->r, pkt.ackreq))
		put_resp(m, false, inc_psn_add(m->r.epsn, -1));
}

static void take_response(struct kunit *test, struct model *m)
{
	unsigned int i = pick(m, m->c.nresp), to;
	struct response resp = m->c.resp[i];
	s32 ahead;

	memmove(&m->c.resp[i], &m->c.resp[i + 1],
		(--m->c.nresp - i) * sizeof(m->c.resp[0]));
	ahead = inc_psn_diff(resp.psn, m->s.pkt[m->s.una].psn) + !resp.nak;
	KUNIT_ASSERT_LE(test, ahead, (s32)WINDOW);
	if (ahead < 0 || m->s.una == NPKT)
		return;
	to = m->s.una + ahead;
	/* Only delivered packets may be acknowledged. */
	KUNIT_ASSERT_LE(test, to, m->delivered);
	m->s.una = to;
	if (m->s.next < to || resp.nak)
		m->s.next = to;
}

static void run(struct kunit *test, struct model *m)
{
	unsigned int steps = 0;

	while (m->s.una < NPKT) {
		bool may_send = m->s.next < NPKT && m->s.next < m->s.una + WINDOW;

		KUNIT_ASSERT_LT_MSG(test, steps++, 400000U, "stuck at %u, %u",
				    m->s.una, m->delivered);
		switch (inc_rnd_below(&m->rng, 4)) {
		case 0:
		case 1:
			if (may_send)
				put_pkt(m, &m->s.pkt[m->s.next++]);
			break;
		case 2:
			if (m->c.npkt)
				respond(test, m);
			break;
		case 3:
			if (m->c.nresp)
				take_response(test, m);
			break;
		}
		/*
		 * Timeout: nothing moves any more. The last packet has AckReq.
		 */
		if (!m->c.npkt && !m->c.nresp && !may_send)
			m->s.next = m->s.una;
	}
}

static void lossy_channel(struct kunit *test)
{
	const unsigned int n = inc_test_rounds(30);
	struct model *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);
	struct inc_rng rng;

	KUNIT_ASSERT_NOT_NULL(test, m);
	inc_rng_init(&rng, test);
	for (unsigned int i = 0; i < n; i++) {
		unsigned int messages = 0;

		memset(m, 0, sizeof(*m));
		m->rng.state = inc_rnd(&rng);
		if (i) {
			m->loss = inc_rnd_below(&m->rng, 150);
			m->dup = inc_rnd_below(&m->rng, 200);
			m->reorder = inc_rnd_below(&m->rng, 300);
		}
		/* Every second run has the wrap somewhere in it. */
		m->first_psn = i & 1 ? inc_rnd_below(&m->rng, 1 << 24) :
			       0x1000000 - 1 - inc_rnd_below(&m->rng, NPKT);
		m->r = (struct inc_responder) {
			.epsn = m->first_psn, .rkey = 1, .stride = MAX_MSG,
			.slots = 4, .pmtu = PMTU,
		};
		write_messages(m);
		run(test, m);

		for (unsigned int k = 0; k < NPKT; k++)
			messages += !!(m->s.pkt[k].flags & INC_PKT_LAST);
		KUNIT_ASSERT_EQ(test, m->delivered, (unsigned int)NPKT);
		KUNIT_ASSERT_EQ(test, m->messages, messages);
		KUNIT_ASSERT_EQ(test, m->r.msn, messages);
		KUNIT_ASSERT_EQ(test, m->r.epsn, inc_psn_add(m->first_psn, NPKT));
		KUNIT_ASSERT_FALSE(test, m->r.in_msg);
	}
}

static struct kunit_case resp_model_cases[] = {
	KUNIT_CASE(lossy_channel),
	{}
};

static struct kunit_suite resp_model_suite = {
	.name = "rdma_inc_responder_model",
	.test_cases = resp_model_cases,
};

kunit_test_suite(resp_model_suite);

MODULE_LICENSE("GPL");
