# SPDX-License-Identifier: GPL-2.0
"""What a member's packets make the switch do is bounded by what they are."""
import contextlib
import re
import time

import counters
import peer
import roce
from ktap import check, expect, in_time, test, timed
from roce import SYN_RNR

SLOTS = 4096
TRACE = "/sys/kernel/tracing"


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


def mismatched_us(lab, family, ranks):
    """What a message costs that two ranks disagree on, us."""
    best = float("inf")
    with lab.tree(family=family, ranks=ranks, pmtu=256, msg_size=256, real=2,
                  dead_time=20000, slots=64) as t:
        a, b = t.m
        for msg_id in range(64):
            a.allreduce(msg_id, [1])
            pkt = roce.build(b.request(msg_id, peer.ints([1, 2]))[0])
            start = time.monotonic()
            b.send(pkt)
            best = min(best, time.monotonic() - start)
            lab.quiet()
        for m in t.m:
            expect("answers", m.results,
                   [(peer.MISMATCH, n) for n in range(64)])
    return best * 1e6


@test("work: a message that two ranks disagree on is theirs", families=(4,))
def mismatched(lab, family):
    timed()
    for _ in range(3):
        two = mismatched_us(lab, family, 2)
        many = mismatched_us(lab, family, 1024)
        if many < 1.3 * two:
            break
    check(many < 1.3 * two, "2 ranks %.1f us, 1024 ranks %.1f us" % (two, many))


def uneven_us(lab, family, rounds):
    """What a message over the limit costs, us: some slots are far ahead."""
    ahead, data = 7, bytes(4096 - 32)
    with lab.tree(family=family, slots=SLOTS, pmtu=4096, msg_size=4096,
                  hold=65536) as t:
        a, b = t.m
        for n in range(rounds * ahead):
            msg_id = n // ahead * SLOTS + n % ahead
            a.allreduce(msg_id, [1])
            b.allreduce(msg_id, [1])
            lab.until(lambda: len(b.results) > n, 0.5)
        # these wait, so there is no room for another one that is not older
        for n in range(ahead):
            a.send(*a.request(rounds * SLOTS + n, data))
        lab.quiet()
        best = float("inf")
        for msg_id in range(ahead, ahead + 30):
            pkt = roce.build(a.request(msg_id, data)[0])
            start = time.monotonic()
            a.send(pkt)
            best = min(best, time.monotonic() - start)
            b.send(*b.request(msg_id, data))
            t.check(msg_id, [0] * 8)
    return best * 1e6


@test("work: slots that are used unevenly", families=(4,), limit=30)
def uneven(lab, family):
    timed()
    for _ in range(3):
        few = uneven_us(lab, family, 2)
        many = uneven_us(lab, family, 150)
        if many < 2 * few:
            break
    check(many < 2 * few, "2 rounds %.1f us, 150 rounds %.1f us" % (few, many))


def fail_wait(lab, family, msgs):
    """Others' longest wait while a full tree fails, as a part of that time."""
    with lab.tree(family=family, ranks=64, pmtu=256, msg_size=256, real=63,
                  dead_time=20000, slots=512) as t:
        for m in t.m:
            for n in range(msgs):
                m.allreduce(n, [1], ackreq=n % 16 == 15)
            lab.quiet(0.0)
        last = t.m[-1]
        check(lab.until(lambda: last.stats()["rx-messages"] == msgs),
              "%d messages taken" % last.stats()["rx-messages"])
        lab.quiet()
        lab.sw.events()
        longest, begin = 0, time.monotonic()
        start = begin
        t.m[0].allreduce(msgs, [1], rkey=1)
        told = False
        while not told:
            told = "tree-failed-ntf" in [e[0] for e in lab.sw.events()]
            t.get()
            now = time.monotonic()
            longest, start = max(longest, now - start), now
        took = time.monotonic() - begin
        check(lab.until(lambda: len(last.results) == msgs, 10),
              "%d results" % len(last.results))
        return longest / took


@test("work: a full tree that fails keeps nobody else waiting", families=(4,),
      limit=30)
def full(lab, family):
    timed()
    for _ in range(3):
        part = fail_wait(lab, family, 500)
        if part < 0.5:
            break
    check(part < 0.5, "%.2f of the time" % part)


def traced(events, work):
    """What is traced while some work is done: (event, seconds)."""
    def switch(on):
        for event in events:
            with open("%s/events/%s/enable" % (TRACE, event), "w") as f:
                f.write(on)

    for name, value in (("trace_clock", "mono"), ("trace", "")):
        with open("%s/%s" % (TRACE, name), "w") as f:
            f.write(value)
    switch("1")
    try:
        work()
    finally:
        switch("0")
    out = []
    with open(TRACE + "/trace") as f:
        for line in f:
            found = re.search(r" ([0-9]+\.[0-9]+): (\w+): ", line)
            if found:
                out.append((found[2], float(found[1])))
    return out


