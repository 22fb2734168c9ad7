// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See name.h. The file has one line, and is replaced as a whole; without it, the
 * name is that of --id, or the host's.
 */
#include "name.h"

#include "agent.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/open.h"

/* The thread that talks with lldpd reads it, too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char path[4096];		/* empty: there is no place for it */
static char usual[AGENT_ID_LEN];

/* The name goes into XML, LLDP, and texts for operators. */
static bool is_good(const char *name)
{
	const char *p;

	for (p = name; *p > ' ' && *p <= '~'; p++)
		;
	return !*p && *name && p - name < AGENT_ID_LEN;
}

static int read_file(struct agent *a)
{
	const char *why;
	FILE *f = inc_open(path, &why);
	char line[AGENT_ID_LEN + 1] = "";

	if (!f && errno == ENOENT)
		return 0;
	if (f) {
		(void)!fgets(line, sizeof(line), f);
		fclose(f);
		line[strcspn(line, "\n")] = '\0';
		why = is_good(line) ? NULL :
		      "must be a line of 1 to 63 printable ASCII characters, without spaces";
	}
	if (why) {
		log_error("%s: %s", path, why);
		return -1;
	}
	memcpy(a->id, line, sizeof(a->id));
	if (strcmp(line, usual))
		log_info("this switch is %s, as a manager has named it, and not %s",
			 line, usual);
	return 0;
}

/*
 * Find the switch's name. Returns 0, or -1 after a message.
 * @id: name while no manager has set another; NULL: the host's
 * @dir: directory of the file that keeps it; NULL: no manager can set it
 */
int name_init(struct agent *a, const char *id, const char *dir)
{
	if (id)
		snprintf(usual, sizeof(usual), "%s", id);
	else if (gethostname(usual, sizeof(usual) - 1))
		snprintf(usual, sizeof(usual), "switch");
	snprintf(a->id, sizeof(a->id), "%s", usual);
	if (!is_good(usual)) {
		log_error("%s must be printable ASCII characters, without spaces",
			  id ? "--id" : "the host's name, or --id,");
		return -1;
	}
	if (!dir)
		return 0;
	snprintf(path, sizeof(path), "%s/id", dir);
	return read_file(a);
}

/* Get the name; @name has AGENT_ID_LEN bytes. */
void name_get(const struct agent *a, char *name)
{
	pthread_mutex_lock(&lock);
	memcpy(name, a->id, AGENT_ID_LEN);
	pthread_mutex_unlock(&lock);
}

/* Add the name to YANG data. Context: an operation. */
void name_add(const struct agent *a, struct lyd_node *identity)
{
	lyd_new_term(identity, NULL, "id", a->id, 0, NULL);
}

static int write_file(const char *name)
{
	char made[sizeof(path) + 4], line[AGENT_ID_LEN + 1];
	int len = snprintf(line, sizeof(line), "%s\n", name);
	int fd, err = 0;

	snprintf(made, sizeof(made), "%s.new", path);
	fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, line, (size_t)len) != len || fsync(fd))
		err = errno ? errno : EIO;
	if (fd >= 0)
		close(fd);
	if (!err && rename(made, path))
		err = errno;
	return err;
}

/*
 * Take the name that a configuration has; without one, that of --id again, which
 * needs no file.
 * Context: an operation. Returns 0; 1: it has changed; or -1 after filling in @f.
 * @sw: container "switch", or NULL
 * @busy: there are trees, whose groups know the switch by its name: it has to stay
 */
int name_apply(struct agent *a, const struct lyd_node *sw, bool busy,
	       struct fault *f)
{
	struct lyd_node *node = NULL;
	const char *name = usual;
	int err = 0;

	if (sw && !lyd_find_path(sw, "identity/id", 0, &node))
		name = lyd_get_value(node);
	if (!strcmp(name, a->id))
		return 0;
	if (busy)
		return fault_set(f, NC_ERR_IN_USE, node,
				 "this switch has trees, whose groups know it by its name");
	if (!path[0])
		return fault_set(f, NC_ERR_OP_NOT_SUPPORTED, node,
				 "this agent has no place to keep a name: it needs --state DIR");
	if (strcmp(name, usual))
		err = write_file(name);
	else if (unlink(path) && errno != ENOENT)
		err = errno;
	if (err)
		return fault_set(f, NC_ERR_OP_FAILED, node, "%s: %s", path,
				 strerror(err));
	log_info("this switch is %s from now on, and was %s", name, a->id);
	pthread_mutex_lock(&lock);
	snprintf(a->id, sizeof(a->id), "%s", name);
	pthread_mutex_unlock(&lock);
	return 1;
}
