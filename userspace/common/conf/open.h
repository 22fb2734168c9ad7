/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Files that an operator names have to be regular files: to open or read a FIFO
 * or a device could block a thread for good.
 */
#ifndef INC_CONF_OPEN_H
#define INC_CONF_OPEN_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * inc_open() - open a regular file to read it
 * @path: path
 * @why: result after an error: reason
 *
 * Return: the file, or NULL.
 */
static inline FILE *inc_open(const char *path, const char **why)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	FILE *f = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) ||
	    (S_ISREG(st.st_mode) && !(f = fdopen(fd, "r"))))
		*why = strerror(errno);
	else if (!f)
		*why = "is not a regular file";
	if (!f && fd >= 0)
		close(fd);
	return f;
}

/**
 * inc_unusable() - say why a library could not open a regular file
 * @path: path
 *
 * Return: reason, or NULL if it could.
 */
static inline const char *inc_unusable(const char *path)
{
	const char *why = NULL;
	FILE *f = inc_open(path, &why);

	if (f)
		fclose(f);
	return why;
}

#endif /* INC_CONF_OPEN_H */
