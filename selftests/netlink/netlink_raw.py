#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The generic netlink family "rdma-inc" from the other side: messages made by hand
from the YNL spec, right, wrong and broken ones. Knows nothing of inc-tool.

netlink_raw.py errors | dump | close | reply | failures | fuzz [SEED [COUNT]]

Prints one line per case: "PASS name" or "FAIL name # why".
"""
import errno
import os
import random
import socket
import struct
import sys
import time

import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
SPEC = os.path.join(ROOT, "Documentation/netlink/specs/rdma-inc.yaml")

NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLMSGERR_ATTR_MSG, NLMSGERR_ATTR_OFFS, NLMSGERR_ATTR_MISS_TYPE = 1, 2, 5
SOL_NETLINK, NETLINK_CAP_ACK, NETLINK_EXT_ACK = 270, 10, 11
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
NLA_F_NESTED = 0x8000
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
CTRL_ATTR_MCAST_GROUPS = 7
MIB = 1 << 20


def align(n):
    return (n + 3) & ~3


def nla(attr, data):
    data = bytes(data)
    raw = struct.pack("=HH", 4 + len(data), attr) + data
    return raw + bytes(align(len(raw)) - len(raw))


def parse(buf):
    """Attributes of a buffer, as a list: a number may come more than once."""
    out = []
    while len(buf) >= 4:
        length, attr = struct.unpack_from("=HH", buf)
        if length < 4 or length > len(buf):
            break
        out.append((attr & 0x3fff, buf[4:length]))
        buf = buf[align(length):]
    return out


class Spec:
    """Numbers of commands and attributes, counted as YNL does."""

    def __init__(self):
        with open(SPEC, encoding="utf-8") as f:
            spec = yaml.safe_load(f)
        self.cmd = {op["name"]: i for i, op in
                    enumerate(spec["operations"]["list"], 1)}
        self.sets = {}
        for s in spec["attribute-sets"]:
            if "subset-of" in s:
                continue        # numbered there
            self.sets[s["name"]] = {a["name"]: (i, a["type"]) for i, a in
                                    enumerate(s["attributes"], 1)}

    def encode(self, space, attrs):
        out = b""
        for name, value in attrs:
            number, kind = self.sets[space][name]
            if isinstance(value, bytes):
                out += nla(number, value)
            else:
                fmt = {"u8": "=B", "u16": "=H", "u32": "=I", "uint": "=Q"}[kind]
                out += nla(number, struct.pack(fmt, value))
        return out


SP = Spec()


class Error(Exception):
    def __init__(self, code, text, offset, missing):
        super().__init__(f"{errno.errorcode.get(code, code)}: {text}")
        self.code, self.text = code, text
        self.offset, self.missing = offset, missing


class Conn:
    def __init__(self):
        self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.s.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.s.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        self.s.settimeout(30)
        self.s.bind((0, 0))
        self.seq = 0
        name = nla(CTRL_ATTR_FAMILY_NAME, b"rdma-inc\0")
        reply = self.call(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, name)
        self.family = struct.unpack("=H",
                                    dict(reply[0])[CTRL_ATTR_FAMILY_ID])[0]
        self.groups = dict(reply[0])[CTRL_ATTR_MCAST_GROUPS]

    def send(self, kind, cmd, payload, flags=NLM_F_ACK):
        self.seq += 1
        genl = struct.pack("=BBH", cmd, 1, 0)
        self.s.send(struct.pack("=IHHII", 16 + 4 + len(payload), kind,
                                flags | NLM_F_REQUEST, self.seq, 0) +
                    genl + payload)

    def error(self, body, flags, size):
        code = -struct.unpack_from("=i", body)[0]
        tlvs = []
        if flags & NLM_F_ACK_TLVS:
            if size == 20 and not flags & NLM_F_CAPPED:
                size = 4 + align(struct.unpack_from("=I", body, 4)[0])
            tlvs = parse(body[size:])
        got = dict(tlvs)
        u32 = lambda a: struct.unpack("=I", got[a])[0] if a in got else None
        text = got.get(NLMSGERR_ATTR_MSG, b"").rstrip(b"\0").decode()
        return Error(code, text, u32(NLMSGERR_ATTR_OFFS),
                     u32(NLMSGERR_ATTR_MISS_TYPE))

    def receive(self):
        """Messages of one datagram: (type, flags, body)."""
        buf = self.s.recv(1 << 20)
        out = []
        while len(buf) >= 16:
            length, kind, flags, seq, _ = struct.unpack_from("=IHHII", buf)
            if seq == self.seq:
                out.append((kind, flags, buf[16:length]))
            buf = buf[align(length):]
        return out

    def answer(self, each=None):
        replies = []
        while True:
            for kind, flags, body in self.receive():
                if kind == NLMSG_ERROR:
                    err = self.error(body, flags, 20)
                    if err.code:
                        raise err
                    return replies
                if kind == NLMSG_DONE:
                    err = self.error(body, flags, 4)
                    if err.code:
                        raise err
                    return replies
                replies.append(parse(body[4:]))
            if each:
                each(replies)

    def call(self, kind, cmd, payload, flags=NLM_F_ACK):
        self.send(kind, cmd, payload, flags)
        return self.answer()

    def inc(self, cmd, space=None, attrs=(), flags=NLM_F_ACK):
        return self.call(self.family, SP.cmd[cmd],
                         SP.encode(space, attrs) if space else b"", flags)


def case(name, why=None):
    print(f"FAIL {name} # {why}" if why else f"PASS {name}", flush=True)


def expect(conn, name, cmd, space, attrs, code, text="", attr=None,
           missing=None,
           flags=NLM_F_ACK):
    """A request that has to fail, in just this way."""
    payload = attrs if isinstance(attrs, bytes) else SP.encode(space, attrs)
    where = None
    if attr:
        where, off = None, 20
        for number, data in parse(payload):
            if number == SP.sets[space][attr][0]:
                where = off
            off += align(4 + len(data))
    try:
        conn.call(conn.family, SP.cmd[cmd], payload, flags)
        return case(name, "it was taken")
    except Error as e:
        if e.code != code:
            return case(name, f"{e}, not {errno.errorcode[code]}")
        if text not in e.text:
            return case(name, f"said \"{e.text}\", not \"{text}\"")
        if attr and e.offset != where:
            return case(name, f"{e}: offset {e.offset}, not {where} ({attr})")
        if missing and e.missing != SP.sets[space][missing][0]:
            return case(name, f"{e}: missing {e.missing}, not {missing}")
    return case(name)


V4 = lambda s: socket.inet_pton(socket.AF_INET, s)
V6 = lambda s: socket.inet_pton(socket.AF_INET6, s)


def errors_tree(c):
    def bad(name, attrs, *args, **kw):
        expect(c, "tree-new: " + name, "tree-new", "tree", attrs, *args, **kw)

    bad("no ranks", [], errno.EINVAL, missing="ranks")
    bad("ranks 0", [("ranks", 0)], errno.ERANGE, "range", "ranks")
    bad("ranks 1025", [("ranks", 1025)], errno.ERANGE, "range", "ranks")
    bad("id 0", [("ranks", 2), ("id", 0)], errno.ERANGE, "range", "id")
    bad("id in use", [("ranks", 2), ("id", 1)], errno.EEXIST, "exists", "id")
    for n in (3, 255, 4095):
        bad(f"slots {n}", [("ranks", 2), ("slots", n)], errno.EINVAL,
            "power of two", "slots")
    bad("slots 0", [("ranks", 2), ("slots", 0)], errno.ERANGE, "range", "slots")
    bad("slots 8192", [("ranks", 2), ("slots", 8192)], errno.ERANGE, "range",
        "slots")
    for n in (65, 100, 65535):
        bad(f"msg-size {n}", [("ranks", 2), ("msg-size", n)], errno.EINVAL,
            "multiple of 64", "msg-size")
    for n in (0, 32, 65600, 1 << 31):
        bad(f"msg-size {n}", [("ranks", 2), ("msg-size", n)], errno.ERANGE,
            "range", "msg-size")
    for n in (257, 1500, 3072):
        bad(f"pmtu {n}", [("ranks", 2), ("pmtu", n)], errno.EINVAL, "pmtu has",
            "pmtu")
    for n in (0, 128, 8192):
        bad(f"pmtu {n}", [("ranks", 2), ("pmtu", n)], errno.ERANGE, "range",
            "pmtu")
    for n in (1, 2, 0xb9, 255):
        bad(f"traffic-class {n}", [("ranks", 2), ("traffic-class", n)],
            errno.EINVAL, "multiple of 4", "traffic-class")
    bad("ecn 2", [("ranks", 2), ("ecn", 2)], errno.ERANGE, "range", "ecn")
    bad("priority 16", [("ranks", 2), ("priority", 16)], errno.ERANGE, "range",
        "priority")
    bad("cnp-interval 1000001", [("ranks", 2), ("cnp-interval", 1000001)],
        errno.ERANGE, "range", "cnp-interval")
    for mask in ("collectives", "dtypes", "ops"):
        bad(f"{mask} 0", [("ranks", 2), (mask, 0)], errno.EINVAL, "empty mask",
            mask)
        bad(f"{mask} beyond", [("ranks", 2), (mask, 1 << 31)],
            errno.EOPNOTSUPP, "not offered", mask)
    for name, n in (("window", 0), ("window", 257), ("hold", 65535),
                    ("hold", (1 << 30) + 1), ("min-rto", 0),
                    ("min-rto", 10001), ("dead-time", 9),
                    ("dead-time", 600001)):
        bad(f"{name} {n}", [("ranks", 2), (name, n)], errno.ERANGE, "range",
            name)
    bad("min-rto above dead-time",
        [("ranks", 2), ("min-rto", 100), ("dead-time", 100)], errno.EINVAL,
        "has to be below", "min-rto")
    bad("read-only attribute", [("ranks", 2), ("state", 1)], errno.EINVAL,
        "Unsupported", "state")
    bad("unknown attribute", SP.encode("tree", [("ranks", 2)]) +
        nla(1000, b"\0" * 4), errno.EINVAL, "Unknown")
    bad("ranks with 1 byte", SP.encode("tree", [("ranks", b"\1")]),
        errno.EINVAL, "invalid", "ranks")
    bad("ranks with 4 bytes", SP.encode("tree", [("ranks", b"\2\0\0\0")]),
        errno.EINVAL, "invalid", "ranks")

    for cmd in ("tree-get", "tree-set", "tree-del"):
        expect(c, f"{cmd}: no id", cmd, "tree",
               [("window", 4)] if cmd == "tree-set" else [], errno.EINVAL,
               missing="id")
        expect(c, f"{cmd}: no such tree", cmd, "tree",
               [("id", 4000000000)] + ([("window", 4)] if cmd == "tree-set"
                                       else []),
               errno.ENOENT, "there is no tree 4000000000", "id")
    expect(c, "tree-set: nothing", "tree-set", "tree", [("id", 1)],
           errno.EINVAL, "nothing to change")
    expect(c, "tree-set: ranks", "tree-set", "tree", [("id", 1), ("ranks", 3)],
           errno.EINVAL, "Unsupported", "ranks")
    expect(c, "tree-set: min-rto above dead-time", "tree-set", "tree",
           [("id", 1), ("min-rto", 10000)], errno.EINVAL, "has to be below",
           "min-rto")


def errors_member(c):
    good = [("tree-id", 1), ("rank", 0), ("peer-addr", V4("10.9.0.2")),
            ("peer-qpn", 17), ("peer-psn", 0)]

    def but(name, value):
        return [(n, value if n == name else v) for n, v in good]

    def bad(name, attrs, *args, **kw):
        expect(c, "member-new: " + name, "member-new", "member", attrs, *args,
               **kw)

    for name, _ in good:
        bad(f"no {name}", [a for a in good if a[0] != name], errno.EINVAL,
            missing=name)
    bad("no such tree", but("tree-id", 77), errno.ENOENT, "no tree 77",
        "tree-id")
    bad("rank = ranks", but("rank", 2), errno.EINVAL, "has ranks 0 to 1",
        "rank")
    bad("rank 1024", but("rank", 1024), errno.ERANGE, "range", "rank")
    bad("rank taken", but("rank", 1), errno.EEXIST, "member already", "rank")
    for n in (0, 1, 0xffffff, 1 << 24):
        bad(f"peer-qpn {n:#x}", but("peer-qpn", n), errno.ERANGE, "range",
            "peer-qpn")
    bad("peer-psn 2^24", but("peer-psn", 1 << 24), errno.ERANGE, "range",
        "peer-psn")
    bad("psn 2^24", good + [("psn", 1 << 24)], errno.ERANGE, "range", "psn")
    for key in (0, 0x8000):
        bad(f"pkey {key:#x}", good + [("pkey", key)], errno.EINVAL, "pkey",
            "pkey")
    for n in (5, 15, 17, 4000):
        bad(f"peer-addr of {n} bytes", but("peer-addr", b"\1" * n),
            errno.EINVAL, "4 or 16 bytes", "peer-addr")
    for n in (0, 3):
        bad(f"peer-addr of {n} bytes", but("peer-addr", b"\1" * n),
            errno.ERANGE, "", "peer-addr")
    for addr, word in (("0.0.0.0", "unspecified"), ("224.0.0.1", "multicast"),
                       ("255.255.255.255", "broadcast")):
        bad(f"peer-addr {addr}", but("peer-addr", V4(addr)), errno.EINVAL, word,
            "peer-addr")
    for addr, word in (("::", "unspecified"), ("ff02::1", "multicast"),
                       ("fe80::1", "link-local"),
                       ("::ffff:239.1.1.1", "multicast")):
        bad(f"peer-addr {addr}", but("peer-addr", V6(addr)), errno.EINVAL, word,
            "peer-addr")
    bad("two families", good + [("local-addr", V6("fd00::1"))], errno.EINVAL,
        "one family", "local-addr")
    bad("local-addr of somebody else",
        good + [("local-addr", V4("10.9.0.3"))], errno.EADDRNOTAVAIL,
        "no address of this host", "local-addr")
    for n in (0, 1 << 31):
        bad(f"ifindex {n:#x}", good + [("ifindex", n)], errno.ERANGE, "range",
            "ifindex")
    bad("ifindex of none", good + [("ifindex", 0x7fffffff)], errno.ENODEV,
        "no interface", "ifindex")
    bad("no route", but("peer-addr", V4("192.0.2.1")), errno.ENETUNREACH,
        "route", "peer-addr")
    bad("rkey is not to be chosen", good + [("rkey", 1)], errno.EINVAL,
        "Unsupported", "rkey")

    for cmd in ("member-get", "member-del"):
        expect(c, f"{cmd}: no rank", cmd, "member", [("tree-id", 1)],
               errno.EINVAL, missing="rank")
        expect(c, f"{cmd}: no tree", cmd, "member", [("rank", 1)],
               errno.EINVAL, missing="tree-id")
        expect(c, f"{cmd}: no member", cmd, "member",
               [("tree-id", 1), ("rank", 0)], errno.ENOENT, "has no member",
               "rank")
        expect(c, f"{cmd}: rank beyond", cmd, "member",
               [("tree-id", 1), ("rank", 9)], errno.EINVAL, "has ranks", "rank")


def errors_set(c):
    """A member without a peer, and member-set."""
    good = [("tree-id", 5), ("rank", 0), ("peer-addr", V4("10.9.0.2")),
            ("peer-qpn", 17), ("peer-psn", 5), ("psn", 0xabcdef)]
    number = {n: SP.sets["member"][n][0] for n in SP.sets["member"]}

    def but(name, value):
        return [(n, value if n == name else v) for n, v in good]

    def bad(name, attrs, *args, **kw):
        expect(c, "member-set: " + name, "member-set", "member", attrs, *args,
               **kw)

    def members():
        got = dict(c.inc("tree-get", "tree", [("id", 5)])[0])
        return (got[SP.sets["tree"]["members"][0]],
                got[SP.sets["tree"]["state"][0]])

    c.inc("tree-new", "tree", [("id", 5), ("ranks", 2), ("slots", 4),
                               ("dead-time", 50)])
    made = dict(c.inc("member-new", "member", good[:2])[0])
    case("member-new without a peer: init",
         None if made[number["state"]] == b"\2" else "it is not")
    case("it has a key, and no peer",
         None if number["rkey"] in made and number["peer-qpn"] not in made and
         number["peer-addr"] not in made else f"{made}")
    case("its rank does not count", None if members() == (b"\0\0", b"\0")
         else f"{members()}")
    expect(c, "member-new: it waits already", "member-new", "member", good[:2],
           errno.EEXIST, "member already", "rank")
    for name, value in (("pkey", 0xffff), ("peer-qpn", 17),
                        ("local-addr", V4("10.9.0.1"))):
        expect(c, f"member-new: of the peer only {name}", "member-new",
               "member", [("tree-id", 5), ("rank", 1), (name, value)],
               errno.EINVAL, missing="peer-addr")
    for name, _ in good[:-1]:
        bad(f"no {name}", [a for a in good if a[0] != name], errno.EINVAL,
            missing=name)
    bad("no such tree", but("tree-id", 77), errno.ENOENT, "no tree 77",
        "tree-id")
    bad("no such member", but("rank", 1), errno.ENOENT, "has no member", "rank")
    bad("rank = ranks", but("rank", 2), errno.EINVAL, "has ranks 0 to 1",
        "rank")
    for n in (1, 0xffffff):
        bad(f"peer-qpn {n:#x}", but("peer-qpn", n), errno.ERANGE, "range",
            "peer-qpn")
    for name in ("peer-psn", "psn"):
        bad(f"{name} 2^24", but(name, 1 << 24), errno.ERANGE, "range", name)
    bad("pkey 0x8000", good + [("pkey", 0x8000)], errno.EINVAL, "pkey", "pkey")
    bad("peer-addr multicast", but("peer-addr", V4("224.0.0.1")), errno.EINVAL,
        "multicast", "peer-addr")
    bad("local-addr of somebody else", good + [("local-addr", V4("10.9.0.3"))],
        errno.EADDRNOTAVAIL, "no address of this host", "local-addr")
    bad("no route", but("peer-addr", V4("192.0.2.1")), errno.ENETUNREACH,
        "no route", "peer-addr")
    for name, value in (("qpn", 0x800005), ("transport", 0), ("rkey", 1)):
        bad(f"{name} is not for it", good + [(name, value)], errno.EINVAL,
            "Unsupported", name)
    now = dict(c.inc("member-get", "member", good[:2])[0])
    case("refused, it is as before",
         None if all(now[number[n]] == made[number[n]]
                     for n in ("state", "qpn", "rkey", "psn"))
         else f"{now}")

    got = dict(c.inc("member-set", "member", good)[0])
    case("member-set: connected, with its own PSN and the same key",
         None if got[number["state"]] == b"\0" and
         got[number["rkey"]] == made[number["rkey"]] and
         got[number["qpn"]] == made[number["qpn"]] and
         struct.unpack("=I", got[number["psn"]]) == (0xabcdef,) and
         struct.unpack("=I", got[number["tx-psn"]]) == (0xabcdef,) and
         struct.unpack("=I", got[number["rx-psn"]]) == (5,) else f"{got}")
    case("now its rank counts", None if members() == (b"\1\0", b"\0")
         else f"{members()}")
    bad("twice", good, errno.EISCONN, "has its peer already", "rank")

    c.inc("member-new", "member", but("rank", 1)[:2])
    c.call(c.family, SP.cmd["member-del"],
           SP.encode("member", but("rank", 1)[:2]))
    case("one that waits can be deleted", None if members() ==
         (b"\1\0", b"\0") else f"{members()}")
    made = dict(c.inc("member-new", "member", but("rank", 1)[:2])[0])
    got = dict(c.inc("member-set", "member", but("rank", 1)[:-1])[0])
    case("without psn it keeps the one that it got", None
         if got[number["psn"]] == made[number["psn"]] else f"{got}")
    case("with the last one the tree is ready", None if members() ==
         (b"\2\0", b"\1") else f"{members()}")
    c.inc("tree-del", "tree", [("id", 5)])


def errors_transport(c):
    good = [("tree-id", 3), ("rank", 0), ("peer-addr", V4("10.9.0.2")),
            ("peer-qpn", 17), ("peer-psn", 0), ("transport", 1)]
    c.inc("tree-new", "tree", [("id", 3), ("ranks", 2), ("slots", 4),
                               ("msg-size", 2048), ("pmtu", 1024),
                               ("below", 0), ("below", 2), ("dead-time", 50)])
    for n in (2, 255):
        expect(c, f"member-new: transport {n}", "member-new", "member",
               good[:-1] + [("transport", n)], errno.ERANGE, "range",
               "transport")
    expect(c, "member-new: transport of 4 bytes", "member-new", "member",
           good[:-1] + [("transport", bytes(4))], errno.EINVAL, "invalid",
           "transport")
    expect(c, "member-new: UC, messages of two packets", "member-new", "member",
           good, errno.EMSGSIZE, "msg-size is 2048, pmtu 1024", "transport")
    expect(c, "member-new: UC, and it is a switch", "member-new", "member",
           [a if a[0] != "rank" else ("rank", 1) for a in good],
           errno.EOPNOTSUPP, "needs transport rc", "transport")
    c.inc("tree-del", "tree", [("id", 3)])
    c.inc("tree-new", "tree", [("id", 3), ("ranks", 1), ("slots", 4),
                               ("msg-size", 1024), ("pmtu", 1024)])
    got = dict(c.inc("member-new", "member", good)[0])
    want = SP.sets["member"]
    case("member-new: UC is UC",
         None if got[want["transport"][0]] == b"\1" else "it is not")
    missing = [n for n in want if want[n][0] not in got and
               n not in ("error", "ifindex", "peer-tree-id", "peer-rkey")]
    case("it replies with all that is known, over UC, too",
         f"lacks {missing}" if missing else None)
    c.inc("tree-del", "tree", [("id", 3)])


def errors_parent(c):
    good = [("tree-id", 4), ("peer-tree-id", 7), ("peer-addr", V4("10.9.0.2")),
            ("peer-qpn", 0x800001), ("peer-psn", 5), ("peer-rkey", 9)]

    def but(name, value):
        return [(n, value if n == name else v) for n, v in good]

    def bad(name, attrs, *args, **kw):
        expect(c, "parent-set: " + name, "parent-set", "member", attrs, *args,
               **kw)

    def levels(name, attrs, text, attr):
        expect(c, "tree-new: " + name, "tree-new", "tree", attrs, errno.EINVAL,
               text, attr)

    c.inc("tree-new", "tree", [("id", 4), ("ranks", 2), ("slots", 4),
                               ("job-ranks", 4), ("dead-time", 50)])
    for name, _ in good:
        bad(f"no {name}", [a for a in good if a[0] != name], errno.EINVAL,
            missing=name)
    bad("no such tree", but("tree-id", 77), errno.ENOENT, "no tree 77",
        "tree-id")
    bad("no leaf", but("tree-id", 1), errno.ENOENT, "made without job-ranks",
        "tree-id")
    bad("peer-tree-id 0", but("peer-tree-id", 0), errno.ERANGE, "range",
        "peer-tree-id")
    for n in (1, 0xffffff):
        bad(f"peer-qpn {n:#x}", but("peer-qpn", n), errno.ERANGE, "range",
            "peer-qpn")
    bad("peer-psn 2^24", but("peer-psn", 1 << 24), errno.ERANGE, "range",
        "peer-psn")
    bad("peer-addr multicast", but("peer-addr", V4("224.0.0.1")), errno.EINVAL,
        "multicast", "peer-addr")
    bad("pkey 0x8000", good + [("pkey", 0x8000)], errno.EINVAL, "pkey", "pkey")
    bad("local-addr of somebody else", good + [("local-addr", V4("10.9.0.3"))],
        errno.EADDRNOTAVAIL, "no address of this host", "local-addr")
    bad("no route", but("peer-addr", V4("192.0.2.1")), errno.ENETUNREACH,
        "no route to the parent", "peer-addr")
    for name, value, why in (("rank", 0, "Unsupported"),
                             ("psn", 1, "Unsupported"),
                             ("qpn", 0x800005, "Unsupported"),
                             ("transport", 1, "Unsupported")):
        bad(f"{name} is not for it", good + [(name, value)], errno.EINVAL, why,
            name)
    state = SP.sets["member"]["state"][0]
    got = dict(c.inc("parent-get", "member", [("tree-id", 4)])[0])
    case("parent-get: not connected yet",
         None if got[state] == b"\2" else got[state].hex())
    got = dict(c.inc("parent-set", "member", good)[0])
    want = SP.sets["member"]
    missing = [n for n in want if want[n][0] not in got and
               n not in ("error", "rank", "ifindex")]
    case("parent-set replies with all that is known",
         f"lacks {missing}" if missing else None)
    case("parent-set: connected",
         None if got[state] == b"\0" else got[state].hex())
    bad("twice", good, errno.EISCONN, "has its parent already", "tree-id")
    expect(c, "parent-get: no tree-id", "parent-get", "member", [],
           errno.EINVAL,
           missing="tree-id")
    expect(c, "parent-get: no leaf", "parent-get", "member", [("tree-id", 1)],
           errno.ENOENT, "has no parent", "tree-id")
    c.inc("tree-del", "tree", [("id", 4)])

    levels("first-rank of a root", [("ranks", 2), ("first-rank", 1)],
           "needs job-ranks", "first-rank")
    levels("more ranks than all", [("ranks", 3), ("first-rank", 2),
                                   ("job-ranks", 4)],
           "ranks 2 to 4: there are no more than 4", "job-ranks")
    levels("below of some", [("ranks", 3), ("job-ranks", 9), ("below", 2)],
           "below is given for 1 of 3 members", "below")
    levels("below of more", [("ranks", 1), ("job-ranks", 9), ("below", 2),
                             ("below", 2)],
           "below is given for 2 of 1 members", "below")
    levels("more below than all", [("ranks", 2), ("job-ranks", 5), ("below", 4),
                                   ("below", 4)], "no more than 5", "job-ranks")
    levels("a root with one switch", [("ranks", 1), ("below", 4)],
           "two members at least", "below")
    for name, n in (("job-ranks", 0), ("job-ranks", 1025), ("first-rank", 1024),
                    ("below", 1025)):
        expect(c, f"tree-new: {name} {n}", "tree-new", "tree",
               [("ranks", 2), (name, n)], errno.ERANGE, "range", name)


def errors_rest(c):
    expect(c, "slot-get: no index", "slot-get", "slot", [("tree-id", 1)],
           errno.EINVAL, missing="index")
    expect(c, "slot-get: no tree", "slot-get", "slot", [("index", 1)],
           errno.EINVAL, missing="tree-id")
    expect(c, "slot-get: index beyond", "slot-get", "slot",
           [("tree-id", 1), ("index", 16)], errno.EINVAL, "has slots 0 to 15",
           "index")
    expect(c, "switch-set: nothing", "switch-set", "switch", [], errno.EINVAL,
           missing="memory-limit")
    for space in ("member", "slot"):
        expect(c, f"{space} dump of no tree", f"{space}-get", space,
               [("tree-id", 77)], errno.ENOENT, "no tree 77",
               flags=NLM_F_DUMP)
        expect(c, f"{space} dump with too much", f"{space}-get", space,
               [("tree-id", 1), ("rank" if space == "member" else "index", 0)],
               errno.EINVAL, "Unknown", flags=NLM_F_DUMP)
    for cmd in ("switch-get", "tree-new", "tree-del"):
        try:
            c.call(c.family, SP.cmd[cmd], b"", NLM_F_DUMP)
            case(f"dump of {cmd}", "it was taken")
        except Error as e:
            case(f"dump of {cmd}",
                 None if e.code == errno.EOPNOTSUPP else str(e))
    try:
        c.call(c.family, 200, b"")
        case("command 200", "it was taken")
    except Error as e:
        case("command 200", None if e.code == errno.EOPNOTSUPP else str(e))


def errors():
    c = Conn()
    c.inc("tree-new", "tree", [("id", 1), ("ranks", 2), ("slots", 16),
                               ("dead-time", 50)])
    reply = c.inc("member-new", "member",
                  [("tree-id", 1), ("rank", 1), ("peer-addr", V4("10.9.0.2")),
                   ("peer-qpn", 17), ("peer-psn", 0xffffff), ("psn", 0),
                   ("ifindex", socket.if_nametoindex("v0"))])
    got = dict(reply[0])
    want = SP.sets["member"]
    missing = [n for n in want if want[n][0] not in got and
               n not in ("error", "peer-tree-id", "peer-rkey")]
    case("member-new replies with all that is known",
         f"lacks {missing}" if missing else None)
    errors_tree(c)
    errors_member(c)
    errors_members(c)
    errors_set(c)
    errors_transport(c)
    errors_parent(c)
    errors_rest(c)
    c.inc("tree-del", "tree", [("id", 1)])


def dump():
    """Trees come and go while they are dumped; those that stay come once."""
    c, other = Conn(), Conn()
    stay = list(range(10, 400, 3))
    for i in stay:
        other.inc("tree-new", "tree", [("id", i), ("ranks", 1), ("slots", 1),
                                       ("msg-size", 64)])
    extra = {"n": 0}

    def meddle(_replies):
        extra["n"] += 1
        other.inc("tree-new", "tree",
                  [("id", 1000 + extra["n"]), ("ranks", 1), ("slots", 1),
                   ("msg-size", 64)])
        other.inc("tree-del", "tree", [("id", stay.pop())])

    c.send(c.family, SP.cmd["tree-get"], b"", NLM_F_DUMP)
    ids = [struct.unpack("=I", dict(r)[1])[0] for r in c.answer(meddle)]
    case("the dump took more than one message",
         None if extra["n"] > 1 else f"{extra['n']}")
    case("no tree comes twice",
         None if len(ids) == len(set(ids)) else "some do")
    lost = set(stay) - set(ids)
    case("no tree that stays is left out", f"{sorted(lost)}" if lost else None)
    case("in the order of their IDs", None if ids == sorted(ids) else "no")
    for r in other.inc("tree-get", flags=NLM_F_DUMP):
        other.call(other.family, SP.cmd["tree-del"], nla(1, dict(r)[1]))
    case("all gone", None if not other.inc("tree-get", flags=NLM_F_DUMP)
         else "some are left")


def kernel_memory():
    with open("/proc/meminfo", encoding="ascii") as f:
        return next(int(line.split()[1]) << 10 for line in f
                    if line.startswith("SUnreclaim:"))


def give_up(cmd, read):
    """
    A socket that is closed in the middle of a dump: after the first of its
    messages, or when the first has found no room beside answers that nobody
    reads.
    """
    d = Conn()
    if not read:
        d.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        for _ in range(8):
            d.send(d.family, SP.cmd["switch-get"], b"")
    d.send(d.family, SP.cmd[cmd], b"", NLM_F_DUMP)
    ended = read and any(kind in (NLMSG_DONE, NLMSG_ERROR)
                         for kind, _, _ in d.receive())
    d.s.close()
    return ended


def close():
    """Dumps that nobody reads to their end."""
    c = Conn()
    trees = range(1, 400)
    for i in trees:
        c.inc("tree-new", "tree", [("id", i), ("ranks", 2), ("slots", 2),
                                   ("msg-size", 64)])
        c.inc("member-new", "member", [("tree-id", i), ("rank", 0)])
    for cmd in ("tree-get", "member-get"):
        ended = sum(give_up(cmd, True) for _ in range(20))
        case(f"{cmd}: given up after its first message",
             f"{ended} of 20 had ended" if ended else None)
    for cmd in ("tree-get", "member-get", "slot-get"):
        for _ in range(20):
            give_up(cmd, False)
        # A leak grows each time; what others take meanwhile does not.
        for _ in range(3):
            before = kernel_memory()
            for _ in range(500):
                give_up(cmd, False)
            more = kernel_memory() - before
            if more <= MIB:
                break
        case(f"{cmd}: given up before that, leaves no memory behind",
             f"{more} bytes" if more > MIB else None)
    owner_leaves(c)
    for i in trees:
        c.inc("tree-del", "tree", [("id", i)])
    strangers()


def owner_leaves(c):
    """A socket that has trees of its own, closed in the middle of a dump."""
    d = Conn()
    for i in range(1000, 1020):
        d.inc("tree-new", "tree", [("id", i), ("ranks", 1), ("slots", 1),
                                   ("msg-size", 64), ("owned", 1)])
    d.send(d.family, SP.cmd["tree-get"], b"", NLM_F_DUMP)
    d.s.close()
    ids = {struct.unpack("=I", dict(r)[1])[0]
           for r in c.inc("tree-get", flags=NLM_F_DUMP)}
    case("its own trees end with a socket, and no others",
         None if ids == set(range(1, 400)) else f"{len(ids)} are left")


def time_closes(count=200):
    """The shortest time that a close of somebody's socket takes, in ns."""
    best = 1 << 60
    for _ in range(count):
        s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        s.bind((0, 0))
        start = time.perf_counter_ns()
        s.close()
        best = min(best, time.perf_counter_ns() - start)
    return best


