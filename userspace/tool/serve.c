// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * inc-tool serve: starts the coordinator, a program of its own, since only it
 * needs gRPC and TLS.
 */
#include "common.h"

#include <unistd.h>

#include "tool.h"

#define PROGRAM	"inc-serve"

/* Look beside this program, as in a build tree, then where it is installed. */
static void find_program(char *path, size_t len)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	snprintf(path, len, "%.*s/" PROGRAM,
		 (int)(n > 0 ? strrchr(self, '/') - self : 0), self);
	if (access(path, X_OK))
		snprintf(path, len, LIBEXECDIR "/" PROGRAM);
}

/*
 * Run inc-tool serve. Returns the exit status if it cannot be started.
 * @argv: arguments after the word "serve"
 */
int cmd_serve(int argc, char **argv)
{
	char **all = calloc((size_t)argc + 3, sizeof(*all));
	char path[4200];

	if (!all) {
		fprintf(stderr, "inc-tool: serve: no memory\n");
		return TOOL_FAILED;
	}
	/* inc-tool check and scripts find the daemon by these two words. */
	all[0] = (char *)"inc-tool";
	all[1] = (char *)"serve";
	memcpy(all + 2, argv, (size_t)argc * sizeof(*all));
	find_program(path, sizeof(path));
	execv(path, all);
	fprintf(stderr, "inc-tool: serve: %s: %s: it is installed with inc-tool, see install.rst\n",
		path, strerror(errno));
	free(all);
	return TOOL_FAILED;
}
