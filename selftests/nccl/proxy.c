// SPDX-License-Identifier: GPL-2.0
/*
 * proxy LIB VERSION RANK RANKS DIR [SEED [MODE]]: drives an NCCL network plugin
 * as NCCL's proxy does, without a GPU: dlopen(), handles passed by files in
 * DIR, up to 32 requests outstanding, retries after a null request. Compares
 * each element; prints one KTAP line per case. MODE:
 *
 *   where   only print where messages are listened for
 *   late    one rank arrives half a minute late
 *   abort   NCCL gives up with operations in flight
 *
 * Versions of the interface differ little: the calls go through macros.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../lib/procfs.h"
#include "abi.h"

#define REQUESTS	NCCL_MAX_REQUESTS

static const void *net, *coll;
static int version, me, np, cases, failures;
static unsigned int seed = 1;
static const char *dir, *mode = "";
static double worst_test_ms;

#define NET_V(v)	((const struct nccl_net_v##v *)net)
#define COLL_V(v)	((const struct nccl_coll_v##v *)coll)
#define NET(call)							\
	(version == 8 ? NET_V(8)->call :				\
	 version == 10 ? NET_V(10)->call : NET_V(11)->call)
#define COLL(call)							\
	(version == 8 ? COLL_V(8)->call :				\
	 version == 10 ? COLL_V(10)->call : COLL_V(11)->call)

static void verdict(bool ok, const char *name)
{
	cases++;
	failures += !ok;
	printf("%s %d - v%d rank %d: %s\n", ok ? "ok" : "not ok", cases,
	       version, me, name);
	fflush(stdout);
}

static void must(nccl_result ret, const char *what)
{
	if (ret == NCCL_SUCCESS)
		return;
	printf("not ok %d - v%d rank %d: %s # error %d\n", cases + 1, version,
	       me, what, ret);
	exit(1);
}

static void on_log(int level, unsigned long flags, const char *file, int line,
		   const char *fmt, ...)
{
	va_list ap;

	(void)flags;
	if (level > NCCL_LOG_WARN)
		return;
	va_start(ap, fmt);
	printf("# %s:%d ", file, line);
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint32_t rnd(uint32_t x)
{
	x += seed * 2654435761u;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

/* Small, so that sums of floats are exact. */
static int value(int rank, int op, size_t i)
{
	int key = rank * 7919 + op * 104729 + (int)i * 31;

	return (int)(rnd((uint32_t)key) % 2001) - 1000;
}

/* --- Handles ------------------------------------------------------------ */

static void publish(const char *what, const void *handle)
{
	char tmp[264], name[256];
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s.%d.%d", dir, what, version, me);
	snprintf(tmp, sizeof(tmp), "%s.tmp", name);
	f = fopen(tmp, "w");
	if (!f || fwrite(handle, NCCL_HANDLE_MAX, 1, f) != 1 || fclose(f) ||
	    rename(tmp, name))
		exit(2);
}

static void fetch(const char *what, int rank, void *handle)
{
	char name[256];
	FILE *f;
	int i;

	snprintf(name, sizeof(name), "%s/%s.%d.%d", dir, what, version, rank);
	for (i = 0; i < 3000; i++) {
		f = fopen(name, "r");
		if (f) {
			if (fread(handle, NCCL_HANDLE_MAX, 1, f) != 1)
				exit(2);
			fclose(f);
			return;
		}
		usleep(10000);
	}
	fprintf(stderr, "no %s\n", name);
	exit(2);
}

/* --- Messages in a ring ------------------------------------------------- */

static nccl_result isend(void *comm, void *data, size_t size, int tag,
			 void **req)
{
	switch (version) {
	case 8:
		return NET_V(8)->isend(comm, data, (int)size, tag, NULL, req);
	case 10:
		return NET_V(10)->isend(comm, data, size, tag, NULL, NULL, req);
	default:
		return NET_V(11)->isend(comm, data, size, tag, NULL, NULL, req);
	}
}

static nccl_result irecv(void *comm, void *data, size_t size, int tag,
			 void **req)
{
	int isize = (int)size;
	void *mh = NULL, *ph = NULL;

	switch (version) {
	case 8:
		return NET_V(8)->irecv(comm, 1, &data, &isize, &tag, &mh, req);
	case 10:
		return NET_V(10)->irecv(comm, 1, &data, &size, &tag, &mh, &ph,
					req);
	default:
		return NET_V(11)->irecv(comm, 1, &data, &size, &tag, &mh, &ph,
					req);
	}
}

