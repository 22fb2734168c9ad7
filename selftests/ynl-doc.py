#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
ynl-doc.py SPEC: C source with the doc strings of the spec's attributes, for
user space to print; by attribute number, which is their place in the set.
"""
import sys

import yaml

SETS = ("switch", "switch-stats", "tree", "tree-stats", "member",
        "member-stats")


def c_string(text):
    text = " ".join(text.split())
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


with open(sys.argv[1], encoding="utf-8") as f:
    sets = {s["name"]: s for s in yaml.safe_load(f)["attribute-sets"]}

print("""\
// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * What the attributes of the family "inc" are, in the words of its YNL spec.
 * Do not edit: made from Documentation/netlink/specs/inc.yaml by
 * selftests/ynl-regen.sh
 */
#include "common.h"
#include "nl.h\"""")
for name in SETS:
    table = name.replace("-", "_") + "_docs"
    print(f"\nstatic const char *const {table}[] = {{")
    for a in sets[name]["attributes"]:
        upper = f"{name}-{a['name']}".replace("-", "_").upper()
        print(f"\t[INC_A_{upper}] =\n\t\t{c_string(a['doc'])},")
    print("};")
for name in SETS:
    table = name.replace("-", "_") + "_docs"
    fn = name.replace("-", "_").replace("_stats", "_stat")
    print(f"""
const char *inc_nl_{fn}_doc(unsigned int attr)
{{
	return attr < ARRAY_SIZE({table}) ? {table}[attr] : NULL;
}}""")
