/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Changes of a file since it was read. Copies and backups set a file's mtime,
 * but only the kernel sets its ctime.
 */
#ifndef INC_AUTH_STAMP_H
#define INC_AUTH_STAMP_H

#include <stdbool.h>
#include <sys/stat.h>

/**
 * struct auth_stamp - state of a file; zero: it did not exist
 * @time: ctime
 * @size: bytes
 * @inode: inode
 * @dev: file system
 */
struct auth_stamp {
	struct timespec	time;
	off_t		size;
	ino_t		inode;
	dev_t		dev;
};

/**
 * inc_auth_changed() - ask whether a file has changed
 * @path: path
 * @last: state before; result: state now
 *
 * Call it before the file is read, to notice changes during the read.
 *
 * Return: true if so.
 */
static inline bool inc_auth_changed(const char *path, struct auth_stamp *last)
{
	struct auth_stamp now = { .size = 0 };
	struct stat st;

	if (!stat(path, &st))
		now = (struct auth_stamp) {
			st.st_ctim, st.st_size, st.st_ino, st.st_dev
		};
	if (now.time.tv_sec == last->time.tv_sec &&
	    now.time.tv_nsec == last->time.tv_nsec && now.size == last->size &&
	    now.inode == last->inode && now.dev == last->dev)
		return false;
	*last = now;
	return true;
}

#endif /* INC_AUTH_STAMP_H */
