// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Options of a communicator, from its creator and the environment, and error
 * messages of a creation.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/comm.h"
#include "device/cause.h"
#include "opts.h"

/* Report why a creation failed. Returns @ret. */
int inc_opts_error(const struct inc_comm_opts *o, int ret, const char *fmt, ...)
{
	struct inc_who who = { .rank = o->rank, .nranks = o->nranks };
	char text[INC_RDV_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(who.job, sizeof(who.job), "%s", o->job ? o->job : "");
	inc_err(&who, "%s", text);
	if (o->errbuf && o->errbuf_len)
		snprintf(o->errbuf, o->errbuf_len, "%s", text);
	return ret;
}

/* Report why a creation failed on this host. Returns @ret. */
int inc_opts_here(const struct inc_comm_opts *o, int ret, const char *text)
{
	return inc_opts_error(o, ret, "%s: %s", inc_cause_host(), text);
}

/* Read a number from the environment; if not set, @val is unchanged. */
static int env_num(const struct inc_comm_opts *o, const char *name,
		   unsigned long max, unsigned long *val)
{
	const char *text = getenv(name);
	unsigned long num;
	char *end;

	if (!text || !*text)
		return 0;
	errno = 0;
	num = strtoul(text, &end, 0);
	if (errno || *end || *text == '-' || num > max)
		return inc_opts_error(o, -EINVAL,
				      "%s=%s: must be a number, 0 ... %lu", name,
				      text, max);
	*val = num;
	return 0;
}

static int env_uint(const struct inc_comm_opts *o, const char *name,
		    unsigned int max, unsigned int *val)
{
	unsigned long num = *val;
	int ret = *val ? 0 : env_num(o, name, max, &num);

	*val = (unsigned int)num;
	return ret;
}

/* As env_num(), for settings where -1 means none. */
static int env_int(const struct inc_comm_opts *o, const char *name, int max,
		   int *val)
{
	unsigned long num = ULONG_MAX;
	int ret = *val >= 0 ? 0 : env_num(o, name, (unsigned long)max, &num);

	if (num != ULONG_MAX)
		*val = (int)num;
	return ret;
}

static void env_str(const char *name, const char **val)
{
	if (!*val || !**val)
		*val = getenv(name);
	if (*val && !**val)
		*val = NULL;
}

static int env_reg(struct inc_comm_opts *o)
{
	const char *text = getenv("INC_REG");

	if (o->reg != INC_REG_DEFAULT)
		return o->reg == INC_REG_EACH || o->reg == INC_REG_CACHE ? 0 :
		       inc_opts_error(o, -EINVAL, "registration mode %d", o->reg);
	o->reg = INC_REG_EACH;
	if (!text || !*text || !strcmp(text, "each"))
		return 0;
	if (strcmp(text, "cache"))
		return inc_opts_error(o, -EINVAL,
				      "INC_REG=%s: must be each or cache", text);
	o->reg = INC_REG_CACHE;
	return 0;
}

static int env_transport(struct inc_comm_opts *o)
{
	const char *text = getenv("INC_TRANSPORT");

	if (o->qp_type != INC_QP_DEFAULT)
		return o->qp_type == INC_QP_RC || o->qp_type == INC_QP_UC ? 0 :
		       inc_opts_error(o, -EINVAL, "queue pair type %d", o->qp_type);
	if (!text || !*text || !strcmp(text, "auto"))
		return 0;
	if (!strcmp(text, "rc"))
		o->qp_type = INC_QP_RC;
	else if (!strcmp(text, "uc"))
		o->qp_type = INC_QP_UC;
	else
		return inc_opts_error(o, -EINVAL, "INC_TRANSPORT=%s: must be auto, rc or uc",
				      text);
	return 0;
}

static int env_on_failure(struct inc_comm_opts *o)
{
	const char *text = getenv("INC_AM_ON_FAILURE");

	if (o->flags & INC_COMM_F_REBUILD || !text || !*text ||
	    !strcmp(text, "end"))
		return 0;
	if (strcmp(text, "rebuild"))
		return inc_opts_error(o, -EINVAL, "INC_AM_ON_FAILURE=%s: must be end or rebuild",
				      text);
	o->flags |= INC_COMM_F_REBUILD;
	return 0;
}

/* INC_AM_CONNECT applies to trees of a manager only. */
static int env_connect(struct inc_comm_opts *o)
{
	const char *text = getenv("INC_AM_CONNECT");

	if (o->flags & INC_COMM_F_CM || !text || !*text ||
	    !strcmp(text, "manager"))
		return 0;
	if (strcmp(text, "cm"))
		return inc_opts_error(o, -EINVAL, "INC_AM_CONNECT=%s: must be manager or cm",
				      text);
	if (o->am)
		o->flags |= INC_COMM_F_CM;
	return 0;
}

static int fill_from_env(struct inc_comm_opts *o)
{
	unsigned int port = o->port > 0 ? (unsigned int)o->port : 0;
	int ret;

	/* The caller's daemon takes precedence over INC_AM. */
	if (!o->server || !*o->server)
		env_str("INC_AM", &o->am);
	env_str("INC_SERVER", &o->server);
	env_str("INC_JOB", &o->job);
	env_str("INC_DEV", &o->dev);
	ret = env_int(o, "INC_RANK", UINT16_MAX, &o->rank);
	if (!ret)
		ret = env_int(o, "INC_NRANKS", UINT16_MAX, &o->nranks);
	if (!ret)
		ret = env_int(o, "INC_GID_INDEX", INT_MAX, &o->gid_index);
	if (!ret)
		ret = env_uint(o, "INC_IB_PORT", UINT8_MAX, &port);
	if (!ret)
		ret = env_uint(o, "INC_QP_TIMEOUT", 31, &o->qp_timeout);
	if (!ret)
		ret = env_uint(o, "INC_WINDOW", UINT16_MAX, &o->window);
	if (!ret)
		ret = env_uint(o, "INC_TIMEOUT_MS", INT_MAX, &o->timeout_ms);
	if (!ret)
		ret = env_uint(o, "INC_JOIN_TIMEOUT_MS", INT_MAX,
			       &o->join_timeout_ms);
	if (!ret)
		ret = env_uint(o, "INC_RETRIES", UINT16_MAX, &o->retries);
	if (!ret)
		ret = env_on_failure(o);
	if (!ret)
		ret = env_connect(o);
	if (!ret)
		ret = env_reg(o);
	if (!ret)
		ret = env_transport(o);
	o->port = (int)port;
	return ret;
}

static int check_opts(const struct inc_comm_opts *o)
{
	if (!o->server && !o->am)
		return inc_opts_error(o, -EINVAL, "no server (INC_SERVER), and no manager (INC_AM)");
	if (!o->job)
		return inc_opts_error(o, -EINVAL, "no name of the job (INC_JOB)");
	if (strlen(o->job) > INC_JOB_MAX)
		return inc_opts_error(o, -EINVAL,
				      "job \"%s\": longer than %d characters",
				      o->job, INC_JOB_MAX);
	if (o->nranks < 1)
		return inc_opts_error(o, -EINVAL,
				      "number of ranks is %d (INC_NRANKS)",
				      o->nranks);
	if (o->rank < 0 || o->rank >= o->nranks)
		return inc_opts_error(o, -EINVAL,
				      "INC_RANK is %d: of %d ranks (INC_NRANKS), the last is %d",
				      o->rank, o->nranks, o->nranks - 1);
	if (o->flags & ~(INC_COMM_F_PSN | INC_COMM_F_REBUILD | INC_COMM_F_CM) ||
	    o->tree.flags & ~INC_TREE_F_FIRST_MSG_ID)
		return inc_opts_error(o, -EINVAL,
				      "flags that libinc %s does not know",
				      inc_version());
	if (o->flags & INC_COMM_F_CM && !o->am)
		return inc_opts_error(o, -EINVAL, "RDMA CM needs an aggregation manager (INC_AM)");
	if (o->qp_timeout > 31)
		return inc_opts_error(o, -EINVAL, "QP timeout %u: must be 1 ... 31",
				      o->qp_timeout);
	return 0;
}

/*
 * Convert options to this library's version, with all defaults. Returns 0;
 * -EINVAL or -E2BIG after inc_opts_error().
 * @o: result; its strings are the caller's, or the environment's
 */
int inc_opts_take(struct inc_comm_opts *o, const struct inc_comm_opts *given,
		  bool env)
{
	const struct inc_comm_opts init = INC_COMM_OPTS_INIT;
	const char *extra = (const char *)given + sizeof(*o);
	size_t size = given->size, i;
	int ret;

	*o = init;
	if (size < offsetof(struct inc_comm_opts, tree))
		return -EINVAL;
	memcpy(o, given, size < sizeof(*o) ? size : sizeof(*o));
	o->size = sizeof(*o);
	for (i = sizeof(*o); i < size; i++, extra++)
		if (*extra)
			return inc_opts_error(o, -E2BIG,
					      "options of a newer libinc than %s",
					      inc_version());
	ret = env ? fill_from_env(o) : 0;
	if (!ret)
		ret = check_opts(o);
	if (!o->qp_timeout)
		o->qp_timeout = INC_QP_TIMEOUT_DEFAULT;
	if (!o->retries)
		o->retries = INC_RETRIES_DEFAULT;
	if (!o->timeout_ms)
		o->timeout_ms = INC_TIMEOUT_DEFAULT_MS;
	if (!o->join_timeout_ms)
		o->join_timeout_ms = o->timeout_ms;
	return ret;
}
