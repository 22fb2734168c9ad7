# SPDX-License-Identifier: GPL-2.0
"""Mutated packets between good messages: nothing breaks, none goes uncounted.

Most mutations leave the ICRC as it was and must change nothing at all. Some
get a new ICRC and thus reach the responder, the requester and the slots of a
tree of their own, which is made anew when its QP goes to error; that of UC,
which nothing brings to error, now and then.
"""
import random
import struct

import counters
import roce
from ktap import expect, test
from peer import ASK, PATIENT, RC, UC
from roce import build, udp_offset

TOTAL, BATCH = 20000, 80
UC_LIFE = 60            # packets


def original_uc(rng, m):
    """A request or question, of this slot's message, the next, or another's."""
    msg_id = max(m.tree.next_id + rng.choice((0, 0, 0, 1, 4, -1, -4)), 0)
    flags = ASK if rng.randrange(4) == 0 else 0
    data = m.header(msg_id, bytes(12), flags=flags) + rng.randbytes(12)
    return m.pkt(psn=m.psn + rng.randrange(-8, 8) & 0xffffff,
                 opcode=roce.UC_WRITE_ONLY_IMM, rkey=m.rkey,
                 va=msg_id % m.tree.slots * m.tree.msg_size, imm=msg_id,
                 dmalen=len(data), payload=data, ackreq=rng.randrange(2),
                 udp_check=rng.choice((0, "right")))


def original(rng, m):
    """A packet that is right, or was, or will be."""
    if m.uc:
        return original_uc(rng, m)
    kind = rng.randrange(6)
    if kind == 0:
        return m.response(rng.choice((roce.SYN_ACK, roce.NAK_PSN, 0x2a)),
                          m.epsn - rng.randrange(4))
    p = m.pkt(psn=m.psn - (rng.randrange(8) if kind == 1 else 0) & 0xffffff,
              opcode=rng.choice((roce.WRITE_ONLY_IMM, roce.WRITE_ONLY_IMM,
                                 roce.WRITE_FIRST, roce.WRITE_LAST_IMM)),
              rkey=m.rkey, ackreq=rng.randrange(2),
              udp_check=rng.choice((0, "right")))
    msg_id = m.tree.next_id
    data = m.header(msg_id, bytes(12)) + rng.randbytes(12)
    if p.opcode == roce.WRITE_FIRST:
        data += rng.randbytes(m.tree.pmtu - len(data))
    return p.but(va=msg_id % m.tree.slots * m.tree.msg_size, imm=msg_id,
                 dmalen=len(data), payload=data)


