# SPDX-License-Identifier: GPL-2.0
"""Receive border: what must be dropped, by which counter, and what must not.

Each case is a request of rank 0, damaged or odd. A dropped one changes
nothing: no answer, and the same request, good, is then taken.
"""
import struct

import counters
import peer
import roce
from ktap import check, expect, test
from net import CsumPort, RingPort
from roce import build, fix_ip, udp_offset


def port_of(out):
    """Who has sent one request from a port sends all others from it."""
    if isinstance(out, bytes):
        return struct.unpack_from("!H", out, udp_offset(out))[0]
    return getattr(out, "sport", 0xd001)


def try_packets(lab, t, make, counter, count=1):
    """@make turns a good Pkt into IP packets; @counter None: accepted."""
    a, b = t.m[0], t.m[1]
    # A deferred acknowledgment belongs to earlier packets.
    lab.quiet()
    for m in t.m:
        m.acks.clear()
    msg_id = t.take_id()
    good, = a.request(msg_id, peer.ints([1, 2, 3]))
    with counters.switch(lab, **({counter: count} if counter else {})):
        with counters.member(a, rx_packets=0 if counter else 1):
            out = make(good)
            a.send(*(out if isinstance(out, list) else [out]))
            if not counter:
                a.sport = port_of(out)
    if counter:
        expect("answers to a dropped packet", len(a.acks), 0)
        a.send(good)
    check(lab.until(lambda: a.acks), "no acknowledgement")
    expect("syndrome", a.acks[0].syndrome, roce.SYN_ACK)
    expect("PSN of the acknowledgement", a.acks[0].psn, good.psn)
    b.allreduce(msg_id, [10, 20, 30])
    t.check(msg_id, [11, 22, 33])
    t.good()


def cut(n):
    """Only @n bytes of UDP and what follows, lengths to match."""
    def make(p):
        raw = build(p)
        off = udp_offset(raw)
        udp = raw[off:off + 4] + struct.pack("!H", n) + raw[off + 6:off + n]
        return set_len(raw[:off] + udp)
    return make


def cut_checked(n, p):
    raw = cut(n)(p)
    off = udp_offset(raw)
    udp = raw[off:off + 6] + b"\0\0" + raw[off + 8:]
    return raw[:off + 6] + struct.pack(
        "!H", roce.udp_checksum(p.src, p.dst, udp)) + udp[8:]


def set_len(raw):
    if raw[0] >> 4 == 4:
        return fix_ip(raw[:2] + struct.pack("!H", len(raw)) + raw[4:])
    return raw[:4] + struct.pack("!H", len(raw) - 40) + raw[6:]


def field(**kw):
    return lambda p: p.but(**kw)


def udp_len(diff):
    def make(p):
        raw = build(p)
        off = udp_offset(raw)
        was, = struct.unpack_from("!H", raw, off + 4)
        new = struct.pack("!H", was + diff if diff > -100 else -diff - 100)
        return raw[:off + 4] + new + raw[off + 6:]
    return make


def flip(offset, bits=1, start="bth"):
    """A bit changes on the way, long after the ICRC was made."""
    def make(p):
        raw = bytearray(build(p))
        at = offset + {"ip": 0, "udp": udp_offset(raw),
                       "bth": udp_offset(raw) + 8, "end": len(raw)}[start]
        raw[at] ^= bits
        return fix_ip(bytes(raw))
    return make


def checksum_ffff(p):
    """A datagram whose checksum computes to 0, which is sent as 0xffff."""
    # One byte is in the checksum but not in the ICRC: BECN and its neighbours.
    for sport in range(0xc000, 0xffff):
        raw = bytearray(build(p.but(sport=sport, udp_check="right")))
        off = udp_offset(raw)
        check_, = struct.unpack_from("!H", raw, off + 6)
        if check_ & 0xff == 0:
            raw[off + 12] = check_ >> 8
            raw[off + 6:off + 8] = b"\xff\xff"
            return bytes(raw)
    raise AssertionError("no such packet found")


