#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
ynl-doc.py SPEC: C source with the doc strings of the spec's attributes, for
user space to print, by attribute number.
ynl-doc.py SPEC FILE.rst: that file with the tables of counters as of the spec.
"""
import sys
import textwrap

import yaml

SETS = ("switch", "switch-stats", "tree", "tree-stats", "member",
        "member-stats")


def c_string(text):
    text = " ".join(text.split())
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


TABLES = (
    ("switch-stats", "Of the switch, of packets to an INC QPN that reached no "
                     "member, at the first\ncheck that failed, or that could "
                     "not be sent"),
    ("tree-stats", "Of a tree"),
    ("member-stats", "Of a member's QP"),
)
BEGIN = ".. counters: made from specs/rdma-inc.yaml by selftests/style/ynl-regen.sh\n"
END = ".. end of counters\n"
WIDTH = 80


def table(attributes):
    """A simple table of reStructuredText."""
    left = max(len(a["name"]) for a in attributes)
    bar = "=" * left + " " + "=" * (WIDTH - left - 1)
    rows = [bar]
    for a in attributes:
        name = a["name"]
        for line in textwrap.wrap(a["doc"], WIDTH - left - 1):
            rows.append(f"{name:{left}} {line}")
            name = ""
    return "\n".join(rows + [bar])


with open(sys.argv[1], encoding="utf-8") as f:
    sets = {s["name"]: s for s in yaml.safe_load(f)["attribute-sets"]}

if len(sys.argv) > 2:
    with open(sys.argv[2], encoding="utf-8") as f:
        before, rest = f.read().split(BEGIN)
    body = "\n\n".join(f"{title}:\n\n{table(sets[name]['attributes'])}"
                       for name, title in TABLES)
    print(before + BEGIN + "\n" + body + "\n\n" + END + rest.split(END)[1],
          end="")
    sys.exit()

print("""\
// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the attributes of the family "rdma-inc" are, as its YNL spec says.
 * Do not edit: made from Documentation/netlink/specs/rdma-inc.yaml by
 * selftests/style/ynl-regen.sh
 */
#include "common.h"
#include "nl.h\"""")
for name in SETS:
    table = name.replace("-", "_") + "_docs"
    print(f"\nstatic const char *const {table}[] = {{")
    for a in sets[name]["attributes"]:
        upper = f"{name}-{a['name']}".replace("-", "_").upper()
        print(f"\t[RDMA_INC_A_{upper}] =\n\t\t{c_string(a['doc'])},")
    print("};")
for name in SETS:
    table = name.replace("-", "_") + "_docs"
    fn = name.replace("-", "_").replace("_stats", "_stat")
    print(f"""
const char *inc_nl_{fn}_doc(unsigned int attr)
{{
	return attr < ARRAY_SIZE({table}) ? {table}[attr] : NULL;
}}""")
