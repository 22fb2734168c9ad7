# SPDX-License-Identifier: GPL-2.0
"""Packets by somebody who is not the member, but knows some of its numbers."""
import contextlib
import errno
import struct
import subprocess

import counters
import genl
import peer
import roce
from ktap import check, expect, test, timed
from peer import PATIENT, ints
from roce import NAK_PSN, SYN_ACK, psn_add

VALUES = list(range(1000))      # FIRST, MIDDLE, MIDDLE, LAST of PMTU 1024


def forged(pkt, **kw):
    """Other elements, all else right."""
    return pkt.but(payload=bytes(x ^ 0x5a for x in pkt.payload), **kw)


def whole(t, msg_id=0, values=tuple(VALUES)):
    """The others send theirs; nobody was fooled."""
    for m in t.m[1:]:
        m.allreduce(msg_id, values)
    t.check(msg_id, [len(t.m) * v for v in values])


@test("trust: QPNs tell nothing of each other", families=(4,))
def numbers(lab, family):
    with lab.tree(family=family, ranks=8) as t:
        qpns = [m.sw_qpn for m in t.m]
        check(all(0x800000 <= q <= 0xbfffff for q in qpns), "%s" % qpns)
        near = [q for q in qpns if any(0 < abs(q - p) < 16 for p in qpns)]
        check(len(near) < 4, "QPNs %s" % ["%#x" % q for q in qpns])
        check(max(qpns) - min(qpns) > 1 << 16,
              "QPNs %s" % ["%#x" % q for q in qpns])


@test("trust: nothing of a message is kept before what opens it", cases={
    "MIDDLE": (1,), "second MIDDLE": (2,), "LAST": (3,)})
def before_first(lab, family, n):
    with lab.tree(family=family) as t:
        a = t.m[0]
        pkts = a.request(0, ints(VALUES))
        with counters.member(a, rx_ooo_queued=0, rx_out_of_sequence=1,
                             rx_packets=0):
            a.send(forged(pkts[n]))
        a.send(*pkts)
        whole(t)


@test("trust: another UDP source port",
      cases={"before its turn": (2,), "in its turn": (1,)})
def port(lab, family, n):
    with lab.tree(family=family, **PATIENT) as t:
        a = t.m[0]
        pkts = a.request(0, ints(VALUES))
        a.send(pkts[0])
        with counters.member(a, rx_untrusted=1, rx_ooo_queued=0, rx_packets=0,
                             tx_naks=0):
            a.send(forged(pkts[n], sport=0xd002))
        # ACKs and NAKs from elsewhere are not trusted either
        with counters.member(a, rx_untrusted=2, rx_acks=0, rx_bad_response=0,
                             rx_naks=0):
            a.send(a.response(SYN_ACK, a.epsn, sport=0xd002),
                   a.response(roce.NAK_INVALID, a.epsn, sport=0xd000))
        a.send(*pkts[1:])
        whole(t)


@test("trust: a port is learnt with a right R_Key, not before")
def learnt(lab, family):
    with lab.tree(family=family) as t:
        a = t.m[0]
        pkts = a.request(0, ints(VALUES))
        other = dict(sport=0xe001)
        # not learnt from an empty write, a wrong key, or a response
        a.send(pkts[0].but(psn=psn_add(pkts[0].psn, 5), rkey=a.rkey ^ 1,
                           **other),
               a.response(SYN_ACK, a.epsn - 1, **other),
               a.pkt(opcode=roce.WRITE_ONLY, psn=psn_add(pkts[0].psn, 9),
                     **other))
        with counters.member(a, rx_untrusted=0, rx_packets=len(pkts)):
            a.send(*pkts)
        whole(t)


def flipped(pkt, at):
    payload = bytearray(pkt.payload)
    payload[at] ^= 1
    return pkt.but(payload=bytes(payload))


@test("trust: two packets for one PSN, and none of them is taken", cases={
    "MIDDLE": (2, forged), "LAST": (3, forged),
    "MIDDLE, first byte": (2, lambda p: flipped(p, 0)),
    "MIDDLE, last byte": (2, lambda p: flipped(p, -1)),
    "LAST, last byte": (3, lambda p: flipped(p, -1))})
