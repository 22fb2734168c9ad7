// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Agents of all switches of a made-up fabric (fat_tree.h), for inc-amd to talk
 * with: as many UNIX sockets, DIR/0 to DIR/N-1, in one process that does little
 * work of its own. Trees that inc-amd makes are remembered, and reported with
 * counters that grow.
 *
 *   sim_agents DIR PODS HOSTS YANG...
 *
 * HOSTS are those of each leaf. YANG are the files that get-schema answers with,
 * by name. Prints "ready". On SIGUSR1 all subscribers are told that an interface
 * has changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/sim_agents.h"

#define BASE	"urn:ietf:params:xml:ns:netconf:base:1.0"
#define EVENTS	64
#define END_10	"]]>]]>"
#define END_11	"\n##\n"

/**
 * struct conn - a socket
 * @agent: agent
 * @fd: descriptor
 * @listens: it accepts sessions
 * @chunked: hello is over
 * @subscribed: it gets notifications
 * @buf: what has been received
 * @used: bytes of it
 * @room: and of @buf
 * @next: next session of the agent
 */
struct conn {
	struct sim_agent	*agent;
	int			fd;
	bool			listens;
	bool			chunked;
	bool			subscribed;
	char			*buf;
	size_t			used;
	size_t			room;
	struct conn		*next;
};

static struct conn *sessions;
static int epoll;
static volatile sig_atomic_t notify;
static char **schemas;

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* --- Schemas ------------------------------------------------------------- */

static void put_file(FILE *out, const char *path)
{
	FILE *f = must(fopen(path, "r"));
	int c;

	while ((c = getc(f)) != EOF)
		if (c == '<')
			fputs("&lt;", out);
		else if (c == '&')
			fputs("&amp;", out);
		else
			putc(c, out);
	fclose(f);
}

static void get_schema(FILE *out, const char *rpc)
{
	char name[64], *path;
	int i;

	if (sscanf(strstr(rpc, "identifier>") ?: "", "identifier>%63[^<]",
		   name) != 1)
		return;
	fputs("<data xmlns=\"urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring\">",
	      out);
	for (i = 0; schemas[i]; i++) {
		path = must(strdup(schemas[i]));
		if (!strncmp(basename(path), name, strlen(name)))
			put_file(out, schemas[i]);
		free(path);
	}
	fputs("</data>", out);
}

static const char hello[] =
	"<hello xmlns=\"" BASE "\"><capabilities>"
	"<capability>urn:ietf:params:netconf:base:1.0</capability>"
	"<capability>urn:ietf:params:netconf:base:1.1</capability>"
	"<capability>urn:ietf:params:netconf:capability:writable-running:1.0</capability>"
	"<capability>urn:ietf:params:netconf:capability:rollback-on-error:1.0</capability>"
	"<capability>urn:ietf:params:netconf:capability:notification:1.0</capability>"
	"<capability>urn:ietf:params:netconf:capability:interleave:1.0</capability>"
	"<capability>" BASE "?module=ietf-netconf&amp;revision=2013-09-29&amp;features=writable-running,rollback-on-error</capability>"
	"<capability>urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring?module=ietf-netconf-monitoring&amp;revision=2010-10-04</capability>"
	"<capability>urn:ietf:params:xml:ns:netconf:notification:1.0?module=notifications&amp;revision=2026-11-23</capability>"
	"<capability>urn:rdma-inc:switch?module=rdma-inc-switch&amp;revision=2026-11-21</capability>"
	"</capabilities><session-id>1</session-id></hello>" END_10;

/* --- Sessions ------------------------------------------------------------ */

