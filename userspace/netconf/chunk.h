/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* What becomes of a chunk whose size is not valid. */
#ifndef INC_NETCONF_CHUNK_H
#define INC_NETCONF_CHUNK_H

/* A server's is in the agent, a client's in limit.c. */
unsigned long chunk_refuse(void);

#endif
