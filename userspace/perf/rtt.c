// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * "inc-perf rtt", and inc-rtt: round trip and throughput of RDMA WRITE between
 * two stock RC queue pairs, without an INC switch: the baseline for collectives.
 *
 * To be comparable, the program uses verbs as libinc does (completion events, sparse
 * send completions, inline data, three system calls per message).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/clock.h"
#include "conf/opts.h"
#include "device/verbs.h"
#include "http2/reach.h"
#include "rtt.h"

#define DEFAULT_PORT	18792
#define QUEUE		128
#define SIGNAL_EVERY	(QUEUE / 4)
#define INLINE_MAX	96
#define MAX_REPS	1000
#define MAX_SIZE	(1 << 26)
#define LINE		256
#define HELLO_MS	10000	/* time limit of a client's first line */
#define CONNECT_MS	10000
#define REFUSED_MS	2000	/* time that a server has to start */

struct rtt_options {
	const char	*server;	/* NULL: this is the server */
	const char	*dev;
	int		gid_index;
	bool		once;
	bool		bw;
	bool		json;
	bool		serve;
	unsigned int	port;
	unsigned int	size;
	unsigned int	iterations;
	unsigned int	reps;
	unsigned int	window;
	unsigned int	timeout_ms;
	unsigned int	pmtu;
	unsigned int	yields;
	unsigned int	qp_timeout;
};

/* Exchanged by the two ends. */
struct hello {
	struct inc_rdv_addr	addr;
	uint32_t		qpn;
	uint32_t		psn;
	uint32_t		rkey;
	uint64_t		va;
	unsigned int		mtu;
	/* of the client */
	unsigned int		bw;
	unsigned int		size;
	unsigned int		messages;	/* whole run */
	unsigned int		yields;
};

struct end {
	struct rtt_options	*o;
	int			fd;
	FILE			*in;		/* lines from the other end */
	struct inc_dev		dev;
	struct ibv_pd		*pd;
	struct ibv_comp_channel	*chan;
	struct ibv_cq		*rcq;
	struct ibv_cq		*scq;
	struct ibv_qp		*qp;
	struct ibv_mr		*mr;
	char			*buf;		/* half out, half in */
	unsigned int		size;
	uint32_t		inline_max;
	struct hello		peer;
	uint64_t		posted;
	uint64_t		done;
	unsigned int		recvs;
	unsigned int		events;
	unsigned int		yields;		/* before each sleep */
};

/* A server's error, for its client. */
static char wrong[LINE];

