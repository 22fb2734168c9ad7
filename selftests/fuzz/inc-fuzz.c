// SPDX-License-Identifier: GPL-2.0
/*
 * inc-fuzz: see fuzz.h. Sends packets and netlink messages at the same time,
 * each from a process of its own.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

static uint64_t state;

/**
 * fuzz_seed() - start a sequence of random numbers
 * @seed: seed
 */
void fuzz_seed(uint64_t seed)
{
	state = seed * 2 + 1;
}

/**
 * rnd() - return a random number
 * @below: upper limit, exclusive; 1 ... 2^31
 *
 * Return: the number.
 */
uint32_t rnd(uint32_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

/**
 * enter() - create later sockets in a namespace
 * @ns: its name
 */
void enter(const char *ns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static pid_t start(int (*fuzz)(const struct options *), struct options o,
		   const char *what)
{
	struct timespec from, to;
	double s;
	pid_t pid = fork();
	int rc;

	if (pid)
		return pid;
	fuzz_seed(o.seed);
	clock_gettime(CLOCK_MONOTONIC, &from);
	rc = fuzz(&o);
	clock_gettime(CLOCK_MONOTONIC, &to);
	s = to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
	printf("# %s: %.0f s, %.0f/s\n", what, s, o.count / s);
	exit(rc ? 1 : 0);
}

static bool ended_well(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	unsigned long messages;
	struct options o;
	pid_t a, b;
	bool ok;

	if (argc != 8) {
		fprintf(stderr, "inc-fuzz SWITCH-NS HOST-NS SWITCH-ADDR HOST-ADDR PACKETS MESSAGES SEED\n");
		return 2;
	}
	o = (struct options){
		.switch_ns = argv[1], .host_ns = argv[2],
		.count = strtoul(argv[5], NULL, 0),
		.seed = strtoull(argv[7], NULL, 0),
	};
	if (inet_pton(AF_INET, argv[3], &o.switch_addr) != 1 ||
	    inet_pton(AF_INET, argv[4], &o.host_addr) != 1)
		return 2;
	messages = strtoul(argv[6], NULL, 0);
	printf("# seed %llu (SEED= repeats it)\n", (unsigned long long)o.seed);
	fflush(stdout);
	a = start(fuzz_packets, o, "packets");
	o.count = messages;
	o.seed++;
	b = start(fuzz_netlink, o, "netlink");
	ok = ended_well(a);
	ok = ended_well(b) && ok;
	return ok ? 0 : 1;
}
