# SPDX-License-Identifier: GPL-2.0
"""The switch as RC responder: PSNs, acknowledgements, NAKs, error state."""
import counters
import peer
import roce
from ktap import SLOW, check, expect, test
from peer import PATIENT, ints
from roce import (NAK_ACCESS, NAK_INVALID, NAK_PSN, SYN_ACK, SYN_RNR, psn_add)


def patient(lab, **kw):
    """A tree that asks for nothing, so that all answers are to requests."""
    return lab.tree(**PATIENT, **kw)


def answers(m, *want):
    """Exactly these (syndrome, PSN, MSN) have come."""
    m.lab.until(lambda: len(m.acks) >= len(want), 1)
    m.lab.quiet()
    got = [(a.syndrome, a.psn, a.msn) for a in m.acks]
    expect("answers (syndrome, PSN, MSN)", got, list(want))
    m.acks.clear()


def acknowledged(m, pkts):
    """ACKs of messages from MSN 1 on; one for all, unless they came slowly."""
    check(m.lab.until(lambda: m.acks and m.acks[-1].psn == pkts[-1].psn, 1),
          "no ACK")
    m.lab.quiet()
    msn = {p.psn: n + 1 for n, p in enumerate(pkts)}
    got = [(a.syndrome, a.psn, a.msn) for a in m.acks]
    expect("answers (syndrome, PSN, MSN)", got,
           [(SYN_ACK, a.psn, msn.get(a.psn)) for a in m.acks])
    msns = [a.msn for a in m.acks]
    expect("MSNs", msns, sorted(set(msns)))
    m.acks.clear()


def reached(m, pkt):
    """The newest answer names this packet."""
    check(m.lab.until(lambda: m.acks and m.acks[-1].psn == pkt.psn),
          "not acknowledged")


def reacknowledged(m, dup, latest, msn):
    """One ACK for a duplicate: by its own PSN or by the latest one."""
    check(m.lab.until(lambda: m.acks, 1), "no ACK for a duplicate")
    check(m.acks[0].psn in (dup.psn, latest), "PSN %#x" % m.acks[0].psn)
    answers(m, (SYN_ACK, m.acks[0].psn, msn))


@test("responder: out of sequence")
def out_of_sequence(lab, family):
    with patient(lab, family=family, slots=8) as t:
        a, b = t.m
        pkts = [a.request(n, ints([n]))[0] for n in range(4)]
        with counters.member(a, rx_out_of_sequence=2, rx_ooo_queued=2,
                             rx_packets=0,
                             tx_naks=1):
            a.send(pkts[1])
            answers(a, (NAK_PSN, pkts[0].psn, 0))
            a.send(pkts[2])
            answers(a)
        with counters.member(a, rx_out_of_sequence=1, rx_ooo_queued=0):
            a.send(pkts[2])         # the same again: queued once
        answers(a)
        with counters.member(a, rx_packets=3, tx_acks=1):
            a.send(pkts[0])
            answers(a, (SYN_ACK, pkts[2].psn, 3))
        a.send(pkts[3])
        answers(a, (SYN_ACK, pkts[3].psn, 4))
        for n in range(4):
            b.allreduce(n, [5])
            t.check(n, [5 + n])


@test("responder: a hole in a long message")
def hole_in_message(lab, family):
    with patient(lab, family=family, pmtu=256) as t:
        values = list(range(1000))
        pkts = t.m[0].request(0, ints(values))
        t.m[1].allreduce(0, values)
        for msg_id, lost in enumerate((0, 3, len(pkts) - 1)):
            if msg_id:
                pkts = t.m[0].request(msg_id, ints(values))
                t.m[1].allreduce(msg_id, values)
            t.m[0].acks.clear()
            t.m[0].send(*[p for n, p in enumerate(pkts) if n != lost])
            lab.quiet()
            t.m[0].send(*pkts[lost:])       # as a go-back-N requester does
            if 0 < lost < len(pkts) - 1:
                # what fills the hole may have moved: see late_end()
                reached(t.m[0], pkts[-2])
                t.m[0].send(pkts[-1])
            t.check(msg_id, [2 * v for v in values])
            reached(t.m[0], pkts[-1])
            expect("NAKs",
                   [x.psn for x in t.m[0].acks if x.syndrome == NAK_PSN],
                   [pkts[lost].psn] if lost < len(pkts) - 1 else [])


