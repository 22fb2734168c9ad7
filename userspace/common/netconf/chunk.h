/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Chunks whose size is not valid. */
#ifndef INC_NETCONF_CHUNK_H
#define INC_NETCONF_CHUNK_H

/* A manager's edit of 1,024 members is below 1 MiB. */
#define CHUNK_MAX	(16U << 20)

/* Servers: defined in the agent; clients: in limit.c. */
unsigned long chunk_refuse(void);
unsigned long chunk_most(void);

#endif
