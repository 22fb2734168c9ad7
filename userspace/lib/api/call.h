/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_LIB_CALL_H
#define INC_LIB_CALL_H

#include <stddef.h>

#include "inc.h"

/**
 * struct inc_call - arguments of a collective
 * @coll: collective
 * @send: caller's data, or INC_IN_PLACE
 * @recv: buffer for the result, or INC_IN_PLACE
 * @count: elements of a block
 * @dtype: their type
 * @op: operation, if the collective reduces
 * @root: root rank, if the collective has one
 */
struct inc_call {
	enum inc_collective	coll;
	const void		*send;
	void			*recv;
	size_t			count;
	enum inc_dtype		dtype;
	enum inc_op		op;
	int			root;
};

int inc_call_start(struct inc_comm *comm, struct inc_call c,
		   struct inc_request **res);
int inc_call_init(struct inc_comm *comm, struct inc_call c,
		  struct inc_request **res);
int inc_call_again(struct inc_request *req);
void inc_call_renew(struct inc_request *req);
void inc_call_move(struct inc_comm *comm, struct inc_comm *from);
void inc_call_reap(struct inc_comm *comm);

/* request.c */
int inc_request_try(struct inc_request *req, int *done);

#endif /* INC_LIB_CALL_H */
