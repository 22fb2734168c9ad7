#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A server that is no manager, for secure.sh.

    other.py ADDRESS:PORT ssh|http|closes
"""
import socket
import sys
import threading
import time

GREETS = {"ssh": b"SSH-2.0-OpenSSH_9.6\r\n"}
ANSWERS = {"http": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"}


def serve(conn, kind):
    try:
        conn.sendall(GREETS.get(kind, b""))
        conn.recv(4096)
        conn.sendall(ANSWERS.get(kind, b""))
        if kind != "closes":
            time.sleep(1)
    except OSError:
        pass
    conn.close()


host, port = sys.argv[1].rsplit(":", 1)
listener = socket.create_server((host, int(port)))
print("listening", flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0], sys.argv[2]),
                     daemon=True).start()
