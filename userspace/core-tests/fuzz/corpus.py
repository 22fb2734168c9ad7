#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""corpus.py unpack FILE DIR | pack DIR FILE: inputs of a fuzz target.

In FILE there is one input per line, in hexadecimal; in DIR each is a file, as
libFuzzer wants them.
"""
import hashlib
import pathlib
import sys


def unpack(name, directory):
    out = pathlib.Path(directory)
    out.mkdir(parents=True, exist_ok=True)
    for line in pathlib.Path(name).read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            data = bytes.fromhex(line)
            (out / hashlib.sha1(data).hexdigest()).write_bytes(data)


def pack(directory, name):
    inputs = {p.read_bytes() for p in pathlib.Path(directory).iterdir()}
    lines = ["# SPDX-License-Identifier: GPL-2.0"]
    lines += sorted((i.hex() for i in inputs if i), key=lambda s: (len(s), s))
    pathlib.Path(name).write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    {"unpack": unpack, "pack": pack}[sys.argv[1]](*sys.argv[2:])
