// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * live TEST [ARG...]: a rank that uses libinc over a real device and switch.
 * The communicator comes from the environment (INC_SERVER, INC_JOB, INC_RANK
 * ...). Prints errors, and one line "ok WHAT" for each passed check; the script
 * libinc.sh counts them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/capability.h>

#include "parts.h"
#include "rank.h"

#define SUMMED	5000	/* elements that are not copied */

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

/* --- Waits with a time limit -------------------------------------------- */

/* Returns whether rank 0 has waited as often and as idly as it must. */
static int32_t waits_short(struct inc_comm *comm)
{
	struct inc_request *req;
	double t, cpu;
	int32_t x = 1, good = 1;
	int ret, n = 0;

	EQ(inc_barrier(comm), 0);
	if (inc_comm_rank(comm))
		usleep(400000);
	t = live_now_ms();
	cpu = cpu_ms();
	MUST(inc_iallreduce(comm, INC_IN_PLACE, &x, 1, INC_DTYPE_INT32,
			    INC_OP_SUM, &req));
	while ((ret = inc_request_wait_for(req, 50)) == -EAGAIN)
		n++;
	t = live_now_ms() - t;
	cpu = cpu_ms() - cpu;
	EQ(ret, 0);
	EQ(x, inc_comm_size(comm));
	if (!inc_comm_rank(comm)) {
		printf("# %d waits of 50 ms in %.0f ms, CPU %.0f ms\n", n, t,
		       cpu);
		OK(n <= (int)(t / 50) + 1);
		good = n >= 2 && cpu < t / 2;
	}
	EQ(inc_request_wait_for(req, 50), 0);
	inc_request_free(req);
	EQ(inc_broadcast(comm, &good, 1, INC_DTYPE_INT32, 0), 0);
	return good;
}

/* While the machine stands still nobody waits, and it looks like work. */
static void wait_for(struct inc_comm *comm)
{
	int32_t good;
	int tries = 0;

	do
		good = waits_short(comm);
	while (!good && ++tries < 3);
	OK(good);
	live_ok("waits with a time limit");
}

/* Rank 0 waits for an operation that the others do not start. */
static void fruitless(struct inc_comm *comm, unsigned int wait_ms)
{
	struct inc_request *req;
	double t;
	int ret;

	EQ(inc_comm_set_timeout(comm, 1000), 0);
	MUST(inc_ibarrier(comm, &req));
	t = live_now_ms();
	do
		ret = inc_request_wait_for(req, wait_ms);
	while (ret == -EAGAIN);
	t = live_now_ms() - t;
	printf("# waits of %u ms: %s after %.0f ms\n", wait_ms,
	       inc_strerror(ret), t);
	EQ(ret, -ETIMEDOUT);
	OK(t > 800);
	inc_request_free(req);
}

/*
 * The communicator's time limit applies to many short waits as well as to a
 * long one. The others join the next one meanwhile.
 */
static void limit(int rank, int nranks)
{
	static const char *const names[] = { ".short", ".long", ".test", ".end" };
	static const unsigned int waits_ms[] = { 50, 30000, 0 };
	struct inc_comm *comms[4];
	int k;

	for (k = 0; k < 4; k++) {
		comms[k] = live_join(names[k], rank, nranks);
		if (!rank && k < 3)
			fruitless(comms[k], waits_ms[k]);
	}
	while (k)
		inc_comm_destroy(comms[--k]);
	live_ok("the time limit");
}

/*
 * Rank 1 aborts an operation that the others wait for: all of them get the
 * error, before and after that operation, and nothing arrives any more.
 */
