#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The layers of the module, of libinc, of the manager and of user space: what a
file includes and calls is in its own folder, or in a lower one, and no files of a
folder need each other in a circle. Nor do those of a test that is a program of
several files.

    layers.py [BUILD [USER]]   all but what the others do; BUILD: where the module
                               was built, USER: where userspace/ was, for their
                               symbols
    layers.py --manager BUILD  the manager
    layers.py --agent BUILD    the agent

kernel/Kbuild and the Makefiles say which folders there are, the lowest first. The
file layers has the exceptions, each with its reason; one that is not needed is an
error, too. Nothing is printed if all is well.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PREFIXES = ["lib/", "manager/", "userspace/", "tests/"]
EXCEPTIONS = TOP / "selftests/style/layers"


class Tree:
    """A tree of sources whose folders are layers."""

    def __init__(self, top, makefile, skip, prefix, shared, since=None):
        """@skip: folders that are no layers. @prefix: in EXCEPTIONS. @shared:
        header that is no layer's, for folders from @since on."""
        self.top = TOP / top
        self.roots = [self.top]
        self.makefile = self.top / makefile
        self.skip = skip
        self.prefix = prefix
        self.shared = shared
        self.since = since

    def folders(self):
        """Its folders, the lowest first; "" is that of files at the top."""
        text = self.makefile.read_text()
        found = "".join(re.findall(r"^LAYERS\s*:=(.*)", text, re.M)).split()
        for line in text.splitlines():
            if line.startswith("#") or "tests/" in line:
                continue
            found += re.findall(r"\b([a-z0-9]+)/[\w-]+\.(?:o|mk)\b", line)
        order = list(dict.fromkeys(f for f in found if (self.top / f).is_dir()))
        for folder in self.top.iterdir():
            if folder.is_dir() and folder.name not in order + self.skip:
                sys.exit(f"{folder.relative_to(TOP)}: "
                         f"{self.makefile.name} has nothing of it")
        return order + [""]

    def room(self, path):
        """A .c and its .h are one: core/slot, main; core/reduce is one, too."""
        parts = path.relative_to(self.top).with_suffix("").parts
        return "/".join(parts[:2])

    def checks(self, _):
        """Is a room among those that are checked?"""
        return True

    def sources(self):
        """All files that are compiled, and their headers."""
        for path in sorted(self.top.rglob("*.[ch]")):
            rel = path.relative_to(self.top)
            if rel.parts[0] not in self.skip and "tests" not in rel.parts:
                yield path

    def may_share(self, room):
        """May a room include the shared header?"""
        order = self.folders() if self.since else []
        return not order or \
            order.index(folder_of(room)) >= order.index(self.since)

    def includes(self):
        """Arrows that are includes: (room, room)."""
        for path in self.sources():
            room = self.room(path)
            for name in re.findall(r'^#include "([^"]+)"', path.read_text(),
                                   re.M):
                if name == self.shared and self.may_share(room):
                    continue
                near = "/" not in name and (path.parent / name).exists()
                for folder in [path.parent] if near else self.roots:
                    if (folder / name).exists():
                        yield room, self.room(folder / name)

    def source(self, build, obj):
        """The source of an object; it may not exist."""
        return (self.top / obj.relative_to(build)).with_suffix(".c")

    def symbols(self, builds):
        """Arrows that are calls, or uses of data: (room, room)."""
        defined, wanted = {}, []
        for build in builds:
            for obj in build.rglob("*.o"):
                if ".mod" in obj.name or {"tests", "san", "asan"} & \
                   {build.name, *obj.relative_to(build).parts}:
                    continue
                source = self.source(build, obj)
                if not source.exists():
                    continue
                name = self.room(source)
                out = subprocess.run(["nm", str(obj)], check=True, text=True,
                                     capture_output=True).stdout
                for line in out.splitlines():
                    *_, kind, symbol = line.split()
                    if kind == "U":
                        wanted.append((name, build, symbol))
                    elif kind.isupper():
                        defined[build, symbol] = name
                        defined.setdefault(symbol, name)
        for name, build, symbol in wanted:
            other = defined.get((build, symbol), defined.get(symbol))
            if other:
                yield name, other

    def exceptions(self):
        """Allowed single arrows and allowed circles, both with their text."""
        arrows, circles = {}, []
        for line in EXCEPTIONS.read_text().splitlines():
            if not line or line.startswith("#"):
                continue
            what, _, reason = line.partition(": ")
            if not reason:
                sys.exit(f"selftests/style/layers: no reason: {line}")
            rooms = what.replace(" > ", " ").split()
            if prefix_of(rooms[0]) != self.prefix:
                continue
            if self.prefix:
                what = re.sub(rf"\b{self.prefix}", "", what)
            if not self.checks(what.split()[0]):
                continue
            if " > " in what:
                arrows[tuple(what.split(" > "))] = line
            else:
                circles.append((set(what.split()), line))
        return arrows, circles