static bool net_done(void **req, int want)
{
	int done = 0, size = -1;

	if (!*req)
		return false;
	must(NET(test)(*req, &done, &size), "test of a message");
	if (!done)
		return false;
	*req = NULL;
	if (size != want)
		exit(3);
	return true;
}

static void ring(void *send, void *recv)
{
	static const size_t max = 100003;
	void *sreq[REQUESTS] = { NULL }, *rreq[REQUESTS] = { NULL };
	int left = 2 * REQUESTS, i, from = (me + np - 1) % np;
	bool sposted[REQUESTS] = { false }, rposted[REQUESTS] = { false };
	unsigned char *out[REQUESTS], *in[REQUESTS];
	bool ok = true;
	size_t j;

	for (i = 0; i < REQUESTS; i++) {
		out[i] = malloc(max);
		in[i] = calloc(1, max);
		for (j = 0; j < max; j++)
			out[i][j] = (unsigned char)value(me, i, j);
	}
	while (left) {
		for (i = 0; i < REQUESTS; i++) {
			size_t size = (max / (size_t)(i + 1)) &
				      ~(size_t)(i % 3);

			if (!rposted[i] && (!i || rposted[i - 1])) {
				must(irecv(recv, in[i], max, i, &rreq[i]),
				     "irecv");
				rposted[i] = rreq[i];
			}
			if (!sposted[i] && (!i || sposted[i - 1])) {
				must(isend(send, out[i], size, i, &sreq[i]),
				     "isend");
				sposted[i] = sreq[i];
			}
			left -= net_done(&sreq[i], (int)size);
			left -= net_done(&rreq[i], (int)size);
		}
	}
	for (i = 0; i < REQUESTS; i++) {
		size_t size = (max / (size_t)(i + 1)) & ~(size_t)(i % 3);

		for (j = 0; j < size; j++)
			ok &= in[i][j] == (unsigned char)value(from, i, j);
		free(out[i]);
		free(in[i]);
	}
	verdict(ok, "32 messages at once around a ring");
}

/* --- Strangers ---------------------------------------------------------- */

/* The plugin's listening address: handles are opaque. */
static socklen_t listening_at(struct sockaddr_storage *addr)
{
	int fd, on;

	for (fd = 3; fd < 256; fd++) {
		socklen_t len = sizeof(on), alen = sizeof(*addr);

		on = 0;
		if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) &&
		    on && !getsockname(fd, (struct sockaddr *)addr, &alen))
			return alen;
	}
	exit(2);
}

static int stranger(const void *say, size_t len)
{
	struct sockaddr_storage addr;
	socklen_t alen = listening_at(&addr);
	int fd = socket(addr.ss_family, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&addr, alen) ||
	    (len && write(fd, say, len) != (ssize_t)len))
		exit(2);
	return fd;
}

/* Connect before the rank: one is silent, the others send garbage. */
static void strangers(const unsigned char *handle, int fds[3])
{
	unsigned char wrong[NCCL_HANDLE_MAX];
	int i;

	memcpy(wrong, handle, sizeof(wrong));
	for (i = 4; i < NCCL_HANDLE_MAX; i++)
		wrong[i] ^= 0x55;
	fds[0] = stranger(NULL, 0);
	fds[1] = stranger("GET / HTTP/1.0\r\n\r\n", 18);
	fds[2] = stranger(wrong, sizeof(wrong));
}

static nccl_result connect_to(void *ctx, void *handle, void **send, void **dev)
{
	if (version == 8)
		return NET_V(8)->connect(0, handle, send, dev);
	if (version == 10)
		return NET_V(10)->connect(0, NULL, handle, send, dev);
	return NET_V(11)->connect(ctx, 0, handle, send, dev);
}

static void messages(void *ctx)
{
	unsigned char handle[NCCL_HANDLE_MAX];
	void *listen, *send = NULL, *recv = NULL, *dev = NULL;
	int ndev = 0, fds[3], i;

	must(NET(devices)(&ndev), "devices");
	verdict(ndev == 1, "one network device");
	must(version == 11 ? NET_V(11)->listen(ctx, 0, handle, &listen) :
	     version == 10 ? NET_V(10)->listen(0, handle, &listen) :
			     NET_V(8)->listen(0, handle, &listen), "listen");
	strangers(handle, fds);
	publish("net", handle);
	fetch("net", (me + 1) % np, handle);
	while (!send || !recv) {
		if (!send)
			must(connect_to(ctx, handle, &send, &dev), "connect");
		if (!recv)
			must(NET(accept)(listen, &recv, &dev), "accept");
		usleep(1000);
	}
	for (i = 0; i < 3; i++)
		close(fds[i]);
	ring(send, recv);
	must(NET(close_send)(send), "close send");
	must(NET(close_recv)(recv), "close recv");
	must(NET(close_listen)(listen), "close listen");
}

