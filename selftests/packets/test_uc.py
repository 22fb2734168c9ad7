# SPDX-License-Identifier: GPL-2.0
"""UC members: no acknowledgments; everything may be lost, doubled, late."""
import counters
import genl
import peer
import roce
from ktap import check, expect, test, timed
from peer import (AGAIN, ASK, MISMATCH, MSG_ID, NO_DATA, OK, RC, UC, VERSION, WAIT,
                  ints)
from roce import psn_add


def tree(lab, family, **kw):
    kw.setdefault("transports", (UC,))
    kw.setdefault("slots", 16)
    return lab.tree(family=family, **kw)


def heard(m, *want):
    """Exactly these (status, message ID) have come since the last time."""
    m.lab.until(lambda: len(m.results) >= len(want), 1)
    m.lab.quiet()
    expect("what rank %d was told" % m.rank, m.results, list(want))
    expect("acknowledgments", m.acks, [])
    expect("bad packets", m.bad, [])
    m.results.clear()


def done(t, msg_id, sums, *who):
    """They have the result, all members if none is named, and hear no more."""
    for m in who or t.m:
        heard(m, (OK, msg_id & 0xffffff))
        expect("result of rank %d" % m.rank, m.result(msg_id, 4 * len(sums)),
               ints(sums))


@test("UC: AllReduce", cases={"2 members": ((UC,), 2), "5 members": ((UC,), 5),
                              "beside RC": ((RC, UC), 4)})
def allreduce(lab, family, transports, ranks):
    with tree(lab, family, ranks=ranks, transports=transports, slots=4) as t:
        for _ in range(11):
            t.good()
        lab.quiet()
        for m in t.m:
            if m.uc:
                expect("acknowledgments", m.acks, [])
                expect("marks", set(m.marks.values()), {0})
        s = t.m[-1].stats()
        expect("what came", (s["rx-packets"], s["rx-messages"]), (11, 11))
        expect("what went",
               (s["tx-packets"], s["tx-retransmits"], s["tx-acks"]),
               (11, 0, 0))


@test("UC: a packet holds any message", cases={
    "PMTU %d" % pmtu: (pmtu,) for pmtu in (256, 4096)})
