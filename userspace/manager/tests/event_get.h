/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_MANAGER_TESTS_EVENT_GET_H
#define INC_MANAGER_TESTS_EVENT_GET_H

#include "base/event.h"

/* The event of a number; NULL: it has been forgotten, or does not exist yet. */
static inline const struct event *event_get(const struct events *e, uint64_t seq)
{
	const struct event *ev = event_from(e, seq);

	return ev && ev->seq == seq ? ev : NULL;
}

#endif /* INC_MANAGER_TESTS_EVENT_GET_H */
