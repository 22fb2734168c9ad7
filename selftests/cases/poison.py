# SPDX-License-Identifier: GPL-2.0
"""
Does memory that nobody wrote leave the machine?

  poison.py fill MIB     leaves its pattern in so much free memory
  poison.py watch DEV    until SIGTERM; then fails if a packet held the pattern
"""
import signal
import socket
import sys

PATTERN = b"nobody wrote it!"
ETH_P_ALL = 3


def fill(mib):
    """The kernel does not clear what a process leaves behind."""
    return len(PATTERN * (mib << 20 >> 4))


def watch(dev):
    """All that the device sends and receives."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(ETH_P_ALL))
    sock.bind((dev, ETH_P_ALL))
    sock.settimeout(0.1)
    ends = []
    signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
    packets = found = 0
    print("watching", flush=True)
    while True:
        try:
            data = sock.recv(1 << 17)
        except OSError:         # nothing, or the device goes
            if ends:
                break
            continue
        packets += 1
        found += PATTERN in data
    print("%d of %d packets hold memory that nobody wrote" % (found, packets))
    return found or not packets


if sys.argv[1] == "fill":
    fill(int(sys.argv[2]))
else:
    sys.exit(1 if watch(sys.argv[2]) else 0)
