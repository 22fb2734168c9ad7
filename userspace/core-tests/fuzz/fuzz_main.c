// SPDX-License-Identifier: GPL-2.0
/*
 * Run a fuzz target without libFuzzer, for compilers that lack it: each input
 * of a corpus file (one per line, hexadecimal), then mutations of them.
 *
 *   fuzz_NAME CORPUS [SECONDS]         INC_SEED= reproduces a run
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz.h"

#define MAX_LEN	512

struct input {
	size_t	len;
	uint8_t	data[MAX_LEN];
};

static struct input *inputs, current;
static size_t ninputs;
static uint64_t state, seed;

static uint32_t rnd(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

static int parse(const char *line, struct input *to)
{
	unsigned int byte;

	for (to->len = 0; to->len < MAX_LEN; to->len++, line += 2) {
		if (sscanf(line, "%2x", &byte) != 1)
			break;
		to->data[to->len] = byte;
	}
	return to->len > 0;
}

static int load(const char *name)
{
	static char line[2 * MAX_LEN + 16];
	FILE *f = fopen(name, "r");

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		inputs = realloc(inputs, (ninputs + 1) * sizeof(*inputs));
		if (!inputs)
			abort();
		if (line[0] != '#')
			ninputs += parse(line, &inputs[ninputs]);
	}
	fclose(f);
	return ninputs ? 0 : -1;
}

/* Join the head of one input and the tail of another. */
static void splice(struct input *in)
{
	const struct input *other = &inputs[rnd(ninputs)];
	size_t at = rnd(in->len + 1), from = rnd(other->len),
	       n = other->len - from;

	if (n > MAX_LEN - at)
		n = MAX_LEN - at;
	memcpy(in->data + at, other->data + from, n);
	in->len = at + n;
}

static void mutate(struct input *in)
{
	size_t at = in->len ? rnd(in->len) : 0;

	switch (rnd(6)) {
	case 0:
		in->data[at] ^= 1 << rnd(8);
		break;
	case 1:
		in->data[at] = rnd(256);
		break;
	case 2:
		in->data[at] += rnd(2) ? 1 : 255;
		break;
	case 3:
		if (in->len == MAX_LEN)
			break;
		memmove(in->data + at + 1, in->data + at, in->len - at);
		in->data[at] = rnd(256);
		in->len++;
		break;
	case 4:
		if (in->len < 2)
			break;
		memmove(in->data + at, in->data + at + 1, in->len - at - 1);
		in->len--;
		break;
	case 5:
		splice(in);
		break;
	}
}

/* Print a finding as a line for the corpus. */
static void finding(int sig)
{
	fputs("# input: ", stdout);
	for (size_t i = 0; i < current.len; i++)
		printf("%02x", current.data[i]);
	puts("");
	fflush(stdout);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void run(const struct input *in)
{
	current = *in;
	LLVMFuzzerTestOneInput(current.data, current.len);
}

static unsigned long mutations(time_t until)
{
	unsigned long n;

	for (n = 0; n % 1024 || time(NULL) < until; n++) {
		struct input in = inputs[rnd(ninputs)];

		for (uint32_t i = rnd(8) + 1; i; i--)
			mutate(&in);
		run(&in);
	}
	return n;
}

int main(int argc, char **argv)
{
	const char *env = getenv("INC_SEED");
	int seconds = argc > 2 ? atoi(argv[2]) : 0;
	unsigned long n;

	if (argc < 2 || load(argv[1])) {
		fprintf(stderr, "%s CORPUS [SECONDS]: no inputs\n", argv[0]);
		return 2;
	}
	seed = env ? strtoull(env, NULL, 0) : (uint64_t)time(NULL);
	state = seed;
	printf("# %s: seed %llu (INC_SEED= repeats it)\n", argv[1],
	       (unsigned long long)seed);
	fflush(stdout);
	/* Sanitizers abort, too: see the Makefile's ASAN_OPTIONS. */
	signal(SIGABRT, finding);
	for (size_t i = 0; i < ninputs; i++)
		run(&inputs[i]);
	n = mutations(time(NULL) + seconds);
	printf("# %zu inputs, %lu mutated\n", ninputs, n);
	free(inputs);
	return 0;
}
