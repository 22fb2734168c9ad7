#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A scripted responder for place.sh, at 10.1.0.2: it takes the RDMA WRITEs of
one RC QP at 10.1.0.1 and stays silent until the requester has gone back. Then
it acknowledges the last PSN of the first message in the middle of that
message's retransmission, and is silent again for a while, as if what follows
had been lost. All of this a responder may do.

    resp.py CASE PACKETS    CASE: timeout, alone or rnr; PACKETS of a message

The number of the requester's QP comes on standard input. The last line is the
verdict: "place lost", "place kept" or "nothing seen"."""
import select
import socket
import struct
import sys
import time
import zlib

HERE, THERE, PORT = "10.1.0.2", "10.1.0.1", 4791
ACK, ACK_SYNDROME, RNR_82_MS = 17, 0x1f, 0x20 | 25
FIRST, MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM = range(6, 12)
NAMES = {FIRST: "FIRST", LAST: "LAST", LAST_IMM: "LAST with Immediate",
         ONLY: "ONLY", ONLY_IMM: "ONLY with Immediate"}
SILENCE = 1.3           # seconds, several timeouts of the requester
END = 5.5


def icrc(ip, udp):
    """Annex A17.3.1: fields that change on the way count as ones."""
    ip, udp = bytearray(ip), bytearray(udp)
    ip[1] = ip[8] = ip[10] = ip[11] = 0xff
    udp[6] = udp[7] = udp[12] = 0xff
    return zlib.crc32(bytes(udp),
                      zlib.crc32(bytes(ip), zlib.crc32(b"\xff" * 8)))


class Responder:
    def __init__(self, case, packets):
        self.case = case
        self.last = packets - 1
        self.start = self.at = time.monotonic()
        self.clock = 0                  # of a machine that never stands still
        self.silent_until = 0
        self.highest = -1
        self.acked_last = False         # the ACK in the middle was sent
        self.again = 0                  # LAST came so often since then
        self.lost = False
        self.ident = 0
        self.rx = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.rx.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.rx.bind((HERE, PORT))
        self.tx = socket.socket(socket.AF_INET, socket.SOCK_RAW,
                                socket.IPPROTO_RAW)
        print("ready", flush=True)
        self.qpn = int(sys.stdin.readline())

    def say(self, text):
        print("%.3f %s" % (time.monotonic() - self.start, text), flush=True)

    def answer(self, psn, syndrome, what):
        self.ident += 1
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 48, self.ident, 0x4000, 64,
                         socket.IPPROTO_UDP, 0, socket.inet_aton(HERE),
                         socket.inet_aton(THERE))
        udp = struct.pack("!HHHHBBHIII", PORT, PORT, 28, 0, ACK, 0, 0xffff,
                          self.qpn, psn, syndrome << 24)
        self.tx.sendto(ip + udp + struct.pack("<I", icrc(ip, udp)), (THERE, 0))
        self.say("-> PSN %d, %s" % (psn, what))

    def acknowledge_too_soon(self):
        """The requester has begun to send the first message again."""
        if self.case == "rnr":
            self.answer(0, RNR_82_MS, "RNR NAK, 82 ms")
        self.answer(self.last, ACK_SYNDROME,
                    "ACK, while the first message is sent again")
        self.acked_last = True
        self.silent_until = self.clock + SILENCE

    def packet(self, data):
        op, psn = data[0], struct.unpack("!I", data[8:12])[0] & 0xffffff
        head = 12 + 16 * (op in (FIRST, ONLY, ONLY_IMM)) + \
            4 * (op in (LAST_IMM, ONLY_IMM))
        payload = len(data) - head - 4
        if op != MIDDLE:
            self.say("PSN %d, %s, %d bytes" % (psn, NAMES.get(op, op),
                                               payload))
        if not self.acked_last:
            if psn == 0 and self.highest >= self.last:
                self.acknowledge_too_soon()
            self.highest = max(self.highest, psn)
            return
        self.again += psn == self.last
        if op in (ONLY, ONLY_IMM) and not payload and psn == self.last + 1:
            self.say("*** the rest of the first message, at a new PSN")
            self.lost = True
        if op in NAMES and op != FIRST and self.clock > self.silent_until:
            self.answer(psn, ACK_SYNDROME, "ACK")

    def tick(self):
        """Where it stands still, the requester has no timeout, either."""
        at = time.monotonic()
        self.clock += min(at - self.at, 0.25)
        self.at = at

    def run(self):
        # What came before it was told whom to answer is over.
        while select.select([self.rx], [], [], 0)[0]:
            self.rx.recv(9000)
        self.clock, self.at = 0, time.monotonic()
        while self.clock < END:
            self.tick()
            if select.select([self.rx], [], [], 0.2)[0]:
                self.packet(self.rx.recvfrom(9000)[0])

    def verdict(self):
        if not self.acked_last:
            return "nothing seen"
        # Sent once as part of the retransmission; that one stays unanswered.
        if self.lost or self.again < 2:
            return "place lost"
        return "place kept"


def main():
    responder = Responder(sys.argv[1], int(sys.argv[2]))
    responder.run()
    print(responder.verdict())


main()
