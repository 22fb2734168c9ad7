# SPDX-License-Identifier: GPL-2.0
"""Members that die, are silent, leave; trees that go: nobody waits for ever."""
import threading
import time

import counters
import peer
import roce
from ktap import check, expect, in_time, test, timed
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
                        (PEER_DEAD, 2) in c.results),
              "the others were not told")
        in_time(time.monotonic() - start, 1, "told")
        expect("error", a.get()["error"], "retry-exceeded")
    lab.good(family)


@test("life: a member that waits for its host takes no packet")
def waiting(lab, family):
    with lab.tree(family=family, ranks=2) as t:
        a, b = t.m
        t.good()
        lab.sw.do("member-new", tree_id=lab.sw.do(
            "tree-new", ranks=2, slots=4, dead_time=50)["id"], rank=1)
        made = [m for m in lab.sw.nl.do("member-get", dump=True)
                if m["state"] == "init"]
        expect("members that wait", len(made), 1)
        with counters.switch(lab, rx_no_qp=3):
            for psn in range(3):
                a.send(a.pkt(qpn=made[0]["qpn"], psn=psn))
        lab.sw.do("tree-del", id=made[0]["tree-id"])
        t.good()


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
                        (PEER_DEAD, 1) in b.results),
              "the others were not told")
        in_time(time.monotonic() - start, 1, "told")
        probe = c.log[0]
        expect("probe",
               (probe.opcode, probe.dmalen, probe.payload, probe.ackreq),
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
        in_time(time.monotonic() - start, 1, "told")
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
        # a probe that is answered late is sent again
        probes = {p.psn for p in b.log if not p.dmalen}
        check(3 <= len(probes) <= 40, "%d probes" % len(probes))
        expect("Immediates of the probed", b.results, [(0, 0)])
        b.allreduce(1, [2])
        t.check(1, [3])
        # a probe just before may leave the result to be solicited
        check(lab.until(lambda: not b.get()["tx-in-flight"]),
              "not acknowledged")
        known = {p.psn for p in b.log}
        lab.wait(0.3)
        expect("probes when nobody waits", {p.psn for p in b.log} - known,
               set())
        t.next_id = 2
        t.good()


def leaving(lab):
    return lab.sw.do("switch-get")["leaving"]


@test("life: tree-del: waits for nobody, works do", families=(4,))
def gone_deaf(lab, family):
    with lab.tree(family=family, ranks=2, dead_time=60000) as t:
        t.good()
        b = t.m[1]
        t.m[0].allreduce(1, [1])
        lab.quiet()
        deaf(b)
        start = time.monotonic()
        lab.sw.do("tree-del", id=t.id)
        in_time(time.monotonic() - start, 0.3, "deleted")
        lab.wait(0.3)
        expect("trees that wait for a member", leaving(lab), 1)
        used = lab.sw.do("switch-get")["memory-used"]
        check(used > 10000, "it is charged %d bytes" % used)
        # Its ID is free, and its end is its own.
        start = time.monotonic()
        lab.sw.do("tree-new", id=t.id, ranks=2)
        lab.sw.do("tree-del", id=t.id)
        in_time(time.monotonic() - start, 0.3, "another one of this ID deleted")
        lab.wait(0.3)
        expect("trees that wait for a member", leaving(lab), 1)
        b.hook = None
        check(lab.until(lambda: not leaving(lab)), "it acknowledges in vain")


@test("life: tree-del: members are told, and have time to acknowledge",
      families=(4,))
def gone(lab, family):
    timed()
    t = lab.tree(family=family, ranks=3, dead_time=2000)
    try:
        t.good()
        t.m[0].allreduce(1, [1])
        lab.quiet()
        start = time.monotonic()
        # netlink works in the caller's context, the members in this thread
        thread = threading.Thread(target=lambda: lab.sw.do("tree-del", id=t.id))
        thread.start()
        check(lab.until(lambda: not thread.is_alive()),
              "tree-del does not return")
        in_time(time.monotonic() - start, 0.5,
                "results %s" % [m.results[1:] for m in t.m])
        lab.quiet()
        expect("results", [m.results[1:] for m in t.m],
               [[(peer.TREE_GONE, 1)]] * 3)
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


@test("life: a member that comes late is no dead one")
def late(lab, family):
    """Until its QP is up it answers nothing, and gets only what it asked for."""
    timed()
    with lab.tree(family=family, ranks=3, dead_time=100, min_rto=4) as t:
        a, b, c = t.m
        deaf(c)
        a.allreduce(0, [1])
        b.allreduce(0, [1])
        lab.wait(1)
        expect("states", [m.get()["state"] for m in t.m], ["rts"] * 3)
        expect("what it got", (c.log, c.acks), ([], []))
        c.hook = None
        c.allreduce(0, [1])
        t.check(0, [3])
        t.next_id = 1
        t.good()


STRANGE = {
    "far ahead": lambda m: m.pkt(opcode=roce.WRITE_MIDDLE, payload=bytes(1024),
                                 psn=roce.psn_add(m.psn, 70000)),
    "far behind": lambda m: m.pkt(opcode=roce.WRITE_MIDDLE, payload=bytes(1024),
                                  psn=roce.psn_add(m.psn, -70000), ackreq=1),
    "a wrong key": lambda m: m.request(0, peer.ints([1]), rkey=m.rkey ^ 1)[0].but(
        psn=roce.psn_add(m.psn, 1)),
    "an ACK": lambda m: m.response(roce.SYN_ACK, m.epsn + 3),
    # these may be the member's, and are answered, and that is all
    "an empty write": lambda m: m.pkt(opcode=roce.WRITE_ONLY, va=0, rkey=0, dmalen=0,
                                      ackreq=1),
    "no key": lambda m: m.pkt(opcode=roce.WRITE_MIDDLE, payload=bytes(1024),
                              psn=roce.psn_add(m.psn, 2)),
}


@test("life: a stranger's packet is no sign of life", families=(4,), cases={
    name: (name, make) for name, make in STRANGE.items()})
def stranger(lab, family, name, make):
    """From the address of a member that is not up yet, to its QPN."""
    timed()
    with lab.tree(family=family, ranks=3, dead_time=100, min_rto=4) as t:
        a, b, c = t.m
        deaf(c)
        a.allreduce(0, [1])
        b.allreduce(0, [1])
        psn = c.psn
        c.send(make(c))
        lab.wait(0.5)
        expect("states", [m.get()["state"] for m in t.m], ["rts"] * 3)
        expect("what it got", c.log, [])
        if name not in ("no key", "an empty write"):
            expect("answers", c.acks, [])
        c.hook, c.psn = None, psn
        if name == "an empty write":
            c.psn = roce.psn_add(psn, 1)
        c.allreduce(0, [1])
        t.check(0, [3])
        t.next_id = 1
        t.good()


@test("life: one old packet for ever is no sign of life")
def one_packet(lab, family):
    timed()
    with lab.tree(family=family, ranks=2, dead_time=100, min_rto=4) as t:
        t.good()
        a, b = t.m
        pkt, = a.request(1, peer.ints([1]))
        deaf(a)
        a.send(pkt)
        b.allreduce(1, [1])

        def dead():
            a.send(pkt)
            return a.get()["state"] == "error"
        check(lab.until(dead, 4), "lives for ever")
        expect("the tree", t.get()["state"], "failed")


@test("life: a member that was given up is told when it comes back")
def told(lab, family):
    timed()
    with lab.tree(family=family, ranks=2, dead_time=100, min_rto=4) as t:
        t.good()
        a, b = t.m
        deaf(a)
        both(t, 1, [1])
        check(lab.until(lambda: a.get()["state"] == "error"), "lives for ever")
        a.acks.clear()
        with counters.member(a, rx_in_error=2, tx_naks=2):
            new, = a.request(2, peer.ints([1]))
            a.send(new.but(psn=roce.psn_add(new.psn, 3)), new)
        expect("answers", [(x.syndrome, x.psn) for x in a.acks],
               [(roce.NAK_OPERATIONAL, new.psn)] * 2)


@test("life: tree-del waits for nobody who never came", families=(4,))
def gone_early(lab, family):
    timed()
    t = lab.tree(family=family, ranks=3, dead_time=2000)
    try:
        for m in t.m:
            deaf(m)
        start = time.monotonic()
        lab.sw.do("tree-del", id=t.id)
        in_time(time.monotonic() - start, 0.5, "deleted")
    finally:
        t.close()
