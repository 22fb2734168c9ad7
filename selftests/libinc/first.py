#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The table "The first error" of debugging.rst, and what ranks have said.

    first.py PAGE has <SAID        print which messages are in no row
    first.py PAGE unused <SAID     print the rows that are no message

SAID has a name, a tab and a message in each line. In a row, "...", and the words of WORDS, stand for anything.
"""
import re
import sys

TITLE = "The first error\n==="
WORDS = "HOST", "ADDR", "DEV", "JOB"
ROW = re.compile(r"^   \* - ((?:.*\n)(?:     .*\n)*?)(?=     - )", re.M)


def read_rows(page):
    """Each row's message."""
    with open(page, encoding="utf-8") as f:
        text = f.read().split(TITLE)[1]
    text = text.split(".. list-table::")[1].split("\n\n\n")[0]
    rows = [" ".join(row.replace("``", "").split()) for row in ROW.findall(text)]
    return rows[1:]


def pattern(row):
    parts = re.split(r"(\.\.\.|\b(?:%s)\b)" % "|".join(WORDS), row)
    return "".join(".+" if i % 2 else re.escape(part)
                   for i, part in enumerate(parts))


def main():
    rows = read_rows(sys.argv[1])
    said = [line.rstrip("\n").partition("\t")[::2] for line in sys.stdin]
    used = {row: [name for name, text in said if re.fullmatch(pattern(row), text)]
            for row in rows}
    if sys.argv[2] == "unused":
        left = [row for row in rows if not used[row]]
    else:
        known = set(sum(used.values(), []))
        left = [f"{name}: {text}" for name, text in said if name not in known]
    print("\n".join(left))
    return bool(left)


if __name__ == "__main__":
    sys.exit(main())
