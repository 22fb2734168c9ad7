# SPDX-License-Identifier: GPL-2.0
"""Generic netlink by the YNL spec: names and types come from rdma-inc.yaml.

tools/net/ynl's library does the same for any family, 20 times slower, and is
in no package.
"""
import errno
import os
import socket
import struct

import yaml

CTRL_GETFAMILY, GENL_ID_CTRL = 3, 16
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
SOL_NETLINK, ADD_MEMBERSHIP, CAP_ACK, EXT_ACK = 270, 1, 10, 11
INTS = {"u8": "=B", "u16": "=H", "u32": "=I", "u64": "=Q"}


class NlError(Exception):
    def __init__(self, code, msg):
        super().__init__("%s: %s" % (errno.errorcode.get(code, code), msg))
        self.errno, self.msg = code, msg


def attrs_of(data):
    """(type, payload) of each attribute."""
    off = 0
    while off + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, off)
        yield kind & 0x3fff, data[off + 4:off + length]
        off += length + 3 & ~3


def attr(kind, payload):
    head = struct.pack("=HH", len(payload) + 4, kind)
    return head + payload + bytes(-len(payload) & 3)


class Spec:
    def __init__(self, path):
        with open(path, encoding="ascii") as f:
            y = yaml.load(f, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.name = y["name"]
        self.enums = {d["name"]: [e["name"] for e in d["entries"]]
                      for d in y["definitions"] if d["type"] == "enum"}
        self.sets = {s["name"]: list(enumerate(s["attributes"], 1))
                     for s in y["attribute-sets"]}
        self.ops = {}
        for number, op in enumerate(y["operations"]["list"], 1):
            if "notify" in op:
                op["attribute-set"] = self.ops[op["notify"]]["attribute-set"]
            self.ops[op["name"]] = dict(op, number=number)
        self.by_number = {op["number"]: op for op in self.ops.values()}

    def encode(self, set_name, values):
        out = b""
        known = {a["name"]: (n, a) for n, a in self.sets[set_name]}
        for name, value in values.items():
            number, a = known[name]
            if a.get("multi-attr"):
                out += b"".join(attr(number, struct.pack(INTS[a["type"]], v))
                                for v in value)
                continue
            if a["type"] == "binary":
                kind = socket.AF_INET6 if ":" in value else socket.AF_INET
                payload = socket.inet_pton(kind, value)
            else:
                payload = struct.pack(INTS.get(a["type"], "=Q"), value)
            out += attr(number, payload)
        return out

    def decode(self, set_name, data):
        out = {}
        known = dict(self.sets[set_name])
        for number, payload in attrs_of(data):
            a = known.get(number)
            if a is None:
                continue        # padding
            value = self.value(a, payload)
            if a.get("multi-attr"):
                out.setdefault(a["name"], []).append(value)
            else:
                out[a["name"]] = value
        return out

    def value(self, a, payload):
        if a["type"] == "nest":
            return self.decode(a["nested-attributes"], payload)
        if a["type"] == "string":
            return payload.rstrip(b"\0").decode()
        if a["type"] == "binary":
            return payload
        value = int.from_bytes(payload, "little")
        return self.enums[a["enum"]][value] if "enum" in a else value


class Genl:
    """A socket in the namespace that it is opened in."""

    def __init__(self, spec):
        self.spec = spec
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.setsockopt(SOL_NETLINK, CAP_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, EXT_ACK, 1)
        self.sock.bind((0, 0))
        self.seq = 0
        reply = self._request(GENL_ID_CTRL, CTRL_GETFAMILY,
                              attr(2, spec.name.encode() + b"\0"))
        family = dict(attrs_of(reply[0][4:]))
        self.id, = struct.unpack("=H", family[1])
        self.groups = {}
        for _, group in attrs_of(family.get(7, b"")):
            g = dict(attrs_of(group))
            name = g[1].rstrip(b"\0").decode()
            self.groups[name], = struct.unpack("=I", g[2])

    def subscribe(self, group):
        self.sock.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, self.groups[group])
        self.sock.setsockopt(socket.SOL_SOCKET, 33, 4 << 20)    # SO_RCVBUFFORCE

    def send(self, kind, cmd, payload, flags=0):
        self.seq += 1
        self.sock.send(struct.pack("=IHHIIBBH", 20 + len(payload), kind,
                                   NLM_F_REQUEST | NLM_F_ACK | flags, self.seq,
                                   0, cmd, 1, 0) + payload)

    def _request(self, kind, cmd, payload, flags=0):
        self.send(kind, cmd, payload, flags)
        return self.replies()

    def replies(self):
        """Messages up to the acknowledgement."""
        out = []
        while True:
            for kind, seq, body in self.messages(self.sock.recv(1 << 17)):
                if seq != self.seq:
                    continue
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    code, = struct.unpack_from("=i", body)
                    if code:
                        text = dict(attrs_of(body[20:])).get(1, b"")
                        raise NlError(-code, text.rstrip(b"\0").decode())
                    return out
                out.append(body)

    @staticmethod
    def messages(data):
        off = 0
        while off + 16 <= len(data):
            length, kind, _, seq = struct.unpack_from("=IHHI", data, off)
            yield kind, seq, data[off + 16:off + length]
            off += length + 3 & ~3

    def do(self, name, values=None, dump=False):
        op = self.spec.ops[name]
        set_name = op["attribute-set"]
        bodies = self._request(self.id, op["number"],
                               self.spec.encode(set_name, values or {}),
                               NLM_F_DUMP if dump else 0)
        out = [self.spec.decode(set_name, body[4:]) for body in bodies]
        return out if dump else out[0] if out else None

    def events(self):
        """(name, attributes) of each event that waits."""
        out = []
        while True:
            try:
                data = self.sock.recv(1 << 16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return out
            for kind, _, body in self.messages(data):
                if kind == self.id:
                    op = self.spec.by_number[body[0]]
                    out.append((op["name"], self.spec.decode(
                        op["attribute-set"], body[4:])))


def load():
    return Spec(os.environ["INC_SPEC"])
