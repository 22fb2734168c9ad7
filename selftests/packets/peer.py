# SPDX-License-Identifier: GPL-2.0
"""A member of a tree, played: RC or UC requester and responder, in brief."""
import contextlib
import struct

import genl
import roce
from ktap import SLOW
from roce import psn_add, psn_diff

BROADCAST, ALLGATHER, ALLTOALL, ALLREDUCE, BARRIER = 0, 1, 2, 6, 8
INT32, INT64, FP32, FP64 = 2, 3, 10, 11
SUM, MIN, MAX = 0, 2, 3

(OK, VERSION, COLLECTIVE, DTYPE, TREE_ID, MSG_ID, LENGTH, MISMATCH,
 ROOT) = range(9)
PEER_DEAD, TREE_GONE, MEMBER_LEFT, NO_MEMORY = 16, 17, 18, 19
AGAIN, WAIT = 32, 33

RC, UC = 0, 1                   # as in the netlink spec
NO_DATA, ASK = 1, 4              # flags of the header
MARK = 0x80                     # in the status of a result to a UC member

# No timeouts, and no member is solicited: most tests are about other things.
PATIENT = {"min_rto": 2000, "dead_time": 20000}

MR_BASE = 0x7f1234560000
MR_SIZE = 1 << 20
HDR = struct.Struct("!BBBBIIHHIIQ")


