// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Communicators over two devices, where what inc-perf does is not enough: memory that
 * only one device can register, a rank that computes for longer than the time limit
 * while a rail moves, ranks that disagree, and many communicators at once.
 */
#include <linux/capability.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "parts.h"
#include "rank.h"

#define COUNT	300001	/* elements: both rails have a part */
#define SHARED	65536	/* as few as possible for that */
#define SOON_S	5
#define LATE_S	6
#define LIMIT_MS	3000

static int me, n;

static void reduce(struct inc_comm *comm, int32_t *data)
{
	int i;

	for (i = 0; i < COUNT; i++)
		data[i] = i % 1000 + me;
	MUST(inc_allreduce(comm, INC_IN_PLACE, data, COUNT, INC_DTYPE_INT32,
			   INC_OP_SUM));
	for (i = 0; i < COUNT; i++)
		if (data[i] != i % 1000 * n + n * (n - 1) / 2)
			break;
	EQ(i, COUNT);
}

/* Before a device is open: it is of no use to who changes his privileges after that. */
static void be_limited(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct cap[2];

	MUST((int)syscall(SYS_capget, &head, cap));
	cap[0].effective &= ~(1U << CAP_IPC_LOCK);
	cap[0].permitted &= ~(1U << CAP_IPC_LOCK);
	MUST((int)syscall(SYS_capset, &head, cap));
}

/* A process without privileges may register so many KiB more than it has. */
static void limit_memory(size_t more)
{
	size_t pinned = 0;
	char line[256];
	FILE *f;

	f = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof(line), f) &&
	       sscanf(line, "VmPin: %zu", &pinned) != 1)
		;
	fclose(f);
	pinned = (pinned + more) * 1024;
	MUST(setrlimit(RLIMIT_MEMLOCK,
		       &(struct rlimit){ .rlim_cur = pinned, .rlim_max = pinned }));
}

/* What one device may register, and two may not, is registered; results are right. */
static void register_once(struct inc_comm *comm)
{
	size_t len = COUNT * sizeof(int32_t);
	void *data = mmap(NULL, len, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0), *other;

	limit_memory(len / 1024 * 3 / 2);
	EQ(inc_mem_reg(comm, data, len), 0);
	reduce(comm, data);
	reduce(comm, data);
	EQ(inc_mem_dereg(comm, data, len), 0);
	/* Something else is at that place, of which no device knows yet. */
	other = mmap(data, len, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	OK(other == data);
	reduce(comm, data);
	live_ok("memory for one device");
}

/* Only who waits has a time limit. The first tree is deleted when @path is there. */
static void compute(struct inc_comm *comm, const char *path)
{
	struct inc_request *req;
	int32_t x = 1;
	int done = 0, i, ret = 0;

	MUST(inc_comm_set_timeout(comm, LIMIT_MS));
	MUST(inc_allreduce(comm, INC_IN_PLACE, &x, 1, INC_DTYPE_INT32, INC_OP_SUM));
	EQ(x, n);
	if (!me)
		fclose(fopen(path, "w"));
	sleep(1);
	if (me) {
		sleep(LATE_S);
		MUST(inc_allreduce(comm, INC_IN_PLACE, &x, 1, INC_DTYPE_INT32,
				   INC_OP_SUM));
	} else {
		MUST(inc_iallreduce(comm, INC_IN_PLACE, &x, 1, INC_DTYPE_INT32,
				    INC_OP_SUM, &req));
		for (i = 0; i < 100 && !ret && !done; i++) {
			ret = inc_request_test(req, &done);
			usleep(1000);
		}
		EQ(ret, 0);
		sleep(LATE_S);
		MUST(inc_request_wait(req));
		inc_request_free(req);
	}
	EQ(x, n * n);
	live_ok("a rank that computes while a rail moves");
}

/* So many communicators at once as the daemon admits. */
static void make_many(int count)
{
	struct inc_comm *comm[16] = { 0 };
	char name[16];
	int i;

	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), ".%d", i);
		comm[i] = live_join(name, me, n);
	}
	for (i = 0; i < count; i++)
		inc_comm_destroy(comm[i]);
	live_ok("all communicators that the daemon admits");
}

/* Of one rank's operation both rails would have a part, of the others' only the first. */
static void disagree(struct inc_comm *comm)
{
	static int32_t data[SHARED];
	struct timespec from, to;

	MUST(inc_barrier(comm));
	clock_gettime(CLOCK_MONOTONIC, &from);
	EQ(inc_allreduce(comm, INC_IN_PLACE, data, me ? SHARED - 1 : SHARED,
			 INC_DTYPE_INT32, INC_OP_SUM), -EBADE);
	clock_gettime(CLOCK_MONOTONIC, &to);
	OK(to.tv_sec - from.tv_sec < SOON_S);
	live_ok("ranks that disagree on whether to use both rails");
}

int live_rails(int rank, int nranks, int argc, char **argv)
{
	struct inc_comm *comm;

	me = rank;
	n = nranks;
	if (argc > 2 && !strcmp(argv[1], "rails-many")) {
		make_many(atoi(argv[2]));
		return live_errors ? 1 : 0;
	}
	if (!strcmp(argv[1], "rails-memory"))
		be_limited();
	comm = live_join("", rank, nranks);
	if (!strcmp(argv[1], "rails-odd"))
		disagree(comm);
	else if (argc > 2)
		compute(comm, argv[2]);
	else
		register_once(comm);
	inc_comm_destroy(comm);
	return live_errors ? 1 : 0;
}
