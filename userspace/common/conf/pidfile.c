// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See pidfile.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/pidfile.h"

/* The PID file is locked for as long as its process runs. */
static int held = -1;

static bool is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/* Is a file still at its path? Its owner may have removed it. */
static bool is_at(int fd, const char *path)
{
	struct stat st, at;

	return !fstat(fd, &st) && !stat(path, &at) && st.st_dev == at.st_dev &&
	       st.st_ino == at.st_ino;
}

static int open_locked(const char *path)
{
	int fd, err;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
		if (fd < 0 || !is_file(fd))
			return fd;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			err = errno;
			close(fd);
			errno = err;
			return -1;
		}
		if (is_at(fd, path))
			return fd;
		close(fd);
	}
}

/* Content of another program, such as a database or a key, must not be lost. */
static bool has_more(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	size_t digits;

	if (n < 0)
		return true;
	text[n] = '\0';
	digits = strspn(text, "0123456789");
	return (size_t)n != digits + (text[digits] == '\n');
}

static int report_error(const char *program, const char *path)
{
	int err = errno;

	fprintf(stderr, "%s: --pidfile %s: %s\n", program, path,
		err == EWOULDBLOCK ? "another process that runs has it; give each its own" :
		err == EEXIST ? "there is something else than a process ID in it; give another file" :
		strerror(err));
	return -err;
}

/*
 * Write this process's ID. If the disk is full, no file is left: it would name
 * no process. A file of another running process, or with other content, is left
 * as it is. Returns 0, or a negative errno value after a message.
 */
int inc_pidfile_write(const char *program, const char *path)
{
	int fd = path ? open_locked(path) : -1;

	if (fd < 0)
		return path ? report_error(program, path) : 0;
	if (is_file(fd) && has_more(fd)) {
		close(fd);
		errno = EEXIST;
		return report_error(program, path);
	}
	if (is_file(fd)) {
		held = fd;
		if (!ftruncate(fd, 0) &&
		    dprintf(fd, "%d\n", (int)getpid()) >= 0)
			return 0;
	} else if (dprintf(fd, "%d\n", (int)getpid()) >= 0 && !close(fd)) {
		return 0;
	}
	report_error(program, path);
	inc_pidfile_remove(path);
	return -EIO;
}

/*
 * Remove the PID file.
 * @path: file; NULL: none. A file of others stays, and so does a device.
 */
void inc_pidfile_remove(const char *path)
{
	if (held < 0)
		return;
	if (is_at(held, path))
		unlink(path);
	close(held);
	held = -1;
}
