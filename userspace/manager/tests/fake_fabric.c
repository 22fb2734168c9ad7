// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * A crew of switches: two leaves with hosts, and those above them, of which one
 * is named at the start, as others may be later. Their agents
 * refuse what they are asked, lose it, and tell of failures as they like. In place
 * of base/pool.c and of all in fabric/ that speaks NETCONF.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/tree.h"
#include "group/group.h"
#include "tests/fake.h"

#define TREES	256

/**
 * struct sw_session - a session
 * @sw: with this switch
 */
struct sw_session {
	unsigned int	sw;
};

static struct {
	uint32_t	trees[TREES];
	unsigned int	n;
	bool		broken;
} switches[FAKE_AGENTS];

static struct job *jobs;
static int refusal;
static bool unrouted;

/* --- Threads ------------------------------------------------------------- */

int pool_start(struct pool *pool, unsigned int most)
{
	(void)pool;
	(void)most;
	return 0;
}

void pool_submit(struct pool *pool, struct job *job)
{
	(void)pool;
	job->next = jobs;
	jobs = job;
}

bool pool_stop(struct pool *pool, int64_t limit_ms)
{
	(void)pool;
	(void)limit_ms;
	while (fake_run())
		;
	return true;
}

/**
 * fake_run() - have any switch do what it was asked for
 *
 * Return: false if none was.
 */
bool fake_run(void)
{
	struct job **link = &jobs, *job;
	uint32_t n = 0;

	for (job = jobs; job; job = job->next)
		n++;
	if (!n)
		return false;
	for (n = fuzz_any(n); n; n--)
		link = &(*link)->next;
	job = *link;
	*link = job->next;
	job->run(job);
	return true;
}

/* --- Sessions ------------------------------------------------------------ */

/**
 * fake_break() - have a switch not be reached, or be reached again
 * @sw: switch
 * @broken: it is not
 */
void fake_break(unsigned int sw, bool broken)
{
	switches[sw].broken = broken;
}

/**
 * fake_refuse() - have all switches refuse to make trees
 * @err: negative errno value; 0: they do not
 */
void fake_refuse(int err)
{
	refusal = err;
}

/**
 * fake_unroute() - have leaves have no routes to each other, or have them again
 * @none: they have none
 */
void fake_unroute(bool none)
{
	unrouted = none;
}

struct sw_session *sw_session_open(const struct sw *sw, char *err)
{
	unsigned int at = (unsigned int)atoi(sw->target.path);
	struct sw_session *n;

	if (switches[at].broken) {
		snprintf(err, SW_ERROR_LEN, "connection refused");
		return NULL;
	}
	n = calloc(1, sizeof(*n));
	if (n)
		n->sw = at;
	return n;
}

void sw_session_close(struct sw_session *n)
{
	free(n);
}

int sw_session_counters(struct sw_session *n, sw_counters *each, void *ctx,
			char *err)
{
	(void)n;
	(void)each;
	(void)ctx;
	snprintf(err, SW_ERROR_LEN, "no counters");
	return -EPROTO;
}

/* Does the session fail, or the switch refuse? */
static int trouble(const struct sw_session *n, char *err)
{
	static const int errors[] = {
		-ENOTCONN, -ENOBUFS, -ENOBUFS, -EINVAL, -EPROTO,
	};

	snprintf(err, SW_ERROR_LEN, "trouble");
	if (switches[n->sw].broken)
		return -ENOTCONN;
	return fuzz_any(12) ? 0 : errors[fuzz_any(5)];
}

/* --- Which there are ----------------------------------------------------- */

/**
 * fake_address() - get the address of a switch
 * @sw: its number
 *
 * Return: its address.
 */
const char *fake_address(unsigned int sw)
{
	static const char *const names[FAKE_AGENTS] = {
		"0", "1", "2", "3", "4"
	};

	return names[sw];
}

/* SIGHUP: any of them are named. In place of options.c. */
int options_again(struct amd_options *o, const struct amd_options *before)
{
	unsigned int i;

	(void)before;
	*o = (struct amd_options) {
		.switches = calloc(FAKE_AGENTS, sizeof(*o->switches)),
	};
	if (!o->switches)
		abort();
	for (i = 0; i < FAKE_AGENTS; i++)
		if (fuzz_any(4))
			o->switches[o->nswitches++] = fake_address(i);
	return fuzz_any(10) ? 0 : -1;
}

void options_free(struct amd_options *o)
{
	free(o->switches);
	free(o->cables);
}

void options_target(const struct manager *m, struct sw *sw)
{
	(void)m;
	snprintf(sw->target.path, sizeof(sw->target.path), "%s", sw->address);
}

/* --- Trees --------------------------------------------------------------- */

