// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Command line of inc-perf.
 */
#include <getopt.h>
#include <limits.h>
#include <string.h>

#include "conf/opts.h"
#include "conf/unit.h"
#include "opts.h"

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
	if (!unit_number(text, SIZE_MAX / 8, &n))
		return opts_wrong_value(opt, text, "a number of elements");
	o->counts[o->ncounts++] = (size_t)n;
	return 0;
}

static int take_dtype(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;
	int dtype = inc_dtype_by_name(text);

	if (dtype < 0)
		return opts_wrong_value(opt, text, "a data type: int32, int64, fp32, fp64 ...");
	o->dtype = (enum inc_dtype)dtype;
	return 0;
}

static int take_op(void *ctx, const struct opt *opt, char *text)
{
	struct perf_options *o = ctx;
	int op = inc_op_by_name(text);

	if (op < 0)
		return opts_wrong_value(opt, text, "an operation: sum, min, max ...");
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
	  AT(comm.nranks), 0, UINT16_MAX },
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
	  AT(comm.tree.slots), 1, UINT16_MAX },
	{ "msg-size", 0, OPT_NUM, "N", "its longest message",
	  AT(comm.tree.msg_size), 1, UINT_MAX },
	{ "pmtu", 0, OPT_NUM, "N", "its path MTU",
	  AT(comm.tree.pmtu), 1, UINT16_MAX },
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
	{ 0 }
};

static const struct opts options = {
	.prog	= "inc-perf",
	.head	=
		"Usage: inc-perf [OPTIONS] [COLLECTIVE]\n"
		"       inc-perf diff [OPTIONS] OLD NEW\n"
		"\n"
		"COLLECTIVE is allreduce (the default), reduce, reduce-scatter, broadcast,\n"
		"allgather, gather, scatter, alltoall, barrier, or mix: a different one each time.\n"
		"Sizes and counts are those of a rank's block. algbw and busbw are those of\n"
		"nccl-tests, in MB/s (10^6 bytes per second); see inc-perf(1). \"diff\" compares\n"
		"two files that --json has written (inc-perf diff --help).\n"
		"\n"
		"Run one process per rank. Defaults come from the environment (INC_SERVER,\n"
		"INC_JOB, INC_RANK, INC_NRANKS ..., see libinc(7)).\n"
		"\n",
	.tail	= "\nExit status: 0, 1 if something failed or a result is wrong, 2 for usage.\n",
	.list	= options_list,
	.args	= 1,
};

static int check_options(struct perf_options *o, const char *coll)
{
	if (coll)
		o->coll = kind_by_name(coll);
	if (o->coll < 0)
		return opts_wrong("\"%s\": must be a collective: allreduce, broadcast ...",
				  coll);
	if (o->checks && (o->coll == KIND_MIX ||
			  kind_reduces((enum inc_collective)o->coll)) &&
	    !ref_knows(o->dtype, o->op))
		return opts_wrong("--check does not know %s of %s",
				  inc_op_name(o->op), inc_dtype_name(o->dtype));
	if (o->coll == INC_COLL_BARRIER)
		o->checks = 0;
	if (o->coll == KIND_MIX && o->runs)
		return opts_wrong("--runs takes one collective");
	o->comm.reg = o->reg == REG_CACHE ? INC_REG_CACHE : INC_REG_EACH;
	return 0;
}

int options_parse(struct perf_options *o, int argc, char **argv)
{
	int ret = opts_read(&options, o, argc, argv);

	if (!ret)
		ret = check_options(o, optind < argc ? argv[optind] : NULL);
	return ret > 0 ? 0 : ret < 0 ? 2 : -1;
}
