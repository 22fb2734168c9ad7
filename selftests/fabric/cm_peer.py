# SPDX-License-Identifier: GPL-2.0
#
# What libinc never does: a rank that asks the manager for a connection by RDMA CM
# and leaves that to others, and a manager that does not know RDMA CM.
#
#   cm_peer.py rank MANAGER OWN_ADDRESS
#	says what the lines of its input name: "join GROUP RANKS RANK rc|uc" first,
#	then rts, leave, failure. Prints what rdma_connect() needs: ADDR PORT TREE
#	MEMBER QPN RKEY; then the kinds of messages
#   cm_peer.py manager HOST:PORT KIND
#	answers each rank with a tree: KIND "old" without RDMA CM, "brief" likewise
#	but with short heartbeats, "wrong" with a port that is none; and prints
#	which kinds of messages follow

import ipaddress
import queue
import sys
import threading
import time
from concurrent import futures

import grpc

from rpcbase import SERVICE, bindings, leave, pack

pb = bindings()


def rank(manager, own):
    out = queue.Queue()
    print("up", flush=True)
    _, group, ranks, number, transport = sys.stdin.readline().split()
    out.put(pb.RankMessage(join=pb.JoinRequest(
        group=group, ranks=int(ranks), rank=int(number), qpn=4711, psn=1,
        addr=ipaddress.ip_address(own).packed, cm=True,
        transport=pb.Transport.Value(transport.upper()))))
    call = grpc.insecure_channel(manager).stream_stream(
        SERVICE + "Join", request_serializer=pack,
        response_deserializer=pb.ManagerMessage.FromString)(
            iter(out.get, None), timeout=300)

    def listen():
        try:
            for msg in call:
                if msg.WhichOneof("kind") != "joined":
                    print(msg.WhichOneof("kind"), flush=True)
                    continue
                at = msg.joined
                print("joined", ipaddress.ip_address(at.addr), at.cm.port,
                      at.tree_id, at.cm.member, at.qpn, at.rkey, flush=True)
        except grpc.RpcError as e:
            print("ended", e.details(), flush=True)

    def beat():
        while True:
            time.sleep(1)
            out.put(pb.RankMessage(heartbeat=pb.Empty()))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    threading.Thread(target=beat, daemon=True).start()
    for line in sys.stdin:
        kind = line.strip()
        value = pb.Failure(reason="it has\x1b no cable") \
            if kind == "failure" else pb.Empty()
        out.put(pb.RankMessage(**{kind: value}))
    thread.join()
    leave()


def manager(address, kind):
    def join(requests, context):
        next(requests)
        joined = pb.Joined(
            switch_id="sw", tree_id=1, qpn=77, rkey=5, slots=8,
            addr=ipaddress.ip_address(address.split(":")[0]).packed,
            msg_size=4096, pmtu=1024, dead_time_ms=500, collectives=1,
            dtypes=1, ops=1, heartbeat_ms=200,
            short_heartbeats=kind == "brief")
        if kind == "wrong":
            joined.cm.port = 70000
        yield pb.ManagerMessage(joined=joined)
        for msg in requests:
            print(msg.WhichOneof("kind"), flush=True)

    handler = grpc.stream_stream_rpc_method_handler(
        join, request_deserializer=pb.RankMessage.FromString,
        response_serializer=pack)
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
        SERVICE.strip("/"), {"Join": handler})])
    server.add_insecure_port(address)
    server.start()
    print("listening", flush=True)
    server.wait_for_termination()


{"rank": rank, "manager": manager}[sys.argv[1]](*sys.argv[2:])