def strangers(trees=3000):
    """A socket that never made a tree is closed without a look at others'."""
    c = Conn()
    few = time_closes()
    for i in range(1, trees + 1):
        c.inc("tree-new", "tree", [("id", i), ("ranks", 1), ("slots", 1),
                                   ("msg-size", 64)])
    many = time_closes()
    for i in range(1, trees + 1):
        c.inc("tree-del", "tree", [("id", i)])
    print(f"# a close takes {few} ns, beside {trees} trees {many} ns")
    case("a stranger's socket is closed as quickly beside many trees",
         None if many < 4 * few else f"{few} ns, then {many} ns")


def junk_attr(rnd, depth=0):
    attr = rnd.choice([rnd.randrange(32), rnd.randrange(65536)])
    what = rnd.random()
    if what < 0.4:
        data = rnd.randbytes(rnd.choice([0, 1, 2, 4, 8, 16, 17]))
    elif what < 0.6:
        data = struct.pack("=I", rnd.choice([0, 1, 2, 16, 64, 1024, 4096,
                                             0xffffffff]))
    elif what < 0.8 and depth < 5:
        data = b"".join(junk_attr(rnd, depth + 1)
                        for _ in range(rnd.randrange(4)))
        attr |= rnd.choice([0, 0x8000])
    else:
        data = rnd.randbytes(rnd.randrange(200))
    raw = bytearray(nla(attr & 0xffff, data))
    if rnd.random() < 0.1:
        struct.pack_into("=H", raw, 0, rnd.choice([0, 1, 3, 5, 0xffff,
                                                   rnd.randrange(65536)]))
    return bytes(raw)