/* --- Collectives -------------------------------------------------------- */

static bool coll_done(void **req, int want)
{
	int done = 0, size = -1;
	double t = now_ms();

	must(COLL(test)(*req, &done, &size), "test of a collective");
	t = now_ms() - t;
	if (t > worst_test_ms)
		worst_test_ms = t;
	if (!done)
		return false;
	*req = NULL;
	if (size != want)
		exit(3);
	return true;
}

static nccl_result iallreduce(void *comm, void *s, void *r, size_t n, int type,
			      int op, void **req)
{
	if (version == 8)
		return COLL_V(8)->iallreduce(comm, s, r, (int)n, type, op, NULL,
					     NULL, req);
	if (version == 10)
		return COLL_V(10)->iallreduce(comm, s, r, n, type, op, NULL,
					      NULL, req);
	return COLL_V(11)->iallreduce(comm, s, r, n, type, op, NULL, NULL, req);
}

/* More than NCCL has outstanding: those beyond get a null request at first. */
static void allreduces(void *comm)
{
	enum { N = REQUESTS + 9 };
	size_t count[N], j;
	float *in[N], *out[N];
	void *req[N] = { NULL };
	bool posted[N] = { false }, ok = true;
	int left = N, again = 0, i, r;
	void *mh[2] = { NULL };

	for (i = 0; i < N; i++) {
		count[i] = 1 + rnd((uint32_t)i) % 20000;
		in[i] = malloc(count[i] * sizeof(float));
		out[i] = i % 3 ? calloc(count[i], sizeof(float)) : in[i];
		for (j = 0; j < count[i]; j++)
			in[i][j] = (float)value(me, i, j);
	}
	must(COLL(reg_mr)(comm, in[1], count[1] * sizeof(float), NCCL_PTR_HOST,
			  &mh[0]), "registering");
	must(COLL(reg_mr)(comm, out[1], count[1] * sizeof(float), NCCL_PTR_HOST,
			  &mh[1]), "registering");
	while (left) {
		for (i = 0; i < N; i++) {
			size_t bytes = count[i] * sizeof(float);

			if (!posted[i] && (!i || posted[i - 1])) {
				must(iallreduce(comm, in[i], out[i], count[i],
						NCCL_FP32, NCCL_SUM, &req[i]),
				     "iallreduce");
				posted[i] = req[i];
				again += !req[i];
			}
			/* No test before a null request: it would free one. */
			if (req[i] && again)
				left -= coll_done(&req[i], (int)bytes);
		}
	}
	must(COLL(dereg_mr)(comm, mh[0]), "deregistering");
	must(COLL(dereg_mr)(comm, mh[1]), "deregistering");
	for (i = 0; i < N; i++) {
		for (j = 0; j < count[i]; j++) {
			float sum = 0;

			for (r = 0; r < np; r++)
				sum += (float)value(r, i, j);
			ok &= out[i][j] == sum;
		}
		if (out[i] != in[i])
			free(out[i]);
		free(in[i]);
	}
	verdict(ok, "41 sums, 32 at once, in place and not");
	verdict(again > 0, "a null request when 32 are outstanding");
}

static nccl_result iallgather(void *comm, void *s, void *r, size_t size,
			      size_t per_rank, size_t off, void **req)
{
	struct nccl_sge_v8 p8 = { NULL, r, (uint32_t)size };
	struct nccl_sge_v10 p10 = { NULL, r, size };

	if (version == 8)
		return COLL_V(8)->iallgather(comm, s, 1, &p8, per_rank, off,
					     size, NULL, req);
	if (version == 10)
		return COLL_V(10)->iallgather(comm, s, 1, &p10, per_rank, off,
					      size, NULL, req);
	return COLL_V(11)->iallgather(comm, s, 1, &p10, per_rank, off, size,
				      NULL, req);
}

static nccl_result ireducescatter(void *comm, void *s, void *r, size_t size,
				  size_t per_rank, size_t off, void **req)
{
	struct nccl_sge_v8 p8 = { NULL, s, (uint32_t)size };
	struct nccl_sge_v10 p10 = { NULL, s, size };

	if (version == 8)
		return COLL_V(8)->ireducescatter(comm, 1, &p8, r, per_rank, off,
						 size, NCCL_INT32, NCCL_SUM,
						 NULL, req);
	if (version == 10)
		return COLL_V(10)->ireducescatter(comm, 1, &p10, r, per_rank,
						  off, size, NCCL_INT32,
						  NCCL_SUM, NULL, req);
	return COLL_V(11)->ireducescatter(comm, 1, &p10, r, per_rank, off, size,
					  NCCL_INT32, NCCL_SUM, NULL, req);
}

