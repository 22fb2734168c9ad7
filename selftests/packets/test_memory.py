# SPDX-License-Identifier: GPL-2.0
"""Memory that is taken when it is first needed: when, and what if there is none."""
import contextlib
import os
import pathlib
import subprocess
import tempfile
import time

import counters
import peer
import roce
from ktap import SLOW, check, expect, test
from peer import ints
from test_requester import deaf

ALWAYS = 1000000
DOUBLINGS = 8       # of a ring, until it holds the largest window
# A block of slots of one packet of 1 KiB each, as inc_mem_vmalloc() counts it.
BLOCK_SLOTS = 16
BLOCK = 192 + 8 * (4096 + 16)
# What a member at work may take in all, less its QP, which members.sh limits.
AT_WORK = (8 << 10) - (2 << 10)


def taken(lab):
    return lab.sw.do("switch-get")["memory-taken"]


def alone(lab):
    """The trees of earlier cases are gone."""
    check(lab.until(lambda: not lab.sw.do("switch-get")["leaving"], 10),
          "a tree lingers")


def full(group):
    """The cgroup's limit is what it has; this process leaves it."""
    (group.parent / "cgroup.procs").write_text(str(os.getpid()))
    (group / "memory.max").write_text((group / "memory.current").read_text())


def fault_file(lab, t, rank, way):
    inum = os.stat("/run/netns/" + lab.sw.ns).st_ino
    return "/sys/kernel/debug/rdma_inc/net-%d/tree-%d/fault/rank-%d-%s" % (
        inum, t.id, rank, way)


@contextlib.contextmanager
def starved(lab, t, rank, way):
    """There is no memory at once for this rank."""
    with open(fault_file(lab, t, rank, way), "w") as f:
        f.write("no-memory %d" % ALWAYS)
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):    # the tree is gone
            with open(fault_file(lab, t, rank, way), "w") as f:
                f.write("no-memory 0")


@test("memory: members and slots take theirs with their first message",
      families=(4,))
def first_use(lab, family):
    alone(lab)
    before = lab.sw.do("switch-get")
    with lab.tree(family=family, ranks=2, slots=4) as t:
        idle, used = taken(lab), lab.sw.do("switch-get")["memory-used"]
        size = t.msg_size
        check(idle - before["memory-taken"] < 2 * size,
              "an idle tree takes %d bytes" % (idle - before["memory-taken"]))
        t.good()
        # its counters follow a moment later
        check(lab.until(lambda: taken(lab) > idle + size + 2 * 600),
              "%d bytes after the first message" % (taken(lab) - idle))
        lab.wait(0.05)
        one = taken(lab)
        for _ in range(3):
            t.good()
        check(3 * size < taken(lab) - one < 4 * size,
              "%d bytes for three slots more" % (taken(lab) - one))
        # A ring doubles when all its packets are in flight, which is a matter of
        # time.
        for _ in range(1 + 2 * DOUBLINGS):
            four = taken(lab)
            for _ in range(40):
                t.good()
            if taken(lab) == four:
                break
        expect("taken in a steady state", taken(lab), four)
        expect("charged", lab.sw.do("switch-get")["memory-used"], used)
        check(four <= used, "%d bytes taken, %d charged" % (four, used))
    check(lab.until(lambda: taken(lab) == before["memory-taken"],
                    10), "something is taken after the end")


