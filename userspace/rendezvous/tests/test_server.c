// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * The coordinator of one switch (inc-tool serve) on a fake kernel: the daemon runs
 * in a child process and calls the netlink functions of this file; the test talks
 * to it as ranks do, by libinc-am.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/clock.h"
#include "lib/daemon/libinc-am.h"
#include "lib/tests/test.h"
#include "nl/nl.h"
#include "proto.h"
#include "server.h"

/* Longer than any machine takes for anything. */
#define PATIENCE_S	60

/* Shared by both processes. */
struct shared {
	int		trees;
	int		trees_made;
	bool		gone;
	int		members;
	int		links;
	int		refuse;		/* errno of the next tree-new */
	int		refuse_member;	/* and member-new */
	uint32_t	psn;
};

int cmd_serve(int argc, char **argv);

static struct shared *k;
static char port[8];
static int event_pipe[2];
static pid_t daemon_pid;

/* --- The fake kernel (runs in the daemon's process) -------------------- */

static struct nl_sock *const a_socket = (struct nl_sock *)&event_pipe;

int inc_nl_open(struct inc_nl *nl)
{
	nl->sock = a_socket;
	return 0;
}

void inc_nl_close(struct inc_nl *nl)
{
	nl->sock = NULL;
}

int inc_nl_switch_get(struct inc_nl *nl, struct inc_nl_switch *reply)
{
	(void)nl;
	memset(reply, 0, sizeof(*reply));
	return 0;
}

int inc_nl_subscribe(struct inc_nl *nl)
{
	(void)nl;
	return 0;
}

int inc_nl_fd(const struct inc_nl *nl)
{
	(void)nl;
	return event_pipe[0];
}

int inc_nl_events(struct inc_nl *nl,
		  int (*fn)(const struct inc_nl_event *ev, void *arg),
		  void *arg)
{
	struct inc_nl_event ev;

	(void)nl;
	if (read(event_pipe[0], &ev, sizeof(ev)) != sizeof(ev))
		return -EIO;
	return fn(&ev, arg);
}

int inc_nl_tree_new(struct inc_nl *nl, const struct inc_nl_tree *req,
		    struct inc_nl_tree *reply)
{
	if (k->refuse) {
		int err = k->refuse;

		k->refuse = 0;
		strcpy(nl->error, "the kernel says no");
		return -err;
	}
	*reply = *req;
	k->trees_made++;
	reply->id = (uint32_t)k->trees_made;
	reply->epoch = reply->id;
	if (!reply->slots)
		reply->slots = 256;
	if (!reply->msg_size)
		reply->msg_size = 65536;
	if (!reply->pmtu)
		reply->pmtu = 1024;
	reply->collectives = 1 << 6;
	reply->dead_time = 600;
	k->trees++;
	return 0;
}

/* The administrator's tree: 77, for two ranks. */
int inc_nl_tree_get(struct inc_nl *nl, uint32_t id, struct inc_nl_tree *reply)
{
	if (id != 77 || k->gone) {
		strcpy(nl->error, "there is no such tree");
		return -ENOENT;
	}
	memset(reply, 0, sizeof(*reply));
	reply->id = id;
	reply->ranks = 2;
	reply->slots = 16;
	reply->msg_size = 1024;
	reply->pmtu = 1024;
	return 0;
}

int inc_nl_tree_del(struct inc_nl *nl, uint32_t id)
{
	(void)nl;
	(void)id;
	k->trees--;
	return 0;
}

int inc_nl_member_new(struct inc_nl *nl, const struct inc_nl_member *req,
		      struct inc_nl_member *reply)
{
	if (k->refuse_member) {
		int err = k->refuse_member;

		k->refuse_member = 0;
		strcpy(nl->error, "the kernel says no");
		return -err;
	}
	memset(reply, 0, sizeof(*reply));
	reply->qpn = 0x800000 + req->rank;
	reply->psn = INC_NL_HAS(req, MEMBER_PSN) ? req->psn : 5;
	reply->rkey = 99;
	reply->local_addr.len = 4;
	memcpy(reply->local_addr.bytes, "\12\0\0\376", 4);
	k->members++;
	return 0;
}

int inc_nl_parent_get(struct inc_nl *nl, uint32_t tree_id,
		      struct inc_nl_member *reply)
{
	(void)nl;
	memset(reply, 0, sizeof(*reply));
	reply->qpn = 0x900000 + tree_id;
	reply->psn = 6;
	return 0;
}

int inc_nl_parent_set(struct inc_nl *nl, const struct inc_nl_member *req,
		      struct inc_nl_member *reply)
{
	(void)nl;
	(void)req;
	(void)reply;
	k->links++;
	return 0;
}

int inc_nl_member_del(struct inc_nl *nl, uint32_t tree_id, uint16_t rank)
{
	(void)nl;
	(void)tree_id;
	(void)rank;
	k->members--;
	return 0;
}

