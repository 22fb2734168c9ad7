/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
#ifndef INC_MANAGER_AMCTL_H
#define INC_MANAGER_AMCTL_H

#include <stddef.h>
#include <stdint.h>

int amctl_call(const char *manager, const char *method, int timeout_ms,
	       const uint8_t *in, size_t in_len, uint8_t **out, size_t *out_len,
	       char *err, size_t err_len);

#endif /* INC_MANAGER_AMCTL_H */
