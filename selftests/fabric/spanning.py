#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
spanning.py SOCKET stp: the agent says at once what another program than the kernel,
as mstpd, makes of a bridge's port, and that nobody is behind one that does not
forward.
"""
import socket
import struct
import subprocess
import time
from xml.etree import ElementTree

from agentbase import NS, case, connect, data, run, same, subtree

PORT, BRIDGE = "v1", "br0"
STATES = ("disabled", "listening", "learning", "forwarding", "blocking")
AT_ONCE = 5			# seconds, of a slow guest
RTM_NEWLINK, RTM_SETLINK, NLMSG_ERROR = 16, 19, 2
REQUEST_ACK = 5
IFLA_PROTINFO, IFLA_LINKINFO, IFLA_INFO_KIND, IFLA_INFO_DATA = 12, 18, 1, 2
IFLA_BR_STP_STATE, IFLA_BR_STP_MODE = 5, 50
MODE_AUTO, MODE_USER = 0, 1


def attr(kind, payload):
    return struct.pack("HH", len(payload) + 4, kind) + payload + \
        bytes(-len(payload) % 4)


def ask(kind, family, name, attrs):
    """A request about a link. Returns its errno, or 0."""
    body = struct.pack("BxHiII", family, 0, socket.if_nametoindex(name), 0,
                       0) + attrs
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        s.send(struct.pack("IHHII", 16 + len(body), kind, REQUEST_ACK, 1, 0) +
               body)
        answer = s.recv(4096)
    assert struct.unpack_from("H", answer, 4)[0] == NLMSG_ERROR
    return -struct.unpack_from("i", answer, 16)[0]


def bridge(*values):
    """Set attributes of the bridge, as u32."""
    inner = b"".join(attr(kind, struct.pack("I", v)) for kind, v in values)
    return ask(RTM_NEWLINK, socket.AF_UNSPEC, BRIDGE, attr(
        IFLA_LINKINFO, attr(IFLA_INFO_KIND, b"bridge\0") +
        attr(IFLA_INFO_DATA, inner)))


def by_mstpd(state):
    """The message that mstpd sends."""
    return ask(RTM_SETLINK, 7, PORT,	# AF_BRIDGE
               attr(IFLA_PROTINFO, bytes([state])))


def by_bridge(state):
    return subprocess.call(["bridge", "link", "set", "dev", PORT, "state",
                            str(state)])


def told(listener):
    """How long it took until the port's change was told of; None: it was not."""
    begin = time.monotonic()
    while time.monotonic() < begin + AT_ONCE:
        n = listener.take_notification(timeout=0.2)
        e = n is not None and ElementTree.fromstring(
            n.notification_xml.encode())[1]
        if n is not None and e.tag.endswith("topology-changed") and \
                e.findtext("s:interface", None, NS) == PORT:
            return time.monotonic() - begin
    return None


def port(m):
    """Its state, and who is behind it."""
    e = data(m.get(filter=subtree(
        f"<interface><name>{PORT}</name></interface>"))).find(
            ".//s:interface", NS)
    return (e.findtext("s:stp-state", None, NS),
            [a.text for a in e.findall("s:neighbour/s:address", NS)
             if "." in a.text])


def host_behind(m, addr):
    """It is seen again once it has sent something."""
    end = time.monotonic() + 20
    while port(m)[1] != [addr] and time.monotonic() < end:
        subprocess.call(["ping", "-c1", "-W1", addr],
                        stdout=subprocess.DEVNULL)
    return port(m)[1]


def goes(m, listener, how, setter, states, addr):
    for state in states:
        while listener.take_notification(timeout=0.5) is not None:
            pass
        same(f"{how}: it can be {STATES[state]}", setter(state), 0)
        took = told(listener)
        case(f"{how}: {STATES[state]}: it is told at once", took is not None,
             took)
        now = port(m)
        same(f"{how}: {STATES[state]}: its state", now[0], STATES[state])
        if STATES[state] == "forwarding":
            same(f"{how}: the host behind it is seen", host_behind(m, addr),
                 [addr])
        else:
            same(f"{how}: {STATES[state]}: nobody is behind it", now[1], [])


def part_stp(addr):
    m, listener = connect(), connect()
    listener.create_subscription()
    same("the host behind the port", host_behind(m, addr), [addr])
    # The kernel itself unblocks a port if there is no spanning tree.
    goes(m, listener, "no spanning tree", by_bridge, (2, 1, 0, 3), addr)
    # Before Linux 7.1 only bridges of the first namespace could have it.
    if bridge((IFLA_BR_STP_MODE, MODE_USER)) == 0 and \
            bridge((IFLA_BR_STP_STATE, 1)) == 0:
        with open(f"/sys/class/net/{BRIDGE}/bridge/stp_state",
                  encoding="ascii") as f:
            same("the spanning tree is another program's", f.read(), "2\n")
        goes(m, listener, "as mstpd does", by_mstpd, (4, 2, 3, 0, 4, 3), addr)
        bridge((IFLA_BR_STP_STATE, 0))
        bridge((IFLA_BR_STP_MODE, MODE_AUTO))
    else:
        case("the kernel has no STP of other programs here", True)
    by_bridge(3)
    same("at the end it forwards", port(m)[0], "forwarding")


run(globals())
