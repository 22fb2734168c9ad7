#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What a reader of Documentation/ relies on: every page renders without a warning,
the numbers of protocol.rst are those of rdma_inc_proto.h, and its worked
example is what its own program prints. Says what is wrong; silent if nothing is.

    doc-check.py [TOP]
"""
import glob
import io
import os
import re
import subprocess
import sys

import docutils.core
import docutils.nodes

PROTO = "Documentation/protocol.rst"
HEADER = "kernel/include/uapi/linux/rdma_inc_proto.h"
BAD = []


def wrong(text):
    BAD.append(text)


def render(path):
    """The page as a tree of nodes; its warnings are errors here."""
    said = io.StringIO()
    with open(path) as f:
        text = f.read()
    settings = {"report_level": 1, "halt_level": 5, "warning_stream": said,
                "file_insertion_enabled": False, "raw_enabled": False}
    doctree = docutils.core.publish_doctree(text, source_path=path,
                                            settings_overrides=settings)
    docutils.core.publish_string(text, source_path=path, writer_name="html",
                                 settings_overrides={
        "report_level": 5, "halt_level": 5, "file_insertion_enabled": False})
    if said.getvalue():
        wrong(said.getvalue().rstrip())
    return doctree


def plain(text):
    return " ".join(text.split())


def tables(doctree):
    """Each table as rows of texts."""
    for table in doctree.findall(docutils.nodes.table):
        yield [[plain(cell.astext())
                for cell in row.findall(docutils.nodes.entry)]
               for row in table.findall(docutils.nodes.row)]


def enum(header, name):
    """{NAME: (number, what the comment says of it)} of an enumeration."""
    doc = re.search(r"/\*\*\n \* enum %s -.*?\*/" % name, header, re.S).group(0)
    body = re.search(r"^enum %s {(.*?)^}" % name, header, re.S | re.M).group(1)
    said = {m[1]: plain(re.sub(r"\n \*", " ", m[2])) for m in re.finditer(
        r"^ \* @(INC_\w+): (.*?)(?=\n \* @|\n \*\n|\n \*/)", doc, re.S | re.M)}
    return {m[1]: (int(m[2]), said[m[1]])
            for m in re.finditer(r"(INC_\w+)\s*= (\d+)", body)}


def statuses(doctree, header):
    """The table of statuses: the header's names, numbers and words."""
    for table in tables(doctree):
        if table[0] == ["value", "name", "meaning", "ends"]:
            break
    else:
        wrong("%s: no table of statuses" % PROTO)
        return
    page = {"INC_STATUS_" + row[1]: (int(row[0]), row[2])
            for row in table[1:] if row[1]}
    want = enum(header, "inc_status")
    for name in sorted(page.keys() | want.keys()):
        if page.get(name) != want.get(name):
            wrong("%s: %s is %s on the page, %s in %s" % (
                PROTO, name, page.get(name), want.get(name), HEADER))
    lo, hi = (int(re.search(r"#define INC_STATUS_TREE_%s\s+(\d+)" % end,
                            header)[1])
              for end in ("MIN", "MAX"))
    for row in table[1:]:
        if row[1] and (row[3] == "T") != (lo <= int(row[0]) <= hi):
            wrong("%s: %s is not in the range of those that end %r" % (
                PROTO, row[1], row[3]))


def collectives(doctree, header):
    """Names and numbers in the description of the header's fields."""
    text = plain(doctree.astext())
    for n, name in enumerate(("Broadcast", "AllGather", "AllToAll", "Scatter",
                              "Gather", "Reduce", "AllReduce",
                              "ReduceScatter", "Barrier")):
        want = enum(header, "inc_collective")
        key = "INC_COLL_" + re.sub(r"(?<=Reduce)(?=Scatter)", "_", name).upper()
        if want[key][0] != n or "%d %s" % (n, name) not in text:
            wrong("%s: collective %s is not %s" % (PROTO, name, want[key][0]))


def example(path):
    """The program under "A worked example", and the bytes above it."""
    with open(path) as f:
        text = f.read()
    text = text[text.index("\nA worked example\n"):]
    program = re.search(r"python3 - <<'END'\n(.*?)\n   END\n", text,
                        re.S).group(1)
    program = "\n".join(line[3:] for line in program.split("\n"))
    page = [re.sub(r"[^0-9a-f]", "", re.sub(
        r"(?m)^   [0-9a-f]{4}  ((?:[0-9a-f]{2} ){,15}[0-9a-f]{2}).*$", r"\1",
        dump))
        for dump in re.findall(r"((?:^   [0-9a-f]{4}  .*\n)+)", text, re.M)]
    out = subprocess.run([sys.executable, "-"], input=program, text=True,
                         env={**os.environ, "PYTHONPATH": "selftests/packets"},
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    made = [line.replace(" ", "") for line in out.stdout.splitlines()]
    if out.returncode or page != made:
        wrong("%s: the worked example is not what its program prints:\n%s" % (
            path, out.stdout))


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else
             os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    with open(HEADER) as f:
        header = f.read()
    pages = {path: render(path)
             for path in sorted(glob.glob("Documentation/*.rst"))}
    statuses(pages[PROTO], header)
    collectives(pages[PROTO], header)
    example(PROTO)
    print("\n".join(BAD), end="\n" if BAD else "")
    return bool(BAD)


sys.exit(main())