static int report_wrong(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static int report_wrong(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(wrong, sizeof(wrong), fmt, ap);
	va_end(ap);
	fflush(stdout);
	fprintf(stderr, "inc-rtt: %s\n", wrong);
	return -1;
}

static int report_failure(const char *what, int err)
{
	return report_wrong("%s: %s", what, strerror(err < 0 ? -err : err));
}

/* Exit from the signal handler: all waiting is in the kernel. */
static void end_late(int sig)
{
	static const char text[] = "inc-rtt: the other end does not answer in time: see --timeout, and whether both let UDP port 4791 through\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

/* --- TCP --------------------------------------------------------------- */

static int send_line(struct end *e, const char *line)
{
	return dprintf(e->fd, "%s\n", line) < 0 ? report_failure("TCP", errno) : 0;
}

/* Read a line. The socket blocks; limit_time() sets the limit. */
static int recv_line(struct end *e, char line[LINE])
{
	if (!e->in)
		e->in = fdopen(e->fd, "r");
	if (!e->in || !fgets(line, LINE, e->in))
		return report_failure("the other end",
				      e->in && feof(e->in) ? ECONNRESET : errno);
	line[strcspn(line, "\n")] = '\0';
	return strncmp(line, "error ", 6) ? 0 :
	       report_wrong("the other end: %s", line + 6);
}

static int send_hello(struct end *e, const struct hello *h)
{
	char line[LINE], addr[64];

	snprintf(line, sizeof(line),
		 "inc-rtt1 %s %u %u %u %" PRIu64 " %u %u %u %u %u",
		 inc_rdv_addr_str(&h->addr, addr, sizeof(addr)), h->qpn, h->psn,
		 h->rkey, h->va, h->mtu, h->bw, h->size, h->messages,
		 h->yields);
	return send_line(e, line);
}

static int recv_hello(struct end *e, struct hello *h)
{
	char line[LINE], addr[64];

	if (recv_line(e, line))
		return -1;
	if (sscanf(line, "inc-rtt1 %63s %u %u %u %" SCNu64 " %u %u %u %u %u",
		   addr, &h->qpn, &h->psn, &h->rkey, &h->va, &h->mtu, &h->bw,
		   &h->size, &h->messages, &h->yields) != 10 ||
	    inc_rdv_addr_parse(addr, &h->addr))
		return report_wrong("the other end is no inc-rtt of this version");
	return 0;
}

/* --- Verbs ------------------------------------------------------------- */

static int post_recvs(struct end *e)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	for (; e->recvs < QUEUE; e->recvs++)
		if (ibv_post_recv(e->qp, &wr, &bad))
			return report_failure("ibv_post_recv", errno);
	return 0;
}

static int make_verbs(struct end *e, const struct inc_rdv_addr *local)
{
	struct inc_dev_sel sel = {
		.dev = e->o->dev,
		.gid_index = e->o->gid_index,
		.addr = *local,
	};
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = QUEUE, .max_recv_wr = QUEUE,
			.max_send_sge = 1, .max_recv_sge = 1,
			.max_inline_data = INLINE_MAX,
		},
	};
	char err[INC_RDV_TEXT_MAX];

	if (inc_dev_open(&e->dev, &sel, err, sizeof(err)))
		return report_wrong("%s", err);
	e->buf = aligned_alloc(4096,
			       (2 * (size_t)e->size + 4095) / 4096 * 4096);
	e->pd = ibv_alloc_pd(e->dev.ctx);
	e->chan = ibv_create_comp_channel(e->dev.ctx);
	if (!e->buf || !e->pd || !e->chan)
		return report_failure("verbs", errno);
	memset(e->buf, 0, 2 * (size_t)e->size);
	e->mr = ibv_reg_mr(e->pd, e->buf, 2 * (size_t)e->size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	e->rcq = ibv_create_cq(e->dev.ctx, QUEUE, NULL, e->chan, 0);
	e->scq = ibv_create_cq(e->dev.ctx, QUEUE, NULL, e->chan, 0);
	if (!e->mr || !e->rcq || !e->scq)
		return report_failure("verbs", errno);
	attr.send_cq = e->scq;
	attr.recv_cq = e->rcq;
	e->qp = ibv_create_qp(e->pd, &attr);
	if (!e->qp)
		return report_failure("ibv_create_qp", errno);
	e->inline_max = attr.cap.max_inline_data;
	if (inc_qp_to_init(e->qp, &e->dev))
		return report_failure("queue pair", EIO);
	return post_recvs(e);
}

static void free_verbs(struct end *e)
{
	if (e->qp)
		ibv_destroy_qp(e->qp);
	if (e->mr)
		ibv_dereg_mr(e->mr);
	if (e->rcq) {
		ibv_ack_cq_events(e->rcq, e->events);
		ibv_destroy_cq(e->rcq);
	}
	if (e->scq)
		ibv_destroy_cq(e->scq);
	if (e->chan)
		ibv_destroy_comp_channel(e->chan);
	if (e->pd)
		ibv_dealloc_pd(e->pd);
	inc_dev_close(&e->dev);
	free(e->buf);
}

