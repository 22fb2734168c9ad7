/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Descriptions of the attributes of the family's objects, for conversions to
 * and from other formats: netlink messages here, YANG data in the agent.
 */
#ifndef INC_NL_SCHEMA_H
#define INC_NL_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

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
 * struct field_text - the YNL spec's text on an attribute or a counter
 * @name: name
 * @doc: description
 */
struct field_text {
	const char	*name;
	const char	*doc;
};

/**
 * struct field - an attribute, and its place in the object's struct
 * @attr: number
 * @type: type
 * @off: offset of the value
 * @size: size of the value
 * @name: name in the YNL spec
 * @doc: description in the YNL spec
 * @stats: the counters of FIELD_STATS, by attribute
 */
struct field {
	uint16_t		attr;
	enum field_type		type;
	size_t			off;
	size_t			size;
	const char		*name;
	const char		*doc;
	const struct field_text	*stats;
};

/**
 * struct object - an attribute set of the family and its struct
 * @name: name in the YNL spec
 * @size: size of the struct, which begins with its uint64_t has
 * @fields: attributes
 * @nfields: number of attributes
 */
struct object {
	const char		*name;
	size_t			size;
	const struct field	*fields;
	size_t			nfields;
};

/**
 * nl_store() - store an unsigned integer
 * @dst: address
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

/**
 * nl_load() - read an unsigned integer
 * @src: address
 * @size: bytes: 1, 2, 4 or 8
 *
 * Return: the integer.
 */
static inline uint64_t nl_load(const void *src, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)src;
	case 2:
		return *(const uint16_t *)src;
	case 4:
		return *(const uint32_t *)src;
	default:
		return *(const uint64_t *)src;
	}
}

#endif /* INC_NL_SCHEMA_H */
