// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Command line of inc-perf.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/opts.h"
#include "conf/unit.h"
#include "opts.h"

#define RANKS_MAX	1024	/* of a tree */

static int take_sizes(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;
	char *most = strchr(text, ':');
	uint64_t min, max;
	bool good;

	if (most)
		*most = '\0';
	good = unit_number(text, SIZE_MAX, &min) &&
	       unit_number(most ? most + 1 : text, SIZE_MAX, &max) &&
	       min && max >= min;
	if (most)
		*most = ':';
	if (!good)
		return opts_wrong_value(opt, text, "MIN:MAX, or one size, in bytes");
	o->min = (size_t)min;
	o->max = (size_t)max;
	return 0;
}

static int add_count(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;
	uint64_t n;

	if (o->ncounts == MAX_COUNTS)
		return opts_wrong_value(opt, text, "one of fewer counts");
	if (!unit_number(text, SIZE_MAX / sizeof(struct ref_elem), &n))
		return opts_wrong_value(opt, text, "a number of elements");
	o->counts[o->ncounts++] = (size_t)n;
	return 0;
}

static const char *dtype_name(int i)
{
	return inc_dtype_name((enum inc_dtype)i);
}

static const char *op_name(int i)
{
	return inc_op_name((enum inc_op)i);
}

/* Make a list "WHAT: NAME, NAME ..." of all names. */
static void list_names(char *list, size_t len, const char *what,
		       const char *(*name)(int i))
{
	size_t n = (size_t)snprintf(list, len, "%s:", what);
	int i;

	for (i = 0; name(i) && n < len; i++)
		n += (size_t)snprintf(list + n, len - n, "%s %s", i ? "," : "",
				      name(i));
}

static int take_dtype(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;
	int dtype = inc_dtype_by_name(text);
	char list[256];

	if (dtype < 0) {
		list_names(list, sizeof(list), "a data type", dtype_name);
		return opts_wrong_value(opt, text, list);
	}
	o->dtype = (enum inc_dtype)dtype;
	return 0;
}

static int take_op(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;
	int op = inc_op_by_name(text);
	char list[256];

	if (op < 0) {
		list_names(list, sizeof(list), "an operation", op_name);
		return opts_wrong_value(opt, text, list);
	}
	o->op = (enum inc_op)op;
	return 0;
}

static int take_root(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;
	uint64_t root;

	o->root = -1;
	if (!strcmp(text, "each"))
		return 0;
	if (!unit_number(text, UINT16_MAX, &root))
		return opts_wrong_value(opt, text, "a rank, or \"each\"");
	o->root = (int)root;
	return 0;
}

static int note_check(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;

	if (!text)
		o->checks = 2;
	return 0;
}

static int take_hash(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;

	o->runs = o->runs ? o->runs : 1000;
	return 0;
}

static int note_first(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;

	o->comm.tree.flags |= INC_TREE_F_FIRST_MSG_ID;
	return 0;
}

static int note_psn(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;

	o->comm.flags |= INC_COMM_F_PSN;
	return 0;
}

#define AT(field)	OPT_AT(struct perf_options, field)

