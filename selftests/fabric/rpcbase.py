# SPDX-License-Identifier: GPL-2.0
#
# What tests that speak gRPC with the manager have in common.

import mmap
import os
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.abspath(__file__)) + "/../.."
SERVICE = "/rdma_inc.v1.Manager/"
N = 0


def ktap(good, name, why=""):
    global N
    N += 1
    text = str(why).replace("\n", " ").replace("#", " ")
    print(f"{'' if good else 'not '}ok {N} - {name}" +
          (f" # {text}" if not good else ""), flush=True)


def plan():
    print(f"1..{N}")


def leave(status=0):
    """Ends a program that has spoken gRPC: as the interpreter ends, threads of the
    library's now and then wait for one another."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def bindings():
    path = tempfile.mkdtemp()
    subprocess.run(["protoc", f"--python_out={path}", "-I",
                    f"{ROOT}/userspace/manager/proto", "rdma_inc.proto"],
                   check=True)
    sys.path.insert(0, path)
    import rdma_inc_pb2
    return rdma_inc_pb2


# What a process does that naps again and again: where a nap takes much longer than it
# should, this machine stood still. It ends with the one that has begun it.
NAPS = """
import mmap, os, struct, sys, time
still, total, parent = mmap.mmap(int(sys.argv[1]), 8), 0.0, int(sys.argv[2])
while os.getppid() == parent:
    began = time.monotonic()
    time.sleep(0.01)
    took = time.monotonic() - began
    if took > 0.05:
        total += took - 0.01
        still[:] = struct.pack("d", total)
"""
STILL = []


def now():
    """Seconds without those in which this machine stood still since the first call:
    for limits of time that assume a running machine, as now_ms of wait.sh. Never
    for how long something takes at least."""
    if not STILL:
        with tempfile.TemporaryFile() as f:
            f.write(bytes(8))
            f.flush()
            STILL.append(mmap.mmap(f.fileno(), 8))
            subprocess.Popen([sys.executable, "-c", NAPS, str(f.fileno()),
                              str(os.getpid())], pass_fds=[f.fileno()])
    return time.monotonic() - struct.unpack("d", STILL[0][:])[0]


def pack(msg):
    return msg if isinstance(msg, bytes) else msg.SerializeToString()