def fail_large(lab, family):
    """A tree of 1,024 fails, all but one of which wait: seconds until all are
    told, and of the longest softirq meanwhile."""
    data = bytes(16 * 256 - 32)
    # A test that is late has enough to read without what is sent again.
    with lab.tree(family=family, ranks=1024, pmtu=256, msg_size=4096,
                  dead_time=20000, min_rto=1000) as t:
        for m in t.m[1:]:
            m.send(*m.request(0, data))
        lab.quiet()
        lab.sw.events()
        bad = roce.build(t.m[0].request(0, data, rkey=1)[0])
        start = time.monotonic()

        def fail():
            t.m[0].send(bad)
            check(lab.until(lambda: "tree-failed-ntf" in
                            [e[0] for e in lab.sw.events()]), "it does not fail")
            check(lab.until(lambda: all((peer.PEER_DEAD, 0) in m.results
                                        for m in t.m[1:]), 5), "not all are told")
            lab.wait(0.2)

        events = traced(("irq/softirq_entry", "irq/softirq_exit",
                         "rdma_inc/inc_tx_result"), fail)
        told = [at for name, at in events if name == "inc_tx_result"]
        irqs = [e for e in events if e[0] != "inc_tx_result"]
        longest = max((b - a for (x, a), (y, b) in zip(irqs, irqs[1:])
                       if x == "softirq_entry" and y == "softirq_exit"),
                      default=0)
        expect("packets that tell of it", len(told), 1023)
        return max(told) - start, longest


@test("work: a tree of 1,024 that fails", families=(4,), limit=60)
def large(lab, family):
    timed()
    for _ in range(3):
        took, longest = fail_large(lab, family)
        if took < 0.1 and longest < 0.001:
            break
    print("# all told after %.1f ms, longest softirq %.2f ms" %
          (took * 1e3, longest * 1e3))
    in_time(took, 0.1, "told")
    in_time(longest, 0.001, "softirq")


@test("work: what waited for a message that fails goes in turns", families=(4,),
      limit=30)
def litter(lab, family):
    """More than one turn takes; then the slot's next message comes."""
    with lab.tree(family=family, ranks=64, pmtu=256, msg_size=8192, slots=2,
                  dead_time=20000, min_rto=1000, hold=1 << 28) as t, \
            lab.no_pieces():
        for m in t.m[::2]:
            m.send(*m.request(0, bytes(8192 - 32)))
            lab.quiet(0.0)
        for m in t.m[1::2]:
            m.allreduce(0, [1])
        check(lab.until(lambda: all((peer.MISMATCH, 0) in m.results
                                    for m in t.m), 5), "not all are told")
        pkts = [m.allreduce(t.slots, [1]) for m in t.m]
        for _ in range(50):
            if lab.until(lambda: all((peer.OK, t.slots) in m.results
                                     for m in t.m), 0.1):
                break
            for m, p in zip(t.m, pkts):
                m.send(*p)
        t.check(t.slots, [64])
        check(lab.until(lambda: not t.get()["held"]), "packets are held")


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
      families=(4,), cases={"one buffer": (3000, 64), "pages": (8000, 0)})
def oversized(lab, family, trail, copied):
    with lab.tree(family=family, slots=64, ranks=2) as t:
        a, b = t.m
        # inside the IP packet, behind the end of UDP
        pkts = [a.request(n, peer.ints([n]))[0].but(trail=bytes(trail))
                for n in range(64)]
        # Pages behind the data go when they are cut off.
        with lab.no_pieces(), \
                counters.member(a, rx_messages=64, rx_copied=copied):
            a.send(*pkts)
        check(64 * 600 < a.get()["held"] < 64 * 2048,
              "%d bytes held" % a.get()["held"])
        for n in range(64):
            b.allreduce(n, [1])
            t.check(n, [n + 1])
        expect("held at the end", a.get()["held"], 0)


@test("work: a packet that is larger than its message's first", families=(4,))
def larger(lab, family):
    # What follows a packet in pieces may be cut off with its memory.
    with lab.tree(family=family, pmtu=256) as t, lab.no_pieces():
        a, b = t.m
        values = range(180)
        first, second, last = a.request(0, peer.ints(values))
        a.send(first)
        lab.quiet()
        size = a.get()["held"] // 3
        a.send(second.but(trail=bytes(800)), last)
        check(lab.until(lambda: 3 * size < a.get()["held"] < 6 * size),
              "%d bytes held, at first %d" %
              (a.get()["held"], 3 * size))
        b.allreduce(0, values)
        t.check(0, [2 * v for v in values])
        expect("held at the end", a.get()["held"], 0)