static void gives_up(struct inc_comm *comm)
{
	int32_t *x = calloc(SUMMED, sizeof(*x)), y = 1;
	int me = inc_comm_rank(comm), ret;
	struct inc_request *req;
	double t;

	EQ(inc_barrier(comm), 0);
	t = live_now_ms();
	EQ(inc_comm_abort(comm, 0), -EINVAL);
	if (me == 1) {
		MUST(inc_iallreduce(comm, INC_IN_PLACE, &y, 1, INC_DTYPE_INT32,
				    INC_OP_SUM, &req));
		EQ(inc_comm_abort(comm, -EIO), 0);
		EQ(inc_request_wait(req), -EIO);
		EQ(y, 1);
		inc_request_free(req);
		EQ(inc_comm_abort(comm, -ENOMEM), 0);
		EQ(inc_barrier(comm), -EIO);
	} else {
		/* Rank 1 started this one, which may end, but not the next. */
		ret = inc_allreduce(comm, INC_IN_PLACE, &y, 1, INC_DTYPE_INT32,
				    INC_OP_SUM);
		OK(ret == -ECONNRESET || (!ret && y == inc_comm_size(comm)));
		EQ(inc_allreduce(comm, INC_IN_PLACE, x, SUMMED, INC_DTYPE_INT32,
				 INC_OP_SUM), -ECONNRESET);
		EQ(inc_barrier(comm), -ECONNRESET);
	}
	OK(live_now_ms() - t < 5000);
	free(x);
	live_ok("given up");
}

/* --- Queries ------------------------------------------------------------ */

static void print_info(struct inc_comm *comm)
{
	struct inc_comm_info i = { .size = sizeof(i) };

	EQ(inc_comm_query(comm, &i), 0);
	printf("{\"job\":\"%s\",\"rank\":%d,\"nranks\":%d,\"state\":%d,\"status\":%d,"
	       "\"tree-id\":%u,\"qpn\":%u,\"switch-qpn\":%u,\"slots\":%u,"
	       "\"msg-size\":%u,\"pmtu\":%u,\"next-msg-id\":%u,\"addr\":\"%s\","
	       "\"switch-addr\":\"%s\",\"collective\":\"%s\",\"block\":%llu,"
	       "\"op-messages\":%llu,\"op-results\":%llu,\"begun\":%llu,"
	       "\"operations\":%llu,\"messages\":%llu,\"results\":%llu,"
	       "\"tx-bytes\":%llu,\"rx-bytes\":%llu,\"errors\":%llu}\n",
	       i.job, i.rank, i.nranks, i.state, i.status, i.tree_id, i.qpn,
	       i.switch_qpn, i.slots, i.msg_size, i.pmtu, i.next_msg_id, i.addr,
	       i.switch_addr,
	       i.collective < 0 ?
		       "none" :
		       inc_collective_name((enum inc_collective)i.collective),
	       (unsigned long long)i.block, (unsigned long long)i.op_messages,
	       (unsigned long long)i.op_results, (unsigned long long)i.begun,
	       (unsigned long long)i.operations, (unsigned long long)i.messages,
	       (unsigned long long)i.results, (unsigned long long)i.tx_bytes,
	       (unsigned long long)i.rx_bytes, (unsigned long long)i.errors);
	fflush(stdout);
}

/* Print the state on each request of the script, a line on standard input. */
static void query(struct inc_comm *comm)
{
	static int32_t data[30000];
	struct inc_request *req = NULL;
	char line[16];

	print_info(comm);
	EQ(inc_allreduce(comm, INC_IN_PLACE, data, 30000, INC_DTYPE_INT32,
			 INC_OP_SUM), 0);
	EQ(inc_broadcast(comm, data, 100, INC_DTYPE_INT32, 0), 0);
	EQ(inc_barrier(comm), 0);
	if (!inc_comm_rank(comm))
		MUST(inc_iallreduce(comm, INC_IN_PLACE, data, 30000,
				    INC_DTYPE_INT32, INC_OP_SUM, &req));
	print_info(comm);
	OK(fgets(line, sizeof(line), stdin));
	if (!req)
		MUST(inc_iallreduce(comm, INC_IN_PLACE, data, 30000,
				    INC_DTYPE_INT32, INC_OP_SUM, &req));
	EQ(inc_request_wait(req), 0);
	inc_request_free(req);
	print_info(comm);
	OK(fgets(line, sizeof(line), stdin));
}

/* --- fork() ------------------------------------------------------------- */

