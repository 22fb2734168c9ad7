#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The switch of in-network computing (rdma_inc) as netlink shows it: trees and
members are made, refused, shown and ended. Needs no RDMA device.
"""

import errno
import os
import sys
from pathlib import Path

KSFT_DIR = (Path(__file__).parent / "..").resolve()
sys.path.append(KSFT_DIR.as_posix())

# pylint: disable=wrong-import-position
from net.lib.py import (  # noqa: E402
    KsftSkipEx, NetNS, NetNSEnter, NlError, YnlFamily, cmd,
    ksft_busy_wait, ksft_eq, ksft_exit, ksft_ne, ksft_run, ip)
from net.lib.py.ynl import SPEC_PATH  # noqa: E402

MEMBER = {"peer-qpn": 17, "peer-psn": 5, "local-addr": b"\x00" * 10 +
          b"\xff\xff" + bytes([10, 0, 0, 254])}


def addr(host):
    """The GID of 10.0.0.@host."""
    return b"\x00" * 10 + b"\xff\xff" + bytes([10, 0, 0, host])


def refused(err, nl, op, attrs):
    """Has the kernel said no to that, and why?"""
    try:
        nl.do(op, attrs)
        ksft_eq("taken", f"refused with {errno.errorcode[err]}")
    except NlError as e:
        ksft_eq(e.nl_msg.error, -err)


def tree(nl):
    """A tree comes with what was asked for, and goes."""
    new = nl.do("tree-new", {"id": 7, "ranks": 3, "slots": 4})
    ksft_eq((new["id"], new["ranks"], new["slots"]), (7, 3, 4))
    ksft_eq([t["id"] for t in nl.dump("tree-get", {})], [7])
    ksft_ne(nl.do("switch-get", {})["memory-used"], 0)
    nl.do("tree-del", {"id": 7})
    ksft_eq(nl.dump("tree-get", {}), [])


def wrong(nl):
    """What cannot be is refused, and leaves nothing."""
    refused(errno.ERANGE, nl, "tree-new", {"id": 1, "ranks": 0})
    refused(errno.EINVAL, nl, "tree-new", {"id": 1, "ranks": 2, "min-rto": 99,
                                           "dead-time": 99})
    refused(errno.ENOENT, nl, "tree-del", {"id": 1})
    refused(errno.ENOENT, nl, "member-get", {"tree-id": 1, "rank": 0})
    ksft_eq(nl.dump("tree-get", {}), [])


def member(nl):
    """A member gets a QPN of the switch's range; its rank is taken then."""
    nl.do("tree-new", {"id": 2, "ranks": 2})
    one = nl.do("member-new", {"tree-id": 2, "rank": 1, "peer-addr": addr(1),
                               **MEMBER})
    ksft_eq(one["qpn"] & ~0x3fffff, 0x800000)
    refused(errno.EEXIST, nl, "member-new", {
        "tree-id": 2, "rank": 1, "peer-addr": addr(2), **MEMBER})
    refused(errno.EINVAL, nl, "member-new", {
        "tree-id": 2, "rank": 0, "peer-addr": bytes(16), **MEMBER})
    ksft_eq([m["rank"] for m in nl.dump("member-get", {"tree-id": 2})], [1])
    nl.do("tree-del", {"id": 2})


def namespace(nl):
    """Each network namespace is a switch of its own, and ends with it."""
    nl.do("tree-new", {"id": 3, "ranks": 2})
    with NetNS() as other:
        with NetNSEnter(str(other)):
            there = family()
            ksft_eq(there.dump("tree-get", {}), [])
            there.do("tree-new", {"id": 3, "ranks": 5})
        ksft_eq(nl.do("tree-get", {"id": 3})["ranks"], 2)
    nl.do("tree-del", {"id": 3})
    ksft_busy_wait(lambda: nl.do("switch-get", {})["memory-used"] == 0)


def family():
    """The family inc of this namespace."""
    return YnlFamily((SPEC_PATH / "rdma-inc.yaml").as_posix(), schema="")


def main():
    """All of it in a namespace of its own."""
    if not os.path.isdir("/sys/module/rdma_inc"):
        cmd("modprobe rdma_inc", fail=False)
    if not os.path.isdir("/sys/module/rdma_inc"):
        raise KsftSkipEx("no rdma_inc")
    with NetNS() as ns:
        ip("link set lo up", ns=str(ns))
        ip("addr add 10.0.0.254/24 dev lo", ns=str(ns))
        with NetNSEnter(str(ns)):
            ksft_run([tree, wrong, member, namespace], args=(family(),))
    ksft_exit()


if __name__ == "__main__":
    main()
