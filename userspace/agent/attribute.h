/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Unknown attributes in an edit.
 */
#ifndef INC_AGENT_ATTRIBUTE_H
#define INC_AGENT_ATTRIBUTE_H

struct fault;

int attribute_check(struct fault *f);

#endif /* INC_AGENT_ATTRIBUTE_H */