DROPPED = {
    "UDP length 4 longer than the packet": (udp_len(4), "rx_short"),
    "UDP length 65535": (udp_len(-100 - 65535), "rx_short"),
    "UDP length 4 shorter": (udp_len(-4), "rx_icrc"),
    "UDP length 7": (udp_len(-107), "rx_short"),
    "UDP length 0": (udp_len(-100), "rx_short"),
    "UDP length 8": (udp_len(-108), "rx_short"),
    "UDP length ends in the BTH": (udp_len(-100 - 18), "rx_short"),
    "UDP length ends behind the BTH": (udp_len(-100 - 20), "rx_short"),
    "UDP length ends in the RETH": (udp_len(-100 - 34), "rx_short"),
    "packet ends in the BTH": (cut(16), "rx_short"),
    "packet ends behind the BTH": (cut(20), "rx_short"),
    "packet ends in the RETH": (cut(30), "rx_short"),
    "packet ends in the Immediate": (cut(38), "rx_short"),
    "packet ends in the ICRC": (cut(43), "rx_short"),
    "pad longer than the payload": (
        lambda p: p.but(payload=b"", pad=3, pad_bytes=b""), "rx_short"),
    "wrong UDP checksum": (field(udp_check="wrong"), "rx_udp_checksum"),
    "wrong ICRC": (flip(-1, start="end"), "rx_icrc"),
    "ICRC 0": (field(crc=0), "rx_icrc"),
    "payload changed": (flip(40, 0x80), "rx_icrc"),
    "last byte before the ICRC changed": (flip(-5, start="end"), "rx_icrc"),
    "UDP source port changed": (flip(1, start="udp"), "rx_icrc"),
    "reserved byte beside the PSN changed": (flip(8, 1), "rx_icrc"),
    "solicited event bit changed": (flip(1, 0x80), "rx_icrc"),
    "PSN changed": (flip(11, 1), "rx_icrc"),
    "transport version 1": (field(tver=1), "rx_bth"),
    "transport version 15": (field(tver=15), "rx_bth"),
    "P_Key of another partition": (field(pkey=0x8001), "rx_pkey"),
    "P_Key 0": (field(pkey=0), "rx_pkey"),
    "unknown QPN": (lambda p: p.but(qpn=p.qpn ^ 0x155555), "rx_no_qp"),
    "first QPN of the range": (lambda p: p.but(
        qpn=0x800000 if p.qpn != 0x800000 else 0x800fff), "rx_no_qp"),
    "last QPN of the range": (field(qpn=0xbfffff), "rx_no_qp"),
}
for _op in (0x0d, 0x0e, 0x0f, 0x10, 0x12, 0x15, 0x18, 0x1f, 0x20, 0x2b, 0x40,
            0x4b, 0x64, 0x65, 0x82, 0xa0, 0xff):
    DROPPED["opcode %#04x" % _op] = (field(opcode=_op), "rx_opcode")


@test("dropped", cases=DROPPED)
def dropped(lab, family, make, counter):
    with lab.tree(family=family) as t:
        try_packets(lab, t, make, counter)


@test("dropped: IPv4 options", families=(4,), cases={
    "NOP": (b"\1\1\1\1",), "record route": (b"\7\7\4" + bytes(5),)})
def options4(lab, family, opt):
    with lab.tree(family=family) as t:
        try_packets(lab, t, field(options=opt), "rx_ip_options")


@test("dropped: IPv6 extension header", families=(6,), cases={
    "destination options": (60,), "hop-by-hop options": (0,)})
def options6(lab, family, kind):
    ext = b"\x11\0\1\4\0\0\0\0"
    with lab.tree(family=family) as t:
        try_packets(lab, t, field(ext=ext, ext_type=kind), "rx_ip_options")


@test("dropped: IPv6 fragments", families=(6,))
def fragments6(lab, family):
    with lab.tree(family=family) as t:
        try_packets(lab, t, lambda p: roce.fragments6(build(p), [40]),
                    "rx_ip_options")


@test("dropped: sent by somebody else")
def source(lab, family):
    with lab.tree(family=family) as t:
        other = lab.new_addr(family, 0)
        try_packets(lab, t, field(src=other), "rx_source")
        # even a member of the same tree: rank 1's address, rank 0's QP
        try_packets(lab, t, field(src=t.m[1].addr), "rx_source")
        try_packets(lab, t, field(dst=lab.sw_addr(family, 2)), "rx_source")


@test("dropped: the other version of IP", families=(None,))
def other_ip(lab):
    with lab.tree(family=4) as t:
        src, dst = lab.new_addr(6, 0), lab.sw_addr(6)
        try_packets(lab, t, field(src=src, dst=dst), "rx_source")
        mapped = bytes(10) + b"\xff\xff"
        before = lab.sw.stats()
        t.m[0].send(t.m[0].pkt(src=mapped + t.m[0].addr, dst=dst))
        lab.quiet()
        after = counters.delta(lab.sw.stats(), before)
        check(after in ({}, {"rx-source": 1}), "mapped address: %s" % after)
        t.good()


def fecn(p):
    return flip(4, 0xc0)(p)


