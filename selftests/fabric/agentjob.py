# SPDX-License-Identifier: GPL-2.0
"""
The ranks' coordinator of agent.py, which has only NETCONF.
"""
import ipaddress
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc

from agentbase import NS, case, connect, data, edit, subtree, tool, until
from rpcbase import SERVICE, bindings, pack

RPC = bindings()


class Job:
    """Documentation/rendezvous.rst for one job, by NETCONF alone."""

    def __init__(self, addr, ranks):
        self.m, self.ranks = connect(), ranks
        self.lock, self.out = threading.Lock(), {}
        self.rts, self.left = 0, 0
        self.server = grpc.server(ThreadPoolExecutor(ranks))
        self.server.add_generic_rpc_handlers((
            grpc.method_handlers_generic_handler(SERVICE.strip("/"), {
                "Join": grpc.stream_stream_rpc_method_handler(
                    self.stream, RPC.RankMessage.FromString, pack)}),))
        self.server.add_insecure_port(f"{addr}:18791")
        self.server.start()

    def join(self, req):
        rank, peer = req.rank, ipaddress.ip_address(req.addr)
        xml = (f"<tree><id>77</id><ranks>{req.ranks}</ranks>"
               f"<member><rank>{rank}</rank><peer-addr>{peer}"
               f"</peer-addr><peer-qpn>{req.qpn}</peer-qpn>"
               f"<peer-psn>{req.psn}</peer-psn></member></tree>")
        edit(self.m, xml)
        r = data(self.m.get(filter=subtree(
            f"<tree><id>77</id><member><rank>{rank}</rank></member></tree>")))
        full = data(self.m.get(filter=subtree("<tree><id>77</id></tree>")))

        def get(leaf, of=r.find(".//s:member", NS)):
            return int(of.find(f".//s:{leaf}", NS).text)

        masks = tool("tree", "show")[0]
        case(f"rank {rank}: the types are inc-tool's",
             full.find(".//s:ops", NS).text.split() == masks["ops"],
             masks["ops"])
        own = r.find(".//s:member/s:local-addr", NS).text
        return RPC.ManagerMessage(joined=RPC.Joined(
            tree_id=77, addr=ipaddress.ip_address(own).packed,
            qpn=get("qpn"), psn=get("psn"), rkey=get("rkey"),
            slots=get("slots"), msg_size=get("msg-size"), pmtu=get("pmtu"),
            first_msg_id=get("next-msg-id"), dead_time_ms=350,
            collectives=(1 << 9) - 1, dtypes=(1 << 12) - 1,
            ops=(1 << 10) - 1))

    def take(self, msg, out):
        """What a rank says. Several threads hear them."""
        kind = msg.WhichOneof("kind")
        if kind == "join":
            out.put(self.join(msg.join))
            self.out[msg.join.rank] = out
        elif kind == "rts":
            self.rts += 1
            if self.rts == self.ranks:
                for each in self.out.values():
                    each.put(RPC.ManagerMessage(ready=RPC.Empty()))
        elif kind == "leave":
            self.left += 1
            out.put(RPC.ManagerMessage(bye=RPC.Bye()))
            out.put(None)

    def stream(self, requests, _):
        out = queue.Queue()

        def listen():
            for msg in requests:
                with self.lock:
                    self.take(msg, out)

        threading.Thread(target=listen, daemon=True).start()
        yield from iter(out.get, None)

    def run(self):
        print("listening", flush=True)
        until(lambda: self.left == self.ranks, 40)
        case("all ranks came and left", self.left == self.ranks, self.left)
        self.server.stop(1).wait()