/* --- The test's side --------------------------------------------------- */

/* Other tests may run on this machine. */
static void choose_port(void)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	EQ(bind(fd, (struct sockaddr *)&sin, len), 0);
	EQ(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	snprintf(port, sizeof(port), "%u", ntohs(sin.sin_port));
	close(fd);
}

static void daemon_start(const char *opt, const char *arg)
{
	/* Ranks connect from 127.0.0.1 but name 10.0.0.1 as their address. */
	char *argv[] = { "inc-tool", "serve", "-l", "127.0.0.1", "-p", port,
			 "--allow", "10.0.0.1", (char *)opt, (char *)arg,
			 NULL };
	int argc = opt ? arg ? 10 : 9 : 8;
	int ready[2];
	char c;

	memset(k, 0, sizeof(*k));
	choose_port();
	if (pipe(event_pipe) || pipe(ready))
		exit(1);
	daemon_pid = fork();
	if (!daemon_pid) {
		dup2(ready[1], 1);
		close(ready[0]);
		close(event_pipe[1]);
		exit(cmd_serve(argc, argv));
	}
	close(ready[1]);
	OK(read(ready[0], &c, 1) == 1);
	close(ready[0]);
}

static int daemon_end(void)
{
	int status = -1;

	kill(daemon_pid, SIGTERM);
	waitpid(daemon_pid, &status, 0);
	close(event_pipe[0]);
	close(event_pipe[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct conn {
	struct inc_am	*am;
};

static struct conn dial(void)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char where[32], err[256];
	struct conn c;

	EQ(connect(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	snprintf(where, sizeof(where), "127.0.0.1:%s", port);
	c.am = INC_AM_OPS.open(fd, where, false, err, sizeof(err));
	OK(c.am);
	return c;
}

/* As a rank that dies. */
static void hang_up(struct conn *c)
{
	INC_AM_OPS.close(c->am);
}

static void say_msg(struct conn *c, const struct inc_rdv_msg *msg)
{
	EQ(INC_AM_OPS.send(c->am, msg), 0);
}

static void say(struct conn *c, enum inc_rdv_type type)
{
	say_msg(c, &(struct inc_rdv_msg){ .type = type });
}

/* Next message; type -1 if the connection ends, -2 on a timeout. */
static int hear(struct conn *c, struct inc_rdv_msg *msg)
{
	struct pollfd pfd;
	int ret;

	while ((ret = INC_AM_OPS.recv(c->am, msg, &pfd.events)) == -EAGAIN) {
		pfd.fd = INC_AM_OPS.fd(c->am);
		if (TEMP_FAILURE_RETRY(poll(&pfd, 1, PATIENCE_S * 1000)) != 1)
			return -2;
	}
	return ret ? -1 : (int)msg->type;
}

static int hear_type(struct conn *c)
{
	struct inc_rdv_msg msg;

	return hear(c, &msg);
}

/* Expect an error that says @text, and the end of the connection. */
static void hear_error(struct conn *c, int err, const char *text)
{
	struct inc_rdv_msg msg;

	EQ(hear(c, &msg), INC_RDV_ERROR);
	EQ(msg.err, err);
	if (!strstr(msg.text, text)) {
		printf("# \"%s\" does not say \"%s\"\n", msg.text, text);
		test_errors++;
	}
	EQ(hear_type(c), -1);
	hang_up(c);
}

static struct inc_rdv_join who(const char *job, unsigned int rank,
			       unsigned int ranks)
{
	struct inc_rdv_join j = { .rank = rank, .ranks = ranks, .qpn = 17 };

	strcpy(j.job, job);
	inc_rdv_addr_parse("10.0.0.1", &j.addr);
	return j;
}

static void say_join(struct conn *c, const struct inc_rdv_join *join)
{
	say_msg(c, &(struct inc_rdv_msg){
		.type = INC_RDV_JOIN, .join = *join });
}

/* Join, expect the reply, and be ready. */
static struct conn join(const char *job, unsigned int rank, unsigned int ranks)
{
	struct inc_rdv_join j = who(job, rank, ranks);
	struct conn c = dial();

	say_join(&c, &j);
	EQ(hear_type(&c), INC_RDV_JOINED);
	say(&c, INC_RDV_RTS);
	return c;
}

static void leave(struct conn *c)
{
	say(c, INC_RDV_LEAVE);
	EQ(hear_type(c), INC_RDV_BYE);
	EQ(hear_type(c), -1);
	hang_up(c);
}

/* The daemon deletes what takes it too long in a later turn. */
static void wait_count(const volatile int *count, int n)
{
	int i;

	for (i = 0; i < PATIENCE_S * 100 && *count != n; i++)
		usleep(10000);
	EQ(*count, n);
}

static void wait_trees(int n)
{
	wait_count(&k->trees, n);
}

/* --- Cases ------------------------------------------------------------- */

static void whole_life(void)
{
	struct inc_rdv_join j = who("life", 1, 2);
	struct inc_rdv_msg msg;
	struct conn a, b;

	daemon_start("--psn", "0xfffff8");
	a = join("life", 0, 2);
	EQ(k->trees, 1);
	b = dial();
	say_join(&b, &j);
	EQ(hear(&b, &msg), INC_RDV_JOINED);
	EQ(msg.joined.qpn, 0x800001);
	EQ(msg.joined.psn, 0xfffff8);
	EQ(msg.joined.slots, 256);
	EQ(msg.joined.addr.len, 4);
	say(&b, INC_RDV_RTS);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear_type(&b), INC_RDV_READY);
	leave(&a);
	EQ(k->trees, 1);
	leave(&b);
	EQ(k->trees, 0);
	EQ(k->members, 0);
	EQ(daemon_end(), 0);
}

/* The kernel reports late that a tree was deleted, and gives its ID to another one. */
static void same_id(void)
{
	struct conn a, b;

	daemon_start(NULL, NULL);
	a = join("first", 0, 2);
	k->trees--;
	k->members--;
	k->trees_made--;
	b = join("second", 0, 2);
	EQ(hear_type(&a), INC_RDV_FAILED);
	leave(&a);
	EQ(k->trees, 1);
	EQ(k->members, 1);
	leave(&b);
	EQ(k->trees, 0);
	EQ(k->members, 0);
	EQ(daemon_end(), 0);
}

static void wrong_input(void)
{
	struct inc_rdv_join j = who("x", 0, 2);
	struct conn c;

	daemon_start(NULL, NULL);
	c = dial();
	j.qpn = 1;
	say_join(&c, &j);
	hear_error(&c, EINVAL, "qpn");
	c = dial();
	say(&c, INC_RDV_REJOIN);
	hear_error(&c, EINVAL, "rejoin");
	c = dial();
	say_msg(&c, &(struct inc_rdv_msg){
		.type = INC_RDV_RETRACT, .join = who("x", 0, 2) });
	hear_error(&c, EPROTO, "without \"gather\"");
	c = dial();
	say(&c, INC_RDV_LEAVE);
	EQ(hear_type(&c), INC_RDV_BYE);
	hang_up(&c);
	EQ(k->trees_made, 0);
	EQ(daemon_end(), 0);
}

static void does_not_suit(void)
{
	struct inc_rdv_join j;
	struct conn a, c;

	daemon_start("--pmtu", "2048");
	a = join("x", 0, 3);
	j = who("x", 0, 3);
	c = dial();
	say_join(&c, &j);
	hear_error(&c, EEXIST, "taken");
	j = who("x", 1, 4);
	c = dial();
	say_join(&c, &j);
	hear_error(&c, EINVAL, "3 ranks, not 4");
	j = who("x", 1, 3);
	j.tree.slots = 16;
	c = dial();
	say_join(&c, &j);
	hear_error(&c, EINVAL, "slots 16");
	j = who("x", 1, 3);
	j.mtu = 1024;
	c = dial();
	say_join(&c, &j);
	hear_error(&c, EMSGSIZE, "2048");
	j = who("x", 1, 3);
	j.uc = true;
	c = dial();
	say_join(&c, &j);
	hear_error(&c, EINVAL, "of one packet");
	j = who("y", 1, 3);
	j.ranks = 2000;
	c = dial();
	say_join(&c, &j);
	hear_error(&c, EINVAL, "1024");
	j.ranks = 3;
	say_join(&a, &j);
	hear_error(&a, EPROTO, "its own connection");
	wait_trees(0);
	EQ(daemon_end(), 0);
}

static void kernel_refuses(void)
{
	struct inc_rdv_join j = who("x", 0, 3);
	struct conn c;

	daemon_start("--max-trees", "1");
	k->refuse = ENOBUFS;
	c = dial();
	say_join(&c, &j);
	hear_error(&c, ENOSPC, "kernel says no");
	k->refuse = EDQUOT;
	c = dial();
	say_join(&c, &j);
	hear_error(&c, ENOSPC, "kernel says no");
	k->refuse = ENOMEM;
	c = dial();
	say_join(&c, &j);
	hear_error(&c, ENOSPC, "kernel says no");
	c = join("x", 0, 3);
	hang_up(&c);
	wait_trees(0);
	c = join("x", 0, 3);
	j = who("y", 0, 1);
	{
		struct conn d = dial();

		say_join(&d, &j);
		hear_error(&d, ENOSPC, "1 jobs");
	}
	hang_up(&c);
	EQ(daemon_end(), 0);
}

/* A member that the kernel refuses: the others would wait for it in vain. */
static void no_room_for_a_member(void)
{
	struct inc_rdv_join j = who("x", 2, 3);
	struct conn a, b, c;

	daemon_start(NULL, NULL);
	a = join("x", 0, 3);
	b = join("x", 1, 3);
	c = dial();
	k->refuse_member = ENOBUFS;
	say_join(&c, &j);
	hear_error(&c, ENOSPC, "rank 2: the kernel says no");
	hear_error(&a, ENOSPC, "rank 2: the kernel says no");
	hear_error(&b, ENOSPC, "rank 2: the kernel says no");
	wait_trees(0);
	/* It is the only one at fault. */
	a = join("x", 0, 3);
	c = dial();
	k->refuse_member = ENETUNREACH;
	say_join(&c, &j);
	hear_error(&c, EHOSTUNREACH, "the kernel says no");
	c = join("x", 2, 3);
	b = join("x", 1, 3);
	EQ(hear_type(&a), INC_RDV_READY);
	hang_up(&a);
	hang_up(&b);
	hang_up(&c);
	EQ(daemon_end(), 0);
}

static void leave_without(struct conn *c, const char *missing)
{
	struct inc_rdv_msg msg;

	say(c, INC_RDV_LEAVE);
	EQ(hear(c, &msg), INC_RDV_BYE);
	if (strcmp(msg.text, missing))
		printf("# \"%s\", not \"%s\"\n", msg.text, missing);
	OK(!strcmp(msg.text, missing));
	hang_up(c);
}

/* What ranks have said last, and has no answer, is heard within this time. */
static void settle(void)
{
	usleep(300000);
}

/* Who gives up learns for whom it has waited, and not that others gave up. */
static void who_is_missing(void)
{
	struct conn a, b, c;

	daemon_start(NULL, NULL);
	a = join("x", 1, 9);
	b = join("x", 4, 9);
	c = join("x", 6, 9);
	settle();
	leave_without(&a, "ranks 0, 2-3, 5, 7-8");
	leave_without(&b, "ranks 0, 2-3, 5, 7-8");
	a = join("x", 0, 9);
	settle();
	leave_without(&a, "ranks 2-3, 5, 7-8");
	leave_without(&c, "ranks 2-3, 5, 7-8");
	wait_trees(0);
	a = join("y", 0, 2);
	b = join("y", 1, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	leave_without(&a, "");
	hang_up(&b);
	EQ(daemon_end(), 0);
}

/* A rank that dies after it has joined is missing, too, or is not ready. */
static void who_was_lost(void)
{
	struct inc_rdv_join j = who("z", 2, 3);
	struct conn a, b, c;

	daemon_start(NULL, NULL);
	a = join("z", 0, 3);
	b = join("z", 1, 3);
	hang_up(&b);
	wait_trees(1);
	wait_count(&k->members, 1);
	leave_without(&a, "ranks 1-2");
	wait_trees(0);
	a = join("z", 0, 3);
	b = join("z", 1, 3);
	c = dial();
	say_join(&c, &j);
	EQ(hear_type(&c), INC_RDV_JOINED);
	settle();
	leave_without(&a, "rank 2");
	leave_without(&b, "rank 2");
	hang_up(&c);
	wait_trees(0);
	EQ(daemon_end(), 0);
}

/* Until all ranks have joined, a rank may leave and rejoin. */
static void comes_again(void)
{
	struct conn a, b;

	daemon_start(NULL, NULL);
	a = join("x", 0, 2);
	hang_up(&a);
	wait_trees(0);
	a = join("x", 0, 2);
	b = join("x", 1, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear_type(&b), INC_RDV_READY);
	leave(&a);
	leave(&b);
	EQ(k->trees, 0);
	EQ(k->members, 0);
	EQ(daemon_end(), 0);
}

static void killed(void)
{
	struct inc_rdv_msg msg;
	struct conn a, b, c;

	daemon_start(NULL, NULL);
	a = join("x", 0, 2);
	b = join("x", 1, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	hang_up(&b);
	EQ(hear(&a, &msg), INC_RDV_FAILED);
	EQ(msg.rank, 1);
	EQ(msg.status, INC_STATUS_MEMBER_LEFT);
	wait_count(&k->members, 1);
	/* The name is free although rank 0 is still connected. */
	c = join("x", 1, 2);
	EQ(k->trees, 2);
	hang_up(&a);
	wait_trees(1);
	hang_up(&c);
	wait_trees(0);
	EQ(k->members, 0);
	EQ(daemon_end(), 0);
}

static void one_leaves(void)
{
	struct inc_rdv_msg msg;
	struct conn a, b;
	int64_t since;

	daemon_start(NULL, NULL);
	a = join("x", 0, 2);
	b = join("x", 1, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear_type(&b), INC_RDV_READY);
	since = now_ms();
	leave(&a);
	EQ(hear(&b, &msg), INC_RDV_LEFT);
	OK(now_ms() - since > 1500);	/* not at once */
	EQ(msg.rank, 0);
	EQ(k->members, 1);
	leave(&b);
	EQ(k->trees, 0);
	EQ(k->members, 0);
	EQ(daemon_end(), 0);
}

static void kernel_event(uint8_t cmd, uint32_t id)
{
	struct inc_nl_event ev = { .cmd = cmd };

	ev.tree.id = id;
	ev.tree.epoch = id;
	ev.tree.error = INC_STATUS_PEER_DEAD;
	EQ(write(event_pipe[1], &ev, sizeof(ev)), sizeof(ev));
}

static void kernel_events(void)
{
	struct inc_rdv_msg msg;
	struct conn a;

	daemon_start(NULL, NULL);
	a = join("x", 0, 1);
	EQ(hear_type(&a), INC_RDV_READY);
	kernel_event(RDMA_INC_CMD_TREE_FAILED_NTF, 12345);	/* not ours */
	kernel_event(RDMA_INC_CMD_TREE_FAILED_NTF, 1);
	EQ(hear(&a, &msg), INC_RDV_FAILED);
	EQ(msg.status, INC_STATUS_PEER_DEAD);
	leave(&a);
	EQ(k->trees, 0);
	a = join("x", 0, 1);
	EQ(hear_type(&a), INC_RDV_READY);
	kernel_event(RDMA_INC_CMD_TREE_DEL_NTF, 2);
	EQ(hear(&a, &msg), INC_RDV_FAILED);
	EQ(msg.status, INC_STATUS_TREE_GONE);
	leave(&a);
	EQ(k->trees, 1);	/* the event was made up */
	EQ(daemon_end(), 0);
}

static struct inc_nl_event slot_failed(uint32_t id, uint16_t wrong)
{
	struct inc_nl_event ev = { .cmd = RDMA_INC_CMD_SLOT_FAILED_NTF };

	ev.slot.tree_id = id;
	ev.slot.epoch = id;
	ev.slot.msg_id = 5;
	ev.slot.status = INC_STATUS_MISMATCH;
	ev.slot.wrong_rank = wrong;
	return ev;
}

/* All ranks hear whose request failed a message. */
static void whose_request(void)
{
	struct inc_nl_event ev = slot_failed(12345, 1);
	struct inc_rdv_msg msg;
	struct conn a, b;

	daemon_start(NULL, NULL);
	a = join("x", 0, 2);
	b = join("x", 1, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear_type(&b), INC_RDV_READY);
	/* Events of another's tree, and of no rank, are ignored. */
	EQ(write(event_pipe[1], &ev, sizeof(ev)), sizeof(ev));
	ev = slot_failed(1, 2);		/* there is no such rank */
	EQ(write(event_pipe[1], &ev, sizeof(ev)), sizeof(ev));
	ev = slot_failed(1, 1);
	EQ(write(event_pipe[1], &ev, sizeof(ev)), sizeof(ev));
	EQ(hear(&a, &msg), INC_RDV_WRONG);
	EQ(msg.rank, 1);
	EQ(msg.msg_id, 5);
	EQ(msg.status, INC_STATUS_MISMATCH);
	OK(strstr(msg.text, "rank 1 is wrong (mismatch)"));
	INC_NL_SET(&ev.slot, SLOT_UNLIKE_RANK, unlike_rank, 0);
	EQ(write(event_pipe[1], &ev, sizeof(ev)), sizeof(ev));
	EQ(hear(&a, &msg), INC_RDV_WRONG);
	OK(strstr(msg.text, "rank 1 disagrees with that of rank 0"));
	EQ(hear_type(&b), INC_RDV_WRONG);
	EQ(hear_type(&b), INC_RDV_WRONG);
	leave(&a);
	EQ(hear_type(&b), INC_RDV_LEFT);
	leave(&b);
	EQ(daemon_end(), 0);
}

static struct conn join_changing(unsigned int rank, bool change)
{
	struct inc_rdv_join j = who("x", rank, 2);
	struct conn c = dial();
	struct inc_rdv_msg msg;

	j.change = change;
	say_join(&c, &j);
	EQ(hear(&c, &msg), INC_RDV_JOINED);
	OK(msg.joined.change);
	say(&c, INC_RDV_RTS);
	return c;
}

/* Of ranks that lose packets all hear, or none if one cannot change. */
static void packets_are_lost(void)
{
	struct inc_rdv_msg to_a, to_b;
	struct conn a, b;

	daemon_start(NULL, NULL);
	a = join_changing(0, true);
	say(&a, INC_RDV_LOSSY);	/* too early */
	b = join_changing(1, true);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear_type(&b), INC_RDV_READY);
	say(&b, INC_RDV_LOSSY);
	EQ(hear(&a, &to_a), INC_RDV_CHANGE);
	EQ(hear(&b, &to_b), INC_RDV_CHANGE);
	OK(!strncmp(to_a.text, "x~uc-", 5) && !strcmp(to_a.text, to_b.text));
	say(&b, INC_RDV_LOSSY);	/* too soon after that */
	say(&a, INC_RDV_LOSSY);
	leave(&a);
	EQ(hear_type(&b), INC_RDV_LEFT);
	leave(&b);

	a = join_changing(0, true);
	b = join_changing(1, false);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear_type(&b), INC_RDV_READY);
	say(&a, INC_RDV_LOSSY);
	leave(&a);
	EQ(hear_type(&b), INC_RDV_LEFT);
	leave(&b);
	EQ(daemon_end(), 0);
}

/* The kernel names the failed member before it reports the failed tree. */
static void died_of(unsigned int error, const char *text)
{
	struct inc_nl_event ev = { .cmd = RDMA_INC_CMD_MEMBER_ERROR_NTF };
	struct inc_rdv_msg msg;
	struct conn a, b;

	daemon_start(NULL, NULL);
	a = join("x", 0, 2);
	b = join("x", 1, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear_type(&b), INC_RDV_READY);
	INC_NL_SET(&ev.member, MEMBER_TREE_ID, tree_id, 1);
	INC_NL_SET(&ev.member, MEMBER_RANK, rank, 1);
	ev.member.error = error;
	/* An event of an earlier tree with the same ID. */
	EQ(write(event_pipe[1], &ev, sizeof(ev)), sizeof(ev));
	kernel_event(RDMA_INC_CMD_TREE_NEW_NTF, 1);
	ev.member.rank = 0;
	EQ(write(event_pipe[1], &ev, sizeof(ev)), sizeof(ev));
	kernel_event(RDMA_INC_CMD_TREE_FAILED_NTF, 1);
	EQ(hear(&b, &msg), INC_RDV_FAILED);
	EQ(msg.rank, 0);
	EQ(msg.status, INC_STATUS_PEER_DEAD);
	OK(strstr(msg.text, text));
	EQ(hear_type(&a), INC_RDV_FAILED);
	leave(&a);
	leave(&b);
	EQ(daemon_end(), 0);
}

static void who_died(void)
{
	died_of(RDMA_INC_MEMBER_ERROR_RETRY_EXCEEDED,
		"rank 0: the switch has lost it (retry-exceeded: it acknowledges nothing");
	died_of(RDMA_INC_MEMBER_ERROR_LOCAL_PLACE_LOST,
		"rank 0: the switch has lost it (local-place-lost: its RDMA device lost its place");
	died_of(RDMA_INC_MEMBER_ERROR_MTU_EXCEEDED,
		"rank 0: the switch has lost it (mtu-exceeded: the MTU of a device on the way");
}

static void told_of_the_end(void)
{
	struct inc_rdv_msg msg;
	struct conn a, b;

	daemon_start(NULL, NULL);
	a = join("x", 0, 1);
	b = join("y", 0, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(daemon_end(), 0);
	EQ(hear(&a, &msg), INC_RDV_FAILED);
	EQ(msg.status, INC_STATUS_TREE_GONE);
	EQ(hear(&b, &msg), INC_RDV_FAILED);
	EQ(hear_type(&b), -1);
	hang_up(&a);
	hang_up(&b);
	EQ(k->trees, 0);
}

/* An existing tree is used, and not deleted at the end. */
static void given_tree(void)
{
	struct inc_rdv_join j = who("x", 0, 3);
	struct conn a, b;

	daemon_start("--tree", "77");
	a = dial();
	say_join(&a, &j);
	hear_error(&a, EINVAL, "77");
	a = join("x", 0, 2);
	b = join("x", 1, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear_type(&b), INC_RDV_READY);
	leave(&a);
	leave(&b);
	EQ(k->trees, 0);
	EQ(k->trees_made, 0);
	EQ(daemon_end(), 0);
	daemon_start("--tree", "77");
	k->gone = true;
	a = dial();
	say_join(&a, &j);
	hear_error(&a, ENOENT, "no such tree");
	EQ(daemon_end(), 0);
}

static void once(void)
{
	struct conn a;
	int status;

	daemon_start("--once", NULL);
	a = join("x", 0, 1);
	EQ(hear_type(&a), INC_RDV_READY);
	leave(&a);
	waitpid(daemon_pid, &status, 0);
	EQ(status, 0);
	close(event_pipe[0]);
	close(event_pipe[1]);
}

/* Many silent connections: others are served, and these time out. */
static void silent(void)
{
	struct inc_rdv_join j = who("x", 0, 1);
	struct inc_rdv_msg msg;
	struct conn c[100], a;
	short events;
	int i;

	daemon_start("--join-time", "1");
	for (i = 0; i < 100; i++) {
		c[i] = dial();
		EQ(INC_AM_OPS.recv(c[i].am, &msg, &events), -EAGAIN);
	}
	/* A busy machine may stop this process for that second, too. */
	do {
		a = dial();
		say_join(&a, &j);
	} while (hear(&a, &msg) == INC_RDV_ERROR && msg.err == ETIMEDOUT);
	EQ(msg.type, INC_RDV_JOINED);
	say(&a, INC_RDV_RTS);
	EQ(hear_type(&a), INC_RDV_READY);
	leave(&a);
	for (i = 0; i < 100; i++)
		hear_error(&c[i], ETIMEDOUT, "1000 ms");
	EQ(daemon_end(), 0);
}

/* A rank that never reads does not block the others. */
static void deaf(void)
{
	struct conn a, b;
	int i;

	daemon_start(NULL, NULL);
	a = join("deaf", 0, 1);
	for (i = 0; i < 50; i++) {
		b = join("x", 0, 1);
		EQ(hear_type(&b), INC_RDV_READY);
		leave(&b);
	}
	hang_up(&a);
	wait_trees(0);
	EQ(daemon_end(), 0);
}

/* No rank starts before all queue pairs are ready to receive. */
static void waits_for_rts(void)
{
	struct inc_rdv_join j = who("rts", 1, 2);
	struct pollfd pfd = { .events = POLLIN };
	struct inc_rdv_msg msg;
	struct conn a, b;

	daemon_start(NULL, NULL);
	a = join("rts", 0, 2);
	b = dial();
	say_join(&b, &j);
	EQ(hear(&b, &msg), INC_RDV_JOINED);
	pfd.fd = INC_AM_OPS.fd(a.am);
	EQ(poll(&pfd, 1, 200), 0);
	say(&b, INC_RDV_RTS);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear_type(&b), INC_RDV_READY);
	leave(&a);
	leave(&b);
	b = dial();
	say(&b, INC_RDV_RTS);
	hear_error(&b, EPROTO, "join");
	b = dial();
	say(&b, INC_RDV_LOST);
	hear_error(&b, EPROTO, "join");
	EQ(daemon_end(), 0);
}

/* This host has two addresses. */
int getifaddrs(struct ifaddrs **all)
{
	static struct sockaddr_in sin[2];
	static struct ifaddrs ifa[2];
	int i;

	for (i = 0; i < 2; i++) {
		sin[i].sin_family = AF_INET;
		sin[i].sin_addr.s_addr = htonl(0x0a010001U + ((uint32_t)i << 16));
		ifa[i].ifa_addr = (struct sockaddr *)&sin[i];
		ifa[i].ifa_flags = IFF_UP;
	}
	ifa[0].ifa_next = &ifa[1];
	*all = ifa;
	return 0;
}

void freeifaddrs(struct ifaddrs *all)
{
	OK(all);
}

/* A rank that reaches these addresses over a second device. */
static struct conn join_rails(unsigned int rank, uint32_t rails)
{
	struct inc_rdv_join j = who("x", rank, 2);
	struct conn c = dial();
	struct inc_rdv_msg msg;

	j.rails = true;
	say_join(&c, &j);
	EQ(hear(&c, &msg), INC_RDV_JOINED);
	OK(!strcmp(msg.joined.rails, "10.1.0.1,10.2.0.1"));
	say_msg(&c, &(struct inc_rdv_msg){
		.type = INC_RDV_RTS, .rails = rails });
	return c;
}

/* The address that all reach; the tree there is none of those that are counted. */
static void second_tree(void)
{
	struct inc_rdv_msg to_a, to_b;
	struct inc_rdv_join j;
	struct conn a, b, c, d;

	daemon_start("--max-trees=1", "--listen=0.0.0.0");
	a = join_rails(0, 3);
	b = join_rails(1, 2);
	EQ(hear(&a, &to_a), INC_RDV_READY);
	EQ(hear(&b, &to_b), INC_RDV_READY);
	EQ(to_a.rails, 2);
	OK(!strncmp(to_a.text, "x~rail-", 7) && !strcmp(to_a.text, to_b.text));
	c = dial();
	j = who("y", 0, 2);
	say_join(&c, &j);
	hear_error(&c, ENOSPC, "1 jobs");
	c = join(to_a.text, 0, 2);
	d = join(to_a.text, 1, 2);
	EQ(hear(&c, &to_a), INC_RDV_READY);
	EQ(to_a.rails, 0);
	EQ(hear_type(&d), INC_RDV_READY);
	wait_trees(2);
	leave(&a);
	EQ(hear_type(&b), INC_RDV_LEFT);
	leave(&b);
	wait_trees(1);
	/* There is room for another job, although that one works on. */
	a = join("y", 0, 1);
	EQ(hear_type(&a), INC_RDV_READY);
	leave(&a);
	hang_up(&c);
	hang_up(&d);
	wait_trees(0);

	/* One rank has no other way. */
	a = join_rails(0, 3);
	b = join_rails(1, 0);
	EQ(hear(&a, &to_a), INC_RDV_READY);
	EQ(to_a.rails, 0);
	hang_up(&a);
	hang_up(&b);
	wait_trees(0);
	EQ(daemon_end(), 0);
}

/* Who knows the name of a second tree does not get as many as he likes. */
static void many_extra(void)
{
	char name[INC_RDV_TEXT_MAX + 16];
	struct inc_rdv_msg msg;
	struct inc_rdv_join j;
	struct conn a, b, c[9];
	int i;

	daemon_start("--max-trees=1", "--listen=0.0.0.0");
	a = join_rails(0, 2);
	b = join_rails(1, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear(&b, &msg), INC_RDV_READY);
	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "%s.x%d", msg.text, i);
		c[i] = join(name, 0, 2);
	}
	snprintf(name, sizeof(name), "%s.x%d", msg.text, i);
	c[i] = dial();
	j = who(name, 0, 2);
	say_join(&c[i], &j);
	hear_error(&c[i], ENOSPC, "1 jobs");
	hang_up(&a);
	hang_up(&b);
	while (i)
		hang_up(&c[--i]);
	wait_trees(0);
	EQ(daemon_end(), 0);
}

/* Both ranks are in the job @name. */
static void join_both(const char *name, struct conn *a, struct conn *b)
{
	*a = join(name, 0, 2);
	*b = join(name, 1, 2);
	EQ(hear_type(a), INC_RDV_READY);
	EQ(hear_type(b), INC_RDV_READY);
}

/* Who replaces a tree has lost it, whatever its connection says; nobody else has. */
static void tree_replaced(void)
{
	struct conn a, b, c, d, e, f, g;
	char name[INC_RDV_TEXT_MAX + 16];
	struct inc_rdv_msg msg;

	daemon_start("--listen=0.0.0.0", NULL);
	a = join_rails(0, 2);
	b = join_rails(1, 2);
	EQ(hear_type(&a), INC_RDV_READY);
	EQ(hear(&b, &msg), INC_RDV_READY);
	join_both(msg.text, &c, &d);

	snprintf(name, sizeof(name), "%s.b", msg.text);
	e = join(name, 1, 2);
	EQ(hear_type(&c), INC_RDV_FAILED);
	f = join(name, 0, 2);
	EQ(hear_type(&e), INC_RDV_READY);
	EQ(hear_type(&f), INC_RDV_READY);
	/* It replaces itself. */
	g = join(name, 0, 2);
	EQ(hear_type(&e), INC_RDV_FAILED);
	hang_up(&g);

	snprintf(name, sizeof(name), "%s.a", msg.text);
	g = join(name, 0, 2);
	EQ(hear_type(&b), INC_RDV_FAILED);
	hang_up(&a);
	hang_up(&b);
	hang_up(&c);
	hang_up(&d);
	hang_up(&e);
	hang_up(&f);
	hang_up(&g);
	wait_trees(0);

	/* The name alone is no reason. */
	join_both("y", &a, &b);
	c = join("y.b", 0, 2);
	d = join("y.a", 1, 2);
	leave(&a);
	EQ(hear_type(&b), INC_RDV_LEFT);
	hang_up(&b);
	hang_up(&c);
	hang_up(&d);
	wait_trees(0);
	EQ(daemon_end(), 0);
}

static const struct test_case cases[] = {
	{ "second_tree", second_tree },
	{ "many_extra", many_extra },
	{ "tree_replaced", tree_replaced },
	{ "whole_life", whole_life },
	{ "same_id", same_id },
	{ "wrong_input", wrong_input },
	{ "does_not_suit", does_not_suit },
	{ "kernel_refuses", kernel_refuses },
	{ "no_room_for_a_member", no_room_for_a_member },
	{ "who_is_missing", who_is_missing },
	{ "who_was_lost", who_was_lost },
	{ "comes_again", comes_again },
	{ "killed", killed },
	{ "one_leaves", one_leaves },
	{ "kernel_events", kernel_events },
	{ "whose_request", whose_request },
	{ "packets_are_lost", packets_are_lost },
	{ "who_died", who_died },
	{ "told_of_the_end", told_of_the_end },
	{ "given_tree", given_tree },
	{ "once", once },
	{ "silent", silent },
	{ "deaf", deaf },
	{ "waits_for_rts", waits_for_rts },
};

int main(void)
{
	k = mmap(NULL, sizeof(*k), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (k == MAP_FAILED)
		return 1;
	return test_run(cases, (int)(sizeof(cases) / sizeof(cases[0])));
}
