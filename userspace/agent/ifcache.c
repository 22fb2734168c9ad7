// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See ifcache.h. A host that sends frames with many source addresses makes
 * reading them expensive, and may do so without end: reading takes a tenth of a
 * CPU at most. Unused time is kept for a while: small tables are read whenever
 * they change.
 */
#include "ifcache.h"

#include "conf/clock.h"
#include "iface.h"
#include "lldp.h"
#include "conf/log.h"

/*
 * Bridges' entries age, and drivers change the speed, without notice. Reading
 * for that alone may take a twentieth of a CPU.
 */
#define AGE_US		5000000
#define AGE_SHARE	20
/* A tenth of this much time without reading may be used later. */
#define SAVED_US	1000000
#define SHARE		10

static uint64_t clock_us(clockid_t clock)
{
	return (uint64_t)clock_ns(clock) / 1000;
}

/* Note a change. Context: any thread. */
void ifcache_note(struct agent *a, enum ifcache_news news)
{
	struct ifcache *cache = &a->ifcache;
	int old = atomic_load(&cache->change);

	while (old < (int)news &&
	       !atomic_compare_exchange_weak(&cache->change, &old, news))
		;
}

/* Are the interfaces to be read (again)? */
static bool is_due(const struct ifcache *cache, uint64_t now)
{
	int news = atomic_load(&cache->change);

	if (!cache->sw)
		return true;
	/* Jobs depend on links: their changes wait less. */
	if (news == IFCACHE_LINK && now - cache->read_at >= cache->cost)
		return true;
	return now >= cache->next &&
	       (news != IFCACHE_NOTHING ||
		now - cache->read_at >= AGE_US + cache->cost * AGE_SHARE);
}

/* CPU time is paid for by waiting. */
static void charge_cpu(struct ifcache *cache, uint64_t used, uint64_t now)
{
	if (cache->next + SAVED_US < now)
		cache->next = now - SAVED_US;
	cache->next += used * SHARE;
}

/* Report once that interfaces cannot be read, and when they can again. */
static void warn_unread(struct ifcache *cache, int rc)
{
	if (rc && !cache->warned)
		log_warn("interfaces and neighbours cannot be read: %s: the manager is told %s",
			 rc == -EINTR ? "they keep changing meanwhile" :
			 strerror(-rc),
			 cache->sw ? "what they were before" : "so");
	else if (!rc && cache->warned)
		log_info("interfaces and neighbours can be read again");
	cache->warned = rc;
}

/* Half a list would look like links that went down, and hosts that left. */
static int read_again(struct agent *a)
{
	struct ifcache *cache = &a->ifcache;
	int news = atomic_load(&cache->change), rc;
	struct lyd_node *sw;

	if (lyd_new_inner(NULL, a->mod, "switch", 0, &sw))
		return -ENOMEM;
	/* Changes from now on may be in the list, or not. */
	atomic_store(&cache->change, IFCACHE_NOTHING);
	rc = iface_add(sw);
	warn_unread(cache, rc);
	if (rc) {
		ifcache_note(a, news > IFCACHE_HOST ? news : IFCACHE_HOST);
		lyd_free_tree(sw);
		return rc;
	}
	lldp_add(a, sw);
	iface_version(sw, a->id);
	lyd_free_tree(cache->sw);
	cache->sw = sw;
	return 0;
}

/*
 * Add the interfaces, as they are or were a little while ago. Called under
 * netconf_lock(). Returns 0, or a negative errno value if they have never been
 * read.
 * @all: add all of them, not only their version
 */
int ifcache_add(struct agent *a, struct lyd_node *sw, bool all)
{
	struct ifcache *cache = &a->ifcache;
	uint64_t began = clock_us(CLOCK_THREAD_CPUTIME_ID), used;
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	struct lyd_node *version, *copy;
	bool read = is_due(cache, now);
	int rc = read ? read_again(a) : 0;

	used = clock_us(CLOCK_THREAD_CPUTIME_ID) - began;
	if (all && cache->sw) {
		lyd_dup_siblings(lyd_child(cache->sw),
				 (struct lyd_node_inner *)sw,
				 LYD_DUP_RECURSIVE, NULL);
	} else if (cache->sw && !lyd_find_path(cache->sw, "interfaces-version", 0,
					      &version) &&
		   !lyd_dup_single(version, NULL, 0, &copy)) {
		lyd_insert_child(sw, copy);
	}
	if (!read)
		return 0;
	log_debug("interfaces were read in %llu us",
		  (unsigned long long)used);
	cache->cost = used;
	cache->read_at = clock_us(CLOCK_MONOTONIC);
	charge_cpu(cache, used, cache->read_at);
	return cache->sw ? 0 : rc;
}

/* Free the cache. */
void ifcache_free(struct agent *a)
{
	lyd_free_tree(a->ifcache.sw);
	a->ifcache.sw = NULL;
}
