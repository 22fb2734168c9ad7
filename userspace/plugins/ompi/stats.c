// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Which operations of this process went through the switch, and why others did
 * not: each one, if configured, and their sums at the end.
 */
#include <stdatomic.h>

#include "coll_inc.h"

#include "opal/util/proc.h"

static const char *const fn_names[COLL_INC_NFN] = {
#define X(name) [COLL_INC_##name] = #name,
	COLL_INC_ALL(X)
#undef X
};

static const char *const why_texts[COLL_INC_NWHY] = {
	[COLL_INC_GOES]	     = "through the switch",
	[COLL_INC_NO_SERVER] = "neither coll_inc_server nor INC_SERVER is set",
	[COLL_INC_NO_DEVICE] = "a host has no RDMA device",
	[COLL_INC_ONE_HOST]  = "all ranks are on one host",
	[COLL_INC_NO_TREE]   = "the ranks did not meet at the daemon",
	[COLL_INC_NOT_YET]   = "non-blocking, before the first blocking one",
	[COLL_INC_HOSTS]     = "hosts have several ranks",
	[COLL_INC_SIZE]	     = "size",
	[COLL_INC_TYPE]	     = "the switch can't reduce that type, or not so",
	[COLL_INC_OP]	     = "operation of the program's own",
	[COLL_INC_LANES]     = "more than coll_inc_max_persistent",
	[COLL_INC_MEMLOCK]   = "RLIMIT_MEMLOCK of a rank is too low",
	[COLL_INC_PARAMS]    = "the ranks were given different parameters",
};

/* By function and reason. Threads may count at the same time. */
static atomic_ulong counts[COLL_INC_NFN][COLL_INC_NWHY];

/**
 * coll_inc_why_text() - get the text of a reason
 * @why: reason
 *
 * Return: a constant string.
 */
const char *coll_inc_why_text(enum coll_inc_why why)
{
	return why_texts[why];
}

/**
 * coll_inc_count() - count an operation
 * @comm: communicator
 * @fn: operation
 * @bytes: bytes of its data on one rank, or of one block
 * @args: arguments
 * @why: COLL_INC_GOES, or why not
 */
void coll_inc_count(const ompi_communicator_t *comm, enum coll_inc_fn fn,
		    size_t bytes, const struct coll_inc_args *args,
		    enum coll_inc_why why)
{
	atomic_fetch_add_explicit(&counts[fn][why], 1, memory_order_relaxed);
	coll_inc_say(2, "coll/inc: %s: %s, %zu bytes%s%s%s%s: %s%s",
		     comm->c_name, fn_names[fn], bytes,
		     args->op ? ", " : "", args->op ? args->rtype->name : "",
		     args->op ? ", " : "", args->op ? args->op->o_name : "",
		     why ? "falls through: " : "", why_texts[why]);
}

static bool shown(void)
{
	return coll_inc_params.stats > 1 ||
	       (coll_inc_params.stats == 1 && !OPAL_PROC_MY_NAME.vpid);
}

/**
 * coll_inc_show_stats() - print the sums, if configured
 */
void coll_inc_show_stats(void)
{
	unsigned long n, all = 0, went = 0;
	int fn, why;

	if (!shown())
		return;
	for (fn = 0; fn < COLL_INC_NFN; fn++) {
		for (why = 0; why < COLL_INC_NWHY; why++) {
			n = counts[fn][why];
			all += n;
			went += why ? 0 : n;
			if (n)
				opal_output(coll_inc_output,
					    "coll/inc: rank %u: %s: %lu %s%s",
					    OPAL_PROC_MY_NAME.vpid,
					    fn_names[fn], n,
					    why ? "fell through: " : "",
					    why_texts[why]);
		}
	}
	opal_output(coll_inc_output,
		    "coll/inc: rank %u: %lu of %lu collectives went through the switch",
		    OPAL_PROC_MY_NAME.vpid, went, all);
}
