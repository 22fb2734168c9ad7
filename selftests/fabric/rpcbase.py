# SPDX-License-Identifier: GPL-2.0
#
# What tests that speak gRPC with the manager have in common.

import os
import queue
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
                    f"{ROOT}/userspace/rpc/proto", "rdma_inc.proto"],
                   check=True)
    sys.path.insert(0, path)
    import rdma_inc_pb2
    return rdma_inc_pb2


# What the process writes that looks for it.
STILL = []


def now():
    """Seconds without those in which this machine stood still since the first call:
    for limits of time that assume a running machine, as now_ms of wait.sh. Never
    for how long something takes at least."""
    if not STILL:
        STILL.append(tempfile.TemporaryFile())
        STILL[0].write(b"%015d\n" % 0)
        STILL[0].flush()
        subprocess.Popen([sys.executable, "-I", "-S",
                          ROOT + "/selftests/lib/still.py", "40"],
                         stdout=STILL[0])
    return time.monotonic() - int(os.pread(STILL[0].fileno(), 15, 0)) / 1e6


def pack(msg):
    return msg if isinstance(msg, bytes) else msg.SerializeToString()


class Rank:
    """A rank of a group, whose queue pair does not exist."""

    def __init__(self, pb, channel, group, rank, ranks, addr, timeout=None):
        self.pb, self.out = pb, queue.Queue()
        self.put(join=pb.JoinRequest(group=group, ranks=ranks, rank=rank,
                                     addr=addr, qpn=17 + rank, psn=1))
        self.call = channel.stream_stream(
            SERVICE + "Join", request_serializer=pack,
            response_deserializer=pb.ManagerMessage.FromString)(
                iter(self.out.get, None), timeout=timeout)

    def put(self, **kw):
        self.out.put(self.pb.RankMessage(**kw))

    def until(self, kind):
        for msg in self.call:
            if msg.WhichOneof("kind") == kind:
                return
        raise SystemExit(f"no {kind}")
