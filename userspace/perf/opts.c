// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Command line of inc-perf.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inc-perf.h"

static void usage(FILE *out)
{
	fputs(
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
"\n"
"  -S, --server HOST[:PORT]  rendezvous daemon (inc-tool serve)\n"
"  -J, --job NAME            name that the ranks share\n"
"  -r, --rank R              rank of this process, from 0\n"
"  -n, --ranks N             number of ranks\n"
"  -t, --dtype TYPE          int8 ... int64, uint8 ... uint64, fp16, bf16, fp32,\n"
"                            fp64, float-int, double-int, long-int, 2int,\n"
"                            short-int (fp32)\n"
"  -o, --op OP               sum, prod, min, max, avg; of integers land, lor,\n"
"                            lxor, band, bor, bxor; of the pairs of a value and\n"
"                            an index minloc, maxloc (sum)\n"
"      --root R|each         root rank, or a different one each time (0)\n"
"  -m, --sizes MIN:MAX       bytes, doubling; suffixes K, M, G (4:1M)\n"
"  -s, --size BYTES          one size\n"
"      --count N             one size, in elements; may be repeated\n"
"  -i, --iterations N        timed operations per size; 0: none\n"
"  -x, --warmup N            untimed operations before these\n"
"      --reps N              repetitions of the measurement (1)\n"
"      --check[=N]           verify N operations per size, every byte (2)\n"
"      --pattern NAME        data to verify: random or special (random)\n"
"      --seed N              seed of the data (1)\n"
"      --repeat-hash         one operation --runs times: same bits each time?\n"
"                            Prints their hash\n"
"      --runs N              (1000); implies --repeat-hash\n"
"      --communicators N     instead of operations, time the creation, first\n"
"                            operation and destruction of N more communicators\n"
"      --in-place            receive into the send buffer\n"
"      --outstanding N       operations at once, non-blocking (1)\n"
"      --pause US            wait so long before each operation, as a\n"
"                            program that computes (0)\n"
"      --persistent          create operations once, start them repeatedly\n"
"      --reg MODE            user memory: pin, each or cache (pin)\n"
"      --window N            messages in flight\n"
"      --slots N, --msg-size N, --pmtu N, --first-msg-id N\n"
"                            settings of the tree\n"
"      --psn N               first PSN of this rank\n"
"      --transport rc|uc     transport of the queue pair (rc)\n"
"      --timeout MS          time limit of a call\n"
"      --join-timeout MS     how long to wait for the other ranks\n"
"      --dev NAME, --ib-port N, --gid-index N\n"
"                            verbs device\n"
"  -j, --json                print JSON\n"
"  -h, --help                show this text\n"
"\n"
"Exit status: 0, 1 if something failed or a result is wrong, 2 for usage.\n",
	      out);
}

enum {
	OPT_COUNT = 256, OPT_REPS, OPT_CHECK, OPT_PATTERN, OPT_SEED, OPT_HASH,
	OPT_RUNS, OPT_IN_PLACE, OPT_OUTSTANDING, OPT_REG, OPT_WINDOW, OPT_SLOTS,
	OPT_MSG_SIZE, OPT_PMTU, OPT_FIRST, OPT_TIMEOUT, OPT_JOIN_TIMEOUT,
	OPT_DEV, OPT_IB_PORT, OPT_GID, OPT_PSN, OPT_ROOT, OPT_TRANSPORT,
	OPT_PERSISTENT, OPT_COMMS, OPT_PAUSE,
};

static const struct option long_options[] = {
	{ "server",	required_argument,	NULL, 'S' },
	{ "job",	required_argument,	NULL, 'J' },
	{ "rank",	required_argument,	NULL, 'r' },
	{ "ranks",	required_argument,	NULL, 'n' },
	{ "dtype",	required_argument,	NULL, 't' },
	{ "op",		required_argument,	NULL, 'o' },
	{ "root",	required_argument,	NULL, OPT_ROOT },
	{ "sizes",	required_argument,	NULL, 'm' },
	{ "size",	required_argument,	NULL, 's' },
	{ "count",	required_argument,	NULL, OPT_COUNT },
	{ "iterations",	required_argument,	NULL, 'i' },
	{ "warmup",	required_argument,	NULL, 'x' },
	{ "reps",	required_argument,	NULL, OPT_REPS },
	{ "check",	optional_argument,	NULL, OPT_CHECK },
	{ "pattern",	required_argument,	NULL, OPT_PATTERN },
	{ "seed",	required_argument,	NULL, OPT_SEED },
	{ "repeat-hash", no_argument,		NULL, OPT_HASH },
	{ "runs",	required_argument,	NULL, OPT_RUNS },
	{ "communicators", required_argument,	NULL, OPT_COMMS },
	{ "in-place",	no_argument,		NULL, OPT_IN_PLACE },
	{ "outstanding", required_argument,	NULL, OPT_OUTSTANDING },
	{ "pause",	required_argument,	NULL, OPT_PAUSE },
	{ "persistent",	no_argument,		NULL, OPT_PERSISTENT },
	{ "reg",	required_argument,	NULL, OPT_REG },
	{ "window",	required_argument,	NULL, OPT_WINDOW },
	{ "slots",	required_argument,	NULL, OPT_SLOTS },
	{ "msg-size",	required_argument,	NULL, OPT_MSG_SIZE },
	{ "pmtu",	required_argument,	NULL, OPT_PMTU },
	{ "first-msg-id", required_argument,	NULL, OPT_FIRST },
	{ "psn",	required_argument,	NULL, OPT_PSN },
	{ "transport",	required_argument,	NULL, OPT_TRANSPORT },
	{ "timeout",	required_argument,	NULL, OPT_TIMEOUT },
	{ "join-timeout", required_argument,	NULL, OPT_JOIN_TIMEOUT },
	{ "dev",	required_argument,	NULL, OPT_DEV },
	{ "ib-port",	required_argument,	NULL, OPT_IB_PORT },
	{ "gid-index",	required_argument,	NULL, OPT_GID },
	{ "json",	no_argument,		NULL, 'j' },
	{ "help",	no_argument,		NULL, 'h' },
	{ 0 },
};