def contradict(lab, family, n, other):
    with lab.tree(family=family, **PATIENT) as t:
        a = t.m[0]
        pkts = a.request(0, ints(VALUES))
        a.send(pkts[0])
        with counters.member(a, rx_ooo_queued=1, rx_untrusted=1, tx_naks=1):
            a.send(other(pkts[n]), pkts[n])
        a.acks.clear()
        a.send(pkts[1])
        a.send(*pkts[2:])           # as after a NAK
        whole(t)


@test("trust: the same packet twice is no contradiction")
def twice(lab, family):
    with lab.tree(family=family) as t:
        a = t.m[0]
        pkts = a.request(0, ints(VALUES))
        a.send(pkts[0])
        with counters.member(a, rx_ooo_queued=1, rx_untrusted=0):
            # another ID, AckReq and ECN mark of the network
            a.send(pkts[2],
                   pkts[2].but(ident=7 if family == 4 else 0, ackreq=1, fecn=1))
        with counters.member(a, rx_packets=2):
            a.send(pkts[1])
        a.send(pkts[3])
        whole(t)


def wrong(**kw):
    return lambda p: p.but(**{k: v(p) if callable(v) else v
                              for k, v in kw.items()})


AHEAD = {
    "R_Key": (0, wrong(rkey=lambda p: p.rkey ^ 1)),
    "address": (0, wrong(va=4)),
    "length of the message": (0, wrong(dmalen=16385)),
    "FIRST, short": (0, wrong(payload=lambda p: p.payload[:-4])),
    "FIRST, long": (0, wrong(payload=lambda p: p.payload + bytes(7000))),
    "MIDDLE, short": (1, wrong(payload=lambda p: p.payload[:-4])),
    "MIDDLE, long": (1, wrong(payload=lambda p: p.payload + bytes(7000))),
    "MIDDLE, padded": (1, wrong(payload=lambda p: p.payload[:-1])),
    "LAST in place of MIDDLE": (1, wrong(opcode=roce.WRITE_LAST_IMM)),
    "FIRST in place of MIDDLE": (1, wrong(opcode=roce.WRITE_FIRST)),
    "ONLY in place of MIDDLE": (1, wrong(opcode=roce.WRITE_ONLY_IMM,
                                         dmalen=1024)),
    "MIDDLE in place of LAST": (3, wrong(opcode=roce.WRITE_MIDDLE,
                                         payload=bytes(1024))),
    "LAST, short": (3, wrong(payload=lambda p: p.payload[:-4])),
    "LAST, long": (3, wrong(payload=lambda p: p.payload + bytes(4))),
    "LAST without Immediate": (3, wrong(opcode=roce.WRITE_LAST)),
    "READ": (0, wrong(opcode=roce.READ_REQUEST, payload=b"")),
}


@test("trust: what is wrong is not kept", cases=AHEAD)
def ahead(lab, family, n, change):
    with lab.tree(family=family) as t:
        a = t.m[0]
        lost = a.request(0, ints([1]))
        pkts = a.request(1, ints(VALUES))
        a.send(*pkts[:n])
        with counters.member(a, rx_ooo_queued=0, rx_untrusted=1,
                             rx_out_of_sequence=0):
            a.send(change(pkts[n]))
        a.send(*lost)
        a.send(*pkts)
        t.m[1].allreduce(0, [1])
        t.check(0, [2])
        whole(t, 1)


BESIDE = {
    "far ahead": dict(opcode=roce.WRITE_MIDDLE, by=70000),
    "far behind": dict(opcode=roce.WRITE_MIDDLE, by=-70000),
    "a wrong key ahead": dict(opcode=roce.WRITE_ONLY_IMM, by=3),
    "a wrong key behind": dict(opcode=roce.WRITE_ONLY_IMM, by=-1),
}


@test("trust: what is not the member's is not answered", families=(4,), cases={
    name: (kw,) for name, kw in BESIDE.items()})
def beside(lab, family, kw):
    """A NAK for it, and those that follow, would have an rxe lose its place."""
    timed()
    with lab.tree(family=family) as t:
        t.good()
        a = t.m[0]
        lab.quiet()
        a.acks.clear()
        with counters.member(a, rx_untrusted=1, rx_out_of_sequence=0,
                             rx_duplicates=0):
            a.send(a.pkt(opcode=kw["opcode"], payload=bytes(1024), va=0,
                         dmalen=1024, rkey=a.rkey ^ 1, ackreq=1,
                         psn=psn_add(a.psn, kw["by"])))
            lab.wait(0.2)
        expect("answers", a.acks, [])
        t.good()


