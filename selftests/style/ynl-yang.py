#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
ynl-yang.py TREE OUT

Generate the YANG module rdma-inc-attributes from TREE's netlink spec and
protocol header, and write it to OUT. Print its name.

NETCONF and netlink have the same objects, names, ranges and descriptions. What
a request of the spec may set is configuration, what only replies contain is
state.
"""
import re
import sys
import textwrap
from pathlib import Path

import yaml

SPEC = "Documentation/netlink/specs/rdma-inc.yaml"
PROTO = "kernel/include/uapi/linux/rdma_inc_proto.h"
YANG = "userspace/agent/yang/rdma-inc-attributes.yang"
REVISIONS = (("2026-11-25",
              "Rules that the kernel enforces; below is a list."),
             ("2026-11-23", "Defaults, units, enumerations and booleans."),
             ("2026-11-21", "First revision."))
TREE, OUT = map(Path, sys.argv[1:])
TAG = "SPDX-License-" "Identifier"
WIDTH = 80

TYPES = {"u8": "uint8", "u16": "uint16", "u32": "uint32", "uint": "uint64",
         "string": "string"}
# Masks of the protocol's enumerations, by attribute.
BITS = {"collectives": ("inc_collective", "INC_COLL_"),
        "dtypes": ("inc_dtype", "INC_DTYPE_"),
        "ops": ("inc_op", "INC_OP_")}
# One of the protocol's enumerations, by attribute and its attribute set.
ENUMS = {("collective", "slot"): "collective", ("dtype", "slot"): "dtype",
         ("op", "slot"): "op", ("status", "slot"): "status",
         ("error", "tree"): "status"}
ENUM_TYPES = {"collective": ("inc_collective", "INC_COLL_"),
              "dtype": ("inc_dtype", "INC_DTYPE_"),
              "op": ("inc_op", "INC_OP_"),
              "status": ("inc_status", "INC_STATUS_")}
BOOLEANS = ("hooked",)
UNITS = {"bytes": ("msg-size", "pmtu", "hold", "memory", "memory-limit",
                   "memory-used", "memory-taken", "memory-ceiling", "max-tree-memory",
                   "max-tree-hold", "hold-limit", "hold-guaranteed", "held"),
         "milliseconds": ("min-rto", "dead-time", "last-rx", "age",
                          "parent-age"),
         "microseconds": ("srtt",), "packets": ("window",)}
RANGES = {"pmtu": "256 | 512 | 1024 | 2048 | 4096",
          "slots": " | ".join(str(1 << i) for i in range(13))}
# What a request must have; rules that a range cannot say.
MANDATORY = ("ranks",)
MUST = {"msg-size": (". mod 64 = 0", "must be a multiple of 64"),
        "traffic-class": (". mod 4 = 0", "the two ECN bits must be 0: they are ecn's"),
        "ranks": ("../job-ranks or "
                  "sum(../below/ranks) - count(../below) + . <= 1024",
                  "a job has at most 1024 ranks"),
        "job-ranks": ("sum(../first-rank) + sum(../below/ranks) - "
                      "count(../below) + ../ranks <= .",
                      "there are no more ranks than job-ranks"),
        "below": ("../ranks <= 256 and (../job-ranks or ../ranks >= 2)",
                  "a tree with switches below it has at most 256 members, and "
                  "a root two at least"),
        "min-rto": (". < ../dead-time", "must be below dead-time"),
        "transport": (". = 'rc' or ../../msg-size <= ../../pmtu",
                      "uc needs a msg-size of at most pmtu"),
        "pkey": ("not(../peer-qpn) or . mod 32768 != 0",
                 "its low 15 bits must not be 0"),
        "local-addr": ("not(../peer-addr) or "
                       "contains(., ':') = contains(../peer-addr, ':')",
                       "must be of the family of peer-addr"),
        **{mask: ("string-length(.) > 0", "must not be empty")
           for mask in BITS}}
# A leaf-list of configuration must not have a value twice, so these are lists.
# Netlink has an entry for each member, with 0 for those that are left out here.
LISTS = {"below": (
    "A member that is a switch, and how many ranks are below it. Those without "
    "an entry are hosts. The job's ranks are numbered in the order of the "
    "members; a member's own rank is its place among the members.",
    ("rank", "0..255", "Place among the tree's members.",
     (". < ../../ranks", "must be below the tree's ranks")),
    ("ranks", "1..1024", "Number of ranks below it.", None))}
WHEN = {"first-rank": "../job-ranks"}
# The kernel has these until a member is connected.
NO_DEFAULT = ("pkey", "first-rank")
# Secrets: NETCONF's access control denies them unless a rule allows it.
SECRETS = ("rkey", "psn", "peer-psn", "peer-rkey", "rx-psn", "tx-psn")
# Grouping: attribute set, operation whose request it is (or "reply": the rest
# of the replies), attributes left out: keys, and what only netlink has.
GROUPINGS = (
    ("switch-config", "switch", "switch-set", ()),
    ("switch-state", "switch", "reply", ("switch-set",)),
    ("tree-config", "tree", "tree-new", ("id", "owned")),
    ("tree-state", "tree", "reply", ("tree-new", "id")),
    ("member-config", "member", "member-new", ("tree-id", "rank")),
    ("member-state", "member", "reply",
     ("member-new", "tree-id", "rank", "peer-tree-id", "peer-rkey")),
    ("parent-config", "member", "parent-set", ("tree-id",)),
    ("parent-state", "member", "reply",
     ("parent-set", "tree-id", "rank", "ifindex", "next-msg-id")),
    ("slot-state", "slot", "reply", ("tree-id", "index")),
)

spec = yaml.safe_load((TREE / SPEC).read_text())
sets = {s["name"]: s["attributes"] for s in spec["attribute-sets"]}
operations = {o["name"]: o for o in spec["operations"]["list"]}
definitions = {d["name"]: d for d in spec["definitions"]}
header = (TREE / PROTO).read_text()


def number(value):
    """A limit: a number, or the name of a constant."""
    return definitions[value]["value"] if value in definitions else value


def statement(depth, keyword, text):
    """A statement with a quoted string, wrapped."""
    indent = "  " * depth
    text = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    lines = textwrap.wrap(text, WIDTH - len(indent) - 6)
    if len(lines) == 1 and len(indent + keyword + text) + 4 <= WIDTH:
        return [f'{indent}{keyword} "{text}";']
    lines = [f"{indent}   {line}" for line in lines]
    lines[0] = f'{indent}  "{lines[0].strip()}'
    lines[-1] += '";'
    return [f"{indent}{keyword}"] + lines


def yang_range(a):
    if a["name"] in RANGES and "checks" in a:
        return RANGES[a["name"]]
    checks = a.get("checks", {})
    if a["type"] not in TYPES or a["type"] == "string" or \
       not {"min", "max"} & set(checks):
        return None
    return f'{number(checks.get("min", 0))}..{number(checks.get("max", "max"))}'


def yang_default(a):
    """What the description says, and the kernel does; or None."""
    if a["name"] in NO_DEFAULT:
        return None
    if "0 means no limit." in a["doc"]:
        return "0"
    found = re.search(r"Default ([\w-]+)\.", a["doc"])
    const = definitions.get("default-" + a["name"])
    if found and const and found[1] != str(const["value"]):
        sys.exit(f'{SPEC}: {a["name"]}: the default is {const["value"]}')
    return found and found[1]


def unit(name):
    if name.endswith("-bytes"):
        return "bytes"
    return next((u for u, names in UNITS.items() if name in names), None)


def yang_type(depth, a, kind):
    indent = "  " * depth
    if (a["name"], kind) in ENUMS:
        return [f'{indent}type {ENUMS[a["name"], kind]};']
    if a["name"] in BOOLEANS:
        return [f"{indent}type boolean;"]
    if a["name"] in BITS:
        return [f'{indent}type {a["name"]};']
    if a["type"] == "binary":
        return [f"{indent}type inet:ip-address-no-zone;"]
    if "enum" in a:
        return [f'{indent}type {a["enum"]};']
    if a.get("checks", {}).get("max") == 1:
        return [f"{indent}type boolean;"]
    limits = yang_range(a)
    if limits:
        return [f'{indent}type {TYPES[a["type"]]} {{',
                *statement(depth + 1, "range", limits), f"{indent}}}"]
    return [f'{indent}type {TYPES[a["type"]]};']


def must(depth, rule):
    """What a node has to be beside others."""
    if not rule:
        return []
    indent = "  " * depth
    test, why = rule
    *head, last = statement(depth, "must", test)
    return [*head, last[:-1] + " {",
            *statement(depth + 1, "error-message", why), indent + "}"]


def rules(depth, a, config):
    """The statements of a leaf behind its type."""
    indent = "  " * depth
    lines = []
    if unit(a["name"]) and not a.get("multi-attr"):
        lines.append(f'{indent}units "{unit(a["name"])}";')
    if not config:
        return lines
    lines += must(depth, MUST.get(a["name"]))
    if a["name"] in MANDATORY:
        lines.append(f"{indent}mandatory true;")
    elif yang_default(a):
        lines.append(f'{indent}default "{yang_default(a)}";')
    return lines


def pairs(depth, name):
    """A list of numbers, each with the place that it is of."""
    indent = "  " * depth
    doc, key, value = LISTS[name]
    lines = [f"{indent}list {name} {{", *must(depth + 1, MUST.get(name)),
             f'{indent}  key "{key[0]}";',
             *statement(depth + 1, "description", doc)]
    for n, limits, what, rule in (key, value):
        lines += [f"{indent}  leaf {n} {{", f"{indent}    type uint16 {{",
                  *statement(depth + 3, "range", limits), f"{indent}    }}",
                  *must(depth + 2, rule)]
        if n != key[0]:
            lines.append(f"{indent}    mandatory true;")
        lines += statement(depth + 2, "description", what) + [indent + "  }"]
    return lines + [indent + "}"]


def leaf(depth, a, config, of):
    indent = "  " * depth
    if a["type"] == "nest":
        lines = [f'{indent}container {a["name"]} {{']
        lines += statement(depth + 1, "description", a["doc"])
        lines += [f'{indent}  uses {a["nested-attributes"]};', indent + "}"]
        return lines
    if a.get("multi-attr") and config:
        return pairs(depth, a["name"])
    kind = "leaf-list" if a.get("multi-attr") else "leaf"
    lines = [f'{indent}{kind} {a["name"]} {{']
    if config and a["name"] in WHEN:
        lines.append(f'{indent}  when "{WHEN[a["name"]]}";')
    if a["name"] in SECRETS:
        lines.append(f"{indent}  nacm:default-deny-all;")
    lines += yang_type(depth + 1, a, of) + rules(depth + 1, a, config)
    if kind == "leaf-list":
        lines.append(f"{indent}  ordered-by user;")
    lines += statement(depth + 1, "description", a["doc"])
    return lines + [indent + "}"]


def request(name):
    return operations[name]["do"]["request"]["attributes"]


def attributes(kind, source, others):
    """The names of a grouping's attributes."""
    if source != "reply":
        return [n for n in request(source) if n not in others]
    left_out = set()
    for other in others:
        left_out |= set(request(other)) if other in operations else {other}
    return [n for n in
            operations[f"{kind}-get"]["do"]["reply"]["attributes"]
            if n not in left_out]


