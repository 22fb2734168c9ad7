# SPDX-License-Identifier: GPL-2.0
#
# Groups made and dismantled, and clients killed, many of each. The queue pairs
# that they name do not exist: the manager and the switch do not know.
#
#   churn.py HOST:PORT OWN_ADDRESS make|die COUNT SEED
#
# make: groups of two ranks, one after another leaves in order. die: as many
# clients in processes that are killed at random moments.

import ipaddress
import os
import random
import signal
import subprocess
import sys
import time

import grpc

from rpcbase import Rank, bindings, leave

pb = bindings()
own = ipaddress.ip_address(sys.argv[2]).packed
what, count, seed = sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
PROCESSES = 4


def join(channel, group, rank, ranks):
    return Rank(pb, channel, group, rank, ranks, own, timeout=120)


def make(channel, name, number):
    """Groups, ten at a time."""
    for first in range(0, number, 10):
        groups = [[join(channel, f"{name}.{first + i}", r, 2) for r in (0, 1)]
                  for i in range(min(10, number - first))]
        for kind, answer in (("joined", "rts"), ("ready", "leave"),
                             ("bye", None)):
            for group in groups:
                for rank in group:
                    rank.until(kind)
                    if answer:
                        rank.put(**{answer: pb.Empty()})
        for group in groups:
            for rank in group:
                rank.out.put(None)


def die():
    rng = random.Random(seed)
    left = count
    while left > 0:
        n = min(25 * PROCESSES, left)
        left -= n
        procs = [subprocess.Popen([sys.executable, *sys.argv[:3], "hold",
                                   str(n // PROCESSES), str(seed + i + left)])
                 for i in range(PROCESSES)]
        time.sleep(2)
        rng.shuffle(procs)
        for proc in procs:
            time.sleep(rng.random() * 0.5)
            proc.send_signal(signal.SIGKILL)
            proc.wait()


def hold(channel):
    """Clients of groups of their own, and of one that is never complete."""
    ranks = []
    for i in range(count):
        ranks.append(join(channel, f"hold.{os.getpid()}.{i}", 0, 1 + i % 2))
        time.sleep(0.02)
    time.sleep(60)


begin = time.monotonic()
if what == "die":
    die()
else:
    with grpc.insecure_channel(sys.argv[1]) as chan:
        if what == "hold":
            hold(chan)
        make(chan, f"churn.{os.getpid()}", count)
print(f"# {what}: {count} in {time.monotonic() - begin:.1f} s, seed {seed}")
leave()
