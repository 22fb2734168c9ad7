#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Connections to inc-tool serve that say what no libinc would: for serve.sh.

  talk.py CASE ADDR[:PORT] [ARG...]

ADDR is the bridge host's. Hosts are network namespaces, $TOPO-h0 and so on.
Prints what is wrong, one line each, and ends with 1 if anything is.
"""
import json
import os
import select
import socket
import struct
import sys
import time

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
    """A connection: lines there, objects back."""

    def __init__(self, host, where):
        addr, port = where
        family = socket.AF_INET6 if ":" in addr else socket.AF_INET
        self.sock = host.socket(family)
        self.sock.settimeout(WAIT)
        self.sock.connect((addr, port))
        self.buf = b""

    def say(self, *objs):
        self.raw(b"".join(json.dumps(o).encode() + b"\n" for o in objs))

    def raw(self, data):
        try:
            self.sock.sendall(data)
        except OSError:
            pass

    def line(self, limit=None):
        """Next object; None: the connection has ended; {}: nothing came."""
        end = time.monotonic() + (WAIT if limit is None else limit)
        while b"\n" not in self.buf:
            left = end - time.monotonic()
            if left < 0 or not select.select([self.sock], [], [], left)[0]:
                return {}
            try:
                data = self.sock.recv(4096)
            except OSError:
                return None
            if not data:
                return None
            self.buf += data
        line, self.buf = self.buf.split(b"\n", 1)
        return json.loads(line)

    def event(self, limit=None):
        got = self.line(limit)
        while got and got.get("event") == "alive":
            got = self.line(limit)
        return "end" if got is None else got.get("event", "nothing")

    def expect(self, what, event):
        got = self.event()
        if got != event:
            wrong(f"{what}: {got}, not {event}")

    def error(self, what, errno, text=""):
        """An error line, and then the end."""
        got = self.line()
        while got and got.get("event") == "alive":
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
    return {"cmd": cmd, "version": 1, "job": job, "ranks": ranks,
            "rank": rank, **more}


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

    def dial(self, n=0):
        return Conn(self.host(n), self.where)

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
        conn.error("retract again", "EPROTO", "gather")
        conn = self.dial()
        conn.say(rank_line("gather", "a", 0), rank_line("gather", "a", 1, 3))
        conn.error("another number of ranks", "EINVAL", "2 ranks")
        conn = self.dial()
        conn.say(rank_line("gather", "a"), rank_line("retract", "a"),
                 rank_line("gather", "b"), rank_line("retract", "a"))
        conn.error("retract of another job", "EPROTO", "none that")
        conn = self.dial()
        conn.say(rank_line("retract", "a"))
        conn.error("retract alone", "EPROTO", "gather")
        self.lives()

    def two_jobs(self):
        """One connection gathers for two jobs, and goes."""
        conn, other = self.dial(), self.dial(1)
        conn.say(rank_line("gather", "a"), rank_line("gather", "b"))
        conn.error("gather for another job", "EBUSY", "another connection")
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
                 "EPROTO", "placed"),
                ("rts alone", [{"cmd": "rts"}], "EPROTO", "join"),
                ("a rank gathers", [join_line("o", ip),
                                    rank_line("gather", "o", 1)], "EBUSY",
                 "child"),
                ("a leaf joins", [rank_line("gather", "o", 1),
                                  join_line("p", ip)], "EBUSY", "rank"),
                ("join again", [join_line("o", ip), join_line("o", ip, 1)],
                 "EBUSY", "its own connection")):
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

    # --- Addresses ------------------------------------------------------------

    def addresses(self):
        net = self.ip(0).split(".")[1]
        for addr in ("0.0.0.0", "0.1.2.3", "127.0.0.1", "127.9.9.9",
                     "224.0.0.1", "255.255.255.255", "240.0.0.1", "::", "::1",
                     "ff02::1", f"10.{net}.255.255", f"10.{net}.0.0",
                     self.where[0], f"fd00:{net}::1", "::ffff:127.0.0.1"):
            conn = self.dial()
            conn.say(join_line("x", addr))
            conn.error(addr, "EADDRNOTAVAIL", "of its own")
        for addr in (self.ip(1), f"fd00:{net}::1:10", "8.8.8.8"):
            conn = self.dial()
            conn.say(join_line("x", addr))
            conn.error(addr, "EACCES", f"--allow {addr}")
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
        conn.error("beside it", "EACCES", "--allow")
        conn = self.dial()
        conn.say(join_line("z", f"fd00:{net}::1"))
        conn.error("the bridge host's", "EADDRNOTAVAIL")

    # --- Limits ---------------------------------------------------------------

    def host_clients(self, limit):
        keep = [self.join(f"c{i}") for i in range(int(limit))]
        self.dial().error("one too many", "ENOSPC", "--max-host-clients")
        self.join("other", 1).close()
        keep.pop().close()
        time.sleep(0.2)
        self.join("again").close()

    def host_trees(self, limit):
        keep = [self.join(f"t{i}") for i in range(int(limit))]
        conn = self.dial()
        conn.say(join_line("one more", self.ip(0)))
        conn.error("one too many", "ENOSPC", "--max-host-trees")
        conn = self.dial()
        conn.say(rank_line("gather", "one more"))
        conn.error("one too many, gathered", "ENOSPC", "--max-host-trees")
        # Others' jobs are not counted, nor are joins to an existing one.
        keep.append(self.join("t0", rank=1))
        keep.append(self.join("other", 1))

    def host_memory(self):
        """5 MiB: one tree with default settings."""
        keep = [self.join("m", tree={})]
        conn = self.dial()
        conn.say(join_line("n", self.ip(0), tree={}))
        conn.error("too much", "ENOSPC", "--max-host-memory")
        keep.append(self.join("n", 1, tree={}))
        keep.pop(0).close()
        time.sleep(0.2)
        self.join("o", tree={})

    def trees(self, limit):
        """So many trees with default settings fit."""
        keep = [self.join(f"d{i}", tree={}) for i in range(int(limit))]
        conn = self.dial()
        conn.say(join_line("one more", self.ip(0), tree={}))
        conn.error("one too many", "ENOSPC", "--max-trees")
        return keep

    def gathers(self, pid, lines):
        """Many jobs on one connection, and on many."""
        def rss():
            with open(f"/proc/{pid}/statm", encoding="ascii") as f:
                return int(f.read().split()[1]) * 4096

        before = rss()
        conn = self.dial()
        for i in range(int(lines) // 100):
            conn.raw(b"".join(json.dumps(rank_line(
                "gather", f"{i * 100 + k}", 0, 1024)).encode() + b"\n"
                for k in range(100)))
        conn.error("gather for another job", "EBUSY", "another connection")
        keep = [self.dial() for i in range(500)]
        for i, conn in enumerate(keep):
            conn.say(rank_line("gather", str(i), 0, 1024))
        self.dial(1).close()
        if rss() - before > 8 << 20:
            wrong(f"memory of the daemon grew by {(rss() - before) >> 10} KiB")

    def forming(self):
        """--forming-time 1"""
        conn, leaf = self.join("f"), self.dial()
        leaf.say(rank_line("gather", "g"))
        conn.error("not all came", "ETIMEDOUT", "1 of 2 ranks")
        leaf.error("not all came, gathered", "ETIMEDOUT", "1 of 2 ranks")
        a, b = self.join("r", rts=True), self.join("r", 1, rank=1)
        b.error("one never was ready", "ETIMEDOUT", "1 of 2 ranks")
        a.error("who never was ready", "ETIMEDOUT", "1 of 2 ranks")
        # Ready jobs stay.
        a, b = self.join("s"), self.join("s", 1, rank=1)
        a.expect("all came", "ready")
        check("and stays", a.event(2), "nothing")
        b.close()

    # --- Many members go ------------------------------------------------------

    def silence(self, job, ranks):
        """Milliseconds that a UC rank hears nothing while @ranks ranks go."""
        uc = self.join("uc-" + job, 1, rank=0, transport="uc")
        conns = [self.join(job, rank=r, ranks=ranks) for r in range(ranks)]
        for conn in conns:
            conn.expect("all came", "ready")
        check("alive", uc.line().get("event"), "alive")
        for conn in conns:
            conn.close(reset=True)
        end = time.monotonic() + 4
        last, longest = time.monotonic(), 0
        while time.monotonic() < end:
            if uc.line().get("event") != "alive":
                wrong("the UC rank hears something else")
                break
            now = time.monotonic()
            longest = max(longest, now - last)
            last = now
        return longest * 1000

    def many(self, ranks, limit_ms):
        """A UC rank hears from the daemon while it deletes a host's ranks."""
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
        daemon = self.dial()
        while True:
            for sock in select.select([rank, daemon.sock], [], [], WAIT)[0]:
                data = sock.recv(4096)
                if not data:
                    return
                if sock is rank:
                    daemon.sock.sendall(data)
                    continue
                if b'"ready"' in data:
                    data += (b'{"event":"failed","rank":1,"status":%d,'
                             b'"reason":"rank 1: told at once"}\n' % 18)
                rank.sendall(data)


def main():
    case = Case(sys.argv[2])
    getattr(case, sys.argv[1])(*sys.argv[3:])
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
