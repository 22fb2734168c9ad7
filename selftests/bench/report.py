#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Figures of the benchmark: report.py SAMPLES OUT.json

Every figure is taken per repetition, from samples of the same boot, then
its median, minimum and maximum over the repetitions are given.
"""
import glob
import json
import os
import statistics
import sys

RATE = 20e6                     # bit/s of the shaped links
MSG_DATA = 65536 - 32           # payload of a message
PMTU = 1024
ETH, IPV4, UDP, BTH, RETH, IMM, ICRC, AETH = 14, 20, 8, 12, 16, 4, 4, 4
BASE = ETH + IPV4 + UDP + BTH + ICRC
ACK = BASE + AETH


def load(path):
    with open(path) as f:
        return json.load(f)


def reps(prefix):
    found = {}
    for path in glob.glob(prefix + '.*'):
        tail = path[len(prefix) + 1:]
        if tail.isdigit():
            found[int(tail)] = load(path)
    return [found[r] for r in sorted(found)]


def packets(payload):
    return -(-payload // PMTU)


def ceiling(payload):
    """Most payload bytes per second of an AllReduce over a shaped link.

    What tbf counts: Ethernet header to ICRC. Down: WRITE ONLYs of the results
    and our acknowledgments of the requests, one every 16 packets; up: the
    requests and the host's acknowledgments, one every 16 packets.
    """
    up = down = 0
    left = payload
    while left > 0:
        data = min(left, MSG_DATA)
        n = packets(data + 32)
        up += data + 32 + n * BASE + RETH + IMM + -(-n // 16) * ACK
        down += data + n * (BASE + RETH) + IMM + -(-n // 16) * ACK
        left -= data
    return RATE / 8 * payload / max(up, down)


def size_row(run, size):
    rows = run['results'] if isinstance(run, dict) else run
    return next(r for r in rows if r['size'] == size)


class Report:
    def __init__(self):
        self.rows = []

    def add(self, name, values, unit, bar=None, most=True):
        value = statistics.median(values)
        ok = None
        if bar is not None:
            ok = value <= bar if most else value >= bar
        self.rows.append({
            'name': name, 'value': round(value, 4),
            'min': round(min(values), 4), 'max': round(max(values), 4),
            'unit': unit, 'bar': bar, 'ok': ok})

    def show(self):
        print('%-56s %10s %10s %10s  %-6s %s' %
              ('', 'median', 'min', 'max', 'unit', 'bar'))
        for r in self.rows:
            bar = '' if r['bar'] is None else '%g %s' % (
                r['bar'], 'reached' if r['ok'] else 'MISSED')
            print('%-56s %10.4g %10.4g %10.4g  %-6s %s' %
                  (r['name'], r['value'], r['min'], r['max'], r['unit'], bar))


def name_of(size):
    for unit, div in (('MiB', 1 << 20), ('KiB', 1 << 10)):
        if size >= div:
            return '%d %s' % (size // div, unit)
    return '%d B' % size


def main():
    samples, out = sys.argv[1:]
    rep = Report()
    sizes = (8, 1024, 65536, 1048576)
    rtts = {}
    for size in sizes:
        rtts[size] = [r['median'] for r in
                      reps(os.path.join(samples, 'rtt.%d' % size))]
        rep.add('RC write round trip, %s' % name_of(size), rtts[size], 'us')
    yields = [r['median'] for r in reps(os.path.join(samples, 'rtt-yield.8'))]
    rep.add('RC write round trip, 8 B, ends give way as libinc does', yields,
            'us')
    for n in (2, 4, 8):
        runs = reps(os.path.join(samples, 'allreduce.%d' % n))
        for size in sizes:
            us = [size_row(r, size)['avg_us'] for r in runs]
            name = 'AllReduce, N=%d, %s' % (n, name_of(size))
            rep.add(name, us, 'us')
            ratio = [a / (b * n / 2) for a, b in zip(us, rtts[size])]
            rep.add(name + ', over N/2 round trips', ratio, 'ratio',
                    1.3 if size == 8 else None)
            if size == 8:
                rep.add(name + ', over N/2 that give way',
                        [a / (b * n / 2) for a, b in zip(us, yields)], 'ratio')
    for n in (2, 4, 8):
        us = [size_row(r, 1048576)['avg_us'] for r in
              reps(os.path.join(samples, 'shaped.%d' % n))]
        rate = [1048576 / u for u in us]
        name = 'AllReduce, N=%d, 1 MiB, links of 20 Mb/s' % n
        rep.add(name, rate, 'MB/s')
        rep.add(name + ', of the ceiling',
                [r * 1e6 / ceiling(1048576) for r in rate], 'ratio', 0.95,
                most=False)
    rep.show()
    print('\nThe ceiling is %.3f MB/s: the payload\'s share of what tbf counts, '
          'all\nheaders and acknowledgments included.' %
          (ceiling(1048576) / 1e6))
    with open(out, 'w') as f:
        json.dump(rep.rows, f, indent=1)
        f.write('\n')
    missed = [r for r in rep.rows if r['ok'] is False]
    print('\n%d figures, %d below their bar; %s' %
          (len(rep.rows), len(missed), out))


main()
