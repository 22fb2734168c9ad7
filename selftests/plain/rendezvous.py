#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""
A rank's stream to its coordinator, for plain.c, which starts it:

  rendezvous.py ADDR:PORT GROUP RANK RANKS OWN_ADDRESS QPN PSN

Prints what comes as a JSON object per line, and says each word of its input:
rts, leave.
"""
import ipaddress
import json
import os
import queue
import sys
import threading

import grpc

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../fabric")
from rpcbase import SERVICE, bindings, leave, pack  # noqa: E402

pb = bindings()
server, group, rank, ranks, own, qpn, psn = sys.argv[1:]
out = queue.Queue()
out.put(pb.RankMessage(join=pb.JoinRequest(
    group=group, rank=int(rank), ranks=int(ranks), qpn=int(qpn), psn=int(psn),
    addr=ipaddress.ip_address(own).packed, mtu=1024, mapping=1)))
stream = grpc.insecure_channel(server).stream_stream(
    SERVICE + "Join", request_serializer=pack,
    response_deserializer=pb.ManagerMessage.FromString)(iter(out.get, None))


def listen():
    for line in sys.stdin:
        out.put(pb.RankMessage(**{line.strip(): pb.Empty()}))


threading.Thread(target=listen, daemon=True).start()
try:
    for msg in stream:
        event = {"event": msg.WhichOneof("kind")}
        if event["event"] == "joined":
            joined = msg.joined
            event["addr"] = str(ipaddress.ip_address(joined.addr))
            for key in ("tree_id", "qpn", "psn", "rkey", "slots", "msg_size",
                        "pmtu", "first_msg_id"):
                event[key] = getattr(joined, key)
        print(json.dumps(event, separators=(",", ":")), flush=True)
except grpc.RpcError as e:
    print(json.dumps({"event": "error", "error": e.details()}), flush=True)
leave()
