#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
prometheus.py: Prometheus' text format (0.0.4) on standard input, read strictly:
names, labels, escapes, values, one HELP and one TYPE before all samples of a
metric, which stand together, no sample twice, the last line ends; and names as
"promtool check metrics" wants them: counters alone end in _total, base units, no
abbreviated ones, no types. Prints "NAME LABELS VALUE" for each sample, LABELS as JSON.
"""
import json
import re
import sys

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
VALUE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|NaN|[+-]Inf")
TYPES = {"counter", "gauge", "histogram", "summary", "untyped"}
# In names: what is to be seconds, bytes, meters ..., and what stands for units.
NOT_BASE = re.compile(r"(nano|micro|milli|centi|kilo|mega|giga|tera|kibi|mebi|gibi)"
                      r"(second|byte|meter|gram|volt|ampere|joule)s"
                      r"|minutes|hours|days|weeks")
SHORT = {"s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m",
         "h", "d"}


class Bad(Exception):
    """Not the format."""


def unescape(text, quoted):
    """Undo \\\\, \\n and, in a label's value, \\"; nothing else may be escaped."""
    out, i = "", 0
    known = {"\\": "\\", "n": "\n"}
    if quoted:
        known['"'] = '"'
    while i < len(text):
        if text[i] == "\\":
            if i + 1 == len(text) or text[i + 1] not in known:
                raise Bad(f"wrong escape in {text!r}")
            out += known[text[i + 1]]
            i += 2
        else:
            if quoted and text[i] == '"':
                raise Bad(f"quotation mark in {text!r}")
            out += text[i]
            i += 1
    return out


def labels(text):
    """{a="b",c="d"} -> dict, rest of the line."""
    found, i = {}, 1
    while text[i] != "}":
        m = LABEL.match(text, i)
        if not m or text[m.end():m.end() + 2] != '="':
            raise Bad(f"label at {text[i:]!r}")
        i = end = m.end() + 2
        while text[end] != '"':
            end += 2 if text[end] == "\\" else 1
        if m.group() in found or m.group().startswith("__"):
            raise Bad(f"label {m.group()}")
        found[m.group()] = unescape(text[i:end], True)
        i = end + 1
        if text[i] == ",":
            i += 1
        elif text[i] != "}":
            raise Bad(f"after a label: {text[i:]!r}")
    return found, text[i + 1:]


class Reader:
    """The whole text, line by line."""

    def __init__(self):
        self.help, self.type, self.seen, self.done = {}, {}, set(), set()
        self.current = None
        self.samples = []

    def enter(self, name):
        """A line about a metric: those of one stand together."""
        if name == self.current:
            return
        if name in self.done:
            raise Bad(f"{name} is in two places")
        self.done.add(name)
        self.current = name

    def comment(self, line):
        _, kind, rest = (line.split(" ", 2) + ["", ""])[:3]
        if kind not in ("HELP", "TYPE"):
            return
        name, _, text = rest.partition(" ")
        if not NAME.fullmatch(name):
            raise Bad(f"name {name!r}")
        self.enter(name)
        table = self.help if kind == "HELP" else self.type
        if name in table or any(s[0] == name for s in self.samples):
            raise Bad(f"second {kind} of {name}, or behind its samples")
        if kind == "TYPE" and text not in TYPES:
            raise Bad(f"type {text!r}")
        table[name] = unescape(text, False)
        if not table[name].strip():
            raise Bad(f"{kind} of {name} is empty")

    def family(self, name, found):
        """The metric of a sample: a histogram's have suffixes."""
        for suffix in ("_bucket", "_sum", "_count"):
            base = name.removesuffix(suffix)
            if base != name and self.type.get(base) == "histogram":
                if (suffix == "_bucket") != ("le" in found):
                    raise Bad(f"le of {name}")
                return base
        return name

    def sample(self, line):
        m = NAME.match(line)
        if not m:
            raise Bad("no name")
        name, rest, found = m.group(), line[m.end():], {}
        if rest.startswith("{"):
            found, rest = labels(rest)
        if not rest.startswith(" ") or not VALUE.fullmatch(rest[1:]):
            raise Bad(f"value {rest!r}")
        name, sample = self.family(name, found), name
        self.enter(name)
        if name not in self.help or name not in self.type:
            raise Bad(f"{name} has no HELP or no TYPE")
        if (self.type[name] == "counter") != name.endswith("_total"):
            raise Bad(f"{name} is a {self.type[name]}")
        name = sample
        key = (name, tuple(sorted(found.items())))
        if key in self.seen:
            raise Bad(f"{key} is there twice")
        self.seen.add(key)
        self.samples.append((name, found, rest[1:]))

    def lint(self):
        """Rules for names, of whole metrics."""
        for name, kind in self.type.items():
            parts = name.split("_")
            wrong = (NOT_BASE.search(name) or SHORT & set(parts) or
                     (TYPES & set(parts)) or ":" in name or
                     name != name.lower() or
                     parts[-1] in ("bucket", "count", "sum"))
            if wrong:
                raise Bad(f"name {name} of a {kind}: {wrong}")

    def read(self, text):
        if text and not text.endswith("\n"):
            raise Bad("the last line does not end")
        for n, line in enumerate(text.split("\n")[:-1], 1):
            try:
                if line.startswith("#"):
                    self.comment(line)
                elif line:
                    self.sample(line)
            except (Bad, IndexError) as e:
                raise Bad(f"line {n}: {e}: {line}") from e
        empty = set(self.type) - {self.family(*s[:2]) for s in self.samples}
        if empty:
            raise Bad(f"no sample: {sorted(empty)}")
        self.lint()


def selftest():
    """What is wrong has to be refused."""
    head = "# HELP a_total x\n# TYPE a_total counter\n"
    for good in (head + "a_total 1\n", head + 'a_total{b="c\\"\\\\\\n"} 1e3\n'):
        Reader().read(good)
    for bad in ("a_total 1\n", head + "a_total 1", head + "a_total x\n",
                head + 'a_total{b="c} 1\n', head + 'a_total{b="\\x"} 1\n',
                head + "a_total 1\na_total 1\n", head + "a-b 1\n",
                head + 'a_total{b="c"d="e"} 1\n', head + "a_total  1\n",
                head + head + "a_total 1\n",
                head.replace("counter", "gauge") + "a_total 1\n",
                head + "a_total 1\n# HELP b x\n# TYPE b gauge\nb 1\n"
                'a_total{b="c"} 1\n', head + 'a_total{1b="c"} 1\n',
                head.replace("a_", "a_milliseconds_") +
                "a_milliseconds_total 1\n",
                head.replace("a_", "a_ms_") + "a_ms_total 1\n",
                head.replace("a_", "a_counter_") + "a_counter_total 1\n"):
        try:
            Reader().read(bad)
        except Bad:
            continue
        sys.exit(f"took {bad!r}")


def main():
    selftest()
    reader = Reader()
    try:
        reader.read(sys.stdin.read())
    except Bad as e:
        sys.exit(str(e))
    for name, found, value in reader.samples:
        print(name, json.dumps(found, sort_keys=True, separators=(",", ":")),
              value)


if __name__ == "__main__":
    main()