static unsigned int find(unsigned int sw, uint32_t id)
{
	unsigned int i = 0;

	while (i < switches[sw].n && switches[sw].trees[i] != id)
		i++;
	return i;
}

static void remove_tree(unsigned int sw, uint32_t id)
{
	unsigned int i = find(sw, id);

	if (i < switches[sw].n)
		switches[sw].trees[i] =
			switches[sw].trees[--switches[sw].n];
}

/**
 * fake_forget() - have a switch lose a tree
 * @sw: switch
 * @id: the tree's ID
 */
void fake_forget(unsigned int sw, uint32_t id)
{
	remove_tree(sw, id);
}

static void make_ends(struct tree *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		if (!t->members[i].known || t->members[i].made)
			continue;
		t->members[i].made = true;
		t->members[i].own.qpn = t->id * 64 + i + 1;
		t->members[i].own.addr = (struct inc_rdv_addr){
			.len = 4, .bytes = { 10, 9, 9, 9 } };
	}
}

/* The switch that has an address, or the host that has it; see put_if(). */
static unsigned int switch_at(const struct inc_rdv_addr *addr)
{
	unsigned int last = addr->bytes[3];

	return last > 100 ? (last - 101) / 10 : (last - 1) / FAKE_HOSTS;
}

/* Is a member at another leaf, and are there no routes? */
static bool lacks_route(struct tree *t, const struct sw_session *n)
{
	const struct tree_member *m;
	uint32_t i;

	for (i = 0; i < t->n && unrouted && n->sw < 2; i++) {
		m = &t->members[i];
		if (m->known && !m->waits && switch_at(&m->peer.addr) == !n->sw) {
			t->unrouted = (int)i;
			return true;
		}
	}
	return false;
}

int tree_make(struct tree *t, struct sw_session *n, char *err)
{
	static const uint32_t times[] = { 0, 3, 10, 700 };
	int ret = refusal ? refusal : trouble(n, err);

	if (ret && (ret != -ENOTCONN || fuzz_any(2)))
		return ret;
	if (lacks_route(t, n))
		return -ENETUNREACH;
	if (find(n->sw, t->id) < switches[n->sw].n)
		return -EEXIST;
	if (switches[n->sw].n == TREES)
		return -ENOBUFS;
	switches[n->sw].trees[switches[n->sw].n++] = t->id;
	if (ret)
		return ret;
	t->settings.tree_id = t->id;
	t->settings.slots = 64;
	t->settings.msg_size = 4096;
	t->settings.pmtu = 1024;
	t->settings.dead_time = times[fuzz_any(4)];
	t->up.qpn = 77;
	make_ends(t);
	return 0;
}


int tree_add(struct tree *t, struct sw_session *n, char *err)
{
	int ret = trouble(n, err);

	if (!ret && lacks_route(t, n))
		return -ENETUNREACH;
	if (!ret)
		make_ends(t);
	return ret;
}

int tree_link(const struct tree *t, struct sw_session *n, char *err)
{
	(void)t;
	return trouble(n, err);
}

int tree_member_del(uint32_t id, uint32_t member, struct sw_session *n,
		    char *err)
{
	(void)member;
	return find(n->sw, id) == switches[n->sw].n ? -ENOENT :
						      trouble(n, err);
}

int tree_del(uint32_t id, struct sw_session *n, char *err)
{
	int ret = trouble(n, err);

	if (!ret)
		remove_tree(n->sw, id);
	return ret;
}

int tree_name_switch(const char *id, struct sw_session *n, char *err)
{
	return trouble(n, err);
}

/* --- What agents tell ---------------------------------------------------- */

/**
 * fake_host() - get a host's address
 * @addr: result
 * @host: its number
 */
void fake_host(struct inc_rdv_addr *addr, uint32_t host)
{
	*addr = (struct inc_rdv_addr){ .len = 4, .bytes = {
		10, 0, 0, (uint8_t)(host + 1) } };
}

static void put_if(struct sw_snapshot *info, const char *mac,
		   const char *switch_id, const char *port, uint32_t host)
{
	struct sw_if *itf = &info->ifs[info->nifs++];

	snprintf(itf->name, sizeof(itf->name), "p%u", info->nifs);
	snprintf(itf->mac, sizeof(itf->mac), "02:00:00:00:%c0:%02x",
		 info->id[1], info->nifs);
	itf->index = info->nifs;
	itf->up = true;
	itf->speed = 1000000000;
	itf->nneighs = 1;
	itf->neighs = calloc(1, sizeof(*itf->neighs));
	itf->addrs = calloc(1, sizeof(*itf->addrs));
	if (!itf->neighs || !itf->addrs)
		abort();
	itf->naddrs = 1;
	fake_host(itf->addrs, 100 + 10 * (uint32_t)(info->id[1] - '0') +
			      info->nifs);
	snprintf(itf->neighs->mac, MAC_LEN, "%s", mac);
	snprintf(itf->neighs->switch_id, SWITCH_ID_MAX, "%s", switch_id);
	snprintf(itf->neighs->switch_port, sizeof(itf->neighs->switch_port),
		 "%s", port);
	if (*switch_id)
		return;
	itf->neighs->addrs = calloc(1, sizeof(*itf->neighs->addrs));
	if (!itf->neighs->addrs)
		abort();
	itf->neighs->naddrs = 1;
	fake_host(itf->neighs->addrs, host);
}

