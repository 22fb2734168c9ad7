#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
hellos.py BIN: thousands of connections of strangers to a manager with TLS, each
with a ClientHello, so that the manager computes a signature for it; with half of
one, or one in pieces. A job's heartbeats and a client that was there before do not
notice; a new client is served soon, also one of the strangers' own host.
BIN has inc-amd, inc-amctl, and the simulated agents and clients.
"""
import json
import os
import pathlib
import resource
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import grpc

from hostile import RANKS, Manager
from rpcbase import ROOT, SERVICE, ktap, leave, now, plan

COUNT = int(os.environ.get("INC_HELLOS", 8000))
OWN = ["127.0.0.1"]		# who is served, too
# seconds of each attack, or more on a slow machine
LASTS = int(os.environ.get("INC_LASTS", 8))
FAST = 0.05			# seconds of a call without attack on one that is not
LATE = 2.0			# seconds: a call of who is connected
NEW = 5.0			# seconds: of who is not
SLOW_LATE, SLOW_NEW = 40, 100	# or so many times what a call takes without attack
MOST = 160			# MiB that an attack may take


def hello():
    """As OpenSSL's client says it."""
    ctx = ssl.create_default_context()
    ctx.set_alpn_protocols(["h2"])
    out = ssl.MemoryBIO()
    tls = ctx.wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost")
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def attack(port, hosts, data, step, until):
    """Has COUNT connections, which say @data by @step bytes in each turn; prints
    how many it has made. What is closed is opened again. SIGTERM ends it sooner."""
    poll, socks, n, ends = select.epoll(), {}, 0, []
    signal.signal(signal.SIGTERM, lambda *_: ends.append(True))
    while (time.time() < until and not (ends and n >= COUNT)) or \
            (n < COUNT and time.time() < until + 60):
        for _ in range(min(200, COUNT - len(socks))):
            s = socket.socket()
            s.setblocking(False)
            s.setsockopt(socket.IPPROTO_IP, 24, 1)	# IP_BIND_ADDRESS_NO_PORT
            s.bind((hosts[n % len(hosts)], 0))
            s.connect_ex(("127.0.0.1", port))
            n += 1
            socks[s.fileno()] = [s, 0]
            poll.register(s.fileno(), select.EPOLLIN | select.EPOLLOUT)
        for fd, what in poll.poll(0.01, 2000):
            s, at = socks[fd]
            try:
                if what & select.EPOLLOUT and at < len(data):
                    socks[fd][1] += s.send(data[at:at + step])
                    if socks[fd][1] == len(data):
                        poll.modify(fd, select.EPOLLIN)
                elif not s.recv(65536):
                    raise OSError
            except BlockingIOError:
                pass
            except OSError:
                poll.unregister(fd)
                socks.pop(fd)[0].close()
        if step < len(data):
            time.sleep(0.02)
    print(n)


class Relay(threading.Thread):
    """What the simulated clients say, by TLS."""

    def __init__(self, port, ctx):
        super().__init__(daemon=True)
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port, self.to, self.ctx = self.sock.getsockname()[1], port, ctx

    def run(self):
        while True:
            threading.Thread(target=self.carry, args=self.sock.accept()[:1],
                             daemon=True).start()

    def carry(self, a):
        b = self.ctx.wrap_socket(
            socket.create_connection(("127.0.0.1", self.to)),
            server_hostname="localhost")
        while True:
            ready = [b] if b.pending() else select.select([a, b], [], [])[0]
            for s in ready:
                data = s.recv(65536)
                if not data:
                    return
                (b if s is a else a).sendall(data)


class Watch(threading.Thread):
    """A client that is connected, and asks all the time."""

    def __init__(self, channel):
        super().__init__(daemon=True)
        self.call = channel.unary_unary(SERVICE + "ListGroups")
        self.worst = self.failed = 0

    def run(self):
        while True:
            began = now()
            try:
                self.call(b"", timeout=20)
            except grpc.RpcError:
                self.failed += 1
            self.worst = max(self.worst, now() - began)
            time.sleep(0.05)


def certificates(where):
    tool = f"{ROOT}/userspace/manager/ca/inc-am-ca"
    for args in (["init"], ["manager", "amd", "127.0.0.1", "localhost"],
                 ["operator", "root"]):
        subprocess.run([tool, "-d", where / "ca", *args], check=True,
                       capture_output=True)
    return where / "ca"


def usual(m):
    """Seconds that a call of a new client takes on this machine, as it is now."""
    begin = now()
    for _ in range(5):
        m.ask("group")
    return (now() - begin) / 5