class Member:
    """One rank. Acknowledges by itself unless a hook takes the packet."""

    def __init__(self, tree, rank, family, port, psn, peer_psn, transport=RC):
        lab = tree.lab
        self.uc = transport == UC
        self.lab, self.tree, self.rank, self.family = lab, tree, rank, family
        self.port = lab.ports[port]
        self.addr = lab.new_addr(family, port)
        self.qpn = lab.next_qpn
        lab.next_qpn += 1
        self.psn = peer_psn             # our next request's
        self.sport = 0xd001
        self.mem = bytearray(MR_SIZE)
        self.key = 0x1000 + self.qpn
        self.hook = None                # hook(pkt) true: leave it alone
        self.log = []                   # requests of the switch, all
        self.acks = []                  # its acknowledgments and NAKs
        self.cnps = []
        self.results = []               # (status, message ID) of Immediates
        self.marks = {}                 # of results, by message ID
        self.bad = []                   # packets that no peer may send
        attrs = {"psn": psn} if psn is not None else {}
        if self.uc:
            attrs["transport"] = transport
        self.info = lab.sw.do("member-new", tree_id=tree.id, rank=rank,
                              peer_addr=roce.ntoa(self.addr),
                              local_addr=roce.ntoa(lab.sw_addr(family)),
                              peer_qpn=self.qpn, peer_psn=peer_psn, **attrs)
        self.sw_qpn, self.rkey = self.info["qpn"], self.info["rkey"]
        self.first_psn = self.epsn = self.info["psn"]
        self.rx_msn = 0
        lab.members[self.qpn] = self

    # to the switch

    def pkt(self, **fields):
        base = dict(src=self.addr, dst=self.lab.sw_addr(self.family),
                    sport=self.sport, qpn=self.sw_qpn, psn=self.psn)
        base.update(fields)
        return roce.Pkt(**base)

    def send(self, *pkts):
        for p in pkts:
            self.port.send(p if isinstance(p, bytes) else roce.build(p))

    def header(self, msg_id, data, **kw):
        coll = kw.get("coll", ALLREDUCE)
        size = {INT32: 4, FP32: 4}.get(kw.get("dtype", INT32), 8)
        return HDR.pack(
            kw.get("version", 1), coll, kw.get("dtype", INT32),
            kw.get("op", SUM), kw.get("tree_id", self.tree.id),
            msg_id & 0xffffffff, kw.get("root", 0), kw.get("flags", 0),
            kw.get("nelem", len(data) // size),
            kw.get("key", self.key),
            kw.get("result_va", self.result_va(msg_id)))

    def result_va(self, msg_id):
        return MR_BASE + msg_id % self.tree.slots * self.tree.msg_size

    def result(self, msg_id, size):
        off = self.result_va(msg_id) - MR_BASE
        return bytes(self.mem[off:off + size])

    def request(self, msg_id, data=b"", ackreq=True, raw=None, **kw):
        """Packets of a request, PSNs taken; not sent yet."""
        msg = self.header(msg_id, data, **kw) + data if raw is None else raw
        pmtu = self.tree.pmtu
        chunks = [msg[i:i + pmtu] for i in range(0, len(msg), pmtu)] or [b""]
        common = dict(
            va=kw.get("va", msg_id % self.tree.slots * self.tree.msg_size),
            rkey=kw.get("rkey", self.rkey),
            dmalen=kw.get("dmalen", len(msg)),
            imm=kw.get("imm", msg_id & 0xffffff))
        pkts = []
        for i, chunk in enumerate(chunks):
            first, last = i == 0, i == len(chunks) - 1
            opcode = (roce.WRITE_ONLY_IMM if first and last else
                      roce.WRITE_FIRST if first else
                      roce.WRITE_LAST_IMM if last else roce.WRITE_MIDDLE)
            if self.uc:
                opcode |= roce.UC
            pkts.append(self.pkt(opcode=opcode, payload=chunk,
                                 ackreq=int(last and ackreq), **common))
            self.psn = psn_add(self.psn, 1)
        return pkts

    def allreduce(self, msg_id, values, **kw):
        """Sends a request with int32 values."""
        pkts = self.request(msg_id, ints(values), **kw)
        self.send(*pkts)
        return pkts

    def ask(self, msg_id, **kw):
        """Asks what became of a message."""
        self.send(*self.request(msg_id, flags=ASK, **kw))

    # from the switch

    def rx(self, p):
        if not p.icrc_ok or not p.udp_ok or p.pkey != 0xffff or p.tver:
            self.bad.append(p)
        elif p.opcode == roce.ACK:
            self.acks.append(p)
        elif p.opcode == roce.CNP:
            self.cnps.append(p)
        else:
            self.log.append(p)
            if not (self.hook and self.hook(p)):
                (self.take_uc if self.uc else self.take)(p)

    def take(self, p):
        """As an RC responder does."""
        diff = psn_diff(p.psn, self.epsn)
        if diff > 0:
            self.bad.append(p)
            self.nak(roce.NAK_PSN)
            return
        if diff < 0:
            self.ack()
            return
        self.write(p)
        self.epsn = psn_add(self.epsn, 1)
        self.rx_msn = psn_add(self.rx_msn, 1)
        if p.opcode == roce.WRITE_ONLY_IMM:
            self.results.append((p.status, p.msg_id))
        if p.ackreq:
            self.ack()

    def take_uc(self, p):
        """As a UC responder; where nothing is lost no PSN is left out."""
        if p.psn != self.epsn or p.opcode != roce.UC_WRITE_ONLY_IMM or p.ackreq:
            self.bad.append(p)
        self.epsn = psn_add(p.psn, 1)
        self.write(p)
        status = p.status
        if status & MARK:
            self.marks[p.msg_id] = status & ~MARK
            status = OK
        elif status == OK:
            self.bad.append(p)
        self.results.append((status, p.msg_id))

    def write(self, p):
        off = p.va - MR_BASE
        whole = (roce.WRITE_ONLY, roce.WRITE_ONLY_IMM)
        if p.opcode & ~roce.UC not in whole or len(p.payload) != p.dmalen:
            self.bad.append(p)
        elif p.dmalen:
            if p.rkey != self.key or off < 0 or off + p.dmalen > MR_SIZE:
                self.bad.append(p)
            else:
                self.mem[off:off + p.dmalen] = p.payload

    def response(self, syndrome, psn, **kw):
        return self.pkt(opcode=roce.ACK, psn=psn & roce.PSN_MASK,
                        syndrome=syndrome, msn=self.rx_msn, **kw)

    def ack(self, psn=None):
        """Acknowledges all that was taken, or up to a PSN."""
        self.send(self.response(roce.SYN_ACK,
                                self.epsn - 1 if psn is None else psn))

    def nak(self, syndrome, psn=None):
        self.send(self.response(syndrome, self.epsn if psn is None else psn))

    # netlink

    def get(self):
        return self.lab.sw.do("member-get", tree_id=self.tree.id,
                              rank=self.rank)

    def stats(self):
        return self.get()["stats"]


def ints(values):
    values = list(values)
    return struct.pack("<%di" % len(values), *values)


class Tree:
    """A tree with its members; small by default, so that it is quickly made."""

    def __init__(self, lab, ranks=2, family=4, pmtu=1024, slots=4,
                 msg_size=None, psn=None, peer_psn=0x100, first_msg_id=0,
                 transports=(RC,), real=None, complete=True, **kw):
        """
        @transports: of the ranks, in turns. @real: how many there are; the
        others have only QPs at the switch, and nobody behind them, and none if
        not @complete.
        """
        if msg_size is None:
            msg_size = pmtu if UC in transports else 16384
        self.lab, self.pmtu, self.slots = lab, pmtu, slots
        self.msg_size, self.next_id = msg_size, first_msg_id
        # Not the kernel's default, which is long to wait for.
        kw.setdefault("dead_time", 500 * SLOW if SLOW > 1 else 350)
        self.id = lab.sw.do("tree-new", ranks=ranks, pmtu=pmtu, slots=slots,
                            msg_size=msg_size, first_msg_id=first_msg_id,
                            **kw)["id"]
        self.m = []
        try:
            for rank in range(ranks)[:real]:
                self.add(rank, family, psn, peer_psn,
                         transports[rank % len(transports)])
            for rank in range(ranks)[len(self.m):] if complete else ():
                self.absent(rank, family)
        except Exception:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def add(self, rank, family, psn=None, peer_psn=0x100, transport=RC):
        self.m.append(Member(self, rank, family, rank % 3, psn, peer_psn,
                             transport))

    def absent(self, rank, family):
        self.lab.sw.do("member-new", tree_id=self.id, rank=rank,
                       peer_addr=self.lab.addr(family, rank % 3, 0),
                       local_addr=roce.ntoa(self.lab.sw_addr(family)),
                       peer_qpn=0x800000 + rank, peer_psn=0)

    def get(self):
        return self.lab.sw.do("tree-get", id=self.id)

    def close(self):
        """Without waiting for acknowledgements of TREE_GONE."""
        self.lab.quiet(0.0)
        with contextlib.suppress(genl.NlError):
            self.lab.sw.do("tree-set", id=self.id, dead_time=10, min_rto=1)
            self.lab.sw.do("tree-del", id=self.id)
        self.lab.quiet(0.0)
        for m in self.m:
            self.lab.members.pop(m.qpn, None)

    def take_id(self):
        self.next_id += 1
        return self.next_id - 1

    def check(self, msg_id, sums, timeout=2.0):
        """All members get this result."""
        for m in self.m:
            want = (OK, msg_id & 0xffffff)
            if not self.lab.until(lambda m=m, want=want: want in m.results,
                                  timeout):
                raise AssertionError("rank %d has no result of message %#x, but %s" %
                                     (m.rank, msg_id, m.results[-3:]))
            got = m.result(msg_id, 4 * len(sums))
            if got != ints(sums):
                raise AssertionError("rank %d: message %#x has a wrong result" %
                                     (m.rank, msg_id))
            if m.bad:
                raise AssertionError("rank %d got a bad packet: %r" %
                                     (m.rank, m.bad[0]))

    def good(self, count=5):
        """An AllReduce, right at all members."""
        msg_id = self.take_id()
        data = [[r * 1000 + i for i in range(count)]
                for r in range(len(self.m))]
        for m, values in zip(self.m, data):
            m.allreduce(msg_id, values)
        self.check(msg_id, [sum(col) for col in zip(*data)])
