#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Random dialogues with three daemons at once: one alone, one that is a parent,
and a leaf whose parent is this program. Connections come from several hosts; what
they say is right, right at the wrong time, or wrong; they are closed in every
manner. For serve.sh.

  fuzz.py ADDR SEED STEPS PID PID PID
"""
import os
import random
import select
import socket
import sys
import time

from stream import Wire, message, pack, STATUS
from talk import Case, Conn, join_line, rank_line, wrong, SMALL, WAIT
import talk

CONNS = 16
PORTS = 3
PARENT_PORT = 19999
# Leave the CPU to the daemons: mostly they answer before the next step.
PAUSES = [0, 0.002, 0.005]


class Fuzz(Case):
    """What is open, and what is said next."""

    def __init__(self, where, seed):
        super().__init__(where)
        self.rnd = random.Random(seed)
        self.conns = []
        self.ups = []
        self.said = 0
        self.heard = {}
        sock = self.host(1).socket(socket.AF_INET)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((self.ip(1), PARENT_PORT))
        sock.listen(64)
        sock.setblocking(False)
        self.listener = sock

    # --- What is said ---------------------------------------------------------

    def tree(self):
        r = self.rnd
        tree = dict(SMALL)
        if r.random() < 0.03:
            tree["slots"] = r.choice([1, 2, 3, 4, 65535])
        if r.random() < 0.03:
            tree["pmtu"] = r.choice([256, 1024, 4096])
        if r.random() < 0.03:
            tree["first_msg_id"] = r.getrandbits(32)
        return tree

    def addr(self, n):
        r = self.rnd
        if r.random() < 0.97:
            return self.ip(n)
        return r.choice([self.ip((n + 1) % 3), "255.255.255.255", "::1", "me",
                         self.where[0]])

    # Messages that fit the connection's last message.
    SENSE = {"new": ["join", "join", "gather"], "leave": ["leave"],
             "join": ["rts", "rts", "leave", "lost"],
             "gather": ["gather", "gather", "retract", "link", "rts", "leave"]}
    ALL = ["join", "gather", "retract", "link", "rts", "leave", "lost", "event",
           "heartbeat", "lossy", "failure", "resume", "rejoin"]

    def line(self, conn):
        r, n = self.rnd, conn.n
        if conn.cmd == "new" or r.random() < 0.2:
            conn.job, conn.ranks = r.choice("abc"), r.choice([1, 2, 2, 2, 3])
        job, ranks = conn.job, conn.ranks
        rank = r.randrange(ranks)
        cmd = r.choice(self.SENSE[conn.cmd] if r.random() < 0.85 else self.ALL)
        if cmd in self.SENSE:
            conn.cmd = cmd
        if cmd == "join":
            conn.says_rts, more = r.random() < 0.5, {}
            if r.random() < 0.3:
                more["transport"] = "uc"
            if r.random() < 0.2:
                more["mtu"] = r.choice([256, 1024])
            return join_line(job, self.addr(n), rank, ranks, self.tree(),
                             **more)
        if cmd in ("gather", "retract", "resume"):
            return rank_line(cmd, job, rank, ranks, tree=self.tree())
        if cmd == "link":
            conn.says_rts = r.random() < 0.5
            return {"cmd": cmd, "addr": self.addr(n), "qpn": r.randrange(1, 99),
                    "psn": r.getrandbits(24)}
        if cmd == "event":
            event = self.event_line()
            return event if event["event"] != "error" else b""
        return {"cmd": cmd}

    def event_line(self):
        """What a parent says."""
        r = self.rnd
        event = r.choice(["placed", "placed", "linked", "ready", "error", "bye",
                          "failed", "alive", "joined"])
        if event == "placed":
            return {"event": event, "first": r.choice([0, 0, 0, 1, 2, 65535]),
                    "count": r.choice([1, 1, 2, 2, 3, 65535]),
                    "tree": self.tree()}
        if event in ("linked", "joined"):
            return {"event": event, "tree_id": 9,
                    "addr": self.addr(1), "qpn": 99, "psn": 1, "rkey": 2,
                    "slots": 2, "msg_size": 1024, "pmtu": 1024,
                    "first_msg_id": 0, "collectives": 1, "dtypes": 1, "ops": 1}
        if event == "failed":
            return {"event": event, "status": 18, "reason": "no"}
        return {"event": event}

    def data(self, obj):
        """A message as bytes, mostly as it should be."""
        r = self.rnd
        body = pack(obj)
        data = bytearray(message(body))
        what = r.random()
        if what < 0.02:
            for _ in range(r.randrange(1, 4)):
                data[r.randrange(len(data))] = r.randrange(256)
        elif what < 0.025:
            data = message(body[:r.randrange(len(body) + 1)])
        elif what < 0.03:
            data = message(r.choice([
                b"", b"\xfa\x07\0", b"\x0a\x02\x0a\0" * r.randrange(1, 600),
                r.randbytes(r.randrange(1, 600))]), r.choice([0, 0, 0, 1]))
        return bytes(data)

    # --- Steps ----------------------------------------------------------------

    def step_open(self):
        if len(self.conns) >= CONNS:
            return
        n = self.rnd.randrange(3)
        # Go to the leaf more often: it has the most to do.
        port = self.where[1] + self.rnd.choice([0, 1, 1, 2, 2])
        try:
            conn = Conn(self.host(n), (self.where[0], port))
        except OSError as e:
            wrong(f"port {port}: {e}")
            return
        conn.n, conn.cmd = n, "new"
        self.conns.append(conn)

    def step_say(self):
        if not self.conns:
            return
        conn = self.rnd.choice(self.conns)
        data = b"".join(self.data(self.line(conn))
                        for _ in range(self.rnd.choice([1, 1, 1, 2, 3])))
        cut = self.rnd.randrange(len(data)) if self.rnd.random() < 0.1 else 0
        for part in (data[:cut], data[cut:]):
            if part:
                conn.raw(part)
        self.said += 1

    def step_job(self):
        """Whole jobs, so that there are some that are ready."""
        r = self.rnd
        job, ranks = r.choice("abcd"), r.choice([1, 2, 3])
        new = []
        for rank in range(ranks):
            before = len(self.conns)
            self.step_open()
            if len(self.conns) == before:
                return
            new.append(self.conns[-1])
        gather = r.random() < 0.3
        for rank, conn in enumerate(new):
            if gather:
                new[rank % 2 and -1].say(rank_line("gather", job, rank, ranks))
            else:
                conn.cmd, conn.job, conn.ranks = "join", job, ranks
                conn.say(join_line(job, self.ip(conn.n), rank, ranks))

    def step_close(self):
        if not self.conns:
            return
        conn = self.conns.pop(self.rnd.randrange(len(self.conns)))
        how = self.rnd.random()
        if how < 0.1:
            try:
                conn.sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        elif how < 0.15:
            conn.wire.shut(conn.stream)
        elif how < 0.2:
            conn.wire.reset(conn.stream)
        if how < 0.2:
            self.conns.insert(0, conn)
            return
        conn.close(reset=how < 0.6)

    def step_parent(self):
        all_ = [(w, s) for w in self.ups for s in w.streams.values()
                if not s.ended]
        if not all_:
            return
        wire, up = self.rnd.choice(all_)
        said = [o for o in up.got if o]
        how = self.rnd.random()
        if how < 0.03:
            self.ups.remove(wire)
            wire.sock.close()
        elif how < 0.06:
            wire.reset(up)
            up.end()
        elif how < 0.28 or not said:
            self.tell(wire, up, self.event_line())
        else:
            self.tell(wire, up, self.answer(said))

    def tell(self, wire, up, obj):
        if obj["event"] == "error":
            wire.finish(up, self.rnd.choice(STATUS), "no")
            up.end()
        else:
            wire.messages(up, self.data(obj))

    def answer(self, said):
        """What goes with what a leaf has said."""
        ranks = {o.get("rank", 0) for o in said if o["cmd"] == "gather"}
        ranks -= {o.get("rank", 0) for o in said if o["cmd"] == "retract"}
        cmds = {o["cmd"] for o in said}
        obj = {"event": "ready"}
        if "link" not in cmds:
            obj = {"event": "placed", "first": min(ranks, default=0),
                   "count": len(ranks) or 1, "tree": SMALL}
        elif self.rnd.random() < 0.6:
            obj = self.event_line()
            while obj["event"] != "linked":
                obj = self.event_line()
        return obj

    # --- What is heard --------------------------------------------------------

    def count(self, objs):
        for obj in objs:
            what = (obj.get("event") or obj.get("cmd")) if obj else "end"
            self.heard[what] = self.heard.get(what, 0) + 1

    def hear_conn(self, conn):
        """A stream that has ended may be followed by another one."""
        conn.read()
        got = conn.hear()
        self.count(got)
        if None not in got:
            return
        if conn.wire.ended or self.rnd.random() < 0.5:
            self.conns.remove(conn)
            conn.close()
            return
        n = conn.n
        self.conns.remove(conn)
        conn = Conn(None, None, wire=conn.wire)
        conn.n, conn.cmd = n, "new"
        self.conns.append(conn)

    def hear_up(self, wire):
        known = {n: len(s.got) for n, s in wire.streams.items()}
        wire.read()
        for n, up in wire.streams.items():
            if n not in known:
                wire.answer(up)
            self.count(up.got[known.get(n, 0):])
        if wire.ended:
            self.ups.remove(wire)
            wire.sock.close()

    def hear(self):
        """Takes what has come, of all; mostly."""
        socks = {self.listener: None, **{c.sock: c for c in self.conns},
                 **{w.sock: w for w in self.ups}}
        ready, _, _ = select.select(list(socks), [], [],
                                    self.rnd.choice(PAUSES))
        for sock in ready:
            if sock is self.listener:
                sock = sock.accept()[0]
                sock.settimeout(WAIT)
                self.ups.append(Wire(sock, serves=True))
            elif self.rnd.random() < 0.1:
                continue
            elif isinstance(socks[sock], Wire):
                self.hear_up(socks[sock])
            else:
                self.hear_conn(socks[sock])

    def run(self, steps, pids):
        what = [self.step_open] * 4 + [self.step_say] * 8 + \
            [self.step_close] * 3 + [self.step_parent] * 4 + [self.step_job]
        begin = time.monotonic()
        for i in range(steps):
            self.rnd.choice(what)()
            self.hear()
            if i % 50 == 0:
                for pid in pids:
                    try:
                        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                            dead = f.read().rsplit(")", 1)[1].split()[0] == "Z"
                    except OSError:
                        dead = True
                    if dead:
                        wrong(f"a daemon has died at step {i}")
                        return
        print(f"# {steps} steps in {time.monotonic() - begin:.1f} s")
        for conn in self.conns:
            conn.close()
        for up in self.ups:
            up.sock.close()
        self.listener.close()
        for port in range(PORTS):
            self.where = (self.where[0], 18791 + port)
            self.lives()
        for pid in pids:
            self.files(pid)

    def files(self, pid):
        """Connections that are gone are closed."""
        for _ in range(100):
            n = len(os.listdir(f"/proc/{pid}/fd"))
            if n < 14:
                return
            select.select([], [], [], 0.1)
        wrong(f"the daemon has {n} files open")


def main():
    fuzz = Fuzz(sys.argv[1], int(sys.argv[2]))
    fuzz.run(int(sys.argv[3]), [int(pid) for pid in sys.argv[4:]])
    print(f"# said {fuzz.said} times; heard " + ", ".join(
        f"{k} {v}" for k, v in sorted(fuzz.heard.items())))
    sys.exit(1 if talk.errors else 0)


if __name__ == "__main__":
    main()
