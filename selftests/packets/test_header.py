# SPDX-License-Identifier: GPL-2.0
"""INC headers: every wrong one ends its message, for all ranks, and no more."""
import time

import counters
import peer
from ktap import check, expect, test
from peer import (BARRIER, COLLECTIVE, DTYPE, FP64, INT64, LENGTH, MAX, MIN,
                  MISMATCH, MSG_ID, ROOT, TREE_ID, VERSION, ints)


def statuses(lab, t, msg_id, status, ranks=None):
    for m in t.m if ranks is None else [t.m[r] for r in ranks]:
        check(lab.until(lambda m=m: (status, msg_id & 0xffffff) in m.results,
                        1),
              "rank %d got %s, not status %d" % (m.rank, m.results, status))


def goes_on(lab, t, done):
    """After @done messages: the other slots, and the same one again."""
    t.next_id = done
    for _ in range(2 * t.slots):
        t.good()
    for m in t.m:
        expect("state of rank %d" % m.rank, m.get()["state"], "rts")
        expect("bad packets", m.bad, [])
    lab.quiet()


def fails(lab, t, status, send_bad):
    """Rank 1 sends a bad request, before, between and after the good ones."""
    for msg_id, turn in enumerate(((1, 0, 2), (0, 1, 2), (0, 2, 1))):
        for rank in turn:
            m = t.m[rank]
            if rank == 1:
                send_bad(m, msg_id)
            else:
                m.allreduce(msg_id, [1, 2, 3])
        statuses(lab, t, msg_id, status)
        for m in t.m:
            expect("Immediates of rank %d" % m.rank, len(m.results), msg_id + 1)
    stats = t.get()["stats"]
    expect("failed", stats["failed"], 3)
    expect("messages", stats["messages"], 0)
    goes_on(lab, t, 3)
    expect("messages", t.get()["stats"]["messages"], 2 * t.slots)


def bad(**kw):
    data = kw.pop("data", ints([1, 2, 3]))

    def send(m, msg_id):
        m.send(*m.request(msg_id, data, **kw))
    return send


HEADER = {
    "version 0": (VERSION, bad(version=0)),
    "version 2": (VERSION, bad(version=2)),
    "version 255": (VERSION, bad(version=255)),
    "a flag": (VERSION, bad(flags=2)),
    "the highest flag": (VERSION, bad(flags=0x8000)),
    "another tree": (TREE_ID, bad(tree_id=0x7fffffff)),
    "tree 0": (TREE_ID, bad(tree_id=0)),
    "element count too large": (LENGTH, bad(nelem=4)),
    "element count too small": (LENGTH, bad(nelem=2)),
    "element count 0 with data": (LENGTH, bad(nelem=0)),
    "element count 2^30 + 3": (LENGTH, bad(nelem=(1 << 30) + 3)),
    "element count 2^32 - 1": (LENGTH, bad(nelem=0xffffffff)),
    "no data for the count": (LENGTH, bad(data=b"", nelem=3)),
    "another type than its length": (LENGTH, bad(dtype=INT64, nelem=3)),
    "root 1": (ROOT, bad(root=1)),
    "root 65535": (ROOT, bad(root=0xffff)),
    "barrier with count": (LENGTH, bad(coll=BARRIER, data=b"", nelem=1)),
    "barrier with data": (LENGTH, bad(coll=BARRIER, nelem=0)),
    "type 17": (DTYPE, bad(dtype=17)),
    "type 255": (DTYPE, bad(dtype=255)),
    "operation 13": (DTYPE, bad(op=13)),
    "operation 255": (DTYPE, bad(op=255)),
    "bitwise and of fp32": (DTYPE, bad(dtype=peer.FP32, op=7)),
    "collective 9": (COLLECTIVE, bad(coll=9)),
    "collective 255": (COLLECTIVE, bad(coll=255)),
    "ranks disagree on the operation": (MISMATCH, bad(op=MAX)),
    "ranks disagree on the type": (MISMATCH, bad(dtype=peer.FP32)),
    "ranks disagree on the count, less": (MISMATCH, bad(data=ints([1, 2]))),
    "ranks disagree on the count, more": (MISMATCH, bad(data=ints([0] * 4))),
    "ranks disagree on the count, 3 packets": (
        MISMATCH, bad(data=ints([0] * 600))),
    "ranks disagree on the count, 0": (MISMATCH, bad(data=b"")),
    "ranks disagree on the collective": (MISMATCH, bad(coll=BARRIER, data=b"")),
}