static bool bad_argument(const char *text, const char *want)
{
	fprintf(stderr, "inc-perf: \"%s\": must be %s\n", text, want);
	return false;
}

static bool get_num(const char *text, uint64_t min, uint64_t max, uint64_t *num)
{
	char want[64], *end;

	errno = 0;
	*num = strtoull(text, &end, 0);
	if (!errno && end != text && !*end && *text != '-' && *num >= min &&
	    *num <= max)
		return true;
	snprintf(want, sizeof(want), "a number, %" PRIu64 " ... %" PRIu64, min,
		 max);
	return bad_argument(text, want);
}

static bool get_long(const char *text, long min, long max, long *num)
{
	uint64_t n;

	if (!get_num(text, (uint64_t)min, (uint64_t)max, &n))
		return false;
	*num = (long)n;
	return true;
}

static bool get_uint(const char *text, unsigned int min, unsigned int max,
		     unsigned int *num)
{
	uint64_t n;

	if (!get_num(text, min, max, &n))
		return false;
	*num = (unsigned int)n;
	return true;
}

static bool get_int(const char *text, int max, int *num)
{
	uint64_t n;

	if (!get_num(text, 0, (uint64_t)max, &n))
		return false;
	*num = (int)n;
	return true;
}

static bool get_size(const char *text, char **end, size_t *size)
{
	static const char suffixes[] = "KMG";
	const char *s;

	errno = 0;
	*size = strtoull(text, end, 0);
	if (errno || *end == text || *text == '-')
		return bad_argument(text, "a size in bytes");
	s = **end ? strchr(suffixes, **end & ~0x20) : NULL;
	if (s) {
		*size <<= 10 * (s - suffixes + 1);
		(*end)++;
	}
	return true;
}

static bool get_sizes(struct options *o, const char *text)
{
	char *end;

	if (!get_size(text, &end, &o->min))
		return false;
	o->max = o->min;
	if (*end == ':' && !get_size(end + 1, &end, &o->max))
		return false;
	if (*end || !o->min || o->max < o->min)
		return bad_argument(text, "MIN:MAX in bytes");
	return true;
}

static bool get_dtype(struct options *o, const char *text)
{
	int dtype = inc_dtype_by_name(text);

	if (dtype < 0)
		return bad_argument(text,
				    "a data type: int32, int64, fp32, fp64 ...");
	o->dtype = (enum inc_dtype)dtype;
	return true;
}

static bool get_op(struct options *o, const char *text)
{
	int op = inc_op_by_name(text);

	if (op < 0)
		return bad_argument(text, "an operation: sum, min, max ...");
	o->op = (enum inc_op)op;
	return true;
}

static bool get_pattern(struct options *o, const char *text)
{
	if (strcmp(text, "random") && strcmp(text, "special"))
		return bad_argument(text, "random or special");
	o->pattern = *text == 's' ? REF_SPECIAL : REF_RANDOM;
	return true;
}

static bool get_reg(struct options *o, const char *text)
{
	if (!strcmp(text, "pin"))
		o->reg = REG_PIN;
	else if (!strcmp(text, "each"))
		o->reg = REG_EACH;
	else if (!strcmp(text, "cache"))
		o->reg = REG_CACHE;
	else
		return bad_argument(text, "pin, each or cache");
	o->comm.reg = o->reg == REG_CACHE ? INC_REG_CACHE : INC_REG_EACH;
	return true;
}

static bool get_transport(struct inc_comm_opts *c, const char *text)
{
	if (strcmp(text, "rc") && strcmp(text, "uc"))
		return bad_argument(text, "rc or uc");
	c->qp_type = *text == 'u' ? INC_QP_UC : INC_QP_RC;
	return true;
}

