#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
top_tty.py CMD...: run a live view on a terminal of our own: it stays within the
screen, follows its size, and gives the terminal back on Ctrl-C, on q and on
SIGTERM. Prints PASS and FAIL lines.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?25h\x1b[?1049l"
HOME = b"\x1b[H"
bad = False


def case(name, good, why=""):
    global bad
    bad = bad or not good
    print("PASS" if good else "FAIL", name + ("" if good else f" # {why}"))


def resize(fd, rows, cols):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


class Top:
    """A run, whose terminal stays open, so that its state can be looked at."""

    def __init__(self):
        self.fd, self.slave = pty.openpty()
        resize(self.fd, 5, 60)
        self.before = termios.tcgetattr(self.slave)
        self.out = b""
        self.pid = os.fork()
        if not self.pid:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for fd in (0, 1, 2):
                os.dup2(self.slave, fd)
            os.execvp(sys.argv[1], sys.argv[1:])

    def read(self, until, secs=60):
        """Read until a picture fulfils @until; False if none does."""
        end = time.monotonic() + secs
        while time.monotonic() < end:
            pictures = self.out.split(HOME)[1:-1]
            if pictures and until(pictures[-1]):
                return True
            if select.select([self.fd], [], [], 0.1)[0]:
                self.out += os.read(self.fd, 65536)
        return False

    def end(self, how):
        """What is left of it, and of the terminal."""
        how()
        status, deadline = None, time.monotonic() + 60
        while time.monotonic() < deadline:
            if select.select([self.fd], [], [], 0.1)[0]:
                self.out += os.read(self.fd, 65536)
            if status is None:
                pid, st = os.waitpid(self.pid, os.WNOHANG)
                status = st if pid else None
            elif not select.select([self.fd], [], [], 0.1)[0]:
                break
        after = termios.tcgetattr(self.slave)
        os.close(self.fd)
        os.close(self.slave)
        return status, after == self.before, self.out.count(LEAVE)


def lines(picture):
    return picture.replace(b"\x1b[J", b"").rstrip(b"\r\n").count(b"\n") + 1


top = Top()
case("top: a picture on the screen", top.read(lambda p: b"messages/s" in p),
     repr(top.out[-200:]))
case("top: the alternate screen", ENTER in top.out)
case("top: 5 lines fit", top.read(lambda p: 1 < lines(p) <= 5),
     repr(top.out[-300:]))
resize(top.fd, 24, 100)
case("top: follows the size", top.read(lambda p: lines(p) > 5 or
                                       b"round trip, who is" in p),
     repr(top.out[-300:]))
st, same, left = top.end(lambda: os.write(top.fd, b"\x03"))
case("top: Ctrl-C ends it", st == 0, st)
case("top: Ctrl-C gives the terminal back", same and left == 1, (same, left))
for name, how in (("q", lambda t: os.write(t.fd, b"q")),
                  ("SIGTERM", lambda t: os.kill(t.pid, signal.SIGTERM))):
    top = Top()
    top.read(lambda p: True)
    st, same, left = top.end(lambda how=how, t=top: how(t))
    case(f"top: {name} gives the terminal back",
         st == 0 and same and left == 1, (st, same, left))
sys.exit(bad)
