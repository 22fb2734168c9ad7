/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * A program's standard output.
 */
#ifndef INC_CONF_OUTPUT_H
#define INC_CONF_OUTPUT_H

#include <stdbool.h>

void inc_output_open(void);
bool inc_output_flush(void);
void inc_output_follow(void);
bool inc_output_end(const char *program);

#endif /* INC_CONF_OUTPUT_H */
