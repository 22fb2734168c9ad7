#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The options of each program, as its table has them (struct opt, of which --help is
made) or its usage text, and those of its manual page: both have the same, and the
same letters. Says what is missing on either side; silent if nothing is.

    options.py [TOP]
"""
import glob
import os
import re
import sys

# Program, where its options are, its page, and the section that lists them.
PROGRAMS = [
    ("inc-tool", "tool/main.c", "tool/man/inc-tool.8", "OPTIONS"),
    ("inc-tool serve", "rendezvous/serve.c", "tool/man/inc-tool.8", "inc-tool serve"),
    ("inc-tool top", "tool/top.c", "tool/man/inc-tool.8", "inc-tool top"),
    ("inc-perf", "perf/opts.c", "perf/man/inc-perf.1", "OPTIONS"),
    ("inc-rtt", "perf/rtt.c", "perf/man/inc-rtt.1", "OPTIONS"),
    ("inc-agentd", "agent/options.c", "agent/man/inc-agentd.8", "OPTIONS"),
    ("inc-amd", "manager/options.c", "manager/man/inc-amd.8", "OPTIONS"),
    ("inc-amctl", "manager/ctl/main.c", "manager/man/inc-amctl.8", "OPTIONS"),
    ("inc-am-ca", "manager/ca/inc-am-ca", "manager/man/inc-am-ca.8", "OPTIONS"),
]

# Programs whose commands compare a word with an option of their own.
COMMANDS = {"tool/man/inc-tool.8": "tool/*.c",
            "manager/man/inc-amctl.8": "manager/ctl/*.c"}

# Options of other people's programs, by page.
FOREIGN = {"manager/man/inc-amd.8": {"client-cert-auth"}}

# { "name", 'letter' or 0, type, its value's name, help
ROW = re.compile(r"""\{\s*"([\w-]+)",\s*(?:'(.)'|0),\s*OPT_\w+,"""
                 r"""\s*(?:"[^"]*"|NULL),\s*(NULL|"(?:[^"\\]|\\.)*")""")
OPTION = re.compile(r"(?<![\w-])--([A-Za-z][\w-]+)")
ONE_DASH = re.compile(r"(?<![\w-])--?([A-Za-z][\w-]+)")
LETTER = re.compile(r"(?<![\w-])-([A-Za-z])(?![\w-])")
BAD = []


def wrong(text):
    BAD.append(text)


def read_file(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def read_script(text):
    """{name: its letter or ""} of a usage text."""
    return {name: letter or "" for letter, name in
            re.findall(r"^  (?:-(\w), |    )--([\w-]+)", text, re.M)}


def read_table(program, text):
    """
    {name: its letter or ""} of the table, and other names of these options. What
    --help says is made of the table, unless its texts there are empty.
    """
    table = re.search(r"struct opt \w+\[\] = \{\n(.*?)\n\};", text, re.S).group(1)
    usage = re.search(r"char usage\[\] =\n(.*?);$", text, re.M | re.S)
    # -j[son] is -json.
    usage = re.sub(r"[][]", "", usage.group(1)) if usage else ""
    found, others = {}, set()
    for name, letter, said in ROW.findall(table):
        if said == "NULL":
            others.add(name)
            continue
        found[name] = letter
        if said == '""' and not re.search(r"-%s\b" % name, usage):
            wrong(f"{program}: --{name} is not in --help")
    for name, letter in ("help", "h"), ("version", "V"):
        if f"OPT_{name.upper()}_ROW" in table:
            found[name] = letter
    return found, others


def plain(text):
    """Lines of a page without escapes and macros of fonts."""
    text = text.replace(r"\-", "-")
    text = re.sub(r"\\f[BIRP]", "", text)
    return re.sub(r"\\ ", " ", text)


def find_section(page, title):
    found = re.search(r'^\.S[HS] "?%s.*?\n(.*?)(?=^\.S[HS] |\Z)' % re.escape(title),
                      page, re.M | re.S)
    return found.group(1) if found else ""


def find_tags(section):
    """The line after each .TP, without its macro and quotes."""
    return [re.sub(r'"', "", re.sub(r"^\.\w+ ", "", line))
            for line in re.findall(r"^\.TP.*\n(.*)$", section, re.M)]


def compare(program, own, others, path, section):
    """The options of a program with a section's tags."""
    dashes = ONE_DASH if program == "inc-tool" else OPTION
    listed = {}
    for tag in find_tags(section):
        # A comma and spaces, fonts aside, are between those of one tag.
        tag = re.sub(r"\s+", " ", tag)
        for name in dashes.findall(tag):
            listed[name] = set(LETTER.findall(tag))
    for name, letter in own.items():
        if name not in listed:
            wrong(f"{path}: {program}: --{name} is not listed")
        elif letter and letter not in listed[name]:
            wrong(f"{path}: {program}: --{name} is -{letter}, too")
    for name in sorted(listed.keys() - own.keys() - others):
        wrong(f"{path}: {program} has no --{name}")


def main():
    os.chdir(os.path.join(sys.argv[1] if len(sys.argv) > 1 else ".",
                          "userspace"))
    known, pages = set(), {}
    for program, source, path, title in PROGRAMS:
        page = pages.setdefault(path, plain(read_file(path)))
        text = read_file(source)
        if source.endswith(".c"):
            own, others = read_table(program, text)
        else:
            own, others = read_script(text), set()
        known |= own.keys() | others
        compare(program, own, others, path, find_section(page, title))
    for path, sources in COMMANDS.items():
        for source in sorted(glob.glob(sources)):
            for name in re.findall(r'strcmp\([^"]*"--([\w-]+)"',
                                   read_file(source)):
                known.add(name)
                if name not in OPTION.findall(pages[path]):
                    wrong(f"{path}: --{name} of {source} is not there")
    # A page may also mention those of our other programs.
    for path, page in pages.items():
        for name in sorted(set(OPTION.findall(page)) - known -
                           FOREIGN.get(path, set())):
            wrong(f"{path}: no program has --{name}")
    for line in dict.fromkeys(BAD):
        print(line)
    return 1 if BAD else 0


sys.exit(main())
