/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * gRPC server reflection: clients without the .proto files ask for their
 * contents.
 */
#ifndef INC_MANAGER_REFLECT_H
#define INC_MANAGER_REFLECT_H

#include <stddef.h>
#include <stdint.h>

int reflect_answer(const uint8_t *data, size_t len, uint8_t **out,
		   size_t *out_len);

#endif /* INC_MANAGER_REFLECT_H */
