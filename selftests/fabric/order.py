#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
order.py BIN: inc-amctl's lists are in natural order, s2 before s10, as text and as
JSON, whatever order the manager has. It has been told its switches from the last to
the first. BIN has inc-amd, inc-amctl, and the simulated agents and clients.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from hostile import Manager
from rpcbase import ktap, plan

GROUPS = 12
NAMES = ("x10", "x9", "x2", "x1", "x11")


def natural(*texts):
    """What a person sorts by."""
    return [[int(p) if p.isdigit() else p for p in re.split(r"(\d+)", text)]
            for text in texts]


def in_order(name, got, least):
    wrong = [f"{b} behind {a}" for a, b in zip(got, got[1:])
             if natural(*a) > natural(*b)]
    ktap(len(got) >= least and not wrong, name,
         f"{len(got)} of {least}: {wrong or got}")


def lists(m, name, least, what, line, part, *keys):
    """@line finds a name in a line of text; @keys are those of JSON that have it."""
    text = m.ask(*what)
    in_order(f"{name}: text", [(t,) for t in
                               re.findall(line, text.stdout, re.M)], least)
    obj = json.loads(m.ask("-j", *what).stdout or "{}")
    in_order(f"{name}: JSON", [tuple(e[k] for k in keys) for e in
                               (obj[part] if part else obj)], least)


def addresses(m, name, what, part):
    """By their bytes: of 10.0.0.2 and 10.0.0.10, too, that is natural."""
    text = re.findall(r"^host (\S+)", m.ask(*what).stdout, re.M)
    in_order(f"{name}: text", [(t,) for t in text], 64)
    obj = json.loads(m.ask("-j", *what).stdout)
    in_order(f"{name}: JSON", [(e["addr"],) for e in
                               (obj[part] if part else obj)], 64)


def job(m, first):
    """A half of the groups, which are there when it returns."""
    before = m.ask("group").stdout.count(": ready")
    clients = subprocess.Popen(
        [m.path / "sim_clients", str(m.port), str(first), str(GROUPS // 2),
         "4", "1", "1", "60"], stdout=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while time.monotonic() < until and \
            m.ask("group").stdout.count(": ready") < before + GROUPS // 2:
        time.sleep(0.3)
    return clients


def run(m):
    # The later ones first.
    with job(m, GROUPS // 2) as late, job(m, 0) as early:
        for name in NAMES:
            m.ask("reservation", "add", name, "ranks", "2", "tenant",
                  "t" + name[1:])
            m.ask("reservation", "add", "y", "ranks", "2", "tenant",
                  "t" + name[1:])
        lists(m, "switches", 88, ("switch",), r"^switch (\S+)", None, "id")
        lists(m, "switches of the topology", 88, ("topology",),
              r"^switch (\S+)", "switches", "id")
        lists(m, "links", 64, ("topology",), r"^link (\S+) - ", "links",
              "from-switch", "from-interface")
        addresses(m, "hosts of the topology", ("topology",), "hosts")
        addresses(m, "clients", ("client",), None)
        lists(m, "groups", GROUPS, ("group",), r"^group (\S+):", None, "name")
        lists(m, "tasks", GROUPS, ("task",), r"^task (\S+):", None, "name")
        lists(m, "tasks' switches", 2, ("task", "--switches"),
              r"^switch (\S+):", None, "name")
        lists(m, "reservations", 2 * len(NAMES), ("reservation",),
              r"^reservation (\S+):", None, "name", "tenant")
        lists(m, "quotas", len(NAMES), ("quota",), r"^tenant (t[0-9]+)",
              "quotas", "tenant")
        name = json.loads(m.ask("-j", "group").stdout)[0]["name"]
        lists(m, "candidates for a root", 88, ("why", name),
              r"^  (s\d+): ", "candidates", "switch-id")
        lists(m, "groups of a switch", 4, ("switch", "drain", "s0"),
              r"^  group ([^ ,:]+)", "groups", "name")
        late.kill()
        early.kill()


def main():
    with tempfile.TemporaryDirectory() as where:
        m = Manager(pathlib.Path(sys.argv[1]), pathlib.Path(where),
                    switches=range(87, -1, -1))
        try:
            run(m)
        finally:
            m.end()
    plan()


main()