static const struct opt options_list[] = {
	{ "server", 'S', OPT_TEXT, "HOST[:PORT]",
	  "rendezvous daemon (inc-tool serve)", AT(comm.server) },
	{ "job", 'J', OPT_TEXT, "NAME", "name that the ranks share",
	  AT(comm.job) },
	{ "rank", 'r', OPT_NUM, "R", "rank of this process, from 0",
	  AT(comm.rank), 0, UINT16_MAX },
	{ "ranks", 'n', OPT_NUM, "N", "number of ranks",
	  AT(comm.nranks), 1, RANKS_MAX },
	{ "dtype", 't', OPT_CALL, "TYPE",
	  "int8 ... int64, uint8 ... uint64, fp16, bf16, fp32, fp64, float-int, double-int, long-int, 2int, short-int (fp32)",
	  .call = take_dtype },
	{ "op", 'o', OPT_CALL, "OP",
	  "sum, prod, min, max, avg; of integers land, lor, lxor, band, bor, bxor; of the pairs of a value and an index minloc, maxloc (sum)",
	  .call = take_op },
	{ "root", 0, OPT_CALL, "R|each",
	  "root rank, or a different one each time (0)", .call = take_root },
	{ "sizes", 'm', OPT_CALL, "MIN:MAX",
	  "bytes, doubling; suffixes K, M, G (4:1M)", .call = take_sizes },
	{ "size", 's', OPT_CALL, "BYTES", "one size", .call = take_sizes },
	{ "count", 0, OPT_CALL, "N",
	  "one size, in elements; may be repeated", .call = add_count },
	{ "iterations", 'i', OPT_NUM, "N",
	  "timed operations per size; 0: none",
	  AT(iterations), 0, LONG_MAX / MAX_OUTSTANDING },
	{ "warmup", 'x', OPT_NUM, "N", "untimed operations before these",
	  AT(warmup), 0, LONG_MAX },
	{ "reps", 0, OPT_NUM, "N", "repetitions of the measurement (1)",
	  AT(reps), 1, MAX_REPS },
	{ "check", 0, OPT_NUM, "[=N]",
	  "verify N operations per size, every byte (2)",
	  AT(checks), 1, INT_MAX, .call = note_check },
	{ "pattern", 0, OPT_WORD, "random|special",
	  "data to verify (random)", AT(pattern), REF_RANDOM },
	{ "seed", 0, OPT_NUM, "N", "seed of the data (1)",
	  AT(seed), 0, UINT64_MAX },
	{ "repeat-hash", 0, OPT_CALL, NULL,
	  "one operation --runs times: same bits each time? Prints their hash",
	  .call = take_hash },
	{ "runs", 0, OPT_NUM, "N", "(1000); implies --repeat-hash",
	  AT(runs), 1, INT_MAX },
	{ "communicators", 0, OPT_NUM, "N",
	  "instead of operations, time the creation, first operation and destruction of N more communicators",
	  AT(comms), 1, 65536 },
	{ "in-place", 0, OPT_FLAG, NULL, "receive into the send buffer",
	  AT(in_place) },
	{ "outstanding", 0, OPT_NUM, "N",
	  "operations at once, non-blocking (1)",
	  AT(outstanding), 1, MAX_OUTSTANDING },
	{ "pause", 0, OPT_NUM, "US",
	  "wait so long before each operation, as a program that computes (0)",
	  AT(pause_us), 0, 1000000000 },
	{ "persistent", 0, OPT_FLAG, NULL,
	  "create operations once, start them repeatedly", AT(persistent) },
	{ "reg", 0, OPT_WORD, "pin|each|cache", "user memory (pin)",
	  AT(reg), REG_PIN },
	{ "window", 0, OPT_NUM, "N", "messages in flight",
	  AT(comm.window), 1, UINT16_MAX },
	{ "slots", 0, OPT_NUM, "N", "slots of the tree",
	  AT(comm.tree.slots), 1, 4096, OPT_POWER },
	{ "msg-size", 0, OPT_NUM, "N", "its longest message",
	  AT(comm.tree.msg_size), 64, 1 << 16, 64 },
	{ "pmtu", 0, OPT_NUM, "N", "its path MTU",
	  AT(comm.tree.pmtu), 256, 4096, OPT_POWER },
	{ "first-msg-id", 0, OPT_NUM, "N", "ID of its first message",
	  AT(comm.tree.first_msg_id), 0, UINT_MAX, .call = note_first },
	{ "psn", 0, OPT_NUM, "N", "first PSN of this rank",
	  AT(comm.psn), 0, 0xffffff, .call = note_psn },
	{ "transport", 0, OPT_WORD, "rc|uc",
	  "transport of the queue pair (rc; uc if it loses packets)", AT(comm.qp_type), INC_QP_RC },
	{ "timeout", 0, OPT_MS, "MS", "time limit of a call",
	  AT(comm.timeout_ms), 1, INT_MAX },
	{ "join-timeout", 0, OPT_MS, "MS",
	  "how long to wait for the other ranks",
	  AT(comm.join_timeout_ms), 1, INT_MAX },
	{ "dev", 0, OPT_TEXT, "NAME", "verbs device", AT(comm.dev) },
	{ "ib-port", 0, OPT_NUM, "N", "its port",
	  AT(comm.port), 0, UINT8_MAX },
	{ "gid-index", 0, OPT_NUM, "N", "index of the GID",
	  AT(comm.gid_index), 0, UINT8_MAX },
	{ "json", 'j', OPT_FLAG, NULL, "print JSON", AT(json) },
	OPT_HELP_ROW,
	OPT_VERSION_ROW,
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-perf",
	.version = PERF_VERSION,
	.head	=
		"Usage: inc-perf [OPTIONS] [COLLECTIVE]\n"
		"       inc-perf rtt ...     rtt is the first word, see inc-rtt(1)\n"
		"\n"
		"COLLECTIVE is allreduce (the default), reduce, reduce-scatter, broadcast,\n"
		"allgather, gather, scatter, alltoall, barrier, or mix: a different one each time.\n"
		"Sizes and counts are those of a rank's block. algbw and busbw are those of\n"
		"nccl-tests, in MB/s (10^6 bytes per second); see inc-perf(1).\n"
		"\n"
		"Run one process per rank. Defaults come from the environment (INC_SERVER,\n"
		"INC_JOB, INC_RANK, INC_NRANKS ..., see libinc(7)).\n"
		"\n",
	.tail	= "\nExit status: 0, 1 if something failed or a result is wrong, 2 for usage.\n",
	.list	= options_list,
	.args	= 1,
};

