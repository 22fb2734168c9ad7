# SPDX-License-Identifier: GPL-2.0
"""rude.py ADDRESS N SECONDS [PORT]: open N connections to a manager that say nothing,
half a TLS record, or random bytes; and wait until it has closed all of them, or so
many seconds."""
import random
import resource
import socket
import struct
import sys
import time

count = int(sys.argv[2])
port = int((sys.argv[4:] + [18790])[0])
seed = random.randrange(1 << 32)
random.seed(seed)
print(f"# seed {seed}")
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

socks = []
for i in range(count):
    sock = socket.create_connection((sys.argv[1], port), 10)
    try:
        if i % 3 == 1:
            # A handshake that claims to be longer than what comes.
            sock.sendall(b"\x16\x03\x01" + struct.pack(">H", 512) + b"\x01")
        elif i % 3 == 2:
            sock.sendall(random.randbytes(random.randrange(1, 300)))
    except OSError:
        pass
    socks.append(sock)
print(f"open: {len(socks)}", flush=True)

begin = time.monotonic()
end = begin + float(sys.argv[3])
left = 0
for sock in socks:
    sock.settimeout(max(0.01, end - time.monotonic()))
    try:
        while sock.recv(4096):
            pass
    except TimeoutError:
        left += 1
    except OSError:
        pass
print(f"closed: {len(socks) - left} after {time.monotonic() - begin:.1f} s")
sys.exit(1 if left else 0)