@test("trust: what is kept is charged to the member", families=(4,))
def charged(lab, family):
    with lab.tree(family=family, pmtu=4096, slots=256, msg_size=4096,
                  hold=65536) as t:
        a, b = t.m
        values = list(range(1000))
        pkts = [a.request(n, ints(values))[0] for n in range(100)]
        a.send(*pkts[1:])
        lab.quiet()
        kept = a.stats()["rx-ooo-queued"]
        check(4 <= kept <= 16, "%d packets of 4 KiB within 64 KiB" % kept)
        a.send(*pkts[:8])
        b.send(*[b.request(n, ints(values))[0] for n in range(8)])
        for n in range(5):
            t.check(n, [2 * v for v in values])


@test("trust: what is kept does not stay for ever", families=(4,))
def old(lab, family):
    timed()
    with lab.tree(family=family, slots=16) as t:
        t.good()
        a, b = t.m
        pkts = [a.request(n, ints([n]))[0] for n in range(1, 4)]
        lab.quiet()
        a.acks.clear()
        a.send(pkts[1], pkts[2])
        lab.wait(3)
        expect("questions", [x.syndrome for x in a.acks],
               [NAK_PSN] + [roce.SYN_RNR | 1] * 5)
        a.acks.clear()
        with counters.member(a, rx_packets=1):
            a.send(pkts[0])
        a.send(*pkts[1:])
        for n in range(1, 4):
            b.allreduce(n, [1])
            t.check(n, [n + 1])


def nak(lab, m, psn):
    """A NAK has come. On a busy machine what is owed is asked for, too."""
    check(lab.until(lambda: any(x.psn == psn and x.syndrome == NAK_PSN
                                for x in m.acks)), f"no NAK for PSN {psn}")


@test("trust: a second hole is asked for, too", families=(4,))
def second_hole(lab, family):
    timed()
    with lab.tree(family=family, slots=16) as t:
        t.good()
        a, b = t.m
        pkts = [a.request(n, ints([n]))[0] for n in range(1, 5)]
        lab.quiet()
        a.acks.clear()
        a.send(pkts[1], pkts[3])
        nak(lab, a, pkts[0].psn)
        a.send(pkts[0])
        nak(lab, a, pkts[2].psn)
        a.send(pkts[2])
        for n in range(1, 5):
            b.allreduce(n, [1])
            t.check(n, [n + 1])


@test("trust: UC: a wrong key moves no PSN, another port is nobody",
      families=(4, 6))
def uc(lab, family):
    with lab.tree(family=family, slots=16, transports=(peer.UC,)) as t:
        a, b = t.m
        good, = a.request(0, ints([1]))
        far = psn_add(good.psn, 0x7fffff)
        with counters.member(a, rx_gaps=0, rx_bad_request=2):
            a.send(good.but(psn=far, rkey=a.rkey ^ 1), good.but(psn=far, imm=7))
        with counters.member(a, rx_gaps=0, rx_packets=1):
            a.send(good)
        with counters.member(a, rx_gaps=0, rx_untrusted=1, rx_packets=0):
            a.send(a.request(1, ints([9]))[0].but(sport=0xd002))
        b.allreduce(0, [1])
        t.check(0, [2])
        for m in t.m:
            m.allreduce(1, [2])
        t.check(1, [4])


def too_big(lab, family, to, mtu):
    """Any host's claim that an echo reply to an address did not fit."""
    sw, anyone = lab.sw_addr(family), lab.new_addr(family, 2)
    if family == 6:
        echo = struct.pack("!IHBB16s16sBBHI", 6 << 28, 4000, 58, 64, sw, to,
                           129, 0, 0, 0)
        icmp = struct.pack("!BBHI", 2, 0, 0, mtu) + echo
        pseudo = anyone + sw + struct.pack("!II", len(icmp), 58)
        check_sum = roce.checksum(pseudo + icmp)
        header = struct.pack("!IHBB16s16s", 6 << 28, len(icmp), 58, 64, anyone,
                             sw)
    else:
        echo = roce.fix_ip(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 4000, 0,
                                       0x4000, 64, 1, 0, sw, to)) + bytes(8)
        icmp = struct.pack("!BBHHH", 3, 4, 0, 0, mtu) + echo
        check_sum = roce.checksum(icmp)
        header = roce.fix_ip(struct.pack("!BBHHHBBH4s4s", 0x45, 0,
                                         20 + len(icmp), 0, 0, 64, 1, 0,
                                         anyone, sw))
    return header + icmp[:2] + struct.pack("!H", check_sum) + icmp[4:]


