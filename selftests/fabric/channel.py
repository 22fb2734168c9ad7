#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
channel.py BIN: the client's side of gRPC, which inc-amctl, libinc-am and the
manager have, against gRPC's own server, and against servers that speak something
else, nothing, or wrongly. BIN/try_channel makes its calls.
"""
import os
import pathlib
import random
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
from concurrent import futures

import grpc

from rpcbase import ktap, leave, now, plan

OK, CANCELLED, UNKNOWN, INVALID, LATE, EXHAUSTED = 0, 1, 2, 3, 4, 8
UNIMPLEMENTED, INTERNAL, UNAVAILABLE = 12, 13, 14
# enum fault
(NONE, NO_HOST, NO_SOCKET, REFUSED, NO_ROUTE, NO_NETWORK, SILENT, SYSTEM, TLS,
 BARE, TOO_LATE, DEAD, CUT, LOST, STRANGER) = range(15)
SETTINGS = bytes.fromhex("000000040000000000")
SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))


class Client:
    """One try_channel."""

    def __init__(self, address, token=None, **env):
        self.proc = subprocess.Popen(
            [pathlib.Path(sys.argv[1]) / "try_channel", address] +
            ([token] if token else []),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **env})

    def ask(self, path, timeout_ms=20000, count=1, length=3):
        """(status, fault, messages, bytes, sum, text)"""
        print(path, timeout_ms, count, length, file=self.proc.stdin,
              flush=True)
        line = self.proc.stdout.readline().rstrip("\n")
        *numbers, text = line.split(" ", 5)
        return (*map(int, numbers), text) if len(numbers) == 5 else (line,)

    def end(self):
        """Its exit status: a sanitizer's report is another one than 0."""
        self.proc.stdin.close()
        ret = self.proc.wait(20)
        self.proc.stdout.close()
        return ret


def checksum(data):
    value = 0
    for byte in data:
        value = (value * 31 + byte) & 0xffffffff
    return value


class Service(grpc.GenericRpcHandler):
    """What the paths' names say."""

    def __init__(self):
        self.tokens, self.cancelled = [], threading.Event()

    def service(self, details):
        self.tokens += [v for k, v in details.invocation_metadata
                        if k == "authorization"]
        name = details.method.rpartition("/")[2]
        if not details.method.startswith("/t/") or not hasattr(self, name):
            return None
        return grpc.stream_stream_rpc_method_handler(getattr(self, name))

    def echo(self, requests, context):
        yield from requests

    def joined(self, requests, context):
        yield b"".join(requests)

    def big(self, requests, context):
        for n in 5 << 20, 0, 1, 16384, 16379, 65535, 65536:
            yield bytes([n % 251]) * n

    def many(self, requests, context):
        for i in range(20000):
            yield i.to_bytes(4, "big")

    def none(self, requests, context):
        return iter(())

    def refuses(self, requests, context):
        context.abort(grpc.StatusCode.INVALID_ARGUMENT,
                      "no: 100 % \u00fc\n\x1b[31mred")

    def half(self, requests, context):
        yield b"first"
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "enough")

    def early(self, requests, context):
        next(requests)
        yield b"that is all"

    def slow(self, requests, context):
        context.add_callback(self.cancelled.set)
        yield b"wait"
        time.sleep(3)


def serve(where, address, creds=None):
    server = grpc.server(futures.ThreadPoolExecutor(4),
                         options=(("grpc.max_send_message_length", -1),
                                  ("grpc.max_receive_message_length", -1)))
    service = Service()
    server.add_generic_rpc_handlers((service,))
    if address.startswith("unix:"):
        server.add_insecure_port(address)
    else:
        port = server.add_secure_port(address, creds) if creds else \
            server.add_insecure_port(address)
        address = f"{address.rpartition(':')[0]}:{port}"
    server.start()
    return server, service, address


