# SPDX-License-Identifier: GPL-2.0
"""Members that run ahead of each other on a bad network, against a model.

Each case plays some trees with settings by the seed: members begin as the window rule
lets them, pause, lose, double and delay packets of both directions, go back, ask and
send again. The model is protocol.rst: which bytes each rank gets, which messages end
with a status, and how much may wait. Whatever is sent, all ends.
"""
import heapq
import random
import struct
import time

import peer
import roce
from ktap import SLOW, check, expect, test
from peer import (ALLGATHER, ALLREDUCE, BARRIER, BROADCAST, MARK, MIN, MISMATCH, NO_DATA,
                  OK, PEER_DEAD, RC, SUM, UC, AGAIN, WAIT, ints)
from roce import psn_add, psn_diff

HOLD = 1 << 16
TREES = 3               # of a case
IN_FLIGHT = 24          # packets of an RC member
STUCK = 15 * SLOW       # seconds without progress; the switch may wait for 4
LOW24 = 0xffffff
# The largest buffer that a packet of a PMTU may stay in.
BUFFER = {256: 4096, 1024: 4096, 4096: 9728}


def ahead(a, b):
    """How far message @a is ahead of @b."""
    return ((a - b + (1 << 31)) & 0xffffffff) - (1 << 31)


class Message:
    """What the ranks send, and what each gets: bytes, or a status."""

    def __init__(self, rng, n, msg_id, ranks, room):
        self.id, self.n = msg_id & 0xffffffff, n
        self.coll = rng.choice((ALLREDUCE, ALLREDUCE, ALLREDUCE, BROADCAST, ALLGATHER,
                                BARRIER))
        most = room // 4 // (ranks if self.coll == ALLGATHER else 1)
        self.nelem = 0 if self.coll == BARRIER else \
            rng.choice((0, 1, most, most, rng.randrange(most + 1)))
        self.root = rng.randrange(ranks) if self.coll == BROADCAST else 0
        self.odd = rng.randrange(ranks) if ranks > 1 and not rng.randrange(30) and \
            self.coll == ALLREDUCE and self.nelem else None
        self.flags = [NO_DATA * (not rng.randrange(8)) for _ in range(ranks)]
        self.data = []
        for r in range(ranks):
            sends = self.coll in (ALLREDUCE, ALLGATHER) or \
                (self.coll == BROADCAST and r == self.root)
            self.data.append(ints(rng.randrange(-9, 10) + n for _ in
                                  range(self.nelem if sends else 0)))
        self.status = MISMATCH if self.odd is not None else OK
        self.result = [self.share(r) for r in range(ranks)]

    def share(self, r):
        if self.flags[r]:
            return b""
        if self.coll == ALLREDUCE:
            return ints(map(sum, zip(*(struct.unpack("<%di" % self.nelem, d)
                                       for d in self.data))))
        if self.coll == ALLGATHER:
            return b"".join(self.data)
        return self.data[self.root] if self.coll == BROADCAST and r != self.root else b""


