#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A static function's name has two words at least, verb_object: "run" says nothing
where eleven files have one. Names the exceptions of each folder that has more of
them than LIMIT. And comments have a subject: names the lines of each folder that
has one of the WORDS more often than it may. Silent if all is well. Standard input
has the names of all files.

    git ls-files | names.py
    git ls-files | names.py --figures   of all folders
"""
import os
import re
import sys

# Per cent of a folder's static functions that may have one word. Tests are
# programs of one file, whose steps are called what they are.
LIMIT, TESTS_LIMIT = 5, 45
# What stands for a subject that is not named, and how often it may in 1,000 words
# of comments. A small folder may have FEW.
WORDS = (
    ("whoever, Who", 0.2,
     re.compile(r"\b(?i:whoever)\b|(?:\A|[.:;!?])\s+Who\b(?![^.?]*\?)")),
    ("those that, that of", 1.5, re.compile(
        r"\b[Tt]hose\s+(?:that|of|who|whose|which)\b|\b[Tt]hat\s+of\b")),
    ("any more", 0.4, re.compile(r"\bany\s*more\b")),
    ("is told", 0.4, re.compile(r"\b(?:is|are|was|were|be|been)\s+told\b")),
)
FEW = 3
# Functions of the kernel: their names are given.
GIVEN = "userspace/core-tests/shim/"
# Folders whose folders are programs of their own.
SPLIT = ("userspace", "userspace/plugins")

NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'
                      r"'(?:[^'\\\n]|\\.)*'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
                      re.S | re.M)
ATTRIBUTE = re.compile(r"__attribute__\(\([^;{]*?\)\)+")
# Its name is the first word that has arguments; that of a macro says nothing.
STATIC = re.compile(r"^static\b[^;={}()]*?\b(?![A-Z\d_]+\()(\w+)\(", re.M)


def blank(m):
    """The lines of a match stay."""
    return re.sub(r"[^\n]", " ", m[0])


def functions(text):
    """Static functions that are defined in @text: (name, line)."""
    code = ATTRIBUTE.sub(blank, NOT_CODE.sub(blank, text))
    for m in STATIC.finditer(code):
        end = re.compile(r"[;{]").search(code, m.end())
        if end and end[0] == "{":
            yield m[1], code.count("\n", 0, m.start(1)) + 1


def words(text):
    """The number of words in the comments of @text, and its WORDS: (which, line)."""
    total, found = 0, []
    for m in re.finditer(r"/\*.*?\*/", text, re.S):
        said = re.sub(r"(?m)^\s*\*+/?|/\*+|\*+/", blank, m[0])
        total += len(said.split())
        for which, (_, _, pattern) in enumerate(WORDS):
            found += [(which, text.count("\n", 0, m.start() + w.end()) + 1)
                      for w in pattern.finditer(said)]
    return total, found


def folder_of(path):
    """The folder that counts for a file, and what it may have in per cent."""
    parts = path.split("/")
    if parts[0] == "selftests" or any(p.endswith("tests") for p in parts[:-1]):
        return "tests", TESTS_LIMIT
    at = 1
    while "/".join(parts[:at]) in SPLIT and at < len(parts) - 1:
        at += 1
    return "/".join(parts[:at]), LIMIT


class Folder:
    """What one has."""

    def __init__(self, limit):
        self.limit = limit
        self.functions = 0
        self.short = []
        self.words = 0
        self.found = [[] for _ in WORDS]

    def add(self, path, text):
        """Count a file."""
        for word, line in functions(text):
            self.functions += 1
            if "_" not in word.strip("_"):
                self.short.append(f"{path}:{line}: {word}() has one word")
        # Comments of tests do not count.
        total, found = words(text) if self.limit == LIMIT else (0, [])
        self.words += total
        for which, line in found:
            self.found[which].append(f"{path}:{line}: {WORDS[which][0]}")

    def figures(self):
        """In one line."""
        return f"{len(self.short)} of {self.functions}, " \
            f"{100 * len(self.short) / max(self.functions, 1):.0f} %" + "".join(
                f"; {what} {1000 * len(found) / max(self.words, 1):.1f}"
                for (what, _, _), found in zip(WORDS, self.found))

    def complaints(self, name):
        """Lines that say what is too much."""
        if 100 * len(self.short) > self.limit * self.functions:
            yield f"{name}: {len(self.short)} of {self.functions} static " \
                f"functions have names of one word; {self.limit} % may: name " \
                "them verb_object"
            yield from self.short
        for (what, rate, _), found in zip(WORDS, self.found):
            if len(found) > max(FEW, rate * self.words / 1000):
                yield f"{name}: comments have \"{what}\" {len(found)} times in " \
                    f"{self.words} words; {rate} in 1,000 may be: name the subject"
                yield from found


def main():
    """Counts, and says what is too much."""
    folders = {}
    for path in sys.stdin.read().splitlines():
        if not re.fullmatch(r"(kernel|userspace|selftests)/.*\.[ch]", path) or \
           path.startswith(GIVEN) or not os.path.isfile(path):
            continue
        name, limit = folder_of(path)
        with open(path, encoding="utf-8", errors="replace") as f:
            folders.setdefault(name, Folder(limit)).add(path, f.read())
    bad = []
    for name, folder in sorted(folders.items()):
        if sys.argv[1:] == ["--figures"]:
            print(f"{name}: {folder.figures()}")
        else:
            bad += folder.complaints(name)
    print(*bad, sep="\n", end="\n" if bad else "")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