@test("header", families=(4,), cases=HEADER)
def header(lab, family, status, send_bad):
    with lab.tree(ranks=3, family=family) as t:
        fails(lab, t, status, send_bad)


@test("header: status over IPv6", families=(6,))
def header6(lab, family):
    with lab.tree(ranks=3, family=family) as t:
        fails(lab, t, VERSION, bad(version=7))


@test("header: what the switch does not offer", families=(4,))
def offers(lab, family):
    """Each collective, type and operation: refused, or in the switch's mask."""
    has = lab.sw.do("switch-get")
    with lab.tree(ranks=1, family=family) as t:
        m = t.m[0]
        for coll in range(12):
            if not has["collectives"] >> coll & 1:
                msg_id = t.take_id()
                m.send(*m.request(msg_id, ints([1]), coll=coll))
                statuses(lab, t, msg_id, COLLECTIVE)
        sizes = {0: 1, 1: 2, 2: 4, 3: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 2, 9: 2,
                 10: 4, 11: 8, 12: 8, 13: 16, 14: 16, 15: 8, 16: 8}
        for dtype in range(19):
            for op in range(14):
                msg_id = t.take_id()
                data = bytes(sizes.get(dtype, 4))
                m.send(*m.request(msg_id, data, dtype=dtype, op=op, nelem=1))
                check(lab.until(lambda i=msg_id: m.results and
                                m.results[-1][1] == i), "no answer")
                status = m.results[-1][0]
                if not (has["dtypes"] >> dtype & 1 and has["ops"] >> op & 1):
                    expect("type %d op %d" % (dtype, op), status, DTYPE)
                else:
                    check(status in (0, DTYPE), "status %d" % status)
        t.good()
        expect("bad packets", m.bad, [])


@test("header: what the tree does not take", families=(4,))
def masks(lab, family):
    with lab.tree(ranks=3, family=family, dtypes=1 << peer.INT32,
                  ops=1 << peer.SUM, collectives=1 << peer.ALLREDUCE) as t:
        for status, send in ((DTYPE, bad(dtype=peer.FP32)),
                             (DTYPE, bad(op=MIN)),
                             (COLLECTIVE, bad(coll=BARRIER, data=b""))):
            msg_id = t.take_id()
            for m in t.m:
                if m.rank == 2:
                    send(m, msg_id)
                else:
                    m.allreduce(msg_id, [1, 2, 3])
            statuses(lab, t, msg_id, status)
        for _ in range(6):
            t.good()


@test("header: message ID outside the window", families=(4, 6), cases={
    "next round of the slot": (4,), "two rounds ahead": (8,),
    "far ahead": (0x100,), "another epoch of 24 bits": (0x1000000,),
    "one round behind": (-4,), "last of all": (-4 & 0xffffff,),
    "half of all ahead": (1 << 31,)})
def window(lab, family, diff):
    with lab.tree(ranks=3, family=family) as t:
        for m in t.m[1:]:
            m.allreduce(0, [1, 2, 3])
        a = t.m[0]
        wrong = diff & 0xffffffff
        a.allreduce(wrong, [1, 2, 3])
        statuses(lab, t, wrong, MSG_ID, [0])
        # the others and the slot are not affected
        lab.quiet()
        expect("Immediates of the others", [m.results for m in t.m[1:]],
               [[], []])
        a.allreduce(0, [1, 2, 3])
        t.check(0, [3, 6, 9])
        # again, in a slot that is done
        a.allreduce(wrong if diff != 4 else 8, [1])
        statuses(lab, t, wrong if diff != 4 else 8, MSG_ID, [0])
        goes_on(lab, t, 1)


