#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
netlink_keys.py SET: JSON of inc-tool on standard input; fails if its keys are
not the attributes of that set of the YNL spec, and those documented besides.
"""
import json
import os
import sys

import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
EXTRA = {"local-gid", "rank-stats"}
# Attributes of a leaf's parent, which members lack.
PARENT = {"peer-tree-id", "peer-rkey"}
# What members have that are bound to an interface.
BOUND = {"ifindex"}
# Those of the tree that failed last, which a switch may not have.
FAILED = {"failed-" + what for what in (
    "tree", "status", "age", "pmtu", "rank", "error", "addr")}

with open(os.path.join(ROOT, "Documentation/netlink/specs/rdma-inc.yaml"),
          encoding="utf-8") as f:
    SETS = {s["name"]: {a["name"]: a for a in s["attributes"]}
            for s in yaml.safe_load(f)["attribute-sets"]}


def check(got, space):
    want = set(SETS[space])
    wrong = (set(got) ^ want) - EXTRA - PARENT - BOUND - FAILED
    if wrong:
        sys.exit(f"{space}: {sorted(wrong)}")
    for name, value in got.items():
        nested = SETS[space].get(name, {}).get("nested-attributes")
        if nested:
            check(value, nested)


data = json.load(sys.stdin)
for obj in data if isinstance(data, list) else [data]:
    check(obj, sys.argv[1])
