#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
crowd.py AGENTD [ARG...]: crowd an agent, over TLS and SSH's port, with clients
that say nothing, with readers that send half a request or one without end, and
with more readers than there are places, some of them from a whole network of IPv6.
A manager that comes then is served at once. It needs no kernel module.
"""
import argparse
import os
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from agentd import CAPS, END, HELLO, Agent, rpc
from rpcbase import ROOT, ktap, now, plan

SOON = 4		# seconds, on a busy machine
CA = ROOT + "/userspace/manager/ca/inc-am-ca"
HALF = b'<rpc xmlns="urn:ietf:params:xml:ns:netconf:base:1.0" message-id="1"><get'


def make_certs(path):
    for args in (["init"], ["agent", "sw", "127.0.0.1"], ["manager", "amd", "sw"],
                 ["operator", "olga"]):
        subprocess.run([CA, "-d", path] + args, check=True)
    subprocess.run(["ssh-keygen", "-q", "-m", "PEM", "-t", "ecdsa", "-N", "",
                    "-f", path + "/hostkey"], check=True)


def free_ports(n):
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [s.getsockname()[1] for s in socks]
    for s in socks:
        s.close()
    return ports


def wait_listening(port, at="127.0.0.1"):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            socket.create_connection((at, port)).close()
            return
        except OSError:
            time.sleep(0.1)


def read(s):
    data = b""
    while END not in data:
        part = s.recv(1 << 16)
        if not part:
            raise ConnectionError("closed")
        data += part
    return data


# An alert of TLS that nobody knows.
ALERT = b"\x15\x03\x03\x00\x02\x02\xc8"


class Crowd:
    def __init__(self, cmd, at="127.0.0.1"):
        self.at, show = at, f"[{at}]" if ":" in at else at
        self.dir = tempfile.TemporaryDirectory()
        path = self.dir.name
        make_certs(path)
        self.tls, self.ssh = free_ports(2)
        self.agent = Agent(cmd + [
            "-t", f"{show}:{self.tls}", "--tls-cert", path + "/sw/cert.pem",
            "--tls-key", path + "/sw/key.pem", "--tls-ca", path + "/ca.pem",
            "-s", f"{show}:{self.ssh}", "-k", path + "/hostkey",
            "-a", f"root={path}/hostkey.pub"])

    def connect(self, port, source=""):
        return socket.create_connection((self.at, port), 30,
                                        (source, 0) if source else None)

    def login(self, who, source=""):
        ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        path = f"{self.dir.name}/{who}"
        ctx.load_verify_locations(self.dir.name + "/ca.pem")
        ctx.load_cert_chain(path + "/cert.pem", path + "/key.pem")
        ctx.check_hostname = False
        s = ctx.wrap_socket(self.connect(self.tls, source))
        read(s)
        s.sendall((HELLO % CAPS[0]).encode() + END)
        return s

    def ask(self, s):
        s.sendall(rpc(7, "<get/>").encode() + END)
        return b'message-id="7"' in read(s)

    def manager(self):
        """Returns after how long a manager has its answer, s."""
        begin = now()
        try:
            s = self.login("amd")
            good = self.ask(s)
            s.close()
        except OSError as e:
            print(f"# the manager: {e}")
            return 1e9
        return now() - begin if good else 1e9


def closed(s):
    """Has the agent ended it?"""
    s.settimeout(0.01)
    try:
        while s.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def close(socks):
    for s in socks:
        s.close()


def served(crowd, name):
    took = crowd.manager()
    print(f"# {name}: the manager is served after {took:.2f} s")
    ktap(took < SOON, f"{name}: the manager is served", f"{took:.1f} s")


def alert(crowd):
    with crowd.connect(crowd.tls) as s:
        s.sendall(ALERT)
        s.settimeout(SOON)
        closed(s)
    served(crowd, "an unknown alert")


def half_sent(crowd):
    manager, halves = crowd.login("amd"), []
    for _ in range(8):
        s = crowd.login("olga", "127.0.0.2")
        s.sendall(HALF)
        halves.append(s)
    time.sleep(0.5)
    begin = now()
    good = all(crowd.ask(manager) for _ in range(10))
    took = now() - begin
    print(f"# 10 requests beside 8 half-sent ones: {took:.2f} s")
    ktap(good and took < SOON, "half a request delays nobody else",
         f"{took:.1f} s")
    served(crowd, "8 half-sent requests")
    close(halves + [manager])


def silent(crowd):
    for port, name in ((crowd.tls, "TLS"), (crowd.ssh, "SSH")):
        socks = [crowd.connect(port, f"127.0.0.{3 + i % 2}") for i in range(60)]
        served(crowd, f"60 silent connections to {name}")
        close(socks)
    socks = [crowd.connect(crowd.tls, f"127.0.1.{1 + i}") for i in range(60)]
    served(crowd, "silent connections from 60 addresses")
    close(socks)


def churn(crowd):
    """Connections that come again as soon as they are closed."""
    end = threading.Event()

    def again():
        while not end.is_set():
            try:
                s = crowd.connect(crowd.tls, "127.0.0.9")
                s.sendall(b"\x16\x03\x01\x02\x00\x01")
                s.recv(1)
                s.close()
            except OSError:
                pass
    threads = [threading.Thread(target=again) for _ in range(40)]
    for t in threads:
        t.start()
    time.sleep(1)
    served(crowd, "40 clients that come again and again")
    end.set()
    for t in threads:
        t.join()


def places(crowd):
    readers, alive = [], 0
    for i in range(40):
        try:
            readers.append(crowd.login("olga", f"127.0.0.{20 + i % 2}"))
        except OSError:
            pass
    time.sleep(0.5)
    alive = sum(not closed(s) for s in readers)
    ktap(8 <= alive <= 16, "two addresses of readers get half of the places",
         alive)
    for i in range(40):
        try:
            readers.append(crowd.login("olga", f"127.0.0.{30 + i}"))
        except OSError:
            pass
    time.sleep(0.5)
    alive = sum(not closed(s) for s in readers)
    ktap(alive <= 24, "readers leave a quarter of the places", alive)
    served(crowd, "as many readers as there may be")
    close(readers)
    time.sleep(1)


# Two networks of IPv6, with all their addresses.
PAGE = "fd00::1"
NETWORKS = [[f"fd00:0:0:{n}::{i}" for i in range(1, 13)] for n in (1, 2)]


def private():
    """A network namespace with all these addresses."""
    os.unshare(os.CLONE_NEWNET)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for addr in [PAGE] + NETWORKS[0] + NETWORKS[1]:
        subprocess.run(["ip", "addr", "add", addr + "/128", "dev", "lo",
                        "nodad"], check=True)


def networks(cmd):
    crowd = Crowd(cmd, PAGE)
    wait_listening(crowd.tls, PAGE)
    readers = []
    for addr in NETWORKS[0] + NETWORKS[1]:
        try:
            readers.append(crowd.login("olga", addr))
        except OSError:
            pass
    time.sleep(0.5)
    alive = sum(not closed(s) for s in readers)
    ktap(alive == 16, "readers of two networks of IPv6 get half of the places",
         alive)
    close(readers)
    crowd.agent.end()


def greedy(crowd):
    """Readers that ask without a pause."""
    end, count = threading.Event(), [0] * 8

    def again(i):
        try:
            s = crowd.login("olga", "127.0.0.40")
            while not end.is_set():
                crowd.ask(s)
                count[i] += 1
        except OSError:
            pass
    threads = [threading.Thread(target=again, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    time.sleep(1)
    served(crowd, "8 readers that ask without a pause")
    end.set()
    for t in threads:
        t.join()
    print(f"# they asked {sum(count)} times")


def endless(crowd):
    before, most, sent = crowd.agent.rss(), 0, 0
    s = crowd.login("olga")
    try:
        s.sendall(HALF)
        while sent < 512 << 20:
            s.sendall(b" " * (1 << 20))
            sent += 1 << 20
            most = max(most, crowd.agent.rss())
    except OSError:
        pass
    print(f"# a request without end: ended after {sent >> 20} MiB; memory "
          f"{before} KiB before, at most {most} KiB")
    ktap(sent < 256 << 20, "a request without end ends the session", sent)
    s.close()
    served(crowd, "afterwards")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("agentd", nargs="+")
    cmd = p.parse_args().agentd
    private()
    crowd = Crowd(cmd)
    wait_listening(crowd.tls)
    served(crowd, "nobody else")
    for part in (alert, half_sent, silent, churn, places, greedy, endless):
        part(crowd)
    ktap(crowd.agent.alive(), "the agent lives on", crowd.agent.said())
    begin = now()
    ktap(crowd.agent.end() == 0, "it ends in order", crowd.agent.said())
    took = now() - begin
    ktap(took < 2 * SOON, "and soon", f"{took:.1f} s")
    networks(cmd)
    plan()


main()