def sizes(lab, family, pmtu):
    with tree(lab, family, pmtu=pmtu) as t:
        for nbytes in (0, 4, 8, pmtu - 36, pmtu - 32):
            t.good(nbytes // 4)
        for m in t.m:
            m.send(*m.request(t.next_id, coll=peer.BARRIER))
        t.check(t.next_id, [])


@test("UC: a duplicate is answered to that member alone")
def duplicates(lab, family):
    with tree(lab, family, ranks=3) as t:
        a, b, c = t.m
        pkt, = a.request(0, ints([1, 2, 3]))
        a.send(pkt)
        # while others are missing: same PSN, another PSN, other contents
        with counters.member(a, rx_duplicates=3, rx_packets=0, tx_packets=0):
            a.send(pkt, pkt.but(psn=psn_add(pkt.psn, 7)),
                   *a.request(0, ints([9, 9, 9])))
        heard(a)
        b.allreduce(0, [10, 20, 30])
        c.allreduce(0, [100, 200, 300])
        done(t, 0, [111, 222, 333])
        # when it is done: the result again
        a.mem[:] = bytes(len(a.mem))
        with counters.member(a, rx_duplicates=1, tx_packets=0,
                             tx_retransmits=1):
            a.send(pkt)
        done(t, 0, [111, 222, 333], a)
        heard(b)
        heard(c)
        # others have begun the slot's next message, this one has not: still
        # available
        b.allreduce(16, [1])
        c.allreduce(16, [1])
        a.mem[:] = bytes(len(a.mem))
        a.send(pkt)
        done(t, 0, [111, 222, 333], a)
        a.allreduce(16, [1])
        t.check(16, [3])
        for m in t.m:
            m.results.clear()
        # nothing for an old one, when the slot has moved on
        with counters.member(a, rx_duplicates=1, tx_packets=0,
                             tx_retransmits=0):
            a.send(pkt)
        heard(a)


@test("UC: questions")
def questions(lab, family):
    with tree(lab, family, ranks=3, slots=1) as t:
        a, b, c = t.m
        with counters.member(a, rx_queries=1, tx_resend_replies=1,
                             rx_packets=0):
            a.ask(0)
        heard(a, (AGAIN, 0))
        a.allreduce(0, [1])
        with counters.member(a, rx_queries=2, tx_pending_replies=2,
                             tx_errors=0):
            a.ask(0)
            a.ask(0, nelem=77)          # without data: it is no request
        heard(a, (WAIT, 0), (WAIT, 0))
        b.allreduce(0, [2])
        c.ask(0)
        heard(c, (AGAIN, 0))
        c.allreduce(0, [3])
        done(t, 0, [6])
        with counters.member(a, rx_queries=1, tx_retransmits=1):
            a.ask(0)
        done(t, 0, [6], a)
        a.allreduce(1, [1])
        with counters.member(a, rx_queries=1, tx_packets=0, tx_retransmits=0):
            a.ask(0)                    # it is at the slot's next message
        heard(a)
        a.ask(2)
        heard(a, (AGAIN, 2))
        heard(b)
        heard(c)


@test("UC: the result goes to where the member asks for it", families=(4,))
def asked_place(lab, family):
    with tree(lab, family, ranks=3, slots=1) as t:
        a, b, c = t.m
        values = [1, 2, 3]
        for m in t.m:
            m.allreduce(0, values)
        done(t, 0, [3, 6, 9])
        for m in t.m:
            m.log.clear()
        there = peer.MR_BASE + 64
        a.ask(0, result_va=there)
        # The slot has gone on, with another length.
        b.allreduce(1, [1])
        b.ask(1)
        c.send(*c.request(0, ints(values), result_va=there))
        # Who wants no data gets none.
        a.send(*a.request(0, flags=ASK | NO_DATA, result_va=there))
        heard(a, (OK, 0), (OK, 0))
        heard(b, (WAIT, 1))
        heard(c, (OK, 0))
        expect("sent to rank 0", [(p.va, p.payload) for p in a.log],
               [(there, ints([3, 6, 9])), (there, b"")])
        expect("sent to rank 2", [(p.va, p.payload) for p in c.log],
               [(there, ints([3, 6, 9]))])
        a.allreduce(1, [1])
        c.allreduce(1, [1])
        done(t, 1, [3])


@test("UC: a question carries nothing else", families=(4,))
def question_data(lab, family):
    with tree(lab, family) as t:
        a, b = t.m
        a.send(*a.request(0, ints([1, 2]), flags=ASK))
        heard(a, (AGAIN, 0))
        t.good(3)
        expect("messages", t.get()["stats"]["messages"], 1)


@test("UC: an error is kept, and told again")
def errors(lab, family):
    with tree(lab, family, ranks=3, slots=1) as t:
        a, b, c = t.m
        a.allreduce(0, [1])
        b.send(*b.request(0, ints([1, 2])))
        heard(a, (MISMATCH, 0))
        heard(b, (MISMATCH, 0))
        a.ask(0)
        b.send(*b.request(0, ints([1, 2])))
        heard(a, (MISMATCH, 0))
        heard(b, (MISMATCH, 0))
        # no RNR NAK: dropped, since c was not told yet
        with counters.member(a, rx_deferred=1, rx_packets=0, tx_packets=0):
            a.allreduce(1, [5])
        heard(a)
        a.ask(1)
        heard(a, (AGAIN, 1))
        c.allreduce(0, [1])
        heard(c, (MISMATCH, 0))
        for m in t.m:
            m.allreduce(1, [5])
        done(t, 1, [15])
        expect("failed", t.get()["stats"]["failed"], 1)


@test("UC: wrong headers", families=(4,), cases={
    "version": (VERSION, {"version": 2}), "wide": (VERSION, {"flags": 2}),
    "a flag": (VERSION, {"flags": 8}), "tree": (peer.TREE_ID, {"tree_id": 77}),
    "collective": (peer.COLLECTIVE, {"coll": 9}),
    "type": (peer.DTYPE, {"dtype": 17, "nelem": 1}),
    "length": (peer.LENGTH, {"nelem": 3}), "root": (peer.ROOT, {"root": 9})})
def headers(lab, family, status, wrong):
    with tree(lab, family, slots=4, transports=(UC, RC)) as t:
        a, b = t.m
        a.send(*a.request(0, ints([1]), **wrong))
        heard(a, (status, 0))
        b.allreduce(0, [1])
        check(lab.until(lambda: (status, 0) in b.results),
              "rank 1 was not told")
        t.next_id = 1
        for _ in range(8):
            t.good()


@test("UC: message ID outside the window", families=(4,), cases={
    "next round": (16,), "far ahead": (0x100,), "one round behind": (-16,),
    "another epoch of 24 bits": (0x1000000,)})
def window(lab, family, diff):
    with tree(lab, family, ranks=3) as t:
        a, b, c = t.m
        b.allreduce(0, [2])
        wrong = diff & 0xffffffff
        a.allreduce(wrong, [1])
        heard(a, (MSG_ID, wrong & 0xffffff))
        heard(b)
        for m in (a, c):
            m.allreduce(0, [2])
        done(t, 0, [6])


DROPPED = {
    "R_Key": {"rkey": 1}, "address of another slot": {"va": 1024},
    "address beyond the slots": {"va": 16 * 1024}, "address": {"va": 3},
    "DMA length too short": {"dmalen": 35},
    "DMA length too long": {"dmalen": 37},
    "DMA length of no header": {"dmalen": 31},
    "huge DMA length": {"dmalen": 1 << 31},
    "Immediate": {"imm": 1}, "status in the Immediate": {"imm": 1 << 24},
    "first": {"opcode": roce.UC | roce.WRITE_FIRST},
    "middle": {"opcode": roce.UC | roce.WRITE_MIDDLE},
    "last": {"opcode": roce.UC | roce.WRITE_LAST},
    "last with Immediate": {"opcode": roce.UC | roce.WRITE_LAST_IMM},
    "without Immediate": {"opcode": roce.UC | roce.WRITE_ONLY},
    "SEND ONLY": {"opcode": roce.UC | roce.SEND_ONLY},
    "SEND ONLY with Immediate": {"opcode": roce.UC | roce.SEND_ONLY_IMM},
    "nothing in it": {"payload": b"", "dmalen": 0},
    "half a header": {"payload": bytes(16), "dmalen": 16},
}


@test("UC: dropped and counted", families=(4,), cases={
    name: (change,) for name, change in DROPPED.items()})
def dropped(lab, family, change):
    with tree(lab, family) as t:
        a, b = t.m
        good, = a.request(0, ints([1]))
        with counters.member(a, rx_bad_request=1, rx_packets=0, tx_packets=0,
                             rx_duplicates=0, rx_queries=0):
            a.send(good.but(**change))
        heard(a)
        expect("state", a.get()["state"], "rts")
        a.send(good)
        b.allreduce(0, [2])
        done(t, 0, [3])


@test("UC: the other transport's packets", cases={
    "RC to UC": ((UC, RC), 0), "UC to RC": ((RC, UC), roce.UC)})
def transports(lab, family, kinds, uc):
    """Dropped before they reach the QP, acknowledgments too."""
    with tree(lab, family, transports=kinds) as t:
        a = t.m[0]
        lab.quiet()
        good, = a.request(0, ints([1]))
        wrong = [good.but(opcode=op | uc) for op in (
            roce.WRITE_ONLY_IMM, roce.WRITE_ONLY, roce.WRITE_FIRST,
            roce.SEND_ONLY)]
        # UC has none of these opcodes
        wrong += [good.but(opcode=op | uc, payload=b"") for op in (
            roce.ACK, roce.READ_REQUEST, roce.FETCH_ADD)]
        with counters.switch(lab, rx_opcode=len(wrong)):
            a.send(*wrong)
        a.send(good)
        t.m[1].allreduce(0, [2])
        t.check(0, [3])
        t.next_id = 1
        t.good()


@test("UC: gaps are told at once, and once")
def gaps(lab, family):
    with tree(lab, family) as t:
        a, b = t.m
        pkts = [a.request(n, ints([n]))[0] for n in range(12)]
        a.send(pkts[1], pkts[2])
        heard(a)
        with counters.member(a, tx_resend_replies=1):
            a.send(pkts[3])             # the third to overtake 0
        heard(a, (AGAIN, 0))
        a.send(pkts[4], pkts[5])
        heard(a)
        heard(b)
        # 0 again with a new PSN, as after a loss; 6 and 7 are lost, 8 ... 10
        # arrive
        a.send(*a.request(0, ints([0])))
        a.send(pkts[8], pkts[9])
        heard(a, (AGAIN, 6))
        a.send(pkts[10])
        heard(a, (AGAIN, 7))
        a.send(pkts[6], pkts[7], pkts[11])
        heard(a)
        for n in range(12):
            b.allreduce(n, [1])
            t.check(n, [n + 1])
        heard(a, *[(OK, n) for n in range(12)])


@test("UC: one packet is answered by few, whatever it leaves out")
def steps(lab, family):
    with tree(lab, family, slots=64) as t:
        a, b = t.m
        # each message in the slot of the one before
        for n in range(8):
            msg_id = 64 * n
            with counters.member(a, tx_resend_replies=2 if n else 0):
                a.allreduce(msg_id, [1])
                lab.quiet()
            b.allreduce(msg_id, [2])
            t.check(msg_id, [3])
        check(len(a.results) <= 3 * 8, "%d packets" % len(a.results))


@test("UC: a network that reorders gets more time")
def overtaken(lab, family):
    with tree(lab, family, slots=32) as t:
        a = t.m[0]
        pkts = [a.request(n, ints([n]))[0] for n in range(20)]
        a.send(*pkts[1:6])
        heard(a, (AGAIN, 0))
        a.send(pkts[0])         # with its old PSN: it was overtaken by 5
        # so 6 may be overtaken by 6, and is lost when 6 later ones have arrived
        a.send(*pkts[7:12])
        heard(a)
        a.send(pkts[12])
        heard(a, (AGAIN, 6))


@test("UC: PSNs, their gaps and their wrap")
def psns(lab, family):
    with tree(lab, family, psn=0xfffffd, peer_psn=0xfffffe) as t:
        a, b = t.m
        with counters.member(a, rx_gaps=0, rx_packets=6):
            for _ in range(6):
                t.good()
        expect("the switch's first PSN", a.log[0].psn, 0xfffffd)
        expect("its sixth", a.log[5].psn, 2)
        for m in t.m:
            m.results.clear()
        with counters.member(a, rx_gaps=9, rx_packets=1):
            a.psn = psn_add(a.psn, 9)
            a.allreduce(6, [1])
        with counters.member(a, rx_gaps=0, rx_packets=1):
            pkt, = a.request(7, ints([1]))
            a.send(pkt.but(psn=psn_add(pkt.psn, -20)))
        b.allreduce(6, [1])
        b.allreduce(7, [1])
        t.check(6, [2])
        t.check(7, [2])


@test("UC: message IDs wrap",
      cases={"24 bits": (0xfffffd,), "32 bits": (0xfffffffd,)})
def id_wrap(lab, family, first):
    with tree(lab, family, first_msg_id=first) as t:
        a, b = t.m
        for n in range(first, first + 8):
            low = n & 0xffffff
            a.ask(n)
            heard(a, (AGAIN, low))
            pkt, = a.request(n, ints([n % 7]))
            a.send(pkt)
            a.ask(n)
            heard(a, (WAIT, low))
            b.allreduce(n, [1])
            done(t, n, [n % 7 + 1])
            a.send(pkt)
            heard(a, (OK, low))


@test("UC: a gap across the wrap", families=(4,), cases={
    "24 bits": (0xffffff,), "32 bits": (0xffffffff,)})
def gap_wrap(lab, family, first):
    with tree(lab, family, first_msg_id=first) as t:
        a = t.m[0]
        a.send(*[a.request(first + n, ints([1]))[0] for n in (1, 2, 3)])
        heard(a, (AGAIN, first & 0xffffff))


@test("UC: the mark says what has ended", families=(4,))
def marks(lab, family):
    with tree(lab, family, slots=256) as t:
        a, b = t.m
        for n in range(1, 132):
            for m in t.m:
                m.send(*m.request(n, ints([n])))
            t.check(n, [2 * n])
        for n in (1, 2, 100, 126, 127, 131):
            expect("mark of %d" % n, a.marks[n], min(n, 127))
        a.allreduce(0, [1])
        b.allreduce(0, [1])
        t.check(0, [2])
        for m in t.m:
            m.allreduce(132, [1])
        t.check(132, [2])
        expect("mark when all have ended", b.marks[132], 0)


@test("UC: what is held of a member that is ahead", families=(4,))
def held(lab, family):
    """No RNR NAK: what is too much is dropped, and asked for later."""
    with tree(lab, family, slots=128) as t, lab.no_pieces():
        a, b = t.m
        pkts = [a.request(n, ints([n] * 248))[0] for n in range(70)]
        a.send(pkts[0])
        lab.quiet()
        lab.sw.do("tree-set", id=t.id, hold=66 * a.get()["held"])
        a.send(*pkts[1:])
        lab.quiet()
        s = a.stats()
        expect("taken", s["rx-packets"], 66)
        expect("dropped", s["rx-deferred"], 4)
        a.results.clear()
        a.ask(66)
        a.ask(65)
        heard(a, (AGAIN, 66), (WAIT, 65))
        b.send(*[b.request(n, ints([1] * 248))[0] for n in range(66)])
        t.check(65, [66] * 248)
        a.send(a.request(66, ints([1] * 248))[0])
        b.send(b.request(66, ints([1] * 248))[0])
        t.check(66, [2] * 248)


@test("UC: what all others wait for is taken, however much is held",
      families=(4,))
def oldest(lab, family):
    with tree(lab, family, slots=128) as t, lab.no_pieces():
        a, b = t.m
        # each member has lost a message that the other has
        a.send(*[a.request(n, ints([n] * 248))[0] for n in range(1, 60)])
        b.send(*[b.request(n, ints([n] * 248))[0] for n in range(60) if n != 1])
        lab.quiet()
        lab.sw.do("tree-set", id=t.id, hold=65536)
        pkts = [a.request(n, ints([n] * 248))[0] for n in range(60, 120)]
        with counters.member(a,
                             rx_deferred=60 - (65536 // a.get()["held"] - 1)):
            a.send(*pkts)
        a.send(a.request(0, ints([0] * 248))[0])
        t.check(0, [0] * 248)
        b.send(b.request(1, ints([1] * 248))[0])
        t.check(1, [2] * 248)


@test("UC: a silent member is no dead member")
def silent(lab, family):
    timed()
    with tree(lab, family, dead_time=100, min_rto=4) as t:
        a, b = t.m
        a.allreduce(0, [1])
        lab.wait(0.5)
        expect("state", [m.get()["state"] for m in t.m], ["rts", "rts"])
        heard(b)
        b.allreduce(0, [1])
        done(t, 0, [2])


@test("UC: a member that repeats old messages is dead after a while")
def repeats(lab, family):
    timed()
    with tree(lab, family, dead_time=20, min_rto=4) as t:
        a, b = t.m
        old, = a.request(0, ints([1]))
        a.send(old)
        b.allreduce(0, [1])
        t.check(0, [2])
        b.allreduce(1, [1])             # waits for it

        def repeat(seconds):
            for _ in range(round(seconds / 0.02)):
                a.send(old)
                a.ask(0)
                lab.wait(0.02)
                if a.get()["state"] != "rts":
                    return
        repeat(1.5)
        lab.wait(1.2)                   # that is another time
        repeat(1.5)
        expect("state", [m.get()["state"] for m in t.m], ["rts", "rts"])
        a.allreduce(1, [2])
        t.check(1, [3])
        old, = a.request(2, ints([1]))
        a.send(old)
        repeat(3)                       # others are awaited
        expect("state", [m.get()["state"] for m in t.m], ["rts", "rts"])
        b.allreduce(2, [1])
        t.check(2, [2])
        repeat(4)
        expect("error", a.get()["error"], "retry-exceeded")


@test("UC: a tree that fails")
def failed(lab, family):
    with tree(lab, family, ranks=3, transports=(UC, UC, RC)) as t:
        t.good()
        a, b, c = t.m
        lab.quiet()
        for m in t.m:
            m.results.clear()
        a.allreduce(1, [1])
        lab.sw.do("member-del", tree_id=t.id, rank=1)
        heard(a, (peer.MEMBER_LEFT, 1))
        a.ask(1)
        heard(a, (peer.MEMBER_LEFT, 1))
        a.ask(2)
        heard(a, (peer.MEMBER_LEFT, 2))     # not AGAIN: it would be in vain
        a.allreduce(3, [1])
        heard(a, (peer.MEMBER_LEFT, 3))


@test("UC: messages longer than a packet", families=(4,))
def too_long(lab, family):
    with lab.tree(family=family, ranks=2, msg_size=2048) as t:
        lab.sw.do("member-del", tree_id=t.id, rank=1)
        try:
            peer.Member(t, 1, family, 1, None, 0, UC)
        except genl.NlError as e:
            check("one packet: msg-size is 2048, pmtu 1024" in e.msg, e.msg)
        else:
            raise AssertionError("a UC member was taken")