/* Exchange addresses and connect; on return both ends are in RTS. */
static int connect_ends(struct end *e, struct hello *mine)
{
	char err[INC_RDV_TEXT_MAX], line[LINE];
	struct inc_rc rc;
	uint32_t psn;

	if (getrandom(&psn, sizeof(psn), 0) != sizeof(psn))
		return report_failure("getrandom", errno);
	mine->addr = e->dev.addr;
	mine->qpn = e->qp->qp_num;
	mine->psn = psn & 0xffffff;
	mine->rkey = e->mr->rkey;
	mine->va = (uintptr_t)e->buf + e->size;
	mine->mtu = e->o->pmtu && e->o->pmtu < e->dev.mtu ? e->o->pmtu :
							   e->dev.mtu;
	if (send_hello(e, mine))
		return -1;
	if (e->o->server && recv_hello(e, &e->peer))
		return -1;
	rc = (struct inc_rc){
		.addr	= e->peer.addr,
		.qpn	= e->peer.qpn,
		.rq_psn	= e->peer.psn,
		.sq_psn	= mine->psn,
		.pmtu	= mine->mtu < e->peer.mtu ? mine->mtu : e->peer.mtu,
		.timeout = e->o->qp_timeout,
	};
	if (inc_qp_to_rts(e->qp, &e->dev, &rc, err, sizeof(err)))
		return report_wrong("%s", err);
	/* Neither end sends before both are ready. */
	return send_line(e, "ready") || recv_line(e, line) ? -1 : 0;
}

static int reap_sends(struct end *e)
{
	struct ibv_wc wc[16];
	int i, n;

	n = ibv_poll_cq(e->scq, 16, wc);
	for (i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			return report_wrong("sending: %s",
					    ibv_wc_status_str(wc[i].status));
		e->done = wc[i].wr_id;
	}
	return 0;
}

/* Sleep until there is an event of @cq, which was empty. */
static int sleep_for(struct end *e, struct ibv_cq *cq, bool *armed)
{
	struct ibv_cq *ev;
	void *context;

	if (!*armed) {
		*armed = true;
		if (ibv_req_notify_cq(cq, 0))
			return report_failure("ibv_req_notify_cq", errno);
		return 0;
	}
	*armed = false;
	if (ibv_get_cq_event(e->chan, &ev, &context))
		return report_failure("ibv_get_cq_event", errno);
	if (ev == e->rcq)
		e->events++;
	else
		ibv_ack_cq_events(ev, 1);
	return 0;
}

static int post_write(struct end *e, bool imm, bool signal)
{
	struct ibv_sge sge = {
		.addr	= (uintptr_t)e->buf,
		.length	= e->size,
		.lkey	= e->mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id	= ++e->posted,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode	= imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE,
		.send_flags = (signal ? IBV_SEND_SIGNALED : 0) |
			      (e->size <= e->inline_max ? IBV_SEND_INLINE : 0),
		.wr.rdma = { .remote_addr = e->peer.va, .rkey = e->peer.rkey },
	};

	if (ibv_post_send(e->qp, &wr, &bad))
		return report_failure("ibv_post_send", errno);
	return 0;
}

/* Wait for one message of the other end. */
static int wait_recv(struct end *e)
{
	unsigned int yields = e->yields;
	bool armed = false;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(e->rcq, 1, &wc)))
		if (yields)
			yields--, sched_yield();
		else if (sleep_for(e, e->rcq, &armed))
			return -1;
	if (n < 0 || wc.status != IBV_WC_SUCCESS)
		return report_wrong("receiving: %s", n < 0 ? "ibv_poll_cq" :
				    ibv_wc_status_str(wc.status));
	if (--e->recvs < QUEUE / 2)
		return post_recvs(e);
	return 0;
}

static int post_ping(struct end *e)
{
	bool signal = (e->posted + 1) % SIGNAL_EVERY == 0;

	if (e->posted - e->done > QUEUE / 2 && reap_sends(e))
		return -1;
	return post_write(e, true, signal);
}

/* --- Round trip -------------------------------------------------------- */

static int pong_all(struct end *e)
{
	unsigned int i;

	for (i = 0; i < e->peer.messages; i++)
		if (wait_recv(e) || post_ping(e))
			return -1;
	return 0;
}

