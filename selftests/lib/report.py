#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""report.py DIR SECONDS: from the runner's table and logs in DIR, write
results.json and results.xml (JUnit), and print a summary.

DIR/table has a line "RUN RESULT SECONDS CPU PASSED FAILED SKIPPED WHERE" for each
run of a test; RESULT is ok, failed, flaky, kept or left-out. DIR/RUN.log is KTAP, and
DIR/NAME.log the first try of a flaky one.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

CASE = re.compile(r"(not )?ok (?:\d+\b)?(?: ?- )?(.*)", re.S)
# As count.sh has them.
SKIP = re.compile(r"[^#]* # *skip([ :\r]|$)", re.I)
TODO = re.compile(r"[^#]* # *TODO([ :\r]|$)")
SKIP_ALL = re.compile(r"1\.\.0 *# *(skip.*)", re.I | re.S)
LONGEST = 10
# XML 1.0 has no other control characters.
BAD_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def cases(log):
    """The cases of a KTAP log: name, "passed", "failed" or "skipped", and why."""
    if not log.exists():
        return
    # A carriage return does not end a line.
    for line in log.read_bytes().decode(errors="replace").split("\n"):
        if m := SKIP_ALL.fullmatch(line):
            yield {"name": "all", "result": "skipped", "why": m[1].strip()}
        m = CASE.fullmatch(line)
        if not m:
            continue
        name, why = (re.split(r"(?:^| +)# *", m[2].strip(), maxsplit=1) + [""])[:2]
        skip = (TODO if m[1] else SKIP).match(line)
        yield {"name": name,
               "result": "skipped" if skip else "failed" if m[1] else "passed",
               **({"why": why} if why else {})}


def read_runs(out):
    keys = ["run", "result", "seconds", "cpu_seconds", "passed", "failed",
            "skipped", "where"]
    table = out / "table"
    for line in table.read_text().splitlines() if table.exists() else []:
        run = dict(zip(keys, line.split()))
        for k in keys[2:7]:
            run[k] = int(run[k])
        run["name"] = run["run"].split("@")[0]
        run["tries"] = 2 if run["run"].endswith("@again") else 1
        run["cases"] = list(cases(out / (run["run"] + ".log")))
        if run["failed"] > sum(c["result"] == "failed" for c in run["cases"]):
            run["cases"].append({"name": "ends well", "result": "failed",
                                 "why": f"see {run['run']}.log"})
        if run["tries"] == 2:
            run["first_try"] = [c for c in cases(out / (run["name"] + ".log"))
                                if c["result"] == "failed"]
        yield run


def junit(runs, seconds):
    root = ET.Element("testsuites", time=str(seconds))
    for run in runs:
        suite = ET.SubElement(
            root, "testsuite", name=run["run"], time=str(run["seconds"]),
            tests=str(run["passed"] + run["failed"] + run["skipped"]),
            failures=str(run["failed"]), skipped=str(run["skipped"]))
        for case in run["cases"]:
            e = ET.SubElement(suite, "testcase", classname=run["name"],
                              name=BAD_XML.sub("?", case["name"]))
            if case["result"] != "passed":
                ET.SubElement(e, {"failed": "failure"}.get(
                    case["result"], "skipped"),
                    message=BAD_XML.sub("?", case.get("why", "")))
    return ET.ElementTree(root)


def summary(runs, seconds):
    """What a person wants to know at the end."""
    count = {r: sum(x["result"] == r for x in runs)
             for r in ("ok", "kept", "flaky", "failed", "left-out")}
    print()
    print(f"{len(runs)} test{'s' * (len(runs) != 1)}: " + ", ".join(
        f"{n} {r}" for r, n in count.items() if n) +
        "; %d:%02d min, CPU %d:%02d min" % (
            *divmod(seconds, 60),
            *divmod(sum(r["cpu_seconds"] for r in runs), 60)))
    shown = [r for r in runs if r["result"] in ("flaky", "failed", "left-out")]
    ran = sorted((r for r in runs if r["result"] == "ok"),
                 key=lambda r: -r["seconds"])[:LONGEST]
    if not shown and not ran:
        return
    print(f"{'':9}{'test':16}{'passed':>8}{'failed':>8}{'skipped':>8}"
          f"{'seconds':>9}{'CPU':>6}")
    for r in shown + ran:
        mark = r["result"] if r["result"] != "ok" else "longest"
        print(f"{mark:9}{r['run']:16}{r['passed']:8}{r['failed']:8}"
              f"{r['skipped']:8}{r['seconds']:9}{r['cpu_seconds']:6}")
    print()


def main():
    out, seconds = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    runs = list(read_runs(out))
    total = {k: sum(r[k] for r in runs) for k in ("passed", "failed", "skipped")}
    (out / "results.json").write_text(json.dumps(
        {"seconds": seconds, **total, "tests": runs}, indent=1) + "\n")
    junit(runs, seconds).write(out / "results.xml", encoding="utf-8",
                               xml_declaration=True)
    summary(runs, seconds)


main()
