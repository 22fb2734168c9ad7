/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Values of an agent's data. */
#ifndef INC_MANAGER_YANG_H
#define INC_MANAGER_YANG_H

#include <stdint.h>

#include <libyang/libyang.h>

const struct lyd_node *yang_child(const struct lyd_node *node,
				  const char *name);
const char *yang_text(const struct lyd_node *node, const char *name);
uint64_t yang_number(const struct lyd_node *node, const char *name);
uint32_t yang_bits(const struct lyd_node *node, const char *name);
unsigned int yang_count(const struct lyd_node *node, const char *name);

#endif /* INC_MANAGER_YANG_H */
