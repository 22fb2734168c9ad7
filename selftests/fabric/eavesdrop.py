# SPDX-License-Identifier: GPL-2.0
"""eavesdrop.py TOKEN ADDRESS:PORT...: managers there that lead nobody, and print who
has heard the token."""
import sys
from concurrent import futures

import grpc


class Handler(grpc.GenericRpcHandler):
    def __init__(self, address):
        self.address = address

    def service(self, details):
        heard = ("authorization", f"Bearer {sys.argv[1]}") in \
            details.invocation_metadata
        print(f"{self.address} {'token' if heard else 'nothing'}", flush=True)
        return grpc.stream_stream_rpc_method_handler(self.refuse)

    @staticmethod
    def refuse(_, context):
        context.abort(grpc.StatusCode.UNAVAILABLE, "not the leader")


servers = []
for name in sys.argv[2:]:
    servers.append(grpc.server(futures.ThreadPoolExecutor(2)))
    servers[-1].add_generic_rpc_handlers((Handler(name),))
    assert servers[-1].add_insecure_port(name)
    servers[-1].start()
print("listening", flush=True)
for server in servers:
    server.wait_for_termination()
