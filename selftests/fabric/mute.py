# SPDX-License-Identifier: GPL-2.0
"""mute.py SOCKET: connect to an agent, say nothing, and tell when it has had
enough. mute.py SOCKET probe ADDRESS...: ask it for hosts; print the reply."""
import socket
import sys
import time

END = b"]]>]]>"
HELLO = (b'<hello xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">'
         b"<capabilities><capability>urn:ietf:params:netconf:base:1.0"
         b"</capability></capabilities></hello>" + END)


def message(sock):
    data = b""
    while END not in data:
        more = sock.recv(65536)
        if not more:
            break
        data += more
    return data.decode(errors="replace")


sock = socket.socket(socket.AF_UNIX)
sock.settimeout(60)
sock.connect(sys.argv[1])
start = time.monotonic()
if sys.argv[2:3] == ["probe"]:
    sock.sendall(HELLO)
    message(sock)
    sock.sendall(b'<rpc message-id="1" '
                 b'xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">'
                 b'<probe xmlns="urn:rdma-inc:switch">' +
                 b"".join(b"<address>%s</address>" % a.encode()
                          for a in sys.argv[3:]) + b"</probe></rpc>" + END)
    print(message(sock))
else:
    try:
        while sock.recv(65536):
            pass
    except TimeoutError:
        print("not closed")
        sys.exit(1)
    print(f"closed after {time.monotonic() - start:.1f} s")