@test("responder: two holes, one NAK each")
def two_holes(lab, family):
    with patient(lab, family=family, slots=16) as t:
        a, b = t.m
        pkts = [a.request(n, ints([n]))[0] for n in range(7)]
        a.send(pkts[1], pkts[2], pkts[4], pkts[5])
        answers(a, (NAK_PSN, pkts[0].psn, 0))
        a.send(pkts[0])
        answers(a, (SYN_ACK, pkts[2].psn, 3))
        a.send(pkts[6])             # beyond the second gap
        answers(a, (NAK_PSN, pkts[3].psn, 3))
        a.send(pkts[3])
        answers(a, (SYN_ACK, pkts[6].psn, 7))
        for n in range(7):
            b.allreduce(n, [1])
            t.check(n, [n + 1])


@test("responder: duplicates")
def duplicates(lab, family):
    with patient(lab, family=family, slots=8) as t:
        a, b = t.m
        pkts = [a.request(n, ints([n + 1]))[0] for n in range(3)]
        a.send(*pkts)
        acknowledged(a, pkts)
        with counters.member(a, rx_duplicates=3, rx_packets=0, tx_naks=0):
            for p in pkts:
                a.send(p)
                reacknowledged(a, p, pkts[2].psn, 3)
        # even with other contents: not looked at, but for the key
        with counters.member(a, rx_duplicates=1, rx_untrusted=1, rx_packets=0,
                             tx_naks=0):
            a.send(pkts[1].but(payload=bytes(44)), pkts[1].but(rkey=0, va=99))
        a.acks.clear()
        for n in range(3):
            b.allreduce(n, [10])
            t.check(n, [n + 11])
        # and long after the messages are done
        with counters.member(a, rx_duplicates=3, rx_packets=0, tx_packets=0):
            a.send(*pkts)
        for n in range(3, 8):
            for m in t.m:
                m.allreduce(n, [n])
            t.check(n, [2 * n])


@test("responder: no more than 128 packets are kept")
def kept(lab, family):
    with patient(lab, family=family, slots=256, msg_size=64) as t:
        a, b = t.m
        pkts = [a.request(n, ints([n]))[0] for n in range(141)]
        with counters.member(a, rx_out_of_sequence=140, rx_ooo_queued=128,
                             tx_naks=1):
            a.send(*pkts[1:])
        answers(a, (NAK_PSN, pkts[0].psn, 0))
        a.send(pkts[0])
        # in turns of 16, so that none takes long
        answers(a, *[(SYN_ACK, pkts[n].psn, n + 1)
                     for n in range(16, 129, 16)])
        a.send(*pkts[129:])
        check(lab.until(lambda: a.acks and a.acks[-1].psn == pkts[140].psn),
              "no ACK")
        b.send(*[b.request(n, ints([1]))[0] for n in range(141)])
        for n in range(141):
            t.check(n, [n + 1])


@test("responder: PSN wrap")
def psn_wrap(lab, family):
    with patient(lab, family=family, slots=8, pmtu=256, psn=0xfffffe,
                 peer_psn=0xfffffd) as t:
        a, b = t.m
        values = list(range(300))
        pkts = a.request(0, ints(values))       # 0xfffffd ... 0x000001
        expect("packets", [p.psn for p in pkts],
               [0xfffffd, 0xfffffe, 0xffffff, 0, 1])
        a.send(pkts[0], pkts[1], pkts[3], pkts[4])
        answers(a, (NAK_PSN, 0xffffff, 0))
        a.send(pkts[2])
        # the end of a message may wait for its retransmission
        check(lab.until(lambda: a.acks) and a.acks[0].psn in (0, 1), "no ACK")
        a.acks.clear()
        a.send(*pkts[3:])
        answers(a, (SYN_ACK, 1, 1))
        dup = pkts[0].but(ackreq=1)             # from before the wrap
        a.send(dup)
        reacknowledged(a, dup, 1, 1)
        b.allreduce(0, values)
        t.check(0, [2 * v for v in values])
        for n in range(1, 6):
            for m in t.m:
                m.allreduce(n, [n])
            t.check(n, [2 * n])
        check(t.m[0].epsn < 0x100, "results did not wrap")


