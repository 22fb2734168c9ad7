/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Texts from others, which are logged and shown to people.
 */
#ifndef INC_CONF_TEXT_H
#define INC_CONF_TEXT_H

void text_clean(char *text);

#endif /* INC_CONF_TEXT_H */
