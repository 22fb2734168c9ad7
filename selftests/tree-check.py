#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What lists and pages say of the tree is true of it: each licence that a file
names has its text, the version stands in VERSION alone, and MAINTAINERS names
files that exist. Says what is wrong; silent if nothing is. Standard input has
the names of all files.

    git ls-files | tree-check.py
"""
import fnmatch
import os
import re
import sys

BAD = []
TAG = "SPDX-License-" "Identifier"


def wrong(text):
    BAD.append(text)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def licences(files):
    """Each word of an SPDX line is a licence or an exception in LICENSES/."""
    known = {"OR", "AND", "WITH"}
    for path in files:
        if path.startswith("LICENSES/"):
            known |= set(re.findall(
                r"^(?:Valid-License-Identifier|SPDX-Exception-Identifier): (\S+)",
                read(path), re.M))
    used = set()
    for path in files:
        if path.startswith("LICENSES/"):
            continue
        for line in re.findall(TAG + r": *(.*)", read(path)):
            line = re.sub(r"\*/|-->|[()\"\]\\]", " ", line)
            words = set(line.split())
            used |= words
            if words - known:
                wrong("%s: no text in LICENSES/ for %s" % (
                    path, ", ".join(sorted(words - known))))
    for path in files:
        if path.startswith("LICENSES/") and \
           os.path.basename(path) not in used:
            wrong("%s: no file has that licence" % path)


def version(files):
    """VERSION is the only place; an example on a page agrees with it."""
    now = read("VERSION").strip()
    for path in files:
        if path in ("VERSION", "CHANGELOG.md") or \
           path.startswith(("LICENSES/", "selftests/lab/", "kernel/")):
            continue
        page = path.startswith("Documentation/")
        for m in re.finditer(r"(?:%sVERSION|rdma_inc|inc-tool)\b[^\n]{0,12}?"
                             r"(?<![\d.])(\d+\.\d+\.\d+)(?![\d.])" %
                             ("version|" if page else ""), read(path)):
            if not page:
                wrong("%s: version %s stands in VERSION" % (path, m[1]))
            elif m[1] != now:
                wrong("%s: version %s, but VERSION is %s" % (path, m[1], now))


def maintainers(files):
    """Each F: is the path of a file, of a folder with its files, or a pattern."""
    for pattern in re.findall(r"^F:\t(.*)$", read("MAINTAINERS"), re.M):
        if pattern in ("*", "*/"):
            continue
        if not any(path.startswith(pattern) if pattern.endswith("/")
                   else fnmatch.fnmatch(path, pattern) for path in files):
            wrong("MAINTAINERS: nothing is called %s" % pattern)


def main():
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    files = sorted(p for p in sys.stdin.read().splitlines() if os.path.isfile(p))
    licences(files)
    version(files)
    maintainers(files)
    print("\n".join(BAD), end="\n" if BAD else "")
    return bool(BAD)


sys.exit(main())