def grouping(name, kind, source, others):
    wanted = attributes(kind, source, others)
    lines = [f"  grouping {name} {{"]
    lines += statement(2, "description", (
        f"What netlink's {source} sets." if source != "reply" else
        f"What only netlink's {kind}-get reports."))
    for a in sets[kind]:
        if a["name"] in wanted:
            lines += leaf(2, a, source != "reply", kind)
    return lines + ["  }", ""]


def counters(name):
    lines = [f"  grouping {name} {{"]
    lines += statement(2, "description", next(
        s["doc"] for s in spec["attribute-sets"] if s["name"] == name))
    for a in sets[name]:
        lines += [f'    leaf {a["name"]} {{', "      type yang:counter64;"]
        if unit(a["name"]):
            lines.append(f'      units "{unit(a["name"])}";')
        lines += statement(3, "description", a["doc"]) + ["    }"]
    return lines + ["  }", ""]


def typedefs():
    lines = []
    for d in spec["definitions"]:
        if d["type"] != "enum":
            continue
        lines += [f'  typedef {d["name"]} {{', "    type enumeration {"]
        for e in d["entries"]:
            lines.append(f'      enum {e["name"]} {{')
            lines += statement(4, "description", e["doc"]) + ["      }"]
        lines += ["    }"] + statement(2, "description", d["doc"])
        lines += ["  }", ""]
    for name, (enum, prefix) in ENUM_TYPES.items():
        body = re.search(r"^enum %s {(.*?)^}" % enum, header, re.S | re.M)[1]
        lines += [f"  typedef {name} {{", "    type enumeration {"]
        for value, position in re.findall(prefix + r"(\w+)\s*= (\d+)", body):
            lines += [f'      enum {value.lower().replace("_", "-")} {{',
                      f"        value {position};", "      }"]
        lines += ["    }", f'    description "enum {enum} of the protocol.";',
                  "  }", ""]
    for name, (enum, prefix) in BITS.items():
        body = re.search(r"^enum %s {(.*?)^}" % enum, header, re.S | re.M)[1]
        lines += [f"  typedef {name} {{", "    type bits {"]
        for bit, position in re.findall(prefix + r"(\w+)\s*= (\d+)", body):
            bit = bit.lower().replace("_", "-")
            # An identifier begins with a letter.
            bit = bit if bit[0].isalpha() else "pair-" + bit
            lines += [f"      bit {bit} {{", f"        position {position};",
                      "      }"]
        lines += ["    }", f'    description "enum {enum} of the protocol.";',
                  "  }", ""]
    return lines


