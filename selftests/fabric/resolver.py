#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
resolver.py BIN: name servers that do not answer, or late. Whoever asks for a name
has an answer in time, with words; a manager whose switches have such names goes on
with all else. BIN has inc-amd, inc-amctl, and the simulated agents and clients.
As root, in a network and a mount namespace of its own.
"""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import grpc

from hellos import Watch
from hostile import RANKS, Manager
from rpcbase import ktap, leave, now, plan

NOBODY = "no name server has answered"
SERVERS = "127.0.0.11", "127.0.0.12", "127.0.0.13"
LATE = 3			# seconds


class NameServer(threading.Thread):
    """
    Answers late.example late, of half.example only where IPv4 is asked for, and
    fails.example with an error (2, SERVFAIL).
    """

    def __init__(self, addr):
        super().__init__(daemon=True)
        self.sock = socket.socket(type=socket.SOCK_DGRAM)
        self.sock.bind((addr, 53))
        self.asked = 0

    def answer(self, query, to):
        end = query.index(b"\0", 12) + 5
        kind = struct.unpack(">H", query[end - 4:end - 2])[0]
        code = b"\x82" if b"\5fails" in query else b"\x80"
        found = kind == 1 and code == b"\x80"
        head = query[:2] + b"\x81" + code + b"\0\1" + \
            (b"\0\1" if found else b"\0\0")
        data = head + bytes(4) + query[12:end]
        if found:
            data += b"\xc0\x0c\0\1\0\1\0\0\0\x01\0\4" + bytes([127, 0, 0, 1])
        self.sock.sendto(data, to)

    def run(self):
        while True:
            query, to = self.sock.recvfrom(512)
            self.asked += 1
            if b"\4half\7example\0\0\1" in query or \
                    b"\5fails\7example\0" in query:
                self.answer(query, to)
            if b"\4late\7example\0" in query:
                threading.Timer(LATE, self.answer, (query, to)).start()


def timed(*cmd, limit=60):
    """What a program says, its exit status, and the seconds it took."""
    began = now()
    try:
        got = subprocess.run(cmd, capture_output=True, text=True, check=False,
                             timeout=limit)
    except subprocess.TimeoutExpired:
        return "", -1, limit
    return got.stdout + got.stderr, got.returncode, now() - began


def manager(path, where):
    """Its switches answer, but for four whose names nobody knows."""
    with (where / "lost").open("w") as f:
        for i in range(4):
            f.write(f"switch = u@s{i}.example\n")
    m = Manager(path, where, more=["--config", where / "lost",
                                   "--insecure-host-keys"])
    job = m.clients(25)
    time.sleep(3)
    ktap("ready" in m.ask("group").stdout, "a job runs", m.ask("group"))
    watch = Watch(grpc.insecure_channel(f"127.0.0.1:{m.port}"))
    watch.start()
    time.sleep(18)
    print(f"# a client is served within {watch.worst:.2f} s")
    ktap(watch.worst < 1 and not watch.failed, "clients are served all the time",
         f"{watch.worst:.2f} s, {watch.failed} failed")
    said = m.ask("switch").stdout
    ktap(said.count(f".example: {NOBODY}") == 4, "what is wrong with switches",
         said[-1500:])
    out = json.loads(job.communicate()[0])
    ktap(out["ready"] == RANKS and not out["lost"] and not out["failures"],
         "the job lives", out)
    began = now()
    m.amd.send_signal(signal.SIGTERM)
    try:
        m.amd.wait(40)
    except subprocess.TimeoutExpired:
        pass
    took = now() - began
    print(f"# the manager ends after {took:.1f} s")
    ktap(took < 15, "it ends soon", f"{took:.1f} s")
    m.end()


def run(path, where):
    said, ret, took = timed(path / "inc-amctl", "-m", "nobody.example", "group")
    print(f"# inc-amctl: {took:.1f} s: {said.strip()}")
    ktap(ret == 2 and took < 6 and NOBODY in said and "nobody.example" in said,
         "inc-amctl says so in time", f"{ret}, {took:.1f} s: {said}")
    said, ret, took = timed(path / "inc-amd", "--config", "/dev/null", "--store",
                            "none", "--switch", "/none", "--http", "none",
                            "--insecure-plaintext", "--listen",
                            "nobody.example:0")
    print(f"# inc-amd: {took:.1f} s: {said.strip()}")
    ktap(ret == 1 and took < 12 and NOBODY in said, "inc-amd --listen, too",
         f"{ret}, {took:.1f} s: {said}")
    manager(path, where)
    m = Manager(path, where)
    said, ret, took = timed(path / "inc-amctl", "-m", f"late.example:{m.port}",
                            "group")
    print(f"# a late answer: {took:.1f} s: {said.strip()}")
    ktap(not ret and took < LATE + 2, "an answer that is late counts",
         f"{ret}, {took:.1f} s: {said}")
    said, ret, took = timed(path / "inc-amctl", "-m", f"half.example:{m.port}",
                            "group")
    print(f"# half an answer: {took:.1f} s: {said.strip()}")
    ktap(not ret and took < 2, "half an answer is enough",
         f"{ret}, {took:.1f} s: {said}")
    said, ret, took = timed(path / "inc-amctl", "-m",
                            f"nobody.example,127.0.0.1:{m.port}", "group")
    ktap(not ret and took < 2, "another manager is asked meanwhile",
         f"{ret}, {took:.1f} s: {said}")
    said, ret, took = timed(path / "inc-amctl", "-m", "fails.example.", "group")
    ktap(ret == 2 and took < 2 and NOBODY in said, "an error is no answer",
         f"{ret}, {took:.1f} s: {said}")
    m.end()


def main():
    if not os.environ.get("RESOLVER_NS"):
        os.execvpe("unshare", ["unshare", "-nm", "--propagation", "unchanged", sys.executable, *sys.argv],
                   {**os.environ, "RESOLVER_NS": "1"})
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as tmp:
        where = pathlib.Path(tmp)
        for name, text in (("resolv.conf", "".join(
                f"nameserver {s}\n" for s in SERVERS) + "search a.example b.example\n"),
                           ("nsswitch.conf", "hosts: files dns\n")):
            (where / name).write_text(text)
            pathlib.Path("/etc", name).touch()
            subprocess.run(["mount", "--bind", where / name, f"/etc/{name}"],
                           check=True)
        servers = [NameServer(s) for s in SERVERS]
        for s in servers:
            s.start()
        run(pathlib.Path(sys.argv[1]), where)
        ktap(sum(s.asked for s in servers), "name servers were asked")
    plan()
    leave()


if __name__ == "__main__":
    main()