static int ping_all(struct end *e, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (post_ping(e) || wait_recv(e))
			return -1;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report_values(const struct rtt_options *o, double *v,
			  const char *unit)
{
	unsigned int i;

	qsort(v, o->reps, sizeof(*v), by_value);
	if (!o->json) {
		printf("%u bytes: min %.2f median %.2f max %.2f %s\n", o->size,
		       v[0], v[o->reps / 2], v[o->reps - 1], unit);
		return;
	}
	printf("{\"size\":%u,\"unit\":\"%s\",\"min\":%.3f,\"median\":%.3f,\"max\":%.3f,\"samples\":[",
	       o->size, unit, v[0], v[o->reps / 2], v[o->reps - 1]);
	for (i = 0; i < o->reps; i++)
		printf("%s%.3f", i ? "," : "", v[i]);
	printf("]}\n");
}

static int run_rtt(struct end *e)
{
	struct rtt_options *o = e->o;
	double us[MAX_REPS], t;
	unsigned int i;

	if (ping_all(e, o->iterations / 10 + 1))
		return -1;
	for (i = 0; i < o->reps; i++) {
		t = now_us();
		if (ping_all(e, o->iterations))
			return -1;
		us[i] = (now_us() - t) / o->iterations;
	}
	report_values(o, us, "us");
	return 0;
}

/* --- Throughput -------------------------------------------------------- */

static char pattern_byte(unsigned int i)
{
	return (char)(i * 7 + (i >> 8) * 13 + 5);
}

/* Send @n messages; the last one notifies the other end. */
static int stream_messages(struct end *e, unsigned int n)
{
	uint64_t last = e->posted + n, before;
	bool armed = false;

	while (e->done < last) {
		before = e->done;
		while (e->posted < last && e->posted - e->done < e->o->window)
			if (post_write(e, e->posted + 1 == last, true))
				return -1;
		if (reap_sends(e))
			return -1;
		if (e->done != before)
			armed = false;
		else if (sleep_for(e, e->scq, &armed))
			return -1;
	}
	return 0;
}

static int run_bw(struct end *e)
{
	struct rtt_options *o = e->o;
	char line[LINE];
	double mbs[MAX_REPS], t;
	unsigned int i;

	for (i = 0; i < o->size; i++)
		e->buf[i] = pattern_byte(i);
	for (i = 0; i < o->reps; i++) {
		t = now_us();
		if (stream_messages(e, o->iterations))
			return -1;
		mbs[i] = (double)o->size * o->iterations / (now_us() - t);
	}
	if (recv_line(e, line))
		return -1;
	if (strcmp(line, "data ok"))
		return report_wrong("the other end: %s", line);
	report_values(o, mbs, "MB/s");
	return 0;
}

/* Receive; the last message of each repetition has an Immediate. */
static int sink_messages(struct end *e)
{
	const char *in = e->buf + e->size;
	unsigned int i;

	for (i = 0; i < e->peer.messages; i++)
		if (wait_recv(e))
			return -1;
	for (i = 0; i < e->size; i++)
		if (in[i] != pattern_byte(i))
			return send_line(e, "data wrong");
	return send_line(e, "data ok");
}

/* --- Both ends --------------------------------------------------------- */

static int local_addr(int fd, struct inc_rdv_addr *addr)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	if (getsockname(fd, (struct sockaddr *)&sa, &len))
		return report_failure("getsockname", errno);
	return inc_rdv_addr_from_sockaddr((struct sockaddr *)&sa, addr);
}

static void limit_time(unsigned int ms)
{
	signal(SIGALRM, end_late);
	alarm((ms + 999) / 1000);
}

static int serve_hello(struct end *e)
{
	struct hello mine = { 0 };
	char line[LINE];
	struct inc_rdv_addr local;

	limit_time(HELLO_MS);
	if (recv_hello(e, &e->peer))
		return -1;
	limit_time(e->o->timeout_ms);
	e->size = e->peer.size;
	e->yields = e->peer.yields;
	if (!e->size || e->size > MAX_SIZE)
		return report_wrong("messages of %u bytes: must be from 1 to %d",
				    e->size, MAX_SIZE);
	if (local_addr(e->fd, &local) || make_verbs(e, &local) ||
	    connect_ends(e, &mine) ||
	    (e->peer.bw ? sink_messages(e) : pong_all(e)))
		return -1;
	/* Keep the queue pair until the other end has everything. */
	return recv_line(e, line);
}

