// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Groups of connections of the rendezvous daemon, and limits per host. Only
 * this file sets the pointers between connections and groups.
 */
#include "nl/common.h"

#include <arpa/inet.h>

#include "auth/address.h"
#include "server.h"

/* --- Hosts ------------------------------------------------------------- */

/**
 * host_get() - get the host of a connection
 * @s: daemon
 * @addr: its address
 *
 * Return: the host, to be given to host_put(); NULL: no memory.
 */
struct host *host_get(struct server *s, const struct inc_rdv_addr *addr)
{
	struct in6_addr key;
	struct host *host;

	inc_auth_host_key(addr->bytes, addr->len, &key);
	for (host = s->hosts; host; host = host->next)
		if (IN6_ARE_ADDR_EQUAL(&host->key, &key))
			break;
	if (!host) {
		host = calloc(1, sizeof(*host));
		if (!host)
			return NULL;
		host->key = key;
		host->next = s->hosts;
		s->hosts = host;
	}
	host->clients++;
	return host;
}

static void host_free_unused(struct server *s, struct host *host)
{
	struct host **link = &s->hosts;

	if (host->clients || host->groups)
		return;
	while (*link != host)
		link = &(*link)->next;
	*link = host->next;
	free(host);
}

/**
 * host_put() - release the host of a connection
 * @s: daemon
 * @host: host
 */
void host_put(struct server *s, struct host *host)
{
	host->clients--;
	host_free_unused(s, host);
}

/* --- Groups ------------------------------------------------------------ */

/**
 * group_allowed() - check whether a host may start another job
 * @c: its connection, which gets an error if not
 *
 * Return: true if so.
 */
bool group_allowed(struct client *c)
{
	const struct limits *max = &c->server->max;

	if (c->server->ngroups >= max->groups) {
		client_error(c, ENOSPC, "this daemon accepts at most %u jobs: try later, or raise --max-trees",
			     max->groups);
		return false;
	}
	if (c->host->groups >= max->host_groups) {
		client_error(c, ENOSPC, "this daemon accepts at most %u jobs from one host: try later, or raise --max-host-trees",
			     max->host_groups);
		return false;
	}
	return true;
}

/**
 * group_open() - initialize a group without connections
 * @group: group
 * @kind: the struct that it is part of
 * @s: daemon
 * @host: host that is charged for it
 */
void group_open(struct group *group, enum group_kind kind, struct server *s,
		struct host *host)
{
	group->kind = kind;
	group->server = s;
	group->host = host;
	group->until = s->now + s->max.forming_ms;
	host->groups++;
	s->ngroups++;
}

/**
 * group_close() - end a group
 * @group: group, whose struct can be freed after that
 */
void group_close(struct group *group)
{
	struct host *host = group->host;

	while (group->clients)
		group_del(group->clients);
	host->groups--;
	host->memory -= group->memory;
	host_free_unused(group->server, host);
	group->server->ngroups--;
}

/**
 * group_charge() - charge the memory of a group's tree
 * @group: group
 * @memory: bytes
 *
 * Return: 0, or -ENOBUFS with a message in the server's nl.error.
 */
int group_charge(struct group *group, uint64_t memory)
{
	struct server *s = group->server;
	struct host *host = group->host;
	uint64_t max = s->max.host_memory;

	if (memory > max || host->memory > max - memory) {
		snprintf(s->nl.error, sizeof(s->nl.error),
			 "the tree needs %llu KiB, and the first rank's host has %llu of the %llu KiB that one may have: ask for fewer slots or shorter messages, or raise --max-host-memory",
			 (unsigned long long)(memory + 1023) >> 10,
			 (unsigned long long)(host->memory + 1023) >> 10,
			 (unsigned long long)max >> 10);
		return -ENOBUFS;
	}
	group->memory = memory;
	host->memory += memory;
	return 0;
}

/**
 * group_add() - add a connection to a group
 * @group: group
 * @c: connection, in no group or in this one
 */
void group_add(struct group *group, struct client *c)
{
	if (c->group == group)
		return;
	c->group = group;
	c->group_next = group->clients;
	group->clients = c;
	c->deadline = 0;
}

/**
 * group_del() - remove a connection from its group
 * @c: connection
 *
 * After that, nothing in the group points to it, and the time limit for joining
 * starts again.
 */
void group_del(struct client *c)
{
	struct group *group = c->group;
	struct client **link;

	if (!group)
		return;
	for (link = &group->clients; *link != c; link = &(*link)->group_next)
		;
	*link = c->group_next;
	c->group = NULL;
	c->group_next = NULL;
	if (group->kind == GROUP_GATHER)
		gather_forget(group, c);
	else
		job_forget(group, c);
	client_wait_join(c);
}

/**
 * gather_of() - get the gather of a connection
 * @c: connection
 *
 * Return: the gather, or NULL.
 */
struct gather *gather_of(const struct client *c)
{
	return c->group && c->group->kind == GROUP_GATHER ?
	       (struct gather *)c->group : NULL;
}

/**
 * job_of() - get the job of a connection
 * @c: connection
 *
 * Return: the job, or NULL.
 */
struct job *job_of(const struct client *c)
{
	return c->group && c->group->kind == GROUP_JOB ?
	       (struct job *)c->group : NULL;
}
