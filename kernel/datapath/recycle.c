// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers of requests that become those of results.
 *
 * For each request packet that has been reduced, a packet of a result is built
 * soon after, whose headers and payload are as long. So its buffer is kept for
 * that one, by the CPU that has it in its caches. The allocators are left alone.
 */
#include <linux/bottom_half.h>
#include <linux/cpumask.h>
#include <linux/local_lock.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/skbuff.h>
#include <linux/skbuff_ref.h>
#include <linux/workqueue.h>

#include "datapath/recycle.h"

/* A burst of sixteen packets of 1 KiB to each of 64 members. */
#define RECYCLE_MAX	1024	/* a power of two */
#define RECYCLE_BYTES	SZ_2M

/**
 * struct recycled - buffers that a CPU keeps
 * @lock: protects what follows where softirqs can be preempted
 * @bytes: sum of their truesize
 * @oldest: number of the oldest one, which makes room for others
 * @next: number of the next one to put; the one before is the next one to get
 * @skb: by their numbers, modulo RECYCLE_MAX
 * @drain: frees them
 */
struct recycled {
	local_lock_t		lock;
	unsigned int		bytes;
	unsigned int		oldest;
	unsigned int		next;
	struct sk_buff		*skb[RECYCLE_MAX];
	struct work_struct	drain;
};

/* Not static: modules have 8 KiB of that, all together. */
static struct recycled __percpu *recycled;

/*
 * Does nobody else have any of it, and does nothing hang on it? A driver that
 * recycles pages waits for them when its device goes.
 */
static bool is_plain(struct sk_buff *skb)
{
	return !skb_shared(skb) && !skb_cloned(skb) && !skb->pp_recycle &&
	       skb->fclone == SKB_FCLONE_UNAVAILABLE && !skb_pfmemalloc(skb) &&
	       !skb->destructor && !skb->_skb_refdst && !skb_nfct(skb) &&
	       !skb_has_extensions(skb) && !skb_has_frag_list(skb) &&
	       !skb_zcopy(skb);
}

/* As build_skb_around() would, which takes no buffers of kmalloc(). */
static void reset_buffer(struct sk_buff *skb)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	bool head_frag = skb->head_frag;

	memset(skb, 0, offsetof(struct sk_buff, tail));
	skb->head_frag = head_frag;
	skb->data = skb->head;
	skb_reset_tail_pointer(skb);
	skb->mac_header = (typeof(skb->mac_header))~0U;
	skb->transport_header = (typeof(skb->transport_header))~0U;
	skb->alloc_cpu = raw_smp_processor_id();
	skb->truesize = SKB_TRUESIZE(skb_end_offset(skb));
	memset(shinfo, 0, offsetof(struct skb_shared_info, dataref));
	atomic_set(&shinfo->dataref, 1);
}

static struct sk_buff **buffer_at(struct recycled *r, unsigned int number)
{
	return &r->skb[number % RECYCLE_MAX];
}

static void free_oldest(struct recycled *r)
{
	struct sk_buff *skb = *buffer_at(r, r->oldest++);

	r->bytes -= skb->truesize;
	napi_consume_skb(skb, 1);
}

/**
 * inc_recycle_put() - keep a request's buffer for a result
 * @skb: request whose payload is no longer needed; consumed if true
 *
 * Context: BH off.
 * Return: false if it is not fit for that.
 */
bool inc_recycle_put(struct sk_buff *skb)
{
	struct recycled *r;
	int i;

	if (!is_plain(skb))
		return false;
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		skb_frag_unref(skb, i);
	skb_shinfo(skb)->nr_frags = 0;
	skb->truesize = SKB_TRUESIZE(skb_end_offset(skb));

	local_lock_nested_bh(&recycled->lock);
	r = this_cpu_ptr(recycled);
	*buffer_at(r, r->next++) = skb;
	r->bytes += skb->truesize;
	while (r->bytes > RECYCLE_BYTES || r->next - r->oldest == RECYCLE_MAX)
		free_oldest(r);
	local_unlock_nested_bh(&recycled->lock);
	return true;
}

/**
 * inc_recycle_get() - get a buffer for a packet to send
 * @least: bytes that it must have room for
 * @most: bytes of room that would be a waste
 *
 * Those that are too small are freed: this CPU sends longer packets now.
 *
 * Context: BH off.
 * Return: an sk_buff as alloc_skb() returns it, or NULL if there is none.
 */
struct sk_buff *inc_recycle_get(unsigned int least, unsigned int most)
{
	struct sk_buff *found = NULL, *skb;
	struct recycled *r;

	local_lock_nested_bh(&recycled->lock);
	r = this_cpu_ptr(recycled);
	while (!found && r->next != r->oldest) {
		skb = *buffer_at(r, r->next - 1);
		if (skb_end_offset(skb) > most)
			break;
		r->next--;
		r->bytes -= skb->truesize;
		if (skb_end_offset(skb) >= least)
			found = skb;
		else
			napi_consume_skb(skb, 1);
	}
	local_unlock_nested_bh(&recycled->lock);
	if (found)
		reset_buffer(found);
	return found;
}

static void free_all(struct recycled *r)
{
	while (r->next != r->oldest)
		free_oldest(r);
}

static void drain_this_cpu(struct work_struct *work)
{
	local_bh_disable();
	local_lock_nested_bh(&recycled->lock);
	free_all(this_cpu_ptr(recycled));
	local_unlock_nested_bh(&recycled->lock);
	local_bh_enable();
}

/**
 * inc_recycle_init() - prepare for packets
 *
 * Context: module init.
 * Return: 0, or -ENOMEM.
 */
int inc_recycle_init(void)
{
	int cpu;

	recycled = alloc_percpu(struct recycled);
	if (!recycled)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct recycled *r = per_cpu_ptr(recycled, cpu);

		local_lock_init(&r->lock);
		INIT_WORK(&r->drain, drain_this_cpu);
	}
	return 0;
}

/**
 * inc_recycle_drain() - free all buffers soon
 *
 * Those of a tree that is gone may never be needed again; others that are in use
 * have new ones with their next message.
 *
 * Context: process.
 */
void inc_recycle_drain(void)
{
	int cpu;

	for_each_online_cpu(cpu) {
		struct recycled *r = per_cpu_ptr(recycled, cpu);

		/* One that comes too late stays until the next time. */
		if (data_race(r->bytes))
			schedule_work_on(cpu, &r->drain);
	}
}

/**
 * inc_recycle_exit() - undo inc_recycle_init()
 *
 * Context: module exit, when no packet comes any more.
 */
void inc_recycle_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct recycled *r = per_cpu_ptr(recycled, cpu);

		cancel_work_sync(&r->drain);
		local_bh_disable();
		free_all(r);
		local_bh_enable();
	}
	free_percpu(recycled);
}
