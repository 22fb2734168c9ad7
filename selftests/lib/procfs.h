/* SPDX-License-Identifier: GPL-2.0 */
/* What a test program finds of itself in /proc. */
#ifndef _INC_PROCFS_H
#define _INC_PROCFS_H

#include <dirent.h>

/**
 * procfs_entries() - count the entries of a directory
 * @path: directory, for example /proc/self/fd
 *
 * Return: their number, ".", ".." and the open directory itself included; to be
 * compared with another such number.
 */
static inline int procfs_entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

#endif /* _INC_PROCFS_H */