def stock(server, service, client, name):
    """All that gRPC's server does."""
    def check(what, got, *want):
        ktap(got[:len(want)] == want, f"{name}: {what}", got)

    check("a call", client.ask("/t/echo"), OK, NONE, 1, 3,
          checksum(b"aaa"))
    check("an empty message", client.ask("/t/echo", 20000, 1, 0), OK, NONE, 1,
          0)
    data = b"".join(bytes([97 + i % 26]) * 777 for i in range(300))
    check("300 messages", client.ask("/t/echo", 20000, 300, 777), OK, NONE,
          300, len(data), checksum(data))
    check("one of 900,000 bytes", client.ask("/t/joined", 20000, 1, 900000),
          OK, NONE, 1, 900000)
    got = client.ask("/t/big", 30000)
    check("answers longer than windows and frames", got, OK, NONE, 7,
          (5 << 20) + 1 + 16384 + 16379 + 65535 + 65536)
    check("20,000 answers", client.ask("/t/many", 60000), OK, NONE, 20000,
          80000, checksum(b"".join(i.to_bytes(4, "big")
                                   for i in range(20000))))
    check("no answer", client.ask("/t/none"), OK, NONE, 0)
    check("a status with a text", client.ask("/t/refuses"), INVALID, NONE, 0,
          0, 0, "no: 100 % \u00fc??[31mred")
    check("a status after an answer", client.ask("/t/half"), EXHAUSTED, NONE,
          1, 5, checksum(b"first"), "enough")
    check("an end before the client's", client.ask("/t/early", 0, 40, 10), OK,
          NONE, 1, 11)
    began, since = time.monotonic(), now()
    got = client.ask("/t/slow", 300)
    check("a time limit", got, LATE)
    ktap(time.monotonic() - began > 0.2 and now() - since < 2.5,
         f"{name}: and no later", now() - since)
    ktap(service.cancelled.wait(60), f"{name}: the server hears of it")
    check("after a time limit", client.ask("/t/echo"), OK, NONE, 1, 3)
    check("no such method", client.ask("/t/nothing"), UNIMPLEMENTED)
    service.cancelled.clear()
    check("a call that is cancelled", client.ask("/t/slow", 0, 1, -1),
          CANCELLED)
    ktap(service.cancelled.wait(60), f"{name}: the server hears of that")
    ktap(service.tokens and set(service.tokens) == {"Bearer secret"},
         f"{name}: the token is shown with each call", service.tokens[:3])
    server.stop(0).wait()
    got = client.ask("/t/echo", 2000)
    ktap(got[0] == UNAVAILABLE and got[1] in (REFUSED, NO_SOCKET, LOST, CUT),
         f"{name}: the server has ended", got)


def certificates(where):
    """A server's, by the project's own authority."""
    ca = str(where / "ca")
    tool = pathlib.Path(__file__).resolve().parents[2] / \
        "userspace/manager/ca/inc-am-ca"
    for words in (["init"], ["manager", "manager", "127.0.0.1"],
                  ["client", "user", "t"]):
        subprocess.run([tool, "-d", ca, *words], check=True,
                       stdout=subprocess.DEVNULL)
    return where / "ca"


class Raw:
    """A server of a few bytes: what @fn does with each connection."""

    def __init__(self, fn, context=None):
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.sock.getsockname()[1]}"
        self.fn, self.context, self.seen = fn, context, b""
        self.closed = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                conn = self.sock.accept()[0]
            except OSError:
                return
            try:
                if self.context:
                    conn = self.context.wrap_socket(conn, server_side=True)
                self.fn(self, conn)
            except OSError:
                pass
            conn.close()
            self.closed.set()

    def hear(self, conn, seconds):
        conn.settimeout(seconds)
        try:
            while data := conn.recv(65536):
                self.seen += data
        except OSError:
            pass


def http(raw, conn):
    conn.recv(65536)
    conn.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def cuts(raw, conn):
    conn.recv(1)


