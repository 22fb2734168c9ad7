#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
interop.py BIN: gRPC's own client library, and frames by hand, against inc-amd:
calls and streams, statuses, metadata, deadlines, what is cancelled, compressed,
cut off or unknown; and inc-amctl. BIN has both.
"""
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import grpc
from google.protobuf import descriptor_pb2

from rpcbase import SERVICE, bindings, ktap, leave, now, pack, plan

PB = bindings()
# Values of grpc-status, as HPACK has them.
UNIMPLEMENTED, INTERNAL = b"\x0212", b"\x0213"
# And with its name.
DEADLINE = b"\x40\x88\x9a\xca\xc8\xb2\x12\x34\xda\x8f\x014"
EXHAUSTED = DEADLINE[:-1] + b"8"
CONTENT = b"\0\x0ccontent-type\x10application/grpc"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def start(where, address):
    """The manager, and its address."""
    amd = subprocess.Popen(
        [pathlib.Path(sys.argv[1]) / "inc-amd", "--config", "/dev/null",
         "--store", "none", "--http", "none", "--switch", f"{where}/none",
         "--insecure-plaintext", "--allow", "192.0.2.0/24",
         "--listen", address],
        stdout=subprocess.PIPE, text=True)
    line = amd.stdout.readline()
    assert line.startswith("listening on "), line
    return amd, line.split()[2]


def call(channel, method, request=b"", many=False, **more):
    kind = channel.unary_stream if many else channel.unary_unary
    return kind(SERVICE + method, request_serializer=pack,
                response_deserializer=bytes)(request, **more)


def status(fn):
    try:
        fn()
    except grpc.RpcError as e:
        return e.code(), e.details()
    return grpc.StatusCode.OK, ""


def says(name, got, code, text=""):
    ktap(got[0] == code and text in got[1], name, got)


def calls(channel):
    ktap(call(channel, "ListGroups") == b"", "a call")
    ktap(call(channel, "ListGroups", metadata=(
        ("x-some", "value"), ("x-some-bin", b"\0\xff" * 100))) == b"",
        "with metadata")
    code = grpc.StatusCode
    says("an unknown method", status(lambda: call(channel, "None")),
         code.UNIMPLEMENTED, "no such method")
    says("a message that is too long",
         status(lambda: call(channel, "ListGroups", bytes(70000))),
         code.RESOURCE_EXHAUSTED, "64 KiB")
    says("one in four frames", status(
        lambda: call(channel, "GetGroup",
                     PB.GetGroupRequest(name="x" * 60000))), code.NOT_FOUND)
    got = status(lambda: call(channel, "GetGroup",
                              PB.GetGroupRequest(name="grün%")))
    says("a status", got, code.NOT_FOUND, "gr")
    for name in "AddReservation", "DeleteReservation":
        says(f"{name}: a name with a byte 0", status(
            lambda: call(channel, name, PB.Reservation(name="a\0b"))),
            code.INVALID_ARGUMENT, "byte 0")
    says("GetGroup: a tenant with a byte 0", status(
        lambda: call(channel, "GetGroup",
                     PB.GetGroupRequest(name="a", tenant="b\0"))),
        code.INVALID_ARGUMENT, "byte 0")
    says("a compressed call", status(
        lambda: call(channel, "ListGroups", compression=grpc.Compression.Gzip)),
        code.UNIMPLEMENTED, "compressed")
    says("headers that are too long", status(
        lambda: call(channel, "ListGroups", metadata=(("x", "y" * 7900),))),
        code.RESOURCE_EXHAUSTED)
    ktap(call(channel, "ListGroups") == b"", "the next call")


def health(channel):
    """As grpc_health_probe asks."""
    code = grpc.StatusCode
    check = channel.unary_unary("/grpc.health.v1.Health/Check")
    ktap(check(b"") == b"\x08\x01", "health: the leader serves")
    name = SERVICE.strip("/").encode()
    ktap(check(b"\x0a" + bytes([len(name)]) + name) == b"\x08\x01",
         "health: and its service")
    says("health: another service", status(lambda: check(b"\x0a\x01x")),
         code.NOT_FOUND, '"x"')
    says("health: no such message", status(lambda: check(b"\xff\xff")),
         code.INVALID_ARGUMENT)
    watch = channel.unary_stream("/grpc.health.v1.Health/Watch")
    told = watch(b"")
    ktap(next(told) == b"\x08\x01", "health: watched, it serves")
    told.cancel()
    told = watch(b"\x0a\x01x")
    ktap(next(told) == b"\x08\x03", "health: another service is watched")
    told.cancel()
    says("health: watched, no such message",
         status(lambda: list(watch(b"\xff\xff"))), code.INVALID_ARGUMENT)


def field(number, *values):
    """A message's fields of one number: bytes, less than 16 KiB each."""
    out = b""
    for value in values:
        size = bytes([len(value) & 127 | 128, len(value) >> 7])
        out += bytes([number << 3 | 2]) + size + value
    return out


