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
 * Make sure that standard input, output and error are open. Otherwise the next
 * files that are opened take their places: a socket would get the log. Output
 * to a closed one is lost, and inc_output_end() says so. Context: before
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

/* errno of the first loss, for the message at the end. */
static int lost;

/*
 * Write all output so far. Returns false if some of it was lost;
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

	/* No event is requested: poll() returns for errors only. */
	while (poll(&pfd, 1, -1) < 0 && errno == EINTR)
		;
	if (!(pfd.revents & (POLLERR | POLLHUP)))
		return NULL;
	/* End as after a write to the closed pipe. */
	signal(SIGPIPE, SIG_DFL);
	kill(getpid(), SIGPIPE);
	return NULL;
}

/*
 * End this program once nobody reads its output. A program that prints events
 * may have nothing to print for a long time, and would stay until then. Does
 * nothing without memory.
 */
void inc_output_follow(void)
{
	pthread_t thread;

	if (!thread_create(&thread, wait_for_no_reader, NULL))
		pthread_detach(thread);
}

/*
 * Make sure that all output was written. Returns false after a message.
 * @program: name of the program, for the message
 */
bool inc_output_end(const char *program)
{
	if (inc_output_flush())
		return true;
	fprintf(stderr, "%s: standard output: %s\n", program,
		lost ? strerror(lost) : "not all of it could be written");
	return false;
}