def silent(raw, conn):
    raw.hear(conn, 8)


def dies(raw, conn):
    """It speaks HTTP/2, and answers no ping."""
    conn.sendall(SETTINGS)
    raw.hear(conn, 60)


def frame(kind, flags, stream, body):
    return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + \
        struct.pack(">I", stream) + body


def text(name, value):
    return bytes([0, len(name)]) + name + bytes([len(value)]) + value


def answers(*frames):
    def fn(raw, conn):
        conn.recv(65536)
        conn.sendall(SETTINGS + b"".join(frames))
        raw.hear(conn, 2)
    return fn


HEADERS = frame(1, 4, 1, b"\x88" + text(b"content-type", b"application/grpc"))
PAGE = frame(1, 5, 1, b"\x88" + text(b"content-type", b"text/html"))
NOT_FOUND = frame(1, 5, 1, b"\x8d")


def floods(kind, first=HEADERS):
    """Frames of this kind without end."""
    def fn(raw, conn):
        conn.recv(65536)
        conn.sendall(SETTINGS + first)
        until = time.monotonic() + 6
        while time.monotonic() < until:
            conn.sendall(kind * 200)
    return fn


def trailers(*fields, flags=5):
    return frame(1, flags, 1, b"".join(text(*f) for f in fields))


ANSWER = frame(0, 0, 1, b"\0\0\0\0\1x")
GARBLED = b"a%c2%9bb%e2%80%aec%zz%7f%"


def wrong():
    """Servers that are none of ours."""
    for name, fn, status, fault, words in (
            ("HTTP/1.1", http, UNAVAILABLE, STRANGER, "something else"),
            ("a web page", answers(PAGE), UNAVAILABLE, STRANGER,
             "is this the port of tested"),
            ("404", answers(NOT_FOUND), UNAVAILABLE, STRANGER,
             "something else"),
            ("ssh", lambda raw, conn: conn.sendall(b"SSH-2.0-OpenSSH\r\n"),
             UNAVAILABLE, STRANGER, "something else"),
            ("it ends at once", cuts, UNAVAILABLE, CUT, "it has ended"),
            ("it ends in a call", answers(HEADERS, frame(7, 0, 0, bytes(8))),
             UNAVAILABLE, NONE, "takes no calls"),
            ("it says nothing", silent, UNAVAILABLE, TOO_LATE,
             "does not answer in time"),
            ("it answers no ping", dies, UNAVAILABLE, DEAD,
             "does not answer any more"),
            ("compressed", answers(HEADERS, frame(0, 0, 1,
                                                  b"\1\0\0\0\1x")),
             INTERNAL, NONE, "compressed"),
            ("4 GiB", answers(HEADERS, frame(0, 0, 1, b"\0\xff\xff\xff\xffx")),
             EXHAUSTED, NONE, "too long"),
            ("no status", answers(HEADERS, frame(0, 1, 1, b"\0\0\0\0\1x")),
             UNKNOWN, NONE, "no status"),
            ("a message that is cut off",
             answers(HEADERS, frame(0, 1, 1, b"\0\0\0\0\5x")), INTERNAL, NONE,
             "cut off"),
            ("a status in a message",
             answers(HEADERS, frame(0, 0, 1, b"\0\0\0\0\5x"),
                     trailers((b"grpc-status", b"0"))), INTERNAL, NONE,
             "cut off"),
            ("two statuses", answers(HEADERS, trailers(
                (b"grpc-status", b"0"), (b"grpc-status", b"5"))), UNKNOWN,
             NONE, ""),
            ("a status of a web page", answers(frame(
                1, 5, 1, b"\x88" + text(b"grpc-status", b"0") +
                text(b"content-type", b"text/html"))), UNAVAILABLE, STRANGER,
             "something else"),
            ("it refuses the stream", answers(frame(3, 0, 1, b"\0\0\0\7")),
             UNAVAILABLE, NONE, "takes no calls"),
            ("PING without end", floods(frame(6, 0, 0, bytes(8))), UNAVAILABLE,
             STRANGER, ""),
            ("answers without end", floods(ANSWER), LATE, TOO_LATE, "in time"),
            ("1xx without end", floods(frame(1, 4, 1, b"\x08\x03100"), b""),
             LATE, TOO_LATE, "in time"),
            *((f"grpc-status {word.decode()}",
               answers(HEADERS, ANSWER, trailers((b"grpc-status", word))),
               UNKNOWN, NONE, "UNKNOWN, without a reason")
              for word in (b"abc", b"", b"0x0", b"-1", b"17", b"4294967296")),
            *((f"{word}, without a text",
               answers(HEADERS, trailers((b"grpc-status", b"%d" % number))),
               number, NONE, f"{word}, without a reason")
              for number, word in ((INVALID, "INVALID_ARGUMENT"),
                                   (12, "UNIMPLEMENTED"),
                                   (16, "UNAUTHENTICATED"))),
            ("a status in front, and a cut",
             lambda raw, conn: (conn.recv(65536), conn.sendall(
                 SETTINGS + frame(1, 4, 1, HEADERS[9:] +
                                  text(b"grpc-status", b"0")))),
             UNAVAILABLE, LOST, "it has ended"),
            ("controls in a text",
             answers(HEADERS, trailers((b"grpc-status", b"3"),
                                       (b"grpc-message", GARBLED))),
             INVALID, NONE, "a?b?c%zz?%"),
            ("it pushes", answers(frame(5, 4, 1, b"\0\0\0\2\x88")),
             UNAVAILABLE, DEAD, "")):
        raw = Raw(fn)
        client = Client(raw.address)
        got = client.ask("/t/echo", 2000 if fault == TOO_LATE else 20000)
        ktap(got[:2] == (status, fault) and words in got[-1], name, got)
        ktap(client.end() == 0, f"{name}: no report")
        if fn is dies:
            ktap(frame(6, 0, 0, bytes(8)) in raw.seen, "it was asked", raw.seen)
        raw.sock.close()


