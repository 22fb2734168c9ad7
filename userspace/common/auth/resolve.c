// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See resolve.h. A thread asks; whoever has no more time leaves it alone. What it
 * learns then is there for who asks for the same name again, so that a server that
 * answers late does so for those, too, who can never wait for it.
 */
#include "auth/resolve.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/clock.h"

#define LEFT	8	/* questions that nobody waits for, by their names */
#define MOST	32	/* that are asked at a time */
#define OLD_MS	60000	/* an answer is not used after that */

/**
 * struct question - a name
 * @users: its thread, and who waits, or its place among those left
 * @pid: process, as a child of fork() has no such thread
 * @born: milliseconds
 * @lock: guards what follows
 * @told: there is an answer
 * @done: it is this
 * @ret: of getaddrinfo()
 * @list: likewise
 * @flags: for it
 * @service: likewise
 * @host: likewise
 */
struct question {
	_Atomic int	users;
	pid_t		pid;
	int64_t		born;
	pthread_mutex_t	lock;
	pthread_cond_t	told;
	bool		done;
	int		ret;
	struct addrinfo	*list;
	int		flags;
	char		service[8];
	char		host[256];
};

static struct question *_Atomic left[LEFT];
static _Atomic int asked;

static int ask(const char *host, const char *service, int flags,
	       struct addrinfo **list)
{
	const struct addrinfo hints = {
		.ai_flags = flags, .ai_socktype = SOCK_STREAM,
	};

	return getaddrinfo(host, *service ? service : NULL, &hints, list);
}

static void put_question(struct question *q)
{
	if (!q || --q->users)
		return;
	if (q->list)
		freeaddrinfo(q->list);
	pthread_cond_destroy(&q->told);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static void *find_answer(void *arg)
{
	struct question *q = arg;
	struct addrinfo *list = NULL;
	int ret = ask(q->host, q->service, q->flags, &list);

	pthread_mutex_lock(&q->lock);
	q->ret = ret;
	q->list = ret ? NULL : list;
	q->done = true;
	pthread_cond_signal(&q->told);
	pthread_mutex_unlock(&q->lock);
	asked--;
	put_question(q);
	return NULL;
}

/* Signals are the program's. */
static bool start_thread(struct question *q)
{
	sigset_t all, old;
	pthread_t thread;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&thread, NULL, find_answer, q);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!ret)
		pthread_detach(thread);
	return !ret;
}

static struct question *new_question(const char *host, const char *service,
				     int flags)
{
	struct question *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->users = 2;
	q->pid = getpid();
	q->born = now_ms();
	q->flags = flags;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->told, NULL);
	snprintf(q->host, sizeof(q->host), "%s", host);
	snprintf(q->service, sizeof(q->service), "%s", service);
	if (asked++ < MOST && start_thread(q))
		return q;
	asked--;
	q->users = 1;
	put_question(q);
	return NULL;
}

static struct question *_Atomic *place_of(const char *host)
{
	unsigned int hash = 5381;

	while (*host)
		hash = hash * 33 + (unsigned char)*host++;
	return &left[hash % LEFT];
}

/* What was asked before, and is not answered yet, or was not waited for. */
static struct question *take_left(const char *host, const char *service,
				  int flags)
{
	struct question *q = atomic_exchange(place_of(host), NULL);

	if (!q || (q->pid == getpid() && q->flags == flags &&
		   now_ms() - q->born < OLD_MS && !strcmp(q->host, host) &&
		   !strcmp(q->service, service)))
		return q;
	/* A thread of the parent's has no end here. */
	if (q->pid == getpid())
		put_question(q);
	return NULL;
}

static bool wait_for(struct question *q, int64_t timeout_ms)
{
	int64_t until = now_ms() + timeout_ms;
	const struct timespec ts = {
		.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000,
	};
	int ret = 0;

	pthread_mutex_lock(&q->lock);
	while (!q->done && !ret)
		ret = pthread_cond_clockwait(&q->told, &q->lock,
					     CLOCK_MONOTONIC, &ts);
	ret = q->done;
	pthread_mutex_unlock(&q->lock);
	return ret;
}

/**
 * inc_resolve() - find a host's addresses
 * @host: its name, or an address, which takes no time
 * @service: port, or ""
 * @flags: AI_*
 * @timeout_ms: how long to wait at most
 * @list: result, for freeaddrinfo()
 *
 * Return: 0, or what getaddrinfo() returns; EAI_AGAIN: no answer in time.
 */
int inc_resolve(const char *host, const char *service, int flags,
		int64_t timeout_ms, struct addrinfo **list)
{
	struct question *q;
	int ret;

	if (!ask(host, service, flags | AI_NUMERICHOST, list))
		return 0;
	if (strlen(host) >= sizeof(q->host))
		return EAI_NONAME;
	q = take_left(host, service, flags) ?: new_question(host, service,
							    flags);
	if (!q)
		return EAI_AGAIN;
	if (!wait_for(q, timeout_ms)) {
		q = atomic_exchange(place_of(host), q);
		if (q && q->pid == getpid())
			put_question(q);
		return EAI_AGAIN;
	}
	ret = q->ret;
	*list = q->list;
	q->list = NULL;
	put_question(q);
	return ret;
}

/**
 * inc_resolve_why() - say why there are no addresses
 * @ret: of inc_resolve()
 *
 * Return: words.
 */
const char *inc_resolve_why(int ret)
{
	return ret == EAI_AGAIN ?
	       "no name server has answered (see /etc/resolv.conf): try again, or give the host's address" :
	       gai_strerror(ret);
}
