// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Jobs whose ranks have two RDMA devices: over the second one they join another job,
 * at another address of this switch, and use both trees as one. The daemon offers its
 * addresses, each rank says which of them it reaches over a second device, and "ready"
 * names one that all reach. The second job is an ordinary one. See rendezvous.rst.
 */
#include "nl/common.h"

#include <ifaddrs.h>
#include <net/if.h>

#include "job.h"

/* libinc adds ".a" or ".b" for a job that replaces a failed one. */
#define NAME_ROOM	2
#define FIRST		'a'

/* List the addresses at which ranks may reach this host, as far as they fit. */
static void list_addresses(char *list, size_t len)
{
	char text[INET6_ADDRSTRLEN];
	struct ifaddrs *all, *ifa;
	struct inc_rdv_addr addr;
	unsigned int n = 0;
	size_t used = 0;

	if (getifaddrs(&all))
		return;
	for (ifa = all; ifa && n < INC_RDV_RAILS_MAX; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr || !(ifa->ifa_flags & IFF_UP) ||
		    inc_rdv_addr_from_sockaddr(ifa->ifa_addr, &addr) ||
		    inc_rdv_addr_no_host(&addr) ||
		    inc_rdv_addr_is_link_local(&addr))
			continue;
		inc_rdv_addr_str(&addr, text, sizeof(text));
		if (used + strlen(text) + 2 > len)
			break;
		used += (size_t)snprintf(list + used, len - used, "%s%s",
					 n++ ? "," : "", text);
	}
	freeifaddrs(all);
	/* A single address is no choice. */
	if (n < 2)
		*list = '\0';
}

/*
 * Offer a rank the addresses of the switch: the same ones to all ranks, and
 * only if their tree is at this switch alone and not a second rail.
 * @joined: the answer; its rails are set
 */
void rails_offer(struct job *job, const struct inc_rdv_join *join,
		 struct inc_rdv_joined *joined)
{
	const struct server *s = job->server;

	job->request.rails &= join->rails;
	if (!job->request.rails || s->tree_id || job->core.n < 2 || *job->second)
		return;
	if (!*job->rails && s->everywhere)
		list_addresses(job->rails, sizeof(job->rails));
	memcpy(joined->rails, job->rails, sizeof(joined->rails));
}

/* Is there room for a second tree? Leave some for later jobs. */
static bool is_room(const struct job *job)
{
	const struct server *s = job->server;
	uint64_t memory = job->memory;
	const struct job *other;

	for (other = s->jobs; other; other = other->next)
		memory += other->memory;
	return memory <= s->max.host_memory &&
	       s->nclients + job->core.n <= s->max.clients / 2;
}

/* Get a mask with a bit for each address of a list. */
static uint32_t mask_of_list(const char *list)
{
	uint32_t mask = *list ? 1 : 0;

	for (; *list; list++)
		if (*list == ',')
			mask = mask << 1 | 1;
	return mask;
}

/*
 * Choose the address of a second tree, if all ranks reach one.
 * @ready: message to the ranks; its rails and text are set
 */
void rails_choose(struct job *job, struct inc_rdv_msg *ready)
{
	struct inc_rdv_msg second;
	const struct rank *r;
	uint32_t mask = job->request.rails ? mask_of_list(job->rails) : 0;

	inc_job_for_each(&job->core, r, RANK_PRESENT)
		mask &= r->rails;
	if (!mask || !is_room(job) ||
	    !inc_job_secret(&second, job->request.job, "rail") ||
	    strlen(second.text) > INC_RDV_JOB_MAX - NAME_ROOM)
		return;
	ready->rails = mask & -mask;
	memcpy(ready->text, second.text, sizeof(ready->text));
	memcpy(job->second, second.text, sizeof(job->second));
	log_info("job \"%s\": all ranks have a second device",
		 job->request.job);
}

/* Get the rail that a job is, or replaces: FIRST or 'b'. @job has two rails. */
static char rail_of(const struct job *job)
{
	size_t len = strlen(job->second);

	if (strncmp(job->request.job, job->second, len))
		return FIRST;
	return job->request.job[len] == '.' ? job->request.job[len + 1] : 'b';
}

/* Does the job @name replace the rail @job? */
static bool is_replaced(const struct job *job, const char *name)
{
	size_t len = strlen(job->second);

	return len && !strncmp(name, job->second, len) && name[len] == '.' &&
	       name[len + 1] == rail_of(job);
}

/*
 * Treat a rank as lost in the job that it wants to replace: over a cut link it
 * cannot leave, and the other ranks would wait for it.
 */
void rails_lost(const struct server *s, const struct inc_rdv_join *join)
{
	struct client *c;
	struct job *job;

	for (job = s->jobs; job; job = job->next) {
		if (job->core.phase != INC_JOB_READY || join->ranks != job->core.n ||
		    !is_replaced(job, join->job))
			continue;
		c = job->ranks[join->rank].client;
		if (c) {
			job_lost(c, "it goes on over its other device");
			client_end(c);
		}
		return;
	}
}
