// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * See policy.h.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/array.h"
#include "conf/conf.h"
#include "tenant/policy.h"

enum {
	OPT_TENANT = LIMITS,
	OPT_ALL_GROUPS,
	OPT_ALL_RANKS,
	OPT_PRIORITY,
	OPT_REQUIRE_KEY,
	OPT_PRIORITY_CLASS,
	OPT_VLAN,
};

static const struct option lines[] = {
	{ "groups",		required_argument,	NULL, LIMIT_GROUPS },
	{ "ranks",		required_argument,	NULL, LIMIT_RANKS },
	{ "min-ranks",		required_argument,	NULL, LIMIT_MIN_RANKS },
	{ "max-ranks",		required_argument,	NULL, LIMIT_MAX_RANKS },
	{ "switch-trees",	required_argument,	NULL,
	  LIMIT_SWITCH_TREES },
	{ "switch-slots",	required_argument,	NULL,
	  LIMIT_SWITCH_SLOTS },
	{ "tenant",		required_argument,	NULL, OPT_TENANT },
	{ "all-groups",		required_argument,	NULL, OPT_ALL_GROUPS },
	{ "all-ranks",		required_argument,	NULL, OPT_ALL_RANKS },
	{ "priority",		required_argument,	NULL, OPT_PRIORITY },
	{ "require-key",	required_argument,	NULL,
	  OPT_REQUIRE_KEY },
	{ "priority-class",	required_argument,	NULL,
	  OPT_PRIORITY_CLASS },
	{ "vlan",		required_argument,	NULL, OPT_VLAN },
	{ NULL, 0, NULL, 0 }
};

static const struct limits unlimited = {
	.max = {
		[LIMIT_GROUPS]		= POLICY_NO_LIMIT,
		[LIMIT_RANKS]		= POLICY_NO_LIMIT,
		[LIMIT_MAX_RANKS]	= POLICY_NO_LIMIT,
		[LIMIT_SWITCH_TREES]	= POLICY_NO_LIMIT,
		[LIMIT_SWITCH_SLOTS]	= POLICY_NO_LIMIT,
	},
};

/**
 * struct section - a tenant's lines
 * @name: tenant, "*" or "-"
 * @limits: limits
 */
struct section {
	char		name[IDENTITY_LEN];
	struct limits	limits;
};

/**
 * struct policy - content of a file
 * @all: limits of all tenants together
 * @others: limits of tenants that are not named
 * @n: number of sections
 * @list: sections
 * @now: while it is read: the limits that lines set; NULL: none yet
 * @set: limits of @now that were set, a bit each
 * @all_set: the same for @all
 * @err: buffer for error messages
 * @err_len: its size in bytes
 */
struct policy {
	struct limits	all;
	struct limits	others;
	size_t		n;
	struct section	*list;
	struct limits	*now;
	uint32_t	set;
	uint32_t	all_set;
	char		*err;
	size_t		err_len;
};

/*
 * Make a policy without limits. Returns the policy, for policy_free(), or NULL.
 */
struct policy *policy_new(void)
{
	struct policy *p = calloc(1, sizeof(*p));

	if (p) {
		p->all = unlimited;
		p->others = unlimited;
	}
	return p;
}

static int set_error(const struct policy *p, const char *what)
{
	snprintf(p->err, p->err_len, "%s", what);
	return -1;
}

static const struct section *find_section(const struct policy *p,
					  const char *name)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (!strcmp(p->list[i].name, name))
			return &p->list[i];
	return NULL;
}

static int take_tenant(struct policy *p, const char *name)
{
	struct identity id;
	char why[160];

	if (identity_set(&id, name, name, "client", why, sizeof(why)))
		return set_error(p, why);
	if (find_section(p, name))
		return set_error(p, "this tenant is there already");
	if (p->n == POLICY_TENANTS_MAX)
		return set_error(p, "there are too many tenants; \"tenant = *\" stands for all that are not named");
	if (!ARRAY_ROOM(p->list, p->n))
		return set_error(p, "no memory");
	snprintf(p->list[p->n].name, sizeof(p->list[p->n].name), "%s", name);
	p->list[p->n].limits = unlimited;
	p->now = &p->list[p->n++].limits;
	p->set = 0;
	return 0;
}

static bool read_number(const char *text, uint32_t *value)
{
	unsigned long num;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	num = strtoul(text, &end, 10);
	*value = (uint32_t)num;
	return !errno && !*end && num < POLICY_NO_LIMIT;
}

/* Refuse a second line for the same limit: it is unclear which one counts. */
static int note_set(const struct policy *p, uint32_t *set, int opt)
{
	if (*set & 1U << opt)
		return set_error(p, set == &p->all_set ?
				 "this was set before" :
				 "this was set before for the same tenant");
	*set |= 1U << opt;
	return 0;
}

static int take_priority(const struct policy *p, struct limits *to,
			 uint32_t value)
{
	if (value > POLICY_PRIORITY_MAX)
		return set_error(p, "a priority is a number, 0 to 1000");
	to->priority = value;
	return 0;
}

