# SPDX-License-Identifier: GPL-2.0
"""What a member's packets make the switch do is bounded by what they are."""
import time

import counters
import peer
import roce
from ktap import check, expect, test, timed
from roce import SYN_RNR

SLOTS = 4096


def least(work, rounds=25):
    """Seconds that some work takes when nothing comes in between."""
    best = float("inf")
    for _ in range(rounds):
        start = time.monotonic()
        work()
        best = min(best, time.monotonic() - start)
    return best


def busy():
    for _ in range(200000):
        pass


def crowd(lab, family, ranks, **kw):
    """A tree of many ranks, of which only the first does something."""
    return lab.tree(family=family, ranks=ranks, pmtu=256, msg_size=256, real=1,
                    dead_time=20000, **kw)


@test("work: messages that wait cost nothing", families=(4,))
def waiting(lab, family):
    timed()
    with crowd(lab, family, 512, slots=SLOTS, hold=1 << 28, min_rto=1) as t:
        m = t.m[0]
        alone = least(busy)
        for msg_id in range(SLOTS):
            m.allreduce(msg_id, range(12), ackreq=msg_id % 16 == 15)
            if msg_id % 64 == 63:
                lab.quiet(0.0)
        check(lab.until(lambda: m.stats()["rx-messages"] == SLOTS),
              "%d messages taken" % m.stats()["rx-messages"])
        lab.wait(0.05)
        beside = least(busy)
        # the switch's own work would not end; other load of the machine may
        until = time.monotonic() + 5
        while beside >= 1.25 * alone and time.monotonic() < until:
            beside = min(beside, least(busy))
        expect("state", t.get()["state"], "ready")
    # the machine may have become slower
    alone = max(alone, least(busy))
    check(beside < 1.25 * alone, "%.1f ms of work take %.1f ms" %
          (alone * 1e3, beside * 1e3))


def refused_us(lab, family, ranks):
    """What a refused message costs, us."""
    with crowd(lab, family, ranks, slots=4, window=128) as t:
        m = t.m[0]
        m.allreduce(0, [1])
        # message IDs far from what the slot expects
        pkts = [roce.build(p) for n in range(500)
                for p in m.request(0x1000 + 4 * n, peer.ints([1]))]
        best = float("inf")
        for at in range(0, len(pkts), 20):
            start = time.monotonic()
            # the switch has done its work when send() returns
            m.send(*pkts[at:at + 20])
            best = min(best, time.monotonic() - start)
            lab.quiet()
        expect("answers", m.results,
               [(peer.MSG_ID, 0x1000 + 4 * n) for n in range(500)])
    return best / 20 * 1e6


@test("work: a refused message concerns nobody else", families=(4,))
def refused(lab, family):
    timed()
    # the machine may become slower in between
    for _ in range(3):
        two = refused_us(lab, family, 2)
        many = refused_us(lab, family, 1024)
        if many < 1.5 * two:
            break
    check(many < 1.5 * two, "2 ranks %.1f us, 1024 ranks %.1f us" % (two, many))


