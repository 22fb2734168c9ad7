/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Faults on the way to a server, in words.
 */
#ifndef INC_HTTP2_FAULT_H
#define INC_HTTP2_FAULT_H

#include <stddef.h>

/**
 * enum fault - fault on the way to a server
 * @FAULT_NONE: none: the text is the server's answer
 * @FAULT_NO_HOST: the host's name is unknown
 * @FAULT_NO_SOCKET: there is no such UNIX socket
 * @FAULT_REFUSED: the connection is refused
 * @FAULT_NO_ROUTE: no answer by ARP or ND, or a router says so
 * @FAULT_NO_NETWORK: this host has no route
 * @FAULT_SILENT: no answer by TCP
 * @FAULT_SYSTEM: errno tells the fault
 * @FAULT_TLS: inc_tls_why() tells the fault
 * @FAULT_BARE: the server wants a certificate, and none was shown
 * @FAULT_LATE: the call's time is over
 * @FAULT_DEAD: no answer on an open connection
 * @FAULT_CUT: connection ended before the server sent anything
 * @FAULT_LOST: connection ended or broken later
 * @FAULT_STRANGER: another kind of server
 * @FAULT_NO_NAMES: no name server tells the host's address
 * @FAULT_UNTRIED: no time was left to try
 * @FAULT_NO_ADDRESS: malformed address
 * @FAULT_PATH: a path instead of a host
 */
enum fault {
	FAULT_NONE,
	FAULT_NO_HOST,
	FAULT_NO_SOCKET,
	FAULT_REFUSED,
	FAULT_NO_ROUTE,
	FAULT_NO_NETWORK,
	FAULT_SILENT,
	FAULT_SYSTEM,
	FAULT_TLS,
	FAULT_BARE,
	FAULT_LATE,
	FAULT_DEAD,
	FAULT_CUT,
	FAULT_LOST,
	FAULT_STRANGER,
	FAULT_NO_NAMES,
	FAULT_UNTRIED,
	FAULT_NO_ADDRESS,
	FAULT_PATH,
};

enum fault inc_fault_of(int err);
void inc_fault_words(enum fault fault, int err, const char *server, char *text,
		 size_t len);

#endif /* INC_HTTP2_FAULT_H */
