// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* inc-amctl reservation. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/message.h"
#include "conf/unit.h"
#include "ctl/amctl.h"
#include "rdma_inc.pb-c.h"

static const char *const keywords[] = {
	"ranks", "groups", "for", "tenant", "by", NULL,
};

/* Indexes of keywords. */
enum { KEY_RANKS, KEY_GROUPS, KEY_FOR, KEY_TENANT, KEY_BY };

static void print_reservation(const ProtobufCMessage *msg)
{
	const RdmaInc__V1__Reservation *r =
		(const RdmaInc__V1__Reservation *)msg;
	char left[UNIT_LEN];

	printf("reservation %s: %u of %u groups, %u of %u ranks", r->name,
	       r->used_groups, r->groups, r->used_ranks, r->ranks);
	if (r->tenant[0])
		printf(", tenant %s", r->tenant);
	if (r->seconds)
		printf(", ends in %s",
		       unit_time(r->seconds * 1000ULL, left));
	printf(", by %s\n", r->by);
}

static void print_reservations(const ProtobufCMessage *msg)
{
	const RdmaInc__V1__Reservations *list =
		(const RdmaInc__V1__Reservations *)msg;
	size_t i;

	for (i = 0; i < list->n_reservations; i++)
		print_reservation(&list->reservations[i]->base);
}

static int show_reservations(int argc, char **argv)
{
	RdmaInc__V1__ReservationRequest req =
		RDMA_INC__V1__RESERVATION_REQUEST__INIT;

	if (argc > 2)
		return ctl_wrong("reservation show: one name, and its tenant, at most");
	if (argc)
		req.name = argv[0];
	if (argc > 1)
		req.tenant = argv[1];
	return ctl_show("ListReservations", &req.base,
			&rdma_inc__v1__reservations__descriptor,
			"reservations", print_reservations);
}

static bool get_number(const char *text, uint32_t *value)
{
	unsigned long num;
	char *end;

	errno = 0;
	num = strtoul(text, &end, 10);
	*value = (uint32_t)num;
	return !errno && end != text && !*end && *text != '-' && num &&
	       num <= UINT32_MAX;
}

static int read_number(const char *key, const char *text, uint32_t *value)
{
	return get_number(text, value) ? CTL_OK :
	       ctl_wrong("reservation add: %s %s: must be a number from 1 to %u",
			 key, text, UINT32_MAX);
}

/* Times are rounded up: the manager counts whole seconds. */
static int read_time(const char *text, uint32_t *seconds)
{
	uint64_t ms;

	if (!unit_msec(text, 1000, &ms))
		return ctl_wrong("reservation add: for %s: must be a time, as in 90, 15m, 2h or 1h30m",
				 text);
	if (!ms || ms > AM_RESERVE_MAX_S * 1000ULL)
		return ctl_wrong("reservation add: for %s: must be more than 0, and %u days at most",
				 text, AM_RESERVE_MAX_S / 86400);
	*seconds = (uint32_t)((ms + 999) / 1000);
	return CTL_OK;
}

static int read_value(RdmaInc__V1__Reservation *req, unsigned int key,
		      char *text)
{
	switch (key) {
	case KEY_RANKS:
		return read_number("ranks", text, &req->ranks);
	case KEY_GROUPS:
		return read_number("groups", text, &req->groups);
	case KEY_FOR:
		return read_time(text, &req->seconds);
	case KEY_TENANT:
		req->tenant = text;
		return CTL_OK;
	default:
		req->by = text;
		return CTL_OK;
	}
}

/* Read KEY VALUE ...; returns CTL_OK, or CTL_USAGE after a message. */
static int read_pairs(RdmaInc__V1__Reservation *req, int argc, char **argv)
{
	unsigned int key, seen = 0;
	int ret;

	for (; argc; argc -= 2, argv += 2) {
		for (key = 0; keywords[key] && !ctl_is(argv[0], keywords[key]);
		     key++)
			;
		if (!keywords[key])
			return ctl_wrong("reservation add: \"%s\" is none of ranks, groups, for, tenant, by",
					 argv[0]);
		if (seen & 1U << key)
			return ctl_wrong("reservation add: \"%s\" is there twice",
					 argv[0]);
		if (argc == 1)
			return ctl_wrong("reservation add: %s needs a value",
					 argv[0]);
		seen |= 1U << key;
		ret = read_value(req, key, argv[1]);
		if (ret)
			return ret;
	}
	return req->ranks ? CTL_OK :
	       ctl_wrong("reservation add: how many ranks? \"ranks N\"");
}

static int add_reservation(int argc, char **argv)
{
	RdmaInc__V1__Reservation req = RDMA_INC__V1__RESERVATION__INIT;
	int ret;

	if (!argc)
		return ctl_wrong("reservation add: NAME ranks N ...");
	req.name = argv[0];
	ret = read_pairs(&req, argc - 1, argv + 1);
	return ret ? ret :
	       ctl_show("AddReservation", &req.base,
			&rdma_inc__v1__reservation__descriptor, NULL,
			print_reservation);
}

static int delete_reservation(int argc, char **argv)
{
	RdmaInc__V1__ReservationRequest req =
		RDMA_INC__V1__RESERVATION_REQUEST__INIT;

	if (argc < 1 || argc > 2)
		return ctl_wrong("reservation del: which one? \"inc-amctl reservation\" lists them");
	req.name = argv[0];
	if (argc > 1)
		req.tenant = argv[1];
	return ctl_show("DeleteReservation", &req.base,
			&rdma_inc__v1__reservation__descriptor, NULL, NULL);
}

static int run_reservation(int argc, char **argv)
{
	if (!argc)
		return show_reservations(0, argv);
	if (ctl_is(argv[0], "show") || ctl_is(argv[0], "list"))
		return show_reservations(argc - 1, argv + 1);
	if (ctl_is(argv[0], "add"))
		return add_reservation(argc - 1, argv + 1);
	if (ctl_is(argv[0], "delete"))
		return delete_reservation(argc - 1, argv + 1);
	return ctl_wrong("reservation: \"%s\" is none of show, add, del",
			 argv[0]);
}

const struct ctl_object ctl_reservation = {
	.name	= "reservation",
	.keywords = keywords,
	.usage	=
	"Usage: inc-amctl reservation [show [NAME [TENANT]]]\n"
	"       inc-amctl reservation add NAME ranks N [groups N] [for TIME]\n"
	"                                 [tenant TENANT]\n"
	"       inc-amctl reservation del NAME [TENANT]\n"
	"\n"
	"add:  hold room for groups of a job that is to begin: so many groups (1), of\n"
	"      so many ranks in all. For others that room is used. The job's ranks name\n"
	"      the reservation by INC_AM_RESERVATION. A group that does not fit into it\n"
	"      is admitted as if there were none. Without \"for\" it lasts until it is\n"
	"      deleted. TIME: seconds, or as in 15m, 2h, 1d, 1h30m.\n"
	"del:  end it. Its groups go on.\n"
	"A client has the reservations of its tenant; TENANT is for operators, \"-\":\n"
	"callers without a tenant.\n",
	.run	= run_reservation,
};
