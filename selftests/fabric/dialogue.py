#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
dialogue.py [-n DIALOGUES] [-s SEED] [-t SECONDS] AGENTD [ARG...]: start an agent
that was built with AddressSanitizer, and hold dialogues of NETCONF with it that
are mutated as a whole: messages, their order, framing, the end. It must stay
alive, answer a good client all the while, and end in order, and of its memory
lose no more than libyang does, which leaks a few bytes of some messages: leaks
as such are looked for by agent.sh. Counted is what is allocated while no session
is open, after a third of the dialogues and after all.

One dialogue is repeated by -s SEED -n 1 with the seed that a failure names.
"""
import argparse
import random
import re
import select
import socket
import sys
import threading
import time

from agentd import CAPS, END, HELLO, NC, PATIENCE, Agent, drain, rpc
from rpcbase import ktap, plan

SW = "urn:rdma-inc:switch"
CHECK_EVERY = 200		# dialogues until a good client asks
LOST = 256			# bytes that may be lost per dialogue
TABLES = 1 << 20		# what libyang's tables may grow by

TREE = ("<tree%s><id>%d</id><ranks>2</ranks><slots>4</slots>"
        "<msg-size>4096</msg-size><dead-time>50</dead-time><member><rank>0"
        "</rank><peer-addr>192.0.2.1</peer-addr><peer-qpn>100</peer-qpn>"
        "<peer-psn>0</peer-psn></member></tree>")


def edit(xml, more=""):
    return (f"<edit-config><target><running/></target>{more}<config>"
            f'<switch xmlns="{SW}" xmlns:nc="{NC}">{xml}</switch></config>'
            "</edit-config>")


def requests(rnd):
    i = rnd.randrange(1, 1 << 31)
    op = rnd.choice(["", ' nc:operation="create"', ' nc:operation="delete"',
                     ' nc:operation="remove"', ' nc:operation="replace"'])
    return [
        "<get/>",
        f'<get><filter type="subtree"><switch xmlns="{SW}"><tree><id>{i}</id>'
        "</tree></switch></filter></get>",
        f'<get><filter type="xpath" xmlns:s="{SW}" '
        f'''select="/s:switch/s:tree[s:id='{i}']"/></get>''',
        # It would take for ever.
        '<get><filter type="xpath" select="//*[count(//*[count(//*[count(//*)'
        '>0])>0])>0]"/></get>',
        "<get-config><source><running/></source></get-config>",
        "<get-config><source><startup/></source></get-config>",
        edit(TREE % (op, i)),
        edit(TREE % (op, i),
             "<error-option>rollback-on-error</error-option>"),
        edit("<limits><max-ranks>64</max-ranks></limits>",
             "<default-operation>none</default-operation>"),
        "<lock><target><running/></target></lock>",
        "<unlock><target><running/></target></unlock>",
        "<discard-changes/>", "<commit/>",
        "<copy-config><target><running/></target><source><running/></source>"
        "</copy-config>",
        "<validate><source><config>"
        f'<switch xmlns="{SW}">{TREE % ("", i)}</switch></config></source>'
        "</validate>",
        '<get-schema xmlns="urn:ietf:params:xml:ns:yang:ietf-netconf-'
        'monitoring"><identifier>rdma-inc-switch</identifier></get-schema>',
        '<create-subscription xmlns="urn:ietf:params:xml:ns:netconf:'
        'notification:1.0"/>',
        f"<kill-session><session-id>{rnd.choice([0, 1 << 30, i])}"
        "</session-id></kill-session>",
        "<close-session/>", f'<nothing xmlns="urn:x:{i}"/>',
    ]


def dialogue(rnd):
    """Good messages, and whether framing is 1.1 after the hello."""
    version = rnd.randrange(2)
    caps = CAPS if version else CAPS[:1]
    out = [HELLO % "".join(caps)]
    for number in range(rnd.randrange(1, 5)):
        out.append(rpc(number, rnd.choice(requests(rnd))))
    return [m.encode() for m in out], version == 1


# --- Mutations ---------------------------------------------------------------

NUMBERS = [b"0", b"-1", b"1", b"255", b"65536", b"2147483648", b"4294967295",
           b"4294967296", b"18446744073709551616", b"9" * 400, b"0x10", b"1e9"]
PIECES = [b"\0", b"\xff\xfe", b"&", b"&lt;", b"&#0;", b"&#x110000;", b"&e;",
          b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?xml version='1.0'?>",
          b"<!DOCTYPE a [<!ENTITY e 'x'>]>", b"<", b">", b"/>", b"</rpc>",
          b"<rpc>", b"xmlns=''", b"\n##\n", b"\n#5\n", END, b" " * 5000,
          b"a:" * 50, b"<a>" * 300, b"<a/>" * 2000,
          b"x" * 70000, "\u00e9\U0001f600".encode()]


def numbers(rnd, m):
    at = [x.span() for x in re.finditer(rb"\d+", m)]
    if not at:
        return m
    a, b = rnd.choice(at)
    return m[:a] + rnd.choice(NUMBERS) + m[b:]


def flip(rnd, m):
    m = bytearray(m)
    for _ in range(rnd.randrange(1, 4)):
        if m:
            m[rnd.randrange(len(m))] = rnd.randrange(256)
    return bytes(m)


def cut(rnd, m):
    a, b = sorted(rnd.randrange(len(m) + 1) for _ in range(2))
    return m[:a] + m[b:]


def insert(rnd, m):
    a = rnd.randrange(len(m) + 1)
    return m[:a] + rnd.choice(PIECES) + m[a:]


def tag(rnd, m):
    """An element is left out, doubled, or put elsewhere."""
    at = [x.span() for x in re.finditer(rb"<[^<>]*>[^<>]*", m)]
    if not at:
        return m
    a, b = rnd.choice(at)
    c = rnd.choice(at)[0]
    return rnd.choice([m[:a] + m[b:], m[:b] + m[a:],
                       m[:c] + m[a:b] + m[c:]])


MUTATIONS = [numbers, flip, cut, insert, tag]


def disorder(rnd, messages):
    i = rnd.randrange(len(messages))
    what = rnd.randrange(5)
    if what == 0:
        del messages[i]
    elif what == 1:
        messages.insert(i, rnd.choice(messages))
    elif what == 2:
        rnd.shuffle(messages)
    elif what == 3:
        messages[i:i + 1] = [messages[i]] * rnd.randrange(2, 30)
    else:
        messages[i] = b""


def chunks(rnd, m, wrong):
    """The message in chunks (RFC 6242); wrong: one of them is."""
    out, pieces = [], []
    while m:
        n = rnd.choice([1, len(m), rnd.randrange(1, len(m) + 1)])
        pieces.append(m[:n])
        m = m[n:]
    bad = rnd.randrange(len(pieces) + 1) if wrong else -1
    for i, piece in enumerate(pieces):
        size = b"%d" % len(piece)
        if i == bad:
            size = rnd.choice(NUMBERS + [b"", b"0" + size, size + b" ",
                                         b"%d" % (len(piece) + 1),
                                         b"%d" % (len(piece) - 1)])
        out.append(b"\n#" + size + b"\n" + piece)
    end = rnd.choice([b"", b"\n##", b"##\n", b"\n#\n", b"\n##\n\n##\n", END]) \
        if bad == len(pieces) else b"\n##\n"
    return b"".join(out) + end


def frame(rnd, messages, new):
    out = []
    kinds = rnd.choice([0, 0, 0, 1, 2])
    for i, m in enumerate(messages):
        chunked = new and i > 0
        if kinds == 1 and rnd.randrange(3) == 0:
            chunked = not chunked
        wrong = kinds == 2 and rnd.randrange(2)
        out.append(chunks(rnd, m, wrong) if chunked else
                   m + (rnd.choice([b"]]>]]", b"", END + END]) if wrong else
                        END))
    return out


def mutated(seed):
    rnd = random.Random(seed)
    messages, new = dialogue(rnd)
    for _ in range(rnd.choice([0, 1, 1, 1, 2, 3])):
        if rnd.randrange(4) == 0:
            disorder(rnd, messages)
        # Mostly what follows the hello, or nothing else would be reached.
        if messages:
            i = rnd.randrange(len(messages)) if rnd.randrange(8) == 0 else \
                rnd.randrange(min(1, len(messages) - 1), len(messages))
            messages[i] = rnd.choice(MUTATIONS)(rnd, messages[i])
        else:
            messages = [b""]
    data = frame(rnd, messages, new)
    how = rnd.choice(["whole", "whole", "whole", "pieces", "abrupt", "cut"])
    data = b"".join(data)
    if how == "cut":
        data = data[:rnd.randrange(len(data) + 1)]
    return rnd, data, how, len(messages)


# --- With an agent -----------------------------------------------------------
def converse(s, data, size):
    """Send data in pieces, and read meanwhile: neither side waits for ever."""
    s.setblocking(False)
    left = memoryview(data)
    until = time.monotonic() + PATIENCE
    while left:
        can_read, can_write, _ = select.select([s], [s], [], PATIENCE)
        if time.monotonic() > until:
            raise TimeoutError("the agent does not read")
        if can_read and not s.recv(1 << 16):
            return
        if can_write:
            left = left[s.send(left[:size()]):]
    s.settimeout(PATIENCE)


def hold(agent, seed):
    """One dialogue. The agent ends it when it has come to the client's end."""
    rnd, data, how, count = mutated(seed)
    s = agent.connect()
    try:
        if how == "pieces":
            converse(s, data, lambda: rnd.randrange(1, len(data) // 4 + 2))
        else:
            converse(s, data, lambda: len(data))
        if how != "abrupt":
            s.shutdown(socket.SHUT_WR)
            s.settimeout(PATIENCE)
            drain(s)
    except (BrokenPipeError, ConnectionResetError):
        pass	# it has had enough
    finally:
        s.close()
    return count


class Run:
    def __init__(self, agent, args):
        self.agent, self.args = agent, args
        self.lock = threading.Lock()
        self.next, self.messages, self.bad = 0, 0, []
        self.most, self.until = 0, None

    def take(self):
        with self.lock:
            late = self.until and time.monotonic() > self.until
            if self.bad or late or self.next == self.most:
                return None
            self.next += 1
            return self.next - 1

    def work(self):
        while (i := self.take()) is not None:
            seed = self.args.s + i
            try:
                count = hold(self.agent, seed)
                if i % CHECK_EVERY == 0 and not self.agent.answers():
                    raise RuntimeError("a good client gets no answer")
            except Exception as e:	# whatever it is, it names the seed
                with self.lock:
                    self.bad.append(f"seed {seed}: {e!r}")
                return
            with self.lock:
                self.messages += count

    def go_on(self, most, seconds):
        """Hold dialogues until there were so many, or for so long."""
        self.most = most
        self.until = time.monotonic() + seconds if seconds else None
        threads = [threading.Thread(target=self.work)
                   for _ in range(self.args.j)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


def live(agent, threads):
    """What it has allocated when no session is left: each has a thread."""
    until = time.monotonic() + PATIENCE
    while agent.threads() > threads and time.monotonic() < until:
        time.sleep(0.1)
    return agent.live() if agent.alive() else 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-n", type=int, default=20000)
    p.add_argument("-s", type=int, default=1)
    p.add_argument("-t", type=float, help="at most so many seconds")
    p.add_argument("-j", type=int, default=6, help="at a time")
    p.add_argument("agentd", nargs="+")
    args = p.parse_args()
    # AddressSanitizer needs terabytes of addresses.
    agent = Agent(args.agentd + ["--max-memory", "0"], live=True)
    threads = agent.threads()
    ktap(agent.alive() and agent.answers(), "the agent answers", agent.said())
    run = Run(agent, args)
    since = time.monotonic()
    run.go_on(args.n // 3, args.t and args.t / 3)
    first, before = run.next, live(agent, threads)
    run.go_on(args.n, args.t and args.t * 2 / 3)
    print(f"# {run.next} dialogues, {run.messages} messages in "
          f"{time.monotonic() - since:.1f} s, seeds from {args.s}")
    ktap(not run.bad, "each dialogue comes to its end", run.bad)
    ktap(agent.alive() and agent.answers(), "the agent still answers",
         agent.said())
    after = live(agent, threads)
    ktap(0 < after < before + TABLES + LOST * (run.next - first),
         "it loses no memory", f"{before} bytes after {first} dialogues, {after} after {run.next}")
    print(f"# memory: {before} bytes after {first} dialogues, {after} at the "
          "end")
    rc = agent.end()
    ktap(rc == 0, "it ends in order", f"{rc}: {agent.said()}")
    plan()


main()
