# SPDX-License-Identifier: GPL-2.0
#
# What tests that speak gRPC with the manager have in common.

import os
import subprocess
import sys
import tempfile

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


def bindings():
    path = tempfile.mkdtemp()
    subprocess.run(["protoc", f"--python_out={path}", "-I",
                    f"{ROOT}/userspace/manager/proto", "rdma_inc.proto"],
                   check=True)
    sys.path.insert(0, path)
    import rdma_inc_pb2
    return rdma_inc_pb2


def pack(msg):
    return msg if isinstance(msg, bytes) else msg.SerializeToString()
