/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Arrays.
 */
#ifndef INC_CONF_ARRAY_H
#define INC_CONF_ARRAY_H

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* INC_CONF_ARRAY_H */