def fields(data):
    """Yields (number, bytes or None) of a message."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return value

    at = 0
    while at < len(data):
        tag = varint()
        if tag & 7 != 2:
            assert not tag & 7, tag
            varint()
            yield tag >> 3, None
            continue
        size = varint()
        yield tag >> 3, data[at:at + size]
        at += size


FILE, SYMBOL, EXTENSION, NUMBERS, LIST = 3, 4, 5, 6, 7


def answers(ask, *questions):
    """What the server says to each (number, text)."""
    return [dict(fields(answer)) for answer in
            ask(iter([field(n, t) for n, t in questions]))]


def plain(message):
    """A descriptor without the names of JSON, which python's has not."""
    if isinstance(message, descriptor_pb2.FieldDescriptorProto):
        message.ClearField("json_name")
    for kind, value in message.ListFields():
        if kind.type == kind.TYPE_MESSAGE:
            for one in value if kind.label == kind.LABEL_REPEATED else [value]:
                plain(one)
    return message


def reflection(channel):
    """As grpcurl asks. The files are those that protoc itself has read."""
    code = grpc.StatusCode
    want = descriptor_pb2.FileDescriptorProto()
    PB.DESCRIPTOR.CopyToProto(want)
    for version in "v1", "v1alpha":
        ask = channel.stream_stream(f"/grpc.reflection.{version}."
                                    "ServerReflection/ServerReflectionInfo")
        got = answers(ask, (LIST, b"*"))
        names = {v for _, s in fields(got[0][6]) for _, v in fields(s)}
        ktap(names == {b"rdma_inc.v1.Manager", b"grpc.health.v1.Health",
                       b"grpc.reflection.v1.ServerReflection",
                       b"grpc.reflection.v1alpha.ServerReflection"},
             f"reflection {version}: the services", names)
        ktap(dict(fields(got[0][2])).get(LIST) == b"*",
             f"reflection {version}: the question comes back", got)
    for number, text in (
            (FILE, b"rdma_inc.proto"), (SYMBOL, b"rdma_inc.v1.Manager"),
            (SYMBOL, b"rdma_inc.v1.Manager.ListGroups"),
            (SYMBOL, b"rdma_inc.v1.Group")):
        got = answers(ask, (number, text))
        said = descriptor_pb2.FileDescriptorProto()
        said.ParseFromString(dict(fields(got[0][4]))[1])
        ktap(len(got) == 1 and plain(said) == plain(want),
             f"reflection: {text.decode()}", got)
    for number, text in (
            (FILE, b"rdma_inc.prot"), (FILE, b""), (FILE, b"etcd.proto"),
            (SYMBOL, b""), (SYMBOL, b"rdma_inc.v1"), (SYMBOL, b"rdma_inc.v1."),
            (SYMBOL, b"rdma_inc.v1.Manage"), (SYMBOL, b"rdma_inc.v1.Managers"),
            (SYMBOL, b"rdma_inc.v1.Manager."), (SYMBOL, b"Manager"),
            (SYMBOL, b"rdma_inc.v1.Manager.None"), (SYMBOL, b"." * 9000),
            (EXTENSION, b""), (NUMBERS, b"rdma_inc.v1.Group")):
        got = answers(ask, (number, text))
        ktap(len(got) == 1 and dict(fields(got[0][7]))[2],
             f"reflection: none by {number}, {text[:30]}", got)
    for name in b"v1", b"v1alpha":
        name = b"grpc.reflection." + name
        got = answers(ask, (SYMBOL, name + b".ServerReflection"))
        said = descriptor_pb2.FileDescriptorProto()
        said.ParseFromString(dict(fields(got[0][4]))[1])
        ktap(said.package == name.decode(), f"reflection: {name.decode()}", got)
    for number, text in ((1, b"host"), (15, b"x"),
                         (SYMBOL, b"rdma_inc.v1.Manager\0x"),
                         (FILE, b"rdma_inc.proto\0")):
        got = answers(ask, (number, text))
        ktap(len(got) == 1 and
             got[0][7].startswith(b"\x08%c" % code.INVALID_ARGUMENT.value[0]),
             f"reflection: nothing is asked by {number}, {text}", got)
    got = answers(ask, *[(SYMBOL, b"grpc.health.v1.HealthCheckResponse."
                          b"ServingStatus"), (FILE, b"none")] * 20)
    ktap([4 in a for a in got] == [True, False] * 20,
         "reflection: forty questions in a call", got)
    ktap(not list(ask(iter([]))), "reflection: no question")
    says("reflection: no such message",
         status(lambda: list(ask(iter([b"\xff\xff"])))),
         code.INVALID_ARGUMENT, "ServerReflectionRequest")


