// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Statistics: which operations of this process went through the switch, and why
 * others did not. Reports each one, if configured, and sums at the end, by
 * collective and by communicator.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "coll_inc.h"

#include "opal/util/proc.h"

static const char *const fn_names[COLL_INC_NFN] = {
#define X(name) [COLL_INC_##name] = #name,
	COLL_INC_ALL(X)
#undef X
};

static const char *const why_texts[COLL_INC_NWHY] = {
	[COLL_INC_GOES]	     = "through the switch",
	[COLL_INC_TRYING]    = "the daemon has not answered yet (coll_inc_try_timeout_ms)",
	[COLL_INC_LATE]	     = "not all ranks came to the daemon in time",
	[COLL_INC_NO_DEVICE] = "a host has no RDMA device",
	[COLL_INC_FULL]	     = "no room at the switch",
	[COLL_INC_NO_TREE]   = "a rank cannot use the switch",
	[COLL_INC_NO_DAEMON] = "no daemon answers",
	[COLL_INC_NO_SERVER] = "none of coll_inc_server, INC_SERVER and INC_AM is set",
	[COLL_INC_ONE_HOST]  = "all ranks are on one host",
	[COLL_INC_NOT_YET]   = "before coll_inc_meet_after",
	[COLL_INC_NO_WAIT]   = "non-blocking, and no blocking one since coll_inc_meet_after",
	[COLL_INC_HOSTS]     = "hosts have several ranks",
	[COLL_INC_SIZE]	     = "size",
	[COLL_INC_TYPE]	     = "the switch can't reduce that type, or not so",
	[COLL_INC_OP]	     = "operation of the program's own",
	[COLL_INC_DUP]	     = "as communicators are made: non-blocking, of one MPI_INT",
	[COLL_INC_LANES]     = "more than coll_inc_max_persistent",
	[COLL_INC_MEMLOCK]   = "RLIMIT_MEMLOCK of a rank is too low",
	[COLL_INC_LATER]     = "not decided",
	[COLL_INC_PARAMS]    = "the ranks were given different parameters",
};

/* Operations by function and reason. Threads may count at the same time. */
static atomic_ulong counts[COLL_INC_NFN][COLL_INC_NWHY];

/* Communicators that are named in the summary. */
#define NAMED		10
/* Reasons named for each communicator. */
#define NAMED_WHYS	3

/*
 * struct record - operations of communicators of one name
 * @name: name; Open MPI's own are used again
 * @n: number of communicators
 * @fell: operations that fell through
 * @tally: operations by reason
 * @said: see struct coll_inc_module
 */
struct record {
	char		name[MPI_MAX_OBJECT_NAME];
	unsigned long	n;
	unsigned long	fell;
	unsigned long	tally[COLL_INC_NWHY];
	char		said[COLL_INC_SAID];
};

/* All modules. Communicators may be made and freed by any thread. */
static opal_list_t live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Records with most operations that fell through, and the sum of the rest. */
static struct record top[NAMED];
static struct record rest;

/* Get the text of a reason. Returns a constant string. */
const char *coll_inc_why_text(enum coll_inc_why why)
{
	return why_texts[why];
}

static void merge_record(struct record *to, const struct record *r)
{
	int i;

	to->n += r->n;
	to->fell += r->fell;
	for (i = 0; i < COLL_INC_NWHY; i++)
		to->tally[i] += r->tally[i];
	if (*r->said)
		memcpy(to->said, r->said, sizeof(to->said));
}

/* Put a record into its place; the last one moves to the rest. */
static void rank_record(struct record *r)
{
	int i;

	for (i = 0; i < NAMED; i++) {
		if (!top[i].n || strcmp(top[i].name, r->name))
			continue;
		merge_record(r, &top[i]);
		memmove(&top[i], &top[i + 1],
			(size_t)(NAMED - 1 - i) * sizeof(*top));
		memset(&top[NAMED - 1], 0, sizeof(*top));
		break;
	}
	for (i = 0; i < NAMED && top[i].n && top[i].fell >= r->fell; i++)
		;
	if (i == NAMED) {
		merge_record(&rest, r);
		return;
	}
	merge_record(&rest, &top[NAMED - 1]);
	memmove(&top[i + 1], &top[i], (size_t)(NAMED - 1 - i) * sizeof(*top));
	top[i] = *r;
}

