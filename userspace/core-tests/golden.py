#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes kernel/core/tests/golden_kunit.h: packets built, and their ICRC
computed, by scapy.

    selftests/lab/lab exec -- userspace/core-tests/golden.py \\
        >kernel/core/tests/golden_kunit.h
"""
import logging

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import IP, IPv6, UDP, Raw, raw  # noqa: E402
from scapy.contrib.roce import AETH, BTH  # noqa: E402

WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST_IMM = 0x06, 0x07, 0x09
WRITE_ONLY, WRITE_ONLY_IMM, ACK = 0x0a, 0x0b, 0x11

EXT_LEN = {WRITE_FIRST: 16, WRITE_MIDDLE: 0, WRITE_LAST_IMM: 4,
           WRITE_ONLY: 16, WRITE_ONLY_IMM: 20, ACK: 4}


def reth(va, rkey, dmalen):
    return (va.to_bytes(8, "big") + rkey.to_bytes(4, "big") +
            dmalen.to_bytes(4, "big"))


def imm(x):
    return x.to_bytes(4, "big")


def data(n, start=1):
    return bytes((start + 7 * i) & 0xff for i in range(n))


V4 = IP(src="10.0.0.1", dst="10.0.0.254", id=0x1234, flags="DF", ttl=64)
V4B = IP(src="192.168.17.5", dst="172.16.254.3", id=0xfffe, ttl=1, tos=0xb9)
V6 = IPv6(src="fd00::1", dst="fd00::feed:5", hlim=64)
V6B = IPv6(src="2001:db8::dead:beef", dst="fe80::1:2:3:4", hlim=1, tc=0xb9,
           fl=0xabcde)


def pkt(ip, opcode, ext=b"", payload=b"", sport=0xc000, chksum=None, **bth):
    pad = -len(payload) & 3
    bth = BTH(opcode=opcode, padcount=pad, migreq=1, **bth)
    if opcode == ACK:
        body = AETH(syndrome=ext[0], msn=int.from_bytes(ext[1:], "big"))
    else:
        body = Raw(ext + payload + bytes(pad))
    p = ip / UDP(sport=sport, dport=4791, chksum=chksum) / bth / body
    return raw(p), len(raw(ip)), 12 + EXT_LEN[opcode], len(payload), pad


PACKETS = [
    ("v4_only_imm", pkt(V4, WRITE_ONLY_IMM,
                        reth(0x1122334455667788, 0x99aabbcc, 64) +
                        imm(0x00abcdef),
                        data(64), dqpn=0x800001, psn=0x123456, ackreq=1,
                        solicited=1)),
    ("v4_first",
     pkt(V4, WRITE_FIRST, reth(0x10000, 0x01020304, 700), data(256, 3),
                     dqpn=0xbfffff, psn=0xffffff)),
    ("v4_middle",
     pkt(V4, WRITE_MIDDLE, b"", data(256, 5), dqpn=0xbfffff, psn=0)),
    ("v4_last_imm", pkt(V4, WRITE_LAST_IMM, imm(0x01000007), data(188, 9),
                        dqpn=0xbfffff, psn=1, ackreq=1)),
    ("v4_pad1", pkt(V4B, WRITE_ONLY, reth(2**64 - 3, 0xffffffff, 3), data(3),
                    dqpn=17, psn=0x7fffff, pkey=0x8001, fecn=1)),
    ("v4_pad2",
     pkt(V4B, WRITE_ONLY, reth(1, 2, 6), data(6), dqpn=0x11, psn=0x800000,
                    becn=1, chksum=0)),
    ("v4_pad3",
     pkt(V4B, WRITE_ONLY, reth(1, 2, 1), data(1), dqpn=0x11, psn=0x800001)),
    ("v4_empty", pkt(V4, WRITE_ONLY_IMM, reth(0, 0, 0) + imm(0x10000005), b"",
                     dqpn=0x11, psn=2, solicited=1)),
    ("v4_ack", pkt(V4, ACK, bytes([0x1f, 0, 0, 5]), dqpn=0x11, psn=0xfffffe)),
    ("v4_nak",
     pkt(V4B, ACK, bytes([0x60, 0xff, 0xff, 0xff]), dqpn=0xfffff0, psn=3)),
    ("v6_only_imm", pkt(V6, WRITE_ONLY_IMM,
                        reth(0x1122334455667788, 0x99aabbcc, 64) +
                        imm(0x00abcdef),
                        data(64), dqpn=0x800001, psn=0x123456, ackreq=1,
                        solicited=1)),
    ("v6_first",
     pkt(V6B, WRITE_FIRST, reth(0x10000, 0x01020304, 700), data(256, 3),
                     dqpn=0xbfffff, psn=0xffffff, fecn=1, becn=1)),
    ("v6_pad3", pkt(V6B, WRITE_ONLY, reth(1, 2, 5), data(5), dqpn=0x11, psn=9)),
    ("v6_ack",
     pkt(V6, ACK, bytes([0x2e, 0x12, 0x34, 0x56]), dqpn=0x11, psn=0xfffffe)),
]


def array(name, b):
    print("static const u8 golden_%s[] = {" % name)
    for i in range(0, len(b), 12):
        print("\t" + ", ".join("0x%02x" % x for x in b[i:i + 12]) + ",")
    print("};\n")


print("""/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets from their IP header to their ICRC. Do not edit: made by scapy's
 * contrib/roce, see userspace/core-tests/golden.py.
 */
#ifndef _INC_GOLDEN_KUNIT_H
#define _INC_GOLDEN_KUNIT_H

#include <linux/types.h>
""")
for name, p in PACKETS:
    array(name, p[0])
print("""/* Lengths: all of it, IP header, BTH and extended headers, payload, pad. */
struct golden {
	const char	*name;
	const u8	*pkt;
	u16		len;
	u16		ip_len;
	u16		hdr_len;
	u16		payload_len;
	u8		pad;
};

static const struct golden golden[] = {""")
for name, (b, ip_len, hdr_len, payload_len, pad) in PACKETS:
    assert len(b) == ip_len + 8 + hdr_len + payload_len + pad + 4, name
    print('\t{ "%s", golden_%s, %d, %d, %d, %d, %d },' %
          (name, name, len(b), ip_len, hdr_len, payload_len, pad))
print("""};

#endif /* _INC_GOLDEN_KUNIT_H */""")