def plausible(rnd):
    """A request that is nearly right."""
    cmd = rnd.choice(list(SP.cmd))
    space = cmd.split("-")[0].replace("parent", "member")
    attrs = b""
    for name, (number, kind) in SP.sets[space].items():
        if rnd.random() < 0.5:
            continue
        if kind in ("u8", "u16", "u32", "uint"):
            size = {"u8": 1, "u16": 2, "u32": 4, "uint": 8}[kind]
            value = rnd.choice([0, 1, 2, 4, 16, 64, 256, 1024, 65536,
                                rnd.getrandbits(8 * size)])
            attrs += nla(number, (value & ((1 << 8 * size) - 1))
                         .to_bytes(size, sys.byteorder))
        else:
            attrs += nla(number, rnd.choice([V4("10.9.0.2"), V6("fd00::2"),
                                             V4("10.9.0.1"), b""]))
    return SP.cmd[cmd], attrs


def fuzz(seed, count):
    print(f"# seed {seed}, {count} messages", flush=True)
    rnd = random.Random(seed)
    c = Conn()
    c.inc("switch-set", "switch", [("memory-limit", 4 << 20)])
    c.s.setblocking(False)
    for _ in range(count):
        if rnd.random() < 0.5:
            cmd, payload = plausible(rnd)
        else:
            cmd = rnd.choice([rnd.randrange(1, 24), rnd.randrange(256)])
            payload = b"".join(junk_attr(rnd) for _ in range(rnd.randrange(6)))
        flags = rnd.choice([NLM_F_ACK, 0, NLM_F_DUMP, rnd.getrandbits(16)])
        raw = bytearray(struct.pack("=IHHII", 20 + len(payload), c.family,
                                    flags | NLM_F_REQUEST, 1, 0) +
                        struct.pack("=BBH", cmd, rnd.randrange(3), 0) + payload)
        if rnd.random() < 0.1:
            struct.pack_into("=I", raw, 0, rnd.choice(
                [0, 15, 16, 17, 19, 20, 0xffffffff, rnd.randrange(100)]))
        if rnd.random() < 0.05:
            raw = raw[:rnd.randrange(len(raw) + 1)]
        try:
            if raw:
                c.s.send(raw)
        except OSError:
            pass
        try:
            while True:
                c.s.recv(1 << 16)
        except OSError:
            pass
    c = Conn()
    c.inc("switch-get")
    case("the family still answers")
    for r in c.inc("tree-get", flags=NLM_F_DUMP):
        c.call(c.family, SP.cmd["tree-del"], nla(1, dict(r)[1]))
    got = dict(c.inc("switch-get")[0])
    used = got[SP.sets["switch"]["memory-used"][0]]
    case("all memory came back", None if not any(used) else f"{used.hex()}")
    c.inc("switch-set", "switch", [("memory-limit", 1 << 30)])


