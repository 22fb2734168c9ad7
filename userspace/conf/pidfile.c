// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See pidfile.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/pidfile.h"

/**
 * inc_pidfile_write() - write this process's ID
 * @path: file; NULL: none
 *
 * If the disk is full, no file is left: what is in it would name nobody.
 *
 * Return: 0 or a negative errno value.
 */
int inc_pidfile_write(const char *path)
{
	FILE *file = path ? fopen(path, "we") : NULL;
	bool ok;
	int err;

	if (!file)
		return path ? -errno : 0;
	ok = fprintf(file, "%d\n", (int)getpid()) >= 0;
	if (!fclose(file) && ok)
		return 0;
	err = -errno;
	inc_pidfile_remove(path);
	return err;
}

/**
 * inc_pidfile_remove() - remove the file
 * @path: file; NULL: none. A device, which is not ours, stays.
 */
void inc_pidfile_remove(const char *path)
{
	struct stat st;

	if (path && !lstat(path, &st) && S_ISREG(st.st_mode))
		unlink(path);
}