def case(m, watch, lasts, name, hosts, data, step=1 << 20):
    own, took = hosts == OWN, usual(m)
    late, new = max(LATE, SLOW_LATE * took), max(NEW, SLOW_NEW * took)
    before, cpu, most, slowest, served, failed = m.mib(), m.cpu(), 0, 0, 0, 0
    watch.worst = watch.failed = 0
    begin = time.monotonic()
    proc = subprocess.Popen(
        [sys.executable, __file__, "attack", str(m.port), json.dumps(hosts),
         data.hex(), str(step), str(time.time() + (5 if own else 1) * lasts)],
        stdout=subprocess.PIPE, text=True)
    while proc.poll() is None and m.amd.poll() is None:
        # Its host's clients have a place now and then: it lasts until some had one.
        if own and served > 5 and time.monotonic() - begin > lasts:
            proc.terminate()
            break
        asked = now()
        good = not m.ask("group").returncode
        # On a slow machine inc-amctl may give up before its turn comes.
        while not good and not own and now() - asked < new - NEW:
            good = not m.ask("group").returncode
        served += good
        failed += not good
        slowest = max(slowest, now() - asked)
        most = max(most, m.mib() - before)
        time.sleep(0.1)
    cpu = (m.cpu() - cpu) / (time.monotonic() - begin)
    made = int(proc.communicate()[0])
    print(f"# {name}: a call takes {took:.2f} s without; {made} connections, "
          f"{most} MiB, {cpu:.2f} of a CPU, "
          f"connected clients after {watch.worst:.2f} s, "
          f"new ones after {slowest:.1f} s, {served} times, "
          f"{failed} times not", flush=True)
    ktap(made >= COUNT and m.amd.poll() is None, f"{name}: all were made", made)
    ktap(watch.worst < late and not watch.failed,
         f"{name}: a client that is connected does not notice",
         f"{watch.worst:.2f} s, {watch.failed} failed")
    if own:
        # A client whose handshake takes 0.1 s, as on a busy machine, gives way.
        ktap(served > 5, f"{name}: new ones are served, too",
             f"{served} served, {failed} not")
    else:
        ktap(served > 2 and not failed and slowest < new,
             f"{name}: new ones are served", f"{slowest:.1f} s, {failed} not")
    ktap(most <= MOST, f"{name}: little memory", f"{most} MiB")


def run(path, where):
    ca = certificates(where)
    with (where / "log").open("w"):
        m = Manager(path, where, more=[
            "--tls-ca", ca / "ca.pem", "--tls-cert", ca / "amd/cert.pem",
            "--tls-key", ca / "amd/key.pem"], INC_AM_CERTS=str(ca / "root"))
    ctx = ssl.create_default_context(cafile=ca / "ca.pem")
    ctx.load_cert_chain(ca / "root/cert.pem", ca / "root/key.pem")
    ctx.set_alpn_protocols(["h2"])
    relay = Relay(m.port, ctx)
    relay.start()
    lasts = LASTS * min(5, max(1, usual(m) / FAST))
    job = m.clients(int(6 * (lasts + 4) + 5), relay.port, 16)
    time.sleep(4)
    said = m.ask("group")
    ktap("ready" in said.stdout, "a job runs", said)
    watch = Watch(grpc.secure_channel(
        f"localhost:{m.port}", grpc.ssl_channel_credentials(
            *((ca / f).read_bytes() for f in (
                "ca.pem", "root/key.pem", "root/cert.pem")))))
    watch.start()
    many = [f"127.0.1.{i}" for i in range(1, 51)]
    whole = hello()
    half = whole[:len(whole) // 2]
    case(m, watch, lasts, "hellos of one host", ["127.0.1.1"], whole)
    case(m, watch, lasts, "hellos of 50 hosts", many, whole)
    case(m, watch, lasts, "hellos of the client's host", OWN, whole)
    case(m, watch, lasts, "halves of 50 hosts", many, half)
    case(m, watch, lasts, "halves of the client's host", OWN, half)
    case(m, watch, lasts, "pieces of 50 hosts", many, whole, 4)
    text = m.log.read_text()
    ktap("its handshake was dropped for a newer one: this host has" in text,
         "the log says what was done", text[-500:])
    out = json.loads(job.communicate()[0])
    ktap(out["ready"] == RANKS and not out["lost"] and not out["failures"],
         "the job lives", out)
    m.end()


def main():
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))
    if sys.argv[1] == "attack":
        attack(int(sys.argv[2]), json.loads(sys.argv[3]),
               bytes.fromhex(sys.argv[4]), int(sys.argv[5]),
               float(sys.argv[6]))
        return
    with tempfile.TemporaryDirectory() as where:
        run(pathlib.Path(sys.argv[1]), pathlib.Path(where))
    plan()
    leave()


if __name__ == "__main__":
    main()