def slowly(*messages):
    """And then nothing, for longer than the manager waits for a message."""
    yield from messages
    time.sleep(15)


def streams(channel):
    code = grpc.StatusCode
    watch = call(channel, "WatchEvents", many=True)
    ktap(next(watch) is not None, "a stream of answers")
    watch.cancel()
    ktap(watch.code() == code.CANCELLED, "it is cancelled")
    began = now()
    got = status(lambda: list(call(channel, "WatchEvents", many=True,
                                   timeout=1)))
    says("a deadline", got, code.DEADLINE_EXCEEDED)
    ktap(now() - began < 3, "it is kept")
    join = channel.stream_stream(SERVICE + "Join", request_serializer=pack,
                                 response_deserializer=bytes)
    says("a stream whose message is wrong", status(
        lambda: list(join(iter([b"\xff\xff"])))), code.INVALID_ARGUMENT)
    says("a stream's group with a byte 0", status(lambda: list(join(iter([
        PB.RankMessage(join=PB.JoinRequest(group="a\0", ranks=2))])))),
        code.INVALID_ARGUMENT, "byte 0")
    ktap(status(lambda: list(join(iter([])))) == (code.OK, ""),
         "a stream of nothing")
    for name, first in (("empty", b""), ("a heartbeat", PB.RankMessage(
            heartbeat=PB.Empty()))):
        says(f"a stream whose first message is {name}", status(
            lambda first=first: list(join(slowly(first), timeout=20))),
             code.FAILED_PRECONDITION, "must be join")
    ask = PB.RankMessage(join=PB.JoinRequest(
        group="a", ranks=2, qpn=17, mapping=1,
        addr=bytes([192, 0, 2, 1])))
    says("a rank that rejoins what has not failed", status(
        lambda: list(join(slowly(ask, PB.RankMessage(
            rejoin=PB.RejoinRequest(qpn=17, psn=1))), timeout=20))),
         code.ABORTED, "rejoin")
    many = [call(channel, "WatchEvents", many=True) for _ in range(200)]
    ktap(all(next(one) is not None for one in many), "200 streams at a time")
    for one in many:
        one.cancel()
    ktap(call(channel, "ListGroups") == b"", "a call after them")


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(
        ">BBI", kind, flags, stream) + payload


def headers(path, more=()):
    out = b""
    for name, value in ((":method", "POST"), (":scheme", "http"),
                        (":path", SERVICE + path), (":authority", "x"),
                        ("te", "trailers"),
                        ("content-type", "application/grpc"), *more):
        out += (b"\0" + bytes([len(name)]) + name.encode() +
                bytes([len(value)]) + value.encode())
    return out


