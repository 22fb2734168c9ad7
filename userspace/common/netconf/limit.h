/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Limits of messages that libnetconf2 reads. */
#ifndef INC_NETCONF_LIMIT_H
#define INC_NETCONF_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

void netconf_limit_set(size_t max);
void netconf_limit_last(size_t max);
bool netconf_limit_passed(void);
void netconf_limit_done(void);

#endif
