/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Texts from others, which are logged and shown to people.
 */
#ifndef INC_CONF_TEXT_H
#define INC_CONF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void text_clean(char *text);
bool text_hex_take(const char *text, uint8_t *bytes, size_t n);
void text_hex_put(char *text, const uint8_t *bytes, size_t n);

#endif /* INC_CONF_TEXT_H */
