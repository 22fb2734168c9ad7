# SPDX-License-Identifier: GPL-2.0
#
# The manager's interface, called by an independent implementation of gRPC.
#
#   rpc.py HOST:PORT OWN_ADDRESS      prints KTAP

import ipaddress
import queue
import sys
import time

import grpc

from rpcbase import SERVICE, bindings, ktap, leave, pack, plan

pb = bindings()
channel = grpc.insecure_channel(sys.argv[1])
own = ipaddress.ip_address(sys.argv[2]).packed


def call(method, request, reply):
    return channel.unary_unary(SERVICE + method, request_serializer=pack,
                               response_deserializer=reply.FromString)(
                                   request, timeout=60)


class Stream:
    def __init__(self, *messages):
        self.out = queue.Queue()
        for msg in messages:
            self.out.put(msg)
        self.call = channel.stream_stream(
            SERVICE + "Join", request_serializer=pack,
            response_deserializer=pb.ManagerMessage.FromString)(
                iter(self.out.get, None), timeout=600)

    def next(self):
        return next(self.call).WhichOneof("kind")


def join(**kw):
    args = {"group": "rpc", "ranks": 1, "rank": 0, "addr": own, "qpn": 17,
            "psn": 1}
    args.update(kw)
    return pb.RankMessage(join=pb.JoinRequest(**args))


def refused(name, code, text, what):
    try:
        what()
        ktap(False, name, "was accepted")
    except grpc.RpcError as e:
        ktap(e.code() == code and text in e.details(), name,
             f"{e.code()} {e.details()}")


def refused_join(name, code, text, *messages):
    refused(name, code, text, lambda: list(Stream(*messages).call))


Code = grpc.StatusCode
empty = pb.Empty()

topology = call("GetTopology", pb.GetTopologyRequest(), pb.Topology)
ktap([s.state for s in topology.switches] == ["up"] and
     topology.switches[0].collectives and topology.switches[0].memory_limit,
     "GetTopology: the switch", topology)
ktap(own in [h.addr for h in topology.hosts], "GetTopology: this host",
     topology)

refused("GetGroup of none", Code.NOT_FOUND, '"x"',
        lambda: call("GetGroup", pb.GetGroupRequest(name="x"), pb.Group))
refused("DeleteGroup of none", Code.NOT_FOUND, '"x"',
        lambda: call("DeleteGroup", pb.DeleteGroupRequest(name="x"),
                     pb.DeleteGroupResponse))
refused("a method that does not exist", Code.UNIMPLEMENTED, "no such method",
        lambda: call("Sing", empty, pb.Empty))
refused("bytes that are no message", Code.INVALID_ARGUMENT, "",
        lambda: call("GetGroup", b"\xff\xff\xff", pb.Group))
refused("a message that is compressed", Code.UNIMPLEMENTED, "gzip",
        lambda: channel.unary_unary(
            SERVICE + "GetGroup", request_serializer=pack,
            response_deserializer=pb.Group.FromString)(
                pb.GetGroupRequest(name="x" * 500), timeout=60,
                compression=grpc.Compression.Gzip))

for name, code, text, kw in (
        ("no rank at all", Code.INVALID_ARGUMENT, "1 to 1024", {"ranks": 0}),
        ("too many ranks", Code.INVALID_ARGUMENT, "1 to 1024",
         {"ranks": 1025}),
        ("a rank beyond the last", Code.INVALID_ARGUMENT, "less than ranks",
         {"rank": 1}),
        ("no name", Code.INVALID_ARGUMENT, "1 to 63", {"group": ""}),
        ("a name that is too long", Code.INVALID_ARGUMENT, "1 to 63",
         {"group": "x" * 64}),
        ("an address of 5 bytes", Code.INVALID_ARGUMENT, "4 or 16",
         {"addr": b"12345"}),
        ("somebody else's address", Code.INVALID_ARGUMENT, "--allow",
         {"addr": bytes([10, 99, 0, 1])}),
        ("loopback", Code.INVALID_ARGUMENT, "a loopback address",
         {"addr": bytes([127, 0, 0, 1])}),
        ("QPN 1", Code.INVALID_ARGUMENT, "qpn", {"qpn": 1}),
        ("an unknown mapping", Code.UNIMPLEMENTED,
         'group "rpc": this manager knows mapping 1 only, not 99',
         {"mapping": 99}),
        ("an unknown transport", Code.INVALID_ARGUMENT, "transport must be",
         {"transport": 7}),
        ("a key of 31 bytes", Code.INVALID_ARGUMENT, "key must have 32 bytes",
         {"key": bytes(31)})):
    refused_join("join: " + name, code, text, join(**kw))
refused_join("rts first", Code.FAILED_PRECONDITION, "join",
             pb.RankMessage(rts=empty))
refused_join("a message of another kind", Code.INVALID_ARGUMENT, "join, resume",
             b"\xfa\x01\x00")
