#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Documentation/conformance.rst is true of the tree: states are those that it defines,
each ``file:symbol`` exists, each test is in selftests/tests, what is done has a file or
a test, and each deviation has its reason in a table of such. Says what is wrong; silent
if nothing is.

    conform.py [PAGE]
"""
import os
import re
import sys

PAGE = "Documentation/conformance.rst"
STATES = ("yes", "other", "part", "no")
REASONS = {"protocol.rst": "Where this is not the draft",
           "manager.rst": "Where this is not the draft",
           "below": "Reasons of what is other than in the four texts"}
BAD = []


def wrong(text):
    BAD.append(text)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def rows(text):
    """[sentence, state, where, test] of each row of the page's list-tables."""
    row = []
    for line in text.splitlines():
        m = re.match(r"(   \* -|     -)(?: (.*))?$", line)
        if m and m[1] == "   * -":
            if row:
                yield row
            row = [m[2] or ""]
        elif m and row:
            row.append(m[2] or "")
        elif row and line.startswith("       "):
            row[-1] += " " + line.strip()
        elif row:
            yield row
            row = []
    if row:
        yield row


def reasons(path, title):
    """The first column of the table in that section, a text for each row."""
    text = read(path)
    at = text.find("\n%s\n=" % title)
    if at < 0:
        wrong("%s: has no section \"%s\"" % (path, title))
        return []
    cells = [""]
    for line in text[at + len(title) + 2:].splitlines()[1:]:
        if line.startswith("+"):
            cells.append("")
        elif line.startswith("|"):
            cells[-1] += " " + line.split("|")[1].strip()
        elif len(cells) > 1 and line:
            break
    return [" ".join(c.split()) for c in cells]


def check_where(name, where):
    """Each file and each symbol of it is there. Returns how many."""
    found = re.findall(r"``([\w./-]+/[\w.-]+)(?::(\w+))?``", where)
    for path, symbol in found:
        if not os.path.isfile(path):
            wrong("%s: no file %s" % (name, path))
        elif symbol and not re.search(r"\b%s\b" % symbol, read(path)):
            wrong("%s: %s has no %s" % (name, path, symbol))
    return len(found)


def check_reason(name, where, known):
    m = re.match(r"(protocol\.rst|manager\.rst|below): (.+)", where)
    if not m:
        wrong("%s: must name the reason: PAGE: WORDS" % name)
    elif not any(m[2] in cell for cell in known[m[1]]):
        wrong("%s: no reason in %s for \"%s\"" % (name, m[1], m[2]))


def check_row(row, tests, known):
    name = row[0]
    if len(row) != 4:
        wrong("%s: has %d cells, not 4" % (name, len(row)))
        return
    state, where = row[1:3]
    if state not in STATES:
        wrong("%s: no state \"%s\"" % (name, state))
    named = [t for t in row[3].split(", ") if t]
    for test in named:
        if test not in tests:
            wrong("%s: no test \"%s\"" % (name, test))
    files = check_where(name, where)
    if state == "other":
        check_reason(name, where, known)
    if state == "no":
        if named or files:
            wrong("%s: not done, but has a file or a test" % name)
    elif not named:
        wrong("%s: has no test" % name)


def main():
    page = sys.argv[1] if len(sys.argv) > 1 else PAGE
    tests = set(re.findall(r"^([a-z][\w.-]*)\t", read("selftests/tests"), re.M))
    tests.add("make bench")
    known = {k: reasons(page if k == "below" else "Documentation/" + k, title)
             for k, title in REASONS.items()}
    found = [r for r in rows(read(page)) if r[0] != "sentence"]
    for row in found:
        check_row(row, tests, known)
    if len(found) < 100:
        wrong("%s: only %d rows were found" % (page, len(found)))
    for text in BAD:
        print("%s: %s" % (page, text))
    return bool(BAD)


if __name__ == "__main__":
    sys.exit(main())