def ip(lab, *args):
    return subprocess.run(["ip", "-n", lab.sw_ns, *args], check=True,
                          capture_output=True, encoding="ascii").stdout


def redirect4(m, via):
    """As from the member: his packets are to go to another host."""
    sw = m.lab.sw_addr(4)
    echo = roce.fix_ip(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 4000, 0, 0x4000,
                                   64, 1, 0, sw, m.addr)) + bytes(8)
    icmp = struct.pack("!BBH4s", 5, 1, 0, via) + echo
    check_sum = roce.checksum(icmp)
    header = roce.fix_ip(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(icmp),
                                     0, 0, 64, 1, 0, m.addr, sw))
    return header + icmp[:2] + struct.pack("!H", check_sum) + icmp[4:]


ROUTER, THIEF = "fe80::99:1", "fe80::99:2"


def redirect6(m, mac):
    """As from the router: the member's packets are to go to another."""
    sw, router = m.lab.sw_addr(6), roce.aton(ROUTER)
    icmp = struct.pack("!BBHI", 137, 0, 0, 0) + roce.aton(THIEF) + m.addr + \
        b"\2\1" + mac
    pseudo = router + sw + struct.pack("!II", len(icmp), 58)
    check_sum = roce.checksum(pseudo + icmp)
    header = struct.pack("!IHBB16s16s", 6 << 28, len(icmp), 58, 255, router, sw)
    return header + icmp[:2] + struct.pack("!H", check_sum) + icmp[4:]


@contextlib.contextmanager
def heard(port, change):
    """What comes to a port is passed through change(packet) first."""
    recv = port.recv
    port.recv = lambda: [(change(packet), at) for packet, at in recv()]
    try:
        yield
    finally:
        del port.recv


def decapsulate(packet):
    """What is in a packet of ipsec(), or the packet if it is another's."""
    four = packet[0] >> 4 == 4
    off = 20 if four else 40
    if packet[9 if four else 6] != 50:
        return packet
    # SPI, sequence number and IV; pad, its length, type and ICV
    inner, kind = packet[off + 16:-18 - packet[-18]], packet[-17]
    if kind != 17:
        return inner
    if four:
        return roce.fix_ip(packet[:2] + struct.pack("!H", 20 + len(inner)) +
                           packet[4:9] + b"\x11" + packet[10:20] + inner)
    return packet[:4] + struct.pack("!HB", len(inner), 17) + packet[7:40] + \
        inner


@contextlib.contextmanager
def ipsec(lab, mode, family, inside, outer, end):
    """
    All packets of the switch to some addresses are in ESP, authenticated only.
    """
    ends = ("src", roce.ntoa(lab.sw_addr(outer)), "dst", roce.ntoa(end),
            "proto", "esp")
    ip(lab, "xfrm", "state", "add", *ends, "spi", "0x101", "mode", mode,
       "flag", "af-unspec",
       "aead", "rfc4543(gcm(aes))", "0x" + 20 * "5a", "128")
    ip(lab, "xfrm", "policy", "add", "dir", "out",
       "src", roce.ntoa(lab.sw_addr(family)), "dst", inside, "proto", "udp",
       "dport", str(roce.PORT), "tmpl", *ends, "mode", mode)
    try:
        yield
    finally:
        ip(lab, "xfrm", "policy", "flush")
        ip(lab, "xfrm", "state", "flush")


@contextlib.contextmanager
def routed(lab, family, m):
    """
    What makes a redirect for a member possible. Yields it, and whom it names.
    """
    if family == 4:
        via = lab.new_addr(family, 2)
        yield redirect4(m, via), roce.ntoa(via)
        return
    router = (ROUTER, "dev", "br0")
    mac = ":".join("%02x" % b for b in m.port.mac)
    ip(lab, "neigh", "replace", *router, "lladdr", mac, "nud", "permanent")
    ip(lab, "route", "add", roce.ntoa(m.addr), "via", *router)
    try:
        yield redirect6(m, lab.ports[2].mac), THIEF
    finally:
        ip(lab, "route", "del", roce.ntoa(m.addr))
        ip(lab, "neigh", "del", *router)


