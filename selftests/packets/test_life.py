# SPDX-License-Identifier: GPL-2.0
"""Members that die, are silent, leave; trees that go: nobody waits for ever."""
import threading
import time

import counters
import peer
import roce
from ktap import check, expect, test, timed
from peer import PEER_DEAD
from test_requester import both, deaf


@test("life: a member that dies with results in flight")
def dead_member(lab, family):
    timed()
    with lab.tree(family=family, ranks=3) as t:
        t.good()
        a, b, c = t.m
        deaf(a)
        both(t, 1, [1])
        start = time.monotonic()
        b.allreduce(2, [1])         # waits for the dead one
        check(lab.until(lambda: (PEER_DEAD, 2) in b.results and
                        (PEER_DEAD, 2) in c.results), "the others were not told")
        took = time.monotonic() - start
        check(took < 1, "told after %.2f s" % took)
        expect("error", a.get()["error"], "retry-exceeded")
    lab.good(family)


@test("life: a silent member that is awaited is dead")
def silent_dead(lab, family):
    timed()
    with lab.tree(family=family, ranks=3) as t:
        t.good()
        a, b, c = t.m
        deaf(c)
        c.log.clear()
        start = time.monotonic()
        a.allreduce(1, [1])
        b.allreduce(1, [1])
        check(lab.until(lambda: (PEER_DEAD, 1) in a.results and
                        (PEER_DEAD, 1) in b.results), "the others were not told")
        took = time.monotonic() - start
        check(took < 1, "told after %.2f s" % took)
        probe = c.log[0]
        expect("probe", (probe.opcode, probe.dmalen, probe.payload, probe.ackreq),
               (roce.WRITE_ONLY, 0, b"", 1))
        check(c.stats()["tx-probes"] >= 1, "not counted")
    lab.good(family)


@test("life: a silent member that did not begin a failed message is dead")
def silent_after_failure(lab, family):
    timed()
    with lab.tree(family=family, ranks=3) as t:
        t.good()
        a, b, c = t.m
        lab.quiet()
        deaf(c)
        a.send(*a.request(1, peer.ints([1]), flags=2))
        check(lab.until(lambda: (peer.VERSION, 1) in a.results), "no status")
        start = time.monotonic()
        # The slot's next message has to wait for c: an RNR NAK each time.
        again = a.request(1 + t.slots, peer.ints([1]))

        def told():
            a.send(*again)
            lab.wait(0.01)
            return (PEER_DEAD, 1 + t.slots) in a.results
        check(lab.until(told), "who waits was not told")
        took = time.monotonic() - start
        check(took < 1, "told after %.2f s" % took)
        expect("error", c.get()["error"], "retry-exceeded")
    lab.good(family)


@test("life: a silent member that answers probes lives")
def silent_alive(lab, family):
    timed()
    with lab.tree(family=family, ranks=2, dead_time=300) as t:
        t.good()
        a, b = t.m
        b.log.clear()
        a.allreduce(1, [1])
        lab.wait(1.2)
        expect("state", (a.get()["state"], b.get()["state"]), ("rts", "rts"))
        probes = [p for p in b.log if not p.dmalen]
        check(3 <= len(probes) <= 40, "%d probes" % len(probes))
        expect("Immediates of the probed", b.results, [(0, 0)])
        b.allreduce(1, [2])
        t.check(1, [3])
        b.log.clear()
        lab.wait(0.3)
        expect("probes when nobody waits", len(b.log), 0)
        t.next_id = 2
        t.good()


@test("life: tree-del: members are told, and have time to acknowledge", families=(4,))
def gone(lab, family):
    timed()
    t = lab.tree(family=family, ranks=3, dead_time=2000)
    try:
        t.good()
        t.m[0].allreduce(1, [1])
        lab.quiet()
        start = time.monotonic()
        # netlink works in the caller's context, the members in this one
        thread = threading.Thread(target=lambda: lab.sw.do("tree-del", id=t.id))
        thread.start()
        check(lab.until(lambda: not thread.is_alive()), "tree-del does not return")
        took = time.monotonic() - start
        check(took < 0.5, "took %.3f s, results %s" % (took, [
            m.results[1:] for m in t.m]))
        lab.quiet()
        expect("results", [m.results[1:] for m in t.m], [[(peer.TREE_GONE, 1)]] * 3)
        with counters.switch(lab, rx_no_qp=1):
            t.m[0].allreduce(2, [1])
    finally:
        t.close()


@test("life: member-del: the others are told", families=(4,))
def left(lab, family):
    with lab.tree(family=family, ranks=3) as t:
        t.good()
        t.m[0].allreduce(1, [1])
        lab.sw.do("member-del", tree_id=t.id, rank=1)
        check(lab.until(lambda: all((peer.MEMBER_LEFT, 1) in m.results
                                    for m in (t.m[0], t.m[2]))), "not told")
        expect("the one that left", t.m[1].results[1:], [])