@test("header: the same message twice", cases={
    "while it is busy": (1,), "when it is done": (2,)})
def twice(lab, family, have):
    """Under a new PSN, as from an rxe that has lost its place."""
    with lab.tree(ranks=2, family=family) as t:
        for m in t.m[:have]:
            m.allreduce(0, [1, 2, 3])
        lab.quiet(0.02)         # an acknowledgment may be deferred
        with counters.member(t.m[0], rx_place_lost=1, rx_bad_request=1,
                             rx_redundant=1, rx_packets=0, tx_naks=1):
            t.m[0].allreduce(0, [100, 100, 100])
        lab.quiet()
        expect("error", t.m[0].get()["error"], "local-place-lost")
        if have == 2:
            expect("result", t.m[1].result(0, 12), ints([2, 4, 6]))


@test("header: more wrong messages than there is room for")
def strays(lab, family):
    """A member that is refused again and again, and acknowledges nothing."""
    with lab.tree(ranks=2, family=family, window=4) as t:
        a, b = t.m
        a.allreduce(0, [1])
        a.hook = lambda p: True
        for _ in range(60):
            a.allreduce(4, [1])         # its slot is not free
        lab.quiet()
        check(len({p.psn for p in a.log}) <= 4, "%d in flight" % len(a.log))
        a.hook = None
        for p in sorted(a.log, key=lambda p: p.psn - a.epsn & 0xffffff):
            if p.psn == a.epsn:
                a.take(p)
        check(lab.until(lambda: len(a.results) >= 16),
              "%d statuses" % len(a.results))
        check(all(r == (MSG_ID, 4) for r in a.results), str(a.results))
        b.allreduce(0, [2])
        t.check(0, [3])
        goes_on(lab, t, 1)


@test("header: a failed message of many packets", families=(4,))
def long_failure(lab, family):
    """The failure comes in the middle, parts of all kinds are waiting."""
    with lab.tree(ranks=3, family=family, pmtu=256) as t:
        a, b, c = t.m
        values = range(1000)
        half = a.request(0, ints(values))
        a.send(*half[:9])
        b.send(*b.request(0, ints(values)))
        c.send(*c.request(0, ints(range(999))))
        statuses(lab, t, 0, MISMATCH)
        a.send(*half[9:])
        lab.quiet()
        expect("Immediates", [len(m.results) for m in t.m], [1, 1, 1])
        check(lab.until(lambda: a.acks and a.acks[-1].psn == half[-1].psn),
              "no ACK")
        # part of the result has been sent already
        for m in (a, b):
            m.send(*m.request(1, ints(values)))
        pkts = c.request(1, ints(values))
        c.send(*pkts[:7])
        lab.quiet()
        check(len({p.psn for p in a.log if p.opcode == 10}) == 7,
              "no streaming")
        expect("finished", [m.results[1:] for m in t.m], [[], [], []])
        c.send(*pkts[7:])
        t.check(1, [3 * v for v in values])
        goes_on(lab, t, 2)


@test("header: results to an address and a key of the member's choice")
def placement(lab, family):
    with lab.tree(ranks=2, family=family) as t:
        for n, off in enumerate((0, 1, 3, 4096, 0x8001)):
            for m in t.m:
                m.key = 0xffff0000 + n
                m.send(*m.request(n, ints(range(700)),
                                  result_va=peer.MR_BASE + off))
            for m in t.m:
                check(lab.until(lambda m=m: len(m.results) == n + 1),
                      "no result")
                expect("bad packets", m.bad, [])
                expect("memory", bytes(m.mem[off:off + 2800]) ==
                       ints(2 * v for v in range(700)), True)