class Player:
    """A member that begins its messages, and sees to it that they end."""

    def __init__(self, sim, m):
        self.sim, self.m, self.rng = sim, m, sim.rng
        self.todo = list(sim.messages)
        self.open, self.ended = {}, {}  # Message by the lower bits of its ID
        self.by_id = {msg.id & LOW24: msg for msg in sim.messages}
        self.rest_until, self.dead = 0.0, False
        # Over RC, whoever exceeds "hold" begins in order.
        self.any_order = sim.any_order and (m.uc or sim.hold > HOLD)
        m.hook = self.hook
        self.send_now, m.send = m.send, self.send

    def send(self, *pkts):
        for p in pkts:
            self.sim.carry(self, p if isinstance(p, bytes) else roce.build(p))

    def may_begin(self, msg):
        """The window rule."""
        before = msg.id - self.sim.slots
        return ahead(before, self.sim.first) < 0 or before & LOW24 in self.ended

    def choose(self):
        """The message to begin now, or None."""
        may = []
        for msg in self.todo[:self.sim.slots]:
            if self.may_begin(msg):
                may.append(msg)
            if not self.any_order:
                break
        return self.rng.choice(may) if may else None

    def va(self, msg):
        return peer.MR_BASE + msg.n * self.sim.stride

    def request(self, msg, **kw):
        r = self.m.rank
        args = dict(coll=msg.coll, nelem=msg.nelem, root=msg.root, flags=msg.flags[r],
                    op=MIN if msg.odd == r else SUM, result_va=self.va(msg))
        args.update(kw)
        return self.m.request(msg.id, args.pop("data", msg.data[r]), **args)

    def begin(self):
        if time.monotonic() < self.rest_until:
            return
        if not self.rng.randrange(12):
            self.rest_until = time.monotonic() + self.rng.choice((0.003, 0.02, 0.1))
            return
        msg = self.choose()
        if msg:
            self.todo.remove(msg)
            self.open[msg.id & LOW24] = msg
            self.sim.moved()
            self.start(msg)

    def verify(self, p):
        """A packet of a result, or a status; not one that has come before."""
        rank = self.m.rank
        if p.dmalen:
            n, off = divmod(p.va - peer.MR_BASE, self.sim.stride)
            check(0 <= n < len(self.sim.messages), "rank %d: address %#x" % (rank, p.va))
            msg = self.sim.messages[n]
            check(msg.id & LOW24 in self.open or
                  (self.m.uc and msg.id & LOW24 in self.ended),
                  "rank %d: message %d is not begun" % (rank, n))
            if not msg.status:
                expect("rank %d, message %d (%d) from byte %d" % (rank, n, msg.coll, off),
                       p.payload.hex(), msg.result[rank][off:off + p.dmalen].hex())
        return p.opcode & ~roce.UC == roce.WRITE_ONLY_IMM

    def end(self, p, status):
        rank, msg = self.m.rank, self.by_id.get(p.msg_id)
        if status == PEER_DEAD and self.sim.death:
            self.open.pop(p.msg_id, None)
            self.dead = not self.open
            self.sim.moved()
            return
        check(msg, "rank %d: message %#x ended" % (rank, p.msg_id))
        expect("rank %d, message %d: status" % (rank, msg.n), status, msg.status)
        for who in self.sim.players:
            check(p.msg_id in who.open or p.msg_id in who.ended or status,
                  "message %d ended without rank %d" % (msg.n, who.m.rank))
        if p.msg_id in self.open:
            got = p.va + p.dmalen - self.va(msg) if p.dmalen else 0
            if not status:
                expect("rank %d, message %d (%d): bytes" % (rank, msg.n, msg.coll),
                       got, len(msg.result[rank]))
            self.ended[p.msg_id] = self.open.pop(p.msg_id)
            self.sim.moved()
        else:
            check(self.m.uc, "rank %d: message %d ended twice" % (rank, msg.n))

    def done(self):
        return self.dead or not self.todo and not self.open


