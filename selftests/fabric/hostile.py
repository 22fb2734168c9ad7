#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
hostile.py BIN: strangers at the manager's port, with HTTP/2 frames of their own,
while jobs run whose heartbeats are due often. The jobs live; what the attack takes
of memory and time is bounded; its connection ends, and an event names its address.
BIN has inc-amd, inc-amctl, and the simulated agents and clients. Nobody has a key
here, so the attacker is a tenant, too, but for the cases with tokens.
"""
import hashlib
import json
import os
import pathlib
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from rpcbase import ktap, now, plan

TICKS = os.sysconf("SC_CLK_TCK")
ROOT = pathlib.Path(__file__).resolve().parents[2]
YANG = [*(ROOT / "userspace/agent/yang").glob("*.yang"),
        "/usr/share/yang/modules/libnetconf2/"
        "ietf-netconf-monitoring@2010-10-04.yang"]
LASTS = 5			# seconds of each attack
MOST = 96			# MiB that an attack may take
SHARE = 0.6			# of a CPU that it may have, on average
RANKS = 64
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, CONTINUATION = 0, 1, 3, 4, 6, 9
END_STREAM, END_HEADERS = 1, 4
TOKEN = "a" * 43
DEADLINE = b"\x014"		# the value of grpc-status, as HPACK has it


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(
        ">BBI", kind, flags, stream) + payload


def literal(name, value):
    return (b"\0" + bytes([len(name)]) + name.encode() +
            bytes([len(value)]) + value.encode())


def headers(method, token=""):
    lines = [(":method", "POST"), (":scheme", "http"),
             (":path", "/rdma_inc.v1.Manager/" + method), (":authority", "x"),
             ("te", "trailers"), ("content-type", "application/grpc")]
    if token:
        lines.append(("authorization", "Bearer " + token))
    return b"".join(literal(*line) for line in lines)


def streams(make):
    """The frames of streams, a hundred at a time."""
    for i in range(0, 1 << 20, 100):
        yield b"".join(make(2 * (i + k) + 1) for k in range(100))


def header_without_end(token):
    """A string of a gigabyte, in small pieces."""
    size = 0x7f + (1 << 30)
    value = b"\x7f"
    rest = size - 0x7f
    while rest > 0x7f:
        value += bytes([rest & 0x7f | 0x80])
        rest >>= 7
    yield frame(HEADERS, 0, 1, headers("ListGroups", token) + b"\0\1x" +
                value + bytes([rest]))
    piece = frame(CONTINUATION, 0, 1, b"a" * 4096) * 16
    while True:
        yield piece


def many_headers(token):
    """One name and value after another, of a block that never ends."""
    yield frame(HEADERS, 0, 1, headers("ListGroups", token))
    piece = frame(CONTINUATION, 0, 1, literal("x", "y" * 100) * 100) * 4
    while True:
        yield piece


def indexed_headers(token):
    """References to one long name and value, in calls that never begin."""
    for i in range(1, 1 << 30, 2):
        block = headers("ListGroups", token)
        if i == 1:
            block += b"\x40\1x\x7f\x81\x1e" + b"y" * 4000
        yield frame(HEADERS, END_HEADERS, i, block + b"\xbe" * 12000)


def attacks(token):
    join, get = headers("Join", token), headers("ListEvents", token)
    ask = lambda i: (frame(HEADERS, END_HEADERS, i, get) +
                     frame(DATA, END_STREAM, i, bytes(5)))
    return {
        "a header without end": lambda: header_without_end(token),
        "headers without end": lambda: many_headers(token),
        "headers by reference": lambda: indexed_headers(token),
        "streams without a first message": lambda: streams(
            lambda i: frame(HEADERS, END_HEADERS, i, join)),
        "requests without a message": lambda: streams(
            lambda i: frame(HEADERS, END_HEADERS, i, get)),
        "answers that are not read": lambda: streams(ask),
        "calls that are cancelled at once": lambda: streams(
            lambda i: ask(i) + frame(RST, 0, i, struct.pack(">I", 8))),
        "PINGs": lambda: iter(lambda: frame(PING, 0, 0, bytes(8)) * 100, 0),
    }


class Attack(threading.Thread):
    """From an address of its own, and again whenever its connection ends."""

    last = 0

    def __init__(self, port, make):
        super().__init__(daemon=True)
        Attack.last += 1
        self.addr = f"127.0.1.{Attack.last}"
        self.port, self.make = port, make
        self.until = time.monotonic() + LASTS
        self.ended = self.sent = 0

    def run(self):
        while time.monotonic() < self.until:
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.settimeout(max(0.1, self.until - time.monotonic()))
            try:
                s.bind((self.addr, 0))
                s.connect(("127.0.0.1", self.port))
                s.sendall(PREFACE + frame(SETTINGS, 0, 0))
                for data in self.make():
                    s.sendall(data)
                    self.sent += len(data)
                    if time.monotonic() > self.until:
                        break
            except socket.timeout:
                pass		# a connection that nobody reads, or gets
            except OSError:
                self.ended += 1
            s.close()


class Manager:
    def __init__(self, path, where, token="", switches=range(88), more=(),
                 **env):
        self.path = path
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
        self.agents = subprocess.Popen(
            [path / "sim_agents", where, "1", "16", *YANG],
            stdout=subprocess.PIPE, text=True)
        assert self.agents.stdout.readline() == "ready\n"
        self.log = where / "log"
        conf = where / "amd.conf"
        conf.write_text("".join(f"switch = {where}/{i}\n" for i in switches))
        cmd = [path / "inc-amd", "--config", conf, "--store", "none", "--http",
               "none", "--allow", "10.0.0.0/8", "--heartbeat", "1000",
               "--listen", f"127.0.0.1:{self.port}", *more]
        self.env = {**os.environ, **env}
        if token:
            tokens = where / "tokens"
            digest = hashlib.sha256(token.encode()).hexdigest()
            tokens.write_text(f"oper - operator {digest}\n")
            tokens.chmod(0o600)
            cmd += ["--tokens", tokens]
            self.env["INC_AM_TOKEN"] = token
        with self.log.open("w") as log:
            self.amd = subprocess.Popen(cmd, stdout=log, stderr=log, text=True)
        until = time.monotonic() + 60
        while self.log.read_text().count("switch-up") < 88:
            assert time.monotonic() < until and self.amd.poll() is None, \
                self.log.read_text()[-2000:]
            time.sleep(0.2)

    def mib(self):
        with open(f"/proc/{self.amd.pid}/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * 4 // 1024

    def cpu(self):
        text = pathlib.Path(f"/proc/{self.amd.pid}/stat").read_text()
        return sum(map(int, text.rsplit(")", 1)[1].split()[11:13])) / TICKS

    def ask(self, *what):
        return subprocess.run(
            [self.path / "inc-amctl", "-m", f"127.0.0.1:{self.port}", *what],
            capture_output=True, text=True, check=False, timeout=20,
            env=self.env)

    def clients(self, seconds, port=0, each=1):
        return subprocess.Popen(
            [self.path / "sim_clients", str(port or self.port), "0", "1",
             str(RANKS), "1", str(each), str(seconds)],
            stdout=subprocess.PIPE, text=True)

    def end(self):
        self.amd.kill()
        self.agents.kill()
        self.amd.wait()
        self.agents.wait()


def case(m, name, make):
    """Returns whether all is well."""
    before, cpu, most, slowest, served = m.mib(), m.cpu(), 0, 0, 0
    said = len(m.log.read_text())
    attack = Attack(m.port, make)
    attack.start()
    begin = time.monotonic()
    while time.monotonic() < begin + LASTS and m.amd.poll() is None:
        asked = now()
        try:
            served += not m.ask("group").returncode
        except subprocess.TimeoutExpired:
            pass
        slowest = max(slowest, now() - asked)
        most = max(most, m.mib() - before) if m.amd.poll() is None else -1
        time.sleep(0.05)
    cpu = (m.cpu() - cpu) / (time.monotonic() - begin)
    attack.join()
    text = m.log.read_text()[said:]
    print(f"# {name}: {attack.sent >> 10} KiB sent, {attack.ended} times cut, "
          f"{most} MiB, {cpu:.2f} of a CPU, others after {slowest:.1f} s, "
          f"{served} times", flush=True)
    ktap(m.amd.poll() is None and served > 2 and slowest < 3,
         f"{name}: others are served", f"{served} times, {slowest:.1f} s")
    ktap(most <= MOST, f"{name}: it takes little memory", f"{most} MiB")
    ktap(cpu < SHARE, f"{name}: and little time", f"{cpu:.2f} of a CPU")
    ktap(attack.ended and f"connection-cut ipv4:{attack.addr}:" in text,
         f"{name}: its connection is cut", text[-500:])


def crowd(m, name, count, data):
    """Many connections of one address that say this, and then nothing."""
    before, socks, slowest, most = m.mib(), [], 0, 0
    for i in range(count):
        s = socket.socket()
        s.settimeout(0.2)
        s.bind(("127.0.2.1", 0))
        try:
            s.connect(("127.0.0.1", m.port))
            s.setblocking(False)
            s.send(data)
        except OSError:
            pass
        socks.append(s)
        if i % (count // 10) == 0:
            asked = now()
            good = not m.ask("group").returncode
            slowest = max(slowest, now() - asked if good else 99)
            most = max(most, m.mib() - before)
    time.sleep(1)
    most = max(most, m.mib() - before)
    for s in socks:
        s.close()
    ktap(most <= MOST, f"{name}: little memory", f"{most} MiB")
    ktap(slowest < 3, f"{name}: others are served", f"{slowest:.1f} s")
    print(f"# {name}: {most} MiB, others after {slowest:.1f} s", flush=True)


def silent(m):
    """One stream that says nothing, and does not even end it."""
    s = socket.create_connection(("127.0.0.1", m.port),
                                 source_address=("127.0.0.3", 0))
    s.settimeout(60)
    s.sendall(PREFACE + frame(SETTINGS, 0, 0) +
              frame(HEADERS, END_HEADERS, 1, headers("Join")))
    got, begin, since = b"", time.monotonic(), now()
    try:
        while DEADLINE not in got:
            more = s.recv(65536)
            if not more:
                break
            got += more
    except OSError:
        pass
    took = time.monotonic() - begin
    ktap(DEADLINE in got and took > 8 and now() - since < 13,
         "a stream that says nothing ends after 10 s", f"{took:.1f} s {got}")
    s.close()


def run(path, token, names):
    with tempfile.TemporaryDirectory() as where:
        m = Manager(path, pathlib.Path(where), token)
        known = attacks("" if token else "")
        job = None
        if not token:
            job = m.clients(90 + len(names) * (LASTS + 1))
            time.sleep(4)
            ktap('ready' in m.ask("group").stdout, "a job runs",
                 m.ask("group").stdout)
        for name in names:
            case(m, name + (", and no token" if token else ""), known[name])
        if not token:
            silent(m)
            resets = PREFACE + frame(SETTINGS, 0, 0) + next(
                attacks("")["calls that are cancelled at once"]())
            crowd(m, "5,000 silent connections", 5000, b"")
            crowd(m, "30 connections that reset calls", 30, resets)
        if job:
            out = json.loads(job.communicate()[0])
            ktap(out["ready"] == RANKS and not out["lost"] and
                 not out["failures"], "the job lives", out)
        m.end()


def main():
    path = pathlib.Path(sys.argv[1])
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))
    names = sys.argv[2:]
    run(path, "", names or list(attacks("")))
    run(path, TOKEN, names or ["a header without end",
                               "streams without a first message"])
    plan()


if __name__ == "__main__":
    main()
