#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What lists and pages say of the tree is true of it: each licence that a file
names has its text, the version stands in VERSION alone, MAINTAINERS names files
that exist, the picture of architecture.rst has the folders that there are, and
functions, structures, members and files that the pages for newcomers name are
in the code, life-of-a-group.rst has the table of events of the code, and each
test is on a page. Says what is wrong; silent if nothing is. Standard input has the
names of all files.

    git ls-files | tree-check.py
"""
import fnmatch
import os
import re
import sys

BAD = []
# Pages whose literals all have to be in the tree.
PAGES = ["Documentation/%s.rst" % page for page in (
    "index", "architecture", "life-of-a-message", "life-of-a-group",
    "life-of-a-join", "what-to-touch", "glossary")]
# Where paths of a page may begin, besides the top.
TOPS = {"Documentation/life-of-a-group.rst": ["userspace/manager/"],
        "Documentation/life-of-a-join.rst": ["userspace/", "userspace/manager/"]}
TAG = "SPDX-License-" "Identifier"
# Words in the picture's boxes that are not names of files.
PLAIN = set("make fail and end trees members child timers lookup references "
            "locks core reduce kernel".split())


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
           path.startswith(("LICENSES/", "selftests/lab/")):
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
    """Each F: is the path of a file or of a folder with files, or a pattern."""
    for pattern in re.findall(r"^F:\t(.*)$", read("MAINTAINERS"), re.M):
        if pattern in ("*", "*/"):
            continue
        if not any(path.startswith(pattern) if pattern.endswith("/")
                   else fnmatch.fnmatch(path, pattern) for path in files):
            wrong("MAINTAINERS: nothing is called %s" % pattern)


def address():
    """All that name the maintainers name those of MAINTAINERS' first section."""
    who = re.search(r"^M:\t(.*)$", read("MAINTAINERS"), re.M)[1]
    for path in ("MAINTAINERS", "debian/control", "debian/changelog",
                 "selftests/upstream/maintainers"):
        for m in re.finditer(r"^(?:M:\t|Maintainer: | -- )(.*?>)", read(path),
                             re.M):
            if m[1] != who:
                wrong("%s: %s, but MAINTAINERS begins with %s" %
                      (path, m[1], who))


class Code:
    """The C files, and what they define."""

    def __init__(self, files):
        self.files = set(files)
        self.dirs = {os.path.dirname(path) for path in files}
        self.dirs |= {os.path.dirname(d) for d in self.dirs}
        self.text = "\n".join(read(p) for p in files
                              if p.endswith((".c", ".h")))
        self.other = "\n".join(read(p) for p in files if p.endswith((
            ".sh", ".py", ".yaml", ".map", "Makefile", "Kbuild", "Kconfig",
            "tests")))

    def struct(self, name):
        """The bodies of all structures of that name."""
        return re.findall(r"^struct %s {\n(.*?)^}" % name, self.text,
                          re.S | re.M)

    def has(self, word):
        """Does the tree have what this literal names?"""
        # For a command, the file.
        word = word.split()[0] if re.match(r"\S+/\S+ ", word) else word
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)+|[\w-]+\.\w{1,4}|[A-Z]+\.md", word):
            if "/" in word and (word in self.files or word in self.dirs):
                return True
            if "/" not in word and any(p.endswith("/" + word) or p == word
                                       for p in self.files):
                return True
        if "/" in word:
            return False
        m = re.fullmatch(r"struct (\w+)", word)
        if m:
            return bool(self.struct(m[1]))
        m = re.fullmatch(r"enum (\w+)", word)
        if m:
            return bool(re.search(r"^enum %s {" % m[1], self.text, re.M))
        m = re.fullmatch(r"(\w+)\(\)", word)
        if m:
            return bool(re.search(r"^[a-z].*\b%s\(" % m[1], self.text, re.M))
        m = re.fullmatch(r"(inc_\w+)\.(\w+)", word)
        if m:
            return any(re.search(r"\b%s\b" % m[2], body)
                       for body in self.struct(m[1]))
        return all(re.search(r"(?<!\w)%s(?!\w)" % re.escape(part),
                             self.text + self.other)
                   for part in re.findall(r"[\w-]+\w", word))


def names(files):
    """Each literal of the pages for newcomers names something that exists."""
    code = Code(files)
    for page in PAGES:
        text = read(page)
        tops = ["", *TOPS.get(page, [])]
        for word in sorted(set(re.findall(r"``([^`\n]+?)/?``", text))):
            if not any(code.has(top + word) for top in tops):
                wrong("%s: nothing is called %s" % (page, word))
        for path in re.findall(r"<([\w./-]+)>`_", text):
            if not os.path.isfile(os.path.join(os.path.dirname(page), path)):
                wrong("%s: no page %s" % (page, path))


