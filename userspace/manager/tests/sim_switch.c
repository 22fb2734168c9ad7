// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See sim_agents.h. It understands what inc-amd sends, and no more: text is
 * searched, not parsed.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim_agents.h"

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* --- What is always the same --------------------------------------------- */

static void put_if(FILE *f, const struct sw_if *itf)
{
	const struct sw_neigh *neigh;
	char text[INET6_ADDRSTRLEN];
	unsigned int i, k;

	fprintf(f, "<interface><name>%s</name><phys-address>%s</phys-address><bridge>br0</bridge><oper-up>true</oper-up><mtu>9000</mtu><pmtu>4096</pmtu><speed>%llu</speed>",
		itf->name, itf->mac, (unsigned long long)itf->speed);
	for (i = 0; i < itf->naddrs; i++)
		fprintf(f, "<address>%s</address>",
			inc_rdv_addr_str(&itf->addrs[i], text, sizeof(text)));
	for (i = 0; i < itf->nneighs; i++) {
		neigh = &itf->neighs[i];
		fprintf(f, "<neighbour><phys-address>%s</phys-address>",
			neigh->mac);
		for (k = 0; k < neigh->naddrs; k++)
			fprintf(f, "<address>%s</address>",
				inc_rdv_addr_str(&neigh->addrs[k], text,
						 sizeof(text)));
		if (neigh->switch_id[0])
			fprintf(f, "<switch-id>%s</switch-id><switch-port>%s</switch-port>",
				neigh->switch_id, neigh->switch_port);
		fputs("</neighbour>", f);
	}
	fputs("</interface>", f);
}

/**
 * sim_agent_init() - make an agent
 * @a: result
 * @info: what it tells of its switch
 * @index: the switch's number
 */
void sim_agent_init(struct sim_agent *a, const struct sw_snapshot *info,
		    uint32_t index)
{
	size_t len;
	FILE *f;
	unsigned int i;

	a->index = index;
	f = must(open_memstream(&a->self, &len));
	fprintf(f, "<identity><id>%s</id><agent-version>0</agent-version></identity><limits><memory-limit>1073741824</memory-limit></limits><state><collectives>broadcast reduce allreduce barrier</collectives><memory-used>0</memory-used></state>",
		info->id);
	fclose(f);
	f = must(open_memstream(&a->ifs, &len));
	for (i = 0; i < info->nifs; i++)
		put_if(f, &info->ifs[i]);
	fclose(f);
}

/* --- Trees --------------------------------------------------------------- */

static uint32_t number_after(const char *text, const char *tag)
{
	const char *at = strstr(text, tag);

	return at ? (uint32_t)strtoul(at + strlen(tag), NULL, 10) : 0;
}

static struct sim_tree **find(struct sim_agent *a, uint32_t id)
{
	struct sim_tree **link = &a->trees;

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	return link;
}

static void edit_members(struct sim_tree *t, const char *at)
{
	uint32_t rank;
	bool deleted;

	while ((at = strstr(at, "<member"))) {
		at += strlen("<member");
		deleted = memmem(at, strcspn(at, ">"), "delete", 6);
		rank = number_after(at, "<rank>");
		if (rank >= SIM_MEMBERS)
			return;
		t->member[rank] = !deleted;
		if (rank >= t->n)
			t->n = rank + 1;
	}
}

static void edit(struct sim_agent *a, const char *rpc)
{
	const char *at = strstr(rpc, "<tree"), *id = at ? strstr(at, "<id>") :
							  NULL;
	struct sim_tree **link, *t;

	if (!id)
		return;
	link = find(a, number_after(id, "<id>"));
	t = *link;
	if (memmem(at, (size_t)(id - at), "\"remove\"", 8)) {
		if (t) {
			*link = t->next;
			free(t);
		}
		return;
	}
	if (!t) {
		t = must(calloc(1, sizeof(*t)));
		t->id = number_after(id, "<id>");
		t->child = strstr(id, "<job-ranks>");
		*link = t;
	}
	edit_members(t, id);
}

/* Queue pairs have numbers that are the same each time. */
static void put_members(const struct sim_agent *a, const struct sim_tree *t,
			FILE *out)
{
	uint32_t i;

	for (i = 0; i < t->n; i++)
		if (t->member[i])
			fprintf(out, "<member><rank>%u</rank><qpn>%u</qpn><psn>%u</psn><local-addr>10.32.%u.%u</local-addr><state><rkey>%u</rkey></state></member>",
				i, 0xf00000 + (t->id % 1024) * 1024 + i, i + 1,
				a->index >> 8, a->index & 0xff, t->id);
}

static void put_tree(const struct sim_agent *a, const struct sim_tree *t,
		     FILE *out)
{
	fprintf(out, "<tree><id>%u</id><slots>64</slots><msg-size>4096</msg-size><pmtu>4096</pmtu><dead-time>1000</dead-time>",
		t->id);
	put_members(a, t, out);
	if (t->child)
		fputs("<parent><state><qpn>15728641</qpn><psn>7</psn></state></parent>",
		      out);
	fputs("</tree>", out);
}

/* All counters grow by some for each second. */
static void put_stats(const struct sim_agent *a, FILE *out)
{
	unsigned long long value = (unsigned long long)time(NULL) * 1000;
	const struct sim_tree *t;
	uint32_t i;

	for (t = a->trees; t; t = t->next) {
		fprintf(out, "<tree><id>%u</id><state><counter-values>",
			t->id);
		for (i = 0; i < t->n; i++)
			if (t->member[i])
				fprintf(out, "%u %llu %llu %llu 0;", i, value,
					value, value / 1000);
		fputs("</counter-values></state></tree>", out);
	}
}

static void get(struct sim_agent *a, const char *rpc, FILE *out)
{
	const struct sim_tree *t;

	fputs("<data><switch xmlns=\"urn:rdma-inc:switch\">", out);
	if (strstr(rpc, "<counter-values")) {
		put_stats(a, out);
	} else if (strstr(rpc, "<slots")) {
		t = *find(a, number_after(rpc, "<id>"));
		if (t)
			put_tree(a, t, out);
	} else {
		fputs(a->self, out);
		fputs("<interfaces-version>1</interfaces-version>", out);
		if (strstr(rpc, "<interface/") || strstr(rpc, "<interface>"))
			fputs(a->ifs, out);
		for (t = a->trees; t; t = t->next)
			fprintf(out, "<tree><id>%u</id></tree>", t->id);
	}
	fputs("</switch></data>", out);
}

/**
 * sim_agent_answer() - do what a request says
 * @a: agent
 * @rpc: request
 * @out: where the answer is written to
 *
 * Return: false if there is none but success.
 */
bool sim_agent_answer(struct sim_agent *a, const char *rpc, FILE *out)
{
	if (strstr(rpc, "<edit-config")) {
		edit(a, rpc);
		return false;
	}
	if (!strstr(rpc, "<get"))
		return false;
	get(a, rpc, out);
	return true;
}
