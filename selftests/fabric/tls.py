# SPDX-License-Identifier: GPL-2.0
"""tls.py ADDRESS [hold]: NETCONF over TLS, with the certificate in INC_AM_CERTS and
no library but Python's: what may this user do? hold: and keep the session."""
import os
import signal
import socket
import ssl
import sys

END = b"]]>]]>"
BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
certs = os.environ["INC_AM_CERTS"]


def read(sock):
    data = b""
    while END not in data:
        part = sock.recv(65536)
        if not part:
            raise ConnectionError("closed")
        data += part
    return data.decode()


def ask(sock, number, what):
    sock.sendall(f'<rpc xmlns="{BASE}" message-id="{number}">{what}</rpc>'
                 .encode() + END)
    reply = read(sock)
    if "<rpc-error>" not in reply:
        return "ok"
    return reply.split("<error-tag>")[1].split("<")[0]


context = ssl.create_default_context(cafile=certs + "/ca.pem")
context.load_cert_chain(certs + "/cert.pem", certs + "/key.pem")
try:
    with socket.create_connection((sys.argv[1], 6513), 10) as tcp, \
            context.wrap_socket(tcp, server_hostname=sys.argv[1]) as sock:
        read(sock)
        sock.sendall(f'<hello xmlns="{BASE}"><capabilities><capability>'
                     'urn:ietf:params:netconf:base:1.0</capability>'
                     '</capabilities></hello>'.encode() + END)
        get = ask(sock, 1, "<get/>")
        lock = ask(sock, 2, "<lock><target><running/></target></lock>")
        if sys.argv[2:] == ["hold"]:
            # libnetconf2 ends sessions without one that are idle.
            ask(sock, 3, '<create-subscription xmlns="urn:ietf:params:xml:ns:'
                'netconf:notification:1.0"/>')
        print(f"get {get}, lock {lock}", flush=True)
        if sys.argv[2:] == ["hold"]:
            signal.pause()
except (ssl.SSLError, ConnectionError) as e:
    # Nobody listening is no refusal.
    print("nobody listens" if isinstance(e, ConnectionRefusedError)
          else f"refused: {e}")
    sys.exit(1)