/* Returns false if @text is neither "yes" nor "no". */
static bool read_word(const char *text, uint32_t *value)
{
	*value = !strcmp(text, "yes");
	return *value || !strcmp(text, "no");
}

static int take_class(const struct policy *p, struct limits *to, uint32_t value)
{
	if (value > POLICY_CLASS_MAX)
		return set_error(p, "a priority-class is a number, 0 to 15");
	to->priority_class = value;
	return 0;
}

static int take_vlan(const struct policy *p, struct limits *to, uint32_t value)
{
	if (!value || value > POLICY_VLAN_MAX)
		return set_error(p, "a vlan is a number, 1 to 4094");
	to->vlan = (uint16_t)value;
	return 0;
}

/* Take a line that is no limit of an amount. */
static int take_setting(const struct policy *p, struct limits *to, int opt,
			uint32_t value)
{
	switch (opt) {
	case OPT_REQUIRE_KEY:
		to->require_key = value;
		return 0;
	case OPT_PRIORITY:
		return take_priority(p, to, value);
	case OPT_PRIORITY_CLASS:
		return take_class(p, to, value);
	default:
		return take_vlan(p, to, value);
	}
}

static int take_option(void *ctx, int opt, char *text)
{
	struct policy *p = ctx;
	struct limits *to = p->now;
	uint32_t *set = &p->set, value;

	if (opt == OPT_TENANT)
		return take_tenant(p, text);
	if (opt == OPT_REQUIRE_KEY && !read_word(text, &value))
		return set_error(p, "this must be yes or no");
	if (opt != OPT_REQUIRE_KEY && !read_number(text, &value))
		return set_error(p, "this must be a number, 0 to 4294967294");
	if (opt == OPT_ALL_GROUPS || opt == OPT_ALL_RANKS) {
		opt = opt == OPT_ALL_GROUPS ? LIMIT_GROUPS : LIMIT_RANKS;
		to = &p->all;
		set = &p->all_set;
	}
	if (!to)
		return set_error(p, "whose limit is this? A line \"tenant = NAME\" must come first");
	if (note_set(p, set, opt))
		return -1;
	if (opt >= LIMITS)
		return take_setting(p, to, opt, value);
	to->max[opt] = value;
	if (to->max[LIMIT_MIN_RANKS] > to->max[LIMIT_MAX_RANKS])
		return set_error(p,
				 "min-ranks must not be more than max-ranks");
	return 0;
}

/* End the reading of a policy, which is freed unless @ret is 0. */
static struct policy *finish_policy(struct policy *p, int ret)
{
	const struct section *others;

	p->err = NULL;
	p->now = NULL;
	if (ret) {
		policy_free(p);
		return NULL;
	}
	others = find_section(p, "*");
	if (others)
		p->others = others->limits;
	return p;
}

static struct policy *begin_policy(struct conf *conf, char *err, size_t err_len)
{
	struct policy *p = policy_new();

	if (!p) {
		snprintf(err, err_len, "no memory");
		return NULL;
	}
	p->err = err;
	p->err_len = err_len;
	*conf = (struct conf) {
		.prog		= "inc-amd",
		.options	= lines,
		.take		= take_option,
		.ctx		= p,
		.err		= err,
		.err_len	= err_len,
	};
	return p;
}

/*
 * Read a policy from an open file. Returns the policy, for policy_free(), or
 * NULL.
 * @err_len: size of @err in bytes
 */
struct policy *policy_stream(FILE *f, const char *path, char *err,
			     size_t err_len)
{
	struct policy *p;
	struct conf conf;

	p = begin_policy(&conf, err, err_len);
	return p ? finish_policy(p, conf_stream(&conf, f, path)) : NULL;
}

/*
 * Read a policy. Returns the policy, for policy_free(), or NULL.
 * @err_len: size of @err in bytes
 */
struct policy *policy_read(const char *path, char *err, size_t err_len)
{
	struct policy *p;
	struct conf conf;

	p = begin_policy(&conf, err, err_len);
	return p ? finish_policy(p, conf_read(&conf, path)) : NULL;
}

/* Free a policy. */
void policy_free(struct policy *p)
{
	if (p)
		free(p->list);
	free(p);
}

/* Get a tenant's limits. Returns the limits, valid as long as the policy. */
const struct limits *policy_of(const struct policy *p, const char *tenant)
{
	const struct section *s = find_section(p, *tenant ? tenant : "-");

	return s ? &s->limits : &p->others;
}

/*
 * Get the limits of all tenants together. Returns the limits, valid as long as
 * the policy.
 */
const struct limits *policy_of_all(const struct policy *p)
{
	return &p->all;
}

/*
 * Get the name of a tenant in the file. Returns the name, also "*" and "-", or
 * NULL after the last one.
 */
const char *policy_tenant(const struct policy *p, size_t i)
{
	return i < p->n ? p->list[i].name : NULL;
}

/* Get the name of a limit, as the file has it. */
const char *limit_name(enum policy_limit limit)
{
	return lines[limit].name;
}
