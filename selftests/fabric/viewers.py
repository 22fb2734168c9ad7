#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
viewers.py INC-AMD: the manager's page has as many viewers as it takes, from one
host, and they read nothing. Somebody at another host still sees what happens. The
crowd's host has one address, or a whole network of IPv6. Readers who take a byte at
a time hold no copies of the state, and not for ever.
"""
import itertools
import os
import socket
import subprocess
import sys
import time
import urllib.request

from rpcbase import ktap, plan

VIEWERS = 64
READERS = 250
READ_SWITCHES = 300


# An address of the page, those of a host with too many viewers, those of others.
# A host of IPv6 has all addresses of its network.
HOSTS = (("127.0.0.1", ["127.0.0.2"], ["127.0.0.1"]),
         ("fd00::1", [f"fd00:0:0:1::{i}" for i in range(1, 33)],
          [f"fd00:0:0:2::{i}" for i in range(1, 5)]))


def view(at, source):
    s = socket.create_connection(at, timeout=60, source_address=(source, 0))
    s.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return s


def head(s):
    got = b""
    while b"\r\n\r\n" not in got:
        more = s.recv(4096)
        if not more:
            break
        got += more
    return got


def private():
    """A network namespace with all these addresses."""
    os.unshare(os.CLONE_NEWNET)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for addr in itertools.chain([HOSTS[1][0]], *HOSTS[1][1:]):
        subprocess.run(["ip", "addr", "add", addr + "/128", "dev", "lo",
                        "nodad"], check=True)


def crowded(page, many, others):
    with subprocess.Popen(
            [sys.argv[1], "--store", "none", "--switch", "/none", "--listen",
             "127.0.0.1:18790", "--http", f"[{page}]:18791" if ":" in page
             else page + ":18791", "--http-insecure-plaintext"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as amd:
        amd.stdout.readline()
        at = (page, 18791)
        crowd = [view(at, many[i % len(many)]) for i in range(VIEWERS)]
        time.sleep(2)
        for i in range(4):
            s = view(at, others[i % len(others)])
            got = head(s)
            ktap(b" 200 " in got, f"{page}: viewer {i + 1} of another host",
                 got)
            begin, data = time.monotonic(), b""
            while b"data: " not in data and time.monotonic() < begin + 60:
                data += s.recv(65536)
            ktap(b"data: " in data, f"{page}: viewer {i + 1} sees the state",
                 data[:80])
            crowd.append(s)
        got = head(view(at, many[0]))
        ktap(b" 503 " in got, f"{page}: the crowd's host gets no more", got)
        ktap(amd.poll() is None, f"{page}: the manager lives")
        amd.kill()


def kilobytes(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(f.read().split("VmRSS:")[1].split()[0])


def trickled():
    # The kernel's memory for what is not read is not the manager's.
    with open("/proc/sys/net/ipv4/tcp_wmem", "w") as f:
        f.write("4096 16384 16384")
    switches = itertools.chain.from_iterable(
        ("--switch", f"/none/{i:0100}") for i in range(READ_SWITCHES))
    with subprocess.Popen(
            [sys.argv[1], "--store", "none", *switches, "--listen",
             "127.0.0.1:18790", "--http", "127.0.0.1:18791"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as amd:
        amd.stdout.readline()
        time.sleep(2)
        with urllib.request.urlopen("http://127.0.0.1:18791/state") as got:
            size = len(got.read()) // 1024
        before = kilobytes(amd.pid)
        readers = []
        for _ in range(10):
            for _ in range(READERS // 10):
                s = socket.socket()
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                s.connect(("127.0.0.1", 18791))
                s.sendall(b"GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n")
                readers.append(s)
            time.sleep(1)
            for s in readers:
                s.recv(1)
        more = kilobytes(amd.pid) - before
        ktap(more < 40 * size, f"{READERS} slow readers hold few copies of the state",
             f"{more} KiB more; one has {size} KiB")
        # The next request is refused once the connection is closed.
        end = time.monotonic() + 60
        try:
            while time.monotonic() < end:
                readers[0].recv(1)
                readers[0].sendall(b"\r\n")
                time.sleep(0.5)
        except OSError:
            pass
        ktap(time.monotonic() < end, "a slow reader is closed at last")
        amd.kill()


def main():
    private()
    trickled()
    for hosts in HOSTS:
        crowded(*hosts)
    plan()


main()
