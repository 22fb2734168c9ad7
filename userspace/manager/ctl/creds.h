/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * How inc-amctl proves who it is.
 */
#ifndef INC_MANAGER_CTL_CREDS_H
#define INC_MANAGER_CTL_CREDS_H

#include <grpc/grpc_security.h>

grpc_channel_credentials *ctl_creds(const char *manager,
				    grpc_metadata *headers, size_t *n,
				    char *err, size_t err_len);
void ctl_explain(grpc_status_code status, char *err, size_t err_len);

#endif /* INC_MANAGER_CTL_CREDS_H */
