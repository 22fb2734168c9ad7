# SPDX-License-Identifier: GPL-2.0
"""relay.py LISTEN AGENT SECONDS: stands between a manager and an agent, both by
UNIX sockets, and holds back each request that deletes a tree for so long."""
import os
import socket
import sys
import threading
import time

DELETES = b'operation="remove"'


def relay(source, sink, hold):
    data = b""
    while True:
        try:
            more = source.recv(1 << 16)
            if more and hold:
                # A request may come in parts: what was sent is not looked for.
                data = data[-len(DELETES):] + more
                if DELETES in data:
                    time.sleep(hold)
                    data = b""
            if more:
                sink.sendall(more)
                continue
        except OSError:
            pass
        break
    for sock in source, sink:
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(path, agent, hold):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("listening", flush=True)
    while True:
        manager, _ = listener.accept()
        other = socket.socket(socket.AF_UNIX)
        other.connect(agent)
        for args in (manager, other, hold), (other, manager, 0):
            threading.Thread(target=relay, args=args, daemon=True).start()


if os.path.exists(sys.argv[1]):
    os.unlink(sys.argv[1])
serve(sys.argv[1], sys.argv[2], float(sys.argv[3]))
