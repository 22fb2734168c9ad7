// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See output.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf/output.h"
#include "conf/thread.h"

/*
 * Have standard input, output and error be there. Else the next files that are
 * opened become them: a socket would be sent the log. What is printed where
 * there was no output is lost, and inc_output_end() says so. Context: before
 * anything is opened.
 */
void inc_output_open(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* The first reason: it is told at the end. */
static int lost;

/*
 * Write what was printed so far. Returns false if something was lost;
 * inc_output_end() says why.
 */
bool inc_output_flush(void)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	if (!lost)
		lost = errno;
	return false;
}

static void *wait_for_no_reader(void *arg)
{
	struct pollfd pfd = { .fd = STDOUT_FILENO };

	/* No event is asked for: what comes is an error. */
	while (poll(&pfd, 1, -1) < 0 && errno == EINTR)
		;
	if (!(pfd.revents & (POLLERR | POLLHUP)))
		return NULL;
	/* As if this program had written something. */
	signal(SIGPIPE, SIG_DFL);
	kill(getpid(), SIGPIPE);
	return NULL;
}

/*
 * End this program once nobody reads its output. A program that prints what
 * happens may have nothing to print for long: without this it would stay until
 * then. Does nothing if there is no memory for it.
 */
void inc_output_follow(void)
{
	pthread_t thread;

	if (!thread_create(&thread, wait_for_no_reader, NULL))
		pthread_detach(thread);
}

/*
 * See to it that what was printed has been written. Returns false after a
 * message.
 * @program: who says so if it cannot be
 */
bool inc_output_end(const char *program)
{
	if (inc_output_flush())
		return true;
	fprintf(stderr, "%s: standard output: %s\n", program,
		lost ? strerror(lost) : "not all of it could be written");
	return false;
}
