// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the manager's process takes, by the names that Prometheus has for that.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "stats/stats.h"

/**
 * struct process - of /proc/self/stat
 * @ticks: CPU time
 * @start: when it was started, in ticks since the machine was
 * @size: bytes of virtual memory
 * @rss: pages of it that are resident
 */
struct process {
	unsigned long long	ticks;
	unsigned long long	start;
	unsigned long long	size;
	unsigned long long	rss;
};

/* Numbers of the line that follow the name, which may have any character. */
static bool read_stat(struct process *p)
{
	unsigned long long user, sys;
	char line[1024];
	const char *rest = NULL;
	FILE *f = fopen("/proc/self/stat", "re");

	if (f && fgets(line, sizeof(line), f))
		rest = strrchr(line, ')');
	if (f)
		fclose(f);
	if (!rest ||
	    sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu %llu %llu",
		   &user, &sys, &p->start, &p->size, &p->rss) != 5)
		return false;
	p->ticks = user + sys;
	return true;
}

/* Seconds since 1970; 0: unknown. */
static double boot_time(void)
{
	FILE *f = fopen("/proc/stat", "re");
	unsigned long long at = 0;
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "btime %llu", &at) == 1)
			break;
	if (f)
		fclose(f);
	return (double)at;
}

static unsigned int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	/* ".", "..", and the directory's own. */
	return n > 3 ? n - 3 : 0;
}

static void put_metric(FILE *f, const char *name, const char *type,
		       const char *help, double value)
{
	fprintf(f, "# HELP process_%s %s\n# TYPE process_%s %s\nprocess_%s %.15g\n",
		name, help, name, type, name, value);
}

/**
 * process_metrics() - write what the process takes
 * @f: where to
 */
void process_metrics(FILE *f)
{
	double hz = (double)sysconf(_SC_CLK_TCK);
	static double booted_at;
	struct rlimit limit;
	struct process p;

	put_metric(f, "open_fds", "gauge", "Open file descriptors.",
		   open_fds());
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		put_metric(f, "max_fds", "gauge", "How many there may be.",
			   (double)limit.rlim_cur);
	if (!read_stat(&p))
		return;
	if (booted_at <= 0)
		booted_at = boot_time();
	put_metric(f, "cpu_seconds_total", "counter",
		   "CPU time, of user and system.", (double)p.ticks / hz);
	put_metric(f, "start_time_seconds", "gauge",
		   "When the process was started, since 1970.",
		   booted_at + (double)p.start / hz);
	put_metric(f, "virtual_memory_bytes", "gauge", "Virtual memory.",
		   (double)p.size);
	put_metric(f, "resident_memory_bytes", "gauge", "Resident memory.",
		   (double)p.rss * (double)sysconf(_SC_PAGESIZE));
}
