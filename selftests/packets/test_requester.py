# SPDX-License-Identifier: GPL-2.0
"""The switch as RC requester: results, repetitions, windows, dead members."""
import contextlib
import random
import time

import counters
import peer
import roce
from ktap import check, expect, in_time, test, timed
from peer import PATIENT, PEER_DEAD, ints
from roce import NAK_PSN, SYN_ACK, SYN_RNR, psn_add


def deaf(m):
    """The member sees packets and does nothing by itself."""
    m.hook = lambda p: True
    return m


def both(t, msg_id, values):
    values = list(values)
    for m in t.m:
        m.allreduce(msg_id, values)
    t.lab.quiet()
    return [len(t.m) * v for v in values]


def same(a, b):
    """
    Byte for byte, but for AckReq, IPv4's ID, hence the ICRC, and the UDP
    checksum, which is 0 in packets sent one by one.
    """
    udp = roce.udp_offset(a.raw)
    at = udp + 8 + 8
    def strip(p):
        raw = bytearray(p.raw[:-4])
        raw[at] &= 0x7f
        raw[udp + 6:udp + 8] = bytes(2)
        if raw[0] >> 4 == 4:
            # the checksum covers it
            expect("checksum", roce.checksum(raw[:udp]), 0)
            raw[4:6] = raw[10:12] = bytes(2)
        return bytes(raw)
    return strip(a) == strip(b)


def catch_up(m, pkts):
    """Takes packets that the hook had held back, and acknowledges."""
    m.hook = None
    for p in pkts:
        if p.psn == m.epsn:
            m.take(p)
    m.ack()


@test("requester: form of a result", cases={
    "PMTU 256": (256,), "PMTU 1024": (1024,), "PMTU 4096": (4096,)})