ACCEPTED = {
    "1 byte behind the datagram": field(trail=b"\xaa"),
    "8 bytes behind the datagram": field(trail=b"\xaa" * 8),
    "8 bytes behind the datagram, with UDP checksum":
        field(trail=b"\xaa" * 8, udp_check="right"),
    "100 bytes behind the IP packet": lambda p: build(p) + b"\x55" * 100,
    "UDP checksum 0": field(udp_check=0),
    "UDP checksum right": field(udp_check="right"),
    "another UDP source port": field(sport=4791),
    "FECN and BECN set on the way": fecn,
    "reserved bits beside BECN set on the way": flip(4, 0x3f),
    "MigReq clear": field(mig=0),
    "solicited event": field(se=1),
    "reserved bits beside AckReq": field(resv7=0x7f),
}


@test("accepted", cases={k: (v,) for k, v in ACCEPTED.items()})
def accepted(lab, family, make):
    with lab.tree(family=family) as t:
        try_packets(lab, t, make, None)


@test("accepted: UDP checksum that computes to 0", limit=25)
def checksum_zero(lab, family):
    with lab.tree(family=family) as t:
        try_packets(lab, t, checksum_ffff, None)


@test("accepted: IPv4 header", families=(4,), cases={
    "TTL changed on the way": (flip(8, 0x7f, "ip"),),
    "TOS and ECN changed on the way": (flip(1, 0xff, "ip"),),
    "ID of the sender": (field(ident=0x1234),),
    "don't fragment": (field(frag=0x4000),),
    "2 fragments": (lambda p: roce.fragments4(build(p), [40]),),
    "3 fragments, the first with 8 bytes": (
        lambda p: roce.fragments4(build(p), [8, 24]),),
    "3 fragments in reverse": (
        lambda p: roce.fragments4(build(p), [24, 32])[::-1],)})
def header4(lab, family, make):
    with lab.tree(family=family) as t:
        try_packets(lab, t, make, None)


@test("dropped: IPv4 ID changed on the way", families=(4,))
def ident4(lab, family):
    with lab.tree(family=family) as t:
        try_packets(lab, t, flip(5, 1, "ip"), "rx_icrc")


@test("accepted: IPv6 header", families=(6,), cases={
    "hop limit changed on the way": (flip(7, 0x7f, "ip"),),
    "traffic class changed on the way": (flip(1, 0xf0, "ip"),),
    "flow label changed on the way": (flip(2, 0xff, "ip"),)})
def header6(lab, family, make):
    with lab.tree(family=family) as t:
        try_packets(lab, t, make, None)


@test("accepted: big packets of pages, PMTU 4096", cases={
    "UDP checksum 0": (0,), "right": ("right",)})
def nonlinear(lab, family, udp_check):
    """AF_PACKET leaves only the Ethernet header of these in the linear part."""
    with lab.tree(family=family, pmtu=4096) as t:
        values = [list(range(4000)), list(range(7, 4007))]
        for n in range(3):
            for m, v in zip(t.m, values):
                m.send(*[p.but(udp_check=udp_check)
                         for p in m.request(n, peer.ints(v))])
            t.check(n, [a + b for a, b in zip(*values)])


@test("accepted: big packets in IPv4 fragments", families=(4,))
def big_fragments(lab, family):
    with lab.tree(family=family, pmtu=4096) as t:
        values = [list(range(2000)), list(range(7, 2007))]
        for m, v in zip(t.m, values):
            for p in m.request(0, peer.ints(v)):
                m.send(*roce.fragments4(build(p), [1400] * 3))
        t.check(0, [a + b for a, b in zip(*values)])
        with counters.switch(lab, rx_icrc=1):
            raw = bytearray(build(t.m[0].request(1, peer.ints(values[0]))[0]))
            raw[3000] ^= 1
            t.m[0].send(*roce.fragments4(bytes(raw), [1400] * 3))


@test("accepted: UDP checksum left to the device")
def partial(lab, family):
    port = CsumPort(lab.net + "-h0", "eth0", lab.ports[0].peer_mac)
    with lab.tree(family=family) as t:
        def make(p):
            port.send_partial(build(p))
            return []
        try_packets(lab, t, make, None)


@test("packets whose headers and payload are in pages",
      cases={"%d bytes" % n: (n,) for n in (4, 300, 900)})
