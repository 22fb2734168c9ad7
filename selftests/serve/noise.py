#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
Strangers at a daemon that speaks TLS: for tls.sh.

  noise.py stall ADDR N SEED     N connections begin a handshake, and stop. Says
                                 "there", and "gone" when the daemon has closed
                                 them all
  noise.py random ADDR N SEED    N connections send damaged handshakes; fails if
                                 any is answered by something that is not TLS
"""
import random
import select
import socket
import ssl
import sys

PORT = 18791
WAIT = 30
# What a client says without TLS, and how each record of TLS begins.
PLAIN = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\4" + bytes(5)
RECORDS = (b"\x14\3", b"\x15\3", b"\x16\3", b"\x17\3")


def hello():
    """The first bytes of a real handshake."""
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.check_hostname = False
    ctx.verify_mode = ssl.CERT_NONE
    out = ssl.MemoryBIO()
    tls = ctx.wrap_bio(ssl.MemoryBIO(), out)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def stall(addr, n):
    """Each sends another part of the first message, and then nothing."""
    text = hello()
    socks = []
    for i in range(n):
        sock = socket.create_connection((addr, PORT), WAIT)
        sock.sendall(text[:i % (len(text) + 1)])
        socks.append(sock)
    print("there", flush=True)
    for sock in socks:
        try:
            while sock.recv(65536):
                pass
        except OSError as exc:
            if isinstance(exc, TimeoutError):
                sys.exit("one is not closed")
    print("gone", flush=True)


def damage(rnd, text):
    """Some bytes differ, are missing, or come again."""
    text = bytearray(text)
    for _ in range(rnd.randint(0, 8)):
        at = rnd.randrange(len(text))
        kind = rnd.randrange(3)
        if kind == 0:
            text[at] = rnd.randrange(256)
        elif kind == 1:
            del text[at:at + rnd.randint(1, 40)]
        else:
            text[at:at] = text[:rnd.randint(1, 200)]
        if not text:
            break
    return bytes(text)


def one(addr, rnd):
    """Returns what came back."""
    text = damage(rnd, hello())
    if rnd.random() < 0.2:
        text = b"\x16" + rnd.randbytes(rnd.randint(0, 20000))
    if rnd.random() < 0.5:
        text += PLAIN
    if rnd.random() < 0.1:
        text = PLAIN + text
    back = b""
    sock = socket.create_connection((addr, PORT), WAIT)
    try:
        sock.sendall(text)
        if rnd.random() < 0.7:
            sock.shutdown(socket.SHUT_WR)
            while select.select([sock], [], [], WAIT)[0]:
                data = sock.recv(65536)
                if not data:
                    break
                back += data
    except OSError:
        pass
    sock.close()
    return back


def main():
    """The case that is asked for."""
    case, addr, n, seed = sys.argv[1:]
    if case == "stall":
        stall(addr, int(n))
        return
    rnd = random.Random(int(seed))
    for i in range(int(n)):
        back = one(addr, rnd)
        if back and not back.startswith(RECORDS):
            sys.exit(f"number {i} got {back[:80]}")


main()