def form(lab, family, pmtu):
    with lab.tree(family=family, pmtu=pmtu, psn=0xfffff0, **PATIENT) as t:
        a = t.m[0]
        psn = a.epsn
        for msg_id, count in enumerate((0, 1, (pmtu - 32) // 4, 3000, 4080)):
            both(t, msg_id, range(count))
            t.check(msg_id, [2 * v for v in range(count)])
            log, a.log = a.log, []
            size, off = 4 * count, 0
            for n, p in enumerate(log):
                last = n == len(log) - 1
                length = min(pmtu - (0 if n else 32), size - off)
                want = a.pkt(
                    src=lab.sw_addr(family), dst=a.addr, sport=p.sport,
                    frag=0x4000 if family == 4 else 0, ident=p.ident,
                    udp_check=p.udp_check, qpn=a.qpn, psn=psn,
                    opcode=roce.WRITE_ONLY_IMM if last else roce.WRITE_ONLY,
                    se=int(last), ackreq=p.ackreq, rkey=a.key,
                    va=a.result_va(msg_id) + off, dmalen=length, imm=msg_id,
                    payload=a.result(msg_id, size)[off:off + length])
                check(p.ident < 16, "ID %d" % p.ident)
                check(p.sport >= 0xc000, "source port %d" % p.sport)
                expect("packet", p.raw.hex(), roce.scapy_packet(want).hex())
                psn = psn_add(psn, 1)
                off += length
            # one packet alone may share an acknowledgment
            check(log[-1].ackreq or len(log) == 1, "no AckReq at the end")
            gap = 0
            for p in log:
                gap = 0 if p.ackreq else gap + 1
                check(gap < 16, "no AckReq in 16 packets")
            expect("size of all", off, size)


@test("requester: a lost acknowledgement")
def lost_ack(lab, family):
    timed()
    with lab.tree(family=family, dead_time=1000) as t:
        t.good()
        a = deaf(t.m[0])
        a.log.clear()
        with counters.member(a, tx_packets=1):
            both(t, 1, [1, 2, 3])
            # the first perhaps only to request an acknowledgment
            check(lab.until(lambda: len(a.log) >= 4), "not repeated")
        check(all(same(p, a.log[0]) for p in a.log), "repetitions differ")
        gap = [q.at - p.at for p, q in zip(a.log, a.log[1:])]
        check(gap[0] > 0.003, "repeated after %.4f s" % gap[0])
        stats = a.stats()
        check(stats["tx-retransmits"] >= 2 and stats["tx-timeouts"] >= 2,
              "counters")
        catch_up(a, a.log)
        lab.quiet()
        a.log.clear()
        lab.wait(0.2)
        expect("repetitions after the acknowledgement", len(a.log), 0)
        t.check(1, [2, 4, 6])
        t.next_id = 2
        t.good()


@test("requester: repetition backs off, and comes at a good pace")
def backoff(lab, family):
    timed()
    with lab.tree(family=family, dead_time=600) as t:
        for _ in range(4):
            t.good()
        a = deaf(t.m[0])
        a.log.clear()
        start = time.monotonic()
        both(t, 4, [1])
        check(lab.until(lambda: a.get()["state"] == "error", 2),
              "lives for ever")
        in_time(time.monotonic() - start, 1, "dead", least=0.5)
        expect("error", a.get()["error"], "retry-exceeded")
        check(4 <= len(a.log) <= 60, "%d packets in the dead time" % len(a.log))
        gaps = [q.at - p.at for p, q in zip(a.log, a.log[1:])]
        in_time(max(gaps), 0.3, "sent again")
    lab.good(family)


@contextlib.contextmanager
def in_flight(lab, family, ranks=2, **kw):
    """A tree whose rank 0 has 10 packets of a result in flight."""
    with lab.tree(family=family, ranks=ranks, pmtu=256, **PATIENT, **kw) as t:
        t.good()
        lab.quiet()
        a = deaf(t.m[0])
        a.log.clear()
        t.sums = both(t, 1, range(632))
        check(len(a.log) == 10, "%d packets in flight" % len(a.log))
        t.flight, a.log = a.log, []
        yield t


@test("requester: NAK PSN error", cases={
    "first": (0,), "middle": (4,), "last": (9,)})
def nak_seq(lab, family, n):
    with in_flight(lab, family, psn=0xfffff8) as t:
        a, pkts = t.m[0], t.flight
        with counters.member(a, rx_naks=1, tx_retransmits=10 - n,
                             tx_timeouts=0):
            a.nak(NAK_PSN, pkts[n].psn)
        expect("repeated", [p.psn for p in a.log], [p.psn for p in pkts[n:]])
        check(all(same(p, q) for p, q in zip(a.log, pkts[n:])), "not the same")
        with counters.member(a, rx_naks=1, tx_retransmits=0):
            a.nak(NAK_PSN, pkts[n].psn)     # the same again
        with counters.member(a, rx_naks=1, tx_retransmits=0):
            if n:
                a.nak(NAK_PSN, pkts[0].psn)     # older than the known state
            else:
                a.nak(NAK_PSN, pkts[0].psn)
        catch_up(a, pkts)
        t.check(1, t.sums)
        t.next_id = 2
        t.good()


@test("requester: one NAK for each of two losses")
def nak_twice(lab, family):
    with in_flight(lab, family) as t:
        a, pkts = t.m[0], t.flight
        with counters.member(a, rx_naks=2, tx_retransmits=8 + 3, tx_timeouts=0):
            a.nak(NAK_PSN, pkts[2].psn)
            lab.quiet()
            a.nak(NAK_PSN, pkts[7].psn)
        catch_up(a, pkts)
        t.check(1, t.sums)


@test("requester: RNR NAK", cases={
    "0.48 ms": (11, 0.00048), "10.24 ms": (20, 0.01024), "61 ms": (25, 0.06144),
    "655 ms": (0, 0.65536)})
def rnr_nak(lab, family, code, seconds):
    timed()
    with in_flight(lab, family) as t:
        a, pkts = t.m[0], t.flight
        start = time.monotonic()
        with counters.member(a, rx_rnr_naks=1, tx_timeouts=0):
            a.nak(SYN_RNR | code, pkts[3].psn)
            check(lab.until(lambda: a.log, 1.5), "did not resume")
        in_time(a.log[0].at - start, seconds + 0.1, "resumed",
                least=seconds)
        lab.quiet()
        expect("repeated at first", [p.psn for p in a.log], [pkts[3].psn])
        a.ack(pkts[3].psn)
        lab.until(lambda: len(a.log) >= 7, 0.5)
        expect("repeated", [p.psn for p in a.log], [p.psn for p in pkts[3:]])
        catch_up(a, pkts)
        t.check(1, t.sums)
        expect("state", a.get()["state"], "rts")


@test("requester: while it waits after an RNR NAK")
def rnr_wait(lab, family):
    timed()
    with in_flight(lab, family) as t:
        a, pkts = t.m[0], t.flight
        a.nak(SYN_RNR | 27, pkts[3].psn)        # 123 ms
        # packets after the refused one are out of sequence to the member
        a.nak(NAK_PSN, pkts[3].psn)
        for m in t.m:
            m.allreduce(2, [7])                 # more to send
        lab.wait(0.06)
        expect("sent while waiting", len(a.log), 0)
        # an acknowledgment ends the wait
        a.hook = None
        for p in pkts:
            a.take(p)
        a.ack()
        t.check(2, [14])
        check(a.log and a.log[-1].at, "nothing came")


@test("requester: RNR NAKs without end")
def rnr_for_ever(lab, family):
    timed()
    with lab.tree(family=family, ranks=3, dead_time=400) as t:
        a = t.m[0]
        def again(p):
            a.nak(SYN_RNR | 18, p.psn)      # 5 ms
            return True
        a.hook = again
        start = time.monotonic()
        both(t, 0, [1])
        check(lab.until(lambda: a.get()["state"] == "error"), "lives for ever")
        in_time(time.monotonic() - start, 1, "dead")
        expect("error", a.get()["error"], "rnr-retry-exceeded")
        check(lab.until(lambda: (PEER_DEAD, 1) in t.m[1].results),
              "rank 1 not told")
    lab.good(family)


@test("requester: an RNR NAK before the time of the last one is over")
def rnr_early(lab, family):
    timed()
    with lab.tree(family=family, ranks=3, dead_time=400) as t:
        a = deaf(t.m[0])
        start = time.monotonic()
        both(t, 0, [1])
        psn = a.log[0].psn

        def dead():
            a.nak(SYN_RNR | 26, psn)        # 82 ms
            lab.wait(0.02)
            return a.get()["state"] == "error"
        check(lab.until(dead), "lives for ever")
        in_time(time.monotonic() - start, 1, "dead")
        expect("error", a.get()["error"], "rnr-retry-exceeded")
    lab.good(family)


@test("requester: what RNR NAKs cost", cases={"same": (0,), "next": (1,)})
def rnr_cost(lab, family, step):
    with in_flight(lab, family) as t:
        a, psn = t.m[0], t.flight[0].psn
        with counters.member(a, rx_rnr_naks=9, tx_retransmits=9):
            for n in range(9):
                a.nak(SYN_RNR | 1, psn + n * step)      # 0.01 ms
                check(lab.until(lambda n=n: len(a.log) == n + 1),
                      "did not resume")
                lab.quiet(0.01)
        expect("repeated", [p.psn for p in a.log],
               [psn + n * step for n in range(9)])
        catch_up(a, t.flight)
        t.check(1, t.sums)


@test("requester: an RNR NAK longer than the dead time")
def rnr_long(lab, family):
    """655 ms is what verbs ask for when nobody sets min_rnr_timer."""
    timed()
    with lab.tree(family=family, dead_time=500) as t:
        a = t.m[0]

        def once(p):
            a.hook = None
            a.nak(SYN_RNR, p.psn)
            return True
        a.hook = once
        sums = both(t, 0, [1, 2])
        t.check(0, sums)
        expect("state", a.get()["state"], "rts")


@test("requester: NAKs that end the QP", cases={
    "invalid request": (0x61, "remote-invalid-request"),
    "remote access": (0x62, "remote-access"),
    "remote operational": (0x63, "remote-operational"),
    "reserved code 5": (0x65, "remote-invalid-request"),
    "reserved code 31": (0x7f, "remote-invalid-request")})
def nak_fatal(lab, family, syndrome, error):
    timed()
    with in_flight(lab, family, ranks=3) as t:
        a, b, c = t.m
        # it refers to nothing in flight: ignored
        with counters.member(a, rx_bad_response=1):
            a.nak(syndrome, t.flight[-1].psn + 1)
        a.nak(syndrome, t.flight[0].psn - 1)
        lab.quiet()
        expect("state", a.get()["state"], "rts")
        b.allreduce(2, [1])
        lab.quiet()
        lab.sw.events()
        start = time.monotonic()
        a.nak(syndrome, t.flight[3].psn)
        check(lab.until(lambda: (PEER_DEAD, 2) in b.results and
                        (PEER_DEAD, 2) in c.results),
              "the others were not told")
        in_time(time.monotonic() - start, 1, "dead")
        info = a.get()
        expect("state", (info["state"], info["error"]), ("error", error))
        expect("events",
               sorted((n, e.get("error")) for n, e in lab.sw.failures()),
               [("member-error-ntf", error), ("tree-failed-ntf", PEER_DEAD)])
        # it had been sent before the end
        expect("rank 1's result", b.result(1, 4 * 632), ints(t.sums))
    lab.good(family)


@test("requester: acknowledgements of what was never sent", cases={
    "next": (0,), "far ahead": (1000,), "half of all ahead": (0x7fff00,)})
def ack_unsent(lab, family, ahead):
    with in_flight(lab, family) as t:
        a, pkts = t.m[0], t.flight
        never = psn_add(pkts[-1].psn, 1 + ahead)
        for syndrome in (SYN_ACK, 0, NAK_PSN, SYN_RNR | 5):
            with counters.member(a, rx_bad_response=1, rx_acks=0, rx_naks=0,
                                 rx_rnr_naks=0, tx_retransmits=0):
                a.send(a.response(syndrome, never))
        expect("pending", a.get()["tx-in-flight"], 10)
        catch_up(a, pkts)
        expect("pending", a.get()["tx-in-flight"], 0)
        t.check(1, t.sums)
        # nothing is in flight: every acknowledgment is old or premature
        with counters.member(a, rx_bad_response=1, tx_packets=0,
                             tx_retransmits=0):
            a.send(a.response(SYN_ACK, a.epsn))
        t.next_id = 2
        t.good()


@test("requester: odd responses", cases={
    "syndrome class 2": (dict(syndrome=0x40),),
    "syndrome class 4": (dict(syndrome=0x9f),),
    "syndrome class 7": (dict(syndrome=0xff),),
    "acknowledgement with payload": (dict(syndrome=SYN_ACK,
                                          payload=bytes(8)),)})
def odd_response(lab, family, fields):
    with in_flight(lab, family) as t:
        a, pkts = t.m[0], t.flight
        p = a.response(0, pkts[4].psn).but(**fields)
        with counters.member(a, rx_bad_response=1, tx_retransmits=0):
            a.send(p)
        expect("pending", a.get()["tx-in-flight"], 10)
        catch_up(a, pkts)
        t.check(1, t.sums)
        t.next_id = 2
        t.good()


@test("requester: old and partial acknowledgements, across the wrap")
def ack_partial(lab, family):
    with in_flight(lab, family, psn=0xfffff9) as t:
        a, pkts = t.m[0], t.flight
        check(pkts[0].psn > pkts[-1].psn, "no wrap in flight")
        for n, left in ((3, 6), (1, 6), (3, 6), (-1, 6), (6, 3), (7, 2)):
            psn = psn_add(pkts[0].psn, n)
            with counters.member(a, rx_acks=1, rx_bad_response=0,
                                 tx_retransmits=0):
                a.ack(psn)
            expect("pending", a.get()["tx-in-flight"], left)
        catch_up(a, pkts)
        t.check(1, t.sums)
        t.next_id = 2
        t.good()


@test("requester: the window",
      cases={"1": (1,), "2": (2,), "7": (7,), "16": (16,)})
def window(lab, family, size):
    with lab.tree(family=family, pmtu=256, window=size, psn=0xfffffa,
                  **PATIENT) as t:
        a = t.m[0]
        outstanding = []

        def hold(p):
            outstanding.append(p)
            check(len(outstanding) <= size, "in flight: %s" % [
                hex(q.psn) for q in outstanding])
            return True
        a.hook = hold
        both(t, 0, range(1000))
        both(t, 1, range(1000))
        rng = random.Random(lab.seed)
        while not (0, 1) in a.results:
            check(lab.until(lambda: len(outstanding) == size or
                            outstanding and outstanding[-1].opcode ==
                            roce.WRITE_ONLY_IMM, 1), "window not used")
            if len(outstanding) == size:
                check(any(p.ackreq for p in outstanding),
                      "no AckReq in a window")
                check(outstanding[-1].ackreq,
                      "no AckReq where the window closes")
            for _ in range(rng.randrange(1, len(outstanding) + 1)):
                a.take(outstanding.pop(0).but(ackreq=0))
            a.ack()
            lab.quiet(0.001)
        for n in (0, 1):
            t.check(n, [2 * v for v in range(1000)])
        a.hook = None
        expect("retransmits", a.stats()["tx-retransmits"], 0)


@test("requester: repetition when the slot has gone on")
def slot_gone_on(lab, family):
    """The result that it would repeat is overwritten: any bytes, good ICRC."""
    with lab.tree(family=family, ranks=2, slots=1, pmtu=256, **PATIENT) as t:
        t.good()
        a = deaf(t.m[0])
        a.log.clear()
        counts = (1, 150, 57, 56)
        for n, count in enumerate(counts, 1):
            # its next request shows that it has the result
            both(t, n, range(1, count + 1))
            check(lab.until(lambda n=n: (roce.WRITE_ONLY_IMM, n) in
                            [(p.opcode, p.imm) for p in a.log]), "no result")
        # one may have been sent again, to request an acknowledgment
        first = list({p.psn: p for p in reversed(a.log)}.values())[::-1]
        a.log = []
        a.nak(NAK_PSN, first[0].psn)
        lab.until(lambda: len(a.log) >= len(first))
        expect("repeated", [p.psn for p in a.log], [p.psn for p in first])
        zeros = 0
        for p, q in zip(a.log, first):
            expect("fields", (p.va, p.rkey, p.dmalen, p.opcode, p.imm),
                   (q.va, q.rkey, q.dmalen, q.opcode, q.imm))
            check(p.payload in (q.payload, bytes(p.dmalen)),
                  "neither the result nor zeros")
            zeros += p.payload != q.payload
        check(zeros >= 4, "only %d results were overwritten" % zeros)
        expect("the last", a.log[-1].payload, first[-1].payload)
        expect("bad packets", a.bad, [])
        catch_up(a, first)
        lab.quiet()
        t.next_id = len(counts) + 1
        t.good()


@test("requester: keys and addresses at the edge")
def edge(lab, family):
    with lab.tree(family=family, ranks=2, pmtu=256) as t:
        a = deaf(t.m[0])
        va = (1 << 64) - 4
        a.key = 0xffffffff
        a.send(*a.request(0, ints(range(100)), result_va=va))
        t.m[1].allreduce(0, range(100))
        # the first one may have come again before the second one
        check(lab.until(lambda: len({p.psn for p in a.log}) >= 2), "nothing came")
        expect("addresses", {p.va for p in a.log}, {va, va + 224 & (1 << 64) - 1})
        expect("keys", {p.rkey for p in a.log}, {0xffffffff})


@test("requester: an old result is repeated while the next one comes", cases={
    "shared": (peer.ALLGATHER, 1), "each its own": (peer.ALLTOALL, 3)})
def torn(lab, family, coll, blocks):
    """Elements that are not reduced come one by one over the old result."""
    timed()

    def send(m, n):
        return m.request(n, ints([m.rank + n] * 300 * blocks), coll=coll,
                         nelem=300)

    def hook(p):
        """The result has come, but the last acknowledgment is lost."""
        if p.opcode == roce.WRITE_ONLY_IMM and p.msg_id == 0:
            again.append(p)
            a.results.append((p.status, 0))
            a.ack(p.psn - 1)
        return bool(again)
    again = []
    with lab.tree(family=family, ranks=3, slots=1, dead_time=2000,
                  min_rto=10) as t:
        a, b, c = t.m
        a.hook = hook
        for m in t.m:
            m.send(*send(m, 0))
        check(lab.until(lambda: (0, 0) in a.results), "no result")
        a.send(*send(a, 1))
        b.send(*send(b, 1))
        rest = send(c, 1)
        c.send(rest[0])         # of chunks that are not complete
        check(any(again[0].payload), "no elements at first")
        zeros = lab.until(lambda: not any(again[-1].payload) or a.bad)
        expect("bad packets", a.bad, [])
        check(zeros, "no zeros in the end")
        a.hook = None
        c.send(*rest[1:])
        check(lab.until(lambda: all((0, 1) in m.results for m in t.m)),
              "no result")
        for m in t.m:
            expect("bad packets", m.bad, [])
            expect("result of rank %d" % m.rank, m.result(1, 3600),
                   ints([r + 1 for r in range(3) for _ in range(300)]))


@test("requester: more errors than a member can be told at a time",
      families=(4,))
def strays(lab, family):
    with lab.tree(family=family, slots=4, window=1, **PATIENT) as t:
        a = t.m[0]
        deaf(a)
        wrong = [a.request(5 + n % 3, ints([1]))[0] for n in range(80)]
        with counters.member(a, tx_rnr_naks=1, rx_messages=64):
            a.send(*wrong)
        a.hook = None
        a.results.clear()
        a.log.clear()
        a.epsn = a.first_psn
        a.nak(NAK_PSN)              # all again, including the first
        check(lab.until(lambda: len(a.results) == 64),
              "%d told" % len(a.results))
        a.send(*wrong[64:])
        check(lab.until(lambda: len(a.results) == 80),
              "%d told" % len(a.results))
        expect("statuses", {s for s, _ in a.results}, {peer.MSG_ID})
        expect("bad packets", a.bad, [])
        lab.quiet()
        t.good()
