/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Asks for silent hosts.
 */
#ifndef INC_AGENT_PROBE_H
#define INC_AGENT_PROBE_H

#include <stdint.h>

/* Most addresses of an operation, as in the YANG model. */
#define PROBE_MAX	64

/**
 * struct probe_addr - an IP address
 * @family: AF_INET or AF_INET6
 * @bytes: address
 */
struct probe_addr {
	int	family;
	uint8_t	bytes[16];
};

int probe_parse(const char *text, struct probe_addr *a);
int probe_ask(const struct probe_addr *addrs, unsigned int n);

#endif /* INC_AGENT_PROBE_H */