def connect(address):
    host, port = address.rsplit(":", 1)
    if host == "unix":
        s = socket.socket(socket.AF_UNIX)
        s.connect(port)
        return s
    s = socket.create_connection((host.strip("[]"), int(port)))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def by_hand(address, data, want, piece=0, later=b""):
    """What comes, until that has come; @later is sent after a second."""
    s = connect(address)
    data = PREFACE + frame(4, 0, 0) + data
    for i in range(0, len(data), piece or len(data)):
        s.sendall(data[i:i + (piece or len(data))])
    if later:
        time.sleep(1)
        s.sendall(later)
    s.settimeout(30)
    got = b""
    try:
        while want not in got and (more := s.recv(65536)):
            got += more
    except OSError:
        pass
    s.close()
    return got


def frames(address):
    block = headers("ListGroups")
    ask = frame(1, 4, 1, block)
    three = (frame(1, 0, 1, block[:30]) + frame(9, 0, 1, block[30:40]) +
             frame(9, 4, 1, block[40:]))
    for name, data, want, piece in (
            ("no message on a call that needs one", ask + frame(0, 1, 1),
             INTERNAL, 0),
            ("a call byte by byte", ask + frame(0, 1, 1, bytes(5)),
             frame(0, 0, 1, bytes(5)), 1),
            ("headers in three frames", three + frame(0, 1, 1, bytes(5)),
             frame(0, 0, 1, bytes(5)), 0),
            ("byte by byte", three + frame(0, 1, 1, bytes(5)),
             frame(0, 0, 1, bytes(5)), 1),
            ("a message that is cut off", ask + frame(0, 1, 1, bytes(3)),
             INTERNAL, 0),
            ("one that is compressed", ask + frame(0, 1, 1, b"\1" + bytes(4)),
             UNIMPLEMENTED, 0),
            ("two messages", ask + frame(0, 1, 1, bytes(10)), INTERNAL, 0),
            ("a PING", frame(6, 0, 0, b"12345678"),
             frame(6, 1, 0, b"12345678"), 0),
            ("too many of them", frame(6, 0, 0, bytes(8)) * 1100,
             b"too_many_pings", 0)):
        got = by_hand(address, data, want, piece)
        ktap(want in got, name, got[-200:])


def late(address):
    """Its time is over while its answer cannot be sent: it was not answered."""
    for method in "ListGroups", "GetTopology":
        got = by_hand(
            address, frame(4, 0, 0, struct.pack(">HI", 4, 0)) +
            frame(1, 4, 1, headers(method, (("grpc-timeout", "300m"),))) +
            frame(0, 1, 1, bytes(5)), DEADLINE,
            later=frame(8, 0, 1, struct.pack(">I", 100000)))
        ktap(DEADLINE in got, f"{method} that is read too late", got[-200:])


def early(address):
    """
    As gRPC's core gives up a call that has a stream, and no HEADERS yet: by
    RST_STREAM of an idle stream. It is no HTTP/2, and hurts no other call.
    """
    def ask(stream):
        return frame(1, 4, stream, headers("ListGroups")) + frame(
            0, 1, stream, bytes(5))

    def reset(stream):
        return frame(3, 0, stream, struct.pack(">I", 8))

    for piece in 0, 1:
        for name, data, stream in (
                ("before the first call", reset(1) + ask(3), 3),
                ("between two", ask(1) + reset(3) + reset(5) + ask(7), 7)):
            want = frame(0, 0, stream, bytes(5))
            got = by_hand(address, data, want, piece)
            ktap(want in got, f"a reset of an idle stream, {name}, {piece}",
                 got[-200:])
    if not address.startswith("unix:"):
        return  # a host that was cut has to wait
    for name, data, err in (
            ("a long one", frame(3, 0, 3, bytes(5)), 6),
            ("of the server's", frame(3, 0, 2, bytes(4)), 1)):
        want = struct.pack(">BBIII", 7, 0, 0, 0, err)
        got = by_hand(address, data, want)
        ktap(want in got, f"a reset that is wrong: {name}", got)
    got = by_hand(address, b"".join(
        reset(i) for i in range(1, 2201, 2)), b"frames of no call")
    ktap(b"frames of no call" in got, "too many resets of idle streams",
         got[-200:])


