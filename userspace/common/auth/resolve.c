// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See resolve.h. A thread asks the resolver; a caller that runs out of time
 * leaves the question behind. The next caller with the same question gets its
 * answer, so a slow name server helps even callers that can never wait for it.
 */
#include "auth/resolve.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/clock.h"
#include "conf/thread.h"

#define LEFT	8	/* questions left behind, by hash of their names */
#define MOST	32	/* questions under way at a time */
#define OLD_MS	60000	/* age after which an answer is not used */

/**
 * struct inc_question - question for a name's addresses
 * @users: references by its thread, and by a caller or left[]
 * @pid: process; a child of fork() does not have the thread
 * @born: milliseconds; when it was asked
 * @lock: guards the members down to @wake
 * @told: condition: @done was set
 * @done: there is an answer
 * @ret: result of getaddrinfo()
 * @list: addresses of getaddrinfo()
 * @wake: eventfd to ring when there is an answer; -1: none
 * @family: argument of getaddrinfo()
 * @flags: likewise
 * @service: likewise
 * @host: likewise
 */
struct inc_question {
	_Atomic int	users;
	pid_t		pid;
	int64_t		born;
	pthread_mutex_t	lock;
	pthread_cond_t	told;
	bool		done;
	int		ret;
	struct addrinfo	*list;
	int		wake;
	int		family;
	int		flags;
	char		service[8];
	char		host[256];
};

static struct inc_question *_Atomic left[LEFT];
static _Atomic int asked;

static int ask(const char *host, const char *service, int family, int flags,
	       struct addrinfo **list)
{
	const struct addrinfo hints = {
		.ai_flags = flags, .ai_family = family,
		.ai_socktype = SOCK_STREAM,
	};

	return getaddrinfo(host, *service ? service : NULL, &hints, list);
}

