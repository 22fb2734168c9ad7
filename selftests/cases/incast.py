#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Watch a switch's port that several flows share: its queue, and each flow's rate.

    incast.py TOPO PORT SECONDS [ADDRESS]

Trees run already; ranks 0 are at the host behind PORT, h0. With its ADDRESS, a TCP flow
from h2 to h0 is this program's. Prints one JSON object: the port's rate and
the trees' (payload), Mb/s; its drops, and the median and 99th percentile of its
backlog, bytes; Jain's index of the trees' rates; packets that trees have sent, and
retransmitted; the TCP flow's rate.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time

SETTLE = 10.0		# seconds
INTERVAL = 0.02


def enter(netns):
    """Be in a network namespace: new sockets and programs are of it."""
    fd = os.open(f"/run/netns/{netns}", os.O_RDONLY)
    os.setns(fd, os.CLONE_NEWNET)
    os.close(fd)


class Tcp:
    """A flow that sends all that it can."""

    def __init__(self, topo, address=None):
        self.received = 0
        if not address:
            return
        enter(f"{topo}-h0")
        listener = socket.create_server((address, 5001))
        # What stands in the port's queue is to be the trees', not its own.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
        enter(f"{topo}-h2")
        self.out = socket.create_connection((address, 5001))
        self.to = listener.accept()[0]
        for work in (self.send, self.receive):
            threading.Thread(target=work, daemon=True).start()

    def send(self):
        """Send until the end."""
        data = bytes(16384)
        while True:
            self.out.send(data)

    def receive(self):
        """Count what arrives."""
        while True:
            self.received += len(self.to.recv(65536))


def output(*cmd):
    """What a program prints, which is JSON."""
    return json.loads(subprocess.run(cmd, check=True, capture_output=True).stdout)


def qdiscs(port):
    """The port's queueing disciplines, the root first."""
    return output("tc", "-s", "-j", "qdisc", "show", "dev", port)


def members():
    """Counters of ranks 0, by tree."""
    return {m["tree-id"]: m["stats"]
            for m in output("inc-tool", "-j", "-s", "member", "show")
            if m["rank"] == 0}


def reading(port, tcp):
    """Everything that counts up."""
    return {"at": time.monotonic(), "port": qdiscs(port)[0], "trees": members(),
            "tcp": tcp.received}


def figures(a, b, backlog):
    """What happened between two readings."""
    mbits = 8e-6 / (b["at"] - a["at"])
    more = {key: sum(b["trees"][t][key] - a["trees"][t][key] for t in a["trees"])
            for key in ("tx-bytes", "tx-packets", "tx-retransmits")}
    rates = [(b["trees"][t]["tx-bytes"] - a["trees"][t]["tx-bytes"]) * mbits
             for t in a["trees"]]
    squares = len(rates) * sum(r * r for r in rates)
    backlog.sort()
    return {"rate": (b["port"]["bytes"] - a["port"]["bytes"]) * mbits,
            "drops": b["port"]["drops"] - a["port"]["drops"],
            "p50": backlog[len(backlog) // 2],
            "p99": backlog[len(backlog) * 99 // 100],
            "trees": more["tx-bytes"] * mbits,
            "each": [round(r, 2) for r in rates],
            "jain": sum(rates) ** 2 / squares if squares else 0,
            "packets": more["tx-packets"],
            "resent": more["tx-retransmits"],
            "tcp": (b["tcp"] - a["tcp"]) * mbits}


def main():
    """Watch."""
    topo, port, seconds = sys.argv[1:4]
    tcp = Tcp(topo, *sys.argv[4:])
    enter(f"{topo}-sw")
    time.sleep(SETTLE)
    first = reading(port, tcp)
    backlog = []
    while time.monotonic() - first["at"] < float(seconds):
        backlog.append(max(q.get("backlog", 0) for q in qdiscs(port)))
        time.sleep(INTERVAL)
    print(json.dumps(figures(first, reading(port, tcp), backlog)), flush=True)
    os._exit(0)


main()