static int sum(struct inc_comm *comm, int32_t *data, size_t count, int32_t base)
{
	int32_t want = 0, r;
	size_t i;
	int ret;

	for (r = 0; r < inc_comm_size(comm); r++)
		want += base + r;
	for (i = 0; i < count; i++)
		data[i] = base + inc_comm_rank(comm);
	ret = inc_allreduce(comm, INC_IN_PLACE, data, count, INC_DTYPE_INT32,
			    INC_OP_SUM);
	for (i = 0; i < count && !ret; i++)
		if (data[i] != want)
			ret = -EILSEQ;
	return ret;
}

#define FORK_COUNT	20000

/* In a child nothing works, nothing hangs, and nothing hurts the parent. */
static int child(struct inc_comm *comm, struct inc_request *req, int32_t *data)
{
	int rank = inc_comm_rank(comm), nranks = inc_comm_size(comm), done;
	struct inc_comm_info i = { .size = sizeof(i) };
	struct inc_request *other;

	EQ(sum(comm, data, 10, 1), -ESTALE);
	EQ(inc_request_wait(req), -ESTALE);
	EQ(inc_request_wait_for(req, 1000), -ESTALE);
	EQ(inc_request_test(req, &done), -ESTALE);
	EQ(done, 1);
	EQ(inc_barrier(comm), -ESTALE);
	EQ(inc_ibarrier(comm, &other), -ESTALE);
	EQ(inc_mem_reg(comm, data, 10000), -ESTALE);
	inc_mem_dereg(comm, data, FORK_COUNT * sizeof(*data));
	EQ(inc_comm_query(comm, &i), 0);
	EQ(i.state, INC_STATE_FAILED);
	EQ(i.status, -ESTALE);
	inc_request_free(req);
	EQ(inc_comm_destroy(comm), 0);

	/* A communicator of its own works. */
	comm = live_join(".child", rank, nranks);
	EQ(sum(comm, data, 1000, 3), 0);
	EQ(inc_comm_destroy(comm), 0);
	return live_errors ? 1 : 0;
}

/* Both processes write to registered memory, with an operation in flight. */
static void forks(struct inc_comm *comm)
{
	int32_t *data = malloc(FORK_COUNT * sizeof(*data));
	struct inc_request *req;
	int round, i, status;
	pid_t pid;

	EQ(inc_mem_reg(comm, data, FORK_COUNT * sizeof(*data)), 0);
	for (round = 0; round < 5; round++) {
		EQ(sum(comm, data, FORK_COUNT, 1), 0);
		for (i = 0; i < FORK_COUNT; i++)
			data[i] = 7;
		MUST(inc_iallreduce(comm, INC_IN_PLACE, data, FORK_COUNT,
				    INC_DTYPE_INT32, INC_OP_SUM, &req));
		pid = fork();
		if (!pid)
			exit(child(comm, req, data));
		EQ(inc_request_wait(req), 0);
		inc_request_free(req);
		for (i = 0; i < FORK_COUNT; i++)
			if (data[i] != 7 * inc_comm_size(comm))
				break;
		EQ(i, FORK_COUNT);
		EQ(waitpid(pid, &status, 0), pid);
		EQ(status, 0);
		EQ(sum(comm, data, FORK_COUNT, round), 0);
	}
	EQ(inc_mem_dereg(comm, data, FORK_COUNT * sizeof(*data)), 0);
	free(data);
	live_ok("fork, five times");
}

/* A rank dies; its child, which lives on, must not hide that. */
static void orphan(struct inc_comm *comm)
{
	double t;
	pid_t pid;
	int ret;

	EQ(inc_barrier(comm), 0);
	if (inc_comm_rank(comm) == 1) {
		pid = fork();
		if (!pid) {
			sleep(20);
			_exit(0);
		}
		fprintf(stderr, "child %d\n", pid);
		raise(SIGKILL);
	}
	t = live_now_ms();
	ret = inc_barrier(comm);
	t = live_now_ms() - t;
	printf("# after %.0f ms: %s\n", t, inc_strerror(ret));
	EQ(ret, -ECONNRESET);
	OK(t < 5000);
	live_ok("a dead rank whose child lives is missed");
}

