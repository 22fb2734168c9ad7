#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""alive.py PORT: a daemon that says "alive" without end, as fast as it can."""
import socket
import sys
import threading

LINES = b'{"event":"alive"}\n' * 1000


def say(conn):
    try:
        while True:
            conn.sendall(LINES)
    except OSError:
        pass


with socket.create_server(("", int(sys.argv[1]))) as server:
    print("there", flush=True)
    while True:
        threading.Thread(target=say, args=(server.accept()[0],),
                         daemon=True).start()