def several(tree, ranks, **more):
    """The attributes of members-new."""
    def one(rank):
        attrs = {"rank": rank, "peer-addr": V4("10.9.0.2"), "peer-qpn": 17,
                 "peer-psn": 3, **more}
        return SP.encode("member", attrs.items())
    known = SP.sets["members"]
    return SP.encode("members", [("tree-id", tree)]) + b"".join(
        nla(known["member"][0] | NLA_F_NESTED, one(r)) for r in ranks)


def ranks_made(reply):
    """Those of a reply to members-new, as they are there."""
    number = SP.sets["members"]["made"][0]
    return [dict(parse(nest))[SP.sets["member"]["rank"][0]]
            for attr, nest in reply if attr == number]


def errors_members(c):
    cmd = SP.cmd["members-new"]

    def bad(name, payload, code, text="", left=None):
        try:
            c.call(c.family, cmd, payload)
            case("members-new: " + name, "no error")
        except Error as e:
            case("members-new: " + name, None if e.code == code and
                 text in e.text else str(e))
        got = there("member-get", "member", "rank")
        case(f"members-new: {name}: none is made",
             None if got == left else f"{got}")

    c.inc("tree-new", "tree", [("id", 600), ("ranks", 300), ("slots", 1)])
    left = there("member-get", "member", "rank")
    number = SP.sets["members"]["member"][0]
    bad("none", several(600, []), errno.EINVAL, left=left)
    bad("no tree", several(600, [1])[8:], errno.EINVAL, left=left)
    bad("another tree", several(601, [1]), errno.ENOENT, "no tree 601", left)
    bad("one twice", several(600, [30, 31, 30]), errno.EEXIST,
        "rank 30: rank has a member already", left)
    bad("a rank too large", several(600, [30, 31, 300]), errno.EINVAL,
        "rdma_inc: rank 300: tree 600 has ranks 0 to 299", left)
    bad("no rank", several(600, [30]) + nla(number | NLA_F_NESTED, b""),
        errno.EINVAL, left=left)
    bad("out of range", several(600, [30, 1024]), errno.ERANGE, "range", left)
    bad("not nested", several(600, [30]) + nla(number, b""), errno.EINVAL,
        left=left)
    bad("with an R_Key", several(600, [30], rkey=5), errno.EINVAL, left=left)
    bad("with a tree of its own", several(600, [30], **{"tree-id": 600}),
        errno.EINVAL, left=left)
    # What counts is the last one, also when it is taken back.
    def twice(first, last):
        attrs = [("rank", first), ("peer-addr", V4("10.9.0.2")),
                 ("peer-qpn", 17), ("peer-psn", 3), ("rank", last)]
        return nla(number | NLA_F_NESTED, SP.encode("member", attrs))
    bad("two ranks in one", several(600, []) + twice(40, 41) +
        several(600, [1024])[8:], errno.ERANGE, "range", left)
    c.call(c.family, cmd, several(600, [40]))
    bad("and one of them is there", several(600, []) + twice(40, 41) +
        several(600, [1024])[8:], errno.ERANGE, "range",
        there("member-get", "member", "rank"))
    c.inc("member-del", "member", [("tree-id", 600), ("rank", 40)])
    bad("129", several(600, range(129)), errno.E2BIG, "at most 128", left)
    want = list(range(127, -1, -1))
    made = [struct.unpack("=H", r)[0] for r in
            ranks_made(c.call(c.family, cmd, several(600, want))[0])]
    case("members-new: 128, in their order", None if made == want else f"{made}")
    c.inc("tree-del", "tree", [("id", 600)])