class UserSpace(Tree):
    """The folders of userspace/. Those that are trees of their own are a room."""

    # What both ends of a rendezvous have, which is below the daemon.
    PROTOCOL = ["proto", "network"]
    TREES = ["lib", "manager"]
    # Folders whose objects are where these programs are built.
    BUILT = {"agent": ["agent"]}

    def __init__(self, program=None):
        super().__init__("userspace", "Makefile",
                         ["common", "completion", "core-tests", "examples"],
                         "userspace/", None)
        self.roots.append(self.top / "common")
        self.program = program

    def folders(self):
        text = self.makefile.read_text().replace("\\\n", " ")
        order = re.search(r"^LAYERS\s*:=(.*)", text, re.M)[1].split()
        for folder in [f for root in self.roots for f in root.iterdir()]:
            if folder.is_dir() and folder.name not in order + self.skip:
                sys.exit(f"{folder.relative_to(TOP)}: is in no layer of "
                         "userspace/Makefile")
        return order

    def sources(self):
        skip = {self.top / s for s in self.skip if s != "common"}
        for path in sorted(self.top.rglob("*.[ch]")):
            if "tests" not in path.parts and not skip & set(path.parents):
                yield path

    def room(self, path):
        parts = path.relative_to(self.top).with_suffix("").parts
        parts = parts[parts[0] == "common":]
        if parts[0] in self.TREES:
            return f"{parts[0]}/{parts[0]}"
        if parts[0] == "rendezvous" and parts[1] in self.PROTOCOL:
            return f"protocol/{parts[1]}"
        if parts[:2] == ("plugins", "am"):
            parts = parts[1:]
        return "/".join(parts)

    def checks(self, room):
        folder = folder_of(room)
        if self.program:
            return folder in self.BUILT[self.program]
        return not any(folder in built for built in self.BUILT.values())

    def symbols(self, builds):
        """netconf/ redefines functions of libraries, which all may call."""
        return ((a, b) for a, b in super().symbols(builds)
                if folder_of(b) != "netconf")

    def source(self, build, obj):
        part = self.program or build.name
        rel = obj.relative_to(build).with_suffix(".c")
        found = [top / rel for root in self.roots + [self.top / "plugins"]
                 for top in (root / part, root)]
        return next((path for path in found if path.exists()), found[0])


