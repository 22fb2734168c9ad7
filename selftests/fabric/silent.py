# SPDX-License-Identifier: GPL-2.0
"""silent.py HOST:PORT ADDRESS...: join a group in the name of hosts that say
nothing themselves, a rank for each; print the switch that serves each rank, and
the milliseconds that it took."""
import ipaddress
import queue
import sys
import time

import grpc

from rpcbase import SERVICE, bindings, leave, pack

pb = bindings()
channel = grpc.insecure_channel(sys.argv[1])
addrs = sys.argv[2:]
grpc.channel_ready_future(channel).result(timeout=30)
start = time.monotonic()
streams = []
for rank, addr in enumerate(addrs):
    out = queue.Queue()
    out.put(pb.RankMessage(join=pb.JoinRequest(
        group=f"silent{start}", ranks=len(addrs), rank=rank,
        addr=ipaddress.ip_address(addr).packed, qpn=17 + rank, psn=1)))
    streams.append(channel.stream_stream(
        SERVICE + "Join", request_serializer=pack,
        response_deserializer=pb.ManagerMessage.FromString)(
            iter(out.get, None), timeout=30))
try:
    for rank, stream in enumerate(streams):
        msg = next(stream)
        took = int((time.monotonic() - start) * 1000)
        print(f"rank {rank} at {msg.joined.switch_id} after {took} ms")
except grpc.RpcError as e:
    print(f"refused after {int((time.monotonic() - start) * 1000)} ms:"
          f" {e.details()}")
    leave(1)
leave()