@test("header: fp64 and int64, many packets", families=(4,))
def wide(lab, family):
    import struct       # pylint: disable=import-outside-toplevel
    with lab.tree(ranks=3, family=family) as t:
        for n, (dtype, code) in enumerate(((FP64, "d"), (INT64, "q"))):
            for m in t.m:
                m.send(*m.request(n, struct.pack("<500" + code, *range(500)),
                                  dtype=dtype))
            for m in t.m:
                check(lab.until(lambda m=m, n=n: (0, n) in m.results),
                      "no result")
                expect("result", m.result(n, 4000) == struct.pack(
                    "<500" + code, *[3 * v for v in range(500)]), True)


@test("header: msg-size counts bytes, not packets", cases={
    "within": (4, 0), "one element more": (5, LENGTH)})
def msg_size(lab, family, nelem, status):
    """Two blocks of a result have to fit into what is left by the header."""
    with lab.tree(family=family, msg_size=64, slots=4) as t:
        for msg_id in range(6):
            for m in t.m:
                m.send(*m.request(msg_id, ints([m.rank] * nelem),
                                  coll=peer.ALLGATHER))
            statuses(lab, t, msg_id, status)
        expect("bad packets", [m.bad for m in t.m], [[], []])
        if not status:
            expect("result", t.m[0].result(5, 8 * nelem),
                   ints([0] * nelem + [1] * nelem))


def blamed(lab, t):
    """Events of this tree; those of others may come late, some a second."""
    epoch = t.get()["epoch"]
    return [e for name, e in lab.sw.events() if name == "slot-failed-ntf" and
            (e["tree-id"], e["epoch"]) == (t.id, epoch)]


def one_blamed(lab, t):
    """The event of a failure; there is one."""
    got = []
    check(lab.until(lambda: got.extend(blamed(lab, t)) or got, 2), "no event")
    expect("events", len(got), 1)
    return got[0]


@test("whose request made a message fail")
def whose(lab, family):
    with lab.tree(ranks=3, family=family) as t:
        lab.sw.events()
        for msg_id, (op, version, status) in enumerate((
                (MAX, 1, MISMATCH), (peer.SUM, 2, VERSION))):
            t.m[2].allreduce(msg_id, [1])
            t.m[1].allreduce(msg_id, [1], op=op, version=version)
            t.m[0].allreduce(msg_id, [1])
            statuses(lab, t, msg_id, status)
            e = one_blamed(lab, t)
            expect("tree", e["tree-id"], t.id)
            expect("epoch", e["epoch"], t.get()["epoch"])
            expect("message", e["msg-id"], msg_id)
            expect("status", e["status"], status)
            expect("wrong rank", e["wrong-rank"], 1)
            slot = lab.sw.do("slot-get", tree_id=t.id, index=msg_id)
            expect("wrong rank of the slot", slot["wrong-rank"], 1)
            for where in e, slot:
                expect("the one that it is not like", where.get("unlike-rank"),
                       2 if status == MISMATCH else None)
        t.next_id = 2
        t.good()
        expect("events of what is right", blamed(lab, t), [])


@test("failures are told of ten times a second at most")
def bounded(lab, family):
    with lab.tree(ranks=2, family=family, slots=64) as t:
        start = time.monotonic()
        n = 0
        got = []
        while time.monotonic() < start + 1:
            for m in t.m:
                m.allreduce(n, [1], op=MAX if m.rank else peer.SUM)
            statuses(lab, t, n, MISMATCH)
            got += blamed(lab, t)
            n += 1
        lab.until(lambda: False, 0.3)
        got += blamed(lab, t)
        took = time.monotonic() - start
        check(n > 20, "%d failures" % n)
        check(2 <= len(got) <= 2 + took * 10,
              "%d events of %d failures in %.1f s" %
              (len(got), n, took))
        for e in got:
            check(e["wrong-rank"] in (0, 1), "%r" % e)
