#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""alive.py PORT: a daemon that says "alive" without end, as fast as it can."""
import os
import sys
from concurrent import futures

import grpc

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../fabric")
from rpcbase import SERVICE, bindings, pack  # noqa: E402

pb = bindings()


def alive(requests, context):
    while context.is_active():
        yield pb.ManagerMessage(alive=pb.Empty())


server = grpc.server(futures.ThreadPoolExecutor())
server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
    SERVICE.strip("/"), {"Join": grpc.stream_stream_rpc_method_handler(
        alive, request_deserializer=pb.RankMessage.FromString,
        response_serializer=pack)})])
server.add_insecure_port(f"0.0.0.0:{sys.argv[1]}")
server.start()
print("there", flush=True)
server.wait_for_termination()