@test("responder: message IDs wrap", cases={
    "24 bits": (0xfffffe,), "32 bits": (0xfffffffe,)})
def msg_id_wrap(lab, family, first):
    with patient(lab, family=family, first_msg_id=first) as t:
        for n in range(8):
            msg_id = first + n & 0xffffffff
            for m in t.m:
                m.allreduce(msg_id, [n])
            t.check(msg_id, [2 * n])


@test("responder: acknowledgements are coalesced")
def coalesced(lab, family):
    with patient(lab, family=family, pmtu=256) as t:
        a = t.m[0]
        pkts = a.request(0, ints(range(4000)), ackreq=False)
        check(len(pkts) == 63, "%d packets" % len(pkts))
        a.send(*pkts[:15])
        answers(a)
        a.send(pkts[15])
        answers(a, (SYN_ACK, pkts[15].psn, 0))
        a.send(pkts[16].but(ackreq=1))
        answers(a, (SYN_ACK, pkts[16].psn, 0))
        a.send(*pkts[17:32])
        answers(a)
        a.send(pkts[32])
        answers(a, (SYN_ACK, pkts[32].psn, 0))
        a.send(*pkts[33:48])
        answers(a)
        a.send(*pkts[48:62])
        answers(a, (SYN_ACK, pkts[48].psn, 0))
        a.send(pkts[62].but(ackreq=1))
        answers(a, (SYN_ACK, pkts[62].psn, 1))
        t.m[1].allreduce(0, range(4000))
        t.check(0, [2 * v for v in range(4000)])


def dies(lab, t, pkts, syndrome, values=(1, 2, 3), error=None):
    """Rank 0's last packet gets a NAK: error state, events; others learn it."""
    a, b, c = t.m
    before, bad = pkts[:-1], pkts[-1]
    b.allreduce(0, values)          # waits for a; c has not begun anything
    lab.quiet()
    lab.sw.events()
    a.send(*before)
    lab.quiet()
    a.acks.clear()
    msn = len([p for p in before if p.opcode in (
        roce.WRITE_LAST, roce.WRITE_LAST_IMM, roce.WRITE_ONLY_IMM)])
    with counters.switch(lab), counters.member(a, rx_bad_request=1, tx_naks=1):
        a.send(bad)
    answers(a, (syndrome, bad.psn, msn))
    info = a.get()
    expect("state", info["state"], "error")
    expect("error", info["error"], error or (
        "local-access" if syndrome == NAK_ACCESS else "local-invalid-request"))
    check(lab.until(lambda: b.results and c.results),
          "the others were not told")
    expect("rank 1, who waited", b.results, [(peer.PEER_DEAD, 0)])
    expect("rank 2, who had not begun", c.results, [(peer.PEER_DEAD, 0)])
    expect("events",
           sorted((n, e.get("rank", -1)) for n, e in lab.sw.failures()),
           [("member-error-ntf", 0), ("tree-failed-ntf", -1)])
    expect("tree", (t.get()["state"], t.get()["error"]),
           ("failed", peer.PEER_DEAD))
    # every further request gets this NAK, and the others' messages fail
    with counters.member(a, rx_in_error=2, tx_naks=1):
        a.send(bad, a.response(SYN_ACK, 0))
    answers(a, (roce.NAK_OPERATIONAL, bad.psn, msn))
    c.allreduce(0, [1, 2, 3])
    b.allreduce(1, [1, 2, 3])
    check(lab.until(lambda: len(c.results) == 2 and len(b.results) == 2),
          "no status")
    expect("later requests", (b.results[1], c.results[1]),
           ((peer.PEER_DEAD, 1), (peer.PEER_DEAD, 0)))
    expect("bad packets", [m.bad for m in (a, b, c)], [[], [], []])


