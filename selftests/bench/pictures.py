#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Plots of the figures that Documentation/benchmark.rst records.

    pictures.py           draw Documentation/pictures/bench-*.svg again
    pictures.py --check   say which of them, or which of the figures in README's
                          table, are not those of benchmark.rst

The tables of benchmark.rst are where the figures stand; whoever measures again
changes these, and then runs this.
"""
import pathlib
import re
import sys

import plot

TOP = pathlib.Path(__file__).resolve().parents[2]
PICTURES = TOP / 'Documentation/pictures'
NUMBER = re.compile(r'\d[\d.]*')


def tables(text):
    """The simple tables of a page: lists of rows, which are lists of cells."""
    found, at = [], None
    for line in text.splitlines():
        if re.fullmatch(r'=+( +=+)+', line):
            if not at:
                at = [m.start() for m in re.finditer('=+', line)]
                found.append([])
        elif not line:
            at = None
        elif at:
            found[-1].append([line[a:b].strip()
                              for a, b in zip(at, at[1:] + [None])])
    return found


def table_of(text, corner):
    """The table whose first cell is @corner: its head, and its rows by name."""
    head, *rows = next(t for t in tables(text) if t[0][0] == corner)
    # A row without a name goes on with the one before.
    return head, {row[0]: row for row in rows if row[0]}


def spread(cell):
    """Median, minimum and maximum of "0.97 (0.96-0.98)" or "0.62"."""
    found = [float(n) for n in NUMBER.findall(cell)]
    return tuple(found) if len(found) == 3 else (found[0],) * 3


def mpi_rows(text):
    """(operation, unit, times of Open MPI, over the switch, times faster)."""
    for name, row in table_of(text, '8 ranks')[1].items():
        subject, unit = name.rsplit(', ', 1)
        yield (subject.replace(',', '').replace('us', 'µs'),
               unit.replace('us', 'µs'), *map(spread, row[1:4]))


def draw_mpi(text):
    rows = []
    for subject, unit, theirs, ours, faster in mpi_rows(text):
        shares = tuple(100 * t / theirs[0] for t in ours)
        rows.append((subject, '%g %s' % (theirs[0], unit),
                     '%g %s' % (ours[0], unit), shares, '%.2f' % faster[0]))
    return plot.draw_bars(
        'Time of Open MPI\'s collectives, without the switch and over it',
        '8 ranks, links of 18 Mb/s (unshaped for 8 B and Barrier), '
        'one CPU for all; medians, lines from minimum to maximum',
        ('time, in per cent of that without the switch', 'times faster'),
        (('the best of TCP, a ring over TCP, and UCX over rxe', 3),
         ('over the switch', 0)), rows)


def draw_packet(text):
    head, rows = table_of(text, '1k')
    (values,) = rows.values()
    ns = dict(zip(head, map(float, values)))
    ns['N=8'] = ns['1k']
    ranks = sorted(int(k[2:]) for k in ns if k.startswith('N='))
    ours = [(n,) + (ns['N=%d' % n],) * 3 for n in ranks]
    least = [(n,) + (ns['crc'],) * 3 for n in ranks]
    return plot.draw_chart(
        'What a packet of 1 KiB costs the switch',
        'One core of an AMD EPYC (Zen 5), medians',
        ('ranks of the tree', 'ns a packet'),
        (plot.Series('rdma_inc', 0, 'circle', ours),
         plot.Series('forwarding, CRC', 2, '', least)),
        ranks, '{:,}'.format, y_ticks=range(0, 801, 200), size=plot.SMALL)


def draw_loss(text):
    head, rows = table_of(text, 'loss')
    rates = [float(spread(cell)[0]) for cell in head[1:]]
    series = []
    for row, name, colour, mark in (
            ('UC, N = 2', 'UC, 2 ranks', 0, 'circle'),
            ('UC, N = 8', 'UC, 8 ranks', 0, 'square'),
            ('RC, N = 2', 'RC, 2 ranks', 1, 'circle'),
            ('RC, N = 8', 'RC, 8 ranks', 1, 'square'),
            ('rxe, rxe', 'host to host', 2, 'triangle')):
        series.append(plot.Series(name, colour, mark, [
            (rate, *(100 * v for v in spread(cell)))
            for rate, cell in zip(rates, rows[row][1:]) if cell]))
    return plot.draw_chart(
        'AllReduce over links that lose packets',
        'Links of 20 Mb/s; median, min, max',
        ('packets that each link loses', 'throughput, % of that without loss'), series,
        rates, '{:g} %'.format, y_ticks=range(0, 101, 20), size=plot.SMALL)


def readme_figures(text):
    """README's table: {operation: (times of Open MPI, ours, times faster)}."""
    return {m[1].replace(' of ', ' '): tuple(float(c) for c in m.groups()[1:])
            for m in re.finditer(r'^\| (\w[\w ]*), .s \| ([\d.]+) \| ([\d.]+) '
                                 r'\| ([\d.]+) \|$', text, re.M)}


def check_readme(text):
    """What README's table says otherwise."""
    known = {row[0]: tuple(v[0] for v in row[2:]) for row in mpi_rows(text)}
    said = readme_figures((TOP / 'README.md').read_text())
    if not said:
        yield 'README.md: no figures of collectives'
    for name, values in said.items():
        if values != known.get(name):
            yield 'README.md: %s: %s, but benchmark.rst has %s' % (
                name, values, known.get(name))


def main():
    text = (TOP / 'Documentation/benchmark.rst').read_text()
    drawn = {'bench-mpi.svg': draw_mpi(text),
             'bench-packet.svg': draw_packet(text),
             'bench-loss.svg': draw_loss(text)}
    wrong = list(check_readme(text))
    for name, picture in drawn.items():
        path = PICTURES / name
        if sys.argv[1:] != ['--check']:
            path.write_text(picture)
        elif not path.exists() or path.read_text() != picture:
            wrong.append('%s is not what selftests/bench/pictures.py draws of '
                         'benchmark.rst' % path.relative_to(TOP))
    print(*wrong, sep='\n', end='\n' if wrong else '')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
