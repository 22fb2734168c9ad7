// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool check: the program that makes trees for jobs in this network namespace.
 */
#include "common.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "daemon.h"
#include "report.h"

/* The kernel's mark of an executable that was deleted, as by an upgrade. */
#define REPLACED	" (deleted)"

static bool read_link(const char *pid, const char *name, char *text, size_t len)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%.16s/%s", pid, name);
	n = readlink(path, text, len - 1);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Read the beginning of a file of a process, and append a 0. Returns its bytes. */
static size_t read_begin(const char *pid, const char *name, char *text,
			 size_t len)
{
	char path[64];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.16s/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, len - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Get the daemon's name, if the process makes trees; or NULL. */
static const char *name_of(const char *pid)
{
	const char *word, *slash;
	char line[256];
	size_t n = read_begin(pid, "cmdline", line, sizeof(line));

	slash = strrchr(line, '/');
	word = slash ? slash + 1 : line;
	if (!strcmp(word, "inc-agentd"))
		return "inc-agentd";
	if (strcmp(word, "inc-tool"))
		return NULL;
	for (word = line; word < line + n; word += strlen(word) + 1)
		if (!strcmp(word, "serve"))
			return "inc-tool serve";
	return NULL;
}

/* Has a signal stopped it? The state follows the name, which may have parentheses. */
static bool is_stopped(const char *pid)
{
	const char *state;
	char line[512];

	read_begin(pid, "stat", line, sizeof(line));
	state = strrchr(line, ')');
	return state && (!strncmp(state, ") T", 3) || !strncmp(state, ") t", 3));
}

static void report_daemon(const char *pid, const char *name)
{
	const size_t end = strlen(REPLACED);
	struct subject s;
	char exe[256];
	size_t len;

	report_subject(&s, "daemon", "%s", name);
	report_find(&s, VERDICT_OK, NULL, "process %s", pid);
	if (is_stopped(pid))
		report_find(&s, VERDICT_FAIL, "kill -CONT PID; a debugger?",
			    "it is stopped, and answers nobody");
	if (read_link(pid, "exe", exe, sizeof(exe))) {
		len = strlen(exe);
		if (len > end && !strcmp(exe + len - end, REPLACED))
			report_find(&s, VERDICT_WARN, "restart it",
				    "its program has been replaced since it was started");
	}
	report_put(&s);
}

/*
 * Report the daemons that make trees for jobs.
 * @snap: the switch; if it has trees, a missing daemon is no finding
 */
void check_daemon(const struct snapshot *snap)
{
	char own[64], its[64];
	struct dirent *entry;
	const char *name;
	struct subject s;
	bool any = false;
	DIR *proc;

	proc = opendir("/proc");
	if (!proc || !read_link("self", "ns/net", own, sizeof(own)))
		any = true;
	while (proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !read_link(entry->d_name, "ns/net", its, sizeof(its)) ||
		    strcmp(own, its))
			continue;
		name = name_of(entry->d_name);
		if (name)
			report_daemon(entry->d_name, name);
		any |= name != NULL;
	}
	if (proc)
		closedir(proc);
	if (any || snap->sw.trees)
		return;
	report_subject(&s, "daemon", "daemon");
	report_find(&s, VERDICT_WARN,
		    "inc-tool serve, or systemctl start inc-serve; or is the switch another network namespace (-netns NAME)?",
		    "neither inc-tool serve nor inc-agentd runs in this network namespace: no job gets a tree");
	report_put(&s);
}