def ring(lab, family, size):
    """The sender's are read before it uses them again, and not reduced there."""
    port = RingPort(lab.net + "-h0", "eth0", lab.ports[0].peer_mac)
    lab.ports[0].hear_own(False)        # it would hold a clone
    with lab.tree(family=family, ranks=2, pmtu=1024) as t:
        a, b = t.m
        for msg_id in range(3):
            values = [i + msg_id for i in range(size // 4)]
            p, = a.request(msg_id, peer.ints(values))
            raw = build(p)
            where = port.send(raw)
            check(lab.until(lambda: a.acks), "no acknowledgement")
            a.acks.clear()
            expect("packet in the ring", bytes(port.ring[where]), raw)
            port.ring[where] = bytes(len(raw))
            b.allreduce(msg_id, values)
            t.check(msg_id, [2 * v for v in values])
            expect("ring", bytes(port.ring[where]), bytes(len(raw)))
    lab.ports[0].hear_own(True)
    port.close()


@test("a packet to UDP segmentation harms nobody")
def gso(lab, family):
    """One buffer, many datagrams: a local sender can make such a thing."""
    port = CsumPort(lab.net + "-h0", "eth0", lab.ports[0].peer_mac)
    with lab.tree(family=family) as t:
        p, = t.m[0].request(0, peer.ints(range(200)))
        try:
            port.send_partial(build(p), gso_size=200)
        except OSError:
            pass
        lab.quiet()
        t.m[0].psn = p.psn
        state = t.m[0].get()
        t.m[0].send(*t.m[0].request(0, peer.ints(range(200))))
        t.m[1].send(*t.m[1].request(0, peer.ints(range(200))))
        t.check(0, [2 * i for i in range(200)])
        expect("state", state["state"], "rts")


def received(sock):
    try:
        return sock.recv(65536)
    except BlockingIOError:
        return None


@test("QPN outside the range goes on, untouched", cases={
    "%#x" % q: (q,) for q in (0, 1, 0x11, 0x7fffff, 0xc00000, 0xffffff)})
def outside(lab, family, qpn):
    with lab.tree(family=family) as t, lab.listener(family) as sock:
        p = t.m[0].pkt(qpn=qpn, payload=b"abcdefgh", udp_check="right")
        raw = build(p)
        with counters.switch(lab):
            t.m[0].send(raw)
        expect("datagram", received(sock), raw[udp_offset(raw) + 8:])
        t.good()


@test("nobody listens: ICMP for others' packets, none for ours")
def icmp(lab, family):
    with lab.tree(family=family) as t:
        def unreachables():
            kind = 1 if family == 4 else 58
            return [s for s in lab.strangers
                    if (s[9] if family == 4 else s[6]) == kind and
                    (family == 4 or s[40] == 1)]
        t.m[0].send(t.m[0].pkt(qpn=0x7fffff, udp_check="right"))
        check(lab.until(unreachables, 1), "no ICMP for a QPN outside the range")
        lab.strangers.clear()
        # too short to tell the owner: not ours
        t.m[0].send(cut_checked(15, t.m[0].pkt()))
        check(lab.until(unreachables, 2), "no ICMP for a short packet")
        lab.strangers.clear()
        with counters.switch(lab, rx_no_qp=1):
            t.m[0].send(t.m[0].pkt(qpn=0xbfffff, udp_check="right"))
        check(lab.until(unreachables, 2), "no ICMP for a QPN that nobody has")
        lab.strangers.clear()
        with counters.switch(lab, rx_icrc=1):
            t.m[0].send(t.m[0].pkt(crc=0, udp_check="right"))
        expect("ICMP for a packet of ours", len(unreachables()), 0)
        t.good()


@test("right address, another namespace")
def namespace(lab, family):
    with lab.tree(family=family) as t:
        p, = t.m[0].request(0, peer.ints([1]))
        with counters.switch(lab), counters.member(t.m[0], rx_packets=0):
            lab.other_port.send(build(p))
        sw2 = lab.second_switch()
        before = sw2.stats()
        made = sw2.do("tree-new", ranks=2, slots=1, msg_size=64)
        with counters.switch(lab), counters.member(t.m[0], rx_packets=0):
            lab.other_port.send(build(p))
        expect("counters there", counters.delta(sw2.stats(), before),
               {"rx-no-qp": 1})
        sw2.do("tree-del", id=made["id"])
        t.m[0].send(p)
        t.m[1].allreduce(0, [2])
        t.check(0, [3])


@test("somebody listens at the same time: clones are copied")
def cloned(lab, family):
    with lab.tree(family=family, ranks=3) as t:
        before = [m.stats()["rx-copied"] for m in t.m]
        with lab.sniffer("br0"), lab.no_pieces():
            for _ in range(5):
                t.good(700)
        copied = [m.stats()["rx-copied"] - b for m, b in zip(t.m, before)]
        check(sum(copied) > 0, "no packet was copied")
        t.good(700)
