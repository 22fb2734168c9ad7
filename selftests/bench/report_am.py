# SPDX-License-Identifier: GPL-2.0
"""Report of how the manager computes trees in large fabrics.

    report_am.py SAMPLES OUT

SAMPLES has lines of JSON, from scale_place. Prints a table, and draws
OUT/am-scale.svg.
"""
import collections
import json
import os
import statistics
import sys

import plot

WHAT = (('told_ms', 'learn all links', 2, 'square'),
        ('found_ms', 'look hosts up', 1, 'triangle'),
        ('tree_ms', 'compute the tree', 0, 'circle'))


def main():
    samples = collections.defaultdict(list)
    with open(sys.argv[1], encoding='ascii') as lines:
        for sample in map(json.loads, lines):
            samples[sample['switches']].append(sample)
    print('switches  hosts    learn  look up     tree   sum, ms (medians)')
    for n, some in sorted(samples.items()):
        ms = [statistics.median(s[key] for s in some) for key, *_ in WHAT]
        print('%8d %6d %8.1f %8.1f %8.1f %8.1f' %
              (n, some[0]['hosts'], *ms, ms[1] + ms[2]))
    series = []
    for key, name, colour, mark in WHAT:
        points = []
        for n, some in sorted(samples.items()):
            ms = [max(s[key], 0.1) for s in some]
            points.append((n, statistics.median(ms), min(ms), max(ms)))
        series.append(plot.Series(name, colour, mark, points))
    plot.chart(os.path.join(sys.argv[2], 'am-scale.svg'),
               'A tree for all hosts of a fat-tree',
               'about 20 hosts for each switch; median, least and most',
               ('switches', 'milliseconds'), series, sorted(samples), str,
               y_log=True)


main()