class RcPlayer(Player):
    def __init__(self, sim, m):
        super().__init__(sim, m)
        self.flight, self.next = [], 0  # (PSN, packet) not acknowledged; to send
        self.acked = self.before = psn_add(m.psn, -1)
        self.sent_at = self.wait_until = 0.0

    def start(self, msg):
        pkts = self.request(msg)
        if len(pkts) > 1 and self.rng.randrange(2):
            self.divide(pkts)
        self.flight += [(p.psn, roce.build(p)) for p in pkts]

    def heard(self):
        """Has the switch acknowledged a packet?"""
        return self.acked != self.before

    def divide(self, pkts):
        """As two WRITEs, the second one of the last packet."""
        pmtu, end = self.m.tree.pmtu, pkts.pop()
        size = pmtu * len(pkts)
        pkts[:] = [p.but(dmalen=size) for p in pkts]
        pkts[-1].opcode = roce.WRITE_ONLY if len(pkts) == 1 else roce.WRITE_LAST
        pkts.append(end.but(opcode=roce.WRITE_ONLY_IMM, va=end.va + size,
                            dmalen=len(end.payload)))

    def hook(self, p):
        """Returns whether this packet of the switch is lost."""
        if self.dead or self.rng.random() < self.sim.loss:
            return True
        if psn_diff(p.psn, self.m.epsn):
            return False
        if p.opcode == roce.WRITE_ONLY_IMM and not self.rng.randrange(50):
            self.m.nak(roce.SYN_RNR | 1)
            return True
        if self.verify(p):
            self.end(p, p.status)
        return False

    def hear(self):
        for a in self.m.acks:
            kind, psn = a.syndrome >> 5, a.psn
            if kind == 3 and a.syndrome != roce.NAK_PSN:
                check(self.sim.death, "rank %d: NAK %#x of %#x" %
                      (self.m.rank, a.syndrome, psn))
                self.dead, self.flight = True, []
                continue
            if kind:
                check(psn_diff(psn, self.acked) > 0, "rank %d: PSN %#x is wanted once "
                      "more, %#x was acknowledged" % (self.m.rank, psn, self.acked))
                psn = psn_add(psn, -1)
            if psn_diff(psn, self.acked) > 0:
                self.acked = psn
            had = len(self.flight)
            while self.flight and psn_diff(self.flight[0][0], psn) <= 0:
                self.flight.pop(0)
            self.next = max(self.next - had + len(self.flight), 0)
            if kind:
                self.next = 0
                self.wait_until = time.monotonic() + \
                    (0.0013 if a.syndrome == roce.SYN_RNR | 14 else 0)
        self.m.acks.clear()

    def step(self):
        now = time.monotonic()
        self.hear()
        if len(self.flight) < IN_FLIGHT:
            self.begin()
        if now < self.wait_until:
            return
        if self.next < min(len(self.flight), IN_FLIGHT):
            self.sim.carry(self, self.flight[self.next][1])
            self.next += 1
            self.sent_at = now
        elif self.flight and now - self.sent_at > 0.04 * SLOW:
            self.next = 0


class UcPlayer(Player):
    def __init__(self, sim, m):
        super().__init__(sim, m)
        self.due = {}                   # when to do something about it

    def later(self, msg, least=0.004):
        self.due[msg.id & LOW24] = time.monotonic() + self.rng.uniform(least, 0.03) * SLOW

    def start(self, msg):
        self.send(*self.request(msg))
        self.later(msg)

    def hook(self, p):
        if self.dead or self.rng.random() < self.sim.loss:
            return True
        if p.status in (AGAIN, WAIT):
            msg = self.open.get(p.msg_id)
            if msg and p.status == AGAIN:
                self.start(msg)
            return True
        if self.verify(p):
            self.end(p, OK if p.status & MARK else p.status)
        return True

    def step(self):
        self.begin()
        now = time.monotonic()
        late = [n for n in self.open if now > self.due[n]]
        self.rng.shuffle(late)
        for n in late[:8]:
            msg = self.open[n]
            self.later(msg)
            if self.rng.randrange(3):
                self.send(*self.request(msg, data=b"", coll=BARRIER, nelem=0, root=0,
                                        flags=msg.flags[self.m.rank] | peer.ASK))
            else:
                self.send(*self.request(msg))


