# SPDX-License-Identifier: GPL-2.0
"""Namespaces, raw ports and the switch's netlink, out of one process."""
import contextlib
import fcntl
import mmap
import os
import random
import select
import socket
import struct
import subprocess
import time

import genl
import roce
from ktap import SLOW

ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 3, 0x0800, 0x86dd
PACKET_OUTGOING = 4
SO_TIMESTAMPNS = 35
ADDRS = 100              # per port and version of IP


@contextlib.contextmanager
def in_ns(name):
    """What is opened in here belongs to that namespace."""
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open("/run/netns/" + name, os.O_RDONLY)
    try:
        os.setns(there, os.CLONE_NEWNET)
        yield
    finally:
        os.setns(here, os.CLONE_NEWNET)
        os.close(there)
        os.close(here)


class Switch:
    """Netlink of the switch in a namespace."""

    def __init__(self, ns, spec):
        self.ns = ns
        with in_ns(ns):
            self.nl = genl.Genl(spec)
            self.ntf = genl.Genl(spec)
        self.ntf.subscribe("events")

    def do(self, op, **attrs):
        return self.nl.do(op,
                          {k.replace("_", "-"): v for k, v in attrs.items()})

    def stats(self):
        return self.do("switch-get")["stats"]

    def events(self):
        """Those since the last call, as (name, attributes)."""
        return self.ntf.events()

    def failures(self):
        """The same without what ends: a tree of an earlier case may linger."""
        return [e for e in self.events() if not e[0].endswith("-del-ntf")]

    def snmp(self, name):
        """A counter of IP or UDP of the namespace, as in UdpNoPorts."""
        with in_ns(self.ns):
            # of this thread: /proc/net would be that of the process
            base = "/proc/thread-self/net/"
            with open(base + "snmp", encoding="ascii") as f:
                lines = f.read().splitlines()
            with open(base + "snmp6", encoding="ascii") as f:
                six = dict(line.split() for line in f)
        if name in six:
            return int(six[name])
        for keys, values in zip(lines[::2], lines[1::2]):
            proto = keys.split(":")[0]
            for key, value in zip(keys.split()[1:], values.split()[1:]):
                if proto + key == name:
                    return int(value)
        raise KeyError(name)


class Port:
    """A host's end of a link: whole frames in and out."""

    def __init__(self, ns, dev, peer_mac):
        with in_ns(ns):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                      socket.htons(ETH_P_ALL))
        self.sock.bind((dev, ETH_P_ALL))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUFFORCE
                             if hasattr(socket, "SO_RCVBUFFORCE") else 33,
                             8 << 20)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.sock.setblocking(False)
        self.mac = self.sock.getsockname()[4]
        self.peer_mac = peer_mac
        self.tap = None

    def send(self, packet):
        kind = ETH_P_IP if packet[0] >> 4 == 4 else ETH_P_IPV6
        self.send_as(packet, kind)

    def send_as(self, packet, kind):
        frame = self.peer_mac + self.mac + struct.pack("!H", kind) + packet
        if not self.tap or not self.tap.send(frame):
            self.sock.send(frame)

    def in_pieces(self, ns, dev, rng, percent):
        """Has so many frames in a hundred leave in page fragments, cut anywhere."""
        self.tap = Tap(ns, dev, rng, percent)
        self.hear_own(False)

    def hear_own(self, on):
        """Does the socket get what others send there? It gets clones, and the switch
        copies a cloned packet that is in pieces."""
        ignore = not on or self.tap is not None
        self.sock.setsockopt(263, 23, int(ignore))  # PACKET_IGNORE_OUTGOING

    def recv(self):
        """IP packets that wait, and when the kernel had them."""
        out = []
        epoch = time.time() - time.monotonic()
        while True:
            try:
                frame, extra, _, addr = self.sock.recvmsg(65536, 64)
            except BlockingIOError:
                return out
            if addr[2] != PACKET_OUTGOING and addr[1] in (ETH_P_IP, ETH_P_IPV6):
                sec, ns = struct.unpack_from("=qq", extra[0][2])
                out.append((frame[14:], sec + ns / 1e9 - epoch))