def one_fails(nth, cmd, payload, tells):
    """A request during which the nth allocation fails: what it tells of, and if
    there were that many."""
    c = Conn()
    c.s.settimeout(0.5)
    told, acked = set(), False
    path = "/proc/thread-self/fail-nth"
    with open(path, "rb", buffering=0) as left, \
            open(path, "wb", buffering=0) as fail:
        try:
            fail.write(b"%d" % nth)
            c.send(c.family, SP.cmd[cmd], payload)
        except OSError:
            pass
        reached = int(left.read().strip(b"\0\n")) == 0
        fail.write(b"0")
    while not acked:
        try:
            body = c.s.recv(1 << 16)
        except socket.timeout:
            break
        except OSError:
            continue
        kind = struct.unpack_from("=H", body, 4)[0]
        acked = kind == NLMSG_ERROR
        if kind == c.family:
            told.update(tells(parse(body[20:])))
    return told, reached


def there(cmd, space, wanted):
    return {dict(r)[SP.sets[space][wanted][0]]
            for r in Conn().inc(cmd, flags=NLM_F_DUMP)}


def failures():
    """Each allocation of a request fails once: what was made is told."""
    tree = [("ranks", 3), ("slots", 2), ("job-ranks", 9), ("below", 0),
            ("below", 2), ("below", 0)]
    bad = reached = made = 0
    for nth in range(1, 500):
        told, yes = one_fails(nth, "tree-new", SP.encode("tree", tree),
                              lambda r: [dict(r)[SP.sets["tree"]["id"][0]]])
        now = there("tree-get", "tree", "id")
        bad += told != now
        made += bool(told)
        reached += yes
        for number in now:
            c = Conn()
            c.call(c.family, SP.cmd["tree-del"], nla(1, number))
        if not yes:
            break
    case(f"tree-new: {reached} allocations fail, {made} times it is made",
         None if reached > 10 and made else "")
    case("tree-new: it tells each time", f"{bad} times not" if bad else None)

    Conn().inc("tree-new", "tree", [("id", 500), ("ranks", 500), ("slots", 2)])
    bad = reached = made = 0
    all_told = set()
    for nth in range(1, 500):
        told, yes = one_fails(nth, "member-new", SP.encode("member", [
            ("tree-id", 500), ("rank", nth), ("peer-addr", V4("10.9.0.2")),
            ("peer-qpn", 17), ("peer-psn", 3)]),
            lambda r: [dict(r)[SP.sets["member"]["rank"][0]]])
        made += bool(told)
        reached += yes
        all_told |= told
        bad += all_told != there("member-get", "member", "rank")
        if not yes:
            break
    case(f"member-new: {reached} allocations fail, {made} times it is made",
         None if reached > 5 and made else "")
    case("member-new: it tells each time", f"{bad} times not" if bad else None)
    c = Conn()
    c.call(c.family, SP.cmd["tree-del"], nla(1, struct.pack("=I", 500)))

    Conn().inc("tree-new", "tree", [("id", 501), ("ranks", 1024), ("slots", 2)])
    bad = reached = made = 0
    all_told = set()
    for nth in range(1, 300):
        told, yes = one_fails(nth, "members-new",
                              several(501, range(3 * nth, 3 * nth + 3)),
                              ranks_made)
        made += bool(told)
        reached += yes
        all_told |= told
        bad += len(told) not in (0, 3)
        bad += all_told != there("member-get", "member", "rank")
        if not yes:
            break
    case(f"members-new: {reached} allocations fail, {made} times they are made",
         None if reached > 10 and made else "")
    case("members-new: it tells of all each time",
         f"{bad} times not" if bad else None)
    c = Conn()
    c.call(c.family, SP.cmd["tree-del"], nla(1, struct.pack("=I", 501)))