@test("memory: what a result has taken, the next message takes", families=(4,))
def given_back(lab, family):
    alone(lab)
    with lab.tree(family=family, ranks=2, slots=8, min_rto=50) as t:
        size, idle = t.msg_size, taken(lab)

        def messages(n, last):
            """Messages of three packets, at the same time or not."""
            for _ in range(n):
                msg_id, data = t.take_id(), [t.next_id + i for i in range(600)]
                for m in t.m:
                    m.allreduce(msg_id, data)
                if not last:
                    t.check(msg_id, [2 * v for v in data])
                yield msg_id, [2 * v for v in data]

        list(messages(40, False))
        lab.wait(0.05)
        one = taken(lab)
        check(one - idle < 4 * size, "%d bytes for one at a time" % (one - idle))
        states = [lab.sw.do("slot-get", tree_id=t.id, index=i)["state"]
                  for i in range(8)]
        expect("slots", states, 8 * ["idle"])

        # Who acknowledges nothing may have to get it again.
        b = deaf(t.m[1])
        late = list(messages(4, True))
        check(lab.until(lambda: len(t.m[0].results) == 44), "too few results")
        check(taken(lab) - one >= 2 * size, "memory of results in flight is gone")
        b.hook = None
        for msg_id, sums in late:
            t.check(msg_id, sums)
        four = taken(lab)
        list(messages(40, False))
        check(taken(lab) - four < size, "%d bytes more" % (taken(lab) - four))
        # The last four came back last: a slot has another's memory now.
        for msg_id, sums in list(messages(8, True)):
            t.check(msg_id, sums)


def comes(t, msg_id, pkts):
    """Members retransmit what is refused for now."""
    for _ in range(100):
        if t.lab.until(lambda: all((peer.OK, msg_id) in m.results for m in t.m),
                       0.01):
            break
        for m, p in zip(t.m, pkts):
            m.send(*p)
    t.check(msg_id, [2])


@test("memory: without any more, slots give theirs to others", families=(4,))
def reclaimed(lab, family):
    """Short results stay in their slots, until they have to go."""
    with cgroup("inc-reclaim") as group, \
            lab.tree(family=family, ranks=2, slots=64) as t:
        for _ in range(20):
            t.good(600)
        lab.wait(0.05)
        now = taken(lab)
        full(group)
        try:
            for _ in range(3 * 64):
                msg_id = t.take_id()
                comes(t, msg_id, [m.allreduce(msg_id, [1]) for m in t.m])
        finally:
            (group / "memory.max").write_text("max")
        check(taken(lab) - now < 40 * t.msg_size, "there was memory")


@contextlib.contextmanager
def short_of_memory(lab, dead_time=400 * SLOW, **kw):
    """A tree of two at work, for which there is no more memory than it has."""
    with cgroup("inc-short-%d" % lab.next_qpn) as group, lab.tree(ranks=2, dead_time=dead_time, **kw) as t:
        for _ in range(4):
            t.good()
        lab.wait(0.05)
        lab.sw.failures()
        full(group)
        try:
            yield t
        finally:
            (group / "memory.max").write_text("max")


def insist(lab, t, sent, done, seconds):
    """Until it is done, members send again what they have no result of; a host over RC
    goes on with what was refused."""
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        for m, messages in sent:
            left = [p for n, pkts in messages for p in pkts
                    if not any(r[1] == n for r in m.results)]
            m.send(*left[:32])
        lab.until(done, 0.02)
    return done()


@test("memory: if it is all that is waited for, the tree fails", families=(4,),
      cases={"UC": (dict(transports=(peer.UC,), slots=1024), 1),
             "UC and RC": (dict(transports=(peer.RC, peer.UC), slots=1024), 1),
             "RC, ranks in different orders": (dict(slots=64), -1)})
def never_begins(lab, family, kw, order):
    """Who has a result over UC says so by its slot's next message alone."""
    def told(m):
        return [r for r in m.results if r[0] == peer.NO_MEMORY]

    with short_of_memory(lab, family=family, **kw) as t:
        ids = range(t.next_id, t.slots)
        sent = [(m, [(n, m.request(n, ints([n]))) for n in way])
                for m, way in zip(t.m, (ids, ids[::order]))]
        begin = time.monotonic()
        check(insist(lab, t, sent, lambda: all(told(m) for m in t.m), 8 * SLOW),
              "not told: %s" % [m.results[-3:] for m in t.m])
        check(time.monotonic() - begin > 0.4 * SLOW, "too soon")
        expect("events", [(e, a["error"]) for e, a in lab.sw.failures()],
               [("tree-failed-ntf", peer.NO_MEMORY)])


