// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* The connection to the module, and error messages of failed requests. */
#include "common.h"

#include "conf/output.h"
#include "print.h"
#include "tool.h"

static struct inc_nl connection;
static bool connected;

/*
 * Get the connection to the kernel, opened by the first call. Returns NULL
 * after an error message.
 */
struct inc_nl *tool_nl(void)
{
	if (!connected) {
		if (inc_nl_open(&connection)) {
			tool_nl_fail(&connection);
			return NULL;
		}
		connected = true;
	}
	return &connection;
}

/* Report why a request failed. Returns TOOL_FAILED. */
int tool_nl_fail(const struct inc_nl *nl)
{
	size_t len = strlen(nl->error);

	pr_drop();
	inc_output_flush();
	if (nl->from_kernel)
		fprintf(stderr, "Error: %s%s\n", nl->error,
			len && nl->error[len - 1] == '.' ? "" : ".");
	else
		fprintf(stderr, "inc-tool: %s\n", nl->error);
	return TOOL_FAILED;
}

/* End the connection, if there is one. */
void tool_nl_close(void)
{
	if (connected)
		inc_nl_close(&connection);
}
