#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Ratios of inc_pktgen's cases: their goals, and what was measured last.

ratios.py FILE: of the cases in FILE, which pktgen.py has written, print the ratios
that are much larger than they were. The exit status says whether there are any.
"""
import json
import sys

# A machine whose other CPUs work has other ratios: 4 KiB took 3.0 and 3.9 times as
# long as forwarding on two days, with one kernel. What is more than this is no noise.
MUCH = 1.5

# What, the case, the one that it is compared with, most of it or None, and what was
# measured for benchmark.rst.
RATIOS = (
    ('1 KiB, over forwarding and a CRC', '1k', '1k-crc', 2.5, 2.87),
    ('1 KiB, ports like a NIC\'s, over forwarding and a CRC', '1k-nic',
     '1k-crc', 3.0, 2.96),
    ('4 KiB, over forwarding and a CRC', '4k', '4k-crc', 2.4, 3.0),
    ('8 B, over forwarding 1 KiB and a CRC', '8b', '1k-crc', 4.2, 4.35),
    ('1 KiB in page fragments, over linear', '1k-frag', '1k', 1.15, 1.13),
    ('4 KiB in page fragments, over linear', '4k-frag', '4k', 1.15, 1.01),
    ('1 KiB, N=64, over N=8', '1k-64', '1k', 1.15, 1.16),
    ('1 KiB, N=256, over N=8', '1k-256', '1k', 1.35, 1.26),
    ('1 KiB, N=1024, over N=8', '1k-1024', '1k', 2.0, 1.78),
    ('1 KiB, N=2, 1024 active trees, over one', '1k-trees', '1k-2', 1.35, 1.51),
    ('1 KiB, N=8, 32768 active QPs, over 8', '1k-qps', '1k', 1.35, 1.4),
    ('1 KiB, out of the caches, over forwarding and a CRC', '1k-cold',
     '1k-cold-crc', None, 2.54),
    ('1 KiB over UC, over RC', '1k-uc', '1k', None, 1.75),
    ('1 KiB at a child, over a root', '1k-child', '1k', None, 1.28),
    ('1 KiB, two CPUs over one, eight messages at a time', 'eight-2', 'eight-1',
     None, 0.68),
    ('1 KiB, two CPUs over one, eight trees', 'trees-2', 'trees-1', None, 0.57))


def main():
    worse = found = 0
    with open(sys.argv[1]) as f:
        ns = json.load(f)
    for what, above, below, _, was in RATIOS:
        if above in ns and below in ns:
            found += 1
            ratio = ns[above] / ns[below]
            much = ratio > MUCH * was
            worse += much
            print('# %s: %.2f, was %.2f%s' % (what, ratio, was,
                                              ': much more' if much else ''))
    if not found:
        print('# there is nothing to compare')
    sys.exit(1 if worse or not found else 0)


if __name__ == '__main__':
    main()
