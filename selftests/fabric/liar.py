#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
liar.py AMD AMCTL AGENTD [LIE...]: give a manager one agent that is one, and as many that
lie, each in another way: with sizes of chunks that are none, with answers, sizes,
hellos and notifications without end; and with texts that would be lines of the log of
their own, or commands to a terminal. The manager lives, takes little memory, and serves
the switch of the good one. It needs no kernel module.
"""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

from agentd import END, HELLO, NC, Agent
from rpcbase import ktap, plan

LASTS = int(os.environ.get("INC_LASTS", 15))	# seconds
SOON = 50			# seconds: within which it ends, or connects again
LIMIT = 256			# MiB
V10 = "<capability>urn:ietf:params:netconf:base:1.0</capability>"
V11 = "<capability>urn:ietf:params:netconf:base:1.1</capability>"
NOTIF = "<capability>urn:ietf:params:netconf:capability:notification:1.0</capability>"
PIECE = b"<x>" * (1 << 15)
NEWS = (b'<notification xmlns="urn:ietf:params:xml:ns:netconf:notification:1.0">'
        b"<eventTime>2026-01-01T00:00:00Z</eventTime>"
        b'<topology-changed xmlns="urn:rdma-inc:switch"><interface>v0</interface>'
        b"</topology-changed></notification>")


def hello(versions):
    return ((HELLO % (versions + NOTIF)).replace(
        "</hello>", "<session-id>1</session-id></hello>")).encode() + END


def chunk(data):
    return b"\n#%d\n" % len(data) + data


def whole(data):
    return chunk(data) + b"\n##\n"


def once(data):
    return lambda s, asked: s.sendall(data)


def endless(data, begin=b""):
    def send(s, asked):
        s.sendall(begin)
        while True:
            s.sendall(data)
    return send


def reply(body):
    return (b'<rpc-reply xmlns="%s" message-id="1"><data>' % NC.encode() + body +
            b"</data></rpc-reply>")


def told(body):
    """Whatever is asked, this is a good answer to it."""
    def send(s, asked):
        number = re.search(rb'message-id="(\d+)"', asked)
        if number:
            s.sendall(whole(reply(b"").replace(
                b'"1"', b'"%s"' % number[1]).replace(
                b"<data></data>", body.encode())))
    return send


def error(text):
    return told(f"<rpc-error><error-type>application</error-type><error-tag>"
                f"operation-failed</error-tag><error-severity>error"
                f"</error-severity><error-message>{text}</error-message></rpc-error>")


def switch(name, interface):
    return told(f'<data><switch xmlns="urn:rdma-inc:switch"><identity><id>{name}</id>'
                "</identity><limits><memory-limit>1000000</memory-limit></limits>"
                f"<interface><name>{interface}</name><phys-address>"
                "02:00:00:00:00:01</phys-address><oper-up>true</oper-up><neighbour>"
                "<phys-address>02:00:00:00:00:02</phys-address><address>10.9.9.9"
                "</address></neighbour></interface></switch></data>")


# What ends a line, commands a terminal, or turns it around.
FOUL = "\n\r\x7f\x9b\u2028\u2029\u202e\u2066"
HALF = "half an answer"
# NAME: hello, what is answered
LIES = {
    "a chunk of 0": (V11, once(b"\n#0\n")),
    "a chunk of -1": (V11, once(b"\n#-1\n")),
    "a chunk of 4 GiB": (V11, once(b"\n#4294967296\n" + PIECE)),
    "a chunk of 0 after another one": (V11, once(chunk(PIECE) + b"\n#0\n")),
    "a chunk of 0, again and again": (V11, endless(b"\n#0\n")),
    "no chunk in a message": (V11, once(b"\n##\n")),
    "messages without a chunk, without end": (V11, endless(b"\n##\n" * 10000)),
    HALF: (V11, once(b"\n#16384\n" + PIECE[:100])),
    "chunks without end": (V11, endless(chunk(PIECE))),
    "small chunks without end": (V11, endless(chunk(b"<x>") * 10000)),
    "a size without end": (V11, endless(b"1" * 65536, b"\n#")),
    "no chunk at all": (V11, endless(b"x" * 65536)),
    "an answer of empty elements": (V11, once(whole(
        reply(b"<x/>" * (3 << 20))))),
    "replies without end": (V11, endless(whole(
        reply(b"").replace(b'"1"', b'"99"')))),
    "news without end": (V11, endless(whole(NEWS))),
    "NETCONF 1.0": (V10, endless(PIECE)),
    "a hello without end": (None, endless(PIECE)),
    "a line of the log": (V11, error("no" + FOUL + "inc-amd: forged")),
    "up": (V11, error("up")),
    "no name": (V11, switch("", "v0")),
    "names of many lines": (V11, switch("foul", "v" + FOUL + "0")),
}


class Liar:
    def __init__(self, path, versions, answer):
        self.versions, self.answer, self.asked = versions, answer, 0
        self.sessions = 0
        self.path = path
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.bind(path)
        self.sock.listen(8)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            s, _ = self.sock.accept()
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        self.sessions += 1
        try:
            if self.versions:
                s.sendall(hello(self.versions))
            else:
                self.asked += 1
                self.answer(s, b"")
            said = b""
            while END not in said:
                said += (part := s.recv(1 << 16))
                if not part:
                    raise ConnectionError
            # The first request may come together with the hello.
            asked = said.split(END, 1)[1]
            while self.versions and (asked := asked or s.recv(1 << 16)):
                self.asked += 1
                self.answer(s, asked)
                asked = b""
        except OSError:
            pass		# the manager has had enough
        s.close()


def status(pid, name):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(name + r":\s+(\d+)", f.read())[1]) >> 10


def is_clean(text):
    return not set(FOUL[1:]) & set(text) and "\ninc-amd: forged" not in text


def ctl(amctl, addr, *args):
    return subprocess.run([amctl, "-m", addr, *args], capture_output=True, text=True,
                          check=False)


def main():
    amd, amctl, agentd, *names = sys.argv[1:]
    tmp = tempfile.TemporaryDirectory()
    good = Agent([agentd])
    liars = {name: Liar(f"{tmp.name}/{i}", *lie)
             for i, (name, lie) in enumerate(LIES.items())
             if not names or name in names}
    with socket.create_server(("127.0.0.1", 0)) as s:
        addr = "127.0.0.1:%d" % s.getsockname()[1]
    log = open(tmp.name + "/log", "w+")
    cmd = [amd, "-v", "--listen", addr, "--insecure-plaintext", "--store", "none",
           "--http", "none"]
    for path in [liar.path for liar in liars.values()] + [good.path]:
        cmd += ["--switch", path]
    proc = subprocess.Popen(cmd, stdout=log, stderr=log)
    begin, most, slowest, served = time.monotonic(), 0, 0, 0
    while proc.poll() is None and time.monotonic() - begin < LASTS:
        asked = time.monotonic()
        out = ctl(amctl, addr, "topology")
        slowest = max(slowest, time.monotonic() - asked)
        served += out.returncode == 0
        if proc.poll() is None:
            most = max(most, status(proc.pid, "VmHWM"))
        time.sleep(0.5)
    text = out.stdout + out.stderr
    events = ctl(amctl, addr, "event").stdout
    log.seek(0)
    said = log.read()
    ktap(proc.poll() is None, "the manager lives", f"{proc.poll()} {said[-500:]}")
    print(f"# memory: at most {most} MiB; answered {served} times, after "
          f"{slowest:.1f} s at most")
    ktap(0 < most < LIMIT, "it takes little memory", f"{most} MiB")
    for name, liar in liars.items():
        ktap(liar.asked, f"{name}: it was asked", said[-500:])
    print("# " + text.replace("\n", "\n# "))
    ktap(served > 5, "it answers meanwhile", text)
    for name, shown in (("log", said), ("topology", text), ("events", events)):
        ktap(is_clean(shown), f"no text of an agent is a line of the {name}",
             ascii(shown[-1000:]))
    for lie, shown in (("a line of the log", "no????????inc-amd: forged"),
                       ("names of many lines", "host 10.9.9.9 at foul:v????????0")):
        if lie in liars:
            ktap(shown in text, lie + ": it is shown cleaned", ascii(text))
    for lie, why in (("up", "up"), ("no name", "its identity has to be 1 to 63 .*")):
        if lie in liars:
            ktap(re.search(f"{liars[lie].path}: down: {why}$", text, re.M),
                 lie + ": it is down", text)
    tables = [json.loads(ctl(amctl, addr, "-j", *what).stdout)
              for what in (["switch"], ["task", "--switches"])]
    ktap(all((row["state"] == "up") == (row.get("id", row.get("name")) == "foul") and
             (row["state"] == "up") == (row["why"] == "") for t in tables for row in t),
         "a state is one word, and the reason another member", tables)
    # Without a module it has no room for trees, which it says itself.
    ktap("rdma_inc is not loaded on sw" in text + said,
         "the good agent is heard", text)
    if HALF in liars:
        # Two at a time: for requests, and for notifications.
        was = liars[HALF].sessions
        while liars[HALF].sessions < 3 and time.monotonic() - begin < LASTS + SOON:
            time.sleep(0.5)
        ktap(liars[HALF].sessions >= 3, f"{HALF}: the manager connects again",
             f"{was}, {liars[HALF].sessions} connections")
    proc.terminate()
    try:
        proc.wait(SOON)
    except subprocess.TimeoutExpired:
        proc.kill()
    ktap(proc.wait() == 0, "the manager ends when told to", proc.returncode)
    good.end()
    plan()


main()
