# SPDX-License-Identifier: GPL-2.0
"""
Streams of rdma_inc.v1.Manager/Join, from either end, frame by frame: for
talk.py and fuzz.py, whose sockets are in several network namespaces, where
gRPC's own threads cannot go, and which say what no gRPC would.
"""
import ctypes
import os
import socket
import struct
import sys
from urllib.parse import unquote

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../fabric")
from rpcbase import bindings

pb = bindings()

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, WINDOW, MORE = 0, 1, 3, 4, 6, 8, 9
END_STREAM = ACK = 1
END_HEADERS = 4
INITIAL_WINDOW = 4
CANCEL = 8

STATUS = ("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND "
          "ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED "
          "FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL "
          "UNAVAILABLE DATA_LOSS UNAUTHENTICATED").split()


# --- Frames -------------------------------------------------------------------

def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(
        ">BBI", kind, flags, stream) + payload


def message(payload, packed=0):
    """As gRPC has it."""
    return struct.pack(">BI", packed, len(payload)) + payload


def headers(*pairs):
    """None of them is remembered, or packed."""
    return b"".join(b"\0" + bytes([len(k)]) + k.encode() + bytes([len(v)]) +
                    v.encode() for k, v in pairs)


def request(method="Join", *more):
    return headers((":method", "POST"), (":scheme", "http"),
                   (":path", "/rdma_inc.v1.Manager/" + method),
                   (":authority", "x"), ("te", "trailers"),
                   ("content-type", "application/grpc"), *more)


class Pair(ctypes.Structure):
    """nghttp2_nv"""
    _fields_ = [("name", ctypes.c_void_p), ("value", ctypes.c_void_p),
                ("namelen", ctypes.c_size_t), ("valuelen", ctypes.c_size_t),
                ("flags", ctypes.c_uint8)]


class Inflater:
    """Headers as HPACK has them."""
    lib = ctypes.CDLL("libnghttp2.so.14")
    lib.nghttp2_hd_inflate_hd2.restype = ctypes.c_ssize_t
    lib.nghttp2_hd_inflate_hd2.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p,
        ctypes.c_size_t, ctypes.c_int]
    FINAL, EMIT = 1, 2

    def __init__(self):
        self.state = ctypes.c_void_p()
        self.lib.nghttp2_hd_inflate_new(ctypes.byref(self.state))

    def __del__(self):
        self.lib.nghttp2_hd_inflate_del(self.state)

    def take(self, block):
        got, pair, flags = {}, Pair(), ctypes.c_int(0)
        while not flags.value & self.FINAL:
            n = self.lib.nghttp2_hd_inflate_hd2(
                self.state, ctypes.byref(pair), ctypes.byref(flags), block,
                len(block), 1)
            if n < 0:
                raise ValueError(f"HPACK: {n}")
            block = block[n:]
            if flags.value & self.EMIT:
                got[ctypes.string_at(pair.name, pair.namelen).decode()] = \
                    ctypes.string_at(pair.value, pair.valuelen).decode()
        self.lib.nghttp2_hd_inflate_end_headers(self.state)
        return got


# --- Messages -----------------------------------------------------------------

def address(text):
    """One that is none becomes bytes that are none."""
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            return socket.inet_pton(family, text)
        except OSError:
            pass
    return text.encode()


def join_request(o):
    req = pb.JoinRequest(group=o["job"], ranks=o["ranks"], rank=o["rank"],
                         mtu=o.get("mtu", 0), tree=o.get("tree"),
                         transport=1 if o.get("transport") == "uc" else 0)
    if "addr" in o:
        req.addr, req.qpn, req.psn = address(o["addr"]), o["qpn"], o["psn"]
    return req


def pack_rank(o):
    """{"cmd": KIND, ...} as a rank's message."""
    cmd, value = o["cmd"], {}
    if cmd in ("join", "gather", "retract"):
        value = join_request(o)
    elif cmd == "link":
        value = pb.ChildQueuePair(addr=address(o["addr"]), qpn=o["qpn"],
                                  psn=o["psn"])
    elif cmd == "resume":
        value = pb.ResumeRequest(join=join_request(o), tree_id=1)
    elif cmd == "rejoin":
        value = pb.RejoinRequest(qpn=17, psn=1)
    return pb.RankMessage(**{cmd: value}).SerializeToString()


def pack_manager(o):
    """{"event": KIND, ...} as a message to a rank."""
    value = {k: address(v) if k == "addr" else v for k, v in o.items()
             if k != "event"}
    return pb.ManagerMessage(**{o["event"]: value}).SerializeToString()


def pack(o):
    return o if isinstance(o, bytes) else \
        pack_rank(o) if "cmd" in o else pack_manager(o)


def unpack(kind, what, data):
    """A message as a dict, with its kind at @what."""
    msg = kind.FromString(data)
    name = msg.WhichOneof("kind")
    return {what: name, **({f.name: v for f, v in
                            getattr(msg, name).ListFields()} if name else {})}


