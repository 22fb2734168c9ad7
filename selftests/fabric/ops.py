# SPDX-License-Identifier: GPL-2.0
#
# Streams of the manager, read by an independent implementation of gRPC.
#
#   ops.py HOST:PORT OWN_ADDRESS      prints KTAP

import ipaddress
import sys
import threading
import time

import grpc

from rpcbase import SERVICE, bindings, ktap, leave, pack, plan

pb = bindings()
channel = grpc.insecure_channel(sys.argv[1])
own = ipaddress.ip_address(sys.argv[2]).packed
WATCHERS = 40
EVENTS = 60


def watch(start):
    return channel.unary_stream(
        SERVICE + "WatchEvents", request_serializer=pack,
        response_deserializer=pb.Events.FromString)(
            pb.EventsRequest(**{"from": start}), timeout=300)


def past(start=0):
    return channel.unary_unary(
        SERVICE + "ListEvents", request_serializer=pack,
        response_deserializer=pb.Events.FromString)(
            pb.EventsRequest(**{"from": start}), timeout=60).events


# A rank whose requests end while the other one is awaited makes events.
def lost_group(name):
    request = pb.RankMessage(join=pb.JoinRequest(
        group=name, ranks=2, rank=0, addr=own, qpn=17, psn=1))
    call = channel.stream_stream(
        SERVICE + "Join", request_serializer=pack,
        response_deserializer=pb.ManagerMessage.FromString)(
            iter([request]), timeout=60)
    try:
        list(call)
    except grpc.RpcError:
        pass


first = past()
ktap([e.seq for e in first] == list(range(1, len(first) + 1)),
     "ListEvents: all, in order", first)
begin = len(first) + 1
seen = [[] for _ in range(WATCHERS)]


def follow(i):
    for msg in watch(begin):
        seen[i] += list(msg.events)
        if i == 1:
            time.sleep(0.3)     # one that reads slowly
        if len(seen[i]) >= EVENTS:
            return


threads = [threading.Thread(target=follow, args=(i,), daemon=True)
           for i in range(WATCHERS)]
for t in threads:
    t.start()
n = 0
while len(past(begin)) < EVENTS:
    lost_group(f"lost{n}")
    n += 1
for t in threads:
    t.join(300)
want = [(e.seq, e.kind, e.subject, e.text) for e in past(begin)][:EVENTS]
ktap([w[0] for w in want] == list(range(begin, begin + EVENTS)) and
     "rank-lost" in {w[1] for w in want}, "ListEvents: from a number",
     want)
bad = [i for i in range(WATCHERS)
       if [(e.seq, e.kind, e.subject, e.text) for e in seen[i]][:EVENTS] !=
       want]
ktap(not bad, f"WatchEvents: {WATCHERS} clients see the same, in order", bad)
ktap(not past(10 ** 12), "ListEvents: from a number that is yet to come")
try:
    list(channel.unary_stream(
        SERVICE + "WatchEvents", request_serializer=pack,
        response_deserializer=pb.Events.FromString)(b"\xff\xff", timeout=60))
    ktap(False, "WatchEvents: bytes that are no message", "accepted")
except grpc.RpcError as e:
    ktap(e.code() == grpc.StatusCode.INVALID_ARGUMENT,
         "WatchEvents: bytes that are no message", e)
plan()
leave()
