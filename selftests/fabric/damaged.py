#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
damaged.py BIN: start a manager with a store that somebody has changed, that is
damaged, or on a full disk. It starts soon, and inc-amctl learns what is wrong; or it
does not start. BIN has inc-amd and inc-amctl. As root; it needs no kernel module.
"""
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

from rpcbase import ktap, plan

RANKS = 2000000
SOON = 15			# seconds
BIN = pathlib.Path(sys.argv[1])


class Manager:
    def __init__(self, store):
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.addr = "127.0.0.1:%d" % s.getsockname()[1]
        self.amd = subprocess.Popen(
            [BIN / "inc-amd", "--listen", self.addr, "--switch", "/none",
             "--http", "none", "--store", f"sqlite:{store}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(self, *what):
        return subprocess.run([BIN / "inc-amctl", "-m", self.addr, *what],
                              capture_output=True, text=True, check=False)

    def wait(self, good):
        """What inc-amctl says when that is so, or at the end, and after how long."""
        begin = time.monotonic()
        while True:
            out = self.ask("group")
            took = time.monotonic() - begin
            if good(out) or took > SOON:
                return out.stdout + out.stderr, good(out), took
            time.sleep(0.2)

    def end(self):
        self.amd.terminate()
        self.amd.wait()


def start(store, switch="/none"):
    """Start one that is to end at once, as it cannot use what it was given."""
    return subprocess.run(
        [BIN / "inc-amd", "--listen", "127.0.0.1:0", "--switch", switch,
         "--http", "none", "--store", store],
        capture_output=True, text=True, check=False, timeout=SOON)


def refused(store, name):
    """It does not start, and says what to do."""
    got = start(f"sqlite:{store}")
    ktap(got.returncode == 1 and "damaged" in got.stderr and
         "move it away" in got.stderr, name, got)


def full(tmp, kib):
    """A disk without room: nobody is told to move a store away that is whole."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", tmp],
                   check=True)
    try:
        got = start(f"sqlite:{tmp}/db")
    finally:
        subprocess.run(["umount", tmp], check=True)
    ktap(got.returncode == 1 and "no room: make some" in got.stderr and
         "damaged" not in got.stderr, f"a disk of {kib} KiB", got)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        store = f"{tmp}/amd.db"
        m = Manager(store)
        said, good, took = m.wait(lambda out: not out.returncode)
        ktap(good, "a new store", said)
        m.end()

        rank = {"state": 1, "addr": "10.0.0.1"}
        few = {"name": "few", "parts": [], "ranks": [rank] * 5000}
        many = {"name": "many", "parts": [], "ranks": [rank] * RANKS}
        far = {"name": "far", "ranks": [rank] * 2, "parts": [
            {"switch": "s", "members": [], "first": 1, "count": 2 ** 32 - 1}]}
        db = sqlite3.connect(store)
        for one in few, many, far:
            db.execute("INSERT INTO record VALUES (?, 1, ?)",
                       (f"group/{one['name']}/1", json.dumps(one).encode()))
        # So that there are pages to damage.
        for i in range(200):
            db.execute("INSERT INTO record VALUES (?, 1, ?)",
                       (f"other/{i}", b"x" * 500))
        db.commit()
        db.close()
        m = Manager(store)
        said, good, took = m.wait(lambda out: not out.returncode)
        print(f"# it led after {took:.1f} s")
        ktap(good, "records of too many ranks do not keep it from starting", said)
        said = m.ask("event").stdout
        ktap("has 5000 ranks" in said, "what is wrong with them is an event", said)
        ktap("its tree has ranks from 1 to" in said, "or of ranks there are not", said)
        ktap(said.count("group-lost") == 3, "with all", said)
        m.end()

        with open(store, "r+b") as f:
            size = os.fstat(f.fileno()).st_size
            for at in range(3 * 4096, size, 4096):
                f.seek(at)
                f.write(b"\xff" * 64)
        refused(store, "pages that are damaged")
        for at in 20000, 5000:
            os.truncate(store, at)
            refused(store, f"cut off at {at}")

        os.mkdir(f"{tmp}/full")
        for kib in 8, 12, 32, 48:
            full(f"{tmp}/full", kib)
        got = start("none", "/a, /b")
        ktap(got.returncode == 2 and "one address each" in got.stderr,
             "two switches in one option", got)
    plan()


main()
