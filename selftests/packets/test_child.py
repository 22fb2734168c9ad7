# SPDX-License-Identifier: GPL-2.0
"""A child of a tree of several levels, with its parent played."""
import struct

import peer
import roce
from ktap import check, expect, test
from peer import BROADCAST, MARK, NO_DATA, UC, ints
from roce import psn_add
from test_memory import cgroup, full
from test_requester import deaf

SCATTER = 3
SLOTS = 64


def floats(values):
    return struct.pack("<%df" % len(values), *values)


class Parent(peer.Member):
    """Takes the child's requests, and answers what it is told to."""
    def __init__(self, tree, family):
        self.lab, self.tree, self.rank, self.family = tree.lab, tree, -1, family
        self.uc = False
        self.port = self.lab.ports[2]
        self.addr = self.lab.new_addr(family, 2)
        self.qpn = self.lab.next_qpn
        self.lab.next_qpn += 1
        self.psn, self.sport, self.hook = 0x300, 0xd001, None
        self.mem, self.key = bytearray(peer.MR_SIZE), 0x77
        self.log, self.acks, self.results, self.bad, self.marks = [], [], [], [], {}
        self.cnps, self.tos = [], 0
        self.requests = []
        info = self.lab.sw.do(
            "parent-set", tree_id=tree.id, peer_addr=roce.ntoa(self.addr),
            local_addr=roce.ntoa(self.lab.sw_addr(family)), peer_qpn=self.qpn,
            peer_psn=self.psn, peer_tree_id=99, peer_rkey=self.key)
        self.sw_qpn, self.rkey = info["qpn"], info["rkey"]
        self.epsn, self.rx_msn = info["psn"], 0
        self.lab.members[self.qpn] = self

    def take(self, p):
        if not roce.psn_diff(p.psn, self.epsn):
            self.epsn = psn_add(self.epsn, 1)
            if p.payload:           # no probe
                self.requests.append(p)
        self.ack()

    def headers(self, msg_id):
        return [h for h in (peer.HDR.unpack(p.payload[:peer.HDR.size])
                            for p in self.requests) if h[5] == msg_id]

    def answer(self, msg_id, payload=b""):
        """Answer a request of the child, of one packet."""
        check(self.lab.until(lambda: self.headers(msg_id)),
              "no request %d" % msg_id)
        hdr = self.headers(msg_id)[-1]
        va, rkey = (hdr[10], hdr[9]) if payload else (0, 0)
        self.send(self.pkt(opcode=roce.WRITE_ONLY_IMM, va=va, rkey=rkey,
                           dmalen=len(payload), imm=msg_id, payload=payload,
                           ackreq=1, tos=self.tos))
        self.psn = psn_add(self.psn, 1)


@test("child: a request has a right ICRC when its bytes are gone", families=(4,))
def resent(lab, family):
    """Its acknowledgment is lost, and the first ranks begin the slot's next message:
    their block is reduced where its bytes were."""
    def both(msg_id, ranks):
        for m in ranks:
            m.send(*m.request(msg_id, floats(3 * [m.rank + 10 * msg_id]),
                              dtype=peer.FP32))

    with lab.tree(family=family, ranks=3, slots=1, job_ranks=4, first_rank=1,
                  min_rto=10) as t:
        up = deaf(Parent(t, family))
        both(0, t.m)
        check(lab.until(lambda: len(up.log) > 1), "no request")
        request = up.log[:2]
        up.requests.append(request[0])
        up.answer(0, floats(3 * [3]))
        for m in t.m:
            check(lab.until(lambda m=m: (peer.OK, 0) in m.results), "no result")
        both(1, t.m[:1])
        lab.quiet()
        up.log.clear()
        check(lab.until(lambda: up.log or up.bad), "not resent")
        expect("bad packets", up.bad, [])
        up.hook = None
        for p in request:
            up.take(p)
        up.requests.clear()
        both(1, t.m[1:])
        up.answer(1, floats(3 * [33]))
        for m in t.m:
            check(lab.until(lambda m=m: (peer.OK, 1) in m.results), "no result")


@test("child: without memory, no slot leaves its result to another", families=(4,))
def keeps(lab, family):
    with cgroup("inc-child") as group, \
            lab.tree(family=family, ranks=2, slots=SLOTS, job_ranks=3,
                     first_rank=0) as t:
        up, b = Parent(t, family), deaf(t.m[1])
        for m in t.m:
            m.allreduce(0, [1, 2, 3])
        up.answer(0, ints([3, 6, 9]))
        check(lab.until(lambda: (peer.OK, 0) in t.m[0].results), "no result")
        full(group)
        refused = lab.sw.stats()["rx-no-memory"]
        try:
            # There is no memory for all of these; a CPU may have some left.
            later = [[m.allreduce(n, [n]) for n in range(1, SLOTS)] for m in t.m]
            lab.wait(0.3)
            check(lab.sw.stats()["rx-no-memory"] > refused, "there is memory")
            b.hook = None
            t.check(0, [3, 6, 9])
        finally:
            (group / "memory.max").write_text("max")
        lab.wait(0.2)
        for n in range(1, SLOTS):
            for m, pkts in zip(t.m, later):
                m.send(*pkts[n - 1])
            up.answer(n, ints([3 * n]))
            t.check(n, [3 * n])


@test("child: without any more memory, slots give theirs to others", families=(4,))
def gives(lab, family):
    with cgroup("inc-gives") as group, \
            lab.tree(family=family, ranks=2, slots=SLOTS, job_ranks=3,
                     first_rank=0) as t:
        up = Parent(t, family)
        try:
            for n in range(2 * SLOTS):
                if n == 4:
                    lab.wait(0.05)
                    full(group)
                pkts = [m.allreduce(n, [n]) for m in t.m]
                for _ in range(50):
                    if lab.until(lambda n=n: up.headers(n), 0.01):
                        break
                    for m, p in zip(t.m, pkts):
                        m.send(*p)
                up.answer(n, ints([3 * n]))
                t.check(n, [3 * n])
        finally:
            (group / "memory.max").write_text("max")
        check(lab.sw.stats()["rx-no-memory"], "there was memory")


@test("child: no bytes of an earlier message", families=(4,), cases={
    "query": ("ask",), "request once more": ("request",)})
def earlier(lab, family, way):
    """Whoever did not want a result, as all did not, and asks for it all the same."""
    with lab.tree(family=family, ranks=2, pmtu=1024, slots=1, transports=(UC,),
                  job_ranks=3, first_rank=0) as t:
        a, b = t.m
        got = []
        a.take_uc = got.append
        up = Parent(t, family)
        for m in t.m:
            m.send(*m.request(0, b"", coll=SCATTER, root=2, nelem=4))
        up.answer(0, ints([1] * 4 + [0x5ec] * 4))
        check(lab.until(lambda: got and b.results), "no result")
        expect("rank 0's block", got[-1].payload, ints([1] * 4))
        for m in t.m:
            m.send(*m.request(1, b"", coll=BROADCAST, root=2, nelem=8, flags=NO_DATA))
        up.answer(1)
        check(lab.until(lambda: got[-1].msg_id == 1), "no end")
        got.clear()
        if way == "ask":
            a.ask(1, nelem=8)
        else:
            a.send(*a.request(1, b"", coll=BROADCAST, root=2, nelem=8))
        check(lab.until(lambda: got), "no answer")
        check(got[0].status & MARK, "status %d" % got[0].status)
        expect("payload", got[0].payload, b"")
