# SPDX-License-Identifier: GPL-2.0
"""query.py DIR SWITCH HOST0 HOST1: what inc_comm_query() said (DIR/out.RANK, a
line each: after joining, in the middle, in the end) against what the switch
says of the same members, and against the operations that live.c carries out."""
import json
import sys

DIR, SWITCH, HOSTS = sys.argv[1], sys.argv[2], sys.argv[3:5]
IDLE, BUSY = 0, 1
HDR = 32
# allreduce of 30000 int32, broadcast of 100 from rank 0, a barrier; an
# allreduce.
ELEMS, FEW = 30000 * 4, 100 * 4


def load(name):
    with open(f"{DIR}/{name}", encoding="utf-8") as file:
        return json.load(file)


def states(rank):
    with open(f"{DIR}/out.{rank}", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, must be {want!r}")


def identity(rank, i, member):
    """Who it is: nothing of this ever changes."""
    same("job", i["job"], "asked")
    same("rank", (i["rank"], i["nranks"]), (rank, 2))
    same("addr", (i["addr"], i["switch-addr"]), (HOSTS[rank], SWITCH))
    same("status", i["status"], 0)
    for ours, theirs in (("tree-id", "tree-id"), ("rank", "rank"),
                         ("qpn", "peer-qpn"), ("switch-qpn", "qpn"),
                         ("addr", "peer-addr"), ("switch-addr", "local-addr")):
        same(f"{ours} beside the switch's", i[ours], member[theirs])


def traffic(i, member):
    """Every message sent was taken in, byte for byte."""
    same("next message ID", i["next-msg-id"], member["next-msg-id"])
    same("bytes", i["tx-bytes"], member["stats"]["rx-bytes"])
    same("errors", i["errors"], 0)


def member_of(name, rank):
    return next(m for m in load(name) if m["rank"] == rank)


def main():
    pieces = None
    for rank in range(2):
        joined, middle, end = states(rank)
        for i in joined, middle, end:
            identity(rank, i, member_of("member.idle", rank))
        same("joined", (joined["state"], joined["begun"], joined["collective"],
                        joined["messages"]), (IDLE, 0, "none", 0))
        # Rank 0 has started the last one, rank 1 has not.
        busy = rank == 0
        same("state", middle["state"], BUSY if busy else IDLE)
        same("begun", (middle["begun"], middle["operations"]), (3 + busy, 3))
        same("data block", (middle["collective"], middle["block"]),
             ("allreduce", ELEMS) if busy else ("barrier", 0))
        pieces = end["messages"] - 2 if pieces is None else pieces
        per_op = pieces // 2
        same("messages", end["messages"], 2 * per_op + 2)
        same("of the operation", (middle["op-messages"], middle["op-results"]),
             (per_op, 0) if busy else (0, 0))
        same("results", middle["results"], per_op + 2)
        traffic(middle, member_of("member.busy", rank))
        same("end", (end["state"], end["begun"], end["operations"]),
             (IDLE, 4, 4))
        same("results", end["results"], end["messages"])
        same("sent", end["tx-bytes"], 2 * ELEMS + (FEW if rank == 0 else 0) +
             HDR * end["messages"])
        same("received", end["rx-bytes"], 2 * ELEMS + (0 if rank == 0 else FEW))
        traffic(end, member_of("member.idle", rank))
        tree = next(t for t in load("tree") if t["id"] == end["tree-id"])
        same("messages of the tree", tree["stats"]["messages"], end["messages"])
        same("tree", (end["slots"], end["msg-size"], end["pmtu"]),
             (tree["slots"], tree["msg-size"], tree["pmtu"]))


main()
