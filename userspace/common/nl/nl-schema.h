/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The attributes of the family's objects, for those that convert the objects to
 * and from something else: netlink messages here, YANG data in the agent.
 */
#ifndef INC_NL_SCHEMA_H
#define INC_NL_SCHEMA_H

#include "common.h"
#include "nl.h"

enum field_type {
	FIELD_UINT8,
	FIELD_UINT16,
	FIELD_UINT32,
	FIELD_UINT,		/* 4 or 8 bytes on the wire, uint64_t here */
	FIELD_STRING,
	FIELD_ADDR,
	FIELD_STATS,		/* nest of FIELD_UINT, by attribute */
	FIELD_UINT16_LIST,	/* repeated; the count precedes the list */
};

/**
 * struct field - an attribute and where it lies in the object's struct
 * @name: as in the YNL spec
 * @attr: number
 * @type: type
 * @off: offset of the value
 * @size: its size
 */
struct field {
	const char	*name;
	uint16_t	attr;
	enum field_type	type;
	size_t		off;
	size_t		size;
};

/**
 * struct object - an attribute set of the family and its struct
 * @name: as in the YNL spec
 * @size: of the struct, which begins with its uint64_t has
 * @fields: attributes
 * @nfields: how many
 */
struct object {
	const char		*name;
	size_t			size;
	const struct field	*fields;
	size_t			nfields;
};

extern const struct object nl_switch, nl_tree, nl_member, nl_slot;

const struct field *nl_field(const struct object *obj, const char *name);
const char *nl_stat_name(const struct object *obj, const struct field *f,
			 unsigned int attr);

/**
 * nl_store() - store an unsigned integer
 * @dst: where
 * @size: bytes: 1, 2, 4 or 8
 * @v: value, which fits
 */
static inline void nl_store(void *dst, size_t size, uint64_t v)
{
	switch (size) {
	case 1:
		*(uint8_t *)dst = (uint8_t)v;
		break;
	case 2:
		*(uint16_t *)dst = (uint16_t)v;
		break;
	case 4:
		*(uint32_t *)dst = (uint32_t)v;
		break;
	default:
		*(uint64_t *)dst = v;
		break;
	}
}

#endif /* INC_NL_SCHEMA_H */
