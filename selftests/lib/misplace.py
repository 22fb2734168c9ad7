#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Have a switch see what it sees of a stock rxe that has lost its place.

    misplace.py DEV

Runs in the host of one rank of a job whose messages have several packets. An
rxe that has lost its place gives old packets new PSNs. libinc's messages avoid
that it does, so this sends a copy of the packet that has opened a message, with
the PSN of the one that has opened the next, of another slot. Ends when the
switch has refused it (NAK - invalid request)."""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "packets"))
# pylint: disable=wrong-import-position
import roce  # noqa: E402

ETH_P_ALL = 3
SO_RCVBUFFORCE = 33
ETHERNET = 14
PAUSE = 0.05            # between tries, in seconds
SECONDS = 20            # for all of them


class Host:
    """What passes a host's network device."""

    def __init__(self, dev):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                  socket.htons(ETH_P_ALL))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        self.sock.bind((dev, ETH_P_ALL))
        self.sock.settimeout(PAUSE)
        self.opened = None      # Ethernet header and packet
        self.quiet = 0

    def misplace(self, ether, packet):
        """@packet opens a message, as one before did."""
        before, self.opened = self.opened, packet
        now = time.monotonic()
        if not before or before.va == packet.va or now < self.quiet or \
                before.qpn != packet.qpn:
            return
        before = before.but(psn=packet.psn, crc=None)
        self.sock.send(ether + roce.build(before))
        self.quiet = now + PAUSE

    def refused(self):
        """Look at one packet."""
        try:
            frame, where = self.sock.recvfrom(65536)
        except socket.timeout:
            return False
        if where[1] not in (0x0800, 0x86dd):
            return False
        packet = roce.parse(frame[ETHERNET:])
        if not packet:
            return False
        if where[2] == socket.PACKET_OUTGOING and \
                packet.opcode == roce.WRITE_FIRST:
            self.misplace(frame[:ETHERNET], packet)
        return packet.opcode == roce.ACK and \
            packet.syndrome == roce.NAK_INVALID


def main():
    host = Host(sys.argv[1])
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if host.refused():
            return
    sys.exit("the switch has refused nothing")


main()