def uneven_us(lab, family, rounds):
    """What a message costs over the limit, us: one slot is far ahead."""
    with lab.tree(family=family, slots=SLOTS, hold=1) as t:
        a, b = t.m
        for msg_id in range(0, rounds * SLOTS, SLOTS):
            for m in t.m:
                m.allreduce(msg_id, [1])
            lab.until(lambda: len(b.results) > msg_id // SLOTS, 0.5)
        # it waits, so the others are over the limit; but they are older
        a.allreduce(rounds * SLOTS, [1])
        lab.quiet()
        best = float("inf")
        for msg_id in range(1, 40):
            pkt = roce.build(a.request(msg_id, peer.ints([1]))[0])
            start = time.monotonic()
            a.send(pkt)
            best = min(best, time.monotonic() - start)
            b.allreduce(msg_id, [1])
            t.check(msg_id, [2])
    return best * 1e6


@test("work: slots that are used unevenly", families=(4,))
def uneven(lab, family):
    timed()
    for _ in range(3):
        few = uneven_us(lab, family, 2)
        many = uneven_us(lab, family, 500)
        if many < 2 * few:
            break
    check(many < 2 * few, "2 rounds %.1f us, 500 rounds %.1f us" % (few, many))


@test("work: a tree that is not complete takes nothing")
def forming(lab, family):
    with lab.tree(family=family, ranks=2, transports=(peer.RC,), real=1,
                  complete=False) as t:
        a = t.m[0]
        with counters.member(a, rx_messages=0, tx_rnr_naks=1):
            pkts = a.allreduce(0, [1, 2])
        expect("answer", [(p.syndrome, p.psn) for p in a.acks],
               [(SYN_RNR | 22, pkts[0].psn)])
        t.add(1, family)
        a.send(*pkts)
        t.m[1].allreduce(0, [3, 4])
        t.check(0, [4, 6])
        t.next_id = 1
        t.good()


@test("work: nor does one whose members ask", families=(4,))
def forming_uc(lab, family):
    with lab.tree(family=family, ranks=2, transports=(peer.UC,), real=1,
                  complete=False) as t:
        a = t.m[0]
        with counters.member(a, rx_messages=0, rx_deferred=1):
            a.allreduce(0, [1, 2])
        a.ask(0)
        check(lab.until(lambda: (peer.AGAIN, 0) in a.results), "no answer")
        t.add(1, family, transport=peer.UC)
        t.m[1].allreduce(0, [3, 4])
        a.allreduce(0, [1, 2])
        t.check(0, [4, 6])


@test("work: a little data in a large buffer takes little memory",
      families=(4,))
def oversized(lab, family):
    with lab.tree(family=family, slots=64, ranks=2) as t:
        a, b = t.m
        # inside the IP packet, behind the end of UDP
        pkts = [a.request(n, peer.ints([n]))[0].but(trail=bytes(8000))
                for n in range(64)]
        with counters.member(a, rx_messages=64, rx_copied=64):
            a.send(*pkts)
        check(64 * 600 < a.get()["held"] < 64 * 2048,
              "%d bytes held" % a.get()["held"])
        for n in range(64):
            b.allreduce(n, [1])
            t.check(n, [n + 1])
        expect("held at the end", a.get()["held"], 0)


@test("work: a packet that is larger than its message's first", families=(4,))
def larger(lab, family):
    with lab.tree(family=family, pmtu=256) as t:
        a, b = t.m
        values = range(180)
        first, second, last = a.request(0, peer.ints(values))
        a.send(first)
        lab.quiet()
        size = a.get()["held"] // 3
        a.send(second.but(trail=bytes(800)), last)
        lab.quiet()
        check(3 * size < a.get()["held"] < 6 * size,
              "%d bytes held, at first %d" %
              (a.get()["held"], 3 * size))
        b.allreduce(0, values)
        t.check(0, [2 * v for v in values])
        expect("held at the end", a.get()["held"], 0)


@test("work: what all jobs of a namespace hold", families=(4,), limit=20)
def namespace(lab, family):
    limit = 64 << 20            # an eighth of that may be held
    before = lab.sw.do("switch-get")["memory-limit"]
    data = bytes(65536 - 32)
    trees = []
    lab.sw.do("switch-set", memory_limit=limit)
    try:
        for _ in range(6):
            t = lab.tree(family=family, pmtu=4096, msg_size=65536, slots=32,
                         hold=1 << 28)
            trees.append(t)
            a = t.m[0]
            for n in range(32):
                a.acks.clear()
                a.send(*a.request(n, data))
                lab.until(lambda a=a: a.acks)
                if a.acks[-1].syndrome & 0xe0 == SYN_RNR:
                    break
        held = [t.m[0].get()["held"] for t in trees]
        check(sum(held) <= limit // 8, "%s are held" % held)
        check(min(held) > 2 * len(data), "%s are held" % held)
        # memory returned by one tree is available to another
        n = held[0] // (held[-1] // 2)
        trees[0].close()
        a = trees[-1].m[0]
        a.acks.clear()
        check(n and lab.until(lambda: a.get()["held"] == held[-1]),
              "it changes")
    finally:
        for t in trees:
            t.close()
        lab.sw.do("switch-set", memory_limit=before)