def large(address):
    """
    Large messages of many calls, a piece of each at a time: of what is not whole, a
    connection has 1 MiB.
    """
    message = struct.pack(">BI", 0, 65536) + bytes(65536)
    for name, count, pieces, want in (
            ("15 large messages side by side", 15, 6, b"12345678"),
            ("17 that are not whole", 17, 5, EXHAUSTED)):
        ids = range(1, 2 * count, 2)
        got = by_hand(address, b"".join(
            frame(1, 4, i, headers("ListGroups")) for i in ids) + b"".join(
                frame(0, 0, i, message[12000 * n:12000 * (n + 1)])
                for n in range(pieces) for i in ids) +
            frame(6, 0, 0, b"12345678"), want)
        ktap(want in got, name, got[-200:])


def command(address):
    """inc-amctl, first of one that is not there."""
    got = subprocess.run(
        [pathlib.Path(sys.argv[1]) / "inc-amctl",
         "-m", f"unix:/nonexistent,{address}", "switch"],
        capture_output=True, text=True, check=False)
    ktap(got.returncode == 0 and "none" in got.stdout, "inc-amctl", got)
    got = subprocess.run(
        [pathlib.Path(sys.argv[1]) / "inc-amctl", "-m", "unix:/nonexistent",
         "switch"], capture_output=True, text=True, check=False)
    ktap(got.returncode == 2 and "there is no such socket" in got.stderr,
         "inc-amctl, no socket", got)


def answered(*what, data=b""):
    """What inc-amctl makes of a manager that answers this, and status 0."""
    def serve():
        s = server.accept()[0]
        s.recv(65536)
        s.sendall(frame(4, 0, 0) + frame(1, 4, 1, b"\x88" + CONTENT) +
                  frame(0, 0, 1, data) + frame(1, 5, 1, DEADLINE[:-1] + b"0"))
        while s.recv(65536):
            pass
        s.close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        return subprocess.run(
            [pathlib.Path(sys.argv[1]) / "inc-amctl", "-m",
             f"127.0.0.1:{server.getsockname()[1]}", *what],
            capture_output=True, text=True, timeout=60, check=False)


def strange():
    """Managers that do what ours do not."""
    for what, data, code, text in (
            (("event", "--follow"), b"", 2, "it has ended the stream"),
            (("event", "--follow"), bytes(5), 2, "it has ended the stream"),
            (("event", "--follow"), b"\0\0\0\0\1\x0a", 2, "not understood"),
            (("group",), bytes(5), 0, ""),
            (("group",), bytes(10), 2, "more than one answer")):
        got = answered(*what, data=data)
        ktap(got.returncode == code and text in got.stderr,
             f"inc-amctl {what[0]}: {data}", got)


def any_address(where):
    """All addresses of both families, whichever one was named."""
    for address in "0.0.0.0:0", "[::]:0":
        amd, real = start(where, address)
        port = real.rpartition(":")[2]
        for host in "127.0.0.1", "[::1]":
            with grpc.insecure_channel(
                    f"{host}:{port}",
                    (("grpc.use_local_subchannel_pool", 1),)) as channel:
                says(f"{address}, by {host}",
                     status(lambda: call(channel, "ListGroups", timeout=60)),
                     grpc.StatusCode.OK)
        amd.terminate()
        amd.wait(60)


def main():
    with tempfile.TemporaryDirectory() as where:
        for address in "127.0.0.1:0", "[::1]:0", f"unix:{where}/socket":
            print(f"# {address}", flush=True)
            amd, real = start(where, address)
            with grpc.insecure_channel(
                    real, (("grpc.use_local_subchannel_pool", 1),)) as channel:
                grpc.channel_ready_future(channel).result(timeout=60)
                calls(channel)
                health(channel)
                reflection(channel)
                streams(channel)
            command(real)
            late(real)
            early(real)
            large(real)
            if not address.startswith("unix:"):
                frames(real)
            amd.terminate()
            ktap(amd.wait(60) == 0, "it ends in order")
        any_address(where)
    strange()
    plan()
    leave()


main()