/* If input that has arrived is not read, close() resets the connection. */
static void send_wrong(int fd)
{
	char rest[4096];

	if (fcntl(fd, F_SETFL, O_NONBLOCK))
		return;
	dprintf(fd, "error %s\n", wrong);
	while (read(fd, rest, sizeof(rest)) > 0)
		;
}

static int serve_one(struct rtt_options *o, int fd)
{
	struct end e = { .o = o, .fd = fd };
	int ret = serve_hello(&e);

	if (ret)
		send_wrong(fd);
	free_verbs(&e);
	return ret;
}

/* Serve a client in a child process: its failure must not end the server. */
static int serve_apart(struct rtt_options *o, int fd)
{
	pid_t server = getpid(), pid = fork();
	int status = -1;

	if (!pid) {
		/* It has the port, too: it must not stay when the server is ended. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() != server || serve_one(o, fd) ? 1 : 0);
	}
	if (pid < 0)
		report_failure("fork", errno);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? -1 : 0;
}

/* Listen on IPv6, else on IPv4; both structures begin with family and port. */
static int listen_at(unsigned int port)
{
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port),
	};
	int fd, on = 1, off = 0;

	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		any.sin6_family = AF_INET;
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) ||
	    listen(fd, 8))
		return report_wrong("port %u: %s", port, strerror(errno));
	return fd;
}

static int run_server(struct rtt_options *o)
{
	int fd = listen_at(o->port), conn, ret = 0;

	if (fd < 0)
		return -1;
	printf("listening on port %u\n", o->port);
	fflush(stdout);
	do {
		conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (conn < 0 && errno == ECONNABORTED)
			continue;
		if (conn < 0)
			return report_failure("accept", errno);
		ret = serve_apart(o, conn);
		close(conn);
	} while (!o->once);
	close(fd);
	return ret;
}

/* Connect to the server. Returns a socket, or -1. */
static int connect_server(const struct rtt_options *o)
{
	struct inc_reach *r = inc_reach_new("", (int)o->port, true);
	int ms = (int)o->timeout_ms < 2 * CONNECT_MS ? (int)o->timeout_ms / 2 :
		 CONNECT_MS;
	int64_t give_up = now_ms() + (ms < REFUSED_MS ? ms : REFUSED_MS);
	char why[INC_RDV_TEXT_MAX] = "no memory";
	int fd = -1;

	if (r && inc_reach_add(r, o->server)) {
		while ((fd = inc_reach_next(r, ms, NULL)) < 0 &&
		       inc_reach_error(r, 0) == -ECONNREFUSED &&
		       now_ms() < give_up) {
			usleep(50000);
			inc_reach_again(r);
		}
		inc_reach_why(r, "inc-rtt", why, sizeof(why));
	}
	inc_reach_free(r);
	return fd < 0 ? report_wrong("inc-rtt %s", why) : fd;
}

static int run_client(struct rtt_options *o)
{
	struct end e = { .o = o, .size = o->size, .yields = o->yields };
	struct hello mine = {
		.bw = o->bw,
		.size = o->size,
		.yields = o->yields,
		.messages = o->bw ? o->reps :
			    o->iterations / 10 + 1 + o->reps * o->iterations,
	};
	struct inc_rdv_addr local;
	int ret = -1;

	limit_time(o->timeout_ms);
	e.fd = connect_server(o);
	if (e.fd < 0)
		return -1;
	/* From here on the socket blocks; limit_time() sets the limit. */
	if (!fcntl(e.fd, F_SETFL, 0) && !local_addr(e.fd, &local) &&
	    !make_verbs(&e, &local) && !connect_ends(&e, &mine))
		ret = o->bw ? run_bw(&e) : run_rtt(&e);
	if (!ret)
		ret = send_line(&e, "bye");
	free_verbs(&e);
	return ret;
}