/* The vector of all ranks, in windows that ignore block boundaries. */
static void windows(void *comm, bool gather)
{
	size_t per_rank = 30011 * sizeof(int), all = per_rank * (size_t)np;
	size_t win = 41 * 1024 * sizeof(int), off, size, n, i;
	int *own = calloc(1, per_rank), *vec = calloc(1, all), r;
	char *mine, *part;
	nccl_result ret;
	bool ok = true;
	void *req;

	for (i = 0; i < per_rank / sizeof(int); i++)
		own[i] = gather ? value(me, 77, i) : 0;
	for (i = 0; i < all / sizeof(int); i++)
		vec[i] = gather ? 0 : value(me, 78, i);
	for (off = 0; off < all; off += size) {
		size_t first = (size_t)me * per_rank, at;

		size = all - off < win ? all - off : win;
		/* NCCL's offset of the window in one's own block. */
		at = off > first && off < first + per_rank ? off - first : 0;
		mine = (char *)own + at;
		part = (char *)vec + off;
		do {
			if (gather)
				ret = iallgather(comm, mine, part, size,
						 per_rank, off, &req);
			else
				ret = ireducescatter(comm, part, mine, size,
						     per_rank, off, &req);
			must(ret, "window");
		} while (!req);
		while (!coll_done(&req, (int)size))
			;
	}
	n = per_rank / sizeof(int);
	for (r = 0; r < np && gather; r++)
		for (i = 0; i < n; i++)
			ok &= vec[(size_t)r * n + i] == value(r, 77, i);
	for (i = 0; i < n && !gather; i++) {
		int sum = 0;

		for (r = 0; r < np; r++)
			sum += value(r, 78, (size_t)me * n + i);
		ok &= own[i] == sum;
	}
	verdict(ok,
		gather ? "allgather in windows" : "reducescatter in windows");
	free(own);
	free(vec);
}

/* The memory returns to the system, and other memory takes its place. */
static void remapped(void *comm)
{
	size_t n = 20480, i;
	bool ok = true;
	float *at = NULL;
	int round, r;
	void *req;

	for (round = 0; round < 3; round++) {
		at = mmap(at, n * sizeof(*at), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0),
			  -1, 0);
		for (i = 0; i < n; i++)
			at[i] = (float)value(me, round, i);
		do {
			must(iallreduce(comm, at, at, n, NCCL_FP32, NCCL_SUM,
					&req),
			     "iallreduce");
		} while (!req);
		while (!coll_done(&req, (int)(n * sizeof(*at))))
			;
		for (i = 0; i < n; i++) {
			float sum = 0;

			for (r = 0; r < np; r++)
				sum += (float)value(r, round, i);
			ok &= at[i] == sum;
		}
		munmap(at, n * sizeof(*at));
	}
	verdict(ok, "buffers that come and go at one address");
}

/* The last rank writes a checkpoint. */
static void late(void *comm)
{
	float x = (float)(me + 1);
	void *req;

	if (me == np - 1)
		sleep(32);
	must(iallreduce(comm, &x, &x, 1, NCCL_FP32, NCCL_SUM, &req),
	     "iallreduce");
	while (!coll_done(&req, sizeof(x)))
		usleep(10000);
	verdict(x == (float)(np * (np + 1) / 2),
		"a rank came half a minute late");
}

static int threads(void)
{
	return procfs_entries("/proc/self/task");
}

/* A joined thread stays in /proc until the kernel has removed it. */
static bool threads_become(int n)
{
	int tries;

	for (tries = 0; threads() != n && tries < 200; tries++)
		usleep(10000);
	return threads() == n;
}

/*
 * All but the last rank have an operation in flight, with memory that NCCL
 * registered twice. Then NCCL frees everything, as it does when it aborts, and
 * makes no more calls.
 */