class Sim:
    def __init__(self, lab, rng, kinds, **how):
        self.lab, self.rng = lab, rng
        ranks = rng.choice((2, 2, 3, 4))
        self.transports = [rng.choice(kinds) for _ in range(ranks)]
        mixed = UC in self.transports
        pmtu = how.get("pmtu") or rng.choice((256, 1024, 4096))
        self.slots = how.get("slots") or rng.choice((1, 2, 4, 16, 32))
        msg_size = pmtu if mixed else min(pmtu * rng.choice((1, 3, 4)), 16384)
        self.stride = msg_size
        hold = how.get("hold") or rng.choice((HOLD, HOLD, 1 << 22))
        self.hold, self.any_order = hold, not rng.randrange(2)
        self.loss = rng.choice((0, 0.01, 0.05))
        self.death = how.get("death", False)
        self.first = rng.choice((0, 5, 0xfffffffa, 0xfffffa))
        count = min(60, peer.MR_SIZE // msg_size)
        left_out = set()
        # A slot that nobody uses. UC members that exceed "hold" may get stuck then.
        if self.slots > 2 and not rng.randrange(3) and not (mixed and hold == HOLD):
            left_out = {rng.randrange(self.slots) for _ in range(2)}
        ids = [i for i in range(self.first, self.first + 2 * count)
               if i % self.slots not in left_out][:count]
        self.messages = [Message(rng, n, i, ranks, msg_size - 32)
                         for n, i in enumerate(ids)]
        self.limit = hold + 2 * BUFFER[pmtu] * -(-msg_size // pmtu)
        self.text = "%s pmtu %d, %d slots of %d, hold %d, first %#x, loss %.2f%s%s" % (
            "+".join("RU"[k] for k in self.transports), pmtu, self.slots, msg_size, hold,
            self.first, self.loss, ", any order" if self.any_order else "",
            ", without slots %s" % sorted(left_out) if left_out else "")
        self.cfg = dict(ranks=ranks, pmtu=pmtu, slots=self.slots, msg_size=msg_size,
                        first_msg_id=self.first, transports=self.transports, hold=hold,
                        min_rto=2, dead_time=200 if self.death else 20000,
                        peer_psn=rng.choice((0x100, 0xfffff0)))
        self.late, self.ticket, self.players, self.moved_at = [], 0, [], 0.0

    def moved(self):
        self.moved_at = time.monotonic()

    def carry(self, player, raw):
        """A packet to the switch: lost, doubled, late, or none of these."""
        dice = self.rng.random() / self.loss if self.loss else 9
        if player.dead or dice < 1:
            return
        if dice < 2 or dice > 3:
            player.m.port.send(raw)
        if dice < 3:
            self.ticket += 1
            at = time.monotonic() + self.rng.choice((0.001, 0.01, 0.05))
            heapq.heappush(self.late, (at, self.ticket, player, raw))

    def deliver(self):
        while self.late and self.late[0][0] < time.monotonic():
            player, raw = heapq.heappop(self.late)[2:]
            if not player.dead:
                player.m.port.send(raw)

    def state(self):
        return "; ".join("rank %d: lacks %s, to begin %s" % (
            p.m.rank, [m.n for m in p.open.values()], [m.n for m in p.todo[:3]])
            for p in self.players)

    def play(self, t):
        rng, victim = self.rng, None
        self.players = [(UcPlayer if k == UC else RcPlayer)(self, m)
                        for k, m in zip(self.transports, t.m)]
        if self.death:
            victim = rng.choice(self.players)
            dies_after = rng.randrange(len(self.messages) // 2)
        self.moved()
        while not all(p.done() for p in self.players):
            self.lab.poll(0.0002)
            self.deliver()
            for p in rng.sample(self.players, len(self.players)):
                p.step()
            # One from which nothing has come may not be up yet, for any time.
            if victim and not victim.dead and victim.heard() and \
               len(victim.ended) >= dies_after:
                victim.dead = True
            if not rng.randrange(25):
                m = rng.choice(t.m)
                held = m.get()["held"]
                check(held <= self.limit, "rank %d holds %d bytes" % (m.rank, held))
            check(time.monotonic() - self.moved_at < STUCK, "stuck: " + self.state())
        if not self.death:
            self.lab.quiet()
            expect("held in the end", [m.get()["held"] for m in t.m], [0] * len(t.m))
            expect("held by the tree", t.get()["held"], 0)

    def run(self):
        with self.lab.tree(**self.cfg) as t:
            try:
                self.play(t)
            except AssertionError as e:
                raise AssertionError("%s (%s)" % (e, self.text)) from e
            finally:
                for p in self.players:
                    p.m.send, p.m.hook = p.send_now, None


@test("luck: all ends as it has to", families=(4,), limit=100, cases={
    "RC": ((RC,), {}), "UC": ((UC,), {}), "both": ((RC, UC), {}),
    "much is held, RC": ((RC,), {"hold": HOLD, "pmtu": 4096, "slots": 16}),
    "much is held, UC": ((UC,), {"hold": HOLD, "pmtu": 4096, "slots": 32}),
    "much is held, both": ((RC, UC), {"hold": HOLD, "pmtu": 4096, "slots": 16}),
    "a rank dies": ((RC,), {"death": True})})
def played(lab, family, kinds, how):
    rng = random.Random("%d %d %r %r" % (lab.seed, family, kinds, how))
    for _ in range(TREES):
        sim = Sim(lab, random.Random(rng.randrange(1 << 31)), kinds, **how)
        print("# " + sim.text, flush=True)
        sim.run()