def plain(**kw):
    """A request of one packet, changed."""
    def make(a):
        p, = a.request(0, ints([1, 2, 3]))
        return [p.but(**{k: v(p) if callable(v) else v for k, v in kw.items()})]
    return make


def ordered(*steps):
    """FIRST, MIDDLE, ... of proper lengths; the last of them is wrong."""
    def make(a):
        pmtu = a.tree.pmtu
        out = []
        for n, op in enumerate(steps):
            full = op in (roce.WRITE_FIRST, roce.WRITE_MIDDLE, roce.SEND_FIRST,
                          roce.SEND_MIDDLE)
            data = a.header(0, bytes(4 * pmtu - 32)) + bytes(5 * pmtu)
            size = pmtu if full else 32
            out.append(a.pkt(opcode=op, payload=data[:size], rkey=a.rkey, imm=0,
                             dmalen=4 * pmtu if full else 32, ackreq=1,
                             psn=psn_add(a.psn, n)))
        return out
    return make


def long_one(change):
    """A request of 3 packets, changed."""
    def make(a):
        pkts = a.request(0, ints(range(600)))
        return change(pkts)
    return make


F, M, L, LI = (roce.WRITE_FIRST, roce.WRITE_MIDDLE, roce.WRITE_LAST,
               roce.WRITE_LAST_IMM)
O, OI = roce.WRITE_ONLY, roce.WRITE_ONLY_IMM
ORDER = {
    "MIDDLE first": (M,), "LAST first": (L,),
    "LAST with Immediate first": (LI,),
    "FIRST, FIRST": (F, F), "FIRST, ONLY": (F, O),
    "FIRST, ONLY with Immediate": (F, OI), "FIRST, MIDDLE, FIRST": (F, M, F),
    "ONLY without Immediate": (O,),
    "FIRST, LAST without Immediate": (F, L),
    "FIRST, SEND MIDDLE": (F, roce.SEND_MIDDLE),
    "FIRST, SEND LAST": (F, roce.SEND_LAST),
    "SEND FIRST": (roce.SEND_FIRST,), "SEND MIDDLE": (roce.SEND_MIDDLE,),
    "SEND LAST": (roce.SEND_LAST,), "SEND ONLY": (roce.SEND_ONLY,),
    "SEND ONLY with Immediate": (roce.SEND_ONLY_IMM,),
    "SEND LAST with Invalidate": (roce.SEND_LAST_INV,),
    "SEND ONLY with Invalidate": (roce.SEND_ONLY_INV,),
    "READ": (roce.READ_REQUEST,), "compare and swap": (roce.COMPARE_SWAP,),
    "fetch and add": (roce.FETCH_ADD,),
    "FIRST, READ": (F, roce.READ_REQUEST),
}


@test("responder: order", cases={k: v for k, v in ORDER.items()})
def order(lab, family, *steps):
    with patient(lab, family=family, ranks=3) as t:
        pkts = ordered(*steps)(t.m[0])
        # a message that opens within another one
        lost = len(steps) > 1 and steps[-1] in (F, O, OI)
        dies(lab, t, pkts, NAK_INVALID, [0] * (1024 - 8),
             "local-place-lost" if lost else None)
    lab.good(family)


ACCESS = {
    "wrong R_Key": plain(rkey=lambda p: p.rkey ^ 1),
    "R_Key 0": plain(rkey=0),
    "address not at a slot's start": plain(va=4),
    "address of another slot": plain(va=16384),
    "address beyond the slots": plain(va=4 * 16384),
    "address beyond 4 GiB": plain(va=1 << 32),
    "highest address": plain(va=(1 << 64) - 16384),
    "longer than a slot": plain(dmalen=16385),
    "length 4 GiB - 1": plain(dmalen=0xffffffff),
    "wrong R_Key in FIRST": long_one(lambda p: [p[0].but(rkey=p[0].rkey + 1)]),
}


