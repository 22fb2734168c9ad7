#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
No message of a program has a bare number where a reason should be: "failed: 5",
"error 110", "(status 14)". Says which do; silent if none does. Standard input has
the names of all files.

    git ls-files | message-check.py
"""
import re
import sys

NUMBER = r"%[-#0]*(?:d|i|u|x|ld|lu|lld|llu)"
# What a number stands behind, if it is nothing but a code.
CODE = re.compile(r"\b(?:error|errno|status|reason|code|cause|returned|failed|"
                  r"refused|rejected|published)[a-z]*\b[\s:=(]*(?:with |by )?" +
                  NUMBER, re.I)
# Words from others stand before it.
BESIDE = re.compile(r"%s \([^()]*$")
# A sentence that ends in a colon and a number, and has no words from others.
END = re.compile(r"^[^%]*[a-z]{3}[^%]*: " + NUMBER + r"\)?\.?(?:\\n)?$")
LITERAL = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+')


def literals(text):
    """Strings of C, those side by side as one, with their lines."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text,
                  flags=re.S)
    text = re.sub(r"^#include.*$", "", text, flags=re.M)
    for m in LITERAL.finditer(text):
        yield (text.count("\n", 0, m.start()) + 1,
               re.sub(r'"\s*"', "", m[0].strip())[1:-1])


for path in sys.stdin.read().split():
    if not re.fullmatch(r"userspace/.*\.[ch]", path) or \
       re.search(r"/(tests|core-tests)/", path):
        continue
    with open(path, encoding="utf-8", errors="replace") as f:
        source = f.read()
    for line, said in literals(source):
        code = CODE.search(said)
        if END.search(said) or \
           (code and not BESIDE.search(said[:code.start()])):
            print(f"{path}:{line}: a number says nothing to a user: {said}")
