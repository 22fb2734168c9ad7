#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
wireshark.py PCAP FIELDS: compares what tshark's inc.lua says of each packet of
a capture with what is in its bytes, by offsets from protocol.rst.

FIELDS is the output of tshark -T fields with the fields of --fields, one line
for each packet; without arguments but --fields, prints the options for that.
"""
import struct
import sys

FIELDS = ("frame.number", "inc.kind", "inc.version", "inc.collective",
          "inc.dtype", "inc.op", "inc.tree", "inc.msg_id", "inc.root",
          "inc.flags", "inc.nelem", "inc.result_rkey", "inc.result_va",
          "inc.imm.status", "inc.imm.msg_id", "inc.data", "inc.flags.no_data",
          "inc.flags.wide", "inc.flags.query", "inc.imm.low_mark")
HEADER = FIELDS[2:13]
FIRST, MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM = 6, 7, 8, 9, 10, 11
UC_ONLY_IMM = 0x2b
FLAGS = {"inc.flags.no_data": 1, "inc.flags.wide": 2, "inc.flags.query": 4}


def packets(path):
    """Ethernet frames of a pcap file."""
    with open(path, "rb") as f:
        data = f.read()
    order = "<" if data[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    assert struct.unpack(order + "I", data[20:24])[0] == 1, "not Ethernet"
    off = 24
    while off < len(data):
        caplen, length = struct.unpack(order + "8x2I", data[off:off + 16])
        assert caplen == length, "cut short"
        yield data[off + 16:off + 16 + caplen]
        off += 16 + caplen


def transport(frame):
    """Source, destination and what follows UDP; None if it is no RoCE."""
    kind = struct.unpack("!H", frame[12:14])[0]
    if kind == 0x0800 and frame[23] == 17:
        src, dst, udp = frame[26:30], frame[30:34], 14 + 4 * (frame[14] & 15)
    elif kind == 0x86dd and frame[20] == 17:
        src, dst, udp = frame[22:38], frame[38:54], 54
    else:
        return None
    if struct.unpack("!H", frame[udp + 2:udp + 4])[0] != 4791:
        return None
    end = udp + struct.unpack("!H", frame[udp + 4:udp + 6])[0]
    return src, dst, frame[udp + 8:end]


def is_header(payload, imm):
    """Does it begin with a header whose message ID is the Immediate's?"""
    return len(payload) >= 32 and payload[0] == 1 and imm is not None and \
        payload[9:12] == (imm & 0xffffff).to_bytes(3, "big")


def request(opcode, payload, imm, want):
    """A request's packet; returns what is behind its header."""
    want["inc.kind"] = "request"
    if opcode in (MIDDLE, LAST, LAST_IMM) or (
            opcode == ONLY_IMM and not is_header(payload, imm)):
        return payload
    want.update(zip(HEADER, struct.unpack("!4B2I2H2IQ", payload[:32])))
    want.update({k: want["inc.flags"] // v % 2 for k, v in FLAGS.items()})
    if want["inc.flags.query"]:
        want["inc.kind"] = "query"
    return payload[32:]


def expect(frame, hosts):
    """What the dissector has to say of a frame: {} if it is none of ours."""
    got = transport(frame)
    if not got:
        return {}
    src, dst, bth = got
    opcode, pad = bth[0], bth[1] >> 4 & 3
    qpn = int.from_bytes(bth[5:8], "big")
    to_switch = 0x800000 <= qpn <= 0xbfffff
    only = opcode in (ONLY, ONLY_IMM, UC_ONLY_IMM)
    off = 12 + (16 if opcode == FIRST or only else 0)
    want, imm = {}, None
    if opcode in (LAST_IMM, ONLY_IMM, UC_ONLY_IMM):
        imm = struct.unpack("!I", bth[off:off + 4])[0]
        want["inc.imm.status"] = imm >> 24
        want["inc.imm.msg_id"] = imm & 0xffffff
        off += 4
    payload = bth[off:len(bth) - 4 - pad]
    # the last packet of several, and all but that, may be writes of their own
    alone = payload and (src, dst) not in hosts and (
        opcode == ONLY_IMM or (opcode == ONLY and len(payload) >= 32 and
                               payload[0] == 1))
    if to_switch and (opcode in (FIRST, MIDDLE, LAST, LAST_IMM) or alone or
                      (only and is_header(payload, imm))):
        hosts.add((dst, src))
        payload = request(opcode, payload, imm, want)
    elif only and ((src, dst) in hosts or (to_switch and not payload)):
        if opcode == UC_ONLY_IMM and imm >> 31:
            want["inc.imm.low_mark"] = imm >> 24 & 0x7f
            want["inc.imm.status"] = 0
        want["inc.kind"] = "status" if want.get("inc.imm.status") else \
            "probe" if opcode == ONLY and not payload else "result"
    else:
        return {}
    if payload:
        want["inc.data"] = payload.hex()
    return want


def value(name, text):
    if name in ("inc.kind", "inc.data"):
        return text.replace(":", "")
    if text in ("True", "False"):
        return int(text == "True")
    return int(text, 0)


def main():
    if sys.argv[1:] == ["--fields"]:
        print(*(f"-e {name}" for name in FIELDS))
        return
    hosts, counts, wrong = set(), {}, 0
    with open(sys.argv[2], encoding="ascii") as f:
        lines = f.read().split("\n")[:-1]
    frames = list(packets(sys.argv[1]))
    if len(frames) != len(lines):
        sys.exit(f"{len(frames)} packets, {len(lines)} lines")
    for n, (frame, line) in enumerate(zip(frames, lines), 1):
        got = {name: value(name, text)
               for name, text in zip(FIELDS, line.split("\t")) if text}
        assert got.pop("frame.number") == n
        want = expect(frame, hosts)
        kind = want.get("inc.kind", "other")
        counts[kind] = counts.get(kind, 0) + 1
        if got != want:
            wrong += 1
            if wrong <= 3:
                diff = {k: (str(got.get(k))[:40], str(want.get(k))[:40])
                        for k in got.keys() | want.keys()
                        if got.get(k) != want.get(k)}
                print(f"packet {n}: (is, should be) {diff}")
    print(" ".join(f"{k}={v}" for k, v in sorted(counts.items())))
    sys.exit(wrong > 0)


main()
