// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Names of hosts, by the resolver (/etc/hosts, DNS). An answer may take
 * seconds, so a thread of its own asks for one address after the other.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "loop/loop.h"
#include "web/web.h"

#define NAMES_MAX	65536
#define AGAIN_MS	(3600 * 1000LL)	/* names change, too */

/**
 * struct name - a host
 * @next: next in its bucket
 * @next_todo: next host to ask for
 * @queued: in the list of hosts to ask for
 * @asked_at: milliseconds; when it was last queued; 0: never
 * @addr: address, as text
 * @name: its name; empty: none, or not known yet
 */
struct name {
	struct name	*next;
	struct name	*next_todo;
	bool		queued;
	int64_t		asked_at;
	char		addr[INET6_ADDRSTRLEN];
	char		name[64];
};

#define BUCKETS	16384

/**
 * struct names - all hosts
 * @lock: guards the following
 * @wake: signals new hosts in @todo, or @stop
 * @stop: the thread ends, and frees this struct
 * @todo: hosts to ask for
 * @n: number of hosts
 * @bucket: hosts by their address
 */
struct names {
	pthread_mutex_t	lock;
	pthread_cond_t	wake;
	bool		stop;
	struct name	*todo;
	unsigned int	n;
	struct name	*bucket[BUCKETS];
};

/* Check characters, since a name server may answer anything. */
static bool is_host_name(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("-._", *text))
			return false;
	return true;
}

static void ask_resolver(const char *addr, char *name, size_t len)
{
	const struct addrinfo hints = {
		.ai_flags	= AI_NUMERICHOST,
		.ai_socktype	= SOCK_STREAM,
	};
	struct addrinfo *ai;

	name[0] = '\0';
	if (getaddrinfo(addr, NULL, &hints, &ai))
		return;
	if (getnameinfo(ai->ai_addr, ai->ai_addrlen, name, (socklen_t)len, NULL,
			0, NI_NAMEREQD) || !is_host_name(name))
		name[0] = '\0';
	freeaddrinfo(ai);
}

static void free_names(struct names *all)
{
	struct name *n;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		while ((n = all->bucket[i])) {
			all->bucket[i] = n->next;
			free(n);
		}
	pthread_mutex_destroy(&all->lock);
	pthread_cond_destroy(&all->wake);
	free(all);
}

static void *run_names(void *arg)
{
	struct names *all = arg;
	struct name *n;
	char name[64];

	pthread_mutex_lock(&all->lock);
	while (!all->stop) {
		n = all->todo;
		if (!n) {
			pthread_cond_wait(&all->wake, &all->lock);
			continue;
		}
		all->todo = n->next_todo;
		/* Hosts are never removed while this thread runs. */
		pthread_mutex_unlock(&all->lock);
		ask_resolver(n->addr, name, sizeof(name));
		pthread_mutex_lock(&all->lock);
		memcpy(n->name, name, sizeof(name));
		n->queued = false;
	}
	pthread_mutex_unlock(&all->lock);
	free_names(all);
	return NULL;
}

/* Start without names. Returns the names, or NULL: no memory, or no thread. */
struct names *names_start(void)
{
	struct names *all = calloc(1, sizeof(*all));
	pthread_t thread;

	if (!all)
		return NULL;
	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->wake, NULL);
	if (pthread_create(&thread, NULL, run_names, all)) {
		free_names(all);
		return NULL;
	}
	pthread_detach(thread);
	return all;
}

/* Find or add a host; the lock is held. NULL: no memory, or too many. */
static struct name *find_name(struct names *all, const char *addr)
{
	unsigned int hash = 5381;
	const char *c;
	struct name *n;

	for (c = addr; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	for (n = all->bucket[hash % BUCKETS]; n; n = n->next)
		if (!strcmp(n->addr, addr))
			return n;
	n = all->n < NAMES_MAX ? calloc(1, sizeof(*n)) : NULL;
	if (!n)
		return NULL;
	strncpy(n->addr, addr, sizeof(n->addr) - 1);
	n->next = all->bucket[hash % BUCKETS];
	all->bucket[hash % BUCKETS] = n;
	all->n++;
	return n;
}

/*
 * Get a host's name.
 * @buf: result: its name; empty: it has none, or the name is not known yet
 */
void names_get(struct names *all, const char *addr, char *buf, size_t len)
{
	int64_t now = now_ms();
	struct name *n;

	buf[0] = '\0';
	if (!all)
		return;
	pthread_mutex_lock(&all->lock);
	n = find_name(all, addr);
	if (n && !n->queued && (!n->asked_at || now - n->asked_at > AGAIN_MS)) {
		n->queued = true;
		n->asked_at = now;
		n->next_todo = all->todo;
		all->todo = n;
		pthread_cond_signal(&all->wake);
	}
	if (n) {
		strncpy(buf, n->name, len - 1);
		buf[len - 1] = '\0';
	}
	pthread_mutex_unlock(&all->lock);
}

/*
 * Free all names.
 * @all: names, or NULL; freed after the resolver's last answer, which may take
 *	seconds
 */
void names_stop(struct names *all)
{
	if (!all)
		return;
	pthread_mutex_lock(&all->lock);
	all->stop = true;
	pthread_cond_signal(&all->wake);
	pthread_mutex_unlock(&all->lock);
}