class Tap:
    """A device whose frames are buffers in pieces, as those of drivers that receive
    into pages; they are redirected to another one."""

    PIECE = 4096                # PAGE_SIZE

    def __init__(self, ns, dev, rng, percent):
        name = b"pieces"
        with in_ns(ns):
            self.fd = os.open("/dev/net/tun", os.O_RDWR)
            # IFF_TAP, IFF_NAPI, IFF_NAPI_FRAGS, IFF_NO_PI
            fcntl.ioctl(self.fd, 0x400454ca,        # TUNSETIFF
                        struct.pack("16sH22x", name, 0x1032))
        for words in ("ip link set pieces mtu 9000 up",
                      "tc qdisc add dev pieces clsact",
                      "tc filter add dev pieces ingress matchall action mirred"
                      " egress redirect dev " + dev):
            subprocess.run(["ip", "netns", "exec", ns, *words.split()],
                           check=True)
        self.rng, self.percent, self.sent = rng, percent, 0

    def send(self, frame):
        """Returns false if this one is to go in one piece."""
        if len(frame) < 16 or self.rng.randrange(100) >= self.percent:
            return False
        # Most have their headers in front; a piece may be of a byte.
        first = 14 + self.rng.choice((self.rng.randrange(1, 16), 42, 66))
        cuts = {c for c in (self.rng.randrange(first, len(frame))
                            for _ in range(self.rng.choice((1, 1, 2, 3, 13))))
                } if first < len(frame) else set()
        cuts |= set(range(first, len(frame), self.PIECE))
        ends = [0, *sorted(cuts), len(frame)]
        os.writev(self.fd, [frame[a:b] for a, b in zip(ends, ends[1:])])
        self.sent += 1
        return True


class CsumPort(Port):
    """A port whose frames begin with a struct virtio_net_hdr."""

    def __init__(self, ns, dev, peer_mac):
        super().__init__(ns, dev, peer_mac)
        self.sock.setsockopt(263, 15, 1)        # SOL_PACKET, PACKET_VNET_HDR

    def send_partial(self, packet, gso_size=0):
        """UDP checksum left to the device: CHECKSUM_PARTIAL; may be GSO."""
        off = roce.udp_offset(packet)
        kind = ETH_P_IP if packet[0] >> 4 == 4 else ETH_P_IPV6
        src, dst = (packet[12:16], packet[16:20]) if kind == ETH_P_IP else \
                   (packet[8:24], packet[24:40])
        length = struct.unpack_from("!H", packet, off + 4)[0]
        # a stack leaves the pseudo header's sum for the device
        pseudo = ~roce.checksum(src + dst +
                                struct.pack("!HH", 17, length)) & 0xffff
        packet = packet[:off + 6] + struct.pack("!H", pseudo) + packet[off + 8:]
        hdr = struct.pack("<BBHHHH", 1, 5 if gso_size else 0, 14 + off + 8,
                          gso_size, 14 + off, 6)
        self.sock.send(hdr + self.peer_mac + self.mac +
                       struct.pack("!H", kind) + packet)

    def send_burst(self, packets):
        """IPv6 packets of one length, which arrive in the same turn of a CPU."""
        head, size = packets[0][:48], len(packets[0]) - 48
        data = b"".join(p[48:] for p in packets)
        length = struct.pack("!H", 8 + len(data))
        self.send_partial(head[:4] + length + head[6:44] + length + head[46:] +
                          data, gso_size=size if len(packets) > 1 else 0)


class RingPort:
    """A port whose frames stay in memory that the program and the kernel share:
    but for the Ethernet header, a packet lies in pages of a ring."""

    FRAME, COUNT, DATA = 16384, 4, 32   # TPACKET2_HDRLEN less sockaddr_ll

    def __init__(self, ns, dev, peer_mac):
        with in_ns(ns):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sock.bind((dev, 0))
        self.sock.setsockopt(263, 10, 1)        # PACKET_VERSION: TPACKET_V2
        self.sock.setsockopt(263, 13, struct.pack(      # PACKET_TX_RING
            "=IIII", self.FRAME * self.COUNT, 1, self.FRAME, self.COUNT))
        self.ring = mmap.mmap(self.sock.fileno(), self.FRAME * self.COUNT)
        self.mac = self.sock.getsockname()[4]
        self.peer_mac, self.at = peer_mac, 0

    def send(self, packet):
        """Returns where the packet lies in the ring."""
        kind = ETH_P_IP if packet[0] >> 4 == 4 else ETH_P_IPV6
        base, self.at = self.at, (self.at + self.FRAME) % len(self.ring)
        frame = self.peer_mac + self.mac + struct.pack("!H", kind) + packet
        where = base + self.DATA
        self.ring[where:where + len(frame)] = frame
        struct.pack_into("=II", self.ring, base, 1, len(frame))
        self.sock.send(b"")
        return slice(where + 14, where + len(frame))

    def close(self):
        self.ring.close()
        self.sock.close()


def mac_of(ns, dev):
    with in_ns(ns), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as s:
        s.bind((dev, 0))
        return s.getsockname()[4]