def reply():
    """Makes trees and members and does not read what it is told of them, until
    there is no room left: each that was made is told."""
    def unread(cmd, space, requests, wanted):
        c = Conn()
        c.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
        for attrs in requests:
            c.send(c.family, SP.cmd[cmd], SP.encode(space, attrs), 0)
        c.s.settimeout(0.2)
        told = set()
        while True:
            try:
                body = c.s.recv(1 << 16)
            except socket.timeout:
                break
            except OSError:
                continue    # ENOBUFS, once
            if struct.unpack_from("=H", body, 4)[0] == c.family:
                told.add(dict(parse(body[20:]))[SP.sets[space][wanted][0]])
        made = there(cmd.replace("new", "get"), space, wanted)
        case(f"{cmd}: some are told, some are not",
             None if 0 < len(told) < len(requests) else f"{len(told)}")
        case(f"{cmd}: those that are told are there, and no others",
             None if told == made else f"{len(told)}, {len(made)}")

    unread("tree-new", "tree", [[("ranks", 2), ("slots", 1)]] * 200, "id")
    c = Conn()
    for r in c.inc("tree-get", flags=NLM_F_DUMP):
        c.call(c.family, SP.cmd["tree-del"], nla(1, dict(r)[1]))
    c.inc("tree-new", "tree", [("id", 500), ("ranks", 200), ("slots", 1)])
    unread("member-new", "member",
           [[("tree-id", 500), ("rank", i), ("peer-addr", V4("10.9.0.2")),
             ("peer-qpn", 17), ("peer-psn", 3)] for i in range(200)], "rank")
    c.call(c.family, SP.cmd["tree-del"], nla(1, struct.pack("=I", 500)))
    complete()