def module():
    lines = [
        f"// {TAG}: GPL-2.0 OR BSD-3-Clause",
        "// Do not edit: generated by selftests/style/ynl-regen.sh from",
        f"//   {SPEC}",
        f"//   {PROTO}",
        "module rdma-inc-attributes {",
        "  yang-version 1.1;",
        '  namespace "urn:rdma-inc:attributes";',
        "  prefix inca;", ""]
    for name, prefix in (("ietf-inet-types", "inet"),
                         ("ietf-yang-types", "yang"),
                         ("ietf-netconf-acm", "nacm")):
        lines += [f"  import {name} {{", f"    prefix {prefix};", "  }"]
    lines += ["", '  organization "rdma_inc";', '  contact "rdma_inc";']
    lines += statement(1, "description", spec["doc"])
    lines.append("")
    for date, what in REVISIONS:
        lines += [f"  revision {date} {{", f'    description "{what}";', "  }"]
    lines.append("")
    lines += typedefs()
    for name in sets:
        if name.endswith("-stats"):
            lines += counters(name)
    for g in GROUPINGS:
        lines += grouping(*g)
    return "\n".join(lines[:-1] + ["}", ""])


(OUT / YANG).parent.mkdir(parents=True, exist_ok=True)
(OUT / YANG).write_text(module())
print(YANG)
