#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Which files has a tool not passed yet, as they are? Standard input has their names;
prints those that are new to it. In the cache of the lab a file's name, bytes and
those of the scripts that it sources make an entry for each tool.

    passed.py [--mark] CACHE TOOL...     --mark: it has passed them; print nothing

TOOL is all that its verdict depends on, such as a version and options. Entries that
nobody has asked for in 30 days go.
"""
import hashlib
import os
import re
import sys
import time

DAYS = 30
# Paths of these are from the top of the tree.
SOURCED = re.compile(r"^\s*# shellcheck source=(\S+)", re.M)


def needed(path, seen):
    """Path and what it sources, directly or not."""
    if path not in seen and os.path.isfile(path):
        with open(path, "rb") as f:
            seen[path] = f.read()
        for other in SOURCED.findall(seen[path].decode(errors="replace")):
            needed(other, seen)
    return seen


def key(tool, path):
    """Name of a file's entry."""
    state = hashlib.sha256(repr(tool).encode())
    for name, text in needed(path, {}).items():
        state.update(b"%s %d\n%s" % (name.encode(), len(text), text))
    return state.hexdigest()


def main(args):
    """Print or mark."""
    mark = args[:1] == ["--mark"]
    args = args[mark:]
    if len(args) < 2:
        sys.exit(__doc__.strip())
    cache = os.path.join(args[0], "passed")
    os.makedirs(cache, exist_ok=True)
    for path in sys.stdin.read().splitlines():
        entry = os.path.join(cache, key(args[1:], path))
        if mark or os.path.exists(entry):
            with open(entry, "w", encoding="ascii"):
                os.utime(entry)
        else:
            print(path)
    if mark:
        for entry in os.scandir(cache):
            if time.time() - entry.stat().st_mtime > DAYS * 86400:
                os.unlink(entry)


main(sys.argv[1:])