def rows(page, head):
    """The rows of the simple table whose first column is @head: lists of cells."""
    m = re.search(r"^%s .*\n(=+ [= ]+)\n((?:.+\n)+?)\1$" % head, read(page), re.M)
    ends = [rule.end() for rule in re.finditer("=+", m[1])]
    found = []
    for line in m[2].splitlines():
        cells = [line[a:b].strip() for a, b in zip([0] + ends, ends)]
        if cells[0]:
            found.append(cells)
        else:
            found[-1] = [" ".join(two).strip() for two in zip(found[-1], cells)]
    return found


def transitions():
    """life-of-a-group.rst has the table of the manager's step.c."""
    page, code = "Documentation/life-of-a-group.rst", \
        "userspace/manager/group/step.c"
    table = {(event, tuple(sorted(re.findall(r"[A-Z_]{3,}", states))), act)
             for event, states, act in re.findall(
                 r"^\t\{ GROUP_EV_(\w+),\s*([^{}]*?),\s*(\w+) \},$",
                 read(code), re.M)}
    shown = {(row[0], tuple(sorted(re.findall(r"[A-Z_]{3,}", row[1]))),
              row[2].strip("`()")) for row in rows(page, "event")}
    for event, states, act in sorted(table ^ shown):
        wrong("%s: %s in %s, %s(), is %s" % (
            page, event, " ".join(states), act,
            "missing" if (event, states, act) in table else
            "not in the table of " + code))


def tests_named():
    """The pages name each test. d- and s- are tests in another kernel, and with
    -night, their other parts."""
    text = read("Documentation/testing.rst")
    for line in read("selftests/tests").splitlines():
        name = re.sub("^[ds]-(.+?)(-night)?$", r"\1", line.partition("\t")[0])
        if name and name[0] != "#" and not re.search(
                r"(?<![\w-])%s(?![\w-])" % re.escape(name), text):
            wrong("Documentation/testing.rst: test %s is not there" % name)


def pages(files):
    """index.rst names every page."""
    text = read("Documentation/index.rst")
    for path in files:
        m = re.fullmatch(r"Documentation/([\w-]+\.rst)", path)
        if m and m[1] != "index.rst" and "<%s>" % m[1] not in text:
            wrong("Documentation/index.rst: %s is missing" % m[1])


def picture(files):
    """Boxes of architecture.rst are the folders of kernel/ and userspace/."""
    page = "Documentation/architecture.rst"
    text = read(page)
    art = text[text.index(".. the picture"):]
    art = art[:art.index("\n\nWhat a line")]
    shown = set(re.findall(r"\b(?:kernel|userspace)/[\w-]+", art))
    there = {"/".join(path.split("/")[:2]) for path in files
             if re.match(r"(kernel|userspace)/[\w-]+/",
                         path)} - {"kernel/include"}
    for folder in sorted(shown ^ there):
        wrong("%s: %s is %s" % (page, folder, "in the picture alone"
              if folder in shown else "not in the picture"))
    order = re.findall(r"\bkernel/\w+", art)
    kbuild = list(dict.fromkeys("kernel/" + f for f in re.findall(
        r"\b(\w+)/[\w-]+\.(?:o|mk)\b",
        re.sub(r"#.*", "", read("kernel/Kbuild")))
        if "kernel/" + f in there))
    if order != kbuild[::-1]:
        wrong("%s: layers are in the order %s, in kernel/Kbuild %s" % (
            page, " ".join(order), " ".join(kbuild[::-1])))
    # Other words in a folder's box are its files, or folders.
    folder = None
    for line in art.splitlines():
        cell = re.search(r"\|([^|+]*)\|$", line)
        m = cell and re.search(r"kernel/(\w+)", cell[1])
        folder = m[1] if m else folder if cell else None
        for word in re.findall(r"[a-z]\w+", cell[1]) if folder else []:
            if word not in PLAIN | {folder} and not any(re.match(
                    r"kernel/%s/%s\b" % (folder, word),
                    path) for path in files):
                wrong("%s: nothing in kernel/%s is called %s" % (
                    page, folder, word))


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    files = sorted(p for p in sys.stdin.read().splitlines()
                   if os.path.isfile(p))
    licences(files)
    version(files)
    maintainers(files)
    address()
    names(files)
    pages(files)
    transitions()
    tests_named()
    picture(files)
    print("\n".join(BAD), end="\n" if BAD else "")
    return bool(BAD)


sys.exit(main())