@test("memory: who waits for a late rank does not fail for lack of it", families=(4,))
def late_rank(lab, family):
    with short_of_memory(lab, family=family, dead_time=200 * SLOW, slots=64) as t:
        ids = range(t.next_id, t.slots)
        sent = [(m, [(n, m.request(n, ints([n]))) for n in ids]) for m in t.m]
        before = lab.sw.stats()["rx-no-memory"]
        insist(lab, t, sent[:1], lambda: False, 0.8 * SLOW)
        check(lab.sw.stats()["rx-no-memory"] > before, "there is memory")
        expect("events", lab.sw.failures(), [])
        check(insist(lab, t, sent,
                     lambda: all((peer.OK, n) in m.results for m in t.m
                                 for n in ids), 20),
              "results are missing: %s" % [len(m.results) for m in t.m])


@test("memory: to look for some is no shortage", families=(4,))
def no_shortage(lab, family):
    """Where none was there at once, a work finds some that a short result has left.
    There is more, so that others do not give theirs back."""
    with lab.tree(family=family, ranks=2, slots=16) as t:
        a, b = t.m
        for _ in range(4):
            t.good()
        with starved(lab, t, 0, "rx"), counters.switch(lab, rx_no_memory=1):
            pkts = a.allreduce(4, [1])
            lab.quiet()
        b.allreduce(4, [1])
        a.send(*pkts)
        t.check(4, [2])
        lab.wait(0.05)
        expect("slots", [lab.sw.do("slot-get", tree_id=t.id, index=i)["state"]
                         for i in range(5)], ["idle"] + 4 * ["done"])
        t.next_id = 5
        for _ in range(32):
            t.good()


@test("memory: to ask about a message that failed takes none", families=(4,))
def asks(lab, family):
    """Its slot's memory has gone to another slot; the status needs none."""
    with lab.tree(family=family, ranks=2, slots=16, pmtu=4096,
                  transports=(peer.UC,)) as t:
        a, b = t.m
        # of two blocks, one is used up
        for n in range(4):
            a.allreduce(n, [1])
            b.allreduce(n, [1, 2])
            check(lab.until(lambda n=n: all((peer.MISMATCH, n) in m.results
                                            for m in t.m)), "no status")
        lab.wait(0.05)
        before = taken(lab)
        with starved(lab, t, 0, "rx"), counters.switch(lab, rx_no_memory=1):
            a.allreduce(4, [1])
            lab.quiet()
        for m in t.m:
            m.allreduce(4, [1])
        t.check(4, [2])
        expect("taken by the next message", taken(lab), before)
        for m in t.m:
            m.results.clear()
            m.ask(0)
            check(lab.until(lambda m=m: (peer.MISMATCH, 0) in m.results),
                  "no answer")
        lab.wait(0.05)
        expect("taken by answers", taken(lab), before)


@test("memory: what a larger window is charged comes back", families=(4,),
      cases={"once": ((256,),), "twice": ((1, 129, 16, 256),)})
def window(lab, family, windows):
    alone(lab)
    before = lab.sw.do("switch-get")
    with lab.tree(family=family, ranks=2) as t:
        used, memory = lab.sw.do("switch-get")["memory-used"], t.get()["memory"]
        for w in windows:
            lab.sw.do("tree-set", id=t.id, window=w)
        more = lab.sw.do("switch-get")["memory-used"] - used
        check(more > 0, "a larger window costs nothing")
        expect("of the tree", t.get()["memory"], memory + more)
    alone(lab)
    for attr in ("memory-used", "memory-taken"):
        check(lab.until(lambda a=attr: lab.sw.do("switch-get")[a] == before[a], 5),
              "%s: %d, %d before" % (attr, lab.sw.do("switch-get")[attr],
                                     before[attr]))


def rounds(t, first, count, step):
    """All messages from the first one on, so many at a time at each member."""
    for begin in range(first, first + count, step):
        ids = range(begin, begin + step)
        # Each member has the others wait for it in turn.
        for m in t.m[::-1] if begin // step % 2 else t.m:
            m.send(*[p for n in ids for p in m.request(n, ints([n]))])
        for n in ids:
            t.check(n, [2 * n])


@test("memory: a member at work takes what it has in progress", families=(4,),
      cases={"UC": (peer.UC, AT_WORK), "RC": (peer.RC, AT_WORK + 1024)})
