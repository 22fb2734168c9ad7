# SPDX-License-Identifier: GPL-2.0
"""Report of what the manager takes for many agents and clients.

    report_load.py SAMPLES OUT

SAMPLES has lines of JSON, from am_load.py. Prints a table, and draws
OUT/am-load.svg: both grow in proportion to the numbers of agents and clients.
"""
import json
import os
import sys

import plot

PHASES = (('agents', 'agents only', 2, 'square'),
          ('clients', 'with clients', 0, 'circle'))


def main():
    with open(sys.argv[1], encoding='ascii') as lines:
        samples = sorted(map(json.loads, lines), key=lambda s: s['switches'])
    print('switches  clients      CPU      MiB  threads  groups/s      CPU')
    for s in samples:
        print('%8d %8d %7.1f%% %8.0f %8d' %
              (s['switches'], 0, 100 * s['agents']['cpu'], s['agents']['mib'],
               s['agents']['threads']))
        print('%8s %8d %7.1f%% %8.0f %8d %9.0f %7.1f%%' %
              ('', s['clients']['ready'], 100 * s['clients']['cpu'],
               s['clients']['mib'], s['clients']['threads'],
               s['churn']['groups_s'], 100 * s['churn']['cpu']))
    lost = sum(s['clients']['lost'] + s['churn']['lost'] for s in samples)
    if lost:
        print('%d clients were lost' % lost)
    series = []
    for key, name, colour, mark in PHASES:
        points = [(s['switches'], *[max(100 * s[key]['cpu'], 0.1)] * 3)
                  for s in samples]
        series.append(plot.Series(name, colour, mark, points))
    plot.chart(os.path.join(sys.argv[2], 'am-load.svg'),
               'What the manager takes of a CPU',
               'switches, with about 20 clients each',
               ('switches', 'percent'), series,
               [s['switches'] for s in samples], str, y_log=True)
    return 1 if lost else 0


sys.exit(main())
