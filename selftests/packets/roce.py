# SPDX-License-Identifier: GPL-2.0
"""RoCEv2 packets: made and taken apart from IBTA's text, without the module.

Plain struct for speed; scapy_packet() is the same packet by scapy's contrib
roce, and run.py compares the two before anything else is tested.
"""
import copy
import socket
import struct
import zlib
from dataclasses import dataclass, field

PORT = 4791

# BTH opcodes of RC, low five bits (IBTA table 38)
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM = 0, 1, 2, 3
SEND_ONLY, SEND_ONLY_IMM = 4, 5
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM = 6, 7, 8, 9
WRITE_ONLY, WRITE_ONLY_IMM = 10, 11
READ_REQUEST, ACK, ATOMIC_ACK = 12, 17, 18
COMPARE_SWAP, FETCH_ADD = 19, 20
SEND_LAST_INV, SEND_ONLY_INV = 22, 23
CNP = 0x81

# those of UC: the upper three bits say so
UC = 0x20
UC_WRITE_ONLY_IMM = UC | WRITE_ONLY_IMM

HAS_RETH = (WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM, READ_REQUEST,
            UC | WRITE_FIRST, UC | WRITE_ONLY, UC_WRITE_ONLY_IMM)
HAS_IMM = (SEND_LAST_IMM, SEND_ONLY_IMM, WRITE_LAST_IMM, WRITE_ONLY_IMM,
           UC | SEND_LAST_IMM, UC | SEND_ONLY_IMM, UC | WRITE_LAST_IMM,
           UC_WRITE_ONLY_IMM)

# AETH syndromes (IBTA tables 45 ... 47)
SYN_ACK, SYN_RNR = 0x1f, 0x20
NAK_PSN, NAK_INVALID, NAK_ACCESS, NAK_OPERATIONAL = 0x60, 0x61, 0x62, 0x63

PSN_MASK = 0xffffff


def psn_add(psn, n):
    return (psn + n) & PSN_MASK


def psn_diff(a, b):
    return ((a - b + 0x800000) & PSN_MASK) - 0x800000


def aton(addr):
    return socket.inet_pton(socket.AF_INET6 if ":" in addr else socket.AF_INET,
                            addr)


def ntoa(addr):
    return socket.inet_ntop(socket.AF_INET6 if len(addr) == 16 else
                            socket.AF_INET, addr)


def checksum(data):
    """Internet checksum, complemented."""
    if len(data) & 1:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def udp_checksum(src, dst, udp):
    """Of a datagram whose checksum field is 0."""
    if len(src) == 4:
        pseudo = src + dst + struct.pack("!BBH", 0, 17, len(udp))
    else:
        pseudo = src + dst + struct.pack("!II", len(udp), 17)
    return checksum(pseudo + udp) or 0xffff


def icrc(ip, udp):
    """Annex A17.3.1: @ip is the IP header, @udp all from UDP to the pad."""
    ip = bytearray(ip)
    udp = bytearray(udp)
    if ip[0] >> 4 == 4:
        ip[1] = ip[8] = ip[10] = ip[11] = 0xff
    else:
        ip[0] |= 0x0f
        ip[1] = ip[2] = ip[3] = ip[7] = 0xff
    udp[6] = udp[7] = udp[12] = 0xff
    return zlib.crc32(bytes(udp),
                      zlib.crc32(bytes(ip), zlib.crc32(b"\xff" * 8)))


@dataclass
class Pkt:
    """One packet, None for what is to be computed."""
    src: bytes = b""
    dst: bytes = b""
    sport: int = 0xd001
    dport: int = PORT
    ttl: int = 64
    tos: int = 0
    flow: int = 0
    ident: int = 0
    frag: int = 0               # IPv4 flags and fragment offset
    options: bytes = b""        # IPv4 options
    ext: bytes = b""            # IPv6 extension headers, first type ext_type
    ext_type: int = 60
    udp_len: int = None
    udp_check: object = 0       # number, or "right", or "wrong"
    opcode: int = WRITE_ONLY_IMM
    se: int = 0
    mig: int = 1
    pad: int = None
    pad_bytes: bytes = None
    tver: int = 0
    pkey: int = 0xffff
    fecn: int = 0
    becn: int = 0
    resv6: int = 0
    qpn: int = 0
    ackreq: int = 0
    resv7: int = 0
    psn: int = 0
    va: int = 0
    rkey: int = 0
    dmalen: int = 0
    imm: int = 0
    syndrome: int = 0
    msn: int = 0
    resv16: bytes = bytes(16)   # of a CNP
    payload: bytes = b""
    crc: int = None
    trail: bytes = b""          # behind the datagram, within the IP packet
    # filled in by parse()
    raw: bytes = field(default=b"", repr=False)
    icrc_ok: bool = None
    udp_ok: bool = None         # the UDP checksum is right, or 0
    at: float = 0.0

    def but(self, **changes):
        p = copy.copy(self)
        for name, value in changes.items():
            if not hasattr(p, name):
                raise AttributeError(name)
            setattr(p, name, value)
        return p

    @property
    def status(self):
        return self.imm >> 24

    @property
    def msg_id(self):
        return self.imm & 0xffffff

    def is_request(self):
        return self.opcode != ACK