/* --- Command line ------------------------------------------------------ */

#define AT(field)	OPT_AT(struct rtt_options, field)

static const struct opt options_list[] = {
	{ "port", 'p', OPT_NUM, "PORT", "TCP port to meet at (18792)",
	  AT(port), 1, UINT16_MAX },
	{ "size", 's', OPT_NUM, "BYTES",
	  "size of a message (8; with --bw 65536)", AT(size), 1, MAX_SIZE },
	{ "iterations", 'i', OPT_NUM, "N",
	  "round trips, or messages, per repetition (1000)",
	  AT(iterations), 1, 1 << 20 },
	/* As in ibv_rc_pingpong. */
	{ "n", 'n', OPT_NUM, "N", NULL, AT(iterations) },
	{ "reps", 0, OPT_NUM, "N", "repetitions (5)", AT(reps), 1, MAX_REPS },
	{ "bw", 0, OPT_FLAG, NULL,
	  "measure throughput instead, and check the data", AT(bw) },
	{ "window", 0, OPT_NUM, "N", "messages in flight with --bw (8)",
	  AT(window), 1, QUEUE },
	{ "yield", 0, OPT_NUM, "N",
	  "yield the CPU N times before each sleep (0)", AT(yields), 0, 1000 },
	{ "qp-timeout", 0, OPT_NUM, "N",
	  "local ACK timeout, 4.096 us * 2^N (10)", AT(qp_timeout), 1, 31 },
	{ "pmtu", 0, OPT_NUM, "N", "path MTU, at most that of the ports",
	  AT(pmtu), 256, 4096, OPT_POWER },
	{ "dev", 0, OPT_TEXT, "NAME", "verbs device", AT(dev) },
	{ "gid-index", 0, OPT_NUM, "N", "index of the GID",
	  AT(gid_index), 0, UINT8_MAX },
	/* At least a second: earlier versions took seconds. */
	{ "timeout", 0, OPT_MS, "MS",
	  "exit so long after a measurement has begun (60s)",
	  AT(timeout_ms), 1000, INT_MAX },
	{ "server", 0, OPT_FLAG, NULL, "the default without an address",
	  AT(serve) },
	{ "once", 0, OPT_FLAG, NULL, "server: exit after one client",
	  AT(once) },
	{ "json", 'j', OPT_FLAG, NULL, "print JSON", AT(json) },
	OPT_HELP_ROW,
	OPT_VERSION_ROW,
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-rtt",
	.version = PERF_VERSION,
	.head	=
		"Usage: inc-rtt [OPTIONS] [--server]    at one end, and\n"
		"       inc-rtt [OPTIONS] HOST[:PORT]   at the other\n"
		"       (inc-rtt is \"inc-perf rtt\")\n"
		"\n"
		"Measure the round trip of RDMA WRITE with Immediate between two RC QPs.\n"
		"\n",
	.tail	= "\nExit status: 0, 1 if something failed or the data is wrong, 2 for usage.\n",
	.list	= options_list,
	.args	= 1,
};

/* Run the command. Returns its exit status. */
int rtt_main(int argc, char **argv)
{
	struct rtt_options o = {
		.port = DEFAULT_PORT, .gid_index = -1, .iterations = 1000,
		.reps = 5, .window = 8, .timeout_ms = 60000,
		.qp_timeout = 10,
	};
	int ret = opts_read(&options, &o, argc, argv);

	if (!ret && optind < argc)
		o.server = argv[optind];
	if (!ret && o.server && (o.serve || o.once))
		ret = opts_wrong("--server, --once: of the end without \"%s\"",
				 o.server);
	if (ret)
		return ret < 0 ? 2 : 0;
	signal(SIGPIPE, SIG_IGN);
	if (!o.size)
		o.size = o.bw ? 65536 : 8;
	return (o.server ? run_client(&o) : run_server(&o)) ? 1 : 0;
}
