/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Streams to coordinators, by libinc-am.
 */
#ifndef INC_LIB_AM_H
#define INC_LIB_AM_H

#include "libinc-am.h"

const struct inc_am_ops *inc_am_load(char *err, size_t err_len);

#endif /* INC_LIB_AM_H */