def last_words():
    """What was said before a call is cancelled is sent before that."""
    raw = Raw(dies)
    client = Client(raw.address)
    got = client.ask("/t/echo", 0, 3, -2)
    ktap(got[0] == CANCELLED and client.end() == 0, "cancelled at once", got)
    raw.closed.wait(60)
    kinds, at = [], 24
    while at < len(raw.seen):
        length = int.from_bytes(raw.seen[at:at + 3], "big")
        kinds.append((raw.seen[at + 3], raw.seen[at + 9:at + 9 + length]))
        at += 9 + length
    data = [n for n, (kind, _) in enumerate(kinds) if kind == 0]
    resets = [n for n, (kind, _) in enumerate(kinds) if kind == 3]
    ktap(data and resets and max(data) < min(resets) and
         b"".join(kinds[n][1] for n in data) ==
         b"\0\0\0\0\1a\0\0\0\0\1b\0\0\0\0\1c", "its last words", kinds)
    raw.sock.close()


def garbage():
    """Frames of all kinds in any order, and bytes of none."""
    rng = random.Random(SEED)
    print(f"# SEED={SEED}")

    def fn(raw, conn):
        conn.settimeout(2)
        conn.recv(65536)
        out = SETTINGS if rng.random() < .9 else b""
        for _ in range(rng.randrange(30)):
            kind = rng.choice((HEADERS, PAGE, NOT_FOUND, SETTINGS, None, None))
            out += kind or frame(
                rng.choice((0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 200)),
                rng.randrange(256), rng.choice((0, 1, 1, 1, 3, 2)),
                rng.randbytes(rng.choice((0, 4, 5, 6, 8, 40))))
        if rng.random() < .3:
            out = out[:rng.randrange(len(out) + 1)] + rng.randbytes(20)
        while out:
            n = rng.choice((1, 7, 100, 1 << 20))
            conn.sendall(out[:n])
            out = out[n:]

    raw, bad, n = Raw(fn), [], 400
    client = Client(raw.address)
    for _ in range(n):
        got = client.ask("/t/echo", 3000, rng.randrange(4), rng.randrange(50))
        if len(got) != 6:
            bad.append(got)
            break
    ktap(not bad, f"{n} calls of a server that says anything end", bad)
    ktap(client.end() == 0, "and nothing is reported")


