// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * When a path is one for UC.
 */
#include "core/loss.h"
#include "test.h"

/* The reading that shows it, of @n with @packets each; one in @apart is lost. */
static unsigned int found_in(unsigned int n, unsigned int packets,
			     unsigned int apart)
{
	struct inc_loss l = { 0 };
	uint64_t sent = 0, lost = 0, now;
	unsigned int i;

	for (i = 1; i <= n; i++) {
		sent += packets;
		now = apart ? sent / apart - lost : 0;
		lost += now;
		if (inc_loss_add(&l, now, packets))
			return i;
	}
	return 0;
}

/* 200 packets in 100 ms are a link of 18 Mb/s, 20,000 one of 2 Gb/s. */
static void losses_show(void)
{
	EQ(found_in(10, 200, 20), 4);
	EQ(found_in(20, 200, 100), 16);
	OK(found_in(200, 200, 400));
	OK(found_in(20, 20000, 400));
	EQ(found_in(10, 20000, 100), 4);
}

static void rare_losses_do_not(void)
{
	EQ(found_in(5000, 200, 0), 0);
	EQ(found_in(5000, 200, 1000), 0);
	EQ(found_in(5000, 20000, 1000), 0);
}

static void a_burst_does_not(void)
{
	struct inc_loss l = { 0 };
	unsigned int i;

	OK(!inc_loss_add(&l, 500, 2000));
	OK(!inc_loss_add(&l, 200, 2000));
	for (i = 0; i < 1000; i++)
		OK(!inc_loss_add(&l, 0, 2000));
}

/* Losses of long ago do not make a new one count for more. */
static void what_is_old_is_forgotten(void)
{
	struct inc_loss l = { 0 };
	unsigned int i;

	for (i = 0; i < 3; i++)
		OK(!inc_loss_add(&l, 100, 2000));
	for (i = 0; i < 200; i++)
		OK(!inc_loss_add(&l, 0, 20000));
	EQ(l.lost, 0);
	OK(!inc_loss_add(&l, 15, 100));
}

static void nothing_is_no_loss(void)
{
	struct inc_loss l = { 0 };

	OK(!inc_loss_add(&l, 0, 0));
}

static const struct test_case cases[] = {
	{ "losses_show", losses_show },
	{ "rare_losses_do_not", rare_losses_do_not },
	{ "a_burst_does_not", a_burst_does_not },
	{ "what_is_old_is_forgotten", what_is_old_is_forgotten },
	{ "nothing_is_no_loss", nothing_is_no_loss },
};

TEST_MAIN(cases)
