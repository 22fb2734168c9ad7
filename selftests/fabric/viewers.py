#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
viewers.py INC-AMD: the manager's page has as many viewers as it takes, from one
host, and they read nothing. Somebody at another host still sees what happens.
"""
import socket
import subprocess
import sys
import time

from rpcbase import ktap, plan

VIEWERS = 64


def view(port, source):
    s = socket.create_connection(("127.0.0.1", port), timeout=10,
                                 source_address=(source, 0))
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


def main():
    ports = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as s:
            ports.append(s.getsockname()[1])
    with subprocess.Popen(
            [sys.argv[1], "--store", "none", "--switch", "/none", "--listen",
             f"127.0.0.1:{ports[0]}", "--http", f"127.0.0.1:{ports[1]}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as amd:
        amd.stdout.readline()
        crowd = [view(ports[1], "127.0.0.2") for _ in range(VIEWERS)]
        time.sleep(2)
        for i in range(4):
            s = view(ports[1], "127.0.0.1")
            got = head(s)
            ktap(b" 200 " in got, f"viewer {i + 1} of another host", got)
            begin, data = time.monotonic(), b""
            while b"data: " not in data and time.monotonic() < begin + 5:
                data += s.recv(65536)
            ktap(b"data: " in data, f"viewer {i + 1} sees the state", data[:80])
            crowd.append(s)
        got = head(view(ports[1], "127.0.0.2"))
        ktap(b" 503 " in got, "the crowd's host gets no more", got)
        ktap(amd.poll() is None, "the manager lives")
        amd.kill()
    plan()


main()
