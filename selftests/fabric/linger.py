# SPDX-License-Identifier: GPL-2.0
#
# Groups of two ranks that end one after the other, and are over only much later: when
# a group is ready its first rank leaves, and the second one only sends heartbeats.
# The queue pairs that they name do not exist. The caller's certificate is in
# INC_AM_CERTS.
#
#   linger.py HOST:PORT OWN_ADDRESS COUNT
#
# It prints "lingering" when all have ended, and then waits until it is killed.

import ipaddress
import os
import signal
import sys
import threading
import time

import grpc

from rpcbase import Rank, bindings

pb = bindings()
own = ipaddress.ip_address(sys.argv[2]).packed
certs = os.environ["INC_AM_CERTS"]


def read(name):
    with open(f"{certs}/{name}.pem", "rb") as f:
        return f.read()


def beat(rank):
    while rank.call.is_active():
        time.sleep(0.5)
        rank.put(heartbeat=pb.Empty())


def end(channel, name):
    ranks = [Rank(pb, channel, name, r, 2, own) for r in (0, 1)]
    for kind, answer in (("joined", "rts"), ("ready", "heartbeat")):
        for rank in ranks:
            rank.until(kind)
            rank.put(**{answer: pb.Empty()})
    threading.Thread(target=beat, args=(ranks[1],), daemon=True).start()
    ranks[0].put(leave=pb.Empty())
    ranks[0].until("bye")
    return ranks


with grpc.secure_channel(sys.argv[1], grpc.ssl_channel_credentials(
        read("ca"), read("key"), read("cert"))) as chan:
    kept = [end(chan, f"linger.{os.getpid()}.{i}")
            for i in range(int(sys.argv[3]))]
    print("lingering", flush=True)
    signal.pause()
