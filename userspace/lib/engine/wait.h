/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Sleeps until results arrive.
 */
#ifndef INC_LIB_ENGINE_WAIT_H
#define INC_LIB_ENGINE_WAIT_H

#include "comm/comm.h"

bool inc_request_sleep(struct inc_request *req, int ms);

#endif /* INC_LIB_ENGINE_WAIT_H */