@test("responder: access", cases={k: (v,) for k, v in ACCESS.items()})
def access(lab, family, make):
    with patient(lab, family=family, ranks=3) as t:
        dies(lab, t, make(t.m[0]), NAK_ACCESS)
    lab.good(family)


def edit(n, **kw):
    """The packets up to no. @n of three, that one changed."""
    def change(pkts):
        p = pkts[n]
        return pkts[:n] + [p.but(**{k: v(p) if callable(v) else v
                                    for k, v in kw.items()})]
    return long_one(change)


def less(n):
    return lambda p: p.payload[:-n]


def more(n):
    return lambda p: p.payload + bytes(n)


LENGTH = {
    "DMA length longer than ONLY": plain(dmalen=48),
    "DMA length shorter than ONLY": plain(dmalen=40),
    "DMA length 0, payload": plain(dmalen=0),
    "ONLY longer than the PMTU": lambda a: [
        p.but(payload=p.payload + bytes(1024), dmalen=len(p.payload) + 1024)
        for p in a.request(0, ints([1]))],
    "FIRST shorter than the PMTU": edit(0, payload=less(4)),
    "FIRST longer than the PMTU": edit(0, payload=more(4)),
    "FIRST empty": edit(0, payload=b""),
    "FIRST that is all of the message": edit(0, dmalen=1024),
    "FIRST that is more than the message": edit(0, dmalen=1000),
    "MIDDLE shorter than the PMTU": edit(1, payload=less(4)),
    "MIDDLE longer than the PMTU": edit(1, payload=more(4)),
    "MIDDLE instead of LAST": edit(2, opcode=M, payload=bytes(1024)),
    "LAST shorter": edit(2, payload=less(4)),
    "LAST longer": edit(2, payload=more(4)),
    "LAST empty": edit(2, payload=b""),
    "LAST too early": edit(1, opcode=LI),
    "pad in FIRST": edit(0, payload=less(4), pad=3, pad_bytes=bytes(4)),
    "pad in MIDDLE": edit(1, payload=less(1), pad=1),
    "pad 1 behind 4n bytes": plain(pad=1),
    "pad 3 in LAST behind 4n bytes": edit(2, pad=3),
    "no pad where one is due": plain(payload=less(1), dmalen=43, pad=0),
    "pad too short": plain(payload=less(3), dmalen=41, pad=2),
}


@test("responder: length", cases={k: (v,) for k, v in LENGTH.items()})
def length(lab, family, make):
    with patient(lab, family=family, ranks=3) as t:
        pkts = make(t.m[0])
        dies(lab, t, pkts, NAK_INVALID,
             range(600) if len(pkts) > 1 else (1, 2, 3))
    lab.good(family)


IMM = {
    "status 1": plain(imm=1 << 24), "status 255": plain(imm=255 << 24),
    "another message's ID": plain(imm=1),
    "message ID of the slot's next round": plain(imm=4),
    "status in LAST": edit(2, imm=1 << 24),
    "another message's ID in LAST": edit(2, imm=1),
}


@test("responder: Immediate", cases={k: (v,) for k, v in IMM.items()})
def immediate(lab, family, make):
    with patient(lab, family=family, ranks=3) as t:
        pkts = make(t.m[0])
        dies(lab, t, pkts, NAK_INVALID,
             range(600) if len(pkts) > 1 else (1, 2, 3))
    lab.good(family)


@test("responder: shorter than an INC header", cases={
    "%d bytes" % n: (n,) for n in (1, 4, 16, 20, 24, 28, 31)})
def short(lab, family, size):
    """Whatever lies behind such a packet must not be taken for its header."""
    with patient(lab, family=family, ranks=3) as t:
        a = t.m[0]
        # element counts that, with 32 bytes missing, agree modulo 2^32
        head = a.header(0, b"", nelem=(1 << 32) + size - 32 >> 2)
        p, = a.request(0, raw=head[:size])
        dies(lab, t, [p], NAK_INVALID)
    lab.good(family)


