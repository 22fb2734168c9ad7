/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Singly linked lists: short ones, or lists from which items are rarely
 * removed.
 */
#ifndef INC_CONF_LIST_H
#define INC_CONF_LIST_H

/**
 * list_remove() - take an item out of a list
 * @first: variable with the list's first item
 * @item: item, which may be in no list
 */
#define list_remove(first, item)					\
	do {								\
		__typeof__(first) *link_ = &(first);			\
									\
		while (*link_ && *link_ != (item))			\
			link_ = &(*link_)->next;			\
		if (*link_)						\
			*link_ = (*link_)->next;			\
	} while (0)

#endif /* INC_CONF_LIST_H */
