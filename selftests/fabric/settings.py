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
import signal
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
MOST = 4096			# switches


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


def default_file(text, *cmd):
    """Run a program where the default file has that."""
    script = ("mount -t tmpfs none /etc && mkdir /etc/rdma_inc && "
              "printf \"$0\" | tee /etc/rdma_inc/amd.conf "
              ">/etc/rdma_inc/agentd.conf && exec \"$@\"")
    return ["unshare", "-m", "--propagation", "unchanged", "sh", "-c", script, text, *cmd]


def always_help():
    for program, word in (AMD, "Usage: inc-amd"), (AGENT, "Usage: inc-agentd"):
        name = program.name
        for option in "--help", "-h":
            says(f"{name} {option}: the default file is wrong", 0, word,
                 *default_file("x = y\n", program, option))
        for option in "--version", "-V":
            says(f"{name} {option}: the default file is wrong", 0, name,
                 *default_file("x = y\n", program, option))
        says(f"{name} --config FILE --help: that file is wrong", 0, word,
             program, "--config", "/nowhere", "--help")
        says(f"{name}: the default file is wrong", 2,
             f'{name[4:]}.conf:1: "x": there is no such option',
             *default_file("x = y\n", program))
        says(f"{name} --nonsense --help", 2, "unrecognized option", program,
             "--nonsense", "--help")


def wrong_files(top):
    file = top / "conf"
    for program in AMD, AGENT:
        for text, want in (
                ("help\n", 'conf:1: "help" is for the command line only'),
                ("\nversion\n", 'conf:2: "version" is for the command line only'),
                (f"config = {file}\n", '"config" is for the command line only'),
                ("nonsense 5\n", '"nonsense": there is no such option'),
                ("\ufeffverbose\n", "conf:1: it begins with a byte order mark"),
                ("[main]\nverbose\n", '"[main]": there are no sections'),
                ("ver\x1b[2Jbose\n", '"ver?[2Jbose": there is no such option')):
            file.write_text(text, encoding="utf-8")
            says(f"{program.name}: a file: {text!a}", 2, want, program, "-f",
                 file)
    for program, option in (
            (AMD, "--config"), (AMD, "--pidfile"), (AMD, "--store"),
            (AMD, "--tokens"), (AGENT, "--config"), (AGENT, "--unix"),
            (AGENT, "--pidfile"), (AGENT, "--id")):
        says(f'{program.name} {option} ""', 2,
             f"{option} needs a value that is not empty", program, option, "")
    says("inc-amd --listen unix:", 2, "must be unix:PATH", AMD, "--listen",
         "unix:", *AMD_REST)
    long = "/" + "x" * 107
    for cmd in amd(long), agent(long):
        says(f"{cmd[0].name}: a socket's path that is too long", 1,
             "has 107 bytes at most", *cmd)
    (top / "file").write_text("precious", encoding="utf-8")
    for cmd in amd(top / "file"), agent(top / "file"):
        says(f"{cmd[0].name}: a file in the socket's place", 1,
             "which is no socket", *cmd)
    ktap((top / "file").read_text(encoding="utf-8") == "precious",
         "it is still there")


class Reloaded:
    """A manager that reads its switches again."""

    def __init__(self, top):
        self.top = top
        self.conf = top / "amd.conf"
        self.at = top / "again"
        self.write(["/a"])
        with open(top / "log", "w", encoding="utf-8") as log:
            self.amd = subprocess.Popen([AMD, "-f", self.conf],
                                        stdout=subprocess.DEVNULL, stderr=log)
        ktap(wait(lambda: listens(self.at)), "inc-amd: it listens")

    def write(self, switches):
        self.conf.write_text(f"listen unix:{self.at}\nhttp none\nstore none\n" +
                             "".join(f"switch {s}\n" for s in switches),
                             encoding="utf-8")

    def log(self):
        return (self.top / "log").read_text(encoding="utf-8")

    def reload(self, switches):
        """What the event says."""
        before = self.log().count("inc-amd: switches-")
        self.write(switches)
        self.amd.send_signal(signal.SIGHUP)
        wait(lambda: self.log().count("inc-amd: switches-") > before)
        return [line for line in self.log().splitlines()
                if " switches-" in line][-1]

    def switches(self):
        out = subprocess.run([CTL, "-m", f"unix:{self.at}", "switch"],
                             capture_output=True, text=True, check=False)
        return sorted(line.split()[3].rstrip(":")
                      for line in out.stdout.splitlines())

    def end(self):
        self.amd.terminate()
        return self.amd.wait()


def many_switches(top):
    many = [f"/none/{i}" for i in range(MOST + 1)]
    m = Reloaded(top)
    m.write(many)
    want = f"{MOST + 1} switches: there may be {MOST}"
    says("too many switches at the start", 2, want, AMD, "-f", m.conf)
    said = m.reload(many)
    ktap("switches-wrong" in said and want in said and
         "the switches are as before" in said, "too many switches at SIGHUP",
         said)
    ktap(m.switches() == ["/a"], "they are as before", m.switches())
    for i in range(1100):
        said = m.reload(["/a", f"/b{i}"])
        if "switches-read" not in said:
            break
    ktap("switches-read" in said, "switches change 1,100 times", f"{i}: {said}")
    ktap("/b1099" in m.switches(), "the last one is there", m.switches())
    said = m.reload(["/c"])
    ktap("1 switches are new" in said and wait(lambda: m.switches() == ["/c"]),
         "then all go but a new one", m.switches())
    m.amd.send_signal(signal.SIGINT)
    ktap(m.end() == 0, "it ends in order, told twice in a moment")
    ktap(not m.at.exists(), "and leaves no socket behind")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        top = pathlib.Path(tmp)
        always_help()
        wrong_files(top)
        for make in amd, agent:
            in_use(make, top / "sock")
            replaced(make, top / "sock")
        at_once(top / "sock")
        many_switches(top)
    sys.exit(plan())


if __name__ == "__main__":
    main()