def complete():
    """The same for members that complete their trees: none is ready, and takes
    messages, whose members were taken back."""
    events, c, number = Conn(), Conn(), SP.sets["tree"]["id"][0]
    events.s.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)     # SO_RCVBUFFORCE
    groups = [dict(parse(nest)) for _, nest in parse(events.groups)]
    events.s.setsockopt(SOL_NETLINK, 1, struct.unpack(      # ADD_MEMBERSHIP
        "=I", next(g[2] for g in groups if g[1] == b"events\0"))[0])
    ids = range(600, 700)
    for i in ids:
        c.inc("tree-new", "tree", [("id", i), ("ranks", 1), ("slots", 1)])
    d = Conn()
    d.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 20000)
    for i in ids:
        d.send(d.family, SP.cmd["members-new"], several(i, [0]), 0)
    there_now = {struct.unpack("=I", t)[0]
                 for t in there("member-get", "member", "tree-id")}
    for i in ids:
        c.call(c.family, SP.cmd["tree-del"], nla(1, struct.pack("=I", i)))
    ready, gone = set(), set()
    while len(gone) < len(ids):
        buf = events.s.recv(1 << 16)
        if buf[16] == SP.cmd["tree-ready-ntf"]:
            ready.add(struct.unpack("=I", dict(parse(buf[20:]))[number])[0])
        if buf[16] == SP.cmd["tree-del-ntf"]:
            gone.add(dict(parse(buf[20:]))[number])
    case("members-new: some trees are complete, some are not",
         None if 0 < len(there_now) < len(ids) else f"{len(there_now)}")
    case("members-new: those are ready, and no others ever were",
         None if ready == there_now else f"{len(ready)}, {len(there_now)}")


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "errors":
        errors()
    elif what == "dump":
        dump()
    elif what == "close":
        close()
    elif what == "reply":
        reply()
    elif what == "failures":
        failures()
    elif what == "fuzz":
        given = len(sys.argv) > 2
        seed = int(sys.argv[2], 0) if given else random.getrandbits(32)
        fuzz(seed, int(sys.argv[3]) if len(sys.argv) > 3 else 20000)
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)


main()