def mutate(rng, raw):
    """Returns a packet with one to three changes behind its IP header."""
    raw = bytearray(raw)
    off = udp_offset(raw)
    for _ in range(rng.randrange(1, 4)):
        where = rng.choice((off, off + 8, off + 8, off + 20, off + 44))
        at = min(where + rng.randrange(24), len(raw) - 1)
        kind = rng.randrange(8)
        if kind < 4:
            raw[at] ^= 1 << rng.randrange(8)
        elif kind < 6:
            raw[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
        elif kind == 6 and len(raw) > off + 8:
            del raw[rng.randrange(off + 8, len(raw)):]
        else:
            raw += rng.randbytes(rng.randrange(1, 60))
    return fix_lengths(rng, bytes(raw))


def fix_lengths(rng, raw):
    off = udp_offset(raw)
    if len(raw) < off + 8:
        raw += bytes(off + 8 - len(raw))
    if raw[0] >> 4 == 4:
        raw = roce.fix_ip(raw[:2] + struct.pack("!H", len(raw)) + raw[4:])
    else:
        raw = raw[:4] + struct.pack("!H", len(raw) - 40) + raw[6:]
    if rng.randrange(4):
        raw = raw[:off + 4] + struct.pack("!H", len(raw) - off) + raw[off + 6:]
    return raw


def new_icrc(raw):
    """The mutation was there when the packet was made."""
    off = udp_offset(raw)
    end = off + struct.unpack_from("!H", raw, off + 4)[0]
    if not off + 24 <= end <= len(raw):
        return raw
    crc = roce.icrc(raw[:off], raw[off:end - 4])
    raw = raw[:end - 4] + struct.pack("<I", crc) + raw[end:]
    if raw[off + 6:off + 8] != b"\0\0":
        udp = raw[off:off + 6] + b"\0\0" + raw[off + 8:end]
        if off == 20:
            src, dst = raw[12:16], raw[16:20]
        else:
            src, dst = raw[8:24], raw[24:40]
        check = roce.udp_checksum(src, dst, udp)
        raw = raw[:off + 6] + struct.pack("!H", check) + raw[off + 8:]
    return raw


def ours(raw):
    """Does it go to a QPN of the switch?"""
    off = udp_offset(raw)
    if len(raw) < off + 16:
        return False
    port, = struct.unpack_from("!H", raw, off + 2)
    qpn = struct.unpack_from("!I", raw, off + 12)[0] & 0xffffff
    return port == roce.PORT and 0x800000 <= qpn <= 0xbfffff


class Victim:
    """A tree that is made anew when it broke. Each packet is accounted for."""

    def __init__(self, lab, family, kind):
        self.lab, self.family, self.kind, self.broken = lab, family, kind, 0
        self.make()

    def make(self):
        self.tree = self.lab.tree(family=self.family, ranks=2, pmtu=256,
                                  slots=4, transports=(self.kind, RC),
                                  msg_size=256 if self.kind == UC else 1024,
                                  **PATIENT)
        self.m = self.tree.m[0]
        self.kept = self.answered = self.sent = 0
        self.m.take_uc = lambda p: None
        for m in self.tree.m:
            m.take = lambda p, m=m: self.take(m, p)

    def take(self, m, p):
        """Mutated headers name any address: not our business here."""
        if p.psn == m.epsn:
            m.epsn = roce.psn_add(m.epsn, 1)
        self.answered += m is self.m
        m.ack()

    def count(self):
        """What read() says when nothing moves."""
        last, now = None, self.read()
        while now != last:
            last, now = now, self.read()
        return now

    def read(self):
        """(drops of the switch, packets of the QP, those kept, those taken)"""
        self.lab.quiet(0.0)
        stats = self.m.stats()
        drops = sum(v for k, v in self.lab.sw.stats().items() if k[:3] == "rx-")
        # An RNR NAK of 0.01 ms answers no packet: it requests one.
        asked = sum(a.syndrome == roce.SYN_RNR | 1 for a in self.m.acks)
        return drops, counters.arrived(stats) - self.answered - asked, \
            stats["rx-ooo-queued"], stats["rx-packets"]

    def send(self, raw):
        """One packet, which has to be counted once if it is the switch's."""
        before = self.count()
        self.m.port.send(raw)
        after = self.count()
        moved = sum(after[:2]) - sum(before[:2])
        # packets in the out-of-order queue may have been examined
        more = max(moved - ours(raw), 0)
        if moved < ours(raw) or more > self.kept:
            raise AssertionError("counted %d times, %d were kept: %s" %
                                 (moved, self.kept, raw.hex()))
        self.kept += after[2] - before[2] - more
        self.sent += 1
        if self.m.get()["state"] == "error" or \
           (self.kind == UC and self.sent == UC_LIFE):
            self.broken += 1
            self.tree.close()
            self.make()
        else:
            self.m.psn = roce.psn_add(self.m.psn, after[3] - before[3])


def unharmed(raw, m):
    """The changes touched nothing that the ICRC covers: a good packet."""
    try:
        p = roce.parse(raw)
    except (ValueError, struct.error, IndexError):
        return False
    return bool(p and p.icrc_ok and p.qpn == m.sw_qpn)


@test("random: mutated packets", limit=120, cases={"RC": (RC,), "UC": (UC,)})
def mutated(lab, family, kind):
    rng = random.Random(lab.seed + family)
    victim = Victim(lab, family, kind)
    own = deep = 0
    with lab.tree(family=family, ranks=2, transports=(kind,),
                  **PATIENT) as good:
        m = good.m[0]
        drops = {}
        for n in range(TOTAL // 2 // BATCH):
            before = lab.sw.stats()
            expected = 0
            for _ in range(BATCH - BATCH // 8):
                raw = mutate(rng, build(original(rng, m)))
                if not unharmed(raw, m):
                    expected += ours(raw)
                    m.port.send(raw)
            lab.quiet(0.0)
            moved = counters.delta(lab.sw.stats(), before)
            expect("drops (%s)" % moved, sum(moved.values()), expected)
            for key, value in moved.items():
                drops[key] = drops.get(key, 0) + value
            own += expected
            for _ in range(BATCH // 8):
                victim.send(new_icrc(mutate(rng,
                                            build(original(rng, victim.m)))))
                deep += 1
            good.good()
        stats = m.stats()
        for key in ("rx-bad-request", "rx-bad-response", "rx-out-of-sequence",
                    "tx-retransmits"):
            expect(key, stats[key], 0)
    victim.tree.close()
    print("#  %d for the switch dropped: %s" % (own, drops))
    print("#  %d with a new ICRC, %d trees were used up" %
          (deep, victim.broken),
          flush=True)
    lab.good(family)
