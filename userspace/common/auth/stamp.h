/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Whether a file has changed since it was read. Its time of modification is what
 * copies and backups set; that of its inode is the kernel's.
 */
#ifndef INC_AUTH_STAMP_H
#define INC_AUTH_STAMP_H

#include <stdbool.h>
#include <sys/stat.h>

/**
 * struct auth_stamp - a file at some time; zero: there was none
 * @time: when its inode changed last
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
 * inc_auth_changed() - ask whether a file is another one than before
 * @path: its name
 * @last: what it was; result: what it is
 *
 * To be called before the file is read: what changes while it is read is read again.
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
