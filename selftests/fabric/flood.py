#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
flood.py AGENTD [ARG...]: send an agent a request without end. It must not take
more memory than it may, answer a good client meanwhile, and live on; also while it
validates a long configuration.
"""
import argparse
import socket
import threading
import time

from agentd import CAPS, END, HELLO, PATIENCE, Agent, drain, rpc
from rpcbase import ktap, plan

LIMIT = 256			# MiB
PIECE = b"<x>" * (1 << 18)
SWITCH = 'xmlns="urn:rdma-inc:switch"'
TREES = 40000
TOTAL = 3 * LIMIT << 20		# what each client sends


def flood(agent, done):
    """Chunks of a message of NETCONF 1.1 (RFC 6242), which never ends."""
    s = agent.connect()
    sent = 0
    try:
        s.sendall((HELLO % "".join(CAPS)).encode() + END)
        chunk = b"\n#%d\n" % len(PIECE) + PIECE
        while sent < TOTAL:
            s.sendall(chunk)
            sent += len(PIECE)
    except (OSError, socket.timeout):
        pass			# the agent has had enough
    s.close()
    done.append(sent)


def validate(agent, done):
    trees = "".join(f"<tree><id>{n}</id><ranks>2</ranks></tree>"
                    for n in range(1, TREES))
    config = f"<config><switch {SWITCH}>{trees}</switch></config>"
    s = agent.connect()
    s.settimeout(200)
    s.sendall((HELLO % CAPS[0]).encode() + END +
              rpc(8, f"<validate><source>{config}</source></validate>").encode() +
              END)
    s.shutdown(socket.SHUT_WR)
    done.append(drain(s))


def slowest(agent, thread):
    """Seconds that a good client waits at most, until the thread has ended."""
    longest = 0
    while thread.is_alive():
        begin = time.monotonic()
        if not agent.answers():
            return PATIENCE
        longest = max(longest, time.monotonic() - begin)
        time.sleep(0.05)
    return longest


def main():
    p = argparse.ArgumentParser()
    p.add_argument("agentd", nargs="+")
    agent = Agent(p.parse_args().agentd + ["--max-memory", str(LIMIT)])
    ktap(agent.alive() and agent.answers(), "the agent answers", agent.said())
    before, done, most, bad = agent.rss(), [], 0, 0
    threads = [threading.Thread(target=flood, args=(agent, done))
               for _ in range(3)]
    for t in threads:
        t.start()
    asked = 0
    while len(done) < len(threads) and agent.alive():
        most = max(most, agent.rss())
        asked += 1
        bad += not agent.answers()
        time.sleep(0.05)
    for t in threads:
        t.join()
    print(f"# sent {[n >> 20 for n in done]} MiB; memory: {before} KiB before, "
          f"at most {most} KiB; a good client asked {asked} times, in vain {bad}")
    ktap(sum(done) > LIMIT << 20, "more is sent than fits", done)
    ktap(before + (32 << 10) < most < (LIMIT + 64) << 10,
         "it takes memory, and not too much", f"{most} KiB")
    ktap(asked > bad, "a good client is served meanwhile", f"{bad} of {asked}")
    ktap(agent.alive() and agent.answers(), "it is served afterwards",
         agent.said())
    done = []
    thread = threading.Thread(target=validate, args=(agent, done))
    begin = time.monotonic()
    thread.start()
    longest = slowest(agent, thread)
    took = time.monotonic() - begin
    print(f"# validated in {took:.1f} s: a good client waited {longest:.1f} s at most")
    ktap(b"<ok/>" in done[0], "a long configuration is validated", done[0][-200:])
    ktap(longest < max(took / 4, 0.3), "nobody waits for that", longest)
    ktap(agent.end() == 0, "the agent ends in order", agent.said())
    plan()


main()
