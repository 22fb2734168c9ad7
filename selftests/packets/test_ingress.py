# SPDX-License-Identifier: GPL-2.0
"""Ways that a member's packet may not come, though each byte is right."""
import contextlib
import socket
import struct
import subprocess

import counters
import peer
import roce
from ktap import Skip, check, expect, test
from net import ETH_P_IP, ETH_P_IPV6, in_ns
from roce import build, udp_offset
from test_border import cut_checked, try_packets


def cmd(lab, text):
    subprocess.run(["ip", "netns", "exec", lab.sw_ns] + text.split(),
                   check=True)


@contextlib.contextmanager
def undone(lab, todo, undo):
    cmd(lab, todo)
    try:
        yield
    finally:
        cmd(lab, undo)


def by(port, tag=None):
    """Sends rank 0's packets by another port, or with a VLAN's tag."""
    def make(p):
        kind = ETH_P_IP if len(p.src) == 4 else ETH_P_IPV6
        if tag:
            port.send_as(struct.pack("!HH", tag, kind) + build(p), 0x8100)
        else:
            port.send(build(p))
        return []
    return make


@test("ingress: a guest on another bridge has a member's address")
def bridge(lab, family):
    with lab.tree(family=family) as t:
        try_packets(lab, t, by(lab.guest_port), "rx_ingress")

        try_packets(lab, t, by(lab.guest_port), "rx_ingress")
        said = subprocess.run(["ip", "netns", "exec", lab.sw_ns, "inc-tool",
                               "check"], capture_output=True, text=True).stdout
        check("rx-ingress counts" in said, "inc-tool check: " +
              said.replace("\n", "|"))


@test("ingress: a VLAN of the bridge has a member's address")
def vlan(lab, family):
    with lab.tree(family=family) as t, undone(
            lab, "ip link add link br0 name br0.5 up type vlan id 5",
            "ip link del br0.5"):
        cmd(lab, "ip addr add 10.97.0.1/24 dev br0.5")
        cmd(lab, "ip addr add fd00:97::1/64 dev br0.5 nodad")
        try_packets(lab, t, by(lab.ports[0], 5), "rx_ingress")


def rp_filter(value):
    return "sysctl -qw net.ipv4.conf.br1.rp_filter=%d" % value


@test("ingress: rp_filter 2 lets a member come by any device")
def loose(lab, family):
    with lab.tree(family=family) as t:
        with undone(lab, rp_filter(2), rp_filter(0)):
            try_packets(lab, t, by(lab.guest_port), None)
        try_packets(lab, t, by(lab.guest_port), "rx_ingress")


@test("ingress: several devices lead to a member")
def multipath(lab, family):
    with lab.tree(family=family) as t:
        addr = roce.ntoa(t.m[0].addr)
        size, near, far = ((32, "10.99.0.250", "10.98.0.250")
                           if family == 4 else
                           (128, "fd00:99::fa", "fd00:98::fa"))
        try:
            cmd(lab, "ip -%d route add %s/%d nexthop via %s dev br0 "
                "nexthop via %s dev br1" % (family, addr, size, near, far))
        except subprocess.CalledProcessError as e:
            raise Skip("the kernel has no multipath routes") from e
        try:
            a = t.m[0]
            for port in (lab.ports[0], lab.guest_port):
                good, = a.request(t.take_id(), peer.ints([1]))
                with counters.switch(lab), counters.member(a, rx_packets=1):
                    port.send(build(good))
        finally:
            cmd(lab, "ip -%d route del %s/%d" % (family, addr, size))


@test("ingress: the route to a member has moved while nothing was sent")
def moved(lab, family):
    with lab.tree(family=family) as t:
        addr = roce.ntoa(t.m[0].addr)
        size = 32 if family == 4 else 128
        with undone(lab,
                    "ip -%d route add %s/%d dev br1" % (family, addr, size),
                    "ip -%d route del %s/%d dev br1" % (family, addr, size)):
            good, = t.m[0].request(t.take_id(), peer.ints([1]))
            with counters.switch(lab), counters.member(t.m[0], rx_packets=1):
                lab.guest_port.send(build(good))
        # not counted: packets sent there have no neighbour entry
        lab.quiet()


def policy(lab, family, src, verb="add"):
    dst = roce.ntoa(lab.sw_addr(family))
    text = "ip xfrm policy %s dir in src %s dst %s" % (verb, roce.ntoa(src),
                                                       dst)
    if verb == "add":
        text += " tmpl src %s dst %s proto esp mode transport" % (
            roce.ntoa(src), dst)
    return text


@test("ingress: IPsec's policy wants a member's packets protected")
def ipsec(lab, family):
    with lab.tree(family=family) as t:
        src = t.m[0].addr
        with undone(lab, policy(lab, family, src),
                    policy(lab, family, src, "del")):
            good, = t.m[0].request(t.take_id(), peer.ints([1, 2]))
            with counters.switch(lab, rx_policy=1), \
                    counters.member(t.m[0], rx_packets=0):
                t.m[0].send(good)
        t.m[0].send(good)
        t.m[1].send(*t.m[1].request(0, peer.ints([3, 4])))
        t.check(0, [4, 6])


@test("ingress: IPsec's policy for others does not matter")
def ipsec_others(lab, family):
    with lab.tree(family=family) as t:
        src = lab.new_addr(family, 2)
        with undone(lab, policy(lab, family, src),
                    policy(lab, family, src, "del")):
            t.good()