def at_work(lab, family, transport, bar):
    slots, window = 1024, 64
    bar += 512 * (os.cpu_count() - 1)   # counters
    alone(lab)
    with lab.tree(family=family, ranks=2, slots=slots, msg_size=1024,
                  window=16, transports=(transport,)) as t:
        idle = taken(lab)
        rounds(t, 0, slots, 1)
        lab.wait(0.05)
        # Besides the buffers of slots.
        few = (taken(lab) - idle - slots // BLOCK_SLOTS * BLOCK) // 2
        rounds(t, slots, slots, window)
        each = (taken(lab) - idle - slots // BLOCK_SLOTS * BLOCK) // 2
        print("# a member at work, of %d slots: %d bytes more with one message"
              " in progress, %d with %d" % (slots, few, each, window))
        check(0 < few <= bar - 2048, "%d bytes" % few)
        check(each <= bar, "%d bytes" % each)
        # All that may be asked for again takes nothing.
        before = taken(lab)
        for m in t.m:
            m.results.clear()
            for n in range(slots, 2 * slots if m.uc else 0):
                m.ask(n)
            check(lab.until(lambda: len(m.results) == (slots if m.uc else 0), 5),
                  "%d answers" % len(m.results))
            expect("answers that are no result",
                   [r for r in m.results if r[0] != peer.OK], [])
        expect("taken by answers", taken(lab), before)
        rounds(t, 2 * slots, 2 * window, 2 * window)
        most = (taken(lab) - idle - slots // BLOCK_SLOTS * BLOCK) // 2
        print("# with %d messages in progress: %d" % (2 * window, most))
        check(each < most, "it has not grown")


@test("memory: without any at once, a message has to come again")
def begins_later(lab, family):
    with lab.tree(family=family, ranks=2) as t:
        a, b = t.m
        values = [3, 4, 5]
        with starved(lab, t, 0, "rx"), counters.switch(lab, rx_no_memory=1), \
                counters.member(a, tx_rnr_naks=1, rx_messages=0):
            pkts = a.allreduce(0, values)
            b.allreduce(0, values)
            lab.quiet()
        expect("answers", [p.syndrome >> 5 for p in a.acks], [1])
        expect("results", a.results + b.results, [])
        # A work has taken it meanwhile: nothing is needed any more.
        with starved(lab, t, 0, "rx"), counters.switch(lab), \
                counters.member(a, tx_rnr_naks=0, rx_messages=1):
            a.send(*pkts)
            t.next_id = 1
            t.check(0, [6, 8, 10])
        t.good()


@test("memory: over UC the message counts as lost", families=(4,))
def begins_later_uc(lab, family):
    with lab.tree(family=family, ranks=2, transports=(peer.UC,)) as t:
        a, b = t.m
        with starved(lab, t, 0, "rx"), counters.switch(lab, rx_no_memory=1), \
                counters.member(a, rx_deferred=1, rx_messages=0):
            a.allreduce(0, [1])
            b.allreduce(0, [1])
            lab.quiet()
        a.ask(0)
        check(lab.until(lambda: (peer.AGAIN, 0) in a.results),
              "not asked for it: %s" % a.results)
        a.results.clear()
        with counters.switch(lab):
            a.allreduce(0, [1])
            t.next_id = 1
            t.check(0, [2])
        t.good()


@test("memory: without any for more in progress, the message counts as lost",
      families=(4,))
def grows_later(lab, family):
    slots = 64
    with lab.tree(family=family, ranks=2, slots=slots,
                  transports=(peer.UC,)) as t:
        a, b = t.m
        rounds(t, 0, slots, 1)          # all slots have theirs
        lab.wait(0.05)
        ids = range(slots, 2 * slots)
        pkts = [a.request(n, ints([n]))[0] for n in ids]
        with starved(lab, t, 0, "rx"):
            a.send(*pkts)
            lab.quiet()
            deferred = a.stats()["rx-deferred"]
            check(0 < deferred < 30, "%d are deferred" % deferred)
            # A work has made room meanwhile.
            a.send(*pkts)
            lab.quiet()
            expect("deferred", a.stats()["rx-deferred"], deferred)
        for n in ids:
            b.allreduce(n, [1])
            t.check(n, [n + 1])


@contextlib.contextmanager
def cgroup(name="inc-packets"):
    """A memory cgroup, which this process is in until leave() is called."""
    with tempfile.TemporaryDirectory() as top:
        subprocess.run(["mount", "-t", "cgroup2", "none", top], check=True)
        group = pathlib.Path(top, name)
        try:
            pathlib.Path(top, "cgroup.subtree_control").write_text("+memory")
            group.mkdir()
            (group / "cgroup.procs").write_text(str(os.getpid()))
            yield group
        finally:
            pathlib.Path(top, "cgroup.procs").write_text(str(os.getpid()))
            subprocess.run(["umount", "-l", top], check=True)


@test("memory: what is taken later keeps to the cgroup's limit", families=(4,))
def limited(lab, family):
    slots, room = 1024, 512 << 10
    with cgroup() as group, lab.tree(family=family, ranks=2, slots=slots,
                                     transports=(peer.UC,)) as t:
        (group.parent / "cgroup.procs").write_text(str(os.getpid()))
        limit = int((group / "memory.current").read_text()) + room
        (group / "memory.max").write_text(str(limit))
        before = lab.sw.stats()["rx-no-memory"]
        for msg_id in range(slots):
            t.m[0].allreduce(msg_id, [1])
        lab.quiet()
        now = int((group / "memory.current").read_text())
        check(now <= limit, "%d bytes, limited to %d" % (now, limit))
        refused = lab.sw.stats()["rx-no-memory"] - before
        check(refused > slots // 4, "%d were refused" % refused)
        (group / "memory.max").write_text("max")
        for msg_id in range(slots):
            for m in t.m:
                m.allreduce(msg_id, [1])
            # A machine that is short of memory for a moment may lose one more.
            if not lab.until(lambda i=msg_id: all((peer.OK, i) in m.results
                                                  for m in t.m), 0.5):
                for m in t.m:
                    m.allreduce(msg_id, [1])
            t.next_id = msg_id + 1
            t.check(msg_id, [2])


@test("memory: a QP without messages is told that its tree is gone",
      families=(4,))
def farewell(lab, family):
    with lab.tree(family=family, ranks=2) as t:
        # Heard, but no message has begun.
        for m in t.m:
            m.send(m.pkt(opcode=roce.WRITE_ONLY, rkey=m.rkey, va=0, dmalen=0,
                         ackreq=1))
            m.psn += 1
        lab.quiet()
        with starved(lab, t, 0, "rx"), starved(lab, t, 0, "tx"):
            lab.sw.do("tree-del", id=t.id)
            check(lab.until(lambda: (peer.TREE_GONE, 0) in t.m[0].results),
                  "not told: %s" % t.m[0].results)


@test("memory: without any for packets in flight, the window is small")
def small_window(lab, family):
    count = 16 * 256 - 8
    with lab.tree(family=family, ranks=2, msg_size=16384, window=64) as t:
        a, b = t.m
        values = list(range(count))
        sums = [2 * v for v in values]
        with starved(lab, t, 0, "tx"):
            deaf(a)
            for m in t.m:
                m.allreduce(0, values)
            lab.quiet()
            expect("results at b", b.results, [(peer.OK, 0)])
            # a slow switch may have sent one again
            fresh = list({p.psn: p for p in reversed(a.log)}.values())[::-1]
            expect("packets in flight", len(fresh), 4)
            expect("the last one asks", fresh[-1].ackreq, 1)
            a.hook = None
            with counters.member(a, tx_timeouts=0):
                # It gets four at a time.
                for p in fresh:
                    a.take(p)
                t.check(0, sums)
        # There is memory again, from the next time on that the ring is full.
        deaf(a)
        a.log.clear()
        for m in t.m:
            m.allreduce(1, values)
        lab.quiet()
        expect("packets in flight", len({p.psn for p in a.log}), 16)
        a.hook = None
        for p in {p.psn: p for p in a.log}.values():
            a.take(p)
        t.check(1, sums)
