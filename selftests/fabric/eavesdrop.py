# SPDX-License-Identifier: GPL-2.0
"""eavesdrop.py TOKEN ADDRESS:PORT...: listen there, close each connection when it
has said something, and print who has heard the token."""
import socket
import sys
import threading

token = sys.argv[1].encode()


def listen(address):
    host, port = address.rsplit(":", 1)
    server = socket.create_server((host, int(port)))
    while True:
        sock = server.accept()[0]
        sock.settimeout(2)
        data = b""
        try:
            while token not in data:
                more = sock.recv(4096)
                if not more:
                    break
                data += more
        except OSError:
            pass
        sock.close()
        print(f"{address} {'token' if token in data else 'nothing'}",
              flush=True)


for name in sys.argv[2:]:
    threading.Thread(target=listen, args=(name,)).start()
print("listening", flush=True)
