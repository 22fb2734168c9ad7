// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Clients that call in any order, hostile ones among them, and switches, a
 * store and a clock that do as they like: nothing may crash, stay for ever, or
 * keep the main loop busy. The manager is the real one, under AddressSanitizer.
 *
 *   fuzz_manager [STEPS [SEED]]
 *
 * A run with a seed is always the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rpc/message.h"
#include "group/group.h"
#include "rdma_inc.pb-c.h"
#include "tests/fake.h"

#define STEPS		80000
#define RUN		4000	/* steps of one manager */
#define GROUPS		6
#define RANKS		6
#define CALLS		200

static uint64_t state, seed;

/**
 * fuzz_any() - draw a number
 * @n: how many there are
 *
 * Return: 0 to @n - 1.
 */
uint32_t fuzz_any(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/**
 * fuzz_wrong() - end, since something is wrong
 * @what: what
 */
_Noreturn void fuzz_wrong(const char *what)
{
	printf("not ok - %s, seed %llu\n", what, (unsigned long long)seed);
	fflush(stdout);
	abort();
}

/* --- Clients ------------------------------------------------------------- */

static void who_calls(struct identity *id)
{
	static const char *const tenants[] = { "red", "blue", "hostile", "" };
	const char *tenant = tenants[fuzz_any(4)];

	snprintf(id->name, sizeof(id->name), "one");
	snprintf(id->tenant, sizeof(id->tenant), "%s", tenant);
	id->role = fuzz_any(5) ? ROLE_CLIENT :
		   (enum role)fuzz_any(ROLE_ADMIN + 1);
}

/* All ranks of a group wish the same, unless one is wrong. */
static void choose_join(struct inc_rdv_join *join, uint32_t group,
			uint32_t rank)
{
	uint32_t style = group * 7 + (uint32_t)(fake_ms / 50000);

	memset(join, 0, sizeof(*join));
	snprintf(join->job, sizeof(join->job), "g%u", group);
	join->ranks = 1 + style % RANKS;
	join->rank = rank % join->ranks;
	fake_host(&join->addr, (rank * 3 + group) %
		  ((FAKE_SWITCHES - 1) * FAKE_HOSTS));
	join->qpn = 1 + fuzz_any(1000);
	join->mtu = 1024;
	join->uc = style & 1;
	join->rebuild = style & 2;
	join->change = !(style & 1);
	join->cm = !(style % 5);
	if (!fuzz_any(40))
		join->ranks = 1 + fuzz_any(1200);
	if (!fuzz_any(40))
		join->rank = fuzz_any(1200);
	if (!fuzz_any(40))
		join->rebuild = !join->rebuild;
	if (!fuzz_any(40))
		fake_host(&join->addr, fuzz_any(250));
}

static void say(struct rpc_stream *call, const struct am_message *msg)
{
	uint8_t *data;
	size_t len;

	if (am_rank_pack(msg, &data, &len))
		return;
	fake_send(call, data, len);
	free(data);
}

static struct rpc_stream *open_call(const char *path,
				   const struct inc_rdv_addr *from)
{
	struct inc_rdv_addr any;
	struct identity who;

	who_calls(&who);
	fake_host(&any, fuzz_any((FAKE_SWITCHES - 1) * FAKE_HOSTS));
	return fake_call(path, &who, from ? from : &any);
}

static void join_group(uint32_t group, uint32_t rank,
		       const struct identity *who)
{
	struct am_message msg = { .rdv.type = INC_RDV_JOIN };
	struct rpc_stream *call;

	choose_join(&msg.rdv.join, group, rank);
	call = fake_call(AM_JOIN, who, &msg.rdv.join.addr);
	if (!fuzz_any(30))
		snprintf(msg.reservation, sizeof(msg.reservation), "r%u",
			 fuzz_any(3));
	call->join = msg.rdv.join;
	say(call, &msg);
}

static void join_all(void)
{
	struct identity who;
	uint32_t g = fuzz_any(GROUPS), i;

	who_calls(&who);
	for (i = 0; i < RANKS; i++)
		join_group(g, i, &who);
}

/* As the rank itself, or as one who knows all of it. */
static void resume(void)
{
	struct am_message msg = { .resume = true, .rdv.type = INC_RDV_JOIN };
	const struct group *g = fake_any_group();
	struct identity who = { .name = "two", .role = ROLE_CLIENT };
	const struct rank *r;

	if (!g)
		return;
	r = &g->ranks[fuzz_any(g->request.ranks)];
	msg.rdv.join = r->join;
	memcpy(msg.rdv.join.job, g->request.job, sizeof(msg.rdv.join.job));
	msg.rdv.join.ranks = g->request.ranks;
	msg.tree_id = r->subtree ? r->subtree->tree.id : fuzz_any(400);
	msg.resume = fuzz_any(8);
	memcpy(who.tenant, g->tenant->name, sizeof(who.tenant));
	say(fake_call(AM_JOIN, &who, &r->join.addr), &msg);
}

static void say_something(struct rpc_stream *call)
{
	static const enum inc_rdv_type types[] = {
		INC_RDV_RTS, INC_RDV_RTS, INC_RDV_LEAVE, INC_RDV_LOST,
		INC_RDV_REJOIN, INC_RDV_REJOIN, INC_RDV_JOIN, INC_RDV_LOSSY,
	};
	struct am_message msg = { .rdv.type = types[fuzz_any(8)] };

	if (!fuzz_any(20)) {
		fake_send(call, "\x0a\xff\x01 garbage", fuzz_any(12));
		return;
	}
	if (msg.rdv.type == INC_RDV_REJOIN) {
		msg.rdv.join.round = call->round + !fuzz_any(10);
		msg.rdv.join.qpn = 1 + fuzz_any(1000);
		msg.rdv.join.done = fuzz_any(3);
	} else if (msg.rdv.type == INC_RDV_JOIN) {
		choose_join(&msg.rdv.join, fuzz_any(GROUPS), fuzz_any(RANKS));
	}
	msg.heartbeat = !fuzz_any(6);
	msg.brief = fuzz_any(2);
	msg.failure = msg.rdv.type == INC_RDV_LOST && fuzz_any(2);
	say(call, &msg);
}

/* The request of any method but Join. */
static void ask(struct rpc_stream *call)
{
	RdmaInc__V1__Reservation r = RDMA_INC__V1__RESERVATION__INIT;
	RdmaInc__V1__GetGroupRequest get =
		RDMA_INC__V1__GET_GROUP_REQUEST__INIT;
	const ProtobufCMessage *msg = &get.base;
	uint8_t data[256];
	char name[8];

	snprintf(name, sizeof(name), "%c%u", fuzz_any(4) ? 'g' : 'r',
		 fuzz_any(GROUPS));
	get.name = name;
	if (strstr(call->path, "Tasks") || strstr(call->path, "History")) {
		/* Kind and name, in this order. */
		get.name = fuzz_any(2) ? "" : "task";
		get.tenant = fuzz_any(2) ? "" : name;
	} else if (strstr(call->path, "AddReservation")) {
		name[0] = 'r';
		r.name = name;
		r.ranks = 1 + fuzz_any(8);
		r.groups = 1 + fuzz_any(2);
		r.seconds = fuzz_any(60);
		msg = &r.base;
	} else if (strstr(call->path, "Switch")) {
		snprintf(name, sizeof(name), "%s%u", fuzz_any(2) ? "s" : "",
			 fuzz_any(FAKE_AGENTS));
	} else if (strstr(call->path, "Events") || !fuzz_any(8)) {
		get.name = "";
	}
	fake_send(call, data, protobuf_c_message_pack(msg, data));
}

#define PATH(name)	"/rdma_inc.v1.Manager/" name

static void request(void)
{
	static const char *const paths[] = {
		PATH("GetTopology"), PATH("ListGroups"), PATH("GetGroup"),
		PATH("DeleteGroup"), PATH("MoveGroup"), PATH("ListEvents"),
		PATH("WatchEvents"),
		PATH("WhyGroup"), PATH("ListTasks"), PATH("WatchTasks"),
		PATH("GetHistory"), PATH("ListQuotas"), PATH("WatchTasks"),
		PATH("AddReservation"), PATH("DeleteReservation"),
		PATH("ListReservations"), PATH("None"), AM_JOIN,
		PATH("DrainSwitch"), PATH("ResumeSwitch"),
		PATH("RenameSwitch"),
	};
	struct rpc_stream *call;

	call = open_call(paths[fuzz_any(sizeof(paths) / sizeof(paths[0]))],
			 NULL);
	if (strstr(call->path, "Switch"))
		call->who.role = ROLE_OPERATOR;
	call->not_reading = !fuzz_any(6);
	if (fuzz_any(12))
		ask(call);
	if (fuzz_any(3))
		call->half_closed = true;
	if (!fuzz_any(5))
		call->cancelled = true;
}

/* --- One step ------------------------------------------------------------ */

static struct rpc_stream *any_call(void)
{
	struct rpc_stream *call;
	uint32_t n = 0;

	for (call = fake_calls(); call; call = call->next)
		n++;
	if (!n)
		return NULL;
	/* Too many make each step slow. */
	if (n > CALLS)
		fake_calls()->cancelled = true;
	n = fuzz_any(n);
	for (call = fake_calls(); n; n--)
		call = call->next;
	return call;
}

static void act_on(struct rpc_stream *call)
{
	if (!call)
		return;
	switch (fuzz_any(24)) {
	case 0:
		call->cancelled = true;
		break;
	case 1:
		call->half_closed = true;
		break;
	case 2:
	case 3:
		call->not_reading = !call->not_reading;
		break;
	default:
		if (!strcmp(call->path, AM_JOIN))
			say_something(call);
	}
}

/* All ranks have their queue pairs ready. */
static void all_ready(void)
{
	const struct am_message rts = { .rdv.type = INC_RDV_RTS };
	struct rpc_stream *call;

	for (call = fake_calls(); call; call = call->next)
		if (call->tree_id) {
			say(call, &rts);
			call->tree_id = 0;
		}
}

static void pass_time(void)
{
	static const int64_t ms[] = { 1, 1, 10, 100, 100, 700, 2500, 70000 };

	fake_ms += ms[fuzz_any(sizeof(ms) / sizeof(ms[0]))];
}

static void write_limits(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		abort();
	fprintf(f, "all-groups = %u\ntenant = red\npriority = 5\n"
		"tenant = hostile\ngroups = 3\nmax-ranks = 5\n",
		3 + fuzz_any(6));
	fclose(f);
}

static void change_limits(void)
{
	FILE *f = fake_manager.o.tenants && !fuzz_any(4) ? fopen(fake_manager.o.tenants, "w") : NULL;
	char err[512];

	if (f) {
		fputs("nonsense\n", f);
		fclose(f);
	} else if (fake_manager.o.tenants) {
		write_limits(fake_manager.o.tenants);
	}
	tenants_reload(&fake_manager.tenants, err, sizeof(err));
}

static void rare(void)
{
	switch (fuzz_any(10)) {
	case 0:
		fake_break(fuzz_any(FAKE_AGENTS), fuzz_any(2));
		break;
	case 1:
		fake_store_lead(fuzz_any(3));
		break;
	case 2:
		session_check_callers(&fake_manager);
		break;
	case 3:
	case 4:
		switches_reload(&fake_manager);
		break;
	case 5:
		change_limits();
		break;
	default:
		fake_news(&fake_manager);
	}
}

static void work_on(uint32_t n)
{
	while (n-- && fake_work())
		fake_settle();
}

static void step(void)
{
	uint32_t what = fuzz_any(100);

	if (what < 30)
		work_on(1 + fuzz_any(4));
	else if (what < 45)
		act_on(any_call());
	else if (what < 55)
		request();
	else if (what < 60)
		join_all();
	else if (what < 70)
		resume();
	else if (what < 78)
		all_ready();
	else if (what < 82)
		work_on(300);
	else if (what < 97)
		pass_time();
	else
		rare();
	fake_settle();
}

int main(int argc, char **argv)
{
	uint64_t steps = argc > 1 ? strtoull(argv[1], NULL, 0) : STEPS, i;
	char path[] = "/tmp/fuzz_manager.XXXXXX";
	int fd = mkstemp(path);
	unsigned int k;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) :
			  (uint64_t)getpid() * 1000003 + (uint64_t)time(NULL);
	printf("# %llu steps, seed %llu\n", (unsigned long long)steps,
	       (unsigned long long)seed);
	fflush(stdout);
	if (fd < 0)
		abort();
	close(fd);
	state = seed;
	for (i = 0; i < steps; i += RUN) {
		write_limits(path);
		fake_start(fuzz_any(2) ? path : NULL, fuzz_any(2),
			   fuzz_any(4) ? 1000 : 0);
		for (k = 0; k < RUN; k++)
			step();
		fake_stop();
	}
	unlink(path);
	puts("ok - random calls, completions and failures");
	return 0;
}