@test("responder: a write of no bytes", cases={
    "ONLY": (roce.WRITE_ONLY, {}),
    "ONLY with Immediate": (roce.WRITE_ONLY_IMM, {}),
    "of any key and address": (roce.WRITE_ONLY, dict(rkey=1, va=1 << 63)),
    "of any key, with Immediate": (roce.WRITE_ONLY_IMM, dict(rkey=1, imm=99))})
def no_bytes(lab, family, opcode, fields):
    """Legal (IBTA C9-88), acknowledged, and of no effect."""
    with patient(lab, family=family) as t:
        t.good()
        a = t.m[0]
        lab.until(lambda: a.acks)       # deferred, until now
        a.acks.clear()
        p = a.pkt(opcode=opcode, rkey=a.rkey, ackreq=1).but(**fields)
        with counters.member(a, rx_packets=1, rx_redundant=1, rx_messages=0,
                             tx_packets=0):
            a.send(p)
            answers(a, (SYN_ACK, p.psn, 2))
        a.psn += 1
        for _ in range(5):
            t.good()
        expect("results", len(a.results), 6)


def remnant(psn, last):
    """What a stock rxe sends that has lost its place in @last's message."""
    return last.but(opcode=roce.WRITE_ONLY_IMM, psn=psn, payload=b"", dmalen=0,
                    ackreq=1)


def moved(a, psn, msg_id, values):
    a.psn = psn
    return a.request(msg_id, ints(values))


LONG = list(range(300))     # five packets of 256 bytes

LOST = {
    "the remnant": lambda a, psn, p: [remnant(psn, p[4])],
    "its message whole": lambda a, psn, p: moved(a, psn, 0, LONG),
    "what follows it": lambda a, psn, p: moved(a, psn_add(psn, 1), 1, LONG),
    "late copies of all": lambda a, psn, p: p,
}


@test("responder: a member that has lost its place", cases={
    "%s, %s" % (k, m): (v, n) for k, v in LOST.items()
    for m, n in (("nothing else", 0), ("in the next message", 3))})
def lost_place(lab, family, make, have):
    """Old packets with new PSNs: an error, and no result is wrong."""
    with patient(lab, family=family, slots=8, pmtu=256) as t:
        a, b = t.m
        pkts = a.request(0, ints(LONG))
        psn = a.psn
        pkts += a.request(1, ints([7] * 300))[:have]
        a.send(*pkts)
        lab.quiet()
        a.acks.clear()
        wrong = make(a, psn, pkts)
        if wrong == pkts:
            a.send(*wrong)
            lab.quiet()
            expect("state", a.get()["state"], "rts")
            return
        if make == LOST["what follows it"] and not have:
            wrong = wrong[:1]
            a.send(*wrong)
            lab.quiet()
            expect("state", a.get()["state"], "rts")
            wrong = moved(a, psn, 0, LONG)
            a.acks.clear()
        with counters.member(a, rx_place_lost=1, tx_naks=1, rx_packets=0,
                             rx_bad_request=1):
            a.send(wrong[0])
            # the ACK of what was right before may be late
            check(lab.until(lambda: a.acks and
                            a.acks[-1].syndrome != SYN_ACK), "no NAK")
        expect("syndrome", a.acks[-1].syndrome, NAK_INVALID)
        expect("state", (a.get()["state"], a.get()["error"]),
               ("error", "local-place-lost"))
        b.allreduce(0, LONG)
        check(lab.until(lambda: b.results), "rank 1 was not told")
        expect("rank 1", b.results[0][0], peer.PEER_DEAD)
    lab.good(family)


@test("responder: a late end", cases={
    "behind what has moved": (1, "error"), "of its own message": (0, "rts")})