def _transport(p):
    pad = -len(p.payload) & 3 if p.pad is None else p.pad
    pad_bytes = bytes(pad) if p.pad_bytes is None else p.pad_bytes
    out = struct.pack(
        "!BBHII", p.opcode,
        p.se << 7 | p.mig << 6 | pad << 4 | p.tver, p.pkey,
        p.fecn << 31 | p.becn << 30 | p.resv6 << 24 | p.qpn,
        p.ackreq << 31 | p.resv7 << 24 | p.psn)
    if p.opcode in HAS_RETH:
        out += struct.pack("!QII", p.va, p.rkey, p.dmalen)
    if p.opcode in HAS_IMM:
        out += struct.pack("!I", p.imm)
    if p.opcode == ACK:
        out += struct.pack("!I", p.syndrome << 24 | p.msn)
    if p.opcode == CNP:
        out += p.resv16
    return out + p.payload + pad_bytes


def _ip(p, udp_len):
    if len(p.src) == 4:
        opt = p.options
        return fix_ip(struct.pack(
            "!BBHHHBBH4s4s", 0x45 + len(opt) // 4, p.tos,
            20 + len(opt) + udp_len, p.ident, p.frag, p.ttl, 17, 0,
            p.src, p.dst) + opt)
    return struct.pack(
        "!IHBB16s16s", 6 << 28 | p.tos << 20 | p.flow, len(p.ext) + udp_len,
        p.ext_type if p.ext else 17, p.ttl, p.src, p.dst) + p.ext


def fix_ip(packet):
    """Makes the IPv4 header's checksum right again."""
    if packet[0] >> 4 != 4:
        return packet
    ihl = (packet[0] & 15) * 4
    head = packet[:10] + b"\0\0" + packet[12:ihl]
    check = struct.pack("!H", checksum(head))
    return head[:10] + check + head[12:] + packet[ihl:]


def build(p):
    """The IP packet."""
    body = _transport(p)
    size = 8 + len(body) + 4
    udp_len = size if p.udp_len is None else p.udp_len
    udp = struct.pack("!HHHH", p.sport, p.dport, udp_len, 0)
    ip = _ip(p, size + len(p.trail))
    crc = icrc(ip, udp + body) if p.crc is None else p.crc
    body += struct.pack("<I", crc)
    check = p.udp_check
    if check in ("right", "wrong"):
        check = udp_checksum(p.src, p.dst, udp + body)
        check ^= p.udp_check == "wrong"
    udp = udp[:6] + struct.pack("!H", check)
    return ip + udp + body + p.trail


def udp_offset(packet):
    return (packet[0] & 15) * 4 if packet[0] >> 4 == 4 else 40


def parse(packet):
    """Pkt of an IP packet, or None if it is no RoCEv2 packet."""
    p = Pkt(raw=packet)
    if packet[0] >> 4 == 4:
        p.tos, total, p.ident, p.frag = struct.unpack("!xBHHH", packet[:8])
        p.ttl, proto = packet[8], packet[9]
        p.src, p.dst = packet[12:16], packet[16:20]
    elif packet[0] >> 4 == 6:
        first, total, proto, p.ttl = struct.unpack("!IHBB", packet[:8])
        total += 40
        p.tos, p.flow = first >> 20 & 0xff, first & 0xfffff
        p.src, p.dst = packet[8:24], packet[24:40]
    else:
        return None
    off = udp_offset(packet)
    if proto != 17 or p.frag & 0x3fff or len(packet) < off + 24:
        return None
    p.sport, p.dport, p.udp_len, p.udp_check = \
        struct.unpack_from("!HHHH", packet, off)
    if p.dport != PORT:
        return None
    p.raw = packet = packet[:total]
    if p.udp_len != total - off:
        raise ValueError("UDP length %d in %d" % (p.udp_len, total - off))
    _parse_transport(p, packet[off + 8:-4])
    p.crc, = struct.unpack("<I", packet[-4:])
    p.icrc_ok = p.crc == icrc(packet[:off], packet[off:-4])
    udp = packet[off:off + 6] + bytes(2) + packet[off + 8:]
    p.udp_ok = p.udp_check in (0, udp_checksum(p.src, p.dst, udp))
    return p


