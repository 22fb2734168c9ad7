/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * What can go wrong on the way to a server, in words.
 */
#ifndef INC_HTTP2_FAULT_H
#define INC_HTTP2_FAULT_H

#include <stddef.h>

/**
 * enum fault - what has gone wrong
 * @FAULT_NONE: nothing: what the server says is its answer
 * @FAULT_NO_HOST: its name is not known
 * @FAULT_NO_SOCKET: there is no such file
 * @FAULT_REFUSED: nobody listens
 * @FAULT_NO_ROUTE: no host answers ARP or ND, or a router says so
 * @FAULT_NO_NETWORK: this host has no route
 * @FAULT_SILENT: no answer of TCP's
 * @FAULT_SYSTEM: the system says what
 * @FAULT_TLS: TLS says what
 * @FAULT_BARE: TLS says that a certificate is wanted, and none was shown
 * @FAULT_LATE: the call's time is over
 * @FAULT_DEAD: no answer on a connection that is open
 * @FAULT_CUT: it has ended the connection before it said anything
 * @FAULT_LOST: it has ended the connection, or that is broken
 * @FAULT_STRANGER: it is another server
 * @FAULT_NO_NAMES: no name server tells its address
 * @FAULT_UNTRIED: there was no time for it
 * @FAULT_NO_ADDRESS: it is no address
 * @FAULT_PATH: it is a path, where a host is wanted
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
