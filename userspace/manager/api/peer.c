// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Addresses that the manager accepts. The switch sends results to the address
 * that a rank names, so it must be the rank's own: its connection's, which TCP
 * has verified, or one that the operator permits in addition.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "api/peer.h"
#include "rpc/peer.h"

/*
 * Check the address that a rank names. Returns false if it is not accepted.
 * @allow: addresses that ranks may have besides their connections'
 * @len: size of @err in bytes
 */
bool addr_believed(const struct inc_rdv_network *allow, const char *peer,
		   const struct inc_rdv_addr *addr, char *err, size_t len)
{
	char is[INET6_ADDRSTRLEN], says[INET6_ADDRSTRLEN];
	const char *what = inc_rdv_addr_no_host(addr);
	struct inc_rdv_addr own = { 0 };
	bool known = addr_of_peer(peer, &own);

	inc_rdv_addr_str(addr, says, sizeof(says));
	if (what) {
		snprintf(err, len, "address %s is %s: it must be that of the queue pair's GID",
			 says, what);
		return false;
	}
	if ((known && inc_rdv_addr_same(addr, &own)) ||
	    inc_rdv_network_has(allow, addr))
		return true;
	snprintf(err, len, "address %s is not that of the connection, %s: use its device and GID (INC_DEV, INC_GID_INDEX), or start inc-amd with --allow %s",
		 says, known ? inc_rdv_addr_str(&own, is, sizeof(is)) : peer,
		 says);
	return false;
}