static bool is_set(const char *given, const char *env)
{
	const char *text = given && *given ? given : getenv(env);

	return text && *text;
}

/* Read the environment already here: libinc does so only when it joins. */
static int take_env(const char *env, int *value)
{
	const char *text = getenv(env);
	uint64_t n;

	if (*value >= 0 || !is_set(NULL, env))
		return 0;
	if (!unit_number(text, UINT16_MAX, &n))
		return opts_wrong("%s=%s: must be a number from 0 to %d", env,
				  text, UINT16_MAX);
	*value = (int)n;
	return 0;
}

static int check_place(struct perf_options *o)
{
	struct inc_comm_opts *c = &o->comm;

	if (take_env("INC_RANK", &c->rank) ||
	    take_env("INC_NRANKS", &c->nranks))
		return -1;
	if (!is_set(c->server, "INC_SERVER") && !is_set(c->am, "INC_AM"))
		return opts_wrong("which rendezvous daemon? --server HOST[:PORT], or INC_SERVER (or a manager, INC_AM)");
	if (!is_set(c->job, "INC_JOB"))
		return opts_wrong("which job? --job NAME, or INC_JOB");
	if (c->job && strlen(c->job) > INC_JOB_MAX)
		return opts_wrong("--job \"%s\": has more than %d characters",
				  c->job, INC_JOB_MAX);
	if (c->nranks < 1)
		return opts_wrong("how many ranks? --ranks N, or INC_NRANKS");
	if (c->rank < 0)
		return opts_wrong("which rank? --rank R, or INC_RANK");
	if (c->rank >= c->nranks)
		return opts_wrong("--rank %d: must be from 0 to %d, as --ranks is %d",
				  c->rank, c->nranks - 1, c->nranks);
	if (o->root >= c->nranks)
		return opts_wrong("--root %d: must be from 0 to %d, as --ranks is %d",
				  o->root, c->nranks - 1, c->nranks);
	return 0;
}

/* Does the largest size fit into memory, with a block per rank? */
static bool fits_memory(const struct perf_options *o, size_t esize)
{
	size_t most = o->ncounts ? 0 : o->max;
	unsigned int i;

	for (i = 0; i < o->ncounts; i++)
		if (o->counts[i] * esize > most)
			most = o->counts[i] * esize;
	return most <= PTRDIFF_MAX / 2 / (size_t)o->comm.nranks;
}

/* Reject empty work: a script would take its success as verified. */
static int check_work(const struct perf_options *o)
{
	size_t esize = inc_dtype_size(o->dtype);

	if (o->coll != INC_COLL_BARRIER && !o->ncounts && o->max < esize)
		return opts_wrong("--size %zu: holds no element of %s, which has %zu bytes",
				  o->max, inc_dtype_name(o->dtype), esize);
	if (!fits_memory(o, esize))
		return opts_wrong("--size, --count: too large for %d ranks",
				  o->comm.nranks);
	if (o->comms && (o->checks || o->runs))
		return opts_wrong("--communicators: neither --check nor --runs is for them");
	if (!o->iterations && !o->checks && !o->runs && !o->comms)
		return opts_wrong("--iterations 0: nothing is done without --check or --runs");
	if (o->coll == INC_COLL_BARRIER && o->runs)
		return opts_wrong("--runs: a barrier has no result");
	if (o->coll == KIND_MIX && o->runs)
		return opts_wrong("--runs takes one collective");
	return 0;
}

static int check_options(struct perf_options *o, const char *coll)
{
	char list[256];

	if (coll)
		o->coll = kind_by_name(coll);
	if (o->coll < 0) {
		list_names(list, sizeof(list), "a collective", kind_name);
		return opts_wrong("\"%s\": must be %s", coll, list);
	}
	/* The reference knows all operations of each type. */
	if ((o->coll == KIND_MIX ||
	     kind_reduces((enum inc_collective)o->coll)) &&
	    !ref_knows(o->dtype, o->op))
		return opts_wrong("--op %s: is none of %s",
				  inc_op_name(o->op), inc_dtype_name(o->dtype));
	o->comm.reg = o->reg == REG_CACHE ? INC_REG_CACHE : INC_REG_EACH;
	return check_place(o) || check_work(o) ? -1 : 0;
}

/* Read the command line. Returns the exit status, or -1 to continue. */
int options_parse(struct perf_options *o, int argc, char **argv)
{
	int ret = opts_read(&options, o, argc, argv);

	if (!ret)
		ret = check_options(o, optind < argc ? argv[optind] : NULL);
	return ret > 0 ? 0 : ret < 0 ? 2 : -1;
}
