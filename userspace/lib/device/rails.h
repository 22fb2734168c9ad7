/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_LIB_DEVICE_RAILS_H
#define INC_LIB_DEVICE_RAILS_H

#include <stdbool.h>
#include <stdint.h>

struct inc_dev;
struct inc_rdv_addr;

bool inc_rails_at(const char *list, unsigned int i, struct inc_rdv_addr *addr);
uint32_t inc_rails_reach(const struct inc_dev *first, const char *list);

#endif /* INC_LIB_DEVICE_RAILS_H */