def _parse_transport(p, body):
    p.opcode, bits, p.pkey, w1, w2 = struct.unpack_from("!BBHII", body)
    p.se, p.mig = bits >> 7, bits >> 6 & 1
    p.pad, p.tver = bits >> 4 & 3, bits & 15
    p.fecn, p.becn, p.resv6 = w1 >> 31, w1 >> 30 & 1, w1 >> 24 & 63
    p.qpn = w1 & 0xffffff
    p.ackreq, p.resv7, p.psn = w2 >> 31, w2 >> 24 & 127, w2 & 0xffffff
    off = 12
    if p.opcode in HAS_RETH:
        p.va, p.rkey, p.dmalen = struct.unpack_from("!QII", body, off)
        off += 16
    if p.opcode in HAS_IMM:
        p.imm, = struct.unpack_from("!I", body, off)
        off += 4
    if p.opcode == ACK:
        w, = struct.unpack_from("!I", body, off)
        p.syndrome, p.msn = w >> 24, w & 0xffffff
        off += 4
    if p.opcode == CNP:
        p.resv16 = body[off:off + 16]
        off += 16
    end = len(body) - p.pad
    p.payload, p.pad_bytes = body[off:end], body[end:]


def fragments4(packet, sizes):
    """IPv4 fragments with @sizes bytes of payload each, the rest last."""
    head, data = packet[:20], packet[20:]
    out, off = [], 0
    for size in list(sizes) + [len(data)]:
        part = data[off:off + size]
        more = 0x2000 if off + size < len(data) else 0
        out.append(fix_ip(head[:2] + struct.pack("!H", 20 + len(part)) +
                          head[4:6] + struct.pack("!H", more | off >> 3) +
                          head[8:] + part))
        off += size
        if not more:
            return out
    return out


def fragments6(packet, sizes, ident=0x1234):
    head, data = packet[:40], packet[40:]
    out, off = [], 0
    for size in list(sizes) + [len(data)]:
        part = data[off:off + size]
        more = off + size < len(data)
        ext = struct.pack("!BBHI", 17, 0, off | more, ident)
        out.append(head[:4] + struct.pack("!HB", 8 + len(part), 44) +
                   head[7:] + ext + part)
        off += size
        if not more:
            return out
    return out


def scapy_packet(p):
    """The same packet, every byte and the ICRC by scapy."""
    # pylint: disable=import-outside-toplevel
    from scapy.contrib.roce import BTH
    from scapy.layers.inet import IP, UDP
    from scapy.layers.inet6 import IPv6
    from scapy.packet import Raw

    if len(p.src) == 4:
        ip = IP(src=ntoa(p.src), dst=ntoa(p.dst), ttl=p.ttl, tos=p.tos,
                id=p.ident, flags=p.frag >> 13, frag=p.frag & 0x1fff)
    else:
        ip = IPv6(src=ntoa(p.src), dst=ntoa(p.dst), hlim=p.ttl, tc=p.tos,
                  fl=p.flow)
    pad = -len(p.payload) & 3 if p.pad is None else p.pad
    bth = BTH(opcode=p.opcode, solicited=p.se, migreq=p.mig, padcount=pad,
              version=p.tver, pkey=p.pkey, fecn=p.fecn, becn=p.becn,
              resv6=p.resv6, dqpn=p.qpn, ackreq=p.ackreq, resv7=p.resv7,
              psn=p.psn)
    rest = _transport(p)[12:]
    # the length by hand: scapy would make the checksum of it, too
    udp = UDP(sport=p.sport, dport=p.dport, chksum=p.udp_check)
    return bytes(ip / udp / bth / Raw(rest))