static void record_module(const struct coll_inc_module *m)
{
	struct record r = { .n = 1 };
	unsigned long all = 0;
	int i;

	for (i = 0; i < COLL_INC_NWHY; i++) {
		r.tally[i] = m->tally[i];
		all += m->tally[i];
	}
	if (!all)
		return;
	r.fell = all - r.tally[COLL_INC_GOES];
	snprintf(r.name, sizeof(r.name), "%s",
		 m->comm && m->comm->c_name ? m->comm->c_name : "");
	snprintf(r.said, sizeof(r.said), "%s", m->said);
	rank_record(&r);
}

/* Include a communicator in the summary. */
void coll_inc_stats_add(struct coll_inc_module *m)
{
	OBJ_CONSTRUCT(&m->live, opal_list_item_t);
	pthread_mutex_lock(&lock);
	if (!live.super.obj_class)
		OBJ_CONSTRUCT(&live, opal_list_t);
	opal_list_append(&live, &m->live);
	pthread_mutex_unlock(&lock);
}

/* Keep the sums of a communicator that is freed. */
void coll_inc_stats_del(struct coll_inc_module *m)
{
	pthread_mutex_lock(&lock);
	record_module(m);
	opal_list_remove_item(&live, &m->live);
	pthread_mutex_unlock(&lock);
	OBJ_DESTRUCT(&m->live);
}

/*
 * Count an operation.
 * @bytes: bytes of its data on one rank, or of one block
 */
void coll_inc_count(struct coll_inc_module *m, enum coll_inc_fn fn,
		    size_t bytes, const struct coll_inc_args *args,
		    enum coll_inc_why why)
{
	atomic_fetch_add_explicit(&counts[fn][why], 1, memory_order_relaxed);
	m->tally[why]++;
	coll_inc_say(2, "coll/inc: %s: %s, %zu bytes%s%s%s%s: %s%s",
		     m->comm->c_name, fn_names[fn], bytes,
		     args->op ? ", " : "", args->op ? args->rtype->name : "",
		     args->op ? ", " : "", args->op ? args->op->o_name : "",
		     why ? "falls through: " : "", why_texts[why]);
}

static bool is_shown(void)
{
	return coll_inc_params.stats > 1 ||
	       (coll_inc_params.stats == 1 && !OPAL_PROC_MY_NAME.vpid);
}

/* List reasons by number of operations. Returns a text, even for none. */
static const char *list_reasons(const struct record *r, char *text, size_t len)
{
	unsigned long left[COLL_INC_NWHY];
	size_t at = 0;
	int i, k, best;

	*text = '\0';
	memcpy(left, r->tally, sizeof(left));
	for (k = 0; k < NAMED_WHYS && at < len; k++) {
		best = COLL_INC_GOES + 1;
		for (i = best; i < COLL_INC_NWHY; i++)
			best = left[i] > left[best] ? i : best;
		if (!left[best])
			break;
		at += (size_t)snprintf(text + at, len - at, "%s%s",
				       k ? "; " : ": ", why_texts[best]);
		if (best > COLL_INC_TRYING && best <= COLL_INC_NO_DAEMON &&
		    *r->said && at < len)
			at += (size_t)snprintf(text + at, len - at, " (%s)",
					       r->said);
		left[best] = 0;
	}
	return text;
}

static void show_record(const struct record *r, const char *name)
{
	char text[512], number[48] = "", fell[48] = "";

	if (r->n > 1)
		snprintf(number, sizeof(number), " (%lu communicators)", r->n);
	if (r->fell)
		snprintf(fell, sizeof(fell), ", %lu fell through", r->fell);
	opal_output(coll_inc_output,
		    "coll/inc: rank %u: of %s%s: %lu through the switch%s%s",
		    OPAL_PROC_MY_NAME.vpid, name, number,
		    r->tally[COLL_INC_GOES], fell,
		    list_reasons(r, text, sizeof(text)));
}

static void show_communicators(void)
{
	struct coll_inc_module *m;
	opal_list_item_t *item;
	int i;

	if (live.super.obj_class)
		OPAL_LIST_FOREACH(item, &live, opal_list_item_t) {
			m = (struct coll_inc_module *)((char *)item -
				offsetof(struct coll_inc_module, live));
			record_module(m);
		}
	for (i = 0; i < NAMED && top[i].n; i++)
		show_record(&top[i], top[i].name);
	if (rest.n)
		show_record(&rest, "all others");
}

/* Print the sums, if configured. */
void coll_inc_show_stats(void)
{
	unsigned long n, all = 0, went = 0;
	int fn, why;

	if (!is_shown())
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
	show_communicators();
	opal_output(coll_inc_output,
		    "coll/inc: rank %u: %lu of %lu collectives went through the switch",
		    OPAL_PROC_MY_NAME.vpid, went, all);
}
