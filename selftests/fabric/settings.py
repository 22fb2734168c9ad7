#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
settings.py BIN YANG: what inc-amd and inc-agentd make of options and files that are
wrong, and of UNIX sockets that others have. BIN has the directories manager and
agent, YANG the agent's modules. As root; it needs no kernel module.
"""
import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

from rpcbase import ktap, plan

SOON = 20			# seconds
BIN = pathlib.Path(sys.argv[1]).resolve()
AMD, CTL = BIN / "manager/inc-amd", BIN / "manager/inc-amctl"
AGENT = BIN / "agent/inc-agentd"
AMD_REST = ["--store", "none", "--http", "none", "--switch", "/none"]
IN_USE = "in use: another process listens there"


def amd(at):
    return [AMD, "--listen", f"unix:{at}", *AMD_REST]


def agent(at):
    return [AGENT, "-y", sys.argv[2], "--lldp", "none", "-u", at]


def says(name, code, text, *cmd):
    """A command that ends at once."""
    try:
        out = subprocess.run(cmd, capture_output=True, text=True, check=False,
                             timeout=SOON)
        said = out.stdout + out.stderr
        ktap(out.returncode == code and text in said, name,
             f"{out.returncode}: {said[-300:]}")
    except subprocess.TimeoutExpired:
        ktap(False, name, "it has started")


def wait(good):
    until = time.monotonic() + SOON
    while not good() and time.monotonic() < until:
        time.sleep(0.02)
    return good()


def listens(at):
    with socket.socket(socket.AF_UNIX) as s:
        return not s.connect_ex(str(at))


@contextlib.contextmanager
def running(cmd, at):
    with subprocess.Popen(cmd, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as daemon:
        ktap(wait(lambda: listens(at)), f"{cmd[0].name}: it listens")
        try:
            yield daemon
        finally:
            daemon.terminate()


def inode(at):
    return os.lstat(at).st_ino if os.path.lexists(at) else None


def in_use(make, at):
    """By one that runs, and by other programs."""
    name = make(at)[0].name
    with running(make(at), at):
        before = inode(at)
        says(f"{name}: another one's socket", 1, IN_USE, *make(at))
        ktap(listens(at) and inode(at) == before,
             f"{name}: the other one still has it")
        if make is amd:
            says("inc-amctl reaches it", 0, "switch", CTL, "-m", f"unix:{at}",
                 "switch")
    ktap(not os.path.lexists(at), f"{name}: then it is gone")
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as other:
            other.bind(str(at))
            if kind != socket.SOCK_DGRAM:
                other.listen()
            before = inode(at)
            says(f"{name}: another program's socket, {kind.name}", 1, IN_USE,
                 *make(at))
            ktap(inode(at) == before, f"{name}: {kind.name}: it is still there")
        at.unlink()


def replaced(make, at):
    """A stale one is replaced; what has taken ours' place stays."""
    name = make(at)[0].name
    with running(make(at), at) as daemon:
        daemon.kill()
        daemon.wait()
    ktap(os.path.lexists(at), f"{name}: killed: its socket is still there")
    with running(make(at), at), socket.socket(socket.AF_UNIX) as other:
        at.unlink()
        other.bind(str(at))
        before = inode(at)
    ktap(inode(at) == before, f"{name}: it leaves what is not its own")
    at.unlink()


def at_once(at):
    """Of those that start together, one listens."""
    for i in range(5):
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(at))
        with contextlib.ExitStack() as stack:
            them = [stack.enter_context(subprocess.Popen(
                amd(at), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
                    for _ in range(8)]
            wait(lambda them=them: sum(p.poll() is None for p in them) == 1)
            live = [p for p in them if p.poll() is None]
            ktap(len(live) == 1 and wait(lambda: listens(at)),
                 f"start {i} of eight at once: one has the socket", len(live))
            for p in them:
                p.terminate()
        if os.path.lexists(at):
            at.unlink()


def main():
    with tempfile.TemporaryDirectory() as tmp:
        top = pathlib.Path(tmp)
        for make in amd, agent:
            in_use(make, top / "sock")
            replaced(make, top / "sock")
        at_once(top / "sock")
    sys.exit(plan())


if __name__ == "__main__":
    main()