static void put_ifs(struct sw_snapshot *info, unsigned int sw)
{
	char mac[MAC_LEN], id[12];
	uint32_t i;

	info->ifs = calloc(FAKE_HOSTS + FAKE_AGENTS, sizeof(*info->ifs));
	if (!info->ifs)
		abort();
	if (sw >= FAKE_SWITCHES - 1) {
		put_if(info, "02:00:00:00:00:01", "s0", "p1", 0);
		put_if(info, "02:00:00:00:10:01", "s1", "p1", 0);
		return;
	}
	for (i = FAKE_SWITCHES - 1; i < FAKE_AGENTS; i++) {
		snprintf(mac, sizeof(mac), "02:00:00:00:%u0:%02x", i, sw + 1);
		snprintf(id, sizeof(id), "s%u", i);
		put_if(info, mac, id, sw ? "p2" : "p1", 0);
	}
	for (i = 0; i < FAKE_HOSTS; i++) {
		snprintf(mac, sizeof(mac), "02:00:00:00:ff:%02x",
			 sw * FAKE_HOSTS + i);
		put_if(info, mac, "", "", sw * FAKE_HOSTS + i);
	}
	/* Interfaces go down at times. */
	info->ifs[fuzz_any(info->nifs)].up = fuzz_any(8);
}

struct sw_snapshot *sw_snapshot_get(struct sw_session *n, const char *known,
				    char *err)
{
	struct sw_snapshot *info;
	int ret = trouble(n, err);
	unsigned int i;

	(void)known;
	info = ret ? NULL : calloc(1, sizeof(*info));
	if (!info) {
		errno = ret ? -ret : ENOMEM;
		return NULL;
	}
	snprintf(info->id, sizeof(info->id), "s%u", n->sw);
	info->collectives = fuzz_any(30) ? 0xff : 0;
	info->max_trees = fuzz_any(10) ? 0 : 4;
	info->cm_port = fuzz_any(4) ? 18515 : 0;
	fake_host(&info->cm_addr, 200 + n->sw);
	info->ntrees = switches[n->sw].n;
	info->trees = calloc(info->ntrees + 1, sizeof(*info->trees));
	if (!info->trees)
		abort();
	for (i = 0; i < info->ntrees; i++)
		info->trees[i] = (struct sw_tree) {
			.id = switches[n->sw].trees[i],
			.error = fuzz_any(50) ? 0 : fuzz_any(20),
		};
	put_ifs(info, n->sw);
	if (!sw_ifs_order(info))
		abort();
	return info;
}

void sw_probe(struct sw *sw, const struct inc_rdv_addr *const *addrs,
	      unsigned int n)
{
	(void)sw;
	(void)addrs;
	(void)n;
}

/* --- News ---------------------------------------------------------------- */

void *sw_watch_poll(void *arg)
{
	return arg;
}

int sw_watch_start(struct sw *sw)
{
	(void)sw;
	return 0;
}

void sw_watch_stop(struct sw *sw)
{
	sw->watch.state = SW_WATCH_OVER;
}

/**
 * fake_news() - have a switch tell something of a tree
 * @m: manager
 */
void fake_news(struct manager *m)
{
	struct sw *sw = &m->fabric.switches[fuzz_any(m->fabric.n)];
	unsigned int at = (unsigned int)atoi(sw->address);
	struct sw_notif news = {
		.sw = sw,
		.kind = (enum sw_notif_kind)fuzz_any(SW_NOTIF_SLOT_FAILED + 1),
		.member = (int)fuzz_any(6) - 1,
		.other_member = (int)fuzz_any(6) - 1,
		.status = fuzz_any(20),
		.msg_id = fuzz_any(100),
	};

	news.tree = switches[at].n && fuzz_any(10) ?
		    switches[at].trees[fuzz_any(switches[at].n)] : fuzz_any(9);
	if (news.kind == SW_NOTIF_TREE_DELETED)
		remove_tree(at, news.tree);
	sw->on.notif(&news);
}

/**
 * fake_fabric_free() - forget all trees
 */
void fake_fabric_free(void)
{
	unsigned int i;

	for (i = 0; i < FAKE_AGENTS; i++) {
		switches[i].n = 0;
		switches[i].broken = false;
	}
}
