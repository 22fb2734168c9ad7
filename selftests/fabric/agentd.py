# SPDX-License-Identifier: GPL-2.0
#
# What tests that hold dialogues of NETCONF with an agent have in common.

import os
import re
import signal
import socket
import subprocess
import tempfile
import time

from rpcbase import ROOT

NC = "urn:ietf:params:xml:ns:netconf:base:1.0"
END = b"]]>]]>"
HELLO = (f'<hello xmlns="{NC}"><capabilities>%s</capabilities></hello>')
CAPS = [f"<capability>urn:ietf:params:netconf:base:1.{v}</capability>"
        for v in (0, 1)]
PATIENCE = 30			# seconds that a client waits


def rpc(number, body):
    return f'<rpc message-id="{number}" xmlns="{NC}">{body}</rpc>'


def drain(s):
    got = []
    while True:
        data = s.recv(1 << 16)
        if not data:
            return b"".join(got)
        got.append(data)


class Agent:
    """An inc-agentd at a UNIX socket; it needs no kernel module. live: built
    with AddressSanitizer, it tells how much memory it has (live.c)."""

    def __init__(self, cmd, live=False):
        self.dir = tempfile.TemporaryDirectory()
        self.path = self.dir.name + "/sock"
        self.log = open(self.dir.name + "/log", "w+b")
        env = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:exitcode=23:"
                   "allocator_may_return_null=1:quarantine_size_mb=16:"
                   "verify_asan_link_order=0")
        if live:
            self.fifo = self.dir.name + "/live"
            os.mkfifo(self.fifo)
            subprocess.run(
                ["gcc", "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-o",
                 self.fifo + ".so", ROOT + "/selftests/fabric/live.c"],
                check=True)
            env.update(LD_PRELOAD=self.fifo + ".so", LIVE_FIFO=self.fifo)
        self.proc = subprocess.Popen(
            cmd + ["-q", "-u", self.path, "-i", "sw", "-y",
                   ROOT + "/userspace/agent/yang"], env=env,
            stdout=self.log, stderr=self.log)
        until = time.monotonic() + 60
        while not os.path.exists(self.path) and time.monotonic() < until and \
                self.proc.poll() is None:
            time.sleep(0.05)

    def connect(self):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(PATIENCE)
        s.connect(self.path)
        return s

    def alive(self):
        return self.proc.poll() is None

    def answers(self):
        """A good client gets what it asks for."""
        s = self.connect()
        s.sendall((HELLO % CAPS[0]).encode() + END +
                  rpc(7, "<get/>").encode() + END)
        s.shutdown(socket.SHUT_WR)
        got = drain(s)
        return b'message-id="7"' in got and b"<data" in got

    def rss(self):
        with open(f"/proc/{self.proc.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])

    def threads(self):
        return len(os.listdir(f"/proc/{self.proc.pid}/task"))

    def live(self):
        """Bytes that it has allocated and not freed."""
        with open(self.fifo) as f:
            return int(f.readline())

    def end(self):
        self.proc.send_signal(signal.SIGTERM)
        try:
            return self.proc.wait(60)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            return "no end within 60 s"

    def said(self):
        """Its report, or its last lines."""
        self.log.seek(0)
        text = self.log.read().decode(errors="replace")
        at = max(text.find("ERROR: "), text.find("runtime error: "))
        return text[at:at + 3000] if at >= 0 else text[-500:]
