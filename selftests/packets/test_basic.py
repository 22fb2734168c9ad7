# SPDX-License-Identifier: GPL-2.0
"""The packet maker itself, and results that are right."""
import random

import peer
import roce
from ktap import check, expect, test


def random_packet(rng, lab, family):
    src, dst = lab.sw_addr(family, 1), lab.sw_addr(family, 2)
    opcode = rng.choice([roce.WRITE_FIRST, roce.WRITE_MIDDLE,
                         roce.WRITE_LAST_IMM,
                         roce.WRITE_ONLY_IMM, roce.ACK])
    payload = rng.randbytes(rng.randrange(70)) if opcode != roce.ACK else b""
    return roce.Pkt(
        src=src, dst=dst, sport=rng.randrange(1024, 65536), opcode=opcode,
        ttl=rng.randrange(1, 256), tos=rng.randrange(256),
        flow=rng.randrange(1 << 20) if family == 6 else 0,
        ident=rng.randrange(1 << 16) if family == 4 else 0,
        frag=0x4000 * rng.randrange(2) if family == 4 else 0,
        se=rng.randrange(2), fecn=rng.randrange(2), becn=rng.randrange(2),
        resv6=rng.randrange(64), resv7=rng.randrange(128),
        qpn=rng.randrange(1 << 24), psn=rng.randrange(1 << 24),
        pkey=rng.randrange(1 << 16), ackreq=rng.randrange(2),
        va=rng.randrange(1 << 64), rkey=rng.randrange(1 << 32),
        dmalen=rng.randrange(1 << 32), imm=rng.randrange(1 << 32),
        syndrome=rng.randrange(256), msn=rng.randrange(1 << 24),
        payload=payload)


@test("packet maker agrees with scapy")
def maker(lab, family):
    rng = random.Random(lab.seed)
    for n in range(60):
        p = random_packet(rng, lab, family)
        mine, scapys = roce.build(p), roce.scapy_packet(p)
        check(mine == scapys, "packet %d: %s, scapy %s" %
              (n, mine.hex(), scapys.hex()))
        check(roce.parse(mine).icrc_ok, "packet %d: ICRC of parse()" % n)


@test("AllReduce of 2 members")
def allreduce(lab, family):
    with lab.tree(family=family) as t:
        for _ in range(9):
            t.good()
        s = t.get()["stats"]
        expect("messages", s["messages"], 9)
        expect("failed", s["failed"], 0)


@test("AllReduce of many packets", cases={
    "PMTU %d" % pmtu: (pmtu,) for pmtu in (256, 512, 1024, 2048, 4096)})
def long_messages(lab, family, pmtu):
    with lab.tree(ranks=3, family=family, pmtu=pmtu, msg_size=16384) as t:
        # around every border of a packet, and the longest
        for nbytes in (0, 4, pmtu - 36, pmtu - 32, pmtu - 28, 2 * pmtu - 32,
                       2 * pmtu - 28, 16384 - 32):
            t.good(nbytes // 4)


@test("traffic class", cases={
    "%#x, %s%s" % (tc, name, ", ECT(0)" if ecn else ""): (tc, transport, ecn)
    for tc, ecn in ((0, 0), (0x20, 0), (0xb8, 1), (0xfc, 0), (0, 1))
    for name, transport in (("RC", peer.RC), ("UC", peer.UC))})
def traffic_class(lab, family, tc, transport, ecn):
    """
    It is that of every packet: results, statuses, acknowledgments, NAKs; the first two
    may be ECT(0).
    """
    with lab.tree(family=family, transports=(transport,),
                  traffic_class=tc, ecn=ecn) as t:
        expect("traffic-class", t.get()["traffic-class"], tc)
        for _ in range(3):
            t.good()
        for m in t.m:
            m.allreduce(3, [1], op=peer.MAX if m.rank else peer.SUM)
        for m in t.m:
            check(lab.until(lambda m=m: (peer.MISMATCH, 3) in m.results, 1),
                  "no status")
        if transport == peer.RC:
            t.m[0].psn = roce.psn_add(t.m[0].psn, 1)
            t.m[0].allreduce(4, [1])
            check(lab.until(lambda: any(p.syndrome == roce.NAK_PSN
                                        for p in t.m[0].acks), 1), "no NAK")
        for m in t.m:
            check(m.log, "nothing came")
            for p in m.log + m.acks:
                expect("class of %r" % p, p.tos,
                       tc if p in m.acks else tc | 2 * ecn)
                expect("flow label", p.flow, 0)
            expect("bad packets", m.bad, [])


@test("Barrier")
def barrier(lab, family):
    with lab.tree(ranks=3, family=family) as t:
        for n in range(6):
            for m in t.m:
                expect("results before all ranks came", len(m.results), n)
                m.send(*m.request(n, coll=peer.BARRIER))
                lab.quiet()
            t.check(n, [])


@test("AllReduce of many packets: all but the last are answered before it comes")
def stream(lab, family):
    with lab.tree(ranks=3, family=family, pmtu=256, msg_size=16384) as t:
        sums = peer.ints([3 * i for i in range(600)])
        for count in (1, 2, 9):         # of ten
            msg_id = t.take_id()
            pkts = [m.request(msg_id, peer.ints(range(600))) for m in t.m]
            for m, p in zip(t.m, pkts):
                m.send(*p[:count])
            size = 256 * count - 32
            check(lab.until(lambda: all(m.result(msg_id, size) == sums[:size]
                                        for m in t.m)), "first %d" % count)
            expect("results", [m.results for m in t.m], [[]] * 3)
            for m, p in zip(t.m, pkts):
                m.send(*p[count:])
            t.check(msg_id, [3 * i for i in range(600)])
            for m in t.m:
                m.results.clear()
                m.mem[:] = bytes(len(m.mem))