static void aborted(void *comm)
{
	static float buf[5000];
	float was;
	void *mh[2], *req = NULL;

	must(COLL(reg_mr)(comm, buf, sizeof(buf), NCCL_PTR_HOST, &mh[0]),
	     "registering");
	must(COLL(reg_mr)(comm, buf, sizeof(buf), NCCL_PTR_HOST, &mh[1]),
	     "registering");
	buf[0] = was = (float)me;
	if (me != np - 1)
		must(iallreduce(comm, buf, buf, 5000, NCCL_FP32, NCCL_SUM,
				&req),
		     "iallreduce");
	usleep(300000);
	verdict(COLL(dereg_mr)(comm, mh[0]) == NCCL_SUCCESS &&
		COLL(dereg_mr)(comm, mh[1]) == NCCL_SUCCESS,
		"memory is given back with an operation under way");
	verdict(buf[0] == was, "nothing came");
}

static void collectives(void *ctx)
{
	unsigned char own[NCCL_HANDLE_MAX],
		*all = malloc((size_t)np * NCCL_HANDLE_MAX);
	void **handles = calloc((size_t)np, sizeof(*handles)), *listen,
	     *comm = NULL;
	int ndev = 0, yes = 0, no = 1, r, before;

	must(COLL(devices)(&ndev), "devices");
	verdict(ndev == 1, "one collective device");
	must(COLL(reduce_support)(NCCL_BF16, NCCL_MAX, &yes), "reduceSupport");
	must(COLL(reduce_support)(99, NCCL_SUM, &no), "reduceSupport");
	verdict(yes && !no, "what can be reduced");
	must(version == 11 ? COLL_V(11)->listen(ctx, 0, own, &listen) :
	     version == 10 ? COLL_V(10)->listen(0, own, &listen) :
			     COLL_V(8)->listen(0, own, &listen), "listen");
	publish("coll", own);
	for (r = 0; r < np; r++) {
		handles[r] = all + (size_t)r * NCCL_HANDLE_MAX;
		fetch("coll", r, handles[r]);
	}
	before = threads();
	must(COLL(connect)(handles, np, me, listen, &comm), "connect");
	if (!strcmp(mode, "late")) {
		late(comm);
	} else if (!strcmp(mode, "abort")) {
		aborted(comm);
	} else {
		allreduces(comm);
		remapped(comm);
		windows(comm, true);
		windows(comm, false);
	}
	must(COLL(close_coll)(comm), "close");
	must(COLL(close_listen)(listen), "close listen");
	verdict(threads_become(before), "no thread is left");
	printf("# v%d rank %d: longest test of a collective %.2f ms\n", version,
	       me, worst_test_ms);
	free(handles);
	free(all);
}

static void where(void *ctx)
{
	unsigned char handle[NCCL_HANDLE_MAX];
	struct sockaddr_storage addr;
	char text[INET6_ADDRSTRLEN];
	void *listen;

	must(NET_V(11)->listen(ctx, 0, handle, &listen), "listen");
	listening_at(&addr);
	if (addr.ss_family == AF_INET)
		inet_ntop(AF_INET, &((struct sockaddr_in *)&addr)->sin_addr,
			  text, sizeof(text));
	else
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&addr)->sin6_addr,
			  text, sizeof(text));
	printf("at %s\n", text);
	must(NET(close_listen)(listen), "close listen");
}

static const void *symbol(void *lib, const char *prefix)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_v%d", prefix, version);
	return dlsym(lib, name);
}

int main(int argc, char **argv)
{
	void *lib, *net_ctx = NULL, *coll_ctx = NULL;

	if (argc < 6) {
		fprintf(stderr, "usage: proxy LIB VERSION RANK RANKS DIR [SEED [MODE]]\n");
		return 2;
	}
	lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	version = atoi(argv[2]);
	me = atoi(argv[3]);
	np = atoi(argv[4]);
	dir = argv[5];
	if (argc > 6)
		seed = (unsigned int)atoi(argv[6]);
	if (argc > 7)
		mode = argv[7];
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	net = symbol(lib, "ncclNetPlugin");
	coll = symbol(lib, "ncclCollNetPlugin");
	verdict(net && coll, "both symbols");
	if (!net || !coll)
		return 1;
	if (version == 11) {
		must(NET_V(11)->init(&net_ctx, 1, NULL, on_log, NULL), "init");
		must(COLL_V(11)->init(&coll_ctx, 1, on_log), "init");
	} else if (version == 10) {
		must(NET_V(10)->init(on_log, NULL), "init");
		must(COLL_V(10)->init(on_log), "init");
	} else {
		must(NET_V(8)->init(on_log), "init");
		must(COLL_V(8)->init(on_log), "init");
	}
	if (!strcmp(mode, "where")) {
		where(net_ctx);
		return 0;
	}
	if (!*mode)
		messages(net_ctx);
	collectives(coll_ctx);
	return failures ? 1 : 0;
}
