# SPDX-License-Identifier: GPL-2.0
"""
Does memory that nobody wrote leave the machine?

  poison.py fill MIB      leaves its pattern in so much of the free memory that
                          the kernel takes for itself
  poison.py watch DEV...  until SIGTERM; then fails if a packet that one of the
                          devices sent held the pattern, or a pad other than zero,
                          or one has sent nothing
"""
import fcntl
import os
import select
import signal
import socket
import sys

# In a run of 15 bytes, wherever that begins.
PATTERN = b"not mine"
MIB = 1 << 20
ETH_P_ALL = 3
ETH_P_IP = 0x800
ROCE_PORT = 4791
ICRC = 4
# Opcodes of RDMA WRITE ONLY, without and with Immediate, and their headers' bytes.
ONLY = {10: 28, 11: 32}


def fill(mib):
    """
    By pipes: the kernel does not clear their pages, and takes these from where
    it takes its own, a process's anonymous memory from elsewhere as long as it
    can.
    """
    pattern = PATTERN * (MIB // len(PATTERN))
    ends = []
    for _ in range(mib):
        ends.append(os.pipe())
        fcntl.fcntl(ends[-1][1], fcntl.F_SETPIPE_SZ, MIB)
        os.write(ends[-1][1], pattern)


def number(data):
    return int.from_bytes(data, "big")


def pads_of(frame):
    """
    The bytes between a RoCEv2 packet's payload and its ICRC; of several results that
    leave as one datagram, each is a RDMA WRITE ONLY, those of all.
    """
    ip = frame[14:]
    if number(frame[12:14]) != ETH_P_IP or ip[9] != socket.IPPROTO_UDP:
        return b""
    udp = ip[(ip[0] & 15) * 4:number(ip[2:4])]
    if number(udp[2:4]) != ROCE_PORT:
        return b""
    bth, pads = udp[8:], b""
    while bth:
        end = len(bth)
        if bth[0] & 0x1f in ONLY:
            end = min(end, ONLY[bth[0] & 0x1f] + number(bth[24:28]) +
                      (bth[1] >> 4 & 3) + ICRC)
        pads += bth[end - ICRC - (bth[1] >> 4 & 3):end - ICRC]
        bth = bth[end:]
    return pads


def open_device(dev):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                         socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * MIB)
    sock.bind((dev, ETH_P_ALL))
    sock.setblocking(False)
    return sock


def watch(devs):
    """All that the devices send."""
    socks = {open_device(dev): dev for dev in devs}
    packets = dict.fromkeys(devs, 0)
    found = pads = 0
    ends = []
    signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
    print("watching", flush=True)
    while True:
        ready = select.select(list(socks), [], [], 0.1)[0]
        if ends and not ready:
            break
        for sock in ready:
            frame, addr = sock.recvfrom(1 << 17)
            if addr[2] != socket.PACKET_OUTGOING:
                continue
            packets[socks[sock]] += 1
            found += PATTERN in frame
            pads += any(pads_of(frame))
    print("%d of %d packets hold memory that nobody wrote, %d pads do" %
          (found, sum(packets.values()), pads))
    return found or pads or not all(packets.values())


if sys.argv[1] == "fill":
    fill(int(sys.argv[2]))
else:
    sys.exit(1 if watch(sys.argv[2:]) else 0)
