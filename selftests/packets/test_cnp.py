# SPDX-License-Identifier: GPL-2.0
"""Marks of queues on the way (CE), and how the switch tells of them."""
import counters
import peer
import roce
from ktap import check, expect, test
from test_child import Parent

CE = 3
LONG = 1000000                  # the longest cnp-interval: one CNP in a test

BOTH = {"RC": (peer.RC,), "UC": (peer.UC,)}


def one_cnp(lab, m, tos=0):
    """Exactly one has come, and each of its bytes is right."""
    check(lab.until(lambda: m.cnps), "no CNP")
    lab.quiet()
    expect("CNPs", len(m.cnps), 1)
    p = m.cnps[0]
    expect("BTH", (p.se, p.mig, p.pad, p.tver, p.pkey, p.fecn, p.becn, p.resv6,
                   p.qpn, p.ackreq, p.resv7, p.psn),
           (0, 0, 0, 0, 0xffff, 0, 1, 0, m.qpn, 0, 0, 0))
    expect("reserved bytes and payload", (p.resv16, p.payload), (bytes(16), b""))
    expect("class", p.tos, tos)
    expect("bad packets", m.bad, [])


def marked(m, msg_id, values, tos=CE):
    m.send(*[p.but(tos=tos) for p in m.request(msg_id, peer.ints(values))])


def finish(t, msg_id, values):
    """The other rank's half, without marks."""
    t.m[1].allreduce(msg_id, values)
    t.check(msg_id, [2 * v for v in values])


@test("cnp: a marked request brings one, with the tree's class, never ECT",
      cases=BOTH)
def request(lab, family, transport):
    with lab.tree(family=family, transports=(transport,), traffic_class=0xb8,
                  ecn=1) as t:
        m = t.m[0]
        with counters.member(m, rx_ce=1, tx_cnps=1):
            marked(m, 0, [5], 0xb8 | CE)
            finish(t, 0, [5])
            one_cnp(lab, m, 0xb8)
        with counters.member(m, rx_ce=0, tx_cnps=0):
            for n, tos in enumerate((0, 1, 2), 1):
                marked(m, n, [n], tos)
                finish(t, n, [n])
        expect("CNPs of the other rank", t.m[1].cnps, [])


@test("cnp: so does a marked acknowledgment")
def acknowledgment(lab, family):
    with lab.tree(family=family) as t:
        m = t.m[0]
        m.hook = lambda p: True
        for n in t.m:
            n.allreduce(0, [1])
        check(lab.until(lambda: m.log), "no result")
        with counters.member(m, rx_ce=1, tx_cnps=1, rx_acks=1):
            m.send(m.response(roce.SYN_ACK, m.log[-1].psn, tos=CE))
            one_cnp(lab, m)


@test("cnp: at most one in cnp-interval, and none if that is 0", cases=BOTH)
def interval(lab, family, transport):
    with lab.tree(family=family, transports=(transport,),
                  cnp_interval=LONG) as t:
        m = t.m[0]
        for n in range(4):
            marked(m, n, [n])
            finish(t, n, [n])
        one_cnp(lab, m)
        expect("rx-ce", m.stats()["rx-ce"], 4)
        lab.sw.do("tree-set", id=t.id, cnp_interval=0)
        expect("cnp-interval", t.get()["cnp-interval"], 0)
        for n in range(4, 8):
            marked(m, n, [n])
            finish(t, n, [n])
        one_cnp(lab, m)
        lab.sw.do("tree-set", id=t.id, cnp_interval=1)
        for n in range(8, 12):
            marked(m, n, [n])
            finish(t, n, [n])
            check(lab.until(lambda n=n: len(m.cnps) == n - 6), "no CNP")
        expect("priority", t.get()["priority"], 0)


@test("cnp: none for packets that the member has not sent", cases=BOTH)
def forged(lab, family, transport):
    with lab.tree(family=family, transports=(transport,)) as t:
        m = t.m[0]
        t.good()
        good = m.request(t.next_id, peer.ints([1]))[0].but(tos=CE)
        with counters.member(m, rx_ce=0, tx_cnps=0):
            m.send(good.but(sport=m.sport + 1))     # not its port
            m.send(good.but(crc=1))
            m.send(good.but(qpn=m.sw_qpn ^ 0x4000))
            lab.quiet()
            expect("CNPs", m.cnps, [])


@test("cnp: one that comes is counted, and stops nothing", cases=BOTH)
def received(lab, family, transport):
    with lab.tree(family=family, transports=(transport,)) as t:
        m = t.m[0]
        t.good()
        cnp = m.pkt(opcode=roce.CNP, becn=1, mig=0, psn=0)
        with counters.member(m, rx_cnps=2, rx_bad_response=3):
            m.send(cnp, cnp.but(tos=CE, psn=77, resv16=16 * b"\xff"))
            m.send(cnp.but(becn=0), cnp.but(payload=b"1234"), cnp.but(pad=1))
        with counters.switch(lab, rx_short=1, rx_pkey=1):
            m.send(cnp.but(resv16=b""), cnp.but(pkey=0x8001))
        t.good()
        expect("CNPs", m.cnps, [])


@test("cnp: BECN of an acknowledgment is counted if it is about a packet in flight")
def becn(lab, family):
    with lab.tree(family=family) as t:
        m = t.m[0]
        m.hook = lambda p: True
        for n in t.m:
            n.allreduce(0, [1])
        check(lab.until(lambda: m.log), "no result")
        with counters.member(m, rx_cnps=1, rx_acks=1, rx_bad_response=1):
            m.send(m.response(roce.SYN_ACK, m.log[-1].psn + 99, becn=1))
            m.send(m.response(roce.SYN_ACK, m.log[-1].psn, becn=1))


@test("cnp: a child gets BECN in the next acknowledgment, once")
def child(lab, family):
    with lab.tree(family=family, below=[2, 0]) as t:
        m = t.m[0]
        for n, tos in enumerate((0, CE, 0)):
            m.acks.clear()
            with counters.member(m, rx_ce=tos == CE, tx_cnps=tos == CE):
                marked(m, n, [n], tos)
                finish(t, n, [n])
                check(lab.until(lambda: m.acks), "no acknowledgment")
                lab.quiet()
                expect("BECN", [p.becn for p in m.acks], [int(tos == CE)])
        expect("CNPs", m.cnps, [])


@test("cnp: so does a parent")
def parent(lab, family):
    with lab.tree(family=family, job_ranks=3, first_rank=1) as t:
        up = Parent(t, family)
        for n, tos in enumerate((0, CE, 0)):
            for m in t.m:
                m.allreduce(n, [n])
            up.acks.clear()
            up.tos = tos
            up.answer(n, peer.ints([3 * n]))
            t.check(n, [3 * n])
            check(lab.until(lambda: up.acks), "no acknowledgment")
            expect("BECN", up.acks[-1].becn, int(tos == CE))
        expect("CNPs", up.cnps, [])
