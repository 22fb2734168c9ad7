#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
damaged.py BIN: start a manager with a store that somebody has changed, that is
damaged, or on a full disk. It starts soon, and inc-amctl learns what is wrong; or it
does not start, and leaves nothing: what was there is as it was. BIN has inc-amd
and inc-amctl. As root; it needs no kernel module.
"""
import contextlib
import hashlib
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
    def __init__(self, store, addr=None):
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.addr = addr or "127.0.0.1:%d" % s.getsockname()[1]
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


def start(store, switch="/none", listen="127.0.0.1:0", http="none", more=()):
    """Start one that is to end at once, as it cannot use what it was given."""
    cmd = [BIN / "inc-amd", "--listen", listen, "--switch", switch,
           "--http", http, "--store", store, *more]
    try:
        return subprocess.run(cmd, capture_output=True, text=True, check=False,
                              timeout=SOON)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(cmd, -1, "", "it has started")


def look(top):
    """All files below, and what is in them; SQLite's index of its log is no data."""
    files = {}
    for path in sorted(pathlib.Path(top).rglob("*")):
        data = path.read_bytes() if path.is_file() and \
            not path.name.endswith("-shm") else b""
        files[str(path.relative_to(top))] = hashlib.sha256(data).hexdigest()
    return files


@contextlib.contextmanager
def same(top, name):
    """What is done meanwhile leaves all files as they are."""
    before = look(top)
    yield
    after = look(top)
    ktap(before == after, f"{name}: the files are as before", sorted(
        f for f in {**before, **after} if before.get(f) != after.get(f)))


def refused(store, name):
    """It does not start, and says what to do."""
    with same(os.path.dirname(store), name):
        got = start(f"sqlite:{store}")
    ktap(got.returncode == 1 and "damaged" in got.stderr and
         "move it away" in got.stderr, name, got)


def full(tmp, kib):
    """A disk without room: nobody is told to move a store away that is whole."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", tmp],
                   check=True)
    try:
        with same(tmp, f"a disk of {kib} KiB"):
            got = start(f"sqlite:{tmp}/db")
    finally:
        subprocess.run(["umount", tmp], check=True)
    ktap(got.returncode == 1 and "no room: make some" in got.stderr and
         "damaged" not in got.stderr, f"a disk of {kib} KiB", got)


def leaves(tmp, name, want, **how):
    """It is refused, with these words, and leaves nothing."""
    with same(tmp, name):
        got = start(**how)
    ktap(got.returncode == 1 and want in got.stderr, name, got)


def nothing_left(tmp):
    """Starts that are refused, for all reasons, beside files that are there."""
    new, old, any_port = f"sqlite:{tmp}/new/db", f"{tmp}/db", "127.0.0.1:0"
    unix = f"unix:{tmp}/sock"
    m = Manager(old, unix)
    said, good, _ = m.wait(lambda out: not out.returncode)
    ktap(good, "a manager at a UNIX socket", said)
    leaves(tmp, "a store that another one has", "another manager uses it",
           store=f"sqlite:{old}", listen=any_port)
    leaves(tmp, "a socket that another one has", "in use", store=new,
           listen=unix)
    ktap(not m.ask("group").returncode, "which goes on", m.ask("group"))
    with socket.create_server(("127.0.0.1", 0)) as s:
        leaves(tmp, "a page's port that another one has", "--http", store=new,
               listen=f"{unix}2", http="127.0.0.1:%d" % s.getsockname()[1])
    leaves(tmp, "a PID file that cannot be", "--pidfile", store=new,
           listen=f"{unix}2", more=["--pidfile", f"{tmp}/none/pid"])
    # Its log has what the file does not have yet.
    m.amd.kill()
    m.amd.wait()
    ktap(os.path.getsize(f"{old}-wal") > 0, "one that was killed leaves a log")
    db = sqlite3.connect(f"{tmp}/other")
    db.execute("CREATE TABLE x (y)")
    db.execute("INSERT INTO x VALUES (1)")
    db.commit()
    db.close()
    pid = ["--pidfile", f"{tmp}/pid"]
    leaves(tmp, "another program's database", "another program",
           store=f"sqlite:{tmp}/other", listen=f"{unix}2", more=pid)
    pathlib.Path(f"{tmp}/text").write_text("no database")
    leaves(tmp, "no database", "no database of inc-amd",
           store=f"sqlite:{tmp}/text", listen=f"{unix}2", more=pid)
    with open(old, "r+b") as f:
        f.write(b"\xff" * 16)
    leaves(tmp, "a damaged one with a log", "damaged", store=f"sqlite:{old}",
           listen=any_port, more=pid)


def later(store):
    """One that a later inc-amd has used."""
    db = sqlite3.connect(store)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with same(os.path.dirname(store), "a later schema"):
        got = start(f"sqlite:{store}")
    ktap(got.returncode == 1 and "a later inc-amd" in got.stderr,
         "a later schema", got)
    db = sqlite3.connect(store)
    db.execute("PRAGMA user_version = 1")
    db.close()


def main():
    with tempfile.TemporaryDirectory() as tmp:
        nothing_left(tmp)
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

        later(store)
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
