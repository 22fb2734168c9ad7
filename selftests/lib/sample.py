#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The counters of all members of some switches, again and again until it is
killed: a line {"switch":NAME,"members":[...]} for each of them.

    sample.py PREFIX SWITCH...

It goes before all others, or a short job could end before it had its turn. rxe
works in processes, too: so it starts none for a sample, and is idle four times
as long as that took, however slow the machine is.
"""
import os
import subprocess
import sys
import time

PAUSE = 0.05


def tool(namespace):
    return subprocess.Popen(("ip", "netns", "exec", namespace,
                             "inc-tool", "-f", "-j", "-s", "-b", "-"),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)


def sample(name, on):
    on.stdin.write("member show\n")
    on.stdin.flush()
    members = on.stdout.readline().strip()
    print('{"switch":"%s","members":%s}' % (name, members), flush=True)
    return members


def main():
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    tools = {name: tool(sys.argv[1] + name) for name in sys.argv[2:]}
    while tools:
        began = time.monotonic()
        # a switch that is gone has no more counters
        tools = {name: on for name, on in tools.items() if sample(name, on)}
        time.sleep(max(PAUSE, 4 * (time.monotonic() - began)))


main()
