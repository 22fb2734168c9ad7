#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Connections to inc-tool serve that say what no libinc would: for serve.sh.

  talk.py CASE ADDR[:PORT] [ARG...]

ADDR is the bridge host's. Hosts are network namespaces, $TOPO-h0 and so on.
Prints what is wrong, one line each, and ends with 1 if anything is.
"""
import os
import select
import socket
import struct
import sys
import time

from stream import Wire, frame, message, pack, request, DATA

TOPO = os.environ["TOPO"]
ROOT_NS = os.open("/proc/self/ns/net", os.O_RDONLY)
WAIT = float(os.environ.get("WAIT", "5"))
errors = 0


def wrong(*text):
    global errors
    errors += 1
    print(*text)


def check(what, is_, wanted):
    if is_ != wanted:
        wrong(f"{what}: {is_}, not {wanted}")


class Host:
    """Sockets in a namespace."""

    def __init__(self, name):
        self.ns = os.open(f"/run/netns/{TOPO}-{name}", os.O_RDONLY)

    def socket(self, family):
        os.setns(self.ns, os.CLONE_NEWNET)
        try:
            return socket.socket(family, socket.SOCK_STREAM)
        finally:
            os.setns(ROOT_NS, os.CLONE_NEWNET)


class Conn:
    """
    A stream, by default on a connection of its own: dicts there and back. A
    status other than OK is an "error".
    """

    def __init__(self, host, where, wire=None, block=request()):
        if not wire:
            addr, port = where
            family = socket.AF_INET6 if ":" in addr else socket.AF_INET
            sock = host.socket(family)
            sock.settimeout(WAIT)
            sock.connect((addr, port))
            wire = Wire(sock)
        self.wire, self.sock = wire, wire.sock
        self.stream = wire.open(block)
        # A rank says "rts" at once, unless its case does that.
        self.says_rts = False
        self.got = []

    def say(self, *objs):
        for o in objs:
            if not isinstance(o, bytes):
                self.says_rts |= o.get("rts") is True
        self.raw(b"".join(message(pack(o)) for o in objs))

    def raw(self, data):
        self.wire.messages(self.stream, data)

    def hear(self):
        """What has come, and was taken off the wire."""
        got, self.stream.got = self.stream.got, []
        for one in got:
            if one and one["event"] in ("joined", "linked") and \
               not self.says_rts:
                self.say({"cmd": "rts"})
        return got

    def read(self):
        self.wire.read()

    def line(self, limit=None):
        """What comes next; None: the stream has ended; {}: nothing came."""
        end = time.monotonic() + (WAIT if limit is None else limit)
        self.got += self.hear()
        while not self.got:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.sock], [], [], left)[0]:
                return {}
            self.read()
            self.got += self.hear()
        # The end stays there.
        return self.got.pop(0) if self.got[0] else None

    def event(self, limit=None):
        got = self.line(limit)
        return "end" if got is None else got.get("event", "nothing")

    def expect(self, what, event):
        got = self.event()
        if got != event:
            wrong(f"{what}: {got}, not {event}")

    def error(self, what, errno, text=""):
        """A status that is an error, and then the end."""
        got = self.line()
        if not got or got.get("event") != "error":
            wrong(f"{what}: {got}, not an error")
            return
        check(f"{what}: errno", got.get("errno"), errno)
        if text not in got["error"]:
            wrong(f'{what}: "{got["error"]}" does not say "{text}"')
        check(f"{what}: then", self.event(), "end")

    def close(self, reset=False):
        if reset:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                 struct.pack("ii", 1, 0))
        self.sock.close()


SMALL = {"slots": 2, "msg_size": 1024}


def rank_line(cmd, job, rank=0, ranks=2, **more):
    return {"cmd": cmd, "job": job, "ranks": ranks, "rank": rank, **more}


def join_line(job, addr, rank=0, ranks=2, tree=SMALL, **more):
    return rank_line("join", job, rank, ranks, addr=addr, qpn=17 + rank,
                     psn=5, tree=tree, **more)


class Case:
    """What the cases share."""

    def __init__(self, where):
        addr, _, port = where.rpartition(":") if where.count(":") == 1 \
            else (where, "", "")
        self.where = (addr or where, int(port or 18791))
        self.hosts = {}

    def host(self, n):
        if n not in self.hosts:
            self.hosts[n] = Host(n if isinstance(n, str) else f"h{n}")
        return self.hosts[n]

    def ip(self, n):
        net = os.environ.get("TOPO_NET", "47")
        return f"10.{net}.{1 + n // 200}.{10 + n % 200}"

    def dial(self, n=0, **more):
        return Conn(self.host(n), self.where, **more)

    def join(self, job, n=0, what="join", **more):
        conn = self.dial(n)
        conn.say(join_line(job, self.ip(n), **more))
        conn.expect(what, "joined")
        return conn

    def lives(self):
        conn = self.dial()
        conn.say({"cmd": "leave"})
        conn.expect("the daemon lives", "bye")

    # --- Who belongs to what --------------------------------------------------

    def retract(self):
        """The last rank of a gather goes, and is said to go again."""
        conn = self.dial()
        conn.say(rank_line("gather", "a"), rank_line("retract", "a"),
                 rank_line("retract", "a"))
        conn.error("retract again", "FAILED_PRECONDITION", "gather")
        conn = self.dial()
        conn.say(rank_line("gather", "a", 0), rank_line("gather", "a", 1, 3))
        conn.error("another number of ranks", "INVALID_ARGUMENT", "2 ranks")
        conn = self.dial()
        conn.say(rank_line("gather", "a"), rank_line("retract", "a"),
                 rank_line("gather", "b"), rank_line("retract", "a"))
        conn.error("retract of another job", "FAILED_PRECONDITION", "none that")
        conn = self.dial()
        conn.say(rank_line("retract", "a"))
        conn.error("retract alone", "FAILED_PRECONDITION", "gather")
        self.lives()

    def two_jobs(self):
        """One connection gathers for two jobs, and goes."""
        conn, other = self.dial(), self.dial(1)
        conn.say(rank_line("gather", "a"), rank_line("gather", "b"))
        conn.error("gather for another job", "FAILED_PRECONDITION",
                   "another connection")
        other.say(rank_line("gather", "a", 1), rank_line("gather", "a", 0))
        check("the rest of the first", other.line().get("event"), "placed")
        other.close()
        self.lives()

    def order(self):
        """What is said when it can't be."""
        ip = self.ip(0)
        for what, lines, errno, text in (
                ("link alone",
                 [{"cmd": "link", "addr": ip, "qpn": 5, "psn": 5}],
                 "FAILED_PRECONDITION", "placed"),
                ("rts alone", [{"cmd": "rts"}], "FAILED_PRECONDITION", "join"),
                ("a rank gathers", [join_line("o", ip),
                                    rank_line("gather", "o", 1)],
                 "FAILED_PRECONDITION", "child"),
                ("a leaf joins", [rank_line("gather", "o", 1),
                                  join_line("p", ip)],
                 "FAILED_PRECONDITION", "rank"),
                ("join again", [join_line("o", ip), join_line("o", ip, 1)],
                 "FAILED_PRECONDITION", "its own connection")):
            conn = self.dial()
            conn.say(*lines)
            while True:
                got = conn.line()
                if not got or got.get("event") != "joined":
                    break
            if not got or got.get("errno") != errno or text not in got["error"]:
                wrong(f"{what}: {got}")
        self.lives()

    def gives_up(self):
        """Below a leaf: the first rank leaves before all have joined, and rejoins."""
        conn = self.dial()
        conn.say(join_line("g", self.ip(0)))
        check("no answer yet", conn.event(0.3), "nothing")
        conn.close()
        other = self.dial(1)
        other.say(join_line("g", self.ip(1), 1))
        check("no answer yet", other.event(0.3), "nothing")
        other.close(reset=True)
        conn = self.dial()
        conn.say(join_line("g", self.ip(0)), {"cmd": "leave"})
        conn.expect("leaves before all have come", "bye")
        self.lives()

    # --- What is no message ---------------------------------------------------

    def messages(self):
        ip = self.ip(0)
        good = join_line("m", ip, ranks=1)
        for what, said, errno, text in (
                ("no message", b"\x0a\xff", "INVALID_ARGUMENT",
                 "not a RankMessage"),
                ("a kind that is unknown", b"\xfa\x07\0",
                 "INVALID_ARGUMENT", "a rank sends join"),
                ("a byte 0", {**good, "job": "a\0b"}, "INVALID_ARGUMENT",
                 "byte 0"),
                ("an empty name", {**good, "job": ""}, "INVALID_ARGUMENT",
                 "group"),
                ("a long name", {**good, "job": "a" * 64},
                 "INVALID_ARGUMENT", "63"),
                ("a name with a space", {**good, "job": "a b"},
                 "INVALID_ARGUMENT", "group"),
                ("no ranks", {**good, "ranks": 0}, "INVALID_ARGUMENT",
                 "ranks"),
                ("many ranks", {**good, "ranks": 1025}, "INVALID_ARGUMENT",
                 "1024"),
                ("a rank beyond", {**good, "rank": 1}, "INVALID_ARGUMENT",
                 "less than ranks"),
                ("no address", {**good, "addr": ""}, "INVALID_ARGUMENT",
                 "addr"),
                ("half of one", {**good, "addr": "me"}, "INVALID_ARGUMENT",
                 "addr"),
                ("no queue pair", {**good, "qpn": 1}, "INVALID_ARGUMENT",
                 "qpn"),
                ("a PSN of 25 bits", {**good, "psn": 1 << 24},
                 "INVALID_ARGUMENT", "psn"),
                ("slots", {**good, "tree": {"slots": 3}},
                 "INVALID_ARGUMENT", "slots"),
                ("message size", {**good, "tree": {"msg_size": 65}},
                 "INVALID_ARGUMENT", "msg_size"),
                ("PMTU", {**good, "tree": {"pmtu": 300}},
                 "INVALID_ARGUMENT", "pmtu"),
                ("resume", {**good, "cmd": "resume"}, "ABORTED",
                 "keeps no jobs"),
                ("rejoin", {"cmd": "rejoin"}, "ABORTED", "no other trees"),
                ("failure", {"cmd": "failure"}, "FAILED_PRECONDITION",
                 "join"),
                ("lossy", {"cmd": "lossy"}, "FAILED_PRECONDITION", "join")):
            conn = self.dial()
            conn.say(said)
            conn.error(what, errno, text)
        self.frames(message(pack(good)))
        self.lives()

    def frames(self, good):
        """What is no message of gRPC's, and parts of one."""
        conn = self.dial()
        conn.raw(message(good[5:], packed=1))
        conn.error("a compressed one", "UNIMPLEMENTED", "compressed")
        conn = self.dial()
        conn.raw(struct.pack(">xI", 65537))
        conn.error("a long one", "RESOURCE_EXHAUSTED", "64 KiB")
        conn = self.dial()
        for at in range(len(good)):
            conn.raw(good[at:at + 1])
        conn.expect("one in pieces", "joined")
        conn.expect("one in pieces", "ready")
        conn.wire.shut(conn.stream)
        check("it says no more", conn.event(), "end")
        conn = self.dial()
        conn.raw(good[:-1])
        conn.wire.shut(conn.stream)
        conn.error("half of one", "INTERNAL", "cut off")
        self.dial(block=request("GetTopology")).error(
            "the manager's method", "UNIMPLEMENTED", "no such method")

    # --- Addresses ------------------------------------------------------------

    def addresses(self):
        net = self.ip(0).split(".")[1]
        for addr in ("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.9.9.9",
                     "224.0.0.1", "255.255.255.255", "240.0.0.1", "::", "::1",
                     "ff02::1", f"10.{net}.255.255", f"10.{net}.0.0",
                     self.where[0], f"fd00:{net}::1", "::ffff:127.0.0.1"):
            conn = self.dial()
            conn.say(join_line("x", addr))
            conn.error(addr, "INVALID_ARGUMENT", "of its own")
        for addr in (self.ip(1), f"fd00:{net}::1:10", "8.8.8.8"):
            conn = self.dial()
            conn.say(join_line("x", addr))
            conn.error(addr, "PERMISSION_DENIED", f"--allow {addr}")
        self.join("x", what="its own").close()

    def allowed(self):
        """The daemon was told to believe host 1's address, and a network's."""
        net = self.ip(0).split(".")[1]
        conn = self.dial()
        conn.say(join_line("x", self.ip(1)))
        conn.expect("another that is allowed", "joined")
        conn.close()
        conn = self.dial()
        conn.say(join_line("y", f"fd00:{net}::1:10"))
        conn.expect("of a network that is allowed", "joined")
        conn.close()
        conn = self.dial()
        conn.say(join_line("z", self.ip(2)))
        conn.error("beside it", "PERMISSION_DENIED", "--allow")
        conn = self.dial()
        conn.say(join_line("z", f"fd00:{net}::1"))
        conn.error("the bridge host's", "INVALID_ARGUMENT")

    # --- Limits ---------------------------------------------------------------

    def host_clients(self, limit):
        keep = [self.join(f"c{i}") for i in range(int(limit))]
        self.dial().error("one too many", "RESOURCE_EXHAUSTED",
                          "--max-host-clients")
        self.dial(wire=keep[0].wire).error(
            "one too many, on a connection that is there",
            "RESOURCE_EXHAUSTED", "--max-host-clients")
        self.join("other", 1).close()
        keep.pop().close()
        time.sleep(0.2)
        self.join("again").close()

    def crowd(self, limit):
        """Of a host with many connections, those without a job give way."""
        keep = self.join("kept")
        crowd = [self.dial() for _ in range(3 * int(limit))]
        start = time.monotonic()
        self.join("new", 1).close()
        took = time.monotonic() - start
        if took > 1:
            wrong(f"another host's rank waited for {took:.1f} s")
        crowd.append(self.dial())
        self.join("again", 1).close()
        check("a rank that has joined stays", keep.event(1), "nothing")

    def host_trees(self, limit):
        keep = [self.join(f"t{i}") for i in range(int(limit))]
        conn = self.dial()
        conn.say(join_line("one-more", self.ip(0)))
        conn.error("one too many", "RESOURCE_EXHAUSTED", "--max-host-trees")
        conn = self.dial()
        conn.say(rank_line("gather", "one-more"))
        conn.error("one too many, gathered", "RESOURCE_EXHAUSTED",
                   "--max-host-trees")
        # Others' jobs are not counted, nor are joins to an existing one.
        keep.append(self.join("t0", rank=1))
        keep.append(self.join("other", 1))

    def host_memory(self):
        """5 MiB: one tree with default settings."""
        keep = [self.join("m", tree={})]
        conn = self.dial()
        conn.say(join_line("n", self.ip(0), tree={}))
        conn.error("too much", "RESOURCE_EXHAUSTED", "--max-host-memory")
        keep.append(self.join("n", 1, tree={}))
        keep.pop(0).close()
        time.sleep(0.2)
        self.join("o", tree={})

    def trees(self, limit):
        """So many trees with default settings fit."""
        keep = [self.join(f"d{i}", tree={}) for i in range(int(limit))]
        conn = self.dial()
        conn.say(join_line("one-more", self.ip(0), tree={}))
        conn.error("one too many", "RESOURCE_EXHAUSTED", "--max-trees")
        return keep

    def gathers(self, pid, lines):
        """Many jobs on one connection, and on many."""
        def rss():
            with open(f"/proc/{pid}/statm", encoding="ascii") as f:
                return int(f.read().split()[1]) * 4

        before = rss()
        keep = [self.dial() for i in range(500)]
        self.dial(1).close()
        opened = rss()
        conn = self.dial()
        for i in range(int(lines) // 100):
            conn.say(*(rank_line("gather", f"{i * 100 + k}", 0, 1024)
                       for k in range(100)))
        conn.error("gather for another job", "FAILED_PRECONDITION",
                   "another connection")
        for i, conn in enumerate(keep):
            conn.say(rank_line("gather", str(i), 0, 1024))
        self.dial(1).close()
        print(f"# a connection takes {(opened - before) / 500:.1f} KiB, "
              f"all gathers {rss() - opened} KiB")
        if opened - before > 500 * 16:
            wrong(f"memory of the daemon grew by {opened - before} KiB")
        if rss() - opened > 8 << 10:
            wrong(f"gathers take {rss() - opened} KiB")

    def away(self, pid, limit):
        """
        The parent does not answer. Ranks come, do not wait, and come again: the
        daemon is not busy with more of them than may be there at a time.
        """
        most, refused = 0, 0
        for i in range(300):
            conn = self.dial()
            conn.say(join_line(f"w{i}", self.ip(0)))
            got = conn.line(0.005)
            if got:
                refused += 1
                check("too many", got.get("errno"), "RESOURCE_EXHAUSTED")
            conn.close(reset=True)
            most = max(most, len(os.listdir(f"/proc/{pid}/task")))
        # They give up.
        end = time.monotonic() + 3 * WAIT
        while len(os.listdir(f"/proc/{pid}/task")) > 3 and \
                time.monotonic() < end:
            time.sleep(0.1)
        conn = self.dial()
        conn.say(join_line("w", self.ip(0)))
        conn.error("who waits", "UNAVAILABLE", "the parent's daemon: no route")
        print(f"# {most} threads, {refused} refused")
        if most > int(limit):
            wrong(f"the daemon has {most} threads")

    def forming(self):
        """--forming-time 1"""
        conn, leaf = self.join("f"), self.dial()
        leaf.say(rank_line("gather", "g"))
        conn.error("not all came", "DEADLINE_EXCEEDED", "1 of 2 ranks")
        leaf.error("not all came, gathered", "DEADLINE_EXCEEDED",
                   "1 of 2 ranks")
        a, b = self.join("r", rts=True), self.join("r", 1, rank=1)
        b.error("one never was ready", "DEADLINE_EXCEEDED", "1 of 2 ranks")
        a.error("who never was ready", "DEADLINE_EXCEEDED", "1 of 2 ranks")
        # Ready jobs stay.
        a, b = self.join("s"), self.join("s", 1, rank=1)
        a.expect("all came", "ready")
        check("and stays", a.event(2), "nothing")
        b.close()

    # --- Many members go ------------------------------------------------------

    def silence(self, job, ranks):
        """Milliseconds that a caller waits for an answer while @ranks ranks go."""
        conns = [self.join(job, rank=r, ranks=ranks) for r in range(ranks)]
        for conn in conns:
            conn.expect("all came", "ready")
        for conn in conns:
            conn.close(reset=True)
        end = time.monotonic() + 4
        longest = 0
        while time.monotonic() < end:
            start = time.monotonic()
            caller = self.dial(1)
            caller.say({"cmd": "rts"})
            caller.error("who has not joined", "FAILED_PRECONDITION", "join")
            caller.close()
            longest = max(longest, time.monotonic() - start)
            time.sleep(0.02)
        return longest * 1000

    def many(self, ranks, limit_ms):
        """The daemon answers others while it deletes a host's ranks."""
        # This machine may stand still once, but not each time.
        for n in range(3):
            ms = self.silence(f"many{n}", int(ranks))
            print(f"# longest silence {ms:.0f} ms")
            if ms <= float(limit_ms):
                return
        wrong(f"the daemon was silent for {ms:.0f} ms")

    def jobs(self):
        """One that is ready, one that is forming, until the daemon goes."""
        conns = [self.join("a"), self.join("a", 1, rank=1), self.join("b")]
        conns[0].expect("all came", "ready")
        print("there", flush=True)
        while conns[2].line(60):
            pass

    # --- For libinc -----------------------------------------------------------

    def between(self, port):
        """
        Between rank 0 and the daemon: what fails is told in the same segment as
        "ready". Rank 1 comes from host 1, with a queue pair that is none.
        """
        listener = self.host("sw").socket(socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.where[0], int(port)))
        listener.listen()
        listener.settimeout(WAIT)
        print("listening", flush=True)
        rank, _ = listener.accept()
        daemon = self.host(0).socket(socket.AF_INET)
        daemon.connect(self.where)
        # Before its bytes there is its frame's head, which names the stream.
        ready = message(pack({"event": "ready"}))
        failed = message(pack({"event": "failed", "rank": 1, "status": 18,
                               "reason": "rank 1: told at once"}))
        while True:
            for sock in select.select([rank, daemon], [], [], WAIT)[0]:
                data = sock.recv(16384)
                if not data:
                    return
                if sock is rank:
                    daemon.sendall(data)
                    continue
                at = data.find(ready)
                if at >= 9:
                    number = struct.unpack(">I", data[at - 4:at])[0]
                    at += len(ready)
                    data = data[:at] + frame(DATA, 0, number, failed) + \
                        data[at:]
                rank.sendall(data)


def main():
    case = Case(sys.argv[2])
    getattr(case, sys.argv[1])(*sys.argv[3:])
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
