# SPDX-License-Identifier: GPL-2.0
"""Packets that a CPU receives in one turn."""
import contextlib
import os
import random
from unittest import mock

import peer
from ktap import check, expect, test
from net import CsumPort
from roce import build

PMTU = 256
PACKETS = 20            # of a message
COUNT = (PMTU * PACKETS - 32) // 4
KEPT_QPS = 16           # in a turn; others keep nothing


@contextlib.contextmanager
def one_tree(lab, ranks):
    """
    Ranks of a host share its address, so that a burst can have packets of all. All
    is sent by one CPU: veth has a queue for each, in which others' results may wait.
    """
    cpus = os.sched_getaffinity(0)
    addrs = [lab.new_addr(6, n) for n in range(3)]
    os.sched_setaffinity(0, [min(cpus)])
    with mock.patch.object(lab, "new_addr", lambda family, n: addrs[n]):
        with lab.tree(family=6, ranks=ranks, pmtu=PMTU, **peer.PATIENT) as t:
            try:
                yield t
            finally:
                os.sched_setaffinity(0, cpus)


def ports(lab):
    return [CsumPort("%s-h%d" % (lab.net, n), "eth0", lab.ports[n].peer_mac)
            for n in range(3)]


def request(t, msg_id):
    """Each member's packets, and the sums."""
    data = [[r * 1000 + msg_id + i for i in range(COUNT)]
            for r in range(len(t.m))]
    return ([m.request(msg_id, peer.ints(d)) for m, d in zip(t.m, data)],
            [sum(col) for col in zip(*data)])


def begin(lab, t, to, msg_id, cuts, rng):
    """All of a message's packets up to each member's cut, from one on in bursts."""
    pkts, sums = request(t, msg_id)
    for host, port in enumerate(to):
        mine = [r for r in range(len(t.m)) if r % 3 == host]
        for r in mine:
            t.m[r].send(pkts[r][0])
        rest = [(i, r) for r in mine for i in range(1, cuts[r])]
        if rng.randrange(2):
            rest.sort()         # from all in turns, not from one after the other
        raw = [build(pkts[r][i]) for i, r in rest]
        for at in range(0, len(raw), 40):
            port.send_burst(raw[at:at + 40])
    return pkts, sums


def passed_on(lab, t, msg_id, packets, sums):
    """Do all get what is complete of the result, although no packet follows?"""
    want = peer.ints(sums)[:PMTU * packets - 32]
    return lab.until(lambda: all(m.result(msg_id, len(want)) == want
                                 for m in t.m))


def finish(t, msg_id, pkts, cuts, sums):
    for m, p, cut in zip(t.m, pkts, cuts):
        m.send(*p[cut:])
    t.check(msg_id, sums)


@test("turn: it ends in the middle of messages", families=(6,), cases={
    "%d members" % n: (n,) for n in (3, 3 * KEPT_QPS + 6)})
def middle(lab, family, ranks):
    rng = random.Random(lab.seed)
    to = ports(lab)
    with one_tree(lab, ranks) as t:
        for msg_id in range(4):
            cuts = [rng.randrange(1, PACKETS) for _ in t.m]
            pkts, sums = begin(lab, t, to, msg_id, cuts, rng)
            check(passed_on(lab, t, msg_id, min(cuts), sums),
                  "message %d: %d of its packets" % (msg_id, min(cuts)))
            expect("results", t.m[0].results, [(0, n) for n in range(msg_id)])
            finish(t, msg_id, pkts, cuts, sums)
        expect("held", t.get()["held"], 0)


@test("turn: trees end meanwhile", families=(6,))
def ends(lab, family):
    rng = random.Random(lab.seed)
    to = ports(lab)
    for _ in range(10):
        with one_tree(lab, 6) as t:
            cuts = [rng.randrange(2, PACKETS) for _ in t.m]
            begin(lab, t, to, 0, cuts, rng)
            if rng.randrange(2):
                lab.sw.do("member-del", tree_id=t.id, rank=rng.randrange(6))
    check(lab.until(lambda: not lab.sw.do("switch-get")["held"], 5), "held")


@test("turn: a message fails in the middle", families=(6,))
def fails(lab, family):
    rng = random.Random(lab.seed)
    to = ports(lab)
    with one_tree(lab, 6) as t:
        wrong = t.m[5]
        for msg_id in range(0, 12, 2):
            keep, wrong.send = wrong.send, lambda *pkts: None
            cuts = [rng.randrange(2, PACKETS) for _ in t.m[:5]] + [1]
            psn = wrong.psn
            pkts, _ = begin(lab, t, to, msg_id, cuts, rng)
            wrong.send, wrong.psn = keep, psn
            wrong.allreduce(msg_id, range(COUNT), op=peer.MAX)
            check(lab.until(lambda: all(m.results and m.results[-1][0] != peer.OK
                                        for m in t.m)), "not told")
            for m, p, cut in zip(t.m[:5], pkts, cuts):
                m.send(*p[cut:])
            pkts, sums = begin(lab, t, to, msg_id + 1, [PACKETS - 1] * 6, rng)
            finish(t, msg_id + 1, pkts, [PACKETS - 1] * 6, sums)
        check(lab.until(lambda: not t.get()["held"]), "held")