def late_end(lab, family, by, state):
    """Packets without a key fill a gap; then LAST comes, sent before that."""
    with patient(lab, family=family, slots=8, pmtu=256) as t:
        a, b = t.m
        a.send(*a.request(0, ints(LONG)))
        check(lab.until(lambda: a.acks), "no ACK")
        pkts = a.request(1, ints(LONG))
        a.send(*pkts[:2], pkts[3])
        a.send(*(pkts[n - by].but(psn=pkts[n].psn) for n in (2, 3)))
        lab.quiet()
        with counters.member(a, rx_packets=0, rx_messages=0):
            a.send(pkts[4])
            reached(a, pkts[3])
        a.send(pkts[4 - by].but(psn=pkts[4].psn))
        lab.quiet()
        expect("state", a.get()["state"], state)
        if state == "error":
            expect("error", a.get()["error"], "local-place-lost")
        else:
            b.allreduce(0, LONG)
            t.m[1].send(*b.request(1, ints(LONG)))
            t.check(1, [2 * v for v in LONG])
    lab.good(family)


@test("responder: the end of a message is named by what follows it")
def named(lab, family):
    with patient(lab, family=family, slots=8, pmtu=256) as t:
        a, b = t.m
        first = a.request(0, ints(LONG))
        rest = a.request(1, ints(LONG))
        a.send(*first, *rest[:2])
        check(lab.until(lambda: a.acks), "no ACK")
        # A slow machine has not seen what follows yet.
        check(a.acks[0].psn in [rest[0].psn] +
              [first[-1].psn] * (SLOW > 1), "ACK of %r" % a.acks[0])
        a.acks.clear()
        a.send(first[-1])
        answers(a, (SYN_ACK, rest[0].psn, 1))
        a.acks.clear()
        a.send(*rest[2:])
        reached(a, rest[-1])        # nothing follows
        # from now on, nothing is kept beyond a gap
        more = a.request(2, ints([5])) + a.request(3, ints([6]))
        with counters.member(a, rx_ooo_queued=0, rx_out_of_sequence=1,
                             rx_packets=2):
            a.send(more[1], *more)
            lab.quiet()
        for n, v in enumerate((LONG, LONG, [5], [6])):
            b.allreduce(n, v)
            t.check(n, [2 * x for x in v])


def in_two(pkts):
    """The same message, its last packet as a write of its own."""
    size = sum(len(p.payload) for p in pkts[:-1])
    head = [p.but(dmalen=size) for p in pkts[:-1]]
    head[-1] = head[-1].but(opcode=roce.WRITE_LAST if head[1:] else
                            roce.WRITE_ONLY, ackreq=1)
    return head + [pkts[-1].but(opcode=roce.WRITE_ONLY_IMM,
                                va=pkts[0].va + size,
                                dmalen=len(pkts[-1].payload))]


@test("responder: the last packet as a write of its own", cases={
    "two packets": (60,), "three, the last one full": (184,),
    "five": (300,), "the last one of four bytes": (121,)})
def two_writes(lab, family, count):
    with patient(lab, family=family, slots=8, pmtu=256) as t:
        a, b = t.m
        values = list(range(count))
        for n in range(4):
            pkts = in_two(a.request(n, ints(values)))
            a.acks.clear()
            if n == 2:      # beyond a gap, and duplicates
                a.send(*pkts[1:], pkts[0], *pkts)
            else:
                a.send(*pkts[:-1])
                lab.quiet(0.02)
                check(all(x.psn != pkts[-2].psn for x in a.acks),
                      "the end of the first write is acknowledged")
                a.send(pkts[-1])
            reached(a, pkts[-1])
            expect("NAKs", {x.syndrome for x in a.acks} -
                   {SYN_ACK, NAK_PSN}, set())
            b.send(*(in_two if n & 1 else list)(b.request(n, ints(values))))
            t.check(n, [2 * v for v in values])
        expect("messages", a.stats()["rx-messages"], 4)


def wrong_two(n, **kw):
    def make(a):
        pkts = in_two(a.request(0, ints(range(600))))
        p = pkts[n]
        return pkts[:n] + [p.but(**{k: v(p) if callable(v) else v
                                    for k, v in kw.items()})]
    return make