def black_hole():
    """A name has two addresses; nothing comes back from the first."""
    first = {i[4][0] for i in socket.getaddrinfo("localhost", 1)}
    if first != {"127.0.0.1", "::1"}:
        ktap(False, "localhost has two addresses", first)
        return
    server, _, real = serve(None, "127.0.0.1:0")
    port = int(real.rpartition(":")[2])
    with socket.socket(socket.AF_INET6) as full:
        full.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        full.bind(("::1", port))
        full.listen(0)
        waiting = []
        for _ in range(3):	# the last of them gets no answer
            sock = socket.socket(socket.AF_INET6)
            sock.setblocking(False)
            sock.connect_ex(("::1", port))
            waiting.append(sock)
        time.sleep(0.2)
        gone = subprocess.run(["ss", "-Htn", "state", "syn-sent", "dport",
                               f":{port}"], capture_output=True, text=True)
        ktap(gone.stdout, "an address that does not answer")
        client = Client(f"localhost:{port}")
        began, since = time.monotonic(), now()
        got = client.ask("/t/echo", 4000)
        took = time.monotonic() - began
        ktap(got[0] == OK, "the other address is used", got)
        ktap(took > 0.2 and now() - since < 1.5, "a quarter of a second later", took)
        ktap(client.end() == 0, "and nothing is reported")
        for sock in waiting:
            sock.close()
    # It refuses now: that costs nothing.
    client = Client(f"localhost:{port}")
    got = client.ask("/t/echo", 4000)
    ktap(got[0] == OK, "an address that refuses", got)
    client.end()
    server.stop(0)


def main():
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        for address in "127.0.0.1:0", "[::1]:0", f"unix:{where}/socket":
            server, service, real = serve(where, address)
            client = Client(real, "secret")
            stock(server, service, client, address.partition(":")[0] or "::1")
            ktap(client.end() == 0, f"{address}: no report")
        ca = certificates(where)
        manager, user = ca / "manager", ca / "user"
        creds = grpc.ssl_server_credentials(
            [((manager / "key.pem").read_bytes(),
              (manager / "cert.pem").read_bytes())],
            (ca / "ca.pem").read_bytes(), True)
        server, service, real = serve(where, "127.0.0.1:0", creds)
        client = Client(real, "secret", INC_AM_CERTS=str(user))
        stock(server, service, client, "TLS")
        ktap(client.end() == 0, "TLS: no report")
        server, service, real = serve(where, "127.0.0.1:0", creds)
        for name, want, env in (
                ("no certificate", (BARE, CUT), {"INC_AM_CA": str(ca / "ca.pem")}),
                ("no TLS", (CUT, LOST, STRANGER), {})):
            client = Client(real, None, **env)
            got = client.ask("/t/echo")
            ktap(got[0] == UNAVAILABLE and got[1] in want, f"TLS: {name}", got)
            client.end()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(manager / "cert.pem", manager / "key.pem")
        raw = Raw(http, context)
        client = Client(raw.address, None, INC_AM_CERTS=str(user))
        got = client.ask("/t/echo")
        ktap(got[:2] == (UNAVAILABLE, STRANGER), "TLS without h2", got)
        client.end()
        server.stop(0)
    wrong()
    last_words()
    garbage()
    black_hole()
    plan()
    leave()


main()