def fill(lab, m, count):
    """Requests until one is refused; returns how many were taken."""
    data = bytes(1024 - 32)
    m.acks.clear()
    for n in range(count):
        m.send(*m.request(n, data))
        if n % 16 == 15 or n == count - 1:
            lab.quiet(0.001)
        if any(p.syndrome & 0xe0 == SYN_RNR for p in m.acks):
            break
    return m.stats()["rx-messages"]


@test("work: a tenant with many trees, in each a silent rank", families=(4,),
      limit=40)
def hostile(lab, family):
    before = lab.sw.do("switch-get")["memory-limit"]
    kw = {"family": family, "msg_size": 1024, "dead_time": 20000}
    trees = []
    lab.sw.do("switch-set", memory_limit=64 << 20)
    try:
        for _ in range(40):
            t = lab.tree(slots=256, **kw)
            trees.append(t)
            fill(lab, t.m[0], 256)
        # the others have what is promised, and no more
        s = lab.sw.do("switch-get")
        check(s["held"] < 2 * s["hold-limit"], "%d of %d bytes held" %
              (s["held"], s["hold-limit"]))
        with lab.tree(slots=64, **kw) as good, lab.no_pieces():
            a, b = good.m
            sure = lab.sw.do("switch-get")["hold-guaranteed"]
            taken = fill(lab, a, 64)
            each = a.get()["held"] // taken
            check(taken >= min(sure // each, 64),
                  "%d messages of %d bytes taken, %d bytes are guaranteed" %
                  (taken, each, sure))
            check(taken > 20, "%d messages taken" % taken)
            expect("held of the tree", good.get()["held"], taken * each)
            for n in range(taken):
                b.send(*b.request(n, bytes(1024 - 32)))
                good.check(n, [0] * 8)
        # an administrator may want less
        lab.sw.do("switch-set", max_tree_hold=10 * each)
        with lab.tree(slots=64, **kw) as good, lab.no_pieces():
            expect("taken", fill(lab, good.m[0], 64), 10)
    finally:
        for t in trees:
            t.close()
        lab.sw.do("switch-set", memory_limit=before, max_tree_hold=0)
    check(lab.until(lambda: not lab.sw.do("switch-get")["held"]),
          "%d bytes are held at the end" % lab.sw.do("switch-get")["held"])


def wait_whole(t):
    t.m[0].allreduce(0, range(600))


def wait_part(t):
    t.m[0].send(t.m[0].request(0, peer.ints(range(600)))[0])


def wait_gap(t):
    pkts = t.m[0].request(0, peer.ints(range(900)))
    t.m[0].send(pkts[0], *pkts[2:])


def wait_larger(t):
    first, second, last = t.m[0].request(0, peer.ints(range(600)))
    t.m[0].send(first, second.but(trail=bytes(800)), last)


def fail_later(t):
    t.m[0].allreduce(0, range(600))
    t.m[1].allreduce(0, range(500))


@test("work: nothing is held when a tree ends", families=(4,), cases={
    "whole messages": (wait_whole,), "part of one": (wait_part,),
    "packets beyond a gap": (wait_gap,), "a larger packet": (wait_larger,),
    "a message that failed": (fail_later,)})
def returned(lab, family, begin):
    def held():
        return lab.sw.do("switch-get")["held"]
    check(lab.until(lambda: not held()), "%d bytes at first" % held())
    for end in ("tree-del", "member-del"):
        with lab.tree(family=family, ranks=3) as t:
            begin(t)
            lab.quiet()
            check(begin is fail_later or held() > 0, "nothing is held")
            if end == "member-del":
                lab.sw.do(end, tree_id=t.id, rank=0)
        check(lab.until(lambda: not held()), "%s: %d bytes" % (end, held()))


@test("work: what all jobs of a namespace hold", families=(4,), limit=20)
def namespace(lab, family):
    # an eighth of that may be held, and a part of that by each tree
    limit = 64 << 20
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
        check(sum(held) <= limit // 8 + 6 * limit // 256, "%s are held" % held)
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


@test("work: trees of 1,024 whose members never came go at once", families=(4,),
      limit=60)
def unanswered(lab, family):
    """Their farewells are sent again until the dead time is over, not until a work
    gets to run that does not while they are."""
    with contextlib.ExitStack() as stack:
        trees = [stack.enter_context(lab.tree(
            family=family, ranks=1024, real=1, dead_time=10, min_rto=1))
            for _ in range(4)]

        def end():
            for t in trees:
                lab.sw.do("tree-del", id=t.id)
            check(lab.until(lambda: not lab.sw.do("switch-get")["leaving"], 20),
                  "they linger")

        sent = traced(("rdma_inc/inc_tx_result", "rdma_inc/inc_retransmit"), end)
        check(len(sent) < 10 * 4 * 1024, "%d packets" % len(sent))