TWO = {
    "another place": (wrong_two(2, va=lambda p: p.va + 1024), NAK_ACCESS),
    "the beginning of the slot": (wrong_two(2, va=0), NAK_ACCESS),
    "wrong R_Key": (wrong_two(2, rkey=lambda p: p.rkey + 1), NAK_ACCESS),
    "no Immediate": (wrong_two(2, opcode=roce.WRITE_ONLY), NAK_INVALID,
                     "local-place-lost"),
    "another message's ID": (wrong_two(2, imm=1), NAK_INVALID),
    "shorter than the header says": (
        wrong_two(2, payload=lambda p: p.payload[:-4],
                  dmalen=lambda p: len(p.payload) - 4), NAK_INVALID),
    "empty": (wrong_two(2, payload=b"", dmalen=0), NAK_INVALID),
    "an Immediate at the end of the first write": (
        wrong_two(1, opcode=roce.WRITE_LAST_IMM), NAK_INVALID),
}


@test("responder: the last packet as a write of its own, wrong", cases=TWO)
def two_wrong(lab, family, make, syndrome, error=None):
    with patient(lab, family=family, ranks=3) as t:
        dies(lab, t, make(t.m[0]), syndrome, range(600), error)
    lab.good(family)


@test("responder: a write of no bytes in the middle of a message", cases={
    "ONLY": (roce.WRITE_ONLY,), "ONLY with Immediate": (roce.WRITE_ONLY_IMM,)})
def no_bytes_inside(lab, family, opcode):
    with patient(lab, family=family, ranks=3) as t:
        a = t.m[0]
        first = a.request(0, ints(range(600)))[0]
        dies(lab, t, [first, a.pkt(opcode=opcode, rkey=a.rkey, ackreq=1,
                                   psn=psn_add(first.psn, 1))],
             NAK_INVALID, range(600))
    lab.good(family)


@test("responder: a loss is one NAK, what asks for it later are RNR NAKs")
def asked(lab, family):
    with lab.tree(family=family, min_rto=1) as t:
        a = t.m[0]
        pkts = [a.request(n, ints([n]))[0] for n in range(2)]
        before = a.stats()
        a.send(pkts[1])
        check(lab.until(lambda: len(a.acks) >= 3, 5), "is not asked")
        moved = counters.delta(a.stats(), before)
        expect("syndromes", {x.syndrome for x in a.acks[1:]}, {SYN_RNR | 1})
        expect("counted as a loss", moved["tx-naks"], 1)
        check(moved["tx-rnr-naks"] >= 2, "asking is not counted: %s" % moved)
        a.send(*pkts)
        for n in range(2):
            t.m[1].allreduce(n, [1])
            t.check(n, [n + 1])


@test("responder: RNR NAK when a member is far ahead")
def rnr(lab, family):
    with patient(lab, family=family, slots=16, pmtu=1024) as t, lab.no_pieces():
        a, b = t.m
        values = list(range(4000))
        pkts = [p for n in range(6) for p in a.request(n, ints(values))]
        per = len(pkts) // 6
        a.send(*pkts[:per])
        lab.quiet()
        # memory that this kernel uses for one message
        size = a.get()["held"]
        check(size > 4 * len(values) + per * 500, "%d bytes held" % size)
        lab.sw.do("tree-set", id=t.id, hold=4 * size)
        with counters.member(a, tx_rnr_naks=1, tx_naks=0):
            a.send(*pkts[per:4 * per])
            lab.quiet()
            a.acks.clear()
            a.send(*pkts[4 * per:])
        first = pkts[4 * per].psn
        check(lab.until(lambda: a.acks), "no answer")
        expect("syndrome's type", a.acks[0].syndrome & 0xe0, SYN_RNR)
        expect("answers", [(x.psn, x.msn) for x in a.acks], [(first, 4)])
        a.acks.clear()
        for n in range(4):
            b.allreduce(n, values)
            t.check(n, [2 * v for v in values])
        a.send(*pkts[4 * per:])
        for n in range(4, 6):
            b.allreduce(n, values)
            t.check(n, [2 * v for v in values])
        check(lab.until(lambda: a.acks[-1].psn == pkts[-1].psn),
              "not acknowledged")
