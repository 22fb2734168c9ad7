# SPDX-License-Identifier: GPL-2.0
"""What a member may hold, in whatever order it begins its messages."""
import contextlib
import os

import peer
from ktap import check, expect, test
from peer import OK, RC, UC, WAIT, ints
from test_memory import cgroup

HOLD = 1 << 16
# One message of 16 KiB in packets of 4 KiB may exceed the limit, and the oldest one.
MESSAGE = 5 * 9216


def begin(lab, m, ids, data):
    """As a requester does: an RNR NAK is the end."""
    for n in ids:
        m.send(*m.request(n, data))
        lab.poll(0)
        if any(p.syndrome >> 5 == 1 for p in m.acks):
            break
        m.acks.clear()
    lab.quiet()


@test("hold: a limit for messages in any order", families=(4,), limit=100, cases={
    "RC": (RC, range(256)), "UC": (UC, range(256)),
    "RC, newest first": (RC, range(255, -1, -1)),
    "UC, newest first": (UC, range(255, -1, -1)),
    "UC, both": (UC, [n ^ 255 if n & 1 else n for n in range(256)])})
def any_order(lab, family, kind, ids):
    size = 16384 if kind == RC else 4096
    with lab.tree(family=family, ranks=2, pmtu=4096, slots=256, msg_size=size,
                  transports=(kind,), hold=HOLD, **peer.PATIENT) as t, \
            lab.no_pieces():
        a = t.m[0]
        begin(lab, a, ids, ints(range((size - 32) // 4)))
        held = a.get()["held"]
        check(HOLD // 2 < held < HOLD + 2 * MESSAGE, "%d bytes held" % held)


@test("hold: a tree's quota, too", families=(4,), limit=100)
def quota(lab, family):
    lab.sw.do("switch-set", max_tree_hold=1 << 20)
    try:
        with lab.tree(family=family, ranks=2, pmtu=4096, slots=256, msg_size=16384,
                      **peer.PATIENT) as t, lab.no_pieces():
            a = t.m[0]
            begin(lab, a, range(255, -1, -1), ints(range(4088)))
            held = a.get()["held"]
            check(held < (1 << 20) + 2 * MESSAGE, "%d bytes held" % held)
    finally:
        lab.sw.do("switch-set", max_tree_hold=0)


@test("hold: the tree's oldest message comes in, whatever others are beyond",
      families=(4,))
def oldest(lab, family):
    """Each member has lost messages that the other one has, and sends the newest of
    them first."""
    with lab.tree(family=family, ranks=2, pmtu=1024, slots=256, msg_size=1024,
                  transports=(UC,), hold=HOLD, **peer.PATIENT) as t, \
            lab.no_pieces():
        a, b = t.m
        one = ints([1] * 248)
        for m, lost in ((a, range(0, 8)), (b, range(4, 12))):
            begin(lab, m, [n for n in range(200) if n not in lost], one)
            begin(lab, m, reversed(lost), one)
        for n in range(12):
            for m in t.m:
                if (OK, n) not in m.results:
                    m.send(*m.request(n, one))
            lab.quiet()
            check(all((OK, n) in m.results for m in t.m), "message %d" % n)


@contextlib.contextmanager
def full(lab, family, name):
    """A tree of UC members whose slots have their memory, at its cgroup's limit."""
    with cgroup(name) as group, lab.tree(
            family=family, ranks=2, pmtu=256, slots=256, msg_size=256,
            transports=(UC,), **peer.PATIENT) as t:
        (group.parent / "cgroup.procs").write_text(str(os.getpid()))
        for n in range(256):
            for m in t.m:
                m.allreduce(n, [1])
            t.next_id = n + 1
            t.check(n, [2])
        (group / "memory.max").write_text("0")
        for m in t.m:
            m.results.clear()
        yield t, group
        (group / "memory.max").write_text("max")


@test("hold: and without memory for more", families=(4,))
def cramped(lab, family):
    """In-flight state has one entry that waits for the tree's oldest message."""
    with full(lab, family, "inc-cramped") as (t, _):
        a, b = t.m
        ids = range(256, 512)
        begin(lab, a, ids[128:], ints([1]))
        begin(lab, b, ids[:128], ints([1]))
        for m in t.m:
            check(m.stats()["rx-deferred"], "rank %d: room for all" % m.rank)
        # What has ended cannot be sent again, which is no reason for silence.
        a.results.clear()
        a.ask(100)
        check(lab.until(lambda: a.results), "no answer")
        check(a.results[0] in ((OK, 100), (WAIT, 100)), "answer: %r" % a.results)
        begin(lab, a, ids[:128], ints([1]))
        for m in t.m:
            check((OK, ids[0] & 0xffffff) in m.results, "the oldest has not ended")


@test("hold: memory is not searched for at each packet", families=(4,))
def searches(lab, family):
    with full(lab, family, "inc-searches") as (t, group):
        a = t.m[0]
        begin(lab, a, range(256, 320), ints([1]))
        deferred = a.stats()["rx-deferred"]
        check(deferred, "room for all")

        def failures():
            return int(dict(line.split() for line in (group / "memory.events")
                            .read_text().splitlines())["max"])

        before, raw = failures(), [a.request(n, ints([1]))[0] for n in range(320, 384)]
        for _ in range(20):
            a.send(*raw)
        lab.quiet()
        packets = a.stats()["rx-deferred"] - deferred
        expect("refused", packets, 20 * 64)
        check(failures() - before < packets, "%d failures for %d packets" %
              (failures() - before, packets))