# --- Connections --------------------------------------------------------------

class Stream:
    """What came by it: dicts, then None."""

    def __init__(self, number, room, theirs):
        self.id, self.room, self.theirs = number, room, theirs
        self.bytes = b""
        self.got = []
        self.ended = False
        self.shut = False

    def end(self, *last):
        if not self.ended:
            self.got += last
            self.got.append(None)
        self.ended = True

    def take(self, data):
        self.bytes += data
        while len(self.bytes) >= 5:
            size = struct.unpack(">xI", self.bytes[:5])[0] + 5
            if len(self.bytes) < size:
                break
            one, self.bytes = self.bytes[5:size], self.bytes[size:]
            self.got.append(unpack(*self.theirs, one))

    def status(self, fields):
        code = fields.get("grpc-status")
        if code is None:
            return
        self.end(*[{"event": "error", "errno": STATUS[int(code)],
                    "error": unquote(fields.get("grpc-message", ""))}]
                 if code != "0" else [])


class Wire:
    """A connection. It answers by itself what is no stream's."""

    def __init__(self, sock, serves=False):
        self.sock, self.serves = sock, serves
        self.theirs = (pb.RankMessage, "cmd") if serves else \
            (pb.ManagerMessage, "event")
        self.inflater = Inflater()
        self.buf = self.block = b""
        self.preface = len(PREFACE) if serves else 0
        self.room = self.first_room = 65535
        self.streams = {}
        self.next_id = 1
        self.ended = False
        self.send((b"" if serves else PREFACE) + frame(SETTINGS, 0, 0))

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError:
            pass

    def add(self, number):
        self.streams[number] = Stream(number, self.first_room, self.theirs)
        return self.streams[number]

    def open(self, block=request()):
        s = self.add(self.next_id)
        self.next_id += 2
        self.send(frame(HEADERS, END_HEADERS, s.id, block))
        return s

    def messages(self, s, *bodies):
        """What has no room is not said, nor what nobody hears."""
        out = b""
        if s.ended or s.shut:
            return
        for body in bodies:
            for at in range(0, len(body), 16384):
                part = body[at:at + 16384]
                if min(s.room, self.room) >= len(part):
                    s.room -= len(part)
                    self.room -= len(part)
                    out += frame(DATA, 0, s.id, part)
        self.send(out)

    def read(self):
        try:
            self.take(self.sock.recv(16384))
        except OSError:
            self.take(b"")

    def take(self, data):
        """Bytes that came; none: the end."""
        if not data:
            self.ended = True
            for s in self.streams.values():
                s.end()
            return
        n = min(self.preface, len(data))
        self.preface -= n
        self.buf += data[n:]
        while len(self.buf) >= 9:
            size = struct.unpack(">I", b"\0" + self.buf[:3])[0] + 9
            if len(self.buf) < size:
                break
            one, self.buf = self.buf[:size], self.buf[size:]
            kind, flags, number = struct.unpack(">BBI", one[3:9])
            self.act(kind, flags, number & 0x7fffffff, one[9:])

    def act(self, kind, flags, number, payload):
        s = self.streams.get(number)
        if kind in (HEADERS, MORE):
            self.act_headers(flags, number, payload)
            s = self.streams.get(number)
        elif kind == DATA and s:
            s.take(payload)
        elif kind == SETTINGS and not flags & ACK:
            self.settings(payload)
            self.send(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == WINDOW:
            more = struct.unpack(">I", payload)[0]
            if s:
                s.room += more
            elif not number:
                self.room += more
        elif kind == RST and s:
            s.end({"event": "error", "errno": "RESET", "error": "reset"})
        if kind in (HEADERS, DATA) and flags & END_STREAM and s:
            s.end()

    def act_headers(self, flags, number, payload):
        self.block += payload
        if not flags & END_HEADERS:
            return
        block, self.block = self.block, b""
        if self.serves:
            self.add(number)
        fields = self.inflater.take(block)
        if number in self.streams:
            self.streams[number].status(fields)

    def settings(self, payload):
        for at in range(0, len(payload), 6):
            what, value = struct.unpack(">HI", payload[at:at + 6])
            if what == INITIAL_WINDOW:
                for s in self.streams.values():
                    s.room += value - self.first_room
                self.first_room = value

    def shut(self, s):
        """Nothing more is said."""
        if not s.shut:
            self.send(frame(DATA, END_STREAM, s.id))
        s.shut = True

    def reset(self, s):
        self.send(frame(RST, 0, s.id, struct.pack(">I", CANCEL)))
        s.shut = True

    # --- What a server says ---------------------------------------------------

    def answer(self, s):
        """Before its first message."""
        self.send(frame(HEADERS, END_HEADERS, s.id,
                        headers((":status", "200"),
                                ("content-type", "application/grpc"))))

    def finish(self, s, status, text):
        self.send(frame(HEADERS, END_HEADERS | END_STREAM, s.id,
                        headers(("grpc-status", str(STATUS.index(status))),
                                ("grpc-message", text))))