@test("ingress: IPsec's policy is to block")
def ipsec_block(lab, family):
    with lab.tree(family=family) as t:
        with undone(lab, "ip xfrm policy setdefault in block",
                    "ip xfrm policy setdefault in accept"):
            good, = t.m[0].request(0, peer.ints([1]))
            with counters.switch(lab, rx_policy=1), \
                    counters.member(t.m[0], rx_packets=0):
                t.m[0].send(good)


@test("ingress: what filters on the bridge's device sees all packets")
def ingress_filter(lab, family):
    with lab.tree(family=family) as t:
        a = t.m[0]
        good, = a.request(0, peer.ints([1]))
        with undone(lab, "tc qdisc add dev br0 clsact",
                    "tc qdisc del dev br0 clsact"):
            cmd(lab, "tc filter add dev br0 ingress matchall action drop")
            with counters.switch(lab), counters.member(a, rx_packets=0):
                a.send(good)
        with counters.switch(lab), counters.member(a, rx_packets=1):
            a.send(good)


@test("ingress: a macvlan on the bridge takes its sources' frames")
def macvlan(lab, family):
    # no result is sent again, so no late ACK comes by the macvlan
    with lab.tree(family=family, **peer.PATIENT) as t:
        a = t.m[0]
        t.good()
        good, = a.request(1, peer.ints([1]))
        mac = ":".join("%02x" % b for b in a.port.mac)
        with undone(lab, "ip link add mv0 link br0 type macvlan"
                    " mode source nodst", "ip link del mv0"):
            cmd(lab, "ip link set mv0 type macvlan macaddr add " + mac)
            cmd(lab, "ip link set mv0 up")
            # it hands them to IP, but does not lead to the member
            with counters.switch(lab, rx_ingress=1), \
                    counters.member(a, rx_packets=0):
                a.send(good)
        with counters.switch(lab), counters.member(a, rx_packets=1):
            a.send(good)


@test("ingress: packet sockets of one protocol see the packets, too",
      cases={"of the bridge": ("br0",), "of all devices": (None,),
             "of another protocol": ("br0", 0x88cc)})
def packet_socket(lab, family, dev, kind=None):
    ours = ETH_P_IP if family == 4 else ETH_P_IPV6
    with lab.tree(family=family) as t:
        t.good()
        with in_ns(lab.sw_ns):
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM,
                                 socket.htons(kind or ours))
        with sock:
            sock.setblocking(False)
            if dev:
                sock.bind((dev, kind or ours))
            t.good()
            seen = []
            with contextlib.suppress(BlockingIOError):
                while True:
                    seen.append(sock.recv(65536))
        wanted = [p for p in seen if p[udp_offset(p):][:4][2:] ==
                  struct.pack("!H", roce.PORT)]
        check(bool(wanted) == (kind is None),
              "%d packets of %d are requests" % (len(wanted), len(seen)))


@test("ingress: an address that was removed, and comes back")
def address(lab, family):
    addr = "10.99.0.1/16" if family == 4 else "fd00:99::1/64"
    nodad = "" if family == 4 else " nodad"
    with lab.tree(family=family) as t, undone(
            lab, "sysctl -qw net.ipv4.conf.br0.promote_secondaries=1",
            "sysctl -qw net.ipv4.conf.br0.promote_secondaries=0"):
        a = t.m[0]
        t.good()
        good, = a.request(1, peer.ints([1]))
        with undone(lab, "ip addr del %s dev br0" % addr,
                    "ip addr add %s dev br0%s" % (addr, nodad)):
            with counters.member(a, rx_packets=0):
                a.send(good)
        t.next_id = 2
        with counters.member(a, rx_packets=1):
            a.send(good)
        t.m[1].allreduce(1, [2])
        t.check(1, [3])
        t.good()


@test("ingress: a QPN of the range that is nobody's goes on to other sockets")
def nobody(lab, family):
    with lab.tree(family=family) as t, lab.listener(family) as sock:
        p = t.m[0].pkt(qpn=t.m[0].sw_qpn ^ 0x155555, payload=b"abcdefgh",
                       udp_check="right")
        raw = build(p)
        with counters.switch(lab, rx_no_qp=1):
            t.m[0].send(raw)
        expect("datagram", sock.recv(65536), raw[udp_offset(raw) + 8:])
        t.good()


def damaged(**kw):
    return lambda p: p.but(crc=0, udp_check="wrong", **kw)


@test("ingress: who sent a packet is asked before its sums")
def order(lab, family):
    with lab.tree(family=family) as t:
        other = lab.new_addr(family, 0)
        try_packets(lab, t, damaged(src=other), "rx_source")
        try_packets(lab, t, damaged(qpn=t.m[0].sw_qpn ^ 0x155555), "rx_no_qp")
        try_packets(lab, t, lambda p: cut_checked(20, p.but(src=other)),
                    "rx_source")


@test("ingress: IPv6 fragments, the first without the QPN", families=(6,))
def cut_fragments(lab, family):
    with lab.tree(family=family) as t, lab.listener(family) as sock:
        try_packets(lab, t, lambda p: roce.fragments6(
            build(p.but(udp_check="right")), [8]), "rx_ip_options")
        lab.wait(0.05)
        try:
            check(not sock.recv(65536), "the datagram came to another socket")
        except BlockingIOError:
            pass
