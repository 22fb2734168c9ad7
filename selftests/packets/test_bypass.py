# SPDX-License-Identifier: GPL-2.0
"""Packets that do not go through their bridge, and when they have to."""
import contextlib
import errno
import json
import socket
import struct
import subprocess

import counters
import peer
from ktap import check, expect, test
from net import ETH_P_IP, ETH_P_IPV6, PACKET_OUTGOING, in_ns
from roce import build
from test_ingress import cmd, undone

AF_BRIDGE, RTM_DELNEIGH, NTF_MASTER, NDA_LLADDR = 7, 29, 4, 2
NLM_F_REQUEST, NLM_F_ACK = 1, 4
SOON = 0.1              # the bypass is closed by then
TICKS = 0.02            # of 100 Hz, at least one
MANY = 20
ROUNDS = 20             # on a machine that is slow


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


def bypass_open(a, fdb, packet):
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
    fdb = Fdb(lab, a.port)
    # before the first result, nothing was known of the way back
    lab.wait(SOON)
    a.send(packet)
    return a, packet, fdb


@test("bypass: most packets are taken before the bridge, some go through it")
def taken(lab, family):
    with lab.tree(family=family) as t:
        a, packet, fdb = prepared(lab, t)
        check(any(bypass_open(a, fdb, packet) for _ in range(ROUNDS * MANY)),
              "the bridge learned the sender of each packet")
        lab.wait(SOON)
        a.send(packet)
        expect("port of the sender", fdb.port(), fdb.home)


def all_seen(lab, a, packet, count):
    """Does what counts by count() see each of many packets?"""
    before = count()
    for _ in range(MANY):
        a.send(packet)
    lab.quiet()
    seen = count() - before
    check(seen >= MANY, "%d of %d packets are seen" % (seen, MANY))


@test("bypass: a bridge that filters VLANs sees all packets")
def vlans(lab, family):
    with lab.tree(family=family) as t, undone(
            lab, "ip link set br0 type bridge vlan_filtering 1"
            " vlan_stats_enabled 1",
            "ip link set br0 type bridge vlan_filtering 0"
            " vlan_stats_enabled 0"):
        a = t.m[0]
        t.good()
        packet, = a.request(1, peer.ints([1]))
        all_seen(lab, a, packet, lambda: count_vlan(lab))


def count_vlan(lab):
    """Packets of VLAN 1 that br0 has received."""
    out = subprocess.run(["bridge", "-n", lab.sw_ns, "-j", "-s", "vlan",
                          "show"], check=True, stdout=subprocess.PIPE).stdout
    return sum(v["rx_packets"] for e in json.loads(out)
               if e["ifname"] == "br0" for v in e["vlans"] if v["vid"] == 1)


@test("bypass: another hook in the bridge's input sees all packets")
def hooked(lab, family):
    with lab.tree(family=family) as t:
        a, packet, _ = prepared(lab, t)
        with counting(lab, "bridge", "input"):
            a.send(packet)
            lab.wait(SOON)
            all_seen(lab, a, packet, lambda: count_hook(lab, "bridge"))


@contextlib.contextmanager
def counting(lab, kind, hook):
    """A chain in this hook counts packets: count_hook()."""
    rules = "add table %s inc_test; add chain %s inc_test in " \
            "{ type filter hook %s priority 0; }; " \
            "add rule %s inc_test in counter" % (kind, kind, hook, kind)
    with undone(lab, "true", "nft delete table %s inc_test" % kind):
        subprocess.run(["ip", "netns", "exec", lab.sw_ns, "nft", rules],
                       check=True)
        yield


def count_hook(lab, kind):
    out = subprocess.run(["ip", "netns", "exec", lab.sw_ns, "nft", "-j",
                          "list", "table", kind, "inc_test"], check=True,
                         stdout=subprocess.PIPE).stdout
    return next(e["counter"]["packets"]
                for r in json.loads(out)["nftables"] if "rule" in r
                for e in r["rule"]["expr"] if "counter" in e)


