// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Conversion between the family's attributes and structures.
 */
#include "common.h"

#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "nl-attr.h"

static const struct field *find_field(const struct object *obj,
				      unsigned int attr)
{
	size_t i;

	for (i = 0; i < obj->nfields; i++) {
		if (obj->fields[i].attr == attr)
			return &obj->fields[i];
	}
	return NULL;
}

/* Get the name of an attribute. Returns the name in the YNL spec, or NULL. */
const char *nl_attr_name(const struct object *obj, unsigned int attr)
{
	const struct field *f = find_field(obj, attr);

	return f ? f->name : NULL;
}

/* Find an attribute by its name. Returns the attribute, or NULL. */
const struct field *nl_field(const struct object *obj, const char *name)
{
	size_t i;

	for (i = 0; i < obj->nfields; i++) {
		if (!strcmp(obj->fields[i].name, name))
			return &obj->fields[i];
	}
	return NULL;
}

static int encode_list(struct nl_msg *msg, int attr, const uint16_t *list)
{
	uint16_t i, n = list[-1];
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		rc = nla_put_u16(msg, attr, list[i]);
	return rc;
}

static int encode_field(struct nl_msg *msg, const struct field *f,
			const char *src)
{
	const struct inc_nl_addr *addr;
	uint64_t v64;
	uint32_t v32;

	switch (f->type) {
	case FIELD_UINT8:
	case FIELD_UINT16:
	case FIELD_UINT32:
		return nla_put(msg, f->attr, (int)f->size, src);
	case FIELD_UINT:
		memcpy(&v64, src, sizeof(v64));
		v32 = (uint32_t)v64;
		if (v32 == v64)
			return nla_put_u32(msg, f->attr, v32);
		return nla_put_u64(msg, f->attr, v64);
	case FIELD_STRING:
		return nla_put_string(msg, f->attr, src);
	case FIELD_ADDR:
		addr = (const struct inc_nl_addr *)src;
		return nla_put(msg, f->attr, addr->len, addr->bytes);
	case FIELD_UINT16_LIST:
		return encode_list(msg, f->attr, (const uint16_t *)src);
	case FIELD_STATS:
		break;			/* not in requests */
	}
	return 0;
}

/*
 * Append the attributes that an object's "has" names. Returns 0 or an error
 * number of libnl.
 */
int nl_encode(struct nl_msg *msg, const struct object *obj, const void *src)
{
	uint64_t has;
	size_t i;

	memcpy(&has, src, sizeof(has));
	for (i = 0; i < obj->nfields; i++) {
		const struct field *f = &obj->fields[i];
		int rc;

		if (!((has >> f->attr) & 1))
			continue;
		rc = encode_field(msg, f, (const char *)src + f->off);
		if (rc)
			return rc;
	}
	return 0;
}

static uint64_t get_uint(const struct nlattr *a)
{
	uint32_t v32;
	uint64_t v64;

	if (nla_len(a) >= (int)sizeof(v64)) {
		memcpy(&v64, nla_data(a), sizeof(v64));
		return v64;
	}
	if (nla_len(a) >= (int)sizeof(v32)) {
		memcpy(&v32, nla_data(a), sizeof(v32));
		return v32;
	}
	return 0;
}

static void decode_stats(struct nlattr *nest, uint64_t *stats, size_t n)
{
	struct nlattr *a;
	int rem;

	nla_for_each_nested(a, nest, rem) {
		if ((size_t)nla_type(a) < n)
			stats[nla_type(a)] = get_uint(a);
	}
}

static void decode_list(const struct nlattr *a, uint16_t *count, size_t max)
{
	uint16_t *list = count + 1;

	if (nla_len(a) >= (int)sizeof(*list) && *count < max)
		memcpy(&list[(*count)++], nla_data(a), sizeof(*list));
}

static void decode_field(struct nlattr *a, const struct field *f, char *dst)
{
	struct inc_nl_addr *addr;
	uint64_t v64;

	switch (f->type) {
	case FIELD_UINT8:
	case FIELD_UINT16:
	case FIELD_UINT32:
		if (nla_len(a) >= (int)f->size)
			memcpy(dst, nla_data(a), f->size);
		break;
	case FIELD_UINT:
		v64 = get_uint(a);
		memcpy(dst, &v64, sizeof(v64));
		break;
	case FIELD_STRING:
		nla_strlcpy(dst, a, f->size);
		break;
	case FIELD_ADDR:
		addr = (struct inc_nl_addr *)dst;
		if (nla_len(a) == 4 || nla_len(a) == 16) {
			addr->len = (uint8_t)nla_len(a);
			memcpy(addr->bytes, nla_data(a), addr->len);
		}
		break;
	case FIELD_STATS:
		decode_stats(a, (uint64_t *)dst, f->size / sizeof(uint64_t));
		break;
	case FIELD_UINT16_LIST:
		decode_list(a, (uint16_t *)dst - 1,
			    f->size / sizeof(uint16_t));
		break;
	}
}

/* Read an object, skipping unknown attributes. */
void nl_decode_attrs(struct nlattr *head, int len, const struct object *obj,
		     void *dst)
{
	uint64_t has = 0;
	struct nlattr *a;
	int rem;

	nla_for_each_attr(a, head, len, rem) {
		const struct field *f = find_field(obj, nla_type(a));

		if (!f)
			continue;
		decode_field(a, f, (char *)dst + f->off);
		has |= 1ULL << f->attr;
	}
	memcpy(dst, &has, sizeof(has));
}

/* Read an object from a message, skipping unknown attributes. */
void nl_decode(struct nlmsghdr *nlh, const struct object *obj, void *dst)
{
	memset(dst, 0, obj->size);
	if (nlmsg_datalen(nlh) >= (int)GENL_HDRLEN)
		nl_decode_attrs(nlmsg_attrdata(nlh, GENL_HDRLEN),
				nlmsg_attrlen(nlh, GENL_HDRLEN), obj, dst);
}

/*
 * Get the name of an attribute of a new member. Returns the name, or NULL.
 * @nest: one of several new members in a request
 */
const char *nl_nested_name(struct nlattr *nest, const char *at)
{
	struct nlattr *a;
	int rem;

	if (nla_type(nest) != RDMA_INC_A_MEMBERS_MEMBER)
		return NULL;
	nla_for_each_nested(a, nest, rem) {
		if ((char *)a == at)
			return nl_attr_name(&nl_member, (unsigned int)nla_type(a));
	}
	return NULL;
}