class Lab:
    """The topology of packets.sh, and who listens where."""

    def __init__(self, seed):
        net = os.environ["INC_NET"]
        self.spec = genl.load()
        self.net = net
        self.sw_ns, self.sw2_ns = net + "-sw", net + "-sw2"
        self.sw = Switch(self.sw_ns, self.spec)
        sw_mac = mac_of(self.sw_ns, "br0")
        self.ports = [Port("%s-h%d" % (net, h), "eth0", sw_mac)
                      for h in range(3)]
        # Percent of the packets that come in page fragments.
        pieces = int(os.environ.get("INC_PIECES", 0))
        for port, h in zip(self.ports, range(3)) if pieces else ():
            port.in_pieces("%s-h%d" % (net, h), "eth0",
                           random.Random(seed * 3 + h), pieces)
        self.other_port = Port(net + "-h0", "eth1", mac_of(self.sw2_ns, "v0"))
        self.guest_port = Port(net + "-h0", "eth2", mac_of(self.sw_ns, "br1"))
        self.members = {}       # by QPN of ours
        self.strangers = []     # IP packets for nobody
        self.poll_set = select.poll()
        for port in self.ports + [self.other_port, self.guest_port]:
            self.poll_set.register(port.sock, select.POLLIN)
        self.next_qpn = 0x11
        self.next_addr = 0
        self.neighbours()
        self.sw2 = None

    def sw_addr(self, family, n=1):
        return roce.aton("10.99.0.%d" % n if family == 4 else "fd00:99::%d" % n)

    def new_addr(self, family, port):
        """An address that the switch can reach at a port."""
        self.next_addr += 1
        return roce.aton(self.addr(family, port, self.next_addr % ADDRS))

    @staticmethod
    def addr(family, port, n):
        text = "10.99.%d.%d" if family == 4 else "fd00:99::%d:%x"
        return text % (port + 1, n)

    def neighbours(self):
        """Nobody answers ARP or neighbour discovery at the ports."""
        lines = ""
        for n, port in enumerate(self.ports):
            mac = ":".join("%02x" % b for b in port.mac)
            for family in (4, 6):
                for i in range(ADDRS):
                    lines += "neigh replace %s lladdr %s dev br0" \
                             " nud permanent\n" % (self.addr(family, n, i), mac)
        subprocess.run(["ip", "-n", self.sw_ns, "-batch", "-"], check=True,
                       input=lines.encode())

    def second_switch(self):
        if self.sw2 is None:
            self.sw2 = Switch(self.sw2_ns, self.spec)
        return self.sw2

    @contextlib.contextmanager
    def no_pieces(self):
        """Packets are sent in one buffer: the case is about what buffers take."""
        taps = [port.tap for port in self.ports]
        for port in self.ports:
            port.tap = None
        try:
            yield
        finally:
            for port, tap in zip(self.ports, taps):
                port.tap = tap

    @contextlib.contextmanager
    def sniffer(self, dev):
        """As tcpdump: somebody else holds every packet, too."""
        with in_ns(self.sw_ns):
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                 socket.htons(ETH_P_ALL))
        with sock:
            sock.bind((dev, ETH_P_ALL))
            yield sock

    @contextlib.contextmanager
    def listener(self, family):
        """The switch host's own user of the RoCEv2 port."""
        with in_ns(self.sw_ns):
            sock = socket.socket(socket.AF_INET if family == 4 else
                                 socket.AF_INET6, socket.SOCK_DGRAM)
        with sock:
            sock.bind(("0.0.0.0" if family == 4 else "::", roce.PORT))
            sock.setblocking(False)
            yield sock

    def poll(self, timeout=0.0):
        """Hands out what has come; waits at most @timeout seconds for it."""
        if not self.poll_set.poll(timeout * 1000):
            return False
        for port in self.ports + [self.other_port, self.guest_port]:
            for packet, at in port.recv():
                self.deliver(packet, at)
        return True

    def deliver(self, packet, at):
        p = roce.parse(packet)
        member = self.members.get(p.qpn) if p else None
        if member and member.addr == p.dst:
            p.at = at
            member.rx(p)
        else:
            self.strangers.append(packet)

    def until(self, cond, timeout=2.0):
        """Returns whether the condition came true. Where the machine stands still, so
        does what is awaited: it is looked at as often as in half of the time, in up to
        four times as long."""
        begin, tries = time.monotonic(), 25 * timeout * SLOW
        while not cond():
            left = timeout * SLOW - (time.monotonic() - begin)
            tries -= 1
            if left <= 0 and (tries <= 0 or left < -3 * timeout * SLOW):
                return False
            self.poll(min(left, 0.02) if left > 0 else 0.02)
        return True

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.poll(max(0.0, end - time.monotonic()))

    def quiet(self, seconds=0.004):
        """Until nothing has come for a moment."""
        while self.poll(seconds):
            pass