def bridge_stats(lab):
    out = subprocess.run(["ip", "-n", lab.sw_ns, "-j", "-s", "link", "show",
                          "br0"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(out)[0]["stats64"]


@test("bypass: the bridge's device counts all packets")
def counted(lab, family):
    with lab.tree(family=family) as t:
        a, packet, _ = prepared(lab, t)
        lab.quiet()
        before = bridge_stats(lab)["rx"]
        for _ in range(MANY):
            a.send(packet)
        lab.quiet()
        after = bridge_stats(lab)["rx"]
        more = after["packets"] - before["packets"]
        check(MANY <= more < 2 * MANY, "%d packets counted, %d sent" %
              (more, MANY))
        check(after["bytes"] - before["bytes"] >= MANY * len(build(packet)),
              "%d bytes" % (after["bytes"] - before["bytes"]))


@test("bypass: a host that moves is found at its new port, and back",
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


@test("bypass: who uses a member's address is not believed for long")
def forged(lab, family):
    with lab.tree(family=family) as t:
        a, packet, fdb = prepared(lab, t)
        other = Fdb(lab, lab.ports[2], a.port.mac)
        a.send(packet)
        lab.ports[2].sock.send(a.port.peer_mac + a.port.mac + b"\x88\xb5" +
                               bytes(46))
        expect("port of the forger", other.port(), other.home)
        lab.wait(TICKS)
        a.send(packet)
        expect("port of the sender", fdb.port(), fdb.home)


@test("bypass: a port that has been locked lets nothing pass")
def locked(lab, family):
    with lab.tree(family=family, **peer.PATIENT) as t:
        a, packet, fdb = prepared(lab, t)
        with undone(lab, "bridge link set dev %s locked on" % fdb.home,
                    "bridge link set dev %s locked off" % fdb.home):
            fdb.forget()
            lab.wait(SOON)
            with counters.member(a, rx_packets=0, rx_duplicates=0):
                a.send(packet)
        with counters.member(a, rx_duplicates=1):
            a.send(packet)


def answered(lab, a, packet, n=MANY):
    """Has the member's packet come so often; returns how often it was acked."""
    before = a.stats()["tx-acks"]
    for _ in range(n):
        a.send(packet)
    lab.quiet()
    return a.stats()["tx-acks"] - before


def out_requests(lab, family):
    return lab.sw.snmp("IpOutRequests" if family == 4 else "Ip6OutRequests")


@test("bypass: most of what a member is sent leaves by its port at once")
def back(lab, family):
    with lab.tree(family=family) as t:
        a, packet, _ = prepared(lab, t)
        # A way is known for a tick: a slow machine may not send twice in one.
        for _ in range(ROUNDS):
            before = out_requests(lab, family)
            sent = answered(lab, a, packet, MANY)
            by_ip = out_requests(lab, family) - before
            if by_ip < sent:
                break
        check(sent >= MANY and by_ip < sent,
              "%d packets sent, %d of them by IP" % (sent, by_ip))
        t.m[1].allreduce(1, [2])
        t.check(1, [3])


@test("bypass: hooks in the output see all that a member is sent",
      cases={"IP's output": ("output", False),
             "IP's postrouting": ("postrouting", False),
             "the bridge's output": ("output", True),
             "the bridge's postrouting": ("postrouting", True)})
def out_hooked(lab, family, hook, bridge):
    kind = "bridge" if bridge else "ip" if family == 4 else "ip6"
    with lab.tree(family=family) as t:
        a, packet, _ = prepared(lab, t)
        with counting(lab, kind, hook):
            lab.wait(SOON)
            before = count_hook(lab, kind)
            sent = answered(lab, a, packet)
            seen = count_hook(lab, kind) - before
            check(seen >= sent >= MANY, "it has seen %d of %d" % (seen, sent))


def is_udp(packet):
    return packet[9 if packet[0] >> 4 == 4 else 6] == socket.IPPROTO_UDP


def sent_to(lab, dev, send):
    """The MAC addresses of UDP's frames that leave by a device meanwhile, in order:
    ARP asks an old neighbour whenever it likes."""
    seen = []
    with lab.sniffer(dev) as sock:
        sock.setblocking(False)
        send()
        with contextlib.suppress(BlockingIOError):
            while True:
                frame, addr = sock.recvfrom(65536)
                if addr[2] == PACKET_OUTGOING and is_udp(frame[14:]):
                    seen.append(frame[:6])
    return seen


@test("bypass: who captures on the bridge's device sees all that is sent")
def captured(lab, family):
    with lab.tree(family=family) as t:
        a, packet, _ = prepared(lab, t)
        acks = []
        to = sent_to(lab, "br0",
                     lambda: acks.append(answered(lab, a, packet)))
        seen = to.count(a.port.mac)
        check(seen >= acks[0] >= MANY, "%d of %d are seen" % (seen, acks[0]))


@test("bypass: the queue and the filters of the bridge's device get all",
      cases={"queue": ("root pfifo limit 1000",),
             "filter": ("clsact", "egress matchall action pass")})
def out_queued(lab, family, qdisc, rule=None):
    def counted():
        out = subprocess.run(["tc", "-n", lab.sw_ns, "-j", "-s"] +
                             ("filter show dev br0 egress" if rule else
                              "qdisc show dev br0").split(), check=True,
                             stdout=subprocess.PIPE).stdout
        if not rule:
            return json.loads(out)[0]["packets"]
        return next(f["options"]["actions"][0]["stats"]["packets"]
                    for f in json.loads(out) if "options" in f)

    with lab.tree(family=family) as t:
        a, packet, _ = prepared(lab, t)
        with undone(lab, "tc qdisc add dev br0 " + qdisc,
                    "tc qdisc del dev br0 " + qdisc):
            if rule:
                cmd(lab, "tc filter add dev br0 " + rule)
            a.send(packet)
            before = counted()
            sent = answered(lab, a, packet)
            seen = counted() - before
            check(seen >= sent >= MANY, "%d of %d" % (seen, sent))


@test("bypass: the bridge's device counts all that is sent")
def out_counted(lab, family):
    with lab.tree(family=family) as t:
        a, packet, _ = prepared(lab, t)
        before = bridge_stats(lab)["tx"]
        sent = answered(lab, a, packet)
        more = bridge_stats(lab)["tx"]["packets"] - before["packets"]
        check(MANY <= sent <= more < 2 * sent, "%d counted, %d sent" %
              (more, sent))


@test("bypass: a new route counts at once")
def route(lab, family):
    mac = "02:70:71:72:73:76"
    with lab.tree(family=family) as t:
        a, packet, fdb = prepared(lab, t)
        text = socket.inet_ntop(socket.AF_INET if family == 4 else
                                socket.AF_INET6, a.addr)
        gate = "10.99.250.1" if family == 4 else "fd00:99::fa:1"
        dest = text + ("/32" if family == 4 else "/128")
        cmd(lab, "ip neigh replace %s dev br0 nud permanent lladdr %s" %
            (gate, mac))
        answered(lab, a, packet)
        with undone(lab, "ip route add %s via %s dev br0" % (dest, gate),
                    "ip route del %s via %s dev br0" % (dest, gate)):
            seen = sent_to(lab, fdb.home, lambda: answered(lab, a, packet))
        check(set(seen) == {bytes.fromhex(mac.replace(":", ""))}, str(seen))


@test("bypass: a neighbour's new address is used soon")
def neighbour(lab, family):
    with lab.tree(family=family) as t:
        a, packet, fdb = prepared(lab, t)
        other = "02:70:71:72:73:75"
        mac = bytes.fromhex(other.replace(":", ""))
        text = socket.inet_ntop(socket.AF_INET if family == 4 else
                                socket.AF_INET6, a.addr)
        entry = "ip neigh replace %s dev br0 nud permanent lladdr " % text
        old = ":".join("%02x" % b for b in a.port.mac)
        with undone(lab, entry + other, entry + old):
            lab.wait(SOON)
            seen = sent_to(lab, fdb.home, lambda: answered(lab, a, packet))
            check(mac in seen and a.port.mac not in seen, str(seen))
