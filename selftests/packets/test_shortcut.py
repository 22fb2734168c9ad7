# SPDX-License-Identifier: GPL-2.0
"""Packets that are taken before their bridge, and when they may not be."""
import errno
import json
import socket
import struct
import subprocess

import counters
import peer
from ktap import SLOW, check, expect, test
from net import ETH_P_IP, ETH_P_IPV6, in_ns
from roce import build
from test_ingress import cmd, undone

AF_BRIDGE, RTM_DELNEIGH, NTF_MASTER, NDA_LLADDR = 7, 29, 4, 2
NLM_F_REQUEST, NLM_F_ACK = 1, 4
SOON = 0.1              # the shortcut is closed by then
MANY = 20


class Fdb:
    """What br0 knows of a host's MAC address."""

    def __init__(self, lab, port, mac=None):
        self.lab, self.mac = lab, mac or port.mac
        self.text = ":".join("%02x" % b for b in self.mac)
        self.home = "v%d" % lab.ports.index(port)
        with in_ns(lab.sw_ns):
            self.nl = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
            self.index = socket.if_nametoindex(self.home)

    def port(self):
        out = subprocess.run(["bridge", "-n", self.lab.sw_ns, "-j", "fdb",
                              "show", "br", "br0"], check=True,
                             stdout=subprocess.PIPE).stdout
        return next((e["ifname"] for e in json.loads(out)
                     if e["mac"] == self.text and "vlan" not in e), None)

    def forget(self):
        """As "bridge fdb del", but in no time."""
        body = struct.pack("=BxxxiHBBHH6sxx", AF_BRIDGE, self.index, 0,
                           NTF_MASTER, 0, 10, NDA_LLADDR, self.mac)
        self.nl.send(struct.pack("=IHHII", 16 + len(body), RTM_DELNEIGH,
                                 NLM_F_REQUEST | NLM_F_ACK, 0, 0) + body)
        err, = struct.unpack_from("=i", self.nl.recv(4096), 16)
        check(err in (0, -errno.ENOENT), "deleting an FDB entry: %d" % err)


def shortcut_open(a, fdb, packet):
    """Is a packet taken before the bridge, right after another one?"""
    a.send(packet)
    fdb.forget()
    a.send(packet)
    return fdb.port() is None


def prepared(lab, t):
    """A member, a packet of it that may come again and again, and the FDB."""
    t.good()
    a = t.m[0]
    packet, = a.request(1, peer.ints([1]))
    a.send(packet)
    return a, packet, Fdb(lab, a.port)


@test("shortcut: most packets are taken before the bridge, some go through it")
def taken(lab, family):
    with lab.tree(family=family) as t:
        a, packet, fdb = prepared(lab, t)
        tries = [shortcut_open(a, fdb, packet) for _ in range(MANY * SLOW)]
        check(any(tries), "the bridge learned the sender of each packet")
        lab.wait(SOON * SLOW)
        a.send(packet)
        expect("port of the sender", fdb.port(), fdb.home)


@test("shortcut: a bridge that filters VLANs sees all packets")
def vlans(lab, family):
    with lab.tree(family=family) as t, undone(
            lab, "ip link set br0 type bridge vlan_filtering 1"
            " vlan_stats_enabled 1",
            "ip link set br0 type bridge vlan_filtering 0"
            " vlan_stats_enabled 0"):
        a = t.m[0]
        t.good()
        packet, = a.request(1, peer.ints([1]))
        before = count_vlan(lab)
        for _ in range(MANY):
            a.send(packet)
        lab.quiet()
        check(count_vlan(lab) - before >= MANY,
              "the bridge has counted %d of %d packets" %
              (count_vlan(lab) - before, MANY))


def count_vlan(lab):
    """Packets of VLAN 1 that br0 has received."""
    out = subprocess.run(["bridge", "-n", lab.sw_ns, "-j", "-s", "vlan",
                          "show"], check=True, stdout=subprocess.PIPE).stdout
    return sum(v["rx_packets"] for e in json.loads(out)
               if e["ifname"] == "br0" for v in e["vlans"] if v["vid"] == 1)


@test("shortcut: another hook in the bridge's input sees all packets")
def hooked(lab, family):
    rules = "add table bridge inc_test; add chain bridge inc_test in " \
            "{ type filter hook input priority 0; }; " \
            "add rule bridge inc_test in counter"
    with lab.tree(family=family) as t:
        a, packet, _ = prepared(lab, t)
        with undone(lab, "true", "nft delete table bridge inc_test"):
            subprocess.run(["ip", "netns", "exec", lab.sw_ns, "nft", rules],
                           check=True)
            a.send(packet)
            lab.wait(SOON)
            before = count_hook(lab)
            for _ in range(MANY):
                a.send(packet)
            lab.quiet()
            check(count_hook(lab) - before >= MANY,
                  "it has seen %d of %d packets" %
                  (count_hook(lab) - before, MANY))


def count_hook(lab):
    out = subprocess.run(["ip", "netns", "exec", lab.sw_ns, "nft", "-j",
                          "list", "table", "bridge", "inc_test"], check=True,
                         stdout=subprocess.PIPE).stdout
    return next(e["counter"]["packets"]
                for r in json.loads(out)["nftables"] if "rule" in r
                for e in r["rule"]["expr"] if "counter" in e)


@test("shortcut: the bridge's device counts all packets")
def counted(lab, family):
    def bridge_rx():
        out = subprocess.run(["ip", "-n", lab.sw_ns, "-j", "-s", "link",
                              "show", "br0"], check=True,
                             stdout=subprocess.PIPE).stdout
        return json.loads(out)[0]["stats64"]["rx"]

    with lab.tree(family=family) as t:
        a, packet, _ = prepared(lab, t)
        lab.quiet()
        before = bridge_rx()
        for _ in range(MANY):
            a.send(packet)
        lab.quiet()
        after = bridge_rx()
        more = after["packets"] - before["packets"]
        check(MANY <= more < 2 * MANY, "%d packets counted, %d sent" %
              (more, MANY))
        check(after["bytes"] - before["bytes"] >= MANY * len(build(packet)),
              "%d bytes" % (after["bytes"] - before["bytes"]))


@test("shortcut: a host that moves is found at its new port, and back",
      cases={"its port": (True,), "its address": (False,)})
def moved(lab, family, same_mac):
    with lab.tree(family=family) as t:
        a, packet, fdb = prepared(lab, t)
        mac = a.port.mac if same_mac else b"\x02\x70\x71\x72\x73\x74"
        other = lab.ports[2] if same_mac else a.port
        kind = struct.pack("!H", ETH_P_IP if family == 4 else ETH_P_IPV6)
        new = Fdb(lab, other, mac)
        a.send(packet)
        other.sock.send(other.peer_mac + mac + kind + build(packet))
        expect("port of the sender", new.port(), new.home)
        a.send(packet)
        expect("port of the host", fdb.port(), fdb.home)
        if not same_mac:
            new.forget()


@test("shortcut: a port that has been locked lets nothing pass")
def locked(lab, family):
    with lab.tree(family=family, **peer.PATIENT) as t:
        a, packet, fdb = prepared(lab, t)
        with undone(lab, "bridge link set dev %s locked on" % fdb.home,
                    "bridge link set dev %s locked off" % fdb.home):
            fdb.forget()
            lab.wait(SOON * SLOW)
            with counters.member(a, rx_packets=0, rx_duplicates=0):
                a.send(packet)
        with counters.member(a, rx_duplicates=1):
            a.send(packet)