/* Options of the communicator and its tree. */
static bool comm_option(struct inc_comm_opts *c, int opt, const char *arg)
{
	switch (opt) {
	case 'S':
		c->server = arg;
		return true;
	case 'J':
		c->job = arg;
		return true;
	case 'r':
		return get_int(arg, UINT16_MAX, &c->rank);
	case 'n':
		return get_int(arg, UINT16_MAX, &c->nranks);
	case OPT_WINDOW:
		return get_uint(arg, 1, UINT16_MAX, &c->window);
	case OPT_SLOTS:
		return get_uint(arg, 1, UINT16_MAX, &c->tree.slots);
	case OPT_MSG_SIZE:
		return get_uint(arg, 1, UINT_MAX, &c->tree.msg_size);
	case OPT_PMTU:
		return get_uint(arg, 1, UINT16_MAX, &c->tree.pmtu);
	case OPT_FIRST:
		c->tree.flags |= INC_TREE_F_FIRST_MSG_ID;
		return get_uint(arg, 0, UINT_MAX, &c->tree.first_msg_id);
	case OPT_PSN:
		c->flags |= INC_COMM_F_PSN;
		return get_uint(arg, 0, 0xffffff, &c->psn);
	case OPT_TRANSPORT:
		return get_transport(c, arg);
	case OPT_TIMEOUT:
		return get_uint(arg, 1, INT_MAX, &c->timeout_ms);
	case OPT_JOIN_TIMEOUT:
		return get_uint(arg, 1, INT_MAX, &c->join_timeout_ms);
	case OPT_DEV:
		c->dev = arg;
		return true;
	case OPT_IB_PORT:
		return get_int(arg, UINT8_MAX, &c->port);
	case OPT_GID:
		return get_int(arg, UINT8_MAX, &c->gid_index);
	}
	return false;
}

/* Options of the measurement. */
static bool run_option(struct options *o, int opt, const char *arg)
{
	uint64_t n;

	switch (opt) {
	case 't':
		return get_dtype(o, arg);
	case 'o':
		return get_op(o, arg);
	case OPT_ROOT:
		o->root = -1;
		return !strcmp(arg, "each") ||
		       get_int(arg, UINT16_MAX, &o->root);
	case 'm':
	case 's':
		return get_sizes(o, arg);
	case OPT_COUNT:
		if (o->ncounts == MAX_COUNTS)
			return bad_argument(arg, "one of fewer counts");
		if (!get_num(arg, 0, SIZE_MAX / 8, &n))
			return false;
		o->counts[o->ncounts++] = (size_t)n;
		return true;
	case 'i':
		return get_long(arg, 0, LONG_MAX / MAX_OUTSTANDING,
				&o->iterations);
	case 'x':
		return get_long(arg, 0, LONG_MAX, &o->warmup);
	case OPT_REPS:
		return get_long(arg, 1, MAX_REPS, &o->reps);
	case OPT_CHECK:
		o->checks = 2;
		return !arg || get_long(arg, 1, INT_MAX, &o->checks);
	case OPT_PATTERN:
		return get_pattern(o, arg);
	case OPT_SEED:
		return get_num(arg, 0, UINT64_MAX, &o->seed);
	case OPT_HASH:
		o->runs = o->runs ? o->runs : 1000;
		return true;
	case OPT_RUNS:
		return get_long(arg, 1, INT_MAX, &o->runs);
	case OPT_COMMS:
		return get_long(arg, 1, 65536, &o->comms);
	case OPT_IN_PLACE:
		o->in_place = true;
		return true;
	case OPT_OUTSTANDING:
		return get_long(arg, 1, MAX_OUTSTANDING, &o->outstanding);
	case OPT_PAUSE:
		return get_long(arg, 0, 1000000000, &o->pause_us);
	case OPT_PERSISTENT:
		o->persistent = true;
		return true;
	case OPT_REG:
		return get_reg(o, arg);
	case 'j':
		o->json = true;
		return true;
	}
	return comm_option(&o->comm, opt, arg);
}

static bool get_collective(struct options *o, int argc, char **argv)
{
	if (optind < argc) {
		o->coll = kind_by_name(argv[optind]);
		if (o->coll < 0)
			return bad_argument(argv[optind],
					    "a collective: allreduce, broadcast ...");
		optind++;
	}
	if (optind < argc)
		return bad_argument(argv[optind], "nothing");
	if (o->checks && (o->coll == KIND_MIX ||
			  kind_reduces((enum inc_collective)o->coll)) &&
	    !ref_knows(o->dtype, o->op)) {
		fprintf(stderr, "inc-perf: --check does not know %s of %s\n",
			inc_op_name(o->op), inc_dtype_name(o->dtype));
		return false;
	}
	if (o->coll == INC_COLL_BARRIER)
		o->checks = 0;
	if (o->coll == KIND_MIX && o->runs) {
		fputs("inc-perf: --runs takes one collective\n", stderr);
		return false;
	}
	return true;
}

int options_parse(struct options *o, int argc, char **argv)
{
	int opt;

	while ((opt = getopt_long(argc, argv, "S:J:r:n:t:o:m:s:i:x:jh",
				  long_options, NULL)) != -1) {
		if (opt == 'h') {
			usage(stdout);
			return 0;
		}
		if (opt == '?' || !run_option(o, opt, optarg))
			return 2;
	}
	return get_collective(o, argc, argv) ? -1 : 2;
}
