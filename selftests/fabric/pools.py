#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
pools.py BIN [CASE...]: clients that fill what all share (bytes of incomplete
messages, answers that nobody reads, calls, time) from several addresses, by many
connections. Whoever has most gives way: a job with usual heartbeats lives, calls of
others are answered within a second, and so is a new group made. BIN as for
hostile.py.
"""
import hashlib
import json
import os
import pathlib
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time

from hostile import (DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS,
                     Manager, frame, headers, literal)
from rpcbase import ktap, now, plan

LASTS = 5			# seconds of each attack, at least
ROUNDS = 2			# calls of others meanwhile, at least
WITHIN = 1.0			# seconds in which others are served
SLOW = 3			# times as long, if the machine is busy with other tests
ARRIVES = 15			# seconds for ranks to reach a manager on such a machine
TOKENS = 20000
ME = pathlib.Path(__file__).resolve()


def path_of(name, token=""):
    """Headers of a call of any service."""
    return headers("ListGroups", token).replace(
        literal(":path", "/rdma_inc.v1.Manager/ListGroups"),
        literal(":path", name))


def settings(window=0):
    """With @window: the server may send so many bytes."""
    if not window:
        return PREFACE + frame(SETTINGS, 0, 0)
    return PREFACE + frame(SETTINGS, 0, 0, b"\0\4" + window.to_bytes(4, "big"))


def calls(block, n, data=None):
    """@n streams of a connection, each with @data, if there is any."""
    return b"".join(
        frame(HEADERS, END_HEADERS, i, block) +
        (b"" if data is None else data(i)) for i in range(1, 2 * n, 2))


def message(length, have, stream, end=0):
    """Frames of a message that says it has @length bytes, of which @have come."""
    data = b"\0" + length.to_bytes(4, "big") + bytes(have)
    return b"".join(
        frame(DATA, end if at + 16000 >= len(data) else 0, stream,
              data[at:at + 16000]) for at in range(0, len(data), 16000))


def halves(_):
    """Large ones, and small ones for the room between them."""
    return settings() + calls(
        headers("Join"), 300,
        lambda i: message(65536, 60000 if i < 30 else 300, i))


def unread(_):
    ask = message(0, 0, 1)[9:]
    return settings(1) + calls(
        headers("GetTopology"), 1000,
        lambda i: frame(DATA, END_STREAM, i, ask))


def watches(_):
    ask = bytes(5)
    return settings(1) + calls(path_of("/grpc.health.v1.Health/Watch"), 1020,
                               lambda i: frame(DATA, END_STREAM, i, ask))


def silences(_):
    return settings() + calls(headers("Join"), 100)


def bursts(token):
    return settings() + calls(headers("Join", token), 1,
                              lambda i: message(57000, 57000, i))


def wrong(_):
    return settings() + calls(headers("ListGroups", "b" * 43), 4000)


# Connections of each address, addresses, what each sends, whether again.
CASES = {
    "incomplete messages": (9, 9, halves),
    "answers that nobody reads": (12, 8, unread),
    "calls that last": (12, 10, watches),
    "calls without a message": (20, 10, silences),
    "1,400 connections of a tenant": (1400, 1, bursts),
    "wrong tokens": (100, 1, wrong),
}


def attack(port, name, token):
    """Keeps so many connections open, each with all that it says, until SIGTERM."""
    each, hosts, make = CASES[name]
    data, ends = make(token), []
    sel, sent = selectors.DefaultSelector(), 0
    todo = [f"127.0.3.{1 + i}" for i in range(hosts)] * each

    signal.signal(signal.SIGTERM, lambda *_: ends.append(1))
    print("begins", flush=True)
    while not ends:
        while todo:
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            host = todo.pop()
            s.bind((host, 0))
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", port))
            sel.register(s, selectors.EVENT_WRITE, [host, 0])
        for key, _ in sel.select(0.1):
            host, at = key.data
            try:
                n = key.fileobj.send(data[at:at + 65536])
            except BlockingIOError:
                continue
            except OSError:
                sel.unregister(key.fileobj)
                key.fileobj.close()
                todo.append(host)
                continue
            sent += n
            key.data[1] += n
            if key.data[1] == len(data):
                sel.modify(key.fileobj, selectors.EVENT_READ, key.data)
                if make in (halves, unread, watches, silences):
                    sel.unregister(key.fileobj)
                    HELD.append(key.fileobj)
        todo = todo if len(todo) < 100 else todo[:100]
    print(sent >> 20)


HELD = []


def token_file(where):
    """Many tokens, one of them the attacker's tenant's."""
    digest = lambda text: hashlib.sha256(text.encode()).hexdigest()
    lines = [f"u{i} t{i % 50} client {digest(str(i))}\n" for i in range(TOKENS)]
    lines.append(f"red red client {digest('r' * 43)}\n")
    lines.append(f"oper - operator {digest('o' * 43)}\n")
    file = where / "tokens"
    file.write_text("".join(lines))
    file.chmod(0o600)
    return file


def join(m):
    """Seconds from the last rank's request until a new group is ready, or 99. How
    long ranks take to get there depends on the machine: the kernel drops a SYN of
    theirs if nobody has time to empty the queue of loopback. The manager's log does
    not say it: events of callers without a tenant share a limit."""
    ranks = subprocess.run(
        [m.path / "sim_clients", str(m.port), "20", "1", "4", "1", "1",
         str(ARRIVES), "once"], capture_output=True, text=True, check=False)
    out = json.loads(ranks.stdout or "{}")
    if out.get("ready") == 4:
        return out["ready_ms"] / 1000
    print("#", out, ranks.stderr, flush=True)
    return 99


def case(m, name, token, tokens):
    slowest, served, rounds, group = 0, 0, 0, 0
    bad = subprocess.Popen(
        [sys.executable, ME, "attack", str(m.port), name, token],
        stdout=subprocess.PIPE, text=True)
    bad.stdout.readline()
    begin, until, cpu = time.monotonic(), now() + LASTS, m.cpu()
    while ((rounds < ROUNDS or now() < until) and bad.poll() is None and
           m.amd.poll() is None):
        rounds, asked = rounds + 1, now()
        try:
            served += not m.ask("group").returncode
            took = now() - asked
        except subprocess.TimeoutExpired:
            took = 99
        slowest = max(slowest, took)
        if not tokens:
            group = max(group, join(m))
        time.sleep(0.05)
    cpu = (m.cpu() - cpu) / (time.monotonic() - begin)
    lives = bad.poll() is None
    bad.terminate()
    sent = bad.communicate()[0].strip()
    print(f"# {name}: {sent} MiB, {cpu:.2f} of a CPU; others after "
          f"{slowest:.2f} s, {served} times; a new group after {group:.2f} s",
          flush=True)
    ktap(lives and m.amd.poll() is None and served == rounds and
         slowest < SLOW * WITHIN, f"{name}: others are served",
         f"{served} of {rounds} times, {slowest:.2f} s")
    if not tokens:
        ktap(group < SLOW * WITHIN, f"{name}: and groups are made",
             f"{group:.2f} s")


def run(path, names, tokens):
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        more = ["--tokens", token_file(where)] if tokens else []
        m = Manager(path, where, more=more,
                    **({"INC_AM_TOKEN": "o" * 43} if tokens else {}))
        job = None
        if not tokens:
            job = m.clients(4 + len(names) * (LASTS + 4))
            time.sleep(3)
            ktap("ready" in m.ask("group").stdout, "a job runs",
                 m.ask("group").stdout)
        for name in names:
            case(m, name, "r" * 43, tokens)
        if job:
            out = json.loads(job.communicate()[0])
            ktap(not out["lost"] and not out["failures"], "the job lives", out)
        text = m.log.read_text()
        ktap("no heartbeat" not in text, "no rank was taken for dead",
             text[-500:])
        m.end()


def main():
    if sys.argv[1:2] == ["attack"]:
        attack(int(sys.argv[2]), sys.argv[3], sys.argv[4])
        return
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65536), most))
    path = pathlib.Path(sys.argv[1])
    names = sys.argv[2:] or list(CASES)
    with_tokens = ["1,400 connections of a tenant", "wrong tokens"]
    if set(names) - set(with_tokens):
        run(path, [n for n in names if n not in with_tokens], False)
    if set(names) & set(with_tokens):
        run(path, [n for n in names if n in with_tokens], True)
    plan()


if __name__ == "__main__":
    main()
