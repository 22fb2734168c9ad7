#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The layers of the module: what a file includes and calls is in its own folder of
kernel/ or in a lower one, and no files of a folder need each other in a circle.

    layers.py [BUILD]    BUILD: where the module was built, for its symbols

kernel/Kbuild says which folders there are, the lowest first. The file layers
has the exceptions, each with its reason; one that is not needed is an error,
too. Nothing is printed if all is well.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
KERNEL = TOP / "kernel"
EXCEPTIONS = TOP / "selftests/style/layers"


def kbuild_folders():
    """The folders of kernel/, the lowest first; "" is main.c's."""
    text = (KERNEL / "Kbuild").read_text()
    found = []
    for line in text.splitlines():
        if line.startswith("#") or "/tests/" in line:
            continue
        found += re.findall(r"\b([a-z]+)/[\w-]+\.(?:o|mk)\b", line)
    order = list(dict.fromkeys(f for f in found if (KERNEL / f).is_dir()))
    for folder in KERNEL.iterdir():
        if folder.is_dir() and folder.name not in order + ["include"]:
            sys.exit(f"kernel/{folder.name}: Kbuild has nothing of it")
    return order + [""]


def room(path):
    """A .c and its .h are one: core/slot, main; what is in core/reduce is core/reduce."""
    parts = path.relative_to(KERNEL).with_suffix("").parts
    return "/".join(parts[:2])


def folder_of(name):
    """The folder of a room."""
    return name.split("/")[0] if "/" in name else ""


def sources():
    """All files that are compiled into the module, and their headers."""
    for path in sorted(KERNEL.rglob("*.[ch]")):
        rel = path.relative_to(KERNEL)
        if rel.parts[0] != "include" and rel.parts[:2] != ("core", "tests"):
            yield path


def includes():
    """Arrows that are includes: (room, room)."""
    for path in sources():
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            target = KERNEL / name if "/" in name else path.parent / name
            if name != "compat.h":
                yield room(path), room(target)


def symbols(build):
    """Arrows that are calls, or uses of data: (room, room)."""
    objects = [p for p in (build / "kernel").rglob("*.o")
               if p.with_suffix(".c").exists() and ".mod" not in p.name
               and (KERNEL / p.relative_to(build / "kernel")).with_suffix(".c").exists()
               and "tests" not in p.parts]
    defined, wanted = {}, []
    for obj in objects:
        name = room(KERNEL / obj.relative_to(build / "kernel"))
        out = subprocess.run(["nm", str(obj)], check=True, text=True,
                             capture_output=True).stdout
        for line in out.splitlines():
            *_, kind, symbol = line.split()
            if kind == "U":
                wanted.append((name, symbol))
            elif kind.isupper():
                defined[symbol] = name
    return ((name, defined[s]) for name, s in wanted if s in defined)


def exceptions():
    """(single arrows that are allowed, circles that are): both with their text."""
    arrows, circles = {}, []
    for line in EXCEPTIONS.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        what, _, reason = line.partition(": ")
        if not reason:
            sys.exit(f"selftests/style/layers: no reason: {line}")
        if " > " in what:
            arrows[tuple(what.split(" > "))] = line
        else:
            circles.append((set(what.split()), line))
    return arrows, circles


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
    """Says which rooms of one folder need each other; returns circles that may."""
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


def main():
    """Returns the exit status."""
    graph = set(includes())
    if len(sys.argv) > 1:
        graph |= set(symbols(Path(sys.argv[1])))
    graph = {(a, b) for a, b in graph if a != b}
    arrows, circles = exceptions()
    up = check_up(graph, kbuild_folders(), arrows)
    known = check_circles(graph, circles)
    for line in [t for a, t in arrows.items() if a not in up] + \
            [t for _, t in circles if t not in known]:
        print(f"selftests/style/layers: not needed any more: {line}")


if __name__ == "__main__":
    main()