static void put_question(struct inc_question *q)
{
	if (!q || --q->users)
		return;
	if (q->list)
		freeaddrinfo(q->list);
	pthread_cond_destroy(&q->told);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* With @q->lock. */
static void ring(const struct inc_question *q)
{
	const uint64_t one = 1;

	if (q->wake >= 0)
		(void)!write(q->wake, &one, sizeof(one));
}

static void *find_answer(void *arg)
{
	struct inc_question *q = arg;
	struct addrinfo *list = NULL;
	int ret = ask(q->host, q->service, q->family, q->flags, &list);

	pthread_mutex_lock(&q->lock);
	q->ret = ret;
	q->list = ret ? NULL : list;
	q->done = true;
	pthread_cond_signal(&q->told);
	ring(q);
	pthread_mutex_unlock(&q->lock);
	asked--;
	put_question(q);
	return NULL;
}

static bool start_thread(struct inc_question *q)
{
	pthread_t thread;

	if (thread_create(&thread, find_answer, q))
		return false;
	pthread_detach(thread);
	return true;
}

static struct inc_question *new_question(const char *host, const char *service,
					 int family, int flags, int wake)
{
	struct inc_question *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->users = 2;
	q->pid = getpid();
	q->born = now_ms();
	q->wake = wake;
	q->family = family;
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

static struct inc_question *_Atomic *place_of(const char *host, int family)
{
	unsigned int hash = 5381 + (unsigned int)family;

	while (*host)
		hash = hash * 33 + (unsigned char)*host++;
	return &left[hash % LEFT];
}

/* Take a question that was left behind, answered or not. */
static struct inc_question *take_left(const char *host, const char *service,
				      int family, int flags, int wake)
{
	struct inc_question *q = atomic_exchange(place_of(host, family), NULL);

	if (!q)
		return NULL;
	if (q->pid == getpid() && q->family == family && q->flags == flags &&
	    now_ms() - q->born < OLD_MS && !strcmp(q->host, host) &&
	    !strcmp(q->service, service)) {
		pthread_mutex_lock(&q->lock);
		q->wake = wake;
		if (q->done)
			ring(q);
		pthread_mutex_unlock(&q->lock);
		return q;
	}
	/* A child of fork() does not have the parent's thread: leave both. */
	if (q->pid == getpid())
		put_question(q);
	return NULL;
}

static bool wait_for(struct inc_question *q, int64_t timeout_ms)
{
	int64_t until = now_ms() + timeout_ms;
	int ret = 0;

	pthread_mutex_lock(&q->lock);
	while (!q->done && !ret)
		ret = cond_wait(&q->told, &q->lock, until);
	ret = q->done;
	pthread_mutex_unlock(&q->lock);
	return ret;
}

/*
 * Begin to ask for a host's addresses. The same question, if it was left
 * behind, goes on instead: it may be answered. Returns the question, for
 * inc_question_wait() or inc_question_leave(), or NULL.
 * @wake: eventfd to ring at an answer, until the question is left; -1: none
 */
struct inc_question *inc_question_new(const char *host, const char *service,
				      int family, int flags, int wake)
{
	struct inc_question *q;

	if (strlen(host) >= sizeof(q->host))
		return NULL;
	q = take_left(host, service, family, flags, wake);
	return q ?: new_question(host, service, family, flags, wake);
}

/*
 * Wait for an answer. Returns EAI_INPROGRESS: none yet. Otherwise @q is freed,
 * and 0 or an error of getaddrinfo() is returned.
 * @timeout_ms: longest wait
 */
int inc_question_wait(struct inc_question *q, int64_t timeout_ms,
		      struct addrinfo **list)
{
	int ret;

	if (!wait_for(q, timeout_ms))
		return EAI_INPROGRESS;
	ret = q->ret;
	*list = q->list;
	q->list = NULL;
	put_question(q);
	return ret;
}

/*
 * Leave a question behind.
 * @q: question; the next caller with the same one gets it
 */
void inc_question_leave(struct inc_question *q)
{
	pthread_mutex_lock(&q->lock);
	q->wake = -1;
	pthread_mutex_unlock(&q->lock);
	q = atomic_exchange(place_of(q->host, q->family), q);
	if (q && q->pid == getpid())
		put_question(q);
}

/*
 * Parse a host's address. Returns 0, or an error of getaddrinfo(); EAI_NONAME:
 * @host is a name.
 * @host: address, or a name, which is not looked up
 */
int inc_resolve_number(const char *host, const char *service, int flags,
		       struct addrinfo **list)
{
	return ask(host, service, AF_UNSPEC, flags | AI_NUMERICHOST, list);
}

/*
 * Find a host's addresses. Returns 0, or an error of getaddrinfo(); EAI_AGAIN:
 * no answer in time.
 * @host: name, or an address, which takes no time
 * @timeout_ms: longest wait
 */
int inc_resolve(const char *host, const char *service, int flags,
		int64_t timeout_ms, struct addrinfo **list)
{
	struct inc_question *q;
	int ret;

	if (!inc_resolve_number(host, service, flags, list))
		return 0;
	if (strlen(host) >= sizeof(q->host))
		return EAI_NONAME;
	q = inc_question_new(host, service, AF_UNSPEC, flags, -1);
	if (!q)
		return EAI_AGAIN;
	ret = inc_question_wait(q, timeout_ms, list);
	if (ret != EAI_INPROGRESS)
		return ret;
	inc_question_leave(q);
	return EAI_AGAIN;
}

/*
 * Does an error mean that a host does not exist? Returns true: a name server
 * says so; false: no name server answers.
 */
bool inc_resolve_is_none(int ret)
{
	return ret == EAI_NONAME || ret == EAI_NODATA || ret == EAI_ADDRFAMILY;
}

/*
 * Say why there are no addresses. Name servers that fail or refuse are reported
 * like silent ones. Returns the text.
 */
const char *inc_resolve_why(int ret)
{
	if (inc_resolve_is_none(ret))
		return "there is no host of this name";
	return ret == EAI_AGAIN || ret == EAI_FAIL ?
	       "no name server has answered with an address (see /etc/resolv.conf): try again, or give the host's address" :
	       gai_strerror(ret);
}