static bool send_all(const struct conn *c, const char *data, size_t len)
{
	ssize_t n;

	while (len) {
		n = send(c->fd, data, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

static bool send_message(const struct conn *c, const char *text, size_t len)
{
	char head[32];
	int n = snprintf(head, sizeof(head), "\n#%zu\n", len);

	return send_all(c, head, (size_t)n) && send_all(c, text, len) &&
	       send_all(c, END_11, strlen(END_11));
}

static bool answer(struct conn *c, const char *rpc)
{
	const char *id = strstr(rpc, "message-id=\"");
	char *text = NULL;
	size_t len;
	FILE *out = must(open_memstream(&text, &len));
	bool ok;

	fprintf(out, "<rpc-reply xmlns=\"" BASE "\" message-id=\"%.*s\">",
		id ? (int)strcspn(id + 12, "\"") : 0, id ? id + 12 : "");
	if (strstr(rpc, "<get-schema"))
		get_schema(out, rpc);
	else if (!sim_agent_answer(c->agent, rpc, out))
		fputs("<ok/>", out);
	fputs("</rpc-reply>", out);
	fclose(out);
	ok = send_message(c, text, len);
	free(text);
	c->subscribed |= strstr(rpc, "<create-subscription") != NULL;
	return ok && !strstr(rpc, "<close-session");
}

/* Take the chunks of a message, of @len bytes with its end, apart. */
static char *join_chunks(const char *data, size_t len)
{
	char *text = must(malloc(len + 1)), *to = text, *after;
	const char *end = data + len;
	size_t n;

	while (data + 4 <= end && data[0] == '\n' && data[1] == '#' &&
	       data[2] != '#') {
		n = strtoul(data + 2, &after, 10);
		if (after + 1 + n > end)
			break;
		memcpy(to, after + 1, n);
		to += n;
		data = after + 1 + n;
	}
	*to = '\0';
	return text;
}

static bool next_message(struct conn *c, bool *done)
{
	const char *mark = c->chunked ? END_11 : END_10;
	const char *end = memmem(c->buf, c->used, mark, strlen(mark));
	size_t len;
	char *rpc;
	bool ok = true;

	*done = !end;
	if (!end)
		return true;
	len = (size_t)(end - c->buf) + strlen(mark);
	if (c->chunked) {
		rpc = join_chunks(c->buf, len);
		ok = answer(c, rpc);
		free(rpc);
	}
	c->chunked = true;
	c->used -= len;
	memmove(c->buf, c->buf + len, c->used);
	return ok;
}

static bool receive(struct conn *c)
{
	bool done = false, ok = true;
	ssize_t n;

	if (c->room - c->used < 4096) {
		c->room = 2 * c->room + 8192;
		c->buf = must(realloc(c->buf, c->room));
	}
	n = read(c->fd, c->buf + c->used, c->room - c->used - 1);
	if (n <= 0)
		return false;
	c->used += (size_t)n;
	c->buf[c->used] = '\0';
	while (ok && !done)
		ok = next_message(c, &done);
	return ok;
}

static void watch(struct conn *c)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &ev))
		abort();
}

static void drop(struct conn *c)
{
	struct conn **link = &sessions;

	while (*link != c)
		link = &(*link)->next;
	*link = c->next;
	close(c->fd);
	free(c->buf);
	free(c);
}

static void accept_one(struct conn *listener)
{
	struct timeval limit = { .tv_sec = 2 };
	struct conn *c = must(calloc(1, sizeof(*c)));

	c->agent = listener->agent;
	c->fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
	if (c->fd < 0) {
		free(c);
		return;
	}
	setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	c->next = sessions;
	sessions = c;
	watch(c);
	if (!send_all(c, hello, strlen(hello)))
		drop(c);
}

static void tell_all(void)
{
	static const char text[] =
		"<notification xmlns=\"urn:ietf:params:xml:ns:netconf:notification:1.0\">"
		"<eventTime>2026-11-22T00:00:00Z</eventTime>"
		"<topology-changed xmlns=\"urn:rdma-inc:switch\"><interface>p0</interface></topology-changed></notification>";
	const struct conn *c;

	notify = 0;
	for (c = sessions; c; c = c->next)
		if (c->subscribed)
			send_message(c, text, sizeof(text) - 1);
}

/* --- Start --------------------------------------------------------------- */

static void listen_at(struct sim_agent *agent, const char *dir, uint32_t i)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct conn *c = must(calloc(1, sizeof(*c)));

	c->agent = agent;
	c->listens = true;
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%u", dir, i);
	unlink(sun.sun_path);
	if (c->fd < 0 || bind(c->fd, (struct sockaddr *)&sun, sizeof(sun)) ||
	    listen(c->fd, 16)) {
		perror(sun.sun_path);
		exit(1);
	}
	watch(c);
}

static void on_signal(int sig)
{
	(void)sig;
	notify = 1;
}

static void run(void)
{
	struct epoll_event evs[EVENTS];
	struct conn *c;
	int i, n;

	for (;;) {
		n = epoll_wait(epoll, evs, EVENTS, -1);
		for (i = 0; i < n; i++) {
			c = evs[i].data.ptr;
			if (c->listens)
				accept_one(c);
			else if (!receive(c))
				drop(c);
		}
		if (notify)
			tell_all();
	}
}

int main(int argc, char **argv)
{
	struct sim_agent *agents;
	struct fat_tree t;
	uint32_t i;

	if (argc < 4) {
		fputs("usage: sim_agents DIR PODS HOSTS YANG...\n", stderr);
		return 2;
	}
	schemas = argv + 4;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	signal(SIGUSR1, on_signal);
	fat_tree_make(&t, (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]));
	agents = must(calloc(t.n, sizeof(*agents)));
	for (i = 0; i < t.n; i++) {
		sim_agent_init(&agents[i], t.infos[i], i);
		listen_at(&agents[i], argv[1], i);
	}
	fat_tree_free(&t);
	puts("ready");
	fflush(stdout);
	run();
}
