#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Fills a cover letter of git format-patch in: subject and text, whose figures are
those of the table in README.md.

    cover.py COVER README
"""
import re
import sys

SUBJECT = "RDMA: in-network computing for RoCEv2"

TEXT = """\
This series adds rdma_inc, which makes a Linux host a switch that computes.
The hosts of a job send it their data by RDMA WRITE; it reduces the data
while the packets pass, and writes the result into the memory of each host.
An AllReduce then costs each host its data once up and the result once
down, whatever the number of hosts; a ring takes 2(N-1)/N times that in
each direction.

The hosts need nothing new: verbs, an RC or UC queue pair, any RoCEv2
device, rdma_rxe included. On the switch everything happens in the receive
path. It does not use ib_core, and leaves rdma_rxe on the same host alone:
its QPNs are ones that rxe never hands out. The protocol follows
draft-liu-nfsv4-rocev2.

Why in the kernel: the work of a switch is a packet's work. A server in
user space that does the same by verbs, with the same arithmetic, takes
{server} times as long for 8 bytes with two hosts, and has {rate} of the
throughput for 1 MiB.

What MPI programs gain: 8 ranks, links of 18 Mb/s (unshaped for 8 B and
Barrier), rdma_rxe hosts and the switch in User-Mode Linux on one CPU,
medians of five repetitions. "Without" is Open MPI at its best of TCP, a
ring over TCP, and UCX over rdma_rxe.

{table}

How it is tested: KUnit tests of the protocol's rules (patch 4), a selftest
of the netlink interface (patch 8); beside the kernel, the same rules in
user space under sanitizers, simulated networks and fuzzers; a model of
the slot protocol for spin; packets made by hand from IBTA's text; and jobs
of rdma_rxe hosts over networks that lose, duplicate, reorder and corrupt,
every byte compared, in kernels with KASAN and lockdep.

Patches 1 to 4 can be read without the rest: they are the protocol.
"""


def table(readme):
    """The first table of README.md, as text."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in re.search(r"\n(\|.*?)\n\n", readme,
                                  re.S)[1].splitlines()]
    out = ["  %-26s %10s %12s %8s" % ("", "without", "with switch", "faster")]
    for name, without, over, times in rows[2:]:
        out.append("  %-26s %10s %12s %7sx" % (
            name.replace("µs", "us"), without, over, times))
    return "\n".join(out)


def server(page):
    """From benchmark.rst: time and throughput of a server in user space."""
    time = float(re.search(r"^\*server\* +([\d.]+)", page, re.M)[1])
    rate = float(re.search(r"^\*rate\* +([\d.]+)", page, re.M)[1])
    return {"server": "%.1f" % (1 / time), "rate": "%.0f %%" % (100 / rate)}


def main():
    cover, readme = sys.argv[1:]
    with open(readme, encoding="utf-8") as f:
        figures = {"table": table(f.read())}
    with open(readme.replace("README.md", "Documentation/benchmark.rst"),
              encoding="utf-8") as f:
        figures.update(server(f.read()))
    with open(cover, encoding="utf-8") as f:
        text = f.read()
    text = text.replace("*** SUBJECT HERE ***", SUBJECT)
    text = text.replace("*** BLURB HERE ***", TEXT.format(**figures).rstrip())
    with open(cover, "w", encoding="utf-8") as f:
        f.write(text)


main()
