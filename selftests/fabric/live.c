// SPDX-License-Identifier: GPL-2.0
/*
 * live.so, preloaded into a program that was built with AddressSanitizer: tells
 * how many bytes it has allocated and not freed, to each who opens the FIFO that
 * LIVE_FIFO names. The resident set shows that only with what the sanitizer
 * keeps of what was freed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

size_t __sanitizer_get_current_allocated_bytes(void);

static void *tell(void *fifo)
{
	int fd;

	for (;;) {
		fd = open(fifo, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return NULL;
		dprintf(fd, "%zu\n", __sanitizer_get_current_allocated_bytes());
		close(fd);
		/* Until its reader has seen the end. */
		usleep(100000);
	}
}

__attribute__((constructor)) static void begin(void)
{
	char *fifo = getenv("LIVE_FIFO");
	sigset_t all, old;
	pthread_t thread;

	if (!fifo)
		return;
	sigfillset(&all);
	/* The program's signals are not for this thread. */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&thread, NULL, tell, fifo))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
