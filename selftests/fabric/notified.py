# SPDX-License-Identifier: GPL-2.0
#
# systemd's end of sd_notify(3): prints what it is told, until STOPPING=1.
#
#   notified.py SOCKET

import os
import socket
import sys

s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
text = ""
while "STOPPING=1" not in text:
    text = s.recv(4096).decode()
    print(text, flush=True)
os.unlink(sys.argv[1])