@test("trust: a forged ICMP redirect", cases={
    use + kind: (in_use, mode)
    for use, in_use in (("of a route not in use", 0), ("of one in use", 1))
    for kind, mode in (("", None), (", IPsec", "transport"))})
def redirected(lab, family, in_use, mode):
    """The kernel believes it, behind one about the MTU; results stay."""
    thief, stolen = lab.ports[2], []

    def watch(packet):
        if roce.parse(packet) or decapsulate(packet) != packet:
            stolen.append(packet)
        return packet

    with lab.tree(family=family) as t, contextlib.ExitStack() as stack:
        m = t.m[0]
        forged_one, via = stack.enter_context(routed(lab, family, m))
        if mode:
            stack.enter_context(ipsec(lab, mode, family, roce.ntoa(m.addr),
                                      family, m.addr))
            stack.enter_context(heard(m.port, decapsulate))
        t.good()
        believe(lab, family, m.addr)
        for _ in range(in_use):
            t.good()
        thief.send(forged_one)
        lab.quiet()
        route = ip(lab, "route", "get", roce.ntoa(m.addr))
        check("via " + via in route, "not believed: " + route)
        with heard(thief, watch):
            t.good(3000)
        expect("packets at another host's port", len(stolen), 0)


def believe(lab, family, to):
    """Has the kernel of the switch learn a small path MTU."""
    mtu = 552 if family == 4 else 1280
    lab.ports[2].send(too_big(lab, family, to, mtu))
    lab.quiet()
    route = ip(lab, "route", "get", roce.ntoa(to))
    check("mtu %d" % mtu in route, "not believed: " + route)


def large(lab, t):
    """Results and acknowledgments of large packets go out."""
    values = list(range(1000))
    msg_id = t.take_id()
    with counters.switch(lab, tx_route=0, tx_error=0):
        for m in t.m:
            m.allreduce(msg_id, values)
        t.check(msg_id, [len(t.m) * v for v in values])


TRANSPORTS = {"RC": (peer.RC,), "UC": (peer.UC,)}
LARGE = dict(pmtu=4096, msg_size=4096)


@test("trust: a forged ICMP message about the path's MTU", cases=TRANSPORTS)
def path_mtu(lab, family, transport):
    """The kernel believes it; results and acknowledgments fit all the same."""
    with lab.tree(family=family, transports=(transport,), **LARGE) as t:
        t.good()
        believe(lab, family, t.m[0].addr)
        large(lab, t)


@contextlib.contextmanager
def tunnel(lab, family, outer):
    """
    All that the switch sends to members is in a tunnel to somebody at port 2,
    and taken out there. Yields its address.
    """
    end, lengths = lab.new_addr(outer, 2), []

    def take_out(packet):
        inner = decapsulate(packet)
        if inner != packet:
            lengths.append(len(inner))
        return inner

    with ipsec(lab, "tunnel", family,
               "10.99.0.0/16" if family == 4 else "fd00:99::/64", outer, end), \
         heard(lab.ports[2], take_out):
        yield end
    check(max(lengths) > 4000, "nothing large in the tunnel")


@test("trust: a forged ICMP message about the MTU to an IPsec tunnel's end",
      cases={name + outer[0]: (kind, outer[1])
             for name, (kind,) in TRANSPORTS.items()
             for outer in ((" by IPv4", 4), (" by IPv6", 6))})
def tunnel_mtu(lab, family, transport, outer):
    """As path_mtu(); here the size of the packet inside is checked, too."""
    with tunnel(lab, family, outer) as end, \
         lab.tree(family=family, transports=(transport,), **LARGE) as t:
        t.good()
        believe(lab, outer, end)
        large(lab, t)


@test("trust: the headers of an IPsec tunnel count for the MTU",
      cases={"by IPv4": (4,), "by IPv6": (6,)})
def tunnel_room(lab, family, outer):
    """The packets fit, but not what becomes of them."""
    with tunnel(lab, family, outer) as end:
        believe(lab, outer, end)
        ip(lab, "link", "set", "br0", "mtu", "4200")
        try:
            lab.tree(family=family, **LARGE).close()
            reason = None
        except genl.NlError as e:
            reason = e.errno
        finally:
            ip(lab, "link", "set", "br0", "mtu", "9000")
        expect("the reason for a refusal", reason, errno.EMSGSIZE)
        with lab.tree(family=family, **LARGE) as t:
            large(lab, t)