refused_join("no power of two", Code.INVALID_ARGUMENT, "slots",
             join(tree=pb.TreeWishes(slots=3)))
refused_join("the kernel refuses the tree", Code.RESOURCE_EXHAUSTED,
             "switch sw: rdma_inc: max-slots",
             join(tree=pb.TreeWishes(slots=4096)))

first = Stream(join(group="two", ranks=2, tree=pb.TreeWishes(slots=32)))
while not call("ListGroups", pb.ListGroupsRequest(),
               pb.ListGroupsResponse).groups:
    pass
refused_join("another number of ranks", Code.INVALID_ARGUMENT,
             "has 2 ranks, not 3", join(group="two", ranks=3, rank=1))
refused_join("a rank that is taken", Code.ALREADY_EXISTS, "taken",
             join(group="two", ranks=2))
refused_join("another tree", Code.INVALID_ARGUMENT, "another tree",
             join(group="two", ranks=2, rank=1,
                  tree=pb.TreeWishes(slots=64)))
group = call("GetGroup", pb.GetGroupRequest(name="two"), pb.Group)
ktap(group.state == "forming" and group.present == 1,
     "GetGroup: a group that is forming", group)
call("DeleteGroup", pb.DeleteGroupRequest(name="two"), pb.DeleteGroupResponse)
refused("its rank is told", Code.ABORTED, "operator", lambda: first.next())


def groups():
    return call("ListGroups", pb.ListGroupsRequest(),
                pb.ListGroupsResponse).groups


for ranks, n in (64, 256), (1024, 16):
    many = [Stream(join(group=f"many{i}", ranks=ranks)) for i in range(n)]
    while len(groups()) < n:
        time.sleep(0.1)
    refused_join(f"a host with {n} groups of {ranks} ranks that wait",
                 Code.RESOURCE_EXHAUSTED, f"{n} groups, of {n * ranks} ranks",
                 join(group="more", ranks=2))
    for one in many:
        one.call.cancel()
    while groups():
        time.sleep(0.1)

key = bytes(range(32))
one = Stream(join(group="one", key=key,
                  tree=pb.TreeWishes(slots=8, first_msg_id=0)))
msg = next(one.call)
ktap(msg.WhichOneof("kind") == "joined" and msg.joined.slots == 8 and
     msg.joined.switch_id == "sw" and msg.joined.qpn >= 1 << 23 and
     msg.joined.rkey and len(msg.joined.addr) == 4, "joined", msg)
one.out.put(pb.RankMessage(rts=empty))
ktap(one.next() == "ready", "rts, ready")
group = call("GetGroup", pb.GetGroupRequest(name="one"), pb.Group)
ktap(group.state == "ready" and [list(t.ranks) for t in group.tree] == [[0]],
     "GetGroup: a group that is ready", group)
asked = {"group": "one", "tree": pb.TreeWishes(slots=8, first_msg_id=0)}
for name, wrong in ("a wrong", key[::-1]), ("no", b""):
    refused_join(f"resume with {name} key", Code.PERMISSION_DENIED, "another key",
                 pb.RankMessage(resume=pb.ResumeRequest(
                     join=join(**asked, key=wrong).join, tree_id=msg.joined.tree_id)))
asked["key"] = key
for name, tree, wrong in (("tree", msg.joined.tree_id + 1, {}),
                          ("QPN", msg.joined.tree_id, {"qpn": 18})):
    refused_join(f"resume with a wrong {name}", Code.NOT_FOUND,
                 'group "one" goes on, and has no rank 0 of 1 with this',
                 pb.RankMessage(resume=pb.ResumeRequest(
                     join=join(**asked, **wrong).join, tree_id=tree)))
for beat in pb.RankMessage(heartbeat=empty), pb.RankMessage():
    one.out.put(beat)
one.out.put(pb.RankMessage(leave=empty))
ktap(msg.joined.short_heartbeats and one.next() == "bye",
     "heartbeats, leave, bye", msg)
try:
    list(one.call)
    ktap(one.call.code() == Code.OK, "the stream ends in order")
except grpc.RpcError as e:
    ktap(False, "the stream ends in order", e)
ktap(not call("ListGroups", pb.ListGroupsRequest(),
              pb.ListGroupsResponse).groups, "no group is left")
again = join(ranks=2)
refused_join("resume after join", Code.ABORTED, 'it said "resume"', again,
             pb.RankMessage(resume=pb.ResumeRequest(join=again.join)))
one = Stream(join(ranks=2, rank=0)), Stream(
    join(ranks=2, rank=1, qpn=18, tree=pb.TreeWishes(slots=4, msg_size=4096, pmtu=256)))
msg = next(one[0].call)
ktap((msg.joined.slots, msg.joined.msg_size, msg.joined.pmtu) == (4, 4096, 256),
     "what only the second rank wishes", msg)
for stream in one:
    stream.out.put(pb.RankMessage(leave=empty))
    list(stream.call)
plan()
leave()