class Tests(Tree):
    """Tests that are programs of several files; a call is what looks like one."""

    FOLDERS = {"userspace/core-tests/sim": "*", "selftests/bench/pktgen": "*",
               "selftests/bench/server": "*", "selftests/libinc": "*",
               "selftests/mpi": "random*"}

    def __init__(self):
        super().__init__(".", "Makefile", [], "tests/", None)

    def folders(self):
        return [folder.split("/")[-1] for folder in self.FOLDERS]

    def sources(self):
        for folder, names in self.FOLDERS.items():
            yield from sorted((TOP / folder).glob(names + ".[ch]"))

    def room(self, path):
        return f"{path.parent.name}/{path.stem}"

    def includes(self):
        """Includes of the same folder: those of others are other programs'."""
        return ((a, b) for a, b in super().includes()
                if folder_of(a) == folder_of(b))

    def symbols(self, builds):
        defined, used = {}, []
        for path in self.sources():
            if path.suffix != ".c":
                continue
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            for name in re.findall(r"^(?!static)\w[\w \*]*?\b(\w+)\([^;{]*\)\n\{",
                                   text, re.M):
                defined[path.parent, name] = self.room(path)
            used.append((path, set(re.findall(r"\w+", text))))
        for path, names in used:
            for name in names:
                if (path.parent, name) in defined and name != "main":
                    yield self.room(path), defined[path.parent, name]


def prefix_of(room):
    """The prefix of the tree that a room of EXCEPTIONS is in."""
    return next((p for p in PREFIXES if room.startswith(p)), "")


def folder_of(name):
    """The folder of a room."""
    return name.split("/")[0] if "/" in name else ""


def circle_of(start, graph):
    """All rooms from which there is a way to @start and back."""
    def reach(step):
        seen, todo = set(), [start]
        while todo:
            for nxt in step(todo.pop()):
                if nxt not in seen:
                    seen.add(nxt)
                    todo.append(nxt)
        return seen

    return reach(lambda a: {y for x, y in graph if x == a}) & \
        reach(lambda a: {x for x, y in graph if y == a})


def check_up(graph, order, allowed):
    """Says which arrows go up; returns those that do and may."""
    used = set()
    for a, b in sorted(graph):
        if order.index(folder_of(a)) >= order.index(folder_of(b)):
            continue
        if (a, b) in allowed:
            used.add((a, b))
        else:
            print(f"{a} needs {b}, which is above it")
    return used


def check_circles(graph, allowed):
    """Says which rooms of a folder need each other; returns allowed circles."""
    inside = {(a, b) for a, b in graph if folder_of(a) == folder_of(b)}
    used, seen = [], set()
    for name in sorted({a for a, _ in inside}):
        circle = circle_of(name, inside)
        if name in seen or not circle:
            continue
        seen |= circle
        fits = [line for names, line in allowed if names == circle]
        if fits:
            used += fits
        else:
            print("a circle: " + " ".join(sorted(circle)))
    return used


def check(tree, *builds):
    """Says what is wrong in a tree of sources."""
    graph = set(tree.includes()) | set(tree.symbols(builds))
    graph = {(a, b) for a, b in graph if a != b and tree.checks(a)}
    arrows, circles = tree.exceptions()
    up = check_up(graph, tree.folders(), arrows)
    known = check_circles(graph, circles)
    for line in [t for a, t in arrows.items() if a not in up] + \
            [t for _, t in circles if t not in known]:
        print(f"selftests/style/layers: not needed any more: {line}")


def main():
    """Checks the trees that the command line names."""
    args = sys.argv[1:]
    if args[:1] == ["--manager"]:
        check(Tree("userspace/manager", "Makefile",
                   ["ca", "completion", "man", "proto", "slurm", "systemd",
                    "tests"],
                   "manager/", "manager.h", "group"), Path(args[1]))
        return
    if args[:1] == ["--agent"]:
        check(UserSpace("agent"), Path(args[1]))
        return
    check(Tree("kernel", "Kbuild", ["include"], "", "compat.h"),
          *[Path(arg) / "kernel" for arg in args[:1]])
    user = [path for arg in args[1:2] for path in Path(arg).iterdir()]
    check(Tree("userspace/lib", "Makefile", ["man", "tests"], "lib/", "inc.h"),
          *[path for path in user if path.name == "lib"])
    check(UserSpace(), *[path for path in user if path.name not in
                         ["manager", "agent", "examples"]])
    check(Tests())


if __name__ == "__main__":
    main()