/* --- Signals ------------------------------------------------------------ */

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

static void alarms_on(bool on)
{
	struct itimerval every = { .it_interval.tv_usec = on ? 700 : 0,
				   .it_value.tv_usec = on ? 700 : 0 };
	struct sigaction act = { .sa_handler = on_alarm }; /* no SA_RESTART */

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void signals(int rank, int nranks)
{
	int32_t *data = malloc(FORK_COUNT * sizeof(*data));
	struct inc_comm *comm;
	struct inc_request *req;
	int i, ret;

	alarms_on(true);
	comm = live_join("", rank, nranks);
	for (i = 0; i < 500; i++)
		EQ(sum(comm, data, i % 10 ? 5 : FORK_COUNT, i), 0);
	for (i = 0; i < 100; i++) {
		if (rank)
			usleep(2000);
		MUST(inc_ibarrier(comm, &req));
		while ((ret = inc_request_wait_for(req, 3)) == -EAGAIN)
			;
		EQ(ret, 0);
		inc_request_free(req);
	}
	inc_comm_destroy(comm);
	alarms_on(false);
	printf("# %d signals\n", (int)alarms);
	OK(alarms > 50);
	free(data);
	live_ok("a storm of signals");
}

/* --- Memory that can't be registered ------------------------------------ */

/* Limit pinned memory, as for an ordinary user. */
static void limit_memory(size_t bytes)
{
	struct __user_cap_header_struct hdr = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	const struct rlimit limit = { bytes, bytes };

	MUST(setrlimit(RLIMIT_MEMLOCK, &limit));
	MUST((int)syscall(SYS_capget, &hdr, data));
	data[0].effective &= ~(1U << CAP_IPC_LOCK);
	MUST((int)syscall(SYS_capset, &hdr, data));
}

#define MIB	((1 << 20) / sizeof(int32_t))

/* Four operations at once, of which one rank can register at most one. */
static void four_at_once(struct inc_comm *comm)
{
	int32_t *data = malloc(8 * MIB * sizeof(*data));
	int32_t want = 0, r;
	struct inc_request *req[4];
	size_t i, k;

	for (r = 0; r < inc_comm_size(comm); r++)
		want += r + 1;
	for (i = 0; i < 4 * MIB; i++)
		data[i] = (int32_t)(i % 1000) * (inc_comm_rank(comm) + 1);
	for (k = 0; k < 4; k++)
		MUST(inc_iallreduce(comm, data + k * MIB, data + (4 + k) * MIB,
				    MIB, INC_DTYPE_INT32, INC_OP_SUM, &req[k]));
	for (k = 0; k < 4; k++) {
		EQ(inc_request_wait(req[k]), 0);
		inc_request_free(req[k]);
	}
	for (i = 0; i < 4 * MIB; i++)
		if (data[4 * MIB + i] != (int32_t)(i % 1000) * want)
			break;
	EQ(i, 4 * MIB);
	free(data);
}

/* Results into a file: no file system lets a device write to it unnoticed. */
static void into_file(struct inc_comm *comm, const char *dir)
{
	char path[256];
	int32_t *file;
	int fd;

	snprintf(path, sizeof(path), "%s/live-file.%d", dir,
		 inc_comm_rank(comm));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	MUST(fd < 0 || ftruncate(fd, FORK_COUNT * sizeof(*file)));
	file = mmap(NULL, FORK_COUNT * sizeof(*file), PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	MUST(file == MAP_FAILED);
	EQ(sum(comm, file, FORK_COUNT, 5), 0);
	munmap(file, FORK_COUNT * sizeof(*file));
	unlink(path);
	close(fd);
}

/* Rank 1 cannot start, with @buf: nobody gets this result or a later one. */
static void can_not_begin(struct inc_comm *comm, int32_t *buf)
{
	double t = live_now_ms();
	int32_t x = 1;
	int ret;

	ret = inc_allreduce(comm, INC_IN_PLACE, buf, 2 * INC_EAGER_MAX / 4,
			    INC_DTYPE_INT32, INC_OP_SUM);
	EQ(ret, inc_comm_rank(comm) == 1 ? -EFAULT : -ECONNRESET);
	t = live_now_ms() - t;
	printf("# after %.0f ms: %s\n", t, inc_comm_strerror(comm));
	OK(t < 10000);
	EQ(inc_allreduce(comm, INC_IN_PLACE, &x, 1, INC_DTYPE_INT32,
			 INC_OP_SUM),
	   ret);
	inc_comm_destroy(comm);
}

static void memory(int rank, int nranks, const char *dir)
{
	struct inc_comm *comm;
	int32_t *page;

	if (rank == 1)
		limit_memory(4 << 20);
	comm = live_join("", rank, nranks);
	four_at_once(comm);
	live_ok("four operations of a rank that can register one");
	into_file(comm, dir);
	live_ok("results into a file");

	page = mmap(NULL, 2 * INC_EAGER_MAX, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(page == MAP_FAILED);
	can_not_begin(comm, rank == 1 ? NULL : page);
	if (strcmp(getenv("INC_TRANSPORT") ?: "", "uc")) {
		MUST(rank == 1 && mprotect(page, 2 * INC_EAGER_MAX, PROT_READ));
		can_not_begin(live_join(".page", rank, nranks), page);
	}
	live_ok("an operation that can't begin ends all ranks");
}

/* --- Many communicators ------------------------------------------------- */

static int open_files(void)
{
	struct dirent *e;
	int n = 0;
	DIR *dir;

	dir = opendir("/proc/self/fd");
	MUST(!dir);
	while ((e = readdir(dir)))
		n += e->d_name[0] != '.';
	closedir(dir);
	return n - 1;		/* that directory */
}

#define MANY	20

/* One device, its events, one thread; a socket, a channel and a bell per comm. */
static void many(int rank, int nranks)
{
	struct inc_comm *comm[MANY];
	int before = open_files(), one = 0, i;
	char suffix[16];
	int32_t data[8];

	for (i = 0; i < MANY; i++) {
		snprintf(suffix, sizeof(suffix), ".%d", i);
		comm[i] = live_join(suffix, rank, nranks);
		if (!i)
			one = open_files();
	}
	printf("# %d files, with one communicator %d, with %d %d\n", before,
	       one, MANY, open_files());
	EQ(open_files(), one + 3 * (MANY - 1));
	for (i = 0; i < MANY; i++)
		EQ(sum(comm[i], data, 8, i), 0);
	/* The first one goes, the others stay. */
	for (i = 0; i < MANY; i++) {
		inc_comm_destroy(comm[i]);
		if (i < MANY - 1)
			EQ(sum(comm[MANY - 1], data, 8, i), 0);
	}
	EQ(open_files(), before);
	live_ok("many communicators");
}

/* --- Time stands still -------------------------------------------------- */

/* The parent stands still for longer than its time limit. */
static pid_t stop_parent(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	usleep(200000);
	kill(getppid(), SIGSTOP);
	sleep(3);
	kill(getppid(), SIGCONT);
	_exit(0);
}

static void stopped(struct inc_comm *comm)
{
	int round, status;
	pid_t pid = 0;
	double t;

	for (round = 0; round < 2; round++) {
		EQ(inc_barrier(comm), 0);
		t = live_now_ms();
		if (inc_comm_rank(comm)) {
			usleep(700000);
		} else {
			EQ(inc_comm_set_timeout(comm, 1000), 0);
			pid = stop_parent();
		}
		EQ(inc_barrier(comm), 0);
		if (!inc_comm_rank(comm)) {
			printf("# after %.0f ms: %s\n", live_now_ms() - t,
			       inc_comm_strerror(comm));
			OK(live_now_ms() - t > 2500);
			waitpid(pid, &status, 0);
			EQ(inc_comm_set_timeout(comm, 30000), 0);
		}
	}
	live_ok("stopped for longer than the time limit");
}

/* --- Size --------------------------------------------------------------- */

#define HUGE	((1ULL << 31) + 5)

static uint8_t huge_byte(uint64_t i, int rank)
{
	return (uint8_t)(i * 0x9e3779b1 >> 24) ^ (uint8_t)(i >> 29) ^
	       (uint8_t)rank;
}

static void huge(struct inc_comm *comm)
{
	int n = inc_comm_size(comm), me = inc_comm_rank(comm), r;
	uint8_t *data, want;
	uint64_t i;
	double t;

	data = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED) {
		printf("no memory\n");
		exit(1);
	}
	for (i = 0; i < HUGE; i++)
		data[i] = huge_byte(i, me);
	EQ(inc_barrier(comm), 0);
	t = live_now_ms();
	EQ(inc_allreduce(comm, INC_IN_PLACE, data, HUGE, INC_DTYPE_UINT8,
			 INC_OP_SUM), 0);
	t = live_now_ms() - t;
	for (i = 0; i < HUGE; i++) {
		for (want = 0, r = 0; r < n; r++)
			want += huge_byte(i, r);
		if (data[i] != want) {
			printf("element %llu is %u, must be %u\n",
			       (unsigned long long)i, data[i], want);
			live_errors++;
			break;
		}
	}
	printf("# %llu elements in %.1f s, %.1f MB/s\n", HUGE, t / 1e3,
	       (double)HUGE / t / 1e3);
	munmap(data, HUGE);
	live_ok("more than 2^31 elements");
}

/* inc_comm_create() must fail with this errno, and say this. */
static void reason(int err, const char *text)
{
	struct inc_comm_opts opts = INC_COMM_OPTS_INIT;
	struct inc_comm *comm;
	char why[512] = "";

	/* Where ranks are missing; else both have to come first. */
	opts.join_timeout_ms = err == ETIMEDOUT ? 300 : 10000;
	opts.errbuf = why;
	opts.errbuf_len = sizeof(why);
	EQ(inc_comm_create(&comm, &opts), -err);
	if (comm || !strstr(why, text)) {
		printf("\"%s\" does not say \"%s\"\n", why, text);
		live_errors++;
	}
	live_ok("reason");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int rank = atoi(getenv("INC_RANK")),
	    nranks = atoi(getenv("INC_NRANKS"));
	struct inc_comm *comm;

	if (!strcmp(what, "threads"))
		return live_threads(rank, nranks, argc - 2, argv + 2);
	if (!strcmp(what, "ranks"))
		return live_ranks(rank, nranks, argc - 2, argv + 2);
	if (!strcmp(what, "own") || !strcmp(what, "cross") ||
	    !strncmp(what, "computes", 8))
		return live_change(rank, nranks, argc - 1, argv + 1);
	if (!strcmp(what, "steady") && argc > 2)
		return live_steady(rank, nranks, argc - 2, argv + 2);
	if (!strncmp(what, "rails", 5))
		return live_rails(rank, nranks, argc, argv);
	if (!strcmp(what, "many")) {
		many(rank, nranks);
		return live_errors ? 1 : 0;
	}
	if (!strcmp(what, "memory")) {
		memory(rank, nranks, argv[2]);
		return live_errors ? 1 : 0;
	}
	if (!strcmp(what, "reason") && argc > 3) {
		reason(atoi(argv[2]), argv[3]);
		return live_errors ? 1 : 0;
	}
	if (!strcmp(what, "signals") || !strcmp(what, "limit")) {
		(*what == 's' ? signals : limit)(rank, nranks);
		return live_errors ? 1 : 0;
	}
	comm = live_join("", rank, nranks);
	if (!strcmp(what, "wait_for"))
		wait_for(comm);
	else if (!strcmp(what, "gives_up"))
		gives_up(comm);
	else if (!strcmp(what, "stopped"))
		stopped(comm);
	else if (!strcmp(what, "query"))
		query(comm);
	else if (!strcmp(what, "fork"))
		forks(comm);
	else if (!strcmp(what, "orphan"))
		orphan(comm);
	else if (!strcmp(what, "huge"))
		huge(comm);
	else
		live_errors++;
	inc_comm_destroy(comm);
	return live_errors ? 1 : 0;
}
